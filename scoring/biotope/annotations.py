"""Entities with their referents and relations of both sides, and which of them are alike.

Two entities are alike as much as the share of the characters of either that both have. Two
relations of a label are alike as much as the product of that of their arguments: an argument of the
reference stands for all entities that are equivalent to it, of which the best counts.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

import polars as pl

from hlteval.representation import Corpus, effective_fillers
from hlteval.scoring.instance_detection import overlap_pairs
from hlteval.scoring.matching import equivalence_classes
from hlteval.scoring.ontologies import Ontology
from hlteval.scoring.pairings import across_sentences, of_system

#: Between the referents of an entity, which are sorted and there once.
SEPARATOR = "\x1f"
SCHEMES = TAXONOMY, ONTOLOGY = "NCBI_Taxonomy", "OntoBiotope"
#: How many characters the entities of pairs share.
Count = Callable[[pl.DataFrame], pl.Series]


class ReferentOntology(Ontology):
    """The similarity of referents, of which one that the ontology lacks is right nowhere."""

    of_unknown: ClassVar[float] = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """A note where there is no ontology."""
        text = "Without --ontology, referents are right only if they are equal."
        return () if self.parents is not None else (text,)


def places(mentions: pl.DataFrame, *columns: str | pl.Expr) -> pl.DataFrame:
    """Entities as they are compared: `document`, `row`, `label`, `start`, `end` and `fragments`."""
    whole = pl.concat_list(pl.struct("start", "end"))
    fragments = pl.coalesce("fragments", whole).alias("fragments")
    return mentions.select("document", "row", "label", "start", "end", fragments, *columns)


def referents(corpus: Corpus) -> pl.DataFrame:
    """The referents of a corpus: `document`, `target`, the `scheme`, and the `referent`."""
    rows = corpus.modifiers.drop_nulls("value")
    return rows.select("document", "target", scheme="label", referent="value")


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
    key = ["document", "target", "scheme"]
    each = pl.col("referent").unique().sort().str.join(SEPARATOR)
    named = referents(corpus).group_by(key).agg(referents=each, several=pl.len() > 1)
    scheme = pl.when(pl.col("label").is_in(taxa)).then(pl.lit(TAXONOMY)).otherwise(pl.lit(ONTOLOGY))
    rows = places(mentions, "text", pl.col("mention").alias("target"), scheme.alias("scheme"))
    rows = rows.join(named, on=key, how="left", maintain_order="left").drop("scheme")
    rows = rows.with_columns(pl.col("referents").fill_null(""), pl.col("several").fill_null(False))
    return rows.rename({"target": "item"})


def overlaps(
    ours: pl.DataFrame, theirs: pl.DataFrame, by: Sequence[str], count: Count
) -> pl.DataFrame:
    """The pairs of entities that share characters.

    Args:
        ours: of the reference, as `places`.
        theirs: of the system, likewise.
        by: the columns that are equal.
        count: of the characters that pairs share, those that count.

    Returns:
        The columns of both, those of the system with `_system`; how many characters are `shared`;
        and the `overlap`: the share of the characters of either that both have.
    """
    left, right = (
        rows.select(*by, "row", "fragments").explode("fragments").unnest("fragments")
        for rows in (ours, theirs)
    )
    at, at_system, shared = overlap_pairs(left, right, by)
    rows = {"row": left["row"][at], "row_system": right["row"][at_system], "shared": shared}
    pairs = pl.DataFrame(rows).group_by("row", "row_system").agg(pl.col("shared").sum())
    pairs = pairs.join(ours, on="row").join(of_system(theirs.drop(by)), on="row_system")
    part, common = pl.element().struct, count(pairs)
    sizes = pl.col("^fragments.*$").list.eval(part.field("end") - part.field("start")).list.sum()
    either = pairs.select(sizes).sum_horizontal() - common
    pairs = pairs.with_columns(overlap=common / either).filter(pl.col("overlap") > 0)
    return pairs.sort("row", "row_system")


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
    return rows.with_columns(kind=kind, count=pl.len().over(kind).cast(pl.Int64))


def relations(
    reference: Corpus, given: Corpus, system: Corpus, roles: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The relations of both sides.

    Args:
        reference: the reference; its segments are the sentences.
        given: the same, with the entities that come with the task alone.
        system: the system.
        roles: the role of the first argument, and then those of the second.

    Returns:
        Of either side a row per relation: `document`, `row`, `item`, `label`; of both arguments the
        `argument`, its `target`, `kind` and `count`, null where it has none, with `_second`; the
        targets as `text`; the label of the second as `location`, and whether both are `inside` a
        sentence.
    """
    known = pl.concat([arguments(reference, "given"), arguments(system, "mention")])
    known = known.select("document", "start", "end", "argument", "kind", "count")
    sides = []
    for corpus, source in ((reference, reference), (system, given)):
        filled = effective_fillers(corpus, source).drop_nulls("filler_row").select(
            "role", "target", row="frame_row", argument=pl.format("{} {}", "filler", "filler_row"),
            location="filler_label", first=pl.col("role") == roles[0],
        ).filter(pl.col("role").is_in(roles))  # fmt: skip
        filled = filled.join(known, on="argument", how="left", maintain_order="left")
        filled = filled.unique(["row", "first"], keep="first", maintain_order=True)
        rows = corpus.frames.select("document", "row", "label", item="frame")
        for first in (True, False):
            end = filled.filter(first=first).drop("document", "start", "end", "role", "first")
            rows = rows.join(end, on="row", how="left", suffix="_second", maintain_order="left")
        across = across_sentences(filled.drop_nulls("start"), reference.segments).implode()
        text = pl.format("{}, {}", "target", "target_second")
        inside = ~pl.col("row").is_in(across)
        sides.append(rows.with_columns(location="location_second", text=text, inside=inside))
    return sides[0], sides[1]


def alike_arguments(reference: Corpus, given: Corpus, system: Corpus, count: Count) -> pl.DataFrame:
    """The arguments that are alike: each with itself alone, if the task gives all of them.

    Args:
        reference: the reference.
        given: the same, with the entities that come with the task alone.
        system: the system.
        count: as that of `overlaps`.

    Returns:
        The `kind` of entities of the reference, the entity of the system as `argument`, and how
        much they `overlap`.
    """
    gold = arguments(reference, "given")
    if given is reference:
        return gold.select("kind", "argument", overlap=pl.lit(1.0))
    found = pl.concat([arguments(given, "given"), arguments(system, "mention")])
    near = overlaps(gold, found, ["document", "label"], count)
    return near.select("kind", "overlap", argument="argument_system")


def alike_relations(ours: pl.DataFrame, theirs: pl.DataFrame, alike: pl.DataFrame) -> pl.DataFrame:
    """The relations that are alike at all: `row`, `row_system`, and the `overlap`.

    Args:
        ours: the relations of the reference.
        theirs: those of the system.
        alike: as from `alike_arguments`.
    """
    alike = alike.group_by("kind", "argument").agg(pl.col("overlap").max())
    pairs = theirs.select("label", "argument", "argument_second", row_system="row")
    pairs = pairs.join(alike, on="argument")
    pairs = pairs.join(alike, left_on="argument_second", right_on="argument", suffix="_second")
    key = ["label", "kind", "kind_second"]
    pairs = ours.select("row", *key).join(pairs, on=key)
    overlap = pl.col("overlap") * pl.col("overlap_second")
    return pairs.select("row", "row_system", overlap=overlap).sort("row", "row_system")
