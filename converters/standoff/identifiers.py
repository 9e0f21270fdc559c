"""Identifiers that a dialect of standoff allows: others are replaced, with all references."""

from __future__ import annotations

from collections import Counter

import polars as pl

from hlteval.converters.standoff.dialects import Dialect
from hlteval.converters.toolkit.normalizations import is_normalization
from hlteval.representation import Corpus

_REFERENCES = (
    ("arguments", "target"),
    ("frames", "trigger"),
    ("modifiers", "target"),
    ("groups", "member"),
)
_HOLDERS = (("mentions", "mention"), ("frames", "frame"), ("modifiers", "modifier"))


def modifier_kind() -> pl.Expr:
    """The kind of a modifier, from the first letter of its identifier and its value.

    A `note`, a `normalization`, a `value` (an attribute with a value), or an `attribute`.
    """
    valued = pl.col("value").is_not_null()
    return (
        pl.when(pl.col("modifier").str.starts_with("#"))
        .then(pl.lit("note"))
        .when(is_normalization())
        .then(pl.lit("normalization"))
        .when(valued)
        .then(pl.lit("value"))
        .otherwise(pl.lit("attribute"))
    )


def fresh(known: pl.DataFrame, letter: str, documents: pl.Series) -> pl.Series:
    """New identifiers, with numbers above those in use in a document.

    Args:
        known: the identifiers in use as `id`, by `document`.
        letter: the first letter of the new identifiers.
        documents: the document of each new identifier.

    Examples:
        >>> known = pl.DataFrame({"document": [1], "id": ["T7"]})
        >>> fresh(known, "T", pl.Series([0, 1, 1])).to_list()
        ['T1', 'T8', 'T9']
    """
    number = pl.col("id").str.extract("^[^0-9]*([0-9]{1,9})").cast(pl.Int64)
    used = known.filter(pl.col("id").str.starts_with(letter))
    last = used.group_by("document").agg(last=number.max())
    wanted = documents.alias("document").cast(pl.Int64).to_frame()
    joined = wanted.join(
        last.cast({"document": pl.Int64}), on="document", how="left", maintain_order="left"
    )
    ordinal = pl.int_range(1, pl.len() + 1).over("document")
    numbered = joined.select(pl.format(letter + "{}", pl.col("last").fill_null(0) + ordinal))
    return numbered.to_series()


def identifiers(corpus: Corpus, table: str) -> pl.DataFrame:
    """The identifiers of a table as `id`, by `document`."""
    column = dict(_HOLDERS)[table]
    rows: pl.DataFrame = getattr(corpus, table)
    return rows.select("document", id=column)


def identified(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The corpus with valid identifiers; the first item with an identifier keeps it.

    Args:
        corpus: a corpus of items that the dialect supports.
        dialect: the dialect.
        counts: the counts of losses, which are updated.
    """
    renamed = {table: _renamed(corpus, table, dialect) for table, _ in _HOLDERS}
    changed = pl.concat(renamed.values()).filter(pl.col("id") != pl.col("new"))
    if changed.is_empty() and not any(table["id"].has_nulls() for table in renamed.values()):
        return _worded(corpus, dialect, counts)
    counts["identifiers of another form"] += changed.filter(pl.col("id") != "").height
    tables = {}
    for table, column in _HOLDERS:
        rows: pl.DataFrame = getattr(corpus, table)
        tables[table] = rows.with_columns(renamed[table]["new"].alias(column))
    first = pl.concat(renamed.values()).filter(pl.col("id") != "")
    first = first.unique(["document", "id"], keep="first", maintain_order=True)
    followed = _following(corpus.replace(**tables), first.filter(pl.col("id") != pl.col("new")))
    return _worded(followed, dialect, counts)


def _renamed(corpus: Corpus, table: str, dialect: Dialect) -> pl.DataFrame:
    """The items of a table: `document`, the present identifier as `id`, the valid one as `new`."""
    column = dict(_HOLDERS)[table]
    rows: pl.DataFrame = getattr(corpus, table)
    kind = {"mentions": pl.lit("mention"), "frames": pl.col("kind")}.get(table, modifier_kind())
    items = rows.select("document", kind=kind, id=column, new=column)
    fits = pl.lit(value=False)
    for name, (_, form) in dialect.identifiers.items():
        named = pl.col("kind") == name
        fits = pl.when(named).then(pl.col("id").str.contains(f"^(?:{form})$")).otherwise(fits)
    items = items.with_columns(fits=fits.fill_null(value=False))
    if dialect.numbered:
        once = pl.struct("document", "id").is_first_distinct()
        items = items.with_columns(fits=pl.col("fits") & once)
    if items["fits"].all():
        return items.select("document", "id", "new")
    return _with_new(items, dialect).select("document", "id", "new")


def _with_new(items: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
    """The items, with a new identifier of their kind in place of invalid ones."""
    items = items.with_row_index("at")
    kept = items.filter("fits").select("document", "id")
    for letter in dict.fromkeys(letter for letter, _ in dialect.identifiers.values()):
        kinds = [name for name, (begins, _) in dialect.identifiers.items() if begins == letter]
        chosen = items.filter(~pl.col("fits"), pl.col("kind").is_in(kinds))
        names = chosen.select("at", new=fresh(kept, letter, chosen["document"]))
        items = items.update(names, on="at", how="left")
    return items


def _following(corpus: Corpus, changed: pl.DataFrame) -> Corpus:
    """The corpus with references to the new identifiers."""
    tables = {}
    for table, column in _REFERENCES:
        rows: pl.DataFrame = getattr(corpus, table)
        names = changed.select("document", "new", pl.col("id").alias(column))
        joined = rows.join(names, on=["document", column], how="left", maintain_order="left")
        tables[table] = joined.with_columns(pl.coalesce("new", column).alias(column)).drop("new")
    return corpus.replace(**tables)


def _worded(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The corpus with `_` for characters that dangling references cannot contain."""
    tables = {}
    for table, column in _REFERENCES:
        rows: pl.DataFrame = getattr(corpus, table)
        wrong = rows[column].str.contains(dialect.unreferable) | (rows[column] == "")
        if wrong.any():
            counts["identifiers of another form"] += int(wrong.sum())
            word = pl.col(column).str.replace_all(dialect.unreferable, "_")
            word = pl.when(word == "").then(pl.lit("_")).otherwise(word)
            tables[table] = rows.with_columns(word.alias(column))
    return corpus.replace(**tables) if tables else corpus
