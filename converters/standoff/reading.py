"""Reads standoff: patterns accept its lines in bulk, the grammar explains the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import NamedTuple

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.standoff.dialects import (
    SPACES,
    TEXT,
    Dialect,
    Kind,
    explain,
    field,
    field_spans,
    torn,
)
from hlteval.converters.toolkit.rows import keyed
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem, Span, excerpt
from hlteval.grammars import pattern
from hlteval.representation import FRAGMENTS, TABLES, Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256

#: Documents in a batch, which are small.
BATCH = 1000

#: Rejected lines of a batch that are reported at the exact place; others are reported whole.
EXPLAINED = 2000
#: Different lines that are not explained again where they are repeated.
_ALIKE = 10_000
_PLACE = ["document", "origin", "record"]


class Batch(NamedTuple):
    """A batch of documents."""

    result: ReadResult
    tails: pl.DataFrame
    """Records that end in a comment, as `document`, `origin` and `record`."""


#: The columns of the representation that are read; others may be in use on the way.
_COLUMNS = {
    *("row", "document", "origin", "record", "mention", "label", "start", "end", "fragments"),
    *("text", "frame", "kind", "trigger", "frame_row", "position", "role", "target", "modifier"),
    *("value", "group", "member"),
}


def documents(source: Source, dialect: Dialect) -> Mapping[str, tuple[Member, ...]]:
    """The members of each document, by the name of the files up to the last dot."""
    found: dict[str, list[Member]] = {}
    suffixes = frozenset(dialect.suffixes)
    for member in source.members:
        stem, dot, suffix = member.basename.rpartition(".")
        if stem and dot + suffix in suffixes:
            found.setdefault(member.document(stem), []).append(member)
    return {name: tuple(found[name]) for name in sorted(found)}


def sniff(source: Source, dialect: Dialect) -> bool:
    """Whether any file has annotations."""
    return any(member.basename.endswith(dialect.annotations) for member in source.members)


def read(source: Source, dialect: Dialect, *, replace: bool = False) -> Iterator[Batch]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the source.
        dialect: the dialect that it is read as.
        replace: whether files with invalid bytes are read, with U+FFFD for these.
    """
    named = iter(documents(source, dialect).items())
    while batch := list(islice(named, BATCH)):
        yield _read_batch(source.path, batch, dialect, replace=replace)


def _read_batch(
    path: str, batch: Sequence[tuple[str, Sequence[Member]]], dialect: Dialect, *, replace: bool
) -> Batch:
    sources: list[tuple[str, str, str, str]] = []
    members: list[Member] = []
    annotations: list[tuple[int, int, str]] = []
    texts: list[tuple[int | None, str, str | None]] = []
    findings: list[Finding] = []
    for document, (name, files) in enumerate(batch):
        text: tuple[int | None, str, str | None] = (None, name, None)
        for member in files:
            content, digest, of_file = _content(member, replace=replace)
            findings.extend(of_file)
            if content is None:
                continue
            if member.basename.endswith(TEXT):
                if dialect.any_line_end:
                    content = re.sub("\r\n?", "\n", content)
                text = (len(sources), name, content)
            else:
                annotations.append((document, len(sources), content))
            sources.append((path, member.name or member.basename, dialect.name, digest))
            members.append(member)
        texts.append(text)
    lines = _lines(annotations)
    returns = bool(dialect.torn) and any("\r" in content for _, _, content in annotations)
    tables, matched = _tables(lines, dialect, returns=returns)
    known = pl.concat(table.select(_PLACE) for table in matched)
    rejected, problems = _rejected(lines, known, members, dialect)
    corpus = Corpus(
        sources=keyed("sources", sources, ("path", "member", "format", "sha256")),
        documents=keyed("documents", texts, ("origin", "name", "text")),
        **tables,
        rejected_records=rejected,
    )
    with_tails = [
        table.filter(pl.col("tail").is_not_null()) for table in matched if "tail" in table
    ]
    tails = pl.concat([known.clear(), *(table.select(_PLACE) for table in with_tails)])
    return Batch(ReadResult(corpus, (*findings, *problems), tuple(members)), tails)


def _content(member: Member, *, replace: bool) -> tuple[str | None, str, Iterable[Finding]]:
    """The text of a file, null where it cannot be read, its digest, and findings."""
    try:
        data = member.fetch()
    except Unreadable as reason:
        return None, "", (reason.finding,)
    decoded = decode(data, display=member.display, encoding=member.encoding, replace=replace)
    return decoded.text, sha256(data), decoded.findings


