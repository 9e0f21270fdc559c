"""Annotations: the mentions of a reference and a system as numbers that can be joined and grouped.

Everything that measures compare (documents, spans, types, entities) is numbered over both sides
together, in the order of what it says, so that no number depends on the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus

#: An annotation a row: its side, what it says, its place among the rows of its side, and 1; or
#: another candidate of it, with the rank that it has.
ANNOTATIONS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        "system": pl.Boolean,
        "docid": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "type": pl.String,
        "eid": pl.String,
        "score": pl.Float64,
        "row": pl.Int64,
        "rank": pl.Int64,
    }
)

#: What the identifier of an entity that the knowledge base lacks begins with.
NIL = "NIL"
_LARGEST = 2**62


def annotated(
    corpus: Corpus,
    *,
    system: bool = False,
    with_mention_type: bool = False,
    joined: bool = False,
    split: bool = False,
) -> pl.DataFrame:
    """The mentions of a corpus as annotations, and their other candidates.

    Args:
        corpus: with its mentions and links.
        system: which side it is.
        with_mention_type: whether a type is `PER/NAM` and not `PER`.
        joined: whether alternatives that were written as one identifier, `a|b`, stay one.
        split: whether an identifier `a|b` is several.
    """
    own = _own(corpus, system=system, with_mention_type=with_mention_type)
    if corpus.links.is_empty():
        return _split(own) if split else own
    others = corpus.links.select("entity", "label", "confidence", "rank", row="mention_row")
    if joined:  # an alternative in an identifier has no type and no score of its own
        return _joined(own, others.filter(pl.col("label").is_null()))
    others = others.join(own.drop("rank"), on="row").with_columns(
        eid="entity",
        type=pl.coalesce(pl.when(pl.col("label") != "").then("label"), "type"),
        score=pl.coalesce("confidence", "score"),
    )
    return pl.concat([own, others.select(list(ANNOTATIONS))])


def _own(corpus: Corpus, *, system: bool, with_mention_type: bool) -> pl.DataFrame:
    names = corpus.documents.select("name", document="row")
    label: pl.Expr = pl.when(pl.col("label") != "").then("label")
    if with_mention_type:
        both = pl.format("{}/{}", "label", "mention_type")
        label = pl.when(pl.col("mention_type").is_null()).then(label).otherwise(both)
    columns = ("row", "document", "start", "end", "label", "mention_type", "entity", "confidence")
    mentions = corpus.mentions.select(columns)
    mentions = mentions.join(names, on="document", how="left", maintain_order="left")
    return mentions.select(
        pl.lit(system).alias("system"),
        *(pl.col("name").alias("docid"), "start", "end", label.alias("type")),
        *(pl.col("entity").alias("eid"), pl.col("confidence").alias("score"), "row"),
        pl.lit(1, pl.Int64).alias("rank"),
    )


def _split(own: pl.DataFrame) -> pl.DataFrame:
    """Each of the identifiers that one field holds as a candidate."""
    each = own.with_columns(pl.col("eid").str.split("|")).explode("eid")
    return each.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("row"))


def _joined(own: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Alternatives in one identifier, as they were written."""
    more = others.sort("row", "rank").group_by("row").agg(pl.col("entity").str.join("|"))
    both = own.join(more, on="row", how="left", maintain_order="left")
    whole = pl.concat_str("eid", "entity", separator="|", ignore_nulls=True)
    eid = pl.when(pl.col("entity").is_null()).then("eid").otherwise(whole)
    return both.with_columns(eid=eid).drop("entity")


