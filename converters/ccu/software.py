"""Submissions of CCU as the public scorer reads them, for the profile `official`.

pandas reads a line with too few cells, and an empty score, as one without a value; `inf` is a
number. It guesses the type of a column from how its numbers are written. Lines that the format
refuses are therefore read again, and columns of whole numbers are named in `attributes`, as are
change points of a reference that are not finished: their timestamps make the column one of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from hlteval.converters.ccu.reference import kind_of
from hlteval.converters.ccu.reference_rows import CHANGES, TO_DO
from hlteval.converters.format import ReadResult
from hlteval.sources import Member, Unreadable

#: The element of `attributes` that names a column of a document with whole numbers only.
WHOLE = "whole"
#: The element of `attributes` that names a column with a word for a number in a reference.
WORDS = "words"
_MISSING = {"", "nan", "na", "n/a", "null", "none", "<na>"}
_WHOLE = re.compile(r"[+-]?[0-9]+")
_ITEMS = {"instance": "instances", "change": "changes"}
_CLASSES = {"norm": "norm", "emotion": "emotion"}
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
    found = []
    for origin, member in enumerate(result.members):
        kind = kind_of(member)
        if kind is None or kind.name != CHANGES:
            continue
        header, *lines = list(_lines(member)) or [""]
        columns = header.split("\t")
        for record, line in enumerate(lines, 2):
            cells = dict(zip(columns, line.split("\t"), strict=False))
            document = numbers.get(cells.get("file_id", ""))
            if document is not None and cells.get("timestamp", "").strip(" ") == TO_DO:
                place = {"document": document, "origin": origin, "record": record}
                found.append({**place, "element": WORDS, "name": "timestamp", "value": TO_DO})
    return replace(result, corpus=corpus.replace(attributes=_with(corpus.attributes, found)))


def _read_again(result: ReadResult) -> ReadResult:
    corpus = result.corpus
    submitted = corpus.documents.filter(pl.col("processed").is_not_null())
    if submitted.is_empty() or not result.members:
        return result
    origins = submitted.filter("processed").select("origin", document="row").unique("origin")
    types = []
    refused = corpus.rejected_records.filter(pl.col("kind").is_in(list(_ITEMS)))
    by_file = refused.partition_by("origin", as_dict=True)
    again: dict[str, list[dict[str, object]]] = {table: [] for table in _ITEMS.values()}
    for origin, document in origins.sort("document").rows():
        header, *lines = list(_lines(result.members[origin])) or [""]
        columns = header.split("\t")
        rejected = by_file.get((origin,), refused.clear())
        for kind, record, text in rejected.select("kind", "record", "text").rows():
            values = _row(dict(zip(columns, text.split("\t"), strict=False)), columns)
            if values:
                placed = {"document": document, "origin": origin, "record": record}
                again[_ITEMS[kind]].append({**placed, **values})
        for name in _whole_columns(columns, lines):
            types.append({"document": document, "origin": origin, "name": name})
    tables = {name: _with(getattr(corpus, name), rows) for name, rows in again.items() if rows}
    whole = [{**row, "record": 1, "element": WHOLE, "value": ""} for row in types]
    attributes = _with(corpus.attributes, whole)
    return replace(result, corpus=corpus.replace(**tables, attributes=attributes))


def _lines(member: Member) -> Iterator[str]:
    try:
        yield from member.fetch().decode("utf-8", "replace").splitlines()
    except Unreadable:
        return


def _whole_columns(columns: list[str], lines: list[str]) -> list[str]:
    """The columns of numbers that are all written without decimals."""
    rows = [line.split("\t") for line in lines]
    places = [(name, columns.index(name)) for name in _TYPED if name in columns]
    return [
        name
        for name, at in places
        if rows and all(len(row) > at and _WHOLE.fullmatch(row[at]) for row in rows)
    ]


def _row(cells: Cells, columns: list[str]) -> dict[str, object] | None:
    """The values of a line; None if more is wrong with it than a missing or infinite score."""
    try:
        places = {
            ours: float(cells[theirs])
            for ours, theirs in (("start", "start"), ("end", "end"), ("at", "timestamp"))
            if theirs in columns
        }
        llr = _score(cells.get("llr", ""))
    except (KeyError, ValueError):
        return None
    label = next((cells.get(name, "") for name in _CLASSES if name in columns), None)
    if label == "" or not cells.get("file_id"):
        return None
    kind = next((kind for name, kind in _CLASSES.items() if name in columns), None)
    named = {"kind": kind, "label": label, "region": cells.get("segment_id")}
    own = {**named, "status": cells.get("status") or None} if label else {}
    return {**places, "llr": llr, **own}


def _score(cell: str) -> float | None:
    return None if cell.strip().lower() in _MISSING else float(cell)


def _with(rows: pl.DataFrame, more: list[dict[str, object]]) -> pl.DataFrame:
    """A table with more rows, each at its place in its file."""
    if not more:
        return rows
    added = pl.DataFrame(more, schema_overrides={n: rows.schema[n] for n in more[0]})
    every = pl.concat([rows, added], how="diagonal")
    ordered = every.sort("document", "record", maintain_order=True, nulls_last=True)
    return ordered.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
