r"""The notation of an instance, rating or change as one line of text, as label tracks hold them.

    norm: 101 | status=adhere | llr=1.5
    420 | region=M01_0003 | annotator=8765

The first part is the label, level or direction, after the kind where nothing else shows it. Then
come the properties that are known, each after a vertical bar.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, localcontext
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.rows import DocumentRows
from hlteval.findings import Problem
from hlteval.findings.suggest import hints
from hlteval.representation import Corpus

#: The kinds of instances.
INSTANCES = ("norm", "emotion", "speaker")
#: The kinds of ratings.
RATINGS = ("valence", "arousal")
#: The kind of changes, and the text of one without a direction.
CHANGE = "change"
#: The table of each kind.
TABLE_OF: Mapping[str, str] = {
    **dict.fromkeys(INSTANCES, "instances"),
    **dict.fromkeys(RATINGS, "ratings"),
    CHANGE: "changes",
}
#: The text of a rating without a level.
NOT_ANNOTATED = "noann"
#: The column of each table that the first part has.
MAIN: Mapping[str, str] = {"instances": "label", "ratings": "level", "changes": "direction"}
#: The columns of each table that are properties.
PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "instances": ("status", "llr", "region", "several", "annotator"),
    "ratings": ("bin", "region", "annotator"),
    "changes": ("strength", "llr", "evidence", "annotator"),
}
#: The hint for a property that is not similar to any.
_OTHERWISE = {
    table: f"write one of {', '.join(f'{name}=' for name in names)} or remove the bar before it"
    for table, names in PROPERTIES.items()
}
NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
#: A time in seconds.
SECONDS = r"(?:[0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_BAR = " | "
_KIND = re.compile(rf"({'|'.join(INSTANCES)}): +")
#: Line breaks, control characters, and the bar.
_UNWRITABLE = "[\x00-\x1f\x85\u2028\u2029\ufffe\uffff|]"

Value = str | float | bool

#: The properties that are not texts: their pattern, what a message calls it, and their value.
_VALUES: Mapping[str, tuple[str, str, Callable[[str], Value]]] = {
    "llr": (NUMBER, "a number", float),
    "several": ("true|false", "true or false", "true".__eq__),
}


class Note(NamedTuple):
    """The content of a line of text.

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


def parse(text: str, table: str = "instances", *, with_kind: bool = True) -> Note:
    """The content of a line of text.

    Args:
        text: the line.
        table: `instances`, `ratings` or `changes`.
        with_kind: whether an instance may begin with its kind.

    Examples:
        >>> parse("emotion: joy | llr=0.5")[:3]
        ('emotion', 'joy', {'llr': 0.5})
        >>> parse("positive | strenght=4", "changes").problems[0].values["hint"]
        'did you mean strength?'
    """
    first, *parts = text.split(_BAR)
    main = first.lstrip()
    kind = _KIND.match(main) if with_kind and table == "instances" else None
    main = main[kind.end() if kind else 0 :].strip()
    problems = [] if main else [Problem("TLN101", 0, 0, len(text))]
    values: dict[str, Value] = {}
    pairs = [[piece.strip() for piece in part.partition("=")] for part in parts]
    known, otherwise = PROPERTIES[table], _OTHERWISE[table]
    unknown = hints((name for name, *_ in pairs if name not in known), known, otherwise)
    start = len(first) + len(_BAR)
    for part, (name, _, value) in zip(parts, pairs, strict=True):
        end = start + len(part)
        pattern, expected, value_of = _VALUES.get(name, ("(?s).*", "", str))
        if name not in known or not value:
            given = {"given": part.strip()[:40] or "(empty)"}
            given["hint"] = unknown.get(name, otherwise)
            problems.append(Problem("TLN102", 0, start, end, given))
        elif not re.fullmatch(pattern, value):
            given = {"given": value[:40], "name": name, "expected": expected}
            problems.append(Problem("TLN103", 0, start, end, given))
        else:
            values[name] = value_of(value)
        start = end + len(_BAR)
    return Note(kind[1] if kind else "", main, values, problems)


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
    values = ((name, pl.col(name).cast(pl.String)) for name in PROPERTIES[table])
    properties = (pl.format(f"{_BAR}{name}={{}}", value) for name, value in values)
    parts = [pl.format("{}: ", "kind")] if with_kind else []
    return pl.concat_str(*parts, main, *properties, ignore_nulls=True).alias("text")


