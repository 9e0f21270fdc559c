"""The tables of LoReHLT annotation of situation frames: their columns and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

from hlteval.converters.situations.lorehlt_types import statuses, type_hint, types
from hlteval.findings.suggest import did_you_mean
from hlteval.syntax.tsv import Column, Table

NEEDS, ISSUES, SENTIMENTS = "needs", "issues", "sentiments"
MENTIONS, SPEECH = "mentions", "speech"
#: The type of a row of speech without a situation.
OUT_OF_DOMAIN = "out-of-domain"
NONE = "none"
EMOTIONS = ("fear", "anger", "joyhappiness")
#: The sources of sentiments that are not entities.
HOLDERS = ("author", "other")
SCOPES = ("1_smallgroup", "2_largegroup", "3_municipality", "4_region")
SEVERITIES = ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath")
_DEGREES = ("0", "1", "2", "3", "4")
_SPEECH_STATUSES = ("Current", "Past Only", "Future", "not_current")
#: The values of resolution in speech, with the spelling of LDC's own example.
_RELIEFS = ("Insufficient/Unknown", "Insufficent", "Insufficient", "Sufficient")
_ENTRY = "(?:[0-9]+|NIL[0-9]*)"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of table: a folder of the annotation.

    Attributes:
        name: of the folder.
        suffix: of its files.
        columns: its columns.
        own_column: the heading of a column that only this kind has.
    """

    name: str
    suffix: str
    columns: tuple[Column, ...]
    own_column: str

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that a header must have."""
        return tuple(column.title for column in self.columns if not column.optional)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of a new table, in their usual order."""
        unusual = {"urgency_status", *(["user_id"] if self.name == SPEECH else [])}
        return tuple(column.title for column in self.columns if column.title not in unusual)

    def missing(self, header: str) -> list[str]:
        """The required columns that a header lacks."""
        titles = header.split("\t")
        return [name for name in self.required if name not in titles]

    def repeated(self, header: str) -> str:
        """The first of its columns that a header has twice; empty if none."""
        titles = header.split("\t")
        return next((c.title for c in self.columns if titles.count(c.title) > 1), "")

    @property
    def declared(self) -> Table:
        """The table with its header, whose mistakes in all rows can be found."""
        return Table(self.columns, header="required", any_order=True, ragged=True)

    def table(self, header: str) -> Table:
        """The declaration of the lines after a header; unknown columns are texts."""
        known = {column.title: column for column in self.columns}
        found = (
            known.get(title) or Column(f"\t{number}")
            for number, title in enumerate(header.split("\t"))
        )
        # A line must have all cells of its header.
        return Table(tuple(replace(column, optional=False) for column in found), code="LSF503")


def _text(name: str, heading: str = "", *, optional: bool = False) -> Column:
    return Column(name, heading=heading, nullable=True, optional=optional)


def _hint(values: Sequence[str], cell: str) -> Mapping[str, object]:
    return {"hint": did_you_mean(cell, values, f"use one of: {', '.join(values)}")}


def _chosen(
    name: str, heading: str, values: Sequence[str], also: str = "", *, optional: bool = False
) -> Column:
    """A column with a closed vocabulary; `also` is a pattern of further values."""
    pattern = "|".join([*map(re.escape, values), *([also] if also else [])])
    return Column(
        name, pattern=pattern, code="LSF505", nullable=True, optional=optional, tolerated=True,
        heading=heading, describe=partial(_hint, values),
    )  # fmt: skip


def _type(heading: str, kind: Callable[[], Sequence[str]], also: str = "") -> Column:
    def pattern() -> str:
        return "|".join([*kind(), *([also] if also else [])])

    def describe(cell: str) -> Mapping[str, object]:
        return {"hint": type_hint(cell)}

    return Column(
        "label", heading=heading, pattern=pattern, code="LSF504", tolerated=True, describe=describe
    )


def _entry(heading: str, also: Sequence[str] = (), name: str = "entry") -> Column:
    """An entry of the knowledge base, several if the annotator could not decide."""
    pattern = "|".join([rf"{_ENTRY}(?:\|{_ENTRY})*", *also])
    return Column(
        name, heading=heading, pattern=pattern, code="LSF506", nullable=True, tolerated=True
    )


