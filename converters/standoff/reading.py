"""Reading of standoff, in either dialect: accepted in bulk by pattern, explained by the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.standoff.dialects import TEXT, Dialect, Kind
from hlteval.converters.standoff.records import BLANKS, explain, field, parts
from hlteval.findings import FieldRef, Finding, Location, Span, excerpt, finding
from hlteval.grammars import pattern
from hlteval.representation import FRAGMENTS, TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

BATCH = 500
"""Documents in a batch; more cost memory and gain no time."""

EXPLAINED = 2000
"""Refused lines of a batch whose exact place is looked for; the rest are named whole."""


class Batch(NamedTuple):
    """What is read of a batch of documents."""

    reading: ReadResult
    tails: pl.DataFrame
    """The records behind which something stands that says nothing: `origin` and `record`."""


_COLUMNS = {
    *("row", "document", "origin", "record", "mention", "label", "start", "end", "fragments"),
    *("text", "frame", "kind", "trigger", "frame_row", "position", "role", "target", "modifier"),
    *("value", "group", "member"),
}
"""The columns of the representation that are read; others may be in use on the way."""


def documents(source: Source, dialect: Dialect) -> Mapping[str, tuple[Member, ...]]:
    """The members of each document, by name: the file's, up to its last dot.

    Of a folder only the files at its top are read, of an archive those at any depth.
    """
    found: dict[str, list[Member]] = {}
    for member in source.members:
        stem, dot, suffix = member.basename.rpartition(".")
        nested = source.kind == "folder" and "/" in member.name
        if stem and dot + suffix in dialect.suffixes and not nested:
            found.setdefault(stem, []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


def sniff(source: Source, dialect: Dialect) -> bool:
    """Whether there is a file with annotations."""
    return any(member.basename.endswith(dialect.annotations) for member in source.members)


def read(source: Source, dialect: Dialect) -> Iterator[Batch]:
    """The documents of a source in batches, in the order of their names."""
    named = iter(documents(source, dialect).items())
    while batch := list(islice(named, BATCH)):
        yield _read_batch(source.path, batch, dialect)


def _read_batch(
    path: str, batch: Sequence[tuple[str, Sequence[Member]]], dialect: Dialect
) -> Batch:
    sources: list[tuple[str, str, str, str]] = []
    members: list[Member] = []
    annotations: list[tuple[int, int, str]] = []
    texts: list[tuple[int | None, str, str | None]] = []
    findings: list[Finding] = []
    for document, (name, files) in enumerate(batch):
        text: tuple[int | None, str, str | None] = (None, name, None)
        for member in files:
            content, digest, problems = _content(member)
            findings.extend(problems)
            if content is None:
                continue
            if member.basename.endswith(TEXT):
                text = (len(sources), name, _text(content, dialect))
            else:
                annotations.append((document, len(sources), content))
            sources.append((path, member.name or member.basename, dialect.name, digest))
            members.append(member)
        texts.append(text)
    tables, tails = _tables(_lines(annotations), dialect)
    corpus = Corpus(
        sources=_keyed("sources", sources, "path", "member", "format", "sha256"),
        documents=_keyed("documents", texts, "origin", "name", "text"),
        **tables,
    )
    told = (*findings, *_refusals(corpus.rejected_records, members))
    return Batch(ReadResult(corpus, told, tuple(members)), tails)


def _text(content: str, dialect: Dialect) -> str:
    """The text of a document, as offsets count it."""
    return re.sub("\r\n?", "\n", content) if dialect.any_line_end else content


def _content(member: Member) -> tuple[str | None, str, Iterable[Finding]]:
    """A file's text (none if it cannot be had), its digest, and what was wrong with it."""
    try:
        data = member.fetch()
    except Unreadable as reason:
        return None, "", (reason.finding,)
    decoded = decode(data, display=member.display, encoding=member.encoding)
    return decoded.text, sha256(data), decoded.findings


def _keyed(name: str, rows: Sequence[tuple[object, ...]], *columns: str) -> pl.DataFrame:
    """Rows as a table whose key counts from 0."""
    schema = {column: TABLES[name].schema[column] for column in columns}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *columns)


