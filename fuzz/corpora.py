"""Damaged corpora: saved as JSON Lines and Parquet, and what the writers make of them.

A row may refer to nothing, an offset lead behind its text, a name hold a slash or a null character,
a value be of another type. Whatever of it is read, each format writes so that its own reader finds
no error in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from fuzz.mutations import Files
from fuzz.subjects import Seed, readers, seeds
from hlteval.converters import Format, known, load
from hlteval.converters.corpus.jsonl import NAME
from hlteval.converters.corpus.parquet import VERSION_KEY
from hlteval.representation import SCHEMA_VERSION, TABLES, Corpus
from hlteval.sources import open_source
from hlteval.sources.inputs import as_path
from hlteval.workflows.convert.conversion import NotConverted, convert, read

SAVED = ("jsonl", "corpus")
"""The formats of saved corpora."""
MOST = 60
"""Most rows of a table of a seed: what is wrong with one row is wrong with a thousand."""

Rows = dict[str, list[dict[str, Any]]]
"""Tables as rows, whose values may be of any type."""

TEXTS = (
    *("", " ", "a b", " a", "a ", "a\tb", "a\nb", "a\r\nb", "a\rb", "\n", "\r", "\t"),
    *("\0", "a\0b", "\x01", "\x0b", "\x0c", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", "\u2029"),
    *(
        "\ufeff",
        "\ufeffa",
        "\ufffe",
        "\uffff",
        "\ufffd",
        "\u200b",
        "\u202e",
        "e\u0301",
        "\U0001d49f",
    ),
    *(
        "..",
        ".",
        "/",
        "a/b",
        "../a",
        "/etc/passwd",
        "a/../../b",
        "a\\b",
        "C:a",
        "-",
        "~",
        "x" * 300,
    ),
    *("<", ">", "&", '"', "'", "&amp;", "]]>", "<a>", "</DOC>", "<!--", "<?a", "%", "{", "[", "(0"),
    *(":", "a:b", "a:1-2", ";", ",", "|", "||", "#", "##1#2#", "*", "T1", "E1", "R1", "A1", "N1"),
    *("_", "__", "NIL", "NIL1", "null", "nan", "0", "-1", "1.0", "1e400", "true", "n/a", "N/A"),
    *("<x>", "/ a", "a /", "x:", "-DOCSTART-", "# begin", "#begin document (a)", "TEXT", "P 1"),
)
NUMBERS = (0, 1, -1, 2, 9, 10**6, 10**9, 10**10, 10**15, 2**31, 2**63 - 1, -(2**63))
REALS = (0.0, -0.0, 1.0, 0.5, -1.0, 2.0, 1e-320, 1e300, 0.1 + 0.2, float("nan"), float("inf"))
OTHER_TYPES = (None, True, "1", 1.5, [], {}, [1], {"a": 1}, 2**64, "")


@cache
def corpora() -> tuple[Corpus, ...]:
    """The corpora of the fixtures of every format, cut to a few rows a table."""
    return tuple(
        found
        for name in readers()
        if name not in SAVED
        for seed in _valid(name)
        if (found := _cut(_read(name, seed))).documents.height
    )


def _valid(name: str) -> Sequence[Seed]:
    return seeds(name)[:3]


def _read(name: str, seed: Seed) -> Corpus:
    with TemporaryDirectory(prefix="fuzz-") as folder:
        for path, content in seed.files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        source = open_source(str(file) if seed.single else folder)
        return Corpus.concat(result.corpus for result in load(name).read(source))


def _cut(corpus: Corpus) -> Corpus:
    """The first rows of each table that refer to rows that are kept."""
    kept: dict[str, pl.DataFrame] = {}
    for name, frame in corpus.tables():
        for column, target in TABLES[name].references:
            found = pl.col(column).is_null() | pl.col(column).is_in(kept[target]["row"].implode())
            frame = frame.filter(found)  # noqa: PLW2901
        kept[name] = frame.head(MOST)
    return Corpus(**kept)


def damaged(draw: Random) -> Rows:
    """The rows of a corpus with a few damages."""
    rows = {name: frame.to_dicts() for name, frame in draw.choice(corpora()).tables()}
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        draw.choice(_DAMAGES)(rows, draw)
    return rows


def _table(rows: Rows, draw: Random) -> str:
    return draw.choice([name for name in rows if rows[name]] or ["documents"])


def _cell(rows: Rows, draw: Random) -> None:
    """Another value of the type in one cell, or in all of a column."""
    name = _table(rows, draw)
    column = draw.choice(TABLES[name].columns)
    chosen = rows[name]
    if draw.random() < 0.8 and chosen:
        chosen = [draw.choice(chosen)]
    for row in chosen:
        row[column.name] = _value(row.get(column.name), column.dtype, draw)


def _value(old: Any, dtype: Any, draw: Random) -> Any:
    """A value of a type, odd but possible."""
    if draw.random() < 0.05:
        return None
    if dtype == pl.String:
        odd = draw.choice(TEXTS)
        if old and draw.random() < 0.5:
            at = draw.randint(0, len(old))
            return old[:at] + odd + old[at + draw.randint(0, 2) :]
        return odd
    if dtype == pl.Int64:
        near = isinstance(old, int) and abs(old) < 2**62 and draw.random() < 0.4
        return old + draw.choice((-2, -1, 1, 2, 100)) if near else draw.choice(NUMBERS)
    if dtype in {pl.Float64, pl.Boolean}:
        return draw.choice(REALS if dtype == pl.Float64 else (True, False))
    numbers = [draw.choice((*NUMBERS, *range(20))) for _ in range(2 * draw.randint(0, 3))]
    return [
        {"start": start, "end": end} for start, end in zip(numbers[::2], numbers[1::2], strict=True)
    ]


def _swap(rows: Rows, draw: Random) -> None:
    """The values of two rows of a column exchanged."""
    name = _table(rows, draw)
    if len(rows[name]) > 1:
        one, other = draw.sample(rows[name], 2)
        column = draw.choice(TABLES[name].columns).name
        one[column], other[column] = other[column], one[column]


def _remove(rows: Rows, draw: Random) -> None:
    name = _table(rows, draw)
    if rows[name]:
        rows[name].remove(draw.choice(rows[name]))


def _repeat(rows: Rows, draw: Random) -> None:
    """A row twice, with the same key or another."""
    name = _table(rows, draw)
    if rows[name]:
        again = dict(draw.choice(rows[name]))
        if draw.random() < 0.7:
            numbers = (row["row"] for row in rows[name] if isinstance(row["row"], int))
            again["row"] = min(2**63 - 1, 1 + max(numbers, default=0))
        rows[name].insert(draw.randint(0, len(rows[name])), again)


def _shuffle(rows: Rows, draw: Random) -> None:
    draw.shuffle(rows[_table(rows, draw)])


def _clear(rows: Rows, draw: Random) -> None:
    rows[_table(rows, draw)].clear()


_DAMAGES: tuple[Callable[[Rows, Random], None], ...] = (
    *(_cell,) * 8,
    *(_swap, _remove, _repeat, _shuffle, _clear),
)


def mutate(form: str, draw: Random) -> list[Files]:
    """A damaged corpus as the files of a format of saved corpora."""
    rows = damaged(draw)
    return [as_lines(rows, draw)] if form == "jsonl" else [as_parquet(rows, draw)]


def as_lines(rows: Rows, draw: Random) -> Files:
    """Rows as JSON Lines; some values are of other types, some lines are none."""
    lines = [json.dumps({"format": NAME, "version": SCHEMA_VERSION})]
    for name, each in rows.items():
        for row in each:
            if draw.random() < 0.01:
                row[draw.choice([*row])] = draw.choice(OTHER_TYPES)
            told = {key: value for key, value in row.items() if value is not None}
            lines.append(json.dumps({"table": name, **told}, ensure_ascii=draw.random() < 0.5))
    return Files("damaged.jsonl", {"": "".join(f"{line}\n" for line in lines).encode()})


def as_parquet(rows: Rows, draw: Random) -> Files:
    """Rows as a folder of Parquet; columns may be of other types, or missing."""
    files: dict[str, bytes | None] = {}
    for name, each in rows.items():
        frame = pl.DataFrame(each, schema=TABLES[name].schema, orient="row", strict=False)
        if draw.random() < 0.03:
            frame = _other_columns(frame, draw)
        stream = BytesIO()
        frame.write_parquet(stream, metadata={VERSION_KEY: str(SCHEMA_VERSION)})
        files[f"{name}.parquet"] = stream.getvalue()
    return Files("damaged.corpus", files)


def _other_columns(frame: pl.DataFrame, draw: Random) -> pl.DataFrame:
    column = draw.choice(frame.columns)
    kind = draw.choice((pl.String, pl.Int32, pl.Float32, pl.Boolean, None))
    if kind is None:
        return frame.drop(column)
    if frame.schema[column] == pl.Int64:
        return frame.with_columns(pl.col(column).cast(kind, strict=False))
    return frame.with_columns(pl.lit(None, kind).alias(column))


# What is written, and read again.

CONTENT = {
    **dict.fromkeys(
        (
            *("BRT206", "BRT207", "PUB201", "PUB202", "BIO202", "BIO203", "NEL201"),
            *("JAN201", "JAN202", "JAN203"),
        ),
        "offsets",
    ),
    **dict.fromkeys(
        ("BIO301", "PUB301", "BIO302", "PUB302", "BRT204", "JAN301", "JAN302"), "identifiers"
    ),
    **dict.fromkeys(("EDL214", "EDL215", "PUB106", "JAN105"), "names"),
    **dict.fromkeys(("LAF102", "LSF206", "SFJ206", "SFT104"), "types"),
    **dict.fromkeys(("APN202", "APN203", "LSF202", "SFT103", "SFJ207"), "values"),
    "BRT205": "triggers",
    "COR109": "records",
}
"""The codes of readers about content that they keep as it is: it was wrong before."""


def writers() -> list[str]:
    """The names of the formats that are written and read."""
    return [name for name in known() if load(name).write and load(name).reads]


def check_writing(corpus: Corpus, folder: Path, names: Sequence[str] = ()) -> None:
    """Hold that each format reads what `convert` writes in it of a corpus.

    Raises:
        AssertionError: if a reader finds an error that is not one of the corpus, or something is
            missing that is not listed as lost.
    """
    source = as_path("source", corpus)
    for name in names or writers():
        form = load(name)
        path = str(folder / f"{name}{form.suffixes[0] if form.suffixes else ''}.out")
        try:
            found = convert(source, path, to_format=name)
        except NotConverted:
            continue
        again, findings = read(path, name)
        errors = [item for item in findings if item.severity == "error"]
        errors = [item for item in errors if item.code not in CONTENT]
        assert not errors, (name, errors[0].code, errors[0].message, errors[0].file)
        if not any(item.code in LOSSES for item in found):
            for problem in missing(form, corpus, again):
                raise AssertionError((name, *problem))


LOSSES = ("CNV101", "CNV103", "CNV107")


def missing(form: Format, corpus: Corpus, again: Corpus) -> Iterator[tuple[str, object]]:
    """What a format is to keep of a corpus, and is not there."""
    for table in form.tables:
        before, after = getattr(corpus, table).height, getattr(again, table).height
        if table not in {"sources", "attributes"} and after < before:
            yield table, (before, after)
    gone = _texts(corpus) - _texts(again)
    if gone and "documents.text" in form.carries:
        yield "texts", [ascii(text[:80]) for text in gone]


def _texts(corpus: Corpus) -> Counter[str]:
    return Counter(text for text in corpus.documents["text"].drop_nulls() if text)
