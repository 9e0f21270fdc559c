"""Readers of the options of LoReHLT situation frames: numbers, gains, annotators and mentions."""

from __future__ import annotations

import configparser
import math
from collections.abc import Mapping

import polars as pl

from hlteval.converters import load
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.given_names import GIVEN
from hlteval.scoring.situations.lorehlt.knowledge_base import MENTIONS
from hlteval.scoring.situations.lorehlt.ranking import Gains
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.runtime.options import FileValue, TextFile, files

ANNOTATORS = Table(
    (
        Column("docid", heading="document"),
        Column("kind", heading="need or issue", pattern="need|issue", code="OPT112"),
        Column("chosen", heading="annotator"),
    ),
    code="OPT101",
)
_CONFIGURED: Mapping[tuple[str, str], str] = {
    ("Gain", "High"): "high",
    ("Gain", "Medium"): "medium",
    ("Gain", "Low"): "low",
    ("GraveFrameCounts", "HighGravity"): "high_from",
    ("GraveFrameCounts", "MediumGravity"): "medium_from",
}
"""The fields of a configuration file of the public scorer, by section and key."""
_THREE, _FOUR = 3, 4


def confidence(written: str, _: Mapping[str, str]) -> float:
    """A confidence from 0 to 1.

    Raises:
        ValueError: for anything else.

    Examples:
        >>> confidence("0.25", {})
        0.25
    """
    value = _number(written)
    if not 0 <= value <= 1:
        raise ValueError(f"a confidence is a number from 0 to 1, not {written}")
    return value


def seed(written: str, _: Mapping[str, str]) -> int:
    """A random seed.

    Raises:
        ValueError: for anything but an integer from 0.
    """
    if not (written.isascii() and written.isdecimal()):
        raise ValueError(f"a seed is an integer from 0, not {written}")
    return int(written)


def count(written: str, _: Mapping[str, str]) -> int:
    """A number of frames or draws.

    Raises:
        ValueError: for anything but a positive integer.
    """
    if not (written.isascii() and written.isdecimal() and int(written)):
        raise ValueError(f"a positive integer is needed, not {written}")
    return int(written)


def gains(written: str, _: Mapping[str, str]) -> tuple[float, ...]:
    """The gains of high, medium and low gravity, and optionally of situations without grave frames.

    Raises:
        ValueError: if they are not three or four numbers from 0, or rise.

    Examples:
        >>> gains("5,3,1", {})
        (5.0, 3.0, 1.0)
    """
    values = tuple(map(_number, written.split(",")))
    if len(values) not in {_THREE, _FOUR} or not all(value >= 0 for value in values):
        raise ValueError(f"three or four numbers from 0 are needed, not {written}")
    if list(values) != sorted(values, reverse=True):
        raise ValueError("a higher gravity cannot have a lower gain")
    return values


def thresholds(written: str, _: Mapping[str, str]) -> tuple[float, ...]:
    """The least numbers of grave frames of high and of medium gravity.

    Raises:
        ValueError: if they are not two numbers above 0, or the first is not the greater one.
    """
    values = tuple(map(_number, written.split(",")))
    if len(values) != len(("high", "medium")) or not all(value > 0 for value in values):
        raise ValueError(f"two numbers above 0 are needed, not {written}")
    if not values[0] > values[1]:
        raise ValueError("high gravity begins above medium gravity")
    return values


def _number(written: str) -> float:
    """A finite number; not-a-number for anything else."""
    try:
        value = float(written)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def configuration(source: Source, _: Mapping[str, str]) -> FileValue:
    """The gains and thresholds of a configuration file of the public scorer.

    Args:
        source: an INI file with the sections `Gain` and `GraveFrameCounts`.
    """
    values: dict[str, float] = {}
    findings: list[Finding] = []
    for file in files(source):
        findings += file.findings
        if not file.findings:
            own, problems = _configured(file)
            values |= own
            findings += problems
    return FileValue(Gains()._replace(nothing=None, **values) if values else None, findings)


def _configured(file: TextFile) -> tuple[dict[str, float], list[Finding]]:
    """What a configuration file says, and what it lacks."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(file.text)
    except configparser.Error as reason:
        first = str(reason).splitlines()[0][:80]
        return {}, [finding("OPT113", file=file.member.display, problem=first)]
    values: dict[str, float] = {}
    problems: list[Finding] = []
    for (section, key), name in _CONFIGURED.items():
        written = parser.get(section, key, fallback="")
        values[name] = _number(written)
        if not values[name] >= 0:
            problem = f"{key} of [{section}] is {written or 'missing'}, not a number from 0"
            problems.append(finding("OPT113", file=file.member.display, problem=problem))
    return ({}, problems) if problems else (values, [])


def annotators(source: Source, _: Mapping[str, str]) -> FileValue:
    """The annotator of the needs and of the issues of documents.

    Args:
        source: a table without a header: document, `need` or `issue`, annotator. Of a document
            that occurs several times, the last line counts.
    """
    rows, findings = [pl.DataFrame(schema=dict(GIVEN))], list[Finding]()
    for file in files(source):
        table = ANNOTATORS.read(file.text)
        findings += [
            *file.findings,
            *table.findings(file.member, columns=", ".join(ANNOTATORS.headings)),
        ]
        own = table.rows.with_columns(
            issue=pl.col("kind") == "issue",
            file=pl.lit(file.member.display),
            text=table.lines.gather(table.rows["record"] - 1).str.strip_suffix("\r"),
        )
        rows.append(own.select(pl.col(name).cast(kind) for name, kind in GIVEN.items()))
    last = pl.concat(rows).unique(["docid", "issue"], keep="last", maintain_order=True)
    return FileValue(last, findings)


def mentions(source: Source, _: Mapping[str, str]) -> FileValue:
    """The mentions of a table of entity discovery and linking."""
    form = load("edl-tab")
    results = list(form.read(source))
    corpus = Corpus.concat(result.corpus for result in results)
    findings = [item for result in results for item in result.findings]
    if corpus.mentions.is_empty() and not findings:
        findings.append(finding("OPT109", file=source.path, title=form.title))
    named = corpus.documents.select(document="row", docid="name")
    rows = corpus.mentions.join(named, on="document", maintain_order="left")
    return FileValue(rows.select(*MENTIONS), findings, corpus)