_NAMES = (
    _text("annotator", "user_id", optional=True),
    Column("name", heading="doc_id", pattern=r"[^\t ]+", code="LSF507"),
    Column("frame", heading="frame_id", pattern=r"[^\t ]+", code="LSF507"),
)


def _situations(kind: Literal["need", "issue"]) -> tuple[Column, ...]:
    """The columns that needs and issues begin with."""
    return (
        *_NAMES,
        _text("frame_type", optional=True),
        _type(f"{kind}_type", partial(types, kind)),
        _text("place", "place_id"),
        _text("proxy_status", optional=True),
        _chosen("status", f"{kind}_status", statuses(kind)),
        _chosen("scope", "scope", SCOPES, f"[0-4]|{NONE}", optional=True),
        _chosen("severity", "severity", SEVERITIES, f"[0-4]|{NONE}", optional=True),
        _text("urgency_status", optional=True),
    )


def _needs() -> Kind:
    columns = (
        *_situations("need"),
        _chosen("resolution", "resolution_status", ("sufficient", "insufficient"), NONE),
        _text("reported_by", optional=True),
        _text("resolved_by", optional=True),
        _text("description", optional=True),
        _entry("kb_id"),
    )
    return Kind(NEEDS, ".needs.tab", columns, "need_type")


def _issues() -> Kind:
    columns = (*_situations("issue"), _text("description", optional=True), _entry("kb_id"))
    return Kind(ISSUES, ".issues.tab", columns, "issue_type")


def _sentiments() -> Kind:
    columns = (
        *_NAMES[:2],
        Column(
            "value",
            "number",
            pattern=r"[+-]?[0-9]{1,3}(?:\.[0-9]{1,9})?",
            heading="sentiment_value",
            code="LSF508",
        ),
        _chosen("polarity", "polarity", ("positive", "negative"), NONE, optional=True),
        _emotions(),
        _text("holder", "source"),
        _text("target"),
        _entry("kb_id", HOLDERS),
    )
    return Kind(SENTIMENTS, ".sentiment.tab", columns, "sentiment_value")


def _mentions() -> Kind:
    columns = (
        _NAMES[1],
        _text("entity", "entity_id"),
        _text("mention", "mention_id"),
        _text("label", "entity_type"),
        _text("mention_status", optional=True),
        Column("start", "integer", heading="start_char", code="LSF508"),
        Column("last", "integer", heading="end_char", code="LSF508"),
        _text("text", "mention_text"),
    )
    return Kind(MENTIONS, ".entity.tab", columns, "mention_id")


def _speech() -> Kind:
    columns = (
        _text("annotator", "user_id", optional=True),
        Column("frame", heading="file_id", pattern=r"[^\t ]+", code="LSF507"),
        Column("name", heading="situation_id", pattern=r"[^\t ]+", code="LSF507"),
        _type("situation_type", types, OUT_OF_DOMAIN),
        _chosen("status", "situation_status", _SPEECH_STATUSES, NONE),
        _chosen("scope", "scope", SCOPES, f"[0-4]|{NONE}|Scope_Not_Required"),
        _chosen("severity", "severity", SEVERITIES, f"[0-4]|{NONE}|Severity_Not_Required"),
        _chosen("resolution", "resolution_status", _RELIEFS, NONE),
        _entry("place_id", (NONE,)),
    )
    return Kind(SPEECH, ".speech.tab", columns, "situation_id")


def _emotions() -> Column:
    one = "|".join(EMOTIONS)
    return Column(
        "emotions", pattern=f"{NONE}|(?:{one})(?:, ?(?:{one}))*", code="LSF505", nullable=True,
        tolerated=True, heading="emotion_value", describe=partial(_hint, (*EMOTIONS, NONE)),
    )  # fmt: skip


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of tables by the names of their folders."""
    listed = (_needs(), _issues(), _sentiments(), _mentions(), _speech())
    return {kind.name: kind for kind in listed}


def kind_of_header(header: str) -> Kind | None:
    r"""The kind of table that has a header; None for other lines.

    Examples:
        >>> kind_of_header("user_id\tdoc_id\tneed_type").name
        'needs'
        >>> kind_of_header("LDC\tm1\tOsh") is None
        True
    """
    titles = set(header.split("\t"))
    return next((kind for kind in kinds().values() if kind.own_column in titles), None)