def _lines(annotations: Sequence[tuple[int, int, str]]) -> pl.DataFrame:
    """The records of annotation files: a row a line that is not blank, with its first letter."""
    schema = {"document": pl.Int64, "origin": pl.Int64, "written": pl.String}
    files = pl.LazyFrame(annotations, schema=schema, orient="row")
    split = files.with_columns(pl.col("written").str.split("\n"))
    split = split.with_columns(record=pl.int_ranges(1, pl.col("written").list.len() + 1))
    lines = split.explode("written", "record")
    lines = lines.with_columns(line=pl.col("written").str.strip_chars(BLANKS)).filter(
        pl.col("line") != ""
    )
    return lines.with_columns(letter=pl.col("line").str.head(1)).collect()


def _tables(lines: pl.DataFrame, dialect: Dialect) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """The tables of a batch of lines, each line in the table of its kind or in `rejected_records`.

    And the records that have a tail.
    """
    kinds = dialect.kinds.items()
    matched = dict(
        zip(
            (kind.rule for _, kind in kinds),
            pl.collect_all(_matched(lines.lazy(), *of, dialect) for of in kinds),
            strict=True,
        )
    )
    events = _frames(matched)
    tables = {
        "mentions": _mentions(matched["text_bound"]),
        "frames": events.lazy(),
        "arguments": _arguments(events),
        "modifiers": _modifiers(matched),
        "groups": _groups(matched["equivalence"]),
    }
    collected = pl.collect_all([_keyed_as(name, rows) for name, rows in tables.items()])
    known = pl.concat(table.select("origin", "record") for table in matched.values())
    rest = lines if known.height < lines.height else lines.clear()
    found = dict(zip(tables, collected, strict=True))
    return {**found, "rejected_records": _refused(rest, known, dialect)}, _tails(matched.values())


def _matched(lines: pl.LazyFrame, letters: str, kind: Kind, dialect: Dialect) -> pl.LazyFrame:
    """The lines of a kind that its rule accepts, with the rule's parts as columns.

    They are called as in the representation; the identifier is `id`.
    """
    groups = pl.col("line").str.extract_groups(f"^(?:{pattern(dialect.name, kind.rule)})$")
    matched = lines.filter(pl.col("letter").is_in(list(letters)))
    matched = matched.select("document", "origin", "record", parts=groups)
    matched = matched.filter(pl.col("parts").struct[0].is_not_null()).unnest("parts")
    return matched.rename(field)


def _tails(matched: Iterable[pl.DataFrame]) -> pl.DataFrame:
    place = {"document": pl.Int64, "origin": pl.Int64, "record": pl.Int64}
    found = [table.filter(pl.col("tail").is_not_null()) for table in matched if "tail" in table]
    return pl.concat([pl.DataFrame(schema=place), *(table.select(list(place)) for table in found)])