def _lines(annotations: Sequence[tuple[int, int, str]]) -> pl.DataFrame:
    """The records of annotation files: a row per line that is not empty, with its first letter."""
    schema = {"document": pl.Int64, "origin": pl.Int64, "written": pl.String}
    files = pl.LazyFrame(annotations, schema=schema, orient="row")
    split = files.with_columns(pl.col("written").str.split("\n"))
    split = split.with_columns(record=pl.int_ranges(1, pl.col("written").list.len() + 1))
    lines = split.explode("written", "record")
    lines = lines.with_columns(line=pl.col("written").str.strip_chars(SPACES)).filter(
        pl.col("line") != ""
    )
    return lines.with_columns(letter=pl.col("line").str.head(1)).collect()


def _tables(
    lines: pl.DataFrame, dialect: Dialect, *, returns: bool
) -> tuple[dict[str, pl.DataFrame], Sequence[pl.DataFrame]]:
    """The tables of a batch of lines, and the matches of each rule that they are made of.

    Args:
        lines: the lines.
        dialect: the dialect that they are read as.
        returns: whether records with a carriage return inside are refused, and there are any.
    """
    kinds, letters = dialect.kinds.items(), set(lines["letter"].unique())
    found = pl.collect_all(
        _matched(lines.lazy(), sorted(letters.intersection(of)), kind, dialect, returns=returns)
        for of, kind in kinds
    )
    matched = dict(zip((kind.rule for _, kind in kinds), found, strict=True))
    events = _frames(matched)
    tables = {
        "mentions": _mentions(matched["text_bound"]),
        "frames": events.lazy(),
        "arguments": _arguments(events),
        "modifiers": _modifiers(matched),
        "groups": _groups(matched["equivalence"]),
    }
    collected = pl.collect_all([_keyed_as(name, rows) for name, rows in tables.items()])
    return dict(zip(tables, collected, strict=True)), found


def _matched(
    lines: pl.LazyFrame, letters: Sequence[str], kind: Kind, dialect: Dialect, *, returns: bool
) -> pl.LazyFrame:
    """The lines that the rule of a kind accepts, with its groups as columns.

    The columns have the names of the representation; the identifier is `id`.
    """
    groups = pl.col("line").str.extract_groups(f"^(?:{pattern(dialect.name, kind.rule)})$")
    # Most kinds are rare, and a batch has no line of them.
    matched = lines.filter(pl.col("letter").is_in(letters)) if letters else lines.head(0)
    if returns:
        matched = matched.filter(~pl.col("line").str.contains(torn(kind.rule)))
    matched = matched.select(*_PLACE, groups=groups)
    matched = matched.filter(pl.col("groups").struct[0].is_not_null()).unnest("groups")
    return matched.rename(field)