def fits(table: str) -> pl.Expr:
    """Whether a line of text can represent a row of a table."""
    columns = {MAIN[table], *PROPERTIES[table]} - {"several"}
    numbers = columns & {"llr", "level"}
    usual = pl.col("direction").ne_missing(CHANGE)
    if table != "changes":
        usual = pl.col("kind").is_in(INSTANCES if table == "instances" else RATINGS)
    return pl.all_horizontal(usual, *map(is_number, numbers), *map(is_line, columns - numbers))


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


def rows_in_seconds(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table with a stretch of seconds from 0, with the `name` of their documents.

    Changes, which are points, have the columns `start` and `end` of others. Places in documents of
    text are characters.
    """
    start, end = pl.col("start"), pl.col("end")
    inside = start.is_between(0, LATEST) & end.is_between(0, LATEST) & (start <= end)
    return _with_documents(corpus, table).filter(pl.col("modality").ne_missing("text"), inside)


def _with_documents(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table with the `name` and the `modality` of their documents."""
    documents = corpus.documents.select("name", "modality", document="row")
    frame: pl.DataFrame = getattr(corpus, table)
    rows = frame.join(documents, on="document", maintain_order="left")
    return rows.with_columns(start="at", end="at") if table == "changes" else rows


def count_untimed(corpus: Corpus, table: str) -> Mapping[str, int]:
    """The counts of the rows of a table that are not in seconds, as losses."""
    rows = _with_documents(corpus, table)
    in_text = rows.filter(modality="text").height
    others = rows.height - in_text - rows_in_seconds(corpus, table).height
    return {
        f"{table} in characters of text": in_text,
        f"{table} without a stretch of seconds": others,
    }


def milliseconds(column: str) -> pl.Expr:
    """Seconds as whole milliseconds."""
    return (pl.col(column) * 1000).round().cast(pl.Int64)


def has_length() -> pl.Expr:
    """Whether a row has a length of milliseconds."""
    return milliseconds("start") < milliseconds("end")


def count_rounded(table: str, rows: pl.DataFrame) -> Mapping[str, int]:
    """The counts of the rows of a table that whole milliseconds do not represent, as losses."""
    long = rows if table == "changes" else rows.filter(has_length())
    times = long.select("start", "end").to_numpy()
    # Polars divides by multiplying with the reciprocal, whose last digit may differ.
    finer = int((np.rint(times * 1000) / 1000 != times).any(axis=1).sum())
    return {
        f"{table} shorter than a millisecond": rows.height - long.height,
        f"{table} whose times are rounded to milliseconds": finer,
    }


def plain_text(values: pl.Series) -> pl.Series:
    """Times as text, without exponents, that is the same number again.

    Examples:
        >>> plain_text(pl.Series([45.2, 1e-05])).to_list()
        ['45.2', '0.00001']
    """
    return pl.Series([format(Decimal(repr(value)), "f") for value in values], dtype=pl.String)


def durations(starts: pl.Series, ends: pl.Series) -> pl.Series:
    """Ends less starts, as the exact decimal numbers that they are written as.

    Examples:
        >>> durations(pl.Series([45.2]), pl.Series([60.3])).to_list()
        ['15.1']
    """
    pairs = zip(starts, ends, strict=True)
    with localcontext(prec=_DIGITS):
        texts = [format(Decimal(repr(end)) - Decimal(repr(start)), "f") for start, end in pairs]
    return pl.Series(texts, dtype=pl.String)


def ends(starts: pl.Series, lengths: pl.Series) -> pl.Series:
    """Starts and durations, as written, to ends.

    Examples:
        >>> ends(pl.Series(["45.2"]), pl.Series(["15.1"])).to_list()
        [60.3]
    """
    frame = pl.DataFrame({"start": starts, "length": lengths})
    short = pl.all_horizontal(pl.all().str.contains(_SHORT))
    # sums of whole microseconds are exact, and so is what they are divided by
    units = [
        (pl.col(name).cast(pl.Float64, strict=False) * _UNIT).round() for name in frame.columns
    ]
    usual = frame.select(pl.when(short).then((units[0] + units[1]).cast(pl.Int64))).to_series()
    times = pl.Series(usual.to_numpy() / _UNIT, nan_to_null=True)
    if not usual.null_count():
        return times
    pairs = frame.filter(~short).rows()
    with localcontext(prec=_DIGITS):
        rest = [float(Decimal(start) + Decimal(length)) for start, length in pairs]
    return times.scatter(usual.is_null().arg_true(), rest)


_UNIT = 1_000_000
#: Seconds that are whole microseconds, and not too many.
_SHORT = r"^[0-9]{1,9}(?:\.[0-9]{0,6})?$"


def numbers(texts: pl.Series) -> pl.Series:
    """Numbers as written, as numbers.

    Args:
        texts: as `NUMBER` or `SECONDS` has them; nulls stay null.

    Examples:
        >>> numbers(pl.Series(["45.2", "1e-05", ".5", None])).to_list()
        [45.2, 1e-05, 0.5, None]
    """
    values = texts.cast(pl.Float64, strict=False)
    odd = texts.filter(values.is_null()).drop_nulls().unique()  # what Polars does not take
    if not odd.len():
        return values
    rest = {text: float(text) for text in odd}
    return values.fill_null(texts.replace_strict(rest, default=None, return_dtype=pl.Float64))


# What the formats share that have a file of labels per document: their rows, and their losses.


#: Gives the label of each of some instances with their `text`, null for none.
Labels = Callable[[pl.DataFrame], pl.Expr]


#: A kind, which may be followed by other words, a start, an end, and a line of text.
Stretch = tuple[str, float, float, str]


def tiers(stretches: Iterable[Stretch]) -> dict[str, list[Stretch]]:
    """The stretches by the name of their tier, in the order of their starts.

    Those of one tier do not overlap; the names of further tiers of a kind end in a number.

    Examples:
        >>> tiers([("norm", 0, 5, "101"), ("norm", 3, 9, "102"), ("norm", 5, 7, "103")]).keys()
        dict_keys(['norm', 'norm 2'])
    """
    kinds = [*TABLE_OF]
    found: dict[str, list[Stretch]] = {}
    busy, free = defaultdict[str, list[tuple[float, int]]](list), defaultdict[str, list[int]](list)
    for item in sorted(stretches, key=lambda one: (kinds.index(one[0].split()[0]), *one[:2])):
        name, start, end, _ = item
        while busy[name] and busy[name][0][0] <= start:
            heappush(free[name], heappop(busy[name])[1])
        number = heappop(free[name]) if free[name] else len(busy[name]) + 1
        heappush(busy[name], (end, number))
        found.setdefault(name if number == 1 else f"{name} {number}", []).append(item)
    return found


def add_instance(
    rows: DocumentRows, record: int, note: Note, kind: str, **times: float | None
) -> None:
    """Add the instance of a label, if it has one."""
    if note.main:
        own = {"record": record, "kind": note.kind or kind, "label": note.main}
        rows.add("instances", {**own, **note.values, **times})


def label_files(
    corpus: Corpus, form: str, suffix: str, labels: Labels, head: str = ""
) -> Iterator[tuple[str, str]]:
    """The name and the content of the file of each document with its instances.

    Args:
        corpus: the documents.
        form: the name of the format.
        suffix: of its files.
        labels: gives the label of each instance.
        head: what each file begins with.
    """
    rows = rows_in_seconds(corpus, "instances").filter(fits("instances"))
    rows = rows.with_columns(text("instances", with_kind=True))
    lines = rows.select("document", line=labels(rows)).drop_nulls("line")
    lines = lines.group_by("document", maintain_order=True).agg(pl.col("line").str.join(""))
    contents = dict(lines.iter_rows())
    for row, path in source_files.output_paths(corpus, form, suffix).items():
        yield path, head + contents.get(row, "")


def count_losses(corpus: Corpus, form: str, suffix: str) -> Mapping[str, int]:
    """The counts of what labels cannot represent, apart from lengths and fractions."""
    others = rows_in_seconds(corpus, "instances").filter(~fits("instances"))
    return {
        **source_files.count_without_file(corpus, form, suffix),
        **count_untimed(corpus, "instances"),
        "instances that do not fit a line of text": others.height,
    }