def _keyed_as(name: str, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The columns that a table of the representation has, with a key where there is none yet."""
    columns = rows.collect_schema().names()
    if "row" not in columns:
        rows = rows.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
    kept = _COLUMNS.intersection(["row", *columns])
    return rows.select(column for column in TABLES[name].schema if column in kept)


def _mentions(matched: pl.DataFrame) -> pl.LazyFrame:
    numbers = pl.col("fragments").str.splitn(" ", 2).struct
    spans = matched.lazy().rename({"id": "mention"}).with_row_index("at")
    whole = spans.with_columns(
        start=numbers.field("field_0").cast(pl.Int64, strict=False),
        end=numbers.field("field_1").cast(pl.Int64, strict=False),
        fragments=pl.lit(None, FRAGMENTS),
    )
    if not matched["fragments"].str.contains(";", literal=True).any():
        return whole
    broken = spans.filter(pl.col("fragments").str.contains(";", literal=True))
    return whole.update(_fragments(broken.select("at", "fragments")), on="at", how="left")


def _fragments(broken: pl.LazyFrame) -> pl.LazyFrame:
    """Discontinuous spans: the parts, and the outer span."""
    parts = broken.with_columns(pl.col("fragments").str.split(";")).explode("fragments")
    numbers = pl.col("fragments").str.splitn(" ", 2).struct
    parts = parts.select(
        "at",
        start=numbers.field("field_0").cast(pl.Int64),
        end=numbers.field("field_1").cast(pl.Int64),
    )
    return parts.group_by("at", maintain_order=True).agg(
        fragments=pl.struct("start", "end"), start=pl.col("start").min(), end=pl.col("end").max()
    )


def _frames(matched: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The events and relations, in the order of their records, with their arguments as written."""
    rules = [matched[rule] for rule in ("event", "relation") if rule in matched]
    frames = pl.concat(rules, how="diagonal") if len(rules) > 1 else rules[0]
    if len(rules) > 1:
        frames = frames.sort("origin", "record")
    named = frames.rename({"id": "frame"}).with_row_index("row")
    return named.with_columns(
        pl.col("row").cast(pl.Int64),
        kind=pl.when(pl.col("frame").str.starts_with("R"))
        .then(pl.lit("relation"))
        .otherwise(pl.lit("event")),
    )


def _arguments(frames: pl.DataFrame) -> pl.LazyFrame:
    place = ("document", "origin", "record")
    filled = frames.filter(pl.col("arguments").is_not_null())
    listed = filled.lazy().select(*place, frame_row="row", argument=_words(filled["arguments"]))
    position = pl.int_ranges(1, pl.col("argument").list.len() + 1)
    single = listed.with_columns(position=position).explode("argument", "position")
    parts = pl.col("argument").str.splitn(":", 2).struct
    return single.with_columns(role=parts.field("field_0"), target=parts.field("field_1"))


def _modifiers(matched: Mapping[str, pl.DataFrame]) -> pl.LazyFrame:
    rules = ("attribute", "modifier", "normalization", "note")
    listed = [matched[rule].lazy() for rule in rules if rule in matched]
    return pl.concat(listed, how="diagonal").rename({"id": "modifier"}).sort("origin", "record")


def _groups(matched: pl.DataFrame) -> pl.LazyFrame:
    ordinal = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
    members = _words(matched["members"])
    named = matched.lazy().rename({"label": "kind"}, strict=False)
    return named.with_columns(group=ordinal, member=members).explode("member")


def _words(listed: pl.Series) -> pl.Series:
    """Lists that are divided by blanks; nearly always by a single " "."""
    if listed.str.contains(r"[\t\r\f\x0b]|  ").any():
        return listed.str.extract_all(r"[^ \t\r\f\x0b]+")
    return listed.str.split(" ")


def _refused(lines: pl.DataFrame, known: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
    """The lines that no rule accepts, each with the reason; the first `EXPLAINED` exactly."""
    if lines.is_empty():
        return TABLES["rejected_records"].empty()
    lines = lines.join(known, on=["origin", "record"], how="anti", maintain_order="left")
    rows: list[dict[str, object]] = []
    for row, (document, origin, record, written) in enumerate(
        lines.select("document", "origin", "record", "written").iter_rows()
    ):
        text = written.removesuffix("\r")
        begin = len(text) - len(text.lstrip(BLANKS))
        refusal = explain(text.strip(BLANKS), dialect, ask=row < EXPLAINED)._asdict()
        refusal["column"] += begin
        refusal["end_column"] += begin
        place = {"row": row, "document": document, "origin": origin, "record": record}
        rows.append({**place, **refusal, "text": text})
    return Corpus(rejected_records=rows).rejected_records


def _refusals(refused: pl.DataFrame, members: Sequence[Member]) -> Iterator[Finding]:
    for row in refused.iter_rows(named=True):
        span = Span(row["record"], row["column"], row["end_column"])
        yield finding(
            row["code"],
            file=members[row["origin"]].display,
            span=span,
            excerpt=excerpt(row["text"], span),
            record=row["id"],
            id=row["id"] or "",
            given=row["text"][row["column"] - 1 : row["end_column"] - 1][:40]
            or "end of line",
            expected=row["expected"] or "a record of this kind",
        )


def locate(member: Member, places: Sequence[FieldRef], dialect: Dialect) -> list[Location | None]:
    """Line and column of places of one file; None for a line that is not there."""
    decoded = decode(member.fetch(), display=member.display, encoding=member.encoding)
    lines = (decoded.text or "").split("\n")
    records: dict[int, _Record] = {}  # one line may hold a million of the places
    for place in places:
        if 1 <= place.record <= len(lines) and place.record not in records:
            records[place.record] = _Record.of(lines[place.record - 1].removesuffix("\r"), dialect)
    return [
        records[place.record].located(place) if place.record in records else None
        for place in places
    ]


class _Record(NamedTuple):
    """A line, and where in it the record and its fields stand."""

    line: str
    whole: tuple[int, int]
    fields: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, line: str, dialect: Dialect) -> _Record:
        record = line.strip(BLANKS)
        begin = len(line) - len(line.lstrip(BLANKS))
        fields = {
            name: (begin + start, begin + end)
            for name, (start, end) in parts(record, dialect).items()
        }
        return cls(line, (begin, begin + len(record)), fields)

    def located(self, place: FieldRef) -> Location:
        start, end = self.fields.get(place.field, self.whole)
        span = Span(place.record, start + 1, end + 1)
        return Location(span, excerpt(self.line, span))