def _keyed_as(name: str, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The columns of a table of the representation, with a key unless there is one."""
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
    """Discontinuous spans: the fragments, and the outer span."""
    fragments = broken.with_columns(pl.col("fragments").str.split(";")).explode("fragments")
    numbers = pl.col("fragments").str.splitn(" ", 2).struct
    fragments = fragments.select(
        "at",
        start=numbers.field("field_0").cast(pl.Int64),
        end=numbers.field("field_1").cast(pl.Int64),
    )
    return fragments.group_by("at", maintain_order=True).agg(
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
    filled = frames.filter(pl.col("arguments").is_not_null())
    lists = filled.lazy().select(*_PLACE, frame_row="row", argument=_words(filled["arguments"]))
    position = pl.int_ranges(1, pl.col("argument").list.len() + 1)
    single = lists.with_columns(position=position).explode("argument", "position")
    pair = pl.col("argument").str.splitn(":", 2).struct
    return single.with_columns(role=pair.field("field_0"), target=pair.field("field_1"))


def _modifiers(matched: Mapping[str, pl.DataFrame]) -> pl.LazyFrame:
    rules = ("attribute", "modifier", "normalization", "note")
    modifiers = [matched[rule].lazy() for rule in rules if rule in matched]
    return pl.concat(modifiers, how="diagonal").rename({"id": "modifier"}).sort("origin", "record")


def _groups(matched: pl.DataFrame) -> pl.LazyFrame:
    ordinal = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
    members = _words(matched["members"])
    # Older versions of Polars lose the column where lazy columns that may be absent are renamed.
    named = matched.rename({"label": "kind"}, strict=False).lazy()
    return named.with_columns(group=ordinal, member=members).explode("member")


def _words(lists: pl.Series) -> pl.Series:
    """Lists of words, nearly always separated by a single space."""
    if lists.str.contains(r"[\t\r\f\x0b]|  ").any():
        return lists.str.extract_all(r"[^ \t\r\f\x0b]+")
    return lists.str.split(" ")


_REJECTED = ("kind", "id", "label", "expected")


def _rejected(
    lines: pl.DataFrame, known: pl.DataFrame, members: Sequence[Member], dialect: Dialect
) -> tuple[pl.DataFrame, list[Finding]]:
    """The lines that no rule accepts, as rows of `rejected_records` and as findings.

    Args:
        lines: all lines.
        known: `origin` and `record` of those that a rule accepts.
        members: the files.
        dialect: the dialect that they are read as.
    """
    if known.height == lines.height:
        return Corpus().rejected_records, []
    lines = lines.join(known, on=["origin", "record"], how="anti", maintain_order="left")
    lines = lines.with_columns(written=pl.col("written").str.strip_suffix("\r"))
    alike = lru_cache(_ALIKE)(partial(_explained, dialect, ask=False))
    problems = [
        alike(line) if row >= EXPLAINED else _explained(dialect, line, ask=True)
        for row, line in enumerate(lines["written"])
    ]
    findings: list[Finding] = []
    each = iter(problems)
    for same in lines.partition_by("origin", maintain_order=True):
        member = members[same["origin"][0]]
        bounded = Bounded(member.max_per_code)
        for (record, line), problem in zip(
            same.select("record", "written").iter_rows(), each, strict=False
        ):
            bounded.add(problem.code, record, partial(_finding, member.display, line), problem)
        findings += bounded.findings
    return _rejected_rows(lines, problems), findings


def _finding(file: str, line: str, record: int, problem: Problem) -> Finding:
    identifier = str(problem.values["id"]) or None
    return problem._replace(record=record).in_line(file, line, identifier)


def _explained(dialect: Dialect, line: str, *, ask: bool) -> Problem:
    """The problem of a line that no rule accepts, in the line as written."""
    problem = explain(line.strip(SPACES), 0, dialect, ask=ask)
    return problem.shift(len(line) - len(line.lstrip(SPACES)))


def _rejected_rows(lines: pl.DataFrame, problems: Sequence[Problem]) -> pl.DataFrame:
    """The rows of `rejected_records` of lines, each with its problem."""
    found = [
        (item.code, item.start + 1, item.end + 1, *map(item.values.get, _REJECTED))
        for item in problems
    ]
    columns = ("code", "column", "end_column", *_REJECTED)
    schema = TABLES["rejected_records"].schema
    of_problems = pl.DataFrame(found, {name: schema[name] for name in columns}, orient="row")
    places = lines.select("document", "origin", "record", text="written")
    asked = pl.int_range(pl.len()) < EXPLAINED
    return pl.concat([places, of_problems], how="horizontal").with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        id=pl.when(pl.col("id") != "").then("id"),
        expected=pl.when(asked).then("expected").otherwise(pl.lit("")),
    )


def locate(member: Member, places: Sequence[FieldRef], dialect: Dialect) -> list[Location | None]:
    """The locations of fields of a file; None for a line that does not exist."""
    data, encoding = member.fetch(), member.encoding
    decoded = decode(data, display=member.display, encoding=encoding, replace=True)
    lines = (decoded.text or "").split("\n")
    records: dict[int, _Record] = {}  # one line may hold a million of the places
    for place in places:
        if 1 <= place.record <= len(lines) and place.record not in records:
            records[place.record] = _Record(lines[place.record - 1].removesuffix("\r"), dialect)
    return [
        records[place.record].location(place) if place.record in records else None
        for place in places
    ]


class _Record:
    """A line with its record, and the spans of the fields of that."""

    def __init__(self, line: str, dialect: Dialect) -> None:
        self.line, self.record, self.dialect = line, line.strip(SPACES), dialect
        self.begin = 1 + len(line) - len(line.lstrip(SPACES))

    @cached_property
    def fields(self) -> Mapping[str, tuple[int, int]]:
        return field_spans(self.record, self.dialect)

    def location(self, place: FieldRef) -> Location:
        whole = (0, len(self.record))
        start, end = self.fields.get(place.field, whole) if place.field else whole
        span = Span(place.record, self.begin + start, self.begin + end)
        return Location(span, excerpt(self.line, span))
