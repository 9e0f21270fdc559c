r"""The notation of an instance, rating or change as one line of text, as label tracks hold them.

    norm: 101 | status=adhere | llr=1.5
    420 | region=M01_0003 | annotator=8765

The first part is the label, level or direction, after the kind where nothing else shows it. Then
come the properties that are known, each after a vertical bar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import keyed
from hlteval.converters.toolkit.source_files import FileBatch
from hlteval.findings import Finding, Problem
from hlteval.findings.suggest import did_you_mean
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source

#: The kinds of instances.
INSTANCES = ("norm", "emotion")
#: The kinds of ratings.
RATINGS = ("valence", "arousal")
#: The kind of changes, and the text of one without a direction.
CHANGE = "change"
#: The text of a rating without a level.
NOT_ANNOTATED = "noann"
#: The column of each table that the first part has.
MAIN: Mapping[str, str] = MappingProxyType(
    {"instances": "label", "ratings": "level", "changes": "direction"}
)
#: The columns of each table that are properties.
PROPERTIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "instances": ("status", "llr", "region", "several", "annotator"),
        "ratings": ("bin", "region", "annotator"),
        "changes": ("strength", "llr", "evidence", "annotator"),
    }
)
NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_BAR = " | "
_KIND = re.compile(rf"({'|'.join(INSTANCES)}): +")
_VALUES: Mapping[str, str] = MappingProxyType({"llr": NUMBER, "several": "true|false"})
_EXPECTED: Mapping[str, str] = MappingProxyType({"llr": "a number", "several": "true or false"})
#: Line breaks, control characters, and the bar.
_UNWRITABLE = "[\x00-\x1f\x85\u2028\u2029\ufffe\uffff|]"

Value = str | float | bool | None


class Note(NamedTuple):
    """What a line of text says.

    Attributes:
        kind: as written before the label; empty where it is not.
        main: the first part.
        values: the properties by name, as values.
        problems: what is wrong; places are code points of the text.
    """

    kind: str
    main: str
    values: Mapping[str, Value]
    problems: list[Problem]


def noted(text: str, table: str = "instances", *, with_kind: bool = True) -> Note:
    """What a line of text says.

    Args:
        text: the line.
        table: `instances`, `ratings` or `changes`.
        with_kind: whether an instance may begin with its kind.

    Examples:
        >>> noted("emotion: joy | llr=0.5")[:3]
        ('emotion', 'joy', {'llr': 0.5})
        >>> noted("positive | strenght=4", "changes").problems[0].values["hint"]
        'did you mean strength?'
    """
    first, *parts = text.split(_BAR)
    kind = _KIND.match(first.lstrip()) if with_kind and table == "instances" else None
    main = (first.lstrip()[kind.end() :] if kind else first).strip()
    problems = [] if main else [Problem("TLN101", 0, 0, len(text))]
    values: dict[str, Value] = {}
    start = len(first) + len(_BAR)
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        problem = _problem(name, value, part.strip(), table)
        if problem:
            problems.append(problem.shift(start)._replace(end=start + len(part)))
        else:
            values[name] = _value(name, value)
        start += len(part) + len(_BAR)
    return Note(kind[1] if kind else "", main, values, problems)


def _problem(name: str, value: str, part: str, table: str) -> Problem | None:
    """What is wrong with a property, at the beginning of its text."""
    if name not in PROPERTIES[table] or not value:
        listed = ", ".join(f"{known}=" for known in PROPERTIES[table])
        hint = f"write one of {listed} or remove the bar before it"
        hint = did_you_mean(name, [n for n in PROPERTIES[table] if n != name], hint)
        return Problem("TLN102", 0, 0, 0, {"given": part[:40] or "(empty)", "hint": hint})
    if name in _VALUES and not re.fullmatch(_VALUES[name], value):
        expected = {"given": value[:40], "name": name, "expected": _EXPECTED[name]}
        return Problem("TLN103", 0, 0, 0, expected)
    return None


def _value(name: str, value: str) -> Value:
    if name == "several":
        return value == "true"
    return float(value) if name == "llr" else value


def text(table: str, *, with_kind: bool = False) -> pl.Expr:
    """The rows of a table as lines of text, named `text`.

    Args:
        table: `instances`, `ratings` or `changes`.
        with_kind: whether the text begins with the kind.

    Examples:
        >>> row = {"kind": "norm", "label": "101", "status": None, "llr": 1.5}
        >>> frame = pl.DataFrame([row | {"region": "S1", "several": True, "annotator": None}])
        >>> frame.select(text("instances", with_kind=True)).item()
        'norm: 101 | llr=1.5 | region=S1 | several=true'
    """
    empty = {"ratings": NOT_ANNOTATED, "changes": CHANGE}.get(table, "")
    main = pl.col(MAIN[table]).cast(pl.String).fill_null(empty)
    properties = (
        pl.format(f"{_BAR}{name}={{}}", pl.col(name).cast(pl.String)) for name in PROPERTIES[table]
    )
    parts = [pl.format("{}: ", "kind")] if with_kind else []
    return pl.concat_str(*parts, main, *properties, ignore_nulls=True).alias("text")


def fits(table: str) -> pl.Expr:
    """Whether a line of text can represent a row of a table."""
    kinds = {"instances": INSTANCES, "ratings": RATINGS}.get(table)
    texts = [c for c in (MAIN[table], *PROPERTIES[table]) if c not in {"llr", "level", "several"}]
    conditions = [is_line(name) for name in texts]
    conditions += [pl.col("kind").is_in(kinds)] if kinds else []
    if table == "changes":
        conditions.append(pl.col("direction").ne_missing(CHANGE))
    number = "level" if table == "ratings" else "llr"
    return pl.all_horizontal(is_number(number), *conditions)


def is_number(column: str) -> pl.Expr:
    """Whether a number is null, or one that text represents with an exponent of two digits."""
    value = pl.col(column)
    usual = (value == 0) | value.abs().is_between(1e-90, 1e90)
    return (usual & value.is_finite()).fill_null(value=True)


def is_line(column: str) -> pl.Expr:
    """Whether a text is null, or a part of a line that comes back as it is."""
    value = pl.col(column)
    line = (value.str.strip_chars() == value) & (value != "") & ~value.str.contains(_UNWRITABLE)
    return line.fill_null(value=True)


# Times of timelines: rows in seconds, times as text, and rounding to milliseconds.


#: No stream is so many seconds long.
LATEST = 1e9
#: Enough for the sum of any two times, digit for digit.
_DIGITS = 400


def placed(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table with the `name` and the `modality` of their documents.

    Changes, which are points, have the columns `start` and `end` of others.
    """
    documents = corpus.documents.select("name", "modality", document="row")
    frame: pl.DataFrame = getattr(corpus, table)
    rows = frame.join(documents, on="document", maintain_order="left")
    return rows.with_columns(start="at", end="at") if table == "changes" else rows


