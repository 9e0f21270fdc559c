"""Reads standoff: patterns accept its lines in bulk, the grammar explains the others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import islice
from typing import NamedTuple

import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.standoff.dialects import (
    SPACES,
    TEXT,
    Dialect,
    explain,
    field,
    field_spans,
    torn,
)
from hlteval.converters.toolkit.rows import table_of
from hlteval.converters.toolkit.source_files import locate_in_text
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
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
            try:
                data = member.fetch()
            except Unreadable as reason:
                findings.append(reason.finding)
                continue
            display, encoding = member.display, member.encoding
            decoded = decode(data, display=display, encoding=encoding, replace=replace)
            findings.extend(decoded.findings)
            if (content := decoded.text) is None:
                continue
            file = member.name or member.basename
            if file.endswith(TEXT):
                if dialect.any_line_end and "\r" in content:
                    content = re.sub("\r\n?", "\n", content)
                text = (len(sources), name, content)
            else:
                annotations.append((document, len(sources), content))
            sources.append((path, file, dialect.name, sha256(data)))
            members.append(member)
        texts.append(text)
    lines = _lines(annotations)
    returns = bool(dialect.torn) and any("\r" in content for _, _, content in annotations)
    tables, matched = _tables(lines, dialect, returns=returns)
    known = pl.concat([lines.select(_PLACE).clear(), *(own.select(_PLACE) for own in matched)])
    rejected, problems = _reject(lines, known, members, dialect)
    corpus = Corpus(
        sources=table_of("sources", sources, ("path", "member", "format", "sha256")),
        documents=table_of("documents", texts, ("origin", "name", "text")),
        **tables,
        rejected_records=rejected,
    )
    tails = [table.drop_nulls("tail").select(_PLACE) for table in matched if "tail" in table]
    result = ReadResult(corpus, (*findings, *problems), tuple(members))
    return Batch(result, pl.concat([known.clear(), *tails]))


def _lines(annotations: Sequence[tuple[int, int, str]]) -> pl.DataFrame:
    """The records of annotation files: a row per line that is not empty, with its first letter."""
    schema = {"document": pl.Int64, "origin": pl.Int64, "written": pl.String}
    files = pl.LazyFrame(annotations, schema=schema, orient="row")
    split = files.with_columns(pl.col("written").str.split("\n"))
    split = split.with_columns(record=pl.int_ranges(1, pl.col("written").list.len() + 1))
    lines = split.explode("written", "record")
    lines = lines.with_columns(line=pl.col("written").str.strip_chars(SPACES))
    lines = lines.filter(pl.col("line") != "")
    return lines.with_columns(letter=pl.col("line").str.head(1)).collect()


def _tables(
    lines: pl.DataFrame, dialect: Dialect, *, returns: bool
) -> tuple[dict[str, pl.DataFrame], list[pl.DataFrame]]:
    """The tables of a batch of lines, and the matches of each rule that they are made of.

    Args:
        lines: the lines.
        dialect: the dialect that they are read as.
        returns: whether records with a carriage return inside are refused, and there are any.
    """
    letters = set(lines["letter"].unique())
    rules, plans = dict[str, pl.DataFrame](), dict[str, pl.LazyFrame]()
    for of, kind in dialect.kinds.items():
        form = f"^(?:{pattern(dialect.name, kind.rule)})$"
        rules[kind.rule] = _no_fields(form)  # most kinds are rare
        if some := letters.intersection(of):
            own = lines.lazy().filter(pl.col("letter").is_in(some))
            if returns:
                own = own.filter(~pl.col("line").str.contains(torn(kind.rule)))
            plans[kind.rule] = _fields(own, form)
    rules |= zip(plans, pl.collect_all(plans.values()), strict=True)
    tables = {"mentions": _mentions(rules["text_bound"])}
    of_frames = [rules[rule] for rule in ("event", "relation") if rule in rules]
    if any(rows.height for rows in of_frames):
        tables |= _frames(of_frames)
    kinds = ("attribute", "modifier", "normalization", "note")
    if others := [rules[rule].lazy() for rule in kinds if rule in plans]:
        modifiers = pl.concat(others, how="diagonal").rename({"id": "modifier"})
        tables["modifiers"] = modifiers.sort("origin", "record")
    if "equivalence" in plans:
        # Older versions of Polars lose the column where lazy ones that may be absent are renamed.
        groups = rules["equivalence"].rename({"label": "kind"}, strict=False)
        ordinal = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
        groups = groups.with_columns(group=ordinal, member=_words(groups["members"]))
        tables["groups"] = groups.lazy().explode("member")
    for name, rows in tables.items():
        columns = rows.collect_schema().names()
        key = [] if "row" in columns else [pl.int_range(pl.len(), dtype=pl.Int64).alias("row")]
        kept = _COLUMNS.intersection(["row", *columns])
        ordered = [column for column in TABLES[name].schema if column in kept]
        tables[name] = rows.with_columns(key).select(ordered)
    matched = [rules[rule] for rule in plans]
    return dict(zip(tables, pl.collect_all(tables.values()), strict=True)), matched


@cache
def _no_fields(form: str) -> pl.DataFrame:
    """The fields of a pattern of no lines."""
    schema = {**dict.fromkeys(_PLACE, pl.Int64), "line": pl.String}
    return _fields(pl.LazyFrame(schema=schema), form).collect()


def _fields(lines: pl.LazyFrame, form: str) -> pl.LazyFrame:
    """The fields of the lines that a pattern accepts.

    Spans, relations and events are divided at tabs, spaces and colons, which takes a quarter of the
    time that the pattern takes to divide them.
    """
    names = [field(name) for name in re.compile(form).groupindex]
    (body,) = {"fragments", "arguments"}.intersection(names) or ("",)
    if not body:
        parts = lines.select(*_PLACE, groups=pl.col("line").str.extract_groups(form))
        matches = parts.filter(pl.col("groups").struct[0].is_not_null())
        return matches.unnest("groups").rename(field)
    last = next((name for name in names if name in {"text", "tail"}), "")
    accepted = lines.filter(pl.col("line").str.contains(form))
    cells = pl.col("line").str.splitn("\t", 3 if last else 2)
    parts = accepted.select(*_PLACE, parts=cells).unnest("parts").rename({"field_0": "id"})
    head, rest = _halves("field_1", " ")
    parts = parts.with_columns(label=head, **{body: rest})
    if body == "arguments":
        rest = pl.col(body).str.strip_chars_start(SPACES)
        parts = parts.with_columns(pl.when(rest != "").then(rest))
    if "trigger" in names:
        label, trigger = _halves("label", ":")
        parts = parts.with_columns(label=label, trigger=trigger)
    return parts.rename({"field_2": last} if last else {}).select(*_PLACE, *names)


def _halves(column: str, separator: str) -> tuple[pl.Expr, pl.Expr]:
    """The texts before and after the first separator."""
    halves = pl.col(column).str.splitn(separator, 2).struct
    return halves.field("field_0"), halves.field("field_1")


def _mentions(matched: pl.DataFrame) -> pl.LazyFrame:
    """The text spans; of discontinuous ones with their fragments, and the outer span."""
    start, end = (each.cast(pl.Int64, strict=False) for each in _halves("fragments", " "))
    spans = matched.lazy().rename({"id": "mention"}).with_row_index("at")
    continuous = spans.with_columns(start=start, end=end, fragments=pl.lit(None, FRAGMENTS))
    is_broken = pl.col("fragments").str.contains(";", literal=True)
    if not matched.select(is_broken.any()).item():
        return continuous
    parts = spans.filter(is_broken).select("at", pl.col("fragments").str.split(";"))
    parts = parts.explode("fragments").select("at", start=start, end=end)
    outer = {"start": pl.col("start").min(), "end": pl.col("end").max()}
    grouped = parts.group_by("at", maintain_order=True)
    broken = grouped.agg(fragments=pl.struct("start", "end"), **outer)
    return continuous.update(broken, on="at", how="left")


def _frames(matched: Sequence[pl.DataFrame]) -> dict[str, pl.LazyFrame]:
    """The events and relations, in the order of their records, and their arguments."""
    frames = pl.concat(matched, how="diagonal")
    if len(matched) > 1:
        frames = frames.sort("origin", "record")
    is_relation = pl.col("frame").str.starts_with("R")
    frames = frames.rename({"id": "frame"}).with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        kind=pl.when(is_relation).then(pl.lit("relation")).otherwise(pl.lit("event")),
    )
    filled = frames.filter(pl.col("arguments").is_not_null())
    lists = filled.lazy().select(*_PLACE, frame_row="row", argument=_words(filled["arguments"]))
    position = pl.int_ranges(1, pl.col("argument").list.len() + 1)
    arguments = lists.with_columns(position=position).explode("argument", "position")
    role, target = _halves("argument", ":")
    return {"frames": frames.lazy(), "arguments": arguments.with_columns(role=role, target=target)}


def _words(lists: pl.Series) -> pl.Series:
    """Lists of words, nearly always separated by a single space."""
    if lists.str.contains(r"[\t\r\f\x0b]|  ").any():
        return lists.str.extract_all(r"[^ \t\r\f\x0b]+")
    return lists.str.split(" ")


def _reject(
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

    def problem(line: str, *, ask: bool) -> Problem:
        begin = len(line) - len(line.lstrip(SPACES))
        return explain(line.strip(SPACES), 0, dialect, ask=ask).shift(begin)

    alike, written = lru_cache(_ALIKE)(partial(problem, ask=False)), lines["written"]
    problems = [problem(line, ask=True) for line in written.head(EXPLAINED)]
    problems += map(alike, written.slice(EXPLAINED))
    findings: list[Finding] = []
    each = iter(problems)
    for same in lines.partition_by("origin", maintain_order=True):
        member = members[same["origin"][0]]
        bounded = Bounded(member.max_per_code)
        for record, line in same.select("record", "written").iter_rows():
            of_line = next(each)
            bounded.add(of_line.code, record, partial(_finding, member.display, line), of_line)
        findings += bounded.findings
    names = ("kind", "id", "label", "expected")
    rows = [(p.code, p.start + 1, p.end + 1, *map(p.values.get, names)) for p in problems]
    declared = TABLES["rejected_records"].schema
    schema = {name: declared[name] for name in ("code", "column", "end_column", *names)}
    places = lines.select("document", "origin", "record", text="written")
    columns = pl.DataFrame(rows, schema, orient="row")
    asked = pl.int_range(pl.len()) < EXPLAINED
    return pl.concat([places, columns], how="horizontal").with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        id=pl.when(pl.col("id") != "").then("id"),
        expected=pl.when(asked).then("expected").otherwise(pl.lit("")),
    ), findings


def _finding(file: str, line: str, record: int, problem: Problem) -> Finding:
    identifier = str(problem.values["id"]) or None
    return problem._replace(record=record).in_line(file, line, identifier)


def locate(member: Member, places: Sequence[FieldRef], dialect: Dialect) -> list[Location | None]:
    """The locations of fields of a file; None for a line that does not exist."""
    spans: dict[str, Mapping[str, tuple[int, int]]] = {}  # a line may hold a million of the places

    def span_of(line: str, name: str) -> tuple[int, int]:
        begin, record = len(line) - len(line.lstrip(SPACES)), line.strip(SPACES)
        if name and line not in spans:
            spans[line] = field_spans(record, dialect)
        start, end = spans[line].get(name, (0, len(record))) if name else (0, len(record))
        return begin + start, begin + end

    data, encoding = member.fetch(), member.encoding
    text = decode(data, display=member.display, encoding=encoding, replace=True).text
    return locate_in_text(text or "", places, span_of)
