"""Entities of both sides with their referents, and how many characters two of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from hlteval.representation import Corpus

#: Between the referents of an entity, which are sorted and there once.
SEPARATOR = "\x1f"
TAXONOMY, ONTOLOGY = "NCBI_Taxonomy", "OntoBiotope"

Fragments = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Labels:
    """The labels of a year.

    Attributes:
        taxa: of entities whose referents are taxa.
        concepts: of entities whose referents are in the ontology.
        others: of entities without referents.
    """

    taxa: tuple[str, ...]
    concepts: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def scheme(self) -> pl.Expr:
        """The label of the normalizations of an entity, from its own."""
        taxon = pl.col("label").is_in(self.taxa)
        return pl.when(taxon).then(pl.lit(TAXONOMY)).otherwise(pl.lit(ONTOLOGY))


def entities(mentions: pl.DataFrame, labels: Labels, corpora: Sequence[Corpus]) -> pl.DataFrame:
    """Entities with their referents in each of some corpora.

    Args:
        mentions: the entities.
        labels: of the year.
        corpora: what the referents are looked for in, in the same numbering of documents.

    Returns:
        A row per entity: `document`, `row`, `item`, `label`, `text`, `start`, `end`, `fragments`,
        and for each corpus `referents` (joined by `SEPARATOR`) and the number of `normalizations`,
        those of the second one with the suffix `_system`.
    """
    fragment = pl.concat_list(pl.struct("start", "end"))
    rows = mentions.select(
        *("document", "row", "label", "text", "start", "end"),
        item="mention",
        fragments=pl.coalesce("fragments", fragment),
        scheme=labels.scheme,
    )
    for corpus in corpora:
        values = corpus.modifiers.drop_nulls("value").group_by(
            "document", item="target", scheme="label"
        )
        referents = values.agg(
            referents=pl.col("value").unique().sort().str.join(SEPARATOR),
            normalizations=pl.len().cast(pl.Int64),
        )
        key = ["document", "item", "scheme"]
        rows = rows.join(referents, on=key, how="left", suffix="_system", maintain_order="left")
    found = pl.col("^referents.*$").fill_null(""), pl.col("^normalizations.*$").fill_null(0)
    return rows.drop("scheme").with_columns(*found)


def shared_characters(ours: Fragments, theirs: Fragments) -> int:
    """The number of characters that two lists of fragments share.

    Examples:
        >>> shared_characters([(0, 4), (8, 12)], [(2, 10)])
        4
    """
    stretches = ((max(a, c), min(b, d)) for a, b in ours for c, d in theirs)
    return sum(max(end - start, 0) for start, end in stretches)


def overlaps(
    ours: pl.DataFrame,
    theirs: pl.DataFrame,
    by: Sequence[str],
    shared: Callable[[Fragments, Fragments], int] = shared_characters,
) -> pl.DataFrame:
    """The pairs of entities that share characters.

    Args:
        ours: of the reference: `row`, `start`, `end`, `fragments`, and what they are joined `by`.
        theirs: of the system, likewise.
        by: the columns that are equal.
        shared: counts the characters that two lists of fragments share.

    Returns:
        `row`, `row_system`, and the `overlap`: the share of the characters of either that both
        have.
    """
    pairs = ours.join(theirs, on=by, suffix="_system", maintain_order="left_right").filter(
        pl.col("start") < pl.col("end_system"), pl.col("start_system") < pl.col("end")
    )
    common = pl.min_horizontal("end", "end_system") - pl.max_horizontal("start", "start_system")
    sides = pairs.select("fragments", "fragments_system").iter_rows()
    several = [
        shared(*([(part["start"], part["end"]) for part in side] for side in row))
        if max(map(len, row)) > 1
        else None
        for row in sides
    ]
    common = pl.coalesce(pl.Series(several, dtype=pl.Int64), common)
    pairs = pairs.with_columns(common=common)
    length = pl.element().struct.field("end") - pl.element().struct.field("start")
    sizes = pl.col("fragments").list.eval(length).list.sum()
    sizes += pl.col("fragments_system").list.eval(length).list.sum()
    share = pl.col("common") / (sizes - pl.col("common"))
    rows = pairs.select("row", "row_system", overlap=share).filter(pl.col("overlap") > 0)
    return rows.sort("row", "row_system")