def in_text() -> pl.Expr:
    """Whether a row is of a document of text, whose places are characters."""
    return pl.col("modality").eq_missing("text")


def is_timed() -> pl.Expr:
    """Whether a row has a stretch of seconds from 0."""
    start, end = pl.col("start"), pl.col("end")
    inside = start.is_between(0, LATEST) & end.is_between(0, LATEST) & (start <= end)
    return inside.fill_null(value=False)


def count_untimed(corpus: Corpus, table: str) -> Mapping[str, int]:
    """The counts of the rows of a table that are not in seconds, as losses."""
    rows = placed(corpus, table)
    return {
        f"{table} in characters of text": rows.filter(in_text()).height,
        f"{table} without a stretch of seconds": rows.filter(~in_text(), ~is_timed()).height,
    }


def count_silent(corpus: Corpus, *tables: str) -> Mapping[str, int]:
    """The count of documents without rows of some tables, as a loss of a file of all documents."""
    named = [getattr(corpus, table).select("document") for table in tables]
    silent = corpus.documents.join(pl.concat(named), left_on="row", right_on="document", how="anti")
    return {f"documents without {' or '.join(tables)}": silent.height}


def milliseconds(column: str) -> pl.Expr:
    """Seconds as whole milliseconds."""
    return (pl.col(column) * 1000).round().cast(pl.Int64)


def count_finer(rows: pl.DataFrame) -> int:
    """The count of rows with times that have fractions of milliseconds."""
    times = rows.select("start", "end").to_numpy()
    # Polars divides by multiplying with the reciprocal, whose last digit may differ.
    return int((np.rint(times * 1000) / 1000 != times).any(axis=1).sum())


def has_length() -> pl.Expr:
    """Whether a row has a length of milliseconds."""
    return milliseconds("start") < milliseconds("end")


def plain_text(values: pl.Series) -> list[str]:
    """Times as text, without exponents, that is the same number again.

    Examples:
        >>> plain_text(pl.Series([45.2, 1e-05]))
        ['45.2', '0.00001']
    """
    return [format(Decimal(repr(value)), "f") for value in values]


