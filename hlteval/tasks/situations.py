"""Readers of the options of situation frames, and what their official software does."""

from __future__ import annotations

import configparser
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from hlteval.converters import load
from hlteval.converters.situations.types import names, type_hint
from hlteval.findings import Finding, finding
from hlteval.representation import Corpus
from hlteval.scoring.situations.lorehlt.frame_rows import GIVEN, MENTIONS
from hlteval.scoring.situations.lorehlt.ranking import Gains
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.option_files import (
    FileValue,
    contradictions,
    files,
    read_names,
    read_rows,
    read_table,
)
from hlteval.tasks.options import to_number

if TYPE_CHECKING:
    from hlteval.validators import Rule

ANNOTATORS = Table(
    (
        Column("docid", heading="document"),
        Column("kind", heading="need or issue", pattern="need|issue", code="OPT112"),
        Column("chosen", heading="annotator"),
    ),
    code="OPT101",
)
NAMES = Table((Column("written", heading="written form"), Column("name")), code="OPT101")
#: The sections and keys of a configuration file of the public scorer, by field of the gains.
_CONFIGURATION: Mapping[str, tuple[str, str]] = {
    "high": ("Gain", "High"),
    "medium": ("Gain", "Medium"),
    "low": ("Gain", "Low"),
    "high_from": ("GraveFrameCounts", "HighGravity"),
    "medium_from": ("GraveFrameCounts", "MediumGravity"),
}


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


def situation_types(source: Source, _: Mapping[str, str]) -> FileValue:
    """The situation types of a file with one type per line, in its order."""
    return read_names(
        source,
        str,
        partial(type_hint, several="write one type per line"),
        accepts=names().__contains__,
        code="OPT110",
        title="situation types, one per line",
    )


def place_dictionary(source: Source, _: Mapping[str, str]) -> FileValue:
    """The names of places by their written forms, in the order in which they count.

    Args:
        source: a table of two columns without a header: written form, tab, name. Of a form that
            occurs several times, the last name counts.
    """
    rows, findings = read_table(
        source, NAMES, lambda parsed: contradictions(parsed, pl.col("written"), "name", "last name")
    )
    last = rows.drop("record").unique("written", keep="last", maintain_order=True)
    return FileValue(dict(last.rows()), findings)


def prints(finding: Finding, *, codes: Collection[str]) -> bool:
    """Whether the official script of speech prints a finding and goes on.

    It validates by the schema, but scores whatever it can; of a Status it takes no notice.

    Args:
        finding: about a submission or a reference.
        codes: of findings that it only prints wherever they are.
    """
    if finding.code in codes:
        return True
    paths = finding.further.places if finding.further else (finding.record,)
    return finding.code.startswith("SFJ2") and all(".Status" in str(path) for path in paths)


def lorehlt_rules(*, left_out: Collection[str]) -> tuple[Rule, ...]:
    """The rules of frames, and those of the entity mentions that come with them, but for some."""
    from hlteval.validators.edl.rules import RULES as ENTITIES
    from hlteval.validators.situations.lorehlt.rules import RULES

    of_entities = [rule for rule in ENTITIES if rule.code not in left_out]
    # The mentions of a reference are not those of an EDL system.
    return (*RULES, *(replace(rule, needs="", submission_only=True) for rule in of_entities))
