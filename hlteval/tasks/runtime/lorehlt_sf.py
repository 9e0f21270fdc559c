"""Readers of the options of LoReHLT situation frames: numbers, gains, annotators and mentions."""

from __future__ import annotations

import configparser
from collections.abc import Mapping

import polars as pl

from hlteval.converters import load
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.frame_rows import GIVEN, MENTIONS
from hlteval.scoring.situations.lorehlt.ranking import Gains
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.options import to_number
from hlteval.tasks.runtime.options import FileValue, files, read_rows

ANNOTATORS = Table(
    (
        Column("docid", heading="document"),
        Column("kind", heading="need or issue", pattern="need|issue", code="OPT112"),
        Column("chosen", heading="annotator"),
    ),
    code="OPT101",
)
#: The sections and keys of a configuration file of the public scorer, by field of the gains.
_CONFIGURATION: Mapping[str, tuple[str, str]] = {
    "high": ("Gain", "High"),
    "medium": ("Gain", "Medium"),
    "low": ("Gain", "Low"),
    "high_from": ("GraveFrameCounts", "HighGravity"),
    "medium_from": ("GraveFrameCounts", "MediumGravity"),
}


def confidence(written: str, _: Mapping[str, str]) -> float:
    """A confidence from 0 to 1.

    Raises:
        ValueError: for anything else.

    Examples:
        >>> confidence("0.25", {})
        0.25
    """
    value = to_number(written)
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


def gains(written: str, _: Mapping[str, str]) -> tuple[float, ...]:
    """The gains of high, medium and low gravity, and optionally of situations without grave frames.

    Raises:
        ValueError: if they are not three or four numbers from 0, or rise.

    Examples:
        >>> gains("5,3,1", {})
        (5.0, 3.0, 1.0)
    """
    values = tuple(map(to_number, written.split(",")))
    if len(values) not in {3, 4} or not all(value >= 0 for value in values):
        raise ValueError(f"three or four numbers from 0 are needed, not {written}")
    if list(values) != sorted(values, reverse=True):
        raise ValueError("a higher gravity cannot have a lower gain")
    return values


def thresholds(written: str, _: Mapping[str, str]) -> tuple[float, ...]:
    """The least numbers of grave frames of high and of medium gravity.

    Raises:
        ValueError: if they are not two numbers above 0, or the first is not the greater one.
    """
    values = tuple(map(to_number, written.split(",")))
    if len(values) != 2 or not all(value > 0 for value in values):
        raise ValueError(f"two numbers above 0 are needed, not {written}")
    if not values[0] > values[1]:
        raise ValueError("high gravity begins above medium gravity")
    return values


def configuration(source: Source, _: Mapping[str, str]) -> FileValue:
    """The gains and thresholds of a configuration file of the public scorer.

    Args:
        source: an INI file with the sections `Gain` and `GraveFrameCounts`.
    """
    values: dict[str, float] = {}
    findings: list[Finding] = []
    for file in files(source):
        if file.findings:
            findings += file.findings
            continue
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(file.text)
        except configparser.Error as reason:
            problem = str(reason).splitlines()[0][:80]
            findings.append(finding("OPT113", file=file.member.display, problem=problem))
            continue
        written = {
            field: parser.get(section, key, fallback="")
            for field, (section, key) in _CONFIGURATION.items()
        }
        numbers = {field: to_number(text) for field, text in written.items()}
        wrong = [field for field, number in numbers.items() if not number >= 0]
        for field in wrong:
            section, key = _CONFIGURATION[field]
            problem = f"{key} of [{section}] is {written[field] or 'missing'}, not a number from 0"
            findings.append(finding("OPT113", file=file.member.display, problem=problem))
        values |= {} if wrong else numbers
    return FileValue(Gains()._replace(nothing=None, **values) if values else None, findings)


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

    def rows(corpus: Corpus) -> pl.DataFrame:
        documents = corpus.documents.select(document="row", docid="name")
        mentions = corpus.mentions.join(documents, on="document", maintain_order="left")
        return mentions.select(*MENTIONS)

    return read_rows(load("edl-tab"), source, rows)
