"""Relations of both sides, and how alike two of them are.

Two relations are alike where their labels are equal, as much as the product of their arguments. An
argument of the reference stands for all entities that are equivalent to it: the best one counts.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import polars as pl

from hlteval.representation import Corpus, effective_fillers
from hlteval.scoring.biotope.entities import Fragments, overlaps, shared_characters
from hlteval.scoring.matching import equivalence_classes


@dataclass(frozen=True)
class Roles:
    """The roles of relations: that of the microorganism, and those of where it lives or the like.

    Attributes:
        first: the role of the microorganism.
        second: the other roles.
    """

    first: str
    second: tuple[str, ...]


def relations(corpus: Corpus, given: Corpus, roles: Roles) -> pl.DataFrame:
    """The relations of a corpus that have both arguments.

    Args:
        corpus: of either side.
        given: the corpus with the entities that come with the task; of a reference, itself.
        roles: of the arguments.

    Returns:
        A row per relation: `document`, `row`, `item`, `label`, the arguments as `first` and
        `second` (the kind and the row of the entity) and as `target` and `target_second` (its
        identifier), `location` (the label of the second), and both arguments as `text`.
    """
    filled = effective_fillers(corpus, given).drop_nulls("filler_row")
    key = pl.format("{} {}", "filler", "filler_row")
    sides = (
        filled.filter(pl.col("role").is_in(wanted)).select(
            "frame_row", key.alias(name), target="target", location="filler_label"
        )
        for name, wanted in (("first", (roles.first,)), ("second", roles.second))
    )
    first, second = (rows.unique("frame_row", keep="first", maintain_order=True) for rows in sides)
    frames = corpus.frames.select("document", "label", frame_row="row", item="frame")
    rows = frames.join(first.drop("location"), on="frame_row", maintain_order="left")
    rows = rows.join(second, on="frame_row", suffix="_second", maintain_order="left")
    text = pl.format("{}, {}", "target", "target_second")
    names = ("document", "item", "label", "first", "second", "location", "target", "target_second")
    return rows.select(*names, row="frame_row", text=text)


def equivalents(reference: Corpus) -> pl.DataFrame:
    """The entities of a reference with what they are equivalent to.

    Returns:
        `document`, `row` of the entity, its `kind` (equal for equivalent ones), and the number of
        these, itself included, as `count`.
    """
    classes = equivalence_classes(reference.groups)
    rows = reference.mentions.select("document", "row", target="mention")
    rows = rows.join(classes, on=["document", "target"], how="left", maintain_order="left")
    kind = pl.coalesce("representative", "target")
    rows = rows.select("document", "row", kind=kind)
    return rows.with_columns(count=pl.len().over("document", "kind").cast(pl.Int64))


def alike_entities(
    reference: Corpus,
    system: Corpus,
    given: Corpus,
    shared: Callable[[Fragments, Fragments], int] | None = shared_characters,
) -> pl.DataFrame:
    """How alike the entities of a system are to classes of equivalent ones of the reference.

    Args:
        reference: the reference.
        system: the system.
        given: the entities that come with the task.
        shared: counts the characters of two lists of fragments; None if all entities are given, and
            are only alike where they are the same or equivalent.

    Returns:
        `document`, `kind`, the entity of the system as `argument`, and the `overlap`.
    """
    classes = equivalents(reference)
    if shared is None:
        argument = pl.format("given {}", "row")
        return classes.select("document", "kind", argument=argument, overlap=pl.lit(1.0))
    ours, *theirs = (
        corpus.mentions.select(
            *("document", "label", "start", "end", "row"),
            fragments=pl.coalesce("fragments", pl.concat_list(pl.struct("start", "end"))),
            argument=pl.format(name + " {}", "row"),
        )
        for name, corpus in (("", reference), ("given", given), ("mention", system))
    )
    both = pl.concat(theirs).with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
    pairs = overlaps(ours, both, ["document", "label"], shared)
    named = pairs.join(classes, on="row").join(
        both.select("argument", row_system="row"), "row_system"
    )
    key = ["document", "kind", "argument"]
    return named.group_by(key).agg(pl.col("overlap").max())


def candidates(
    ours: pl.DataFrame, theirs: pl.DataFrame, classes: pl.DataFrame, alike: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The relations that are alike at all, and how many equivalent forms each has.

    Args:
        ours: the relations of the reference.
        theirs: those of the system.
        classes: of its entities, as `equivalents`.
        alike: as `alike_entities`.

    Returns:
        `row`, `row_system`, `overlap`; and the relations of the reference: `row`, and the number of
        entities that its arguments stand for, `count` and `count_second`.
    """
    known = classes.select("kind", "count", argument=pl.format("given {}", "row"))
    named = ours.join(known, left_on="first", right_on="argument", maintain_order="left")
    named = named.join(
        known, left_on="second", right_on="argument", suffix="_second", maintain_order="left"
    )
    wanted = named.select("document", "row", "label", "kind", "kind_second")
    first = alike.rename({"argument": "first"})
    second = alike.rename(
        {"kind": "kind_second", "argument": "second", "overlap": "overlap_second"}
    )
    found = wanted.join(first, on=["document", "kind"]).join(second, on=["document", "kind_second"])
    some = theirs.select("document", "label", "first", "second", row_system="row")
    found = found.join(some, on=["document", "label", "first", "second"])
    overlap = pl.col("overlap") * pl.col("overlap_second")
    pairs = found.select("row", "row_system", overlap=overlap).sort("row", "row_system")
    return pairs, named.select("row", "count", "count_second")


def inside(
    rows: pl.DataFrame, corpora: Sequence[tuple[str, Corpus]], sentences: pl.DataFrame
) -> Collection[int]:
    """The relations whose arguments lie in no more than one sentence.

    An argument that no sentence holds completely counts as being in none; a document without
    sentences counts as one sentence.

    Args:
        rows: the relations.
        corpora: the entities, by the kinds of arguments.
        sentences: the segments of the reference.
    """
    places = pl.concat(
        corpus.mentions.select("document", "start", "end", argument=pl.format(name + " {}", "row"))
        for name, corpus in corpora
    )
    within = places.join(sentences.select("document", "start", "end", "row"), on="document").filter(
        pl.col("start") >= pl.col("start_right"), pl.col("end") <= pl.col("end_right")
    )
    of = [rows.select(relation="row", argument=name) for name in ("first", "second")]
    found = (
        pl.concat(of).join(within, on="argument").group_by("relation").agg(pl.col("row").n_unique())
    )
    across = found.filter(pl.col("row") > 1)["relation"]
    return rows.filter(~pl.col("row").is_in(across.implode()))["row"].to_list()
