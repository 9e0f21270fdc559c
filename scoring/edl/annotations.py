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


def mention_rows(
    corpus: Corpus, *, system: bool = False, with_mention_type: bool = False
) -> pl.DataFrame:
    """The mentions of a corpus as annotations, each with its first candidate.

    Args:
        corpus: with its mentions.
        system: which side it is.
        with_mention_type: whether a type is `PER/NAM` and not `PER`.
    """
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


def all_candidates(
    corpus: Corpus,
    *,
    system: bool = False,
    with_mention_type: bool = False,
    alternatives: bool = False,
) -> pl.DataFrame:
    """The mentions of a corpus as annotations, and their other candidates.

    Args:
        corpus: with its mentions and links.
        system: which side it is.
        with_mention_type: whether a type is `PER/NAM` and not `PER`.
        alternatives: whether one of the reference's candidates is selected, so that an identifier
            `a|b` there is several.
    """
    rows = mention_rows(corpus, system=system, with_mention_type=with_mention_type)
    if not corpus.links.is_empty():
        others = corpus.links.select("entity", "label", "confidence", "rank", row="mention_row")
        others = others.join(rows.drop("rank"), on="row").with_columns(
            eid="entity",
            type=pl.coalesce(pl.when(pl.col("label") != "").then("label"), "type"),
            score=pl.coalesce("confidence", "score"),
        )
        return pl.concat([rows, others.select(list(ANNOTATIONS))])
    if alternatives and not system:
        each = rows.with_columns(pl.col("eid").str.split("|")).explode("eid")
        return each.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("row"))
    return rows


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
                key, size = key.rank("dense").cast(pl.Int64), rows.height + 1
            key, size = key * self.sizes[field] + rows[field], size * self.sizes[field]
        return key.alias("key")

    def entities(self) -> pl.Series:
        """One number for the entity of each annotation in its document."""
        rows = self.rows.with_columns(pl.col("system").cast(pl.Int64))
        return self.key(rows, ("system", "docid", "eid"))


def encode(table: pl.DataFrame) -> Coded:
    """Number what annotations say.

    An annotation without an identifier is a NIL; all annotations of the span that an entity has
    first in a document are its first.

    Args:
        table: annotations of both sides (`ANNOTATIONS`), one candidate each.
    """
    table = table.with_columns(language=pl.col("docid").str.extract("^([^_]*)_"))
    names, numbers = dict[str, pl.Series](), list[pl.Series]()
    for column in ("docid", "type", "eid", "language"):
        texts = table[column].drop_nulls().unique().sort()
        places = table[column].cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
        names[column] = pl.concat([pl.Series(column, [None], dtype=pl.String), texts])
        numbers.append((places + 1).fill_null(0))
    rows = table.select(
        *("system", "row", *numbers),
        pl.col("start", "end", "score").rank("dense").cast(pl.Int64).fill_null(0),
        pl.col("start").alias("from"),
        (pl.col("end") - 1).alias("last"),
    )
    nil = names["eid"].str.starts_with(NIL).fill_null(value=True)
    rows = rows.with_columns(is_nil=nil.gather(rows["eid"]).cast(pl.Int64))
    rows = rows.with_columns(is_linked=1 - pl.col("is_nil"))
    rows = rows.with_columns(kbid=pl.col("eid") * pl.col("is_linked"))
    largest = rows.drop("from", "last").select(pl.all().cast(pl.Int64).max().fill_null(0))
    sizes = {name: size + 1 for name, size in largest.row(0, named=True).items()}
    spans = Coded(rows, sizes, names).key(rows, ("docid", "start", "end"))
    rows = rows.with_columns(span=spans.rank("dense").cast(pl.Int64))
    sizes |= {"span": rows.height + 1, "is_first": 2}
    appears = pl.col("row").min().over("system", "docid")
    keys = rows.select("system", "start", "end", "row", appears=appears)
    by = ("system", "appears", "start", "end", "row")
    order = keys.select(pl.arg_sort_by(by, descending=[name == "end" for name in by])).to_series()
    # A column at a time, so that not all of them are in memory twice.
    rows = pl.DataFrame([rows.drop_in_place(name).gather(order) for name in rows.columns])
    entity = Coded(rows, sizes, names).entities()
    first = pl.DataFrame({"entity": entity, "first": rows["span"]}).unique("entity", keep="first")
    spans = pl.DataFrame({"entity": entity}).join(first, on="entity", maintain_order="left")[
        "first"
    ]
    return Coded(rows.with_columns(is_first=(spans == rows["span"]).cast(pl.Int64)), sizes, names)


#: Where the system gives a candidate for it to be selected, the best first: to a mention of the
#: same span, to any mention of the document, to any mention at all.
STEPS: tuple[tuple[str, ...], ...] = (("docid", "start", "end"), ("docid",), ())


def best_candidates(
    table: pl.DataFrame, how: str, steps: Sequence[tuple[str, ...]] = STEPS
) -> pl.DataFrame:
    """The annotations with one candidate each: where the reference allows several, the best.

    It is the first that the system gives by the first of the steps; where it gives none of them,
    the first of all.

    Args:
        table: annotations of both sides with all of their candidates.
        how: `eid`, or `fields` where the type must be the same as well.
        steps: what mentions have in common, step by step.

    Returns:
        The annotations, every one with `rank` 1.
    """
    key = ["eid", "type"] if how == "fields" else ["eid"]
    system = table.filter("system", pl.col("rank") == 1)
    reference = table.filter(~pl.col("system"))
    several = pl.len().over("row") > 1
    candidates = reference.filter(several)
    level = pl.when(pl.col("rank") == 1).then(len(steps)).otherwise(len(steps) + 1)
    for number, where in reversed(list(enumerate(steps))):
        keys = system.select(*where, *key).unique()
        keys = keys.with_columns(pl.lit(number).alias(f"at{number}"))
        candidates = candidates.join(
            keys, on=[*where, *key], how="left", nulls_equal=True, maintain_order="left"
        )
        level = pl.coalesce(f"at{number}", level)
    ranked = candidates.with_columns(level=level).sort("row", "level", "rank")
    best = ranked.unique("row", keep="first", maintain_order=True).select(table.columns)
    best = best.with_columns(rank=pl.lit(1, pl.Int64))
    return pl.concat([pl.concat([reference.filter(~several), best]).sort("row"), system])