def durations(starts: pl.Series, ends: pl.Series) -> list[str]:
    """Ends less starts, as the exact decimal numbers that they are written as.

    Examples:
        >>> durations(pl.Series([45.2]), pl.Series([60.3]))
        ['15.1']
    """
    with localcontext(prec=_DIGITS):
        pairs = zip(starts, ends, strict=True)
        return [format(Decimal(repr(end)) - Decimal(repr(start)), "f") for start, end in pairs]


def ends(starts: Sequence[str], lengths: Sequence[str]) -> list[float]:
    """Starts and durations, as written, to ends.

    Examples:
        >>> ends(["45.2"], ["15.1"])
        [60.3]
    """
    with localcontext(prec=_DIGITS):
        pairs = zip(starts, lengths, strict=True)
        return [float(Decimal(start) + Decimal(length)) for start, length in pairs]


# What the formats share that have a file of labels per document: their rows, and their losses.


_PLACE = ("document", "origin", "record")


class Tracks:
    """The rows of the files of a batch.

    Attributes:
        files: the files.
        findings: what is wrong in them.
    """

    def __init__(self, files: FileBatch) -> None:
        self.files = files
        self.findings: list[Finding] = []
        self.rows: dict[str, list[dict[str, object]]] = {}
        self.documents: dict[str, int] = {}
        self.place = (0, 0)

    def begin(self, origin: int, name: str) -> Member:
        """Begin a file; it is returned."""
        if name not in self.documents:
            self.documents[name] = len(self.documents)
            self.rows.setdefault("documents", []).append({"origin": origin, "name": name})
        self.place = (self.documents[name], origin)
        return self.files.members[origin]

    def add(self, table: str, record: int, **values: object) -> None:
        """Add a row of the file that was begun last."""
        document, origin = self.place
        placed = {"document": document, "origin": origin, "record": record}
        self.rows.setdefault(table, []).append({**placed, **values})

    def add_instance(self, record: int, note: Note, kind: str, **times: float | None) -> None:
        """Add the instance of a label, if it has one."""
        if note.main:
            values = {"kind": note.kind or kind, "label": note.main, **note.values}
            self.add("instances", record, **values, **times)

    def reject(self, problem: Problem, text: str) -> None:
        """Add a record that cannot be read."""
        row = problem.rejection("instance", text)
        self.add("rejected_records", int(str(row.pop("record"))), **row)

    def corpus(self) -> Corpus:
        """The tables."""
        tables = {name: _table(name, rows) for name, rows in self.rows.items()}
        return Corpus(sources=self.files.sources, **tables)


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    columns = [column for column in TABLES[name].schema if column != "row"]
    used = {column for row in rows for column in row}
    columns = [column for column in columns if column in used]
    return keyed(name, [tuple(row.get(column) for column in columns) for row in rows], columns)


def read_tracks(
    source: Source, form: str, suffix: str, take: Callable[[Tracks, int, str, str], None]
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names.

    Args:
        source: the files.
        form: the name of the format.
        suffix: of its files.
        take: adds a file: its row of `sources`, the name of its document, and its text.
    """
    for files in source_files.batches(source, form, suffix):
        tracks = Tracks(files)
        for file in files.texts:
            take(tracks, *file)
        findings = (*files.findings, *tracks.findings)
        yield ReadResult(tracks.corpus(), findings, tuple(files.members))


def written(corpus: Corpus, condition: pl.Expr) -> pl.DataFrame:
    """The instances that labels of a condition can represent, with `text`-making columns."""
    return placed(corpus, "instances").filter(~in_text(), is_timed(), fits("instances"), condition)


def files(
    corpus: Corpus, form: str, suffix: str, lines: pl.DataFrame, head: str = ""
) -> Iterator[tuple[str, str]]:
    """The name and the content of the file of each document.

    Args:
        corpus: the documents.
        form: the name of the format.
        suffix: of its files.
        lines: `document` and `line`, in order.
        head: what each file begins with.
    """
    contents = dict(
        lines.group_by("document", maintain_order=True).agg(pl.col("line").str.join("")).iter_rows()
    )
    for row, path in source_files.output_paths(corpus, form, suffix).items():
        yield path, head + contents.get(row, "")


def count_losses(corpus: Corpus, form: str, suffix: str) -> Mapping[str, int]:
    """The counts of what labels cannot represent, apart from lengths and fractions."""
    timed = placed(corpus, "instances").filter(~in_text(), is_timed())
    return {
        **source_files.count_without_file(corpus, form, suffix),
        **count_untimed(corpus, "instances"),
        "instances that do not fit a line of text": timed.filter(~fits("instances")).height,
    }
