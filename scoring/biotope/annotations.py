"""Entities with their referents and relations of both sides, and which of them are alike.

Two entities are alike as much as the share of the characters of either that both have. Two
relations of a label are alike as much as the product of that of their arguments: an argument of the
reference stands for all entities that are equivalent to it, of which the best counts.
"""

from collections.abc import Callable, Sequence

import polars as pl

from hlteval.representation import Corpus, effective_fillers
from hlteval.scoring.instance_detection import overlap_pairs
from hlteval.scoring.matching import equivalence_classes
from hlteval.scoring.pairings import across_sentences

#: Between the referents of an entity, which are sorted and there once.
SEPARATOR = "\x1f"
TAXONOMY, ONTOLOGY = "NCBI_Taxonomy", "OntoBiotope"


def places(mentions: pl.DataFrame, *columns: str | pl.Expr) -> pl.DataFrame:
    """Entities as they are compared: `document`, `row`, `label`, `start`, `end` and `fragments`."""
    whole = pl.concat_list(pl.struct("start", "end"))
    fragments = pl.coalesce("fragments", whole).alias("fragments")
    return mentions.select("document", "row", "label", "start", "end", fragments, *columns)


def entities(mentions: pl.DataFrame, corpus: Corpus, taxa: Sequence[str]) -> pl.DataFrame:
    """Entities with their referents.

    Args:
        mentions: the entities.
        corpus: has the referents.
        taxa: the labels of entities whose referents are taxa.

    Returns:
        `places`, `item` and `text`; the `referents`, joined by `SEPARATOR`, and whether there are
        `several`.
    """
    referents = pl.col("value").unique().sort().str.join(SEPARATOR)
    groups = corpus.modifiers.drop_nulls("value").group_by(
        "document", item="target", scheme="label"
    )
    named = groups.agg(referents=referents, several=pl.len() > 1)
    scheme = pl.when(pl.col("label").is_in(taxa)).then(pl.lit(TAXONOMY)).otherwise(pl.lit(ONTOLOGY))
    rows = places(mentions, "text", pl.col("mention").alias("item"), scheme.alias("scheme"))
    key = ["document", "item", "scheme"]
    rows = rows.join(named, on=key, how="left", maintain_order="left").drop("scheme")
    return rows.with_columns(pl.col("referents").fill_null(""), pl.col("several").fill_null(False))


def shared_characters(pairs: pl.DataFrame) -> pl.Series:
    """The number of characters that the `fragments` and the `fragments_system` of each pair share.

    Examples:
        >>> ours = [{"start": 0, "end": 4}, {"start": 8, "end": 12}]
        >>> pairs = {"fragments": [ours], "fragments_system": [[{"start": 2, "end": 10}]]}
        >>> shared_characters(pl.DataFrame(pairs)).to_list()
        [4]
    """
    sides = ("fragments", "fragments_system")
    every = pairs.select(*sides, at=pl.int_range(pl.len())).explode(sides[0]).explode(sides[1])
    last = pl.min_horizontal(pl.col(side).struct.field("end") for side in sides)
    first = pl.max_horizontal(pl.col(side).struct.field("start") for side in sides)
    shared = (last - first).clip(0).sum().alias("shared")
    return every.group_by("at", maintain_order=True).agg(shared)["shared"]


def overlaps(
    ours: pl.DataFrame,
    theirs: pl.DataFrame,
    by: Sequence[str],
    shared: Callable[[pl.DataFrame], pl.Series] = shared_characters,
) -> pl.DataFrame:
    """The pairs of entities that share characters.

    Args:
        ours: of the reference, as `places`.
        theirs: of the system, likewise.
        by: the columns that are equal.
        shared: counts the characters that each pair shares.

    Returns:
        The columns of both, those of the system with `_system`; and the `overlap`: the share of the
        characters of either that both have.
    """
    both = pl.concat([rows.select(*by, "start", "end") for rows in (ours, theirs)])
    ranks = pl.concat([both["start"], both["end"]]).rank("dense").cast(pl.Float64)  # may be huge
    both = both.with_columns(start=ranks.head(len(both)), end=ranks.tail(len(both)))
    rows, matches, _ = overlap_pairs(both.head(len(ours)), both.tail(len(theirs)), by)
    theirs = theirs.drop(by).rename(lambda name: f"{name}_system")
    pairs = pl.concat([ours[rows], theirs[matches]], how="horizontal")
    part, common = pl.element().struct, shared(pairs)
    sizes = pl.col("^fragments.*$").list.eval(part.field("end") - part.field("start")).list.sum()
    either = pairs.select(sizes).sum_horizontal() - common
    pairs = pairs.with_columns(overlap=common / either)
    return pairs.filter(pl.col("overlap") > 0).sort("row", "row_system")


