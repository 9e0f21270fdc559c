"""Annotations: the mentions of a reference and a system as numbers that can be joined and grouped.

Everything that measures compare (documents, spans, types, entities) is numbered over both sides
together, in the order of its values, so that no number depends on the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import polars as pl

from hlteval.representation import Corpus
from hlteval.scoring.edl.overlaps import Spans, coverage

#: An annotation a row: its side, its fields, its place among the rows of its side, and 1; or
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

#: The beginning of the identifier of an entity that the knowledge base lacks.
NIL = "NIL"
_LARGEST = 2**62


def all_candidates(
    corpus: Corpus,
    *,
    system: bool = False,
    with_mention_type: bool = False,
    alternatives: bool = False,
    official: bool = False,
) -> pl.DataFrame:
    """The mentions of a corpus as annotations, each with its first candidate, and all others.

    Args:
        corpus: with its mentions and links.
        system: which side it is.
        with_mention_type: whether a type is `PER/NAM` and not `PER`.
        alternatives: whether one of the reference's candidates is selected, so that an identifier
            `a|b` there is several.
        official: whether alternatives among which none is selected stay one identifier `a|b`, as
            for the public scorer; candidates with a type of their own are no such alternatives.
    """
    label: pl.Expr = pl.when(pl.col("label") != "").then("label")
    kind = label
    if with_mention_type:
        both = pl.format("{}/{}", "label", "mention_type")
        kind = pl.when(pl.col("mention_type").is_null()).then(label).otherwise(both)
    names = corpus.documents.select(docid="name", document="row")
    rows = corpus.mentions.join(names, on="document", how="left", maintain_order="left").select(
        *(pl.lit(system).alias("system"), "docid", "start", "end", kind.alias("type")),
        *(pl.col("entity").alias("eid"), pl.col("confidence").alias("score"), "row"),
        pl.lit(1, pl.Int64).alias("rank"),
    )
    if official and not alternatives:
        links = corpus.links.filter(pl.col("label").is_null()).sort("mention_row", "rank")
        more = links.group_by(row="mention_row").agg(pl.col("entity").str.join("|"))
        rows = rows.join(more, on="row", how="left", maintain_order="left")
        both = pl.concat_str("eid", "entity", separator="|", ignore_nulls=True)
        eid = pl.when(pl.col("entity").is_null()).then("eid").otherwise(both)
        return rows.with_columns(eid=eid).drop("entity")
    if not corpus.links.is_empty():
        others = corpus.links.select("entity", "label", "confidence", "rank", row="mention_row")
        others = others.join(rows.drop("rank"), on="row").with_columns(
            eid="entity", type=pl.coalesce(label, "type"), score=pl.coalesce("confidence", "score")
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
    documents = pl.concat([table["docid"], zones["docid"]])
    kinds = documents.cast(pl.Enum(documents.unique().drop_nulls())).to_physical().cast(pl.Int64)
    own, of_zones = kinds[: table.height].to_numpy(), kinds[table.height :].to_numpy()
    others = Spans(of_zones, zones["start"].to_numpy(), zones["last"].to_numpy())
    inside = np.zeros(table.height, dtype=np.int64)
    for unit in (table["start"].to_numpy(), table["end"].to_numpy() - 1):
        inside += coverage("max", Spans(own, unit, unit), others)
    return table.filter(inside == 0)


@dataclass(frozen=True)
class Coded:
    """Annotations as numbers.

    Attributes:
        rows: a row an annotation: `system`, the fields of keys and `language` as numbers from 0,
            and `from` and `last`, the offsets of its first and last unit; in the
            order of their documents' first rows, then of their spans, the longer first.
        sizes: how many numbers each of the columns has.
        names: what the numbers of `docid`, `type`, `eid` and `language` stand for; null for none.
    """

    rows: pl.DataFrame
    sizes: Mapping[str, int]
    names: Mapping[str, pl.Series]

    def key(self, rows: pl.DataFrame, fields: Sequence[str]) -> pl.Series:
        """One number for the contents of several columns; equal numbers for equal contents only.

        Args:
            rows: some of the annotations, with further columns whose sizes are known.
            fields: the columns.
        """
        key, size = rows[fields[0]].cast(pl.Int64), self.sizes[fields[0]]
        for field in fields[1:]:
            if size * self.sizes[field] >= _LARGEST:
                key, size = key.rank("dense").cast(pl.Int64), rows.height + 1
            key, size = key * self.sizes[field] + rows[field], size * self.sizes[field]
        return key.alias("key")


def encode(table: pl.DataFrame, *, official: bool = False) -> Coded:
    """Number the fields of annotations.

    An annotation without an identifier is a NIL; all annotations of the span that an entity has
    first in a document are its first.

    Args:
        table: annotations of both sides (`ANNOTATIONS`), one candidate each.
        official: as for the public scorer: an annotation without an identifier is neither linked
            nor a NIL, and of several annotations of a span only one can be the first.
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
    nil = names["eid"].str.starts_with(NIL).gather(rows["eid"]).cast(pl.Int64)
    linked = (1 - nil).fill_null(0)
    rows = rows.with_columns(
        is_nil=nil.fill_null(0 if official else 1), is_linked=linked, kbid=linked * rows["eid"]
    )
    largest = rows.drop("from", "last").select(pl.all().cast(pl.Int64).max().fill_null(0))
    sizes = {name: size + 1 for name, size in largest.row(0, named=True).items()}
    sizes |= {"span": rows.height + 1, "is_first": 2}
    span = Coded(rows, sizes, names).key(rows, ("docid", "start", "end")).rank("dense")
    rows = rows.with_columns(
        span=span.cast(pl.Int64), appears=pl.col("row").min().over("system", "docid")
    )
    by = ("system", "appears", "start", "end", "row")
    rows = rows.sort(by, descending=[name == "end" for name in by]).drop("appears")
    rows = rows.with_columns(Coded(rows, sizes, names).key(rows, ("system", "docid", "eid")))
    first = pl.col("span") == pl.col("span").first().over("key")
    is_first = pl.col("key").is_first_distinct() if official else first
    rows = rows.with_columns(is_first=is_first.cast(pl.Int64)).drop("key")
    return Coded(rows, sizes, names)


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
        steps: what mentions have in common, step by step. The public scorer lacks the first: it
            looks up the span where the annotation has been put down, and never finds it.

    Returns:
        The annotations, every one with `rank` 1.
    """
    key = ["eid", "type"] if how == "fields" else ["eid"]
    system = table.filter("system", pl.col("rank") == 1)
    ranked = table.filter(~pl.col("system"))
    level = pl.when(pl.col("rank") == 1).then(len(steps)).otherwise(len(steps) + 1)
    for number, where in reversed(list(enumerate(steps))):
        step = system.select(*where, *key, pl.lit(number).alias(f"step {number}")).unique()
        ranked = ranked.join(
            step, on=[*where, *key], how="left", nulls_equal=True, maintain_order="left"
        )
        level = pl.coalesce(f"step {number}", level)
    ranked = ranked.with_columns(level=level).sort("row", "level", "rank")
    best = ranked.unique("row", keep="first", maintain_order=True).select(table.columns)
    return pl.concat([best.with_columns(rank=pl.lit(1, pl.Int64)), system])
