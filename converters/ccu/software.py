"""Submissions of CCU as the public scorer reads them, for the profile `official`.

pandas reads a line with too few cells, and an empty score, as one without a value; `inf` is a
number. It guesses the type of a column from how its numbers are written. Lines that the format
refuses are therefore read again, and columns of whole numbers are named in `attributes`, as are
change points of a reference that are not finished: their timestamps make the column one of words.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from hlteval.converters.ccu.reference import CHANGES, kind_of
from hlteval.converters.ccu.tables import TO_DO
from hlteval.converters.format import ReadResult
from hlteval.sources import Member, Unreadable

#: The element of `attributes` that names a column of a document with whole numbers only.
WHOLE = "whole"
#: The element of `attributes` that names a column with a word for a number in a reference.
WORDS = "words"
_MISSING = {"", "nan", "na", "n/a", "null", "none", "<na>"}
_WHOLE = re.compile(r"[+-]?[0-9]+")
_ITEMS = {"instance": "instances", "change": "changes"}
_TYPED = ("llr", "timestamp")

Cells = Mapping[str, str]


def as_software(reference: ReadResult, system: ReadResult) -> tuple[ReadResult, ReadResult]:
    """Both sides, with lines of which only the score or the status is missing or infinite.

    Args:
        reference: what was read of the reference; its unfinished change points are named.
        system: what the format `ccu-submission` read; from other formats nothing changes.
    """
    gold = _with_unfinished(_read_again(reference))
    return gold, gold if system is reference else _read_again(system)


def _with_unfinished(result: ReadResult) -> ReadResult:
    """The reference with an attribute for each change point whose timestamp is not known yet."""
    corpus = result.corpus
    numbers = dict(corpus.documents.select("name", "row").rows())
    unfinished: list[dict[str, object]] = []
    for origin, member in enumerate(result.members):
        kind = kind_of(member)
        columns, lines = _table(member) if kind and kind.name == CHANGES else ([], [])
        for record, line in enumerate(lines, 2):
            cells = dict(zip(columns, line.split("\t"), strict=False))
            document = numbers.get(cells.get("file_id", ""))
            if document is not None and cells.get("timestamp", "").strip(" ") == TO_DO:
                place = {"document": document, "origin": origin, "record": record}
                unfinished.append({**place, "element": WORDS, "name": "timestamp", "value": TO_DO})
    attributes = _with(corpus.attributes, unfinished)
    return replace(result, corpus=corpus.replace(attributes=attributes))


def _read_again(result: ReadResult) -> ReadResult:
    """The files of a submission with lines that were rejected, and their whole columns named."""
    corpus = result.corpus
    submitted = corpus.documents.filter(pl.col("processed").is_not_null())
    if submitted.is_empty() or not result.members:
        return result
    origins = submitted.filter("processed").select("origin", document="row").unique("origin")
    refused = corpus.rejected_records.filter(pl.col("kind").is_in(list(_ITEMS)))
    by_file = refused.partition_by("origin", as_dict=True)
    whole: list[dict[str, object]] = []
    again: dict[str, list[dict[str, object]]] = {table: [] for table in _ITEMS.values()}
    for origin, document in origins.sort("document").rows():
        columns, lines = _table(result.members[origin])
        place = {"document": document, "origin": origin}
        rejected = by_file.get((origin,), refused.clear())
        for kind, record, text in rejected.select("kind", "record", "text").rows():
            if values := _row(dict(zip(columns, text.split("\t"), strict=False)), columns):
                again[_ITEMS[kind]].append({**place, "record": record, **values})
        rows = [line.split("\t") for line in lines]
        for name in _TYPED:
            at = columns.index(name) if name in columns else -1
            if rows and at >= 0 and all(len(r) > at and _WHOLE.fullmatch(r[at]) for r in rows):
                mark = {"record": 1, "element": WHOLE, "name": name, "value": ""}
                whole.append({**place, **mark})
    tables = {name: _with(getattr(corpus, name), rows) for name, rows in again.items() if rows}
    attributes = _with(corpus.attributes, whole)
    return replace(result, corpus=corpus.replace(**tables, attributes=attributes))


def _table(member: Member) -> tuple[list[str], list[str]]:
    """The columns and the lines of a file; none if it cannot be read."""
    try:
        header, *lines = member.fetch().decode("utf-8", "replace").splitlines() or [""]
    except Unreadable:
        return [], []
    return header.split("\t"), lines


def _row(cells: Cells, columns: list[str]) -> dict[str, object] | None:
    """The values of a line; None if more is wrong with it than a missing or infinite score."""
    places = {"start": "start", "end": "end", "at": "timestamp"}
    try:
        row: dict[str, object] = {
            name: float(cells[heading]) for name, heading in places.items() if heading in columns
        }
        llr = cells.get("llr", "")
        row["llr"] = None if llr.strip().lower() in _MISSING else float(llr)
    except (KeyError, ValueError):
        return None
    if not cells.get("file_id"):
        return None
    for kind in ("norm", "emotion"):
        if kind in columns:
            if not cells.get(kind):
                return None
            named = {"kind": kind, "label": cells[kind], "region": cells.get("segment_id")}
            return {**row, **named, "status": cells.get("status") or None}
    return row


def _with(rows: pl.DataFrame, more: list[dict[str, object]]) -> pl.DataFrame:
    """A table with more rows, each at its place in its file."""
    if not more:
        return rows
    added = pl.DataFrame(more, schema_overrides={n: rows.schema[n] for n in more[0]})
    every = pl.concat([rows, added], how="diagonal")
    ordered = every.sort("document", "record", maintain_order=True, nulls_last=True)
    return ordered.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
