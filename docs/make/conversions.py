"""Tables of what formats carry and what is lost from one to another, made from declarations."""

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
"""What is lost with the items of a table."""


def carried(listed: Sequence[Format]) -> str:
    """Which tables each format carries: with all of their columns, with some, or not."""
    rows = [
        (
            _linked(form),
            *("yes" if has else "-" for has in (form.reads, form.write)),
            *(_share(form, name) for name in TABLES),
        )
        for form in listed
    ]
    return table(("format", "read", "written", *TABLES), rows)


def _share(form: Format, name: str) -> str:
    if name not in form.carries:
        return "-"
    return "part" if lacking(form, name) else "yes"


def lacking(form: Format, name: str) -> list[str]:
    """The columns of a table that a format has no place for.

    Examples:
        >>> from hlteval.converters import load
        >>> lacking(load("document-list"), "documents")
        ['text', 'language', 'start']
    """
    own = (column.partition(".") for column in EVERYTHING if column not in form.carries)
    return [column for of, _, column in own if of == name and column]


def in_part(form: Format) -> str:
    """The columns that a format has no place for, of the tables that it carries."""
    told = ((name, lacking(form, name)) for name in form.tables)
    return "; ".join(f"`{name}` without {code(columns)}" for name, columns in told if columns)


def pairs(listed: Sequence[Format]) -> str:
    """For each format that is read, which others keep all of it, and what is lost in the rest."""
    told = [form for form in listed if not form.carries_all]
    heads = ("from", "lossless", "loses columns", "loses tables")
    rows = [_row(form, told) for form in told if form.reads]
    return "\n".join([_PAIRS, table(heads, [row for row in rows if any(row[1:])])])


def _row(form: Format, listed: Sequence[Format]) -> tuple[str, ...]:
    by_tables: dict[tuple[str, ...], list[str]] = {}
    whole, partly = list[str](), list[str]()
    for other in listed:
        if not other.write or other is form or not _common(form, other):
            continue
        tables, columns = lost(form, other)
        if tables:
            by_tables.setdefault(tables, []).append(other.name)
        else:
            (partly if columns else whole).append(other.name)
    told = (
        f"{', '.join(names)} ({code(tables)})"
        for tables, names in sorted(by_tables.items(), key=lambda one: len(one[0]))
    )
    return _linked(form), ", ".join(whole), ", ".join(partly), "; ".join(told)


def _common(form: Format, other: Format) -> bool:
    """Whether two formats share more than names of documents."""
    shared = {"documents.text", *form.tables} & {*form.carries} & {*other.carries}
    missing, _ = lost(form, other)
    return bool(shared - {"sources", "documents", *missing})


def lost(form: Format, other: Format) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables that have no place in another format, and the columns of those that have.

    Examples:
        >>> from hlteval.converters import load
        >>> lost(load("edl-tab"), load("laf"))[0]
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


def _linked(form: Format) -> str:
    return f"[{form.name}](#{form.name})"