def outside(table: pl.DataFrame, zones: pl.DataFrame) -> pl.DataFrame:
    """The annotations that neither begin nor end in a zone.

    Args:
        table: annotations.
        zones: `docid`, `start`, `last`; both offsets belong to the zone.
    """
    zones = zones.sort("docid", "start").with_columns(
        reach=pl.col("last").cum_max().over("docid"), unit="start"
    )
    left = table.with_row_index("place")
    for unit in (pl.col("start"), pl.col("end") - 1):
        placed = (
            left.with_columns(unit=unit)
            .sort("unit")
            .join_asof(
                zones.sort("unit").select("docid", "unit", "reach"),
                on="unit",
                by="docid",
                check_sortedness=False,
            )
        )
        left = placed.filter((pl.col("unit") > pl.col("reach")).fill_null(value=True))
        left = left.drop("unit", "reach")
    return left.sort("place").drop("place")


@dataclass(frozen=True)
class Coded:
    """Annotations as numbers.

    Attributes:
        rows: a row an annotation: `system`, the fields of keys and `language` as numbers from 0,
            and `from` and `last`, the offsets of its first and last unit; in the
            order of their documents' first rows, then of their spans, the longer first.
        sizes: how many numbers each of the columns has.
        names: what the numbers of `docid`, `type` and `language` stand for; null for none.
    """

    rows: pl.DataFrame
    sizes: Mapping[str, int]
    names: Mapping[str, pl.Series]

    def key(self, rows: pl.DataFrame, fields: Sequence[str]) -> pl.Series:
        """One number for what several columns say; equal numbers for equal contents only.

        Args:
            rows: some of the annotations, with further columns whose sizes are known.
            fields: the columns.
        """
        key, size = rows[fields[0]], self.sizes[fields[0]]
        for field in fields[1:]:
            if size * self.sizes[field] >= _LARGEST:
                key, size = _dense(key), rows.height + 1
            key, size = key * self.sizes[field] + rows[field], size * self.sizes[field]
        return key.alias("key")


def coded(table: pl.DataFrame, *, official: bool) -> Coded:
    """Number what annotations say.

    Args:
        table: annotations of both sides (`ANNOTATIONS`), one candidate each.
        official: whether an annotation without an identifier is neither linked nor a NIL, and of
            several annotations of a span only the first can be the first of its entity.
    """
    language = pl.col("docid").str.extract("^([^_]*)_")
    table = table.with_columns(language=language)
    texts = ("docid", "type", "eid", "language")
    names = {column: _names(table[column]) for column in texts}
    rows = table.select(
        "system",
        "row",
        *(_numbers(table[column], names[column]) for column in texts),
        *(_ranked(table[column]).alias(column) for column in ("start", "end", "score")),
        pl.col("start").alias("from"),
        (pl.col("end") - 1).alias("last"),
    )
    nil = names["eid"].str.starts_with(NIL).fill_null(value=not official)
    linked = ~nil if not official else ~nil & names["eid"].is_not_null()
    rows = rows.with_columns(
        is_nil=nil.gather(rows["eid"]).cast(pl.Int64),
        is_linked=linked.gather(rows["eid"]).cast(pl.Int64),
    ).with_columns(kbid=pl.col("eid") * pl.col("is_linked"))
    sizes = {
        column: _size(rows[column]) for column in rows.columns if column not in {"from", "last"}
    }
    span = _dense(Coded(rows, sizes, names).key(rows, ("docid", "start", "end")))
    rows = rows.with_columns(span=span)
    rows = _in_order(rows)
    sizes |= {"span": rows.height + 1, "is_first": 2}
    whole = Coded(rows, sizes, names)
    rows = rows.with_columns(is_first=_first(whole, official=official))
    return Coded(rows, sizes, names)


def _names(written: pl.Series) -> pl.Series:
    """What a column says, sorted, the first of it being null."""
    names = written.drop_nulls().unique().sort()
    return pl.concat([pl.Series(written.name, [None], dtype=pl.String), names])


def _numbers(written: pl.Series, names: pl.Series) -> pl.Series:
    """For each value its place among the names."""
    listed = pl.Enum(names.drop_nulls())
    return (written.cast(listed).to_physical().cast(pl.Int64) + 1).fill_null(0)


