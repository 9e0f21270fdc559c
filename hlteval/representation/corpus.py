"""The corpus, an immutable set of tables; its keys, and slices of whole documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, TypeVar

import polars as pl

from hlteval.extensions import lazy
from hlteval.representation.schema import TABLES, Table

T = TypeVar("T")
Rows = pl.DataFrame | Iterable[Mapping[str, Any]]


class BrokenKey(ValueError):
    """A key is repeated or dangling.

    Attributes:
        table: the table with the problem.
        column: its column.
        index: 0-based index of the first row with the problem.
    """

    def __init__(self, message: str, table: str, column: str, index: int) -> None:
        super().__init__(message)
        self.table, self.column, self.index = table, column, index


class Corpus:
    """Whole documents with everything annotated on them, as one table per kind of thing.

    A corpus is immutable: every operation returns another. Tables that are left out are empty.

    Args:
        **tables: a Polars frame or an iterable of rows per table name, with columns in any order;
            columns that may be null can be left out.

    Raises:
        ValueError: for an unknown table, an unknown or missing column, a wrong type, or a null that
            is not allowed. These are errors of a program, not of data.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d1", "text": "aba"}])
        >>> corpus.documents["name"].to_list(), corpus.frames.height
        (['d1'], 0)
        >>> corpus == Corpus.concat([corpus])
        True
    """

    __slots__ = ("_cache", "_tables")

    def __init__(self, **tables: Rows) -> None:
        if unknown := tables.keys() - TABLES.keys():
            raise ValueError(f"unknown tables: {sorted(unknown)}; known: {list(TABLES)}")
        self._cache: dict[tuple[object, ...], tuple[Any, tuple[Corpus, ...]]]
        self._tables = {
            name: _conform(table, tables[name]) if name in tables else _empty(name)
            for name, table in TABLES.items()
        }
        object.__setattr__(self, "_cache", {})

    def __getattr__(self, name: str) -> pl.DataFrame:
        if name in TABLES:
            return self._tables[name].clone()  # costs a microsecond; a frame can be written to
        raise AttributeError(f"a corpus has no table {name!r}; it has {list(TABLES)}")

    def __setattr__(self, name: str, value: object) -> None:
        if name != "_tables" or hasattr(self, "_tables"):
            raise AttributeError("a corpus cannot be changed; use replace()")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return all(self._tables[name].equals(other._tables[name]) for name in TABLES)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[[], Corpus], tuple[()]]:
        return partial(Corpus, **self._tables), ()  # without the cache

    def __repr__(self) -> str:
        tables = self._tables.items()
        counts = ", ".join(f"{frame.height} {name}" for name, frame in tables if frame.height)
        return f"<Corpus: {counts or 'empty'}>"

    def _repr_html_(self) -> str:
        html: str = lazy("hlteval.reports.notebook:corpus")(self)
        return html

    def tables(self) -> Iterable[tuple[str, pl.DataFrame]]:
        """Every table with its name, in declared order."""
        return [(name, frame.clone()) for name, frame in self._tables.items()]

    def cached(self, function: Callable[..., T], *others: Corpus) -> T:
        """The result of a function of this corpus and others, computed once, as none changes.

        Examples:
            >>> corpus = Corpus()
            >>> corpus.cached(Corpus.replace) is corpus.cached(Corpus.replace)
            True
        """
        # The others are kept with the result, so that no id is used again; this corpus is not, or
        # only the garbage collector could free it.
        key = (function, *map(id, others))
        if key not in self._cache:
            kept = tuple(other for other in others if other is not self)
            self._cache[key] = (function(self, *others), kept)
        result: T = self._cache[key][0]
        return result

    def replace(self, **tables: Rows) -> Corpus:
        """Return a corpus with some tables replaced.

        Examples:
            >>> Corpus().replace(documents=[{"row": 0, "name": "d1"}])
            <Corpus: 1 documents>
        """
        other = Corpus(**tables)
        kept = {name: frame for name, frame in self._tables.items() if name not in tables}
        other._tables.update(kept)  # checked when this corpus was made
        return other

    def check_keys(self) -> None:
        """Check that keys are unique, and references not dangling and inside their documents.

        Raises:
            BrokenKey: a ValueError with the table, column and row of the problem.
        """
        for name, table in TABLES.items():
            frame = self._tables[name]
            repeated = ~frame["row"].is_first_distinct()
            _hold(repeated, f"duplicate key in {name}.row:", frame["row"], name)
            for column, target in table.references:
                missing = ~frame[column].is_in(self._tables[target]["row"].implode())
                _hold(missing, f"{target} has no row with the key", frame[column], name)
            for column, target in inside_documents(table):
                foreign = of_other_document(frame, column, self._tables[target])
                _hold(foreign, f"another document has the row of {target}", frame[column], name)

    @staticmethod
    def concat(corpora: Iterable[Corpus]) -> Corpus:
        """One corpus of the documents of several, with keys renumbered in that order.

        Examples:
            >>> first = Corpus(documents=[{"row": 7, "name": "a"}])
            >>> second = Corpus(documents=[{"row": 7, "name": "b"}])
            >>> Corpus.concat([first, second]).documents["row"].to_list()
            [0, 1]
        """
        shifted: dict[str, list[pl.DataFrame]] = {}
        for tables in Corpus.numbered_tables(corpora):
            for name, frame in tables.items():
                shifted.setdefault(name, []).append(frame)
        return Corpus(**{name: pl.concat(frames) for name, frames in shifted.items()})

    @staticmethod
    def numbered_tables(corpora: Iterable[Corpus]) -> Iterator[dict[str, pl.DataFrame]]:
        """The tables with rows of each corpus, with the keys that they have in `concat`.

        Examples:
            >>> corpora = [Corpus(documents=[{"row": 7, "name": name}]) for name in "ab"]
            >>> [tables["documents"]["row"].to_list() for tables in Corpus.numbered_tables(corpora)]
            [[0], [1]]
        """
        offsets = dict.fromkeys(TABLES, 0)
        for corpus in corpora:
            tables = _renumber(corpus)
            yield {
                name: frame.with_columns(
                    pl.col(column) + offsets[target]
                    for column, target in [("row", name), *TABLES[name].references]
                    if offsets[target]
                )
                for name, frame in tables.items()
            }
            for name, frame in tables.items():
                offsets[name] += frame.height


def inside_documents(table: Table) -> list[tuple[str, str]]:
    """The references of a table to rows of the same document: columns, with names of tables.

    Declarations decide, not names: a later version may call any column `document`.

    Examples:
        >>> inside_documents(TABLES["arguments"])
        [('frame_row', 'frames')]
    """
    home = ("document", "documents")
    if home not in table.references:
        return []
    return [pair for pair in table.references if home in TABLES[pair[1]].references]


def of_other_document(rows: pl.DataFrame, column: str, targets: pl.DataFrame) -> pl.Series:
    """Whether each row refers to a row of another document.

    Args:
        rows: of a table.
        column: that refers to rows of another table.
        targets: these rows.

    Examples:
        >>> frames = pl.DataFrame({"row": [0, 1], "document": [0, 1]})
        >>> arguments = pl.DataFrame({"document": [0, 0], "frame_row": [0, 1]})
        >>> of_other_document(arguments, "frame_row", frames).to_list()
        [False, True]
    """
    homes = targets.select(pl.col("row").alias(column), _home="document")
    homes = homes.unique(column, keep="first")
    referring = rows.select("document", column)
    joined = referring.join(homes, on=column, how="left", maintain_order="left")
    other = joined.select(pl.col("document") != pl.col("_home")).to_series()
    return other.fill_null(value=False)


def _hold(broken: pl.Series, message: str, keys: pl.Series, table: str) -> None:
    """Raise for the first key that is marked as broken; a null is not a key."""
    for index in broken.arg_true()[:1]:
        raise BrokenKey(f"{message} {keys[index]}", table, keys.name, index)


@cache
def _empty(name: str) -> pl.DataFrame:
    """A table without rows; every corpus has some, and creating one takes longer than copying."""
    return TABLES[name].empty()


def _conform(table: Table, rows: Rows) -> pl.DataFrame:
    """The rows as a frame of exactly the declared shape."""
    frame = rows if isinstance(rows, pl.DataFrame) else _from_rows(table, rows)
    declared = _empty(table.name).columns
    if unknown := set(frame.columns) - set(declared):
        raise ValueError(f"{table.name} has no column {sorted(unknown)}")
    if frame.columns != declared:
        frame = complete(table, frame)
    for column, dtype in zip(table.columns, frame.dtypes, strict=True):
        if dtype != column.dtype:
            raise ValueError(f"{table.name}.{column.name} is {dtype}, not {column.dtype}")
        if not column.nullable and frame[column.name].null_count():
            raise ValueError(f"{table.name}.{column.name} must not be null")
        if isinstance(column.dtype, pl.List) and _has_null_parts(frame[column.name]):
            raise ValueError(f"{table.name}.{column.name} must have no null within")
    return frame.clone()


def complete(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """All columns in the declared order; absent ones are full of nulls."""
    declared, present = _empty(table.name), set(frame.columns)
    absent = declared[[name for name in declared.columns if name not in present]]
    # in one call: created one by one, they take longer than a small table
    return pl.concat([frame, absent], how="diagonal")[declared.columns]


def _has_null_parts(lists: pl.Series) -> bool:
    if lists.null_count() == len(lists):
        return False
    parts = lists.drop_nulls()
    items = parts.filter(parts.list.len() > 0).explode()
    return any(items.struct.field(name).has_nulls() for name in items.struct.fields)


def _from_rows(table: Table, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """The rows as a frame of their columns."""
    cells = _cells(rows)
    if unknown := cells.keys() - table.schema.keys():
        raise ValueError(f"{table.name} has no column {sorted(unknown)}")
    columns = []
    for name, values in cells.items():
        try:  # by column: from rows, Polars makes 1.5 a 1 and a tuple a null
            columns.append(pl.Series(name, values, dtype=table.schema[name], strict=True))
        except (TypeError, pl.exceptions.PolarsError) as error:
            raise ValueError(f"{table.name}.{name}: {error}") from error
    return pl.DataFrame(columns)


def _cells(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The cells of rows by column, without keeping the rows, which take many times as much."""
    cells: dict[str, list[Any]] = {"row": []}
    for before, row in enumerate(rows):
        for name, value in row.items():
            if name not in cells:
                cells[name] = [None] * before
            cells[name].append(value)
        if len(row) < len(cells):
            for values in cells.values():
                values.extend([None] * (before + 1 - len(values)))
    return cells


