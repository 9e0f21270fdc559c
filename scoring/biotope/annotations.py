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
    values = corpus.modifiers.drop_nulls("value")
    groups = values.group_by("document", item="target", scheme="label")
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
    every = pairs.select(*sides, at=pl.int_range(pl.len()))
    for side in sides:
        every = every.explode(side)
    last, first = (
        by(*(pl.col(side).struct.field(name) for side in sides))
        for by, name in ((pl.min_horizontal, "end"), (pl.max_horizontal, "start"))
    )
    shared = every.select("at", shared=(last - first).clip(0))
    return shared.group_by("at", maintain_order=True).sum()["shared"]


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
    part = pl.element().struct
    size = pl.col("fragments").list.eval(part.field("end") - part.field("start")).list.sum()
    ours, theirs = (side.with_columns(size=size) for side in (ours, theirs))
    theirs = theirs.drop(by).rename(lambda name: f"{name}_system")
    pairs = pl.concat([ours[rows], theirs[matches]], how="horizontal")
    common = shared(pairs)
    share = common / (pairs["size"] + pairs["size_system"] - common)
    return pairs.with_columns(overlap=share).filter(pl.col("overlap") > 0).sort("row", "row_system")


def relations(corpus: Corpus, given: Corpus, roles: Sequence[str]) -> pl.DataFrame:
    """The relations of a corpus.

    Args:
        corpus: of either side.
        given: the corpus with the entities that come with the task; of a reference, itself.
        roles: the role of the first argument, and then those of the second.

    Returns:
        A row per relation: `document`, `row`, `item`, `label`; the kind and the row of the entities
        of both arguments as `argument` and `argument_second`, null where it has none, their
        identifiers as `target`, `target_second` and `text`, and the label of the second as
        `location`.
    """
    rows = corpus.frames.select("document", "row", "label", item="frame")
    filled = effective_fillers(corpus, given).drop_nulls("filler_row").select(
        "role", "target", row="frame_row", argument=pl.format("{} {}", "filler", "filler_row"),
        location="filler_label",
    )  # fmt: skip
    for names in (roles[:1], roles[1:]):
        own = filled.filter(pl.col("role").is_in(names)).drop("role")
        own = own.unique("row", keep="first", maintain_order=True)
        rows = rows.join(own, on="row", how="left", suffix="_second", maintain_order="left")
    text = pl.format("{}, {}", "target", "target_second")
    return rows.drop("location").rename({"location_second": "location"}).with_columns(text=text)


def arguments(corpus: Corpus, kind: str) -> pl.DataFrame:
    """The entities of a corpus as arguments: `places`, and their kind and row as `argument`."""
    return places(corpus.mentions, pl.format(f"{kind} {{}}", "row").alias("argument"))


def with_places(
    rows: pl.DataFrame, every: Sequence[pl.DataFrame], reference: Corpus
) -> pl.DataFrame:
    """Relations with whether their arguments are `inside` of a sentence.

    Args:
        rows: the relations.
        every: the entities, as `arguments`.
        reference: its segments are the sentences.
    """
    place = pl.concat(every).select("document", "start", "end", "argument")
    sides = [rows.select("row", argument=name) for name in ("argument", "argument_second")]
    found = pl.concat(sides).join(place, on="argument")
    outside = across_sentences(found, reference.segments)
    return rows.with_columns(inside=~pl.col("row").is_in(outside.implode()))


def kinds(reference: Corpus) -> pl.DataFrame:
    """The entities of a reference: `argument`, `kind` (equal for equivalent ones) and `count`."""
    rows = reference.mentions.select("document", "row", target="mention")
    key = ["document", "target"]
    rows = rows.join(equivalence_classes(reference.groups), on=key, how="left")
    kind = pl.format("{} {}", "document", pl.coalesce("representative", "target"))
    named = rows.select(argument=pl.format("given {}", "row"), kind=kind)
    return named.with_columns(count=pl.len().over("kind").cast(pl.Int64))


def with_kinds(ours: pl.DataFrame, classes: pl.DataFrame) -> pl.DataFrame:
    """Relations of a reference with the `kinds` of both arguments, the second with `_second`."""
    second = classes.rename({name: f"{name}_second" for name in classes.columns})
    ours = ours.join(classes, on="argument", how="left", maintain_order="left")
    return ours.join(second, on="argument_second", how="left", maintain_order="left")


def alike_relations(ours: pl.DataFrame, theirs: pl.DataFrame, alike: pl.DataFrame) -> pl.DataFrame:
    """The relations that are alike at all: `row`, `row_system`, and the `overlap`.

    Args:
        ours: the relations of the reference, `with_kinds`.
        theirs: those of the system.
        alike: the `kind` of entities of the reference, the entity of the system as `argument`, and
            how much they `overlap`.
    """
    alike = alike.group_by("kind", "argument").agg(pl.col("overlap").max())
    second = alike.rename({name: f"{name}_second" for name in alike.columns})
    rows = ours.select("row", "label", "kind", "kind_second").join(alike, on="kind")
    some = theirs.select("label", "argument", "argument_second", row_system="row")
    key = ["label", "argument", "argument_second"]
    pairs = rows.join(second, on="kind_second").join(some, on=key)
    overlap = pl.col("overlap") * pl.col("overlap_second")
    return pairs.select("row", "row_system", overlap=overlap).sort("row", "row_system")