def arguments(corpus: Corpus, filler: str) -> pl.DataFrame:
    """The entities of a corpus as arguments of relations.

    Args:
        corpus: of either side.
        filler: how arguments call its entities, as `representation.items`.

    Returns:
        `places`; the filler and the row as `argument`, the `kind`, equal for equivalent entities,
        and how many of this kind there are, as `count`.
    """
    argument = pl.format(f"{filler} {{}}", "row").alias("argument")
    rows = places(corpus.mentions, argument, pl.col("mention").alias("target"))
    key = ["document", "target"]
    rows = rows.join(equivalence_classes(corpus.groups), on=key, how="left", maintain_order="left")
    kind = pl.format("{} {}", "document", pl.coalesce("representative", "target"))
    rows = rows.with_columns(kind=kind).drop("target", "representative")
    return rows.with_columns(count=pl.len().over("kind").cast(pl.Int64))


def relations(
    corpus: Corpus,
    given: Corpus,
    roles: Sequence[str],
    known: pl.DataFrame,
    sentences: pl.DataFrame,
) -> pl.DataFrame:
    """The relations of a corpus.

    Args:
        corpus: of either side.
        given: the corpus with the entities that come with the task; of a reference, itself.
        roles: the role of the first argument, and then those of the second.
        known: the entities of both sides, as `arguments`.
        sentences: the segments of the reference.

    Returns:
        A row per relation: `document`, `row`, `item`, `label`; of both arguments the `argument`,
        its `target`, `kind` and `count`, null where it has none, with `_second`; the targets as
        `text`; the label of the second as `location`, and whether both are `inside` a sentence.
    """
    rows = corpus.frames.select("document", "row", "label", item="frame")
    filled = effective_fillers(corpus, given).drop_nulls("filler_row").select(
        "role", "target", row="frame_row", argument=pl.format("{} {}", "filler", "filler_row"),
        location="filler_label",
    )  # fmt: skip
    own = known.select("document", "start", "end", "argument", "kind", "count")
    filled = filled.join(own, on="argument", how="left", maintain_order="left")
    ends = []
    for names in (roles[:1], roles[1:]):
        end = filled.filter(pl.col("role").is_in(names)).drop("role")
        ends.append(end.unique("row", keep="first", maintain_order=True))
        more = ends[-1].drop("document", "start", "end")
        rows = rows.join(more, on="row", how="left", suffix="_second", maintain_order="left")
    across = across_sentences(pl.concat(ends).drop_nulls("start"), sentences).implode()
    return rows.with_columns(
        location="location_second",
        text=pl.format("{}, {}", "target", "target_second"),
        inside=~pl.col("row").is_in(across),
    ).drop("location_second")


def alike_relations(ours: pl.DataFrame, theirs: pl.DataFrame, alike: pl.DataFrame) -> pl.DataFrame:
    """The relations that are alike at all: `row`, `row_system`, and the `overlap`.

    Args:
        ours: the relations of the reference.
        theirs: those of the system.
        alike: the `kind` of entities of the reference, the entity of the system as `argument`, and
            how much they `overlap`.
    """
    alike = alike.group_by("kind", "argument").agg(pl.col("overlap").max())
    pairs = theirs.select("label", "argument", "argument_second", row_system="row")
    pairs = pairs.join(alike, on="argument")
    pairs = pairs.join(alike, left_on="argument_second", right_on="argument", suffix="_second")
    key = ["label", "kind", "kind_second"]
    pairs = ours.select("row", *key).join(pairs, on=key)
    overlap = pl.col("overlap") * pl.col("overlap_second")
    return pairs.select("row", "row_system", overlap=overlap).sort("row", "row_system")