def _renumber(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """The tables that have rows, with keys 0, 1, 2, … in row order, references following."""
    keys = {
        name: frame.select("row", new=pl.int_range(pl.len()))
        for name, frame in corpus.tables()
        if (frame["row"] != pl.int_range(frame.height, eager=True)).any()
    }
    return with_keys(corpus, keys)


def with_keys(corpus: Corpus, keys: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables that have rows, with other keys, references following.

    Args:
        corpus: with these tables.
        keys: each `row` and its `new` key, by name of the table.
    """
    renumbered = {name: frame for name, frame in corpus.tables() if frame.height}
    whole = {
        name: (each["row"] == pl.int_range(len(each), eager=True)).all()
        for name, each in keys.items()
    }
    for name, frame in list(renumbered.items()):
        for column, target in [("row", name), *TABLES[name].references]:
            if target in keys:
                row, known = pl.col(column), keys[target]
                inside = frame.select((row.min() >= 0) & (row.max() < len(known))).item()
                if whole[target] and inside is not False:
                    new = known["new"].gather(frame[column])  # by its place
                else:
                    rows = frame.select(row=column)
                    new = rows.join(known, on="row", how="left", maintain_order="left")["new"]
                renumbered[name] = renumbered[name].with_columns(new.alias(column))
    return renumbered


#: The maximum number of slices: each is looked for in all rows.
_MOST = 64


def document_slices(corpus: Corpus, rows: int) -> Iterator[Corpus]:
    """A corpus in slices of whole documents, in their order.

    Every slice has all rows of tables without documents, such as `sources`; rows without a
    document are in the first slice.

    Args:
        corpus: any corpus whose documents have different names.
        rows: of a slice, more or less.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> [part.documents["name"].to_list() for part in document_slices(corpus, 1)]
        [['a'], ['b']]
    """
    total = sum(frame.height for _, frame in corpus.tables())
    documents = corpus.documents.height
    size = max(1, documents * rows // max(total, 1), -(-documents // _MOST))
    if size >= documents:
        yield corpus
        return
    names, rest = corpus.documents["name"], corpus
    for begin in range(0, documents, size):
        yield of_documents(rest, names.slice(begin, size))
        if not begin:
            with_document = {
                name: rows.drop_nulls("document")
                for name, rows in corpus.tables()
                if "document" in TABLES[name].schema and rows["document"].has_nulls()
            }
            rest = corpus.replace(**with_document)


def are_apart(corpus: Corpus) -> bool:
    """Whether documents follow each other by name, each with rows and sources of its own.

    What is found in the rows of each is then found in the same order in slices.

    Examples:
        >>> source = {"path": "", "member": "", "format": "", "sha256": ""}
        >>> documents = [{"row": row, "name": f"d{row}", "origin": 0} for row in range(2)]
        >>> corpus = Corpus(sources=[{"row": 0, **source}], documents=documents)
        >>> are_apart(corpus), are_apart(corpus.replace(documents=documents[:1]))
        (False, True)
    """
    documents = corpus.documents
    if not documents["name"].is_sorted() or not documents["row"].is_sorted():
        return False
    pairs = [documents.select("origin", document="row")]
    for name, rows in corpus.tables():
        if ("document", "documents") in TABLES[name].references:
            if not rows["document"].drop_nulls().is_sorted():
                return False
            pairs.append(rows.select("origin", "document").unique())
    return not pl.concat(pairs).drop_nulls("origin").unique()["origin"].is_duplicated().any()


def of_documents(corpus: Corpus, names: pl.Series) -> Corpus:
    """Return a corpus with only some of its documents.

    Rows without a document, such as records that could not be read, are kept.

    Args:
        corpus: any corpus.
        names: names of documents; unknown ones are ignored.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> of_documents(corpus, pl.Series(["b", "c"])).documents["name"].to_list()
        ['b']
    """
    documents = corpus.documents.filter(pl.col("name").is_in(names.implode()))
    kept = documents["row"].implode()
    tables = {"documents": documents}
    for name, frame in corpus.tables():
        if ("document", "documents") in TABLES[name].references:
            tables[name] = frame.filter(pl.col("document").is_in(kept).fill_null(value=True))
    return corpus.replace(**tables)


#: The tables whose rows name their annotator.
WITH_ANNOTATORS = tuple(name for name, table in TABLES.items() if "annotator" in table.schema)


#: The elements of attributes that are an annotation of a document, which may be empty; and the
#: members that name its annotator, of which the first counts.
ENTRY = r"^\$\.(annotations|answers)\[[0-9]+\]$"
COMPLETED_BY = ("completed_by", "model_version", "_annotator_id", "_session_id")


def annotators_by_document(
    corpus: Corpus, rows: Iterable[pl.DataFrame] | None = None
) -> pl.DataFrame:
    """Return the annotators of each document: a pair of `document` and `annotator` for each.

    They are those of rows, and those who have completed an annotation without any.

    Args:
        corpus: any corpus.
        rows: those of tables with annotators; all by default.
    """
    if rows is None:
        rows = (getattr(corpus, name) for name in WITH_ANNOTATORS)
    known = pl.col("name").is_in(COMPLETED_BY) & pl.col("element").str.contains(ENTRY)
    members = corpus.attributes.filter(known).select("document", "element", "name", "value")
    entries = dict[tuple[int, str], dict[str, object]]()
    for document, element, name, value in members.iter_rows():
        with suppress(ValueError, RecursionError):
            entries.setdefault((document, element), {})[name] = json.loads(value or "")
    named = list[tuple[int, str]]()
    for (document, _), own in entries.items():
        by = next((own[name] for name in COMPLETED_BY if name in own), None)
        by = (by.get("email") or by.get("id")) if isinstance(by, dict) else by
        named += [(document, str(by))] if isinstance(by, str | int) else []
    pairs = pl.DataFrame(named, {"document": pl.Int64, "annotator": pl.String}, orient="row")
    found = pl.concat([pairs, *(frame.select(pairs.columns) for frame in rows)])
    return found.drop_nulls().unique()


def of_annotator(corpus: Corpus, annotator: str) -> Corpus:
    """Return a corpus in which an annotator has annotated alone what others have annotated, too.

    In documents that do not name the annotator, all rows stay. Rows of rows that are left out, such
    as the arguments of a frame, are left out with these.

    Args:
        corpus: any corpus.
        annotator: the name, as the rows have it.

    Examples:
        >>> place = {"document": 0, "origin": 0, "record": 1, "label": "A", "start": 0, "end": 1}
        >>> rows = [{"row": at, "mention": name, "annotator": name, **place}
        ...     for at, name in enumerate(["kim", "lee"])]
        >>> of_annotator(Corpus(mentions=rows), "lee").mentions["mention"].to_list()
        ['lee']
    """
    rows: dict[str, pl.DataFrame] = {name: getattr(corpus, name) for name in WITH_ANNOTATORS}
    is_own = pl.col("annotator").eq_missing(pl.lit(annotator))
    named = annotators_by_document(corpus).filter(is_own)["document"]
    others = pl.col("document").is_in(named.implode()).fill_null(value=False) & ~is_own
    kept = {name: frame.filter(~others) for name, frame in rows.items()}
    return without_orphans(corpus, kept)


def documents_of_others(corpus: Corpus, annotator: str) -> set[str]:
    """Return the names of documents that annotators have annotated, but not this one.

    Args:
        corpus: any corpus.
        annotator: the name, as the rows have it.
    """
    by_document = annotators_by_document(corpus).group_by("document")
    is_own = (pl.col("annotator") == annotator).any()
    others = by_document.agg(own=is_own).filter(~pl.col("own"))["document"]
    return {*corpus.documents["name"].gather(others)}


def without_orphans(corpus: Corpus, kept: Mapping[str, pl.DataFrame]) -> Corpus:
    """Return a corpus with fewer rows in some tables, and without the rows that refer to others.

    Args:
        corpus: any corpus.
        kept: the rows that stay, by table.
    """
    tables = dict(kept)
    for name, declared in TABLES.items():
        for column, target in declared.references:
            if target in kept and target != name:
                rows = tables.get(name, getattr(corpus, name))
                known = tables[target]["row"].implode()
                tables[name] = rows.filter(pl.col(column).is_null() | pl.col(column).is_in(known))
    return corpus.replace(**tables)