def _ranked(values: pl.Series) -> pl.Series:
    """The place of each number among those that occur, from 1; 0 for none."""
    return values.rank("dense").cast(pl.Int64).fill_null(0)


def _dense(key: pl.Series) -> pl.Series:
    return key.rank("dense").cast(pl.Int64)


def _size(numbers: pl.Series) -> int:
    largest = numbers.cast(pl.Int64).max()
    return int(largest) + 1 if isinstance(largest, int) else 1


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows by the first row of their document, then by span, the longer first.

    Args:
        rows: the annotations; nothing is left of them.
    """
    appears = pl.col("row").min().over("system", "docid")
    keys = rows.select("system", "start", "end", "row", appears=appears)
    by = ("system", "appears", "start", "end", "row")
    order = keys.select(pl.arg_sort_by(by, descending=[name == "end" for name in by])).to_series()
    # A column at a time, so that not all of them are in memory twice.
    return pl.DataFrame([rows.drop_in_place(name).gather(order) for name in rows.columns])


def _first(whole: Coded, *, official: bool) -> pl.Series:
    """Whether each annotation is the first of its entity in its document."""
    rows = whole.rows.with_columns(system=pl.col("system").cast(pl.Int64))
    entity = whole.key(rows, ("system", "docid", "eid"))
    leads = entity.is_first_distinct()
    if not official:
        leading = pl.DataFrame(
            {"entity": entity.filter(leads), "first": rows["span"].filter(leads)}
        )
        spans = pl.DataFrame({"entity": entity}).join(leading, on="entity", maintain_order="left")
        leads = spans["first"] == rows["span"]
    return leads.cast(pl.Int64)


# Alternatives of the reference: where it allows several entities, the one that suits the system.
#
# Of the candidates of a mention, the first is selected that the system gives
#
# 1. to a mention of the same span,
# 2. to any mention of the document,
# 3. to any mention at all;
#
# and where it gives none of them, the first of all.


def chosen(table: pl.DataFrame, how: str, *, official: bool) -> pl.DataFrame:
    """The annotations with one candidate each.

    Args:
        table: annotations of both sides with all of their candidates.
        how: `eid`, or `fields` where the type must be the same as well.
        official: whether the first step is left out: the public scorer looks for the span where it
            has put down the annotation, and never finds it.

    Returns:
        The annotations, every one with `rank` 1.
    """
    first = table.filter(pl.col("rank") == 1)
    system = first.filter("system")
    ours = table.filter(~pl.col("system"))
    several = ours.filter(pl.len().over("row") > 1)
    ranked = _levels(several, system, ["eid", "type"] if how == "fields" else ["eid"], official)
    best = ranked.sort("row", "level", "rank").unique("row", keep="first", maintain_order=True)
    single = first.filter(~pl.col("system")).join(best, on="row", how="anti", maintain_order="left")
    selected = best.select(table.columns).with_columns(rank=pl.lit(1, pl.Int64))
    reference = pl.concat([single, selected]).sort("row")
    return pl.concat([reference, system])


def _levels(
    candidates: pl.DataFrame, system: pl.DataFrame, key: list[str], official: bool
) -> pl.DataFrame:
    """Candidates with the step that finds them; the last step finds the first candidate only."""
    steps = [["docid", "start", "end"], ["docid"], []]
    level = pl.when(pl.col("rank") == 1).then(len(steps)).otherwise(len(steps) + 1)
    for number, where in reversed(list(enumerate(steps))):
        if official and number == 0:
            continue
        given = (
            system.select(*where, *key).unique().with_columns(pl.lit(number).alias(f"at{number}"))
        )
        candidates = candidates.join(
            given, on=[*where, *key], how="left", nulls_equal=True, maintain_order="left"
        )
        level = pl.coalesce(f"at{number}", level)
    return candidates.with_columns(level=level)
