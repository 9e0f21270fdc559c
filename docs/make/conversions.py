"""Tables of what formats support and what conversions lose, made from declarations."""

from __future__ import annotations

from collections.abc import Sequence

from docs.make.markdown import code, table
from hlteval.converters import Format
from hlteval.converters.format import EVERYTHING
from hlteval.representation import TABLES

_PAIRS = """\
## From what to what

Everything a format supports survives writing and reading, and everything two formats support
survives conversion between them; the tests check this for every format and every pair. This table
shows what a conversion may lose. Losing a table means losing all of its columns; losing a kind of
frame means losing everything attached to these frames. Smaller losses are counted on conversion.
Pairs that are not listed have only document names in common; `corpus` and `jsonl` are lossless and
therefore omitted.
"""

_BELONGS = {"frames": ("arguments", "fills"), "mentions": ("links",)}
"""The tables whose rows belong to those of a table."""


def support_table(formats: Sequence[Format]) -> str:
    """The tables of the representation that each format supports: wholly, in part, or not."""
    rows = [
        (
            _link(form),
            *("yes" if supported else "-" for supported in (form.reads, form.write)),
            *(_support(form, name) for name in TABLES),
        )
        for form in formats
    ]
    return table(("format", "read", "written", *TABLES), rows)


def _support(form: Format, name: str) -> str:
    if name not in form.carries:
        return "-"
    return "part" if missing_columns(form, name) else "yes"


def missing_columns(form: Format, name: str) -> list[str]:
    """The columns of a table that a format cannot represent.

    Examples:
        >>> from hlteval.converters import load
        >>> missing_columns(load("document-list"), "documents")
        ['text', 'language', 'start']
    """
    missing = (column.partition(".") for column in EVERYTHING if column not in form.carries)
    return [column for of, _, column in missing if of == name and column]


def partial_support(form: Format) -> str:
    """The columns that a format cannot represent of the tables that it supports."""
    missing = ((name, missing_columns(form, name)) for name in form.tables)
    return "; ".join(f"`{name}` without {code(columns)}" for name, columns in missing if columns)


#: What annotations consist of, as people say it, and the columns or tables that hold it.
_PARTS = {
    "text": ("documents.text",),
    "tokens": ("tokens",),
    "spans": ("mentions",),
    "in pieces": ("mentions.fragments",),
    "entity": ("mentions.entity",),
    "relations": ("frames",),
    "events": ("frames",),
    "attributes": ("modifiers",),
    "labels, times": ("instances",),
    "annotators": ("mentions.annotator", "instances.annotator", "frames.annotator"),
    "confidence": ("mentions.confidence", "instances.llr"),
}


def holding_table(formats: Sequence[Format], up: str = "../") -> str:
    """What each format of annotated data can hold, in the words of people who annotate.

    Args:
        formats: the formats; those without spans, tokens and labels are left out.
        up: the path to the page of formats.

    Examples:
        >>> from hlteval.converters import load
        >>> holding_table([load("rttm")]).splitlines()[-1]
        '| [rttm](../formats.md#rttm) | both | - | - | - | - | - | - | - | - | yes | - | - |'
    """
    rows = [
        (
            f"[{form.name}]({up}formats.md#{form.name})",
            "both" if form.reads and form.write else "read" if form.reads else "write",
            *("yes" if _holds(form, part) else "-" for part in _PARTS),
        )
        for form in formats
        if {"mentions", "tokens", "instances"} & {*form.carries} and not form.evaluation
    ]
    return table(("format", "", *_PARTS), rows)


def _holds(form: Format, part: str) -> bool:
    kinds = form.frame_kinds or ("relation", "event")
    of_kind = part not in {"relations", "events"} or part.removesuffix("s") in kinds
    return of_kind and not {*_PARTS[part]}.isdisjoint(form.carries)


def pair_table(formats: Sequence[Format]) -> str:
    """What each format that is read loses in each of the others that is written."""
    lossy = [form for form in formats if not form.carries_all]
    heads = ("from", "lossless", "loses columns", "loses tables")
    rows = [_row(form, lossy) for form in lossy if form.reads]
    return "\n".join([_PAIRS, table(heads, [row for row in rows if any(row[1:])])])


def _row(form: Format, formats: Sequence[Format]) -> tuple[str, ...]:
    by_tables: dict[tuple[str, ...], list[str]] = {}
    lossless, without_columns = list[str](), list[str]()
    for other in formats:
        if not other.write or other is form:
            continue
        tables, columns = pair_losses(form, other)
        shared = {"documents.text", *form.tables} & {*form.carries} & {*other.carries}
        if not shared - {"sources", "documents", *tables}:
            continue  # they share no more than names of documents
        if tables:
            by_tables.setdefault(tables, []).append(other.name)
        else:
            (without_columns if columns else lossless).append(other.name)
    without_tables = (
        f"{', '.join(names)} ({code(tables)})"
        for tables, names in sorted(by_tables.items(), key=lambda entry: len(entry[0]))
    )
    cells = (", ".join(lossless), ", ".join(without_columns), "; ".join(without_tables))
    return _link(form), *cells


def pair_losses(form: Format, other: Format) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables that another format cannot represent, and the columns of the remaining tables.

    Examples:
        >>> from hlteval.converters import load
        >>> pair_losses(load("edl-tab"), load("laf"))[0]
        ('links',)
    """
    missing = {name for name in form.tables if name not in other.carries}
    if form.frame_kinds and other.frame_kinds and not {*form.frame_kinds} & {*other.frame_kinds}:
        missing.add("frames")
    for name, others in _BELONGS.items():
        if name in missing:
            missing |= {*others} & {*form.tables}
    columns = [c for c in form.carries if "." in c and c not in other.carries]
    kept = tuple(c for c in columns if c.partition(".")[0] not in missing)
    return tuple(name for name in form.tables if name in missing), kept


def _link(form: Format) -> str:
    return f"[{form.name}](#{form.name})"
