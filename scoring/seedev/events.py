"""Events as they are compared: keys that are equal exactly where two things count as the same.

The arguments of an event are annotations. Which of them are the same is a matter of the task: that
is what `Sameness` says. Everything here is columns; an event's `row` is that of `frames`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from hlteval.representation import SEPARATOR, Corpus, effective_fillers, frame_keys, items, numbers

#: Begins the key of an event that is known by what it says.
_SAYS = "\x1e"


@dataclass(frozen=True, slots=True)
class Sameness:
    """When two fillers of a role are the same.

    Entities are the same by identifier. Of events as fillers, `content` takes those as the same
    that have the same type and the same mandatory arguments, `shape` those of the same type and
    mandatory roles, and `never` none. By content, events that are the same are one thing, as
    entities are; else the events of either side are things of their own. With `equivalences`,
    members of one equivalence of the reference are the same.
    """

    events: Literal["content", "shape", "never"] = "content"
    equivalences: bool = True


@dataclass(frozen=True)
class Side:
    """The events of one side, reference or system, ready to be compared.

    Attributes:
        events: a row per event, in document order: `document`, `row`, `frame`, `label`, `negated`.
        arguments: the arguments that count (of a repeated role the last): `frame_row`, `label`,
            `role`, `target`, `key` (equal where fillers are the same), `thing` (equal where they
            are one object), and the `filler` with its `filler_label` and `filler_row`.
    """

    events: pl.DataFrame
    arguments: pl.DataFrame


def side(
    corpus: Corpus,
    given: Corpus,
    name: str,
    sameness: Sameness,
    conditions: tuple[str, ...] = (),
    commutative: frozenset[str] = frozenset(),
) -> Side:
    """One side of a comparison.

    Args:
        corpus: its annotations.
        given: the reference, which holds the given mentions and the equivalences.
        name: tells the objects of this side from those of the other.
        sameness: when fillers are the same.
        conditions: the optional roles.
        commutative: the types whose arguments may change places.
    """
    arguments = effective_fillers(corpus, given).with_columns(key="target", thing="target")
    if (arguments["filler"] != "given").fill_null(True).any():
        arguments = arguments.with_columns(key=_entity_key(name), thing=_entity_key(name))
    if sameness.equivalences and given.groups.height:
        arguments = _merged(arguments, equivalence_classes(given.groups))
    if (arguments["filler"] == "frame").any():
        arguments = _event_keys(arguments, sameness, conditions, commutative)
    if sameness.events == "content":
        arguments = arguments.with_columns(thing="key")
    columns = (
        "document",
        "frame_row",
        "label",
        "role",
        "target",
        "key",
        "thing",
        "filler",
        "filler_label",
        "filler_row",
    )
    return Side(_events(corpus, items(corpus, given)), arguments.select(columns))


def _entity_key(name: str) -> pl.Expr:
    """Given mentions are the same objects on both sides; whatever else there is belongs to one."""
    own = pl.format(
        f"{name}{SEPARATOR}{{}}", pl.coalesce(pl.format("{} {}", "filler", "filler_row"), "row")
    )
    return pl.when(pl.col("filler") == "given").then("target").otherwise(own)


def _merged(arguments: pl.DataFrame, classes: pl.DataFrame) -> pl.DataFrame:
    joined = arguments.join(classes, on=["document", "target"], how="left", maintain_order="left")
    given = pl.col("filler") == "given"
    key = pl.when(given).then(pl.coalesce("representative", "key")).otherwise("key")
    return joined.with_columns(key=key).drop("representative")


def equivalence_classes(groups: pl.DataFrame) -> pl.DataFrame:
    """The representative of each member of an equivalence: `document`, `target`, `representative`.

    Equivalences that share a member are one.

    Examples:
        >>> rows = {"document": 0, "group": ["1", "1", "2", "2"], "member": ["A", "B", "B", "C"]}
        >>> equivalence_classes(pl.DataFrame(rows))["representative"].to_list()
        ['A', 'A', 'A']
    """
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def root(item: tuple[int, str]) -> tuple[int, str]:
        while parent.setdefault(item, item) != item:
            item = parent[item]
        return item

    first: dict[tuple[int, str], tuple[int, str]] = {}
    for document, group, member in groups.select("document", "group", "member").iter_rows():
        head = first.setdefault((document, group), (document, member))
        parent[root((document, member))] = root(head)
    rows = [(document, member, root((document, member))[1]) for document, member in list(parent)]
    schema = {"document": pl.Int64, "target": pl.String, "representative": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _event_keys(
    arguments: pl.DataFrame,
    sameness: Sameness,
    conditions: tuple[str, ...],
    commutative: frozenset[str],
) -> pl.DataFrame:
    """Give the fillers that are events the key that their sameness says."""
    if sameness.events == "never":
        return arguments
    pending = pl.col("filler") == "frame"
    core = arguments.filter(~pl.col("role").is_in(conditions))
    if sameness.events == "shape":
        contents = core.sort("frame_row", "role").group_by(
            filler_row="frame_row", maintain_order=True
        )
        shape = contents.agg(
            content=pl.col("label").first() + SEPARATOR + pl.col("role").str.join(SEPARATOR)
        )
        return _replaced(arguments, shape, pending)
    # From the inside out: an event has a key once its own fillers have theirs. What is left in the
    # end refers to itself, and stays an object of its own.
    inner = pl.col("frame_row").is_in(arguments.filter(pending)["filler_row"].implode())
    while True:
        waiting = arguments.filter(pending & ~pl.col("role").is_in(conditions) & ~_resolved())
        ready = arguments.filter(inner, ~pl.col("role").is_in(conditions))
        ready = ready.join(waiting.select("frame_row"), on="frame_row", how="anti")
        content = _said(ready, commutative)
        following = _replaced(arguments, content, pending)
        if following["key"].equals(arguments["key"]):
            return following
        arguments = following


def _said(arguments: pl.DataFrame, commutative: frozenset[str]) -> pl.DataFrame:
    """What events say, as `content`: their type and their arguments, in a canonical order."""
    value = pl.concat_str(_shown(commutative), "key", separator=SEPARATOR)
    content = pl.col("label").first() + SEPARATOR + value.sort().str.join(SEPARATOR)
    return arguments.group_by(filler_row="frame_row").agg(content=content)


def _resolved() -> pl.Expr:
    return pl.col("key").str.starts_with(_SAYS)


def _replaced(arguments: pl.DataFrame, contents: pl.DataFrame, pending: pl.Expr) -> pl.DataFrame:
    joined = arguments.join(
        contents.select("filler_row", "content"), on="filler_row", how="left", maintain_order="left"
    )
    known = (
        pl.when(pending)
        .then(pl.coalesce(pl.lit(_SAYS) + pl.col("content"), "key"))
        .otherwise("key")
    )
    return joined.with_columns(key=known).drop("content")


def keys(
    sides: Sequence[pl.DataFrame], commutative: frozenset[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The key of each event: its type and its arguments, whatever their order.

    Args:
        sides: of either side, the arguments that belong to the key.
        commutative: the types whose arguments may change places: there, roles are left out.

    Returns:
        For either side a row per event: `document`, `row` and its `core`, a number.
    """
    columns = ("document", "frame_row", "label", "key")
    left, right = (one.select(*columns, role=_shown(commutative)) for one in sides)
    other = 1 + (left["frame_row"].max() or 0)  # type: ignore[operator]
    both = pl.concat([left, right.with_columns(pl.col("frame_row") + other)])
    both = both.with_columns(value=numbers(both.select("label", "role", "key")))
    found = frame_keys(both, ["document"]).select("document", row="frame_row", core="content")
    ours = pl.col("row") < other
    return found.filter(ours), found.filter(~ours).with_columns(pl.col("row") - other)


def _shown(commutative: frozenset[str]) -> pl.Expr:
    """The role as it is compared."""
    free = pl.col("label").is_in(commutative)
    return pl.when(free).then(pl.lit("")).otherwise("role") if commutative else pl.col("role")


def _events(corpus: Corpus, known: pl.DataFrame) -> pl.DataFrame:
    modifiers = corpus.modifiers.select("document", "label", "target")
    negations = modifiers.filter(pl.col("label") == "Negation")
    targets = negations.join(known, on=["document", "target"]).filter(pl.col("filler") == "frame")
    negated = pl.col("row").is_in(targets["filler_row"].implode())
    return corpus.frames.select("document", "row", "record", "frame", "label", negated=negated)


def others(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    """Annotations other than events: `document`, `row`, `label`, and the identifier as `other`.

    These are text spans, modifiers, records that could not be read but for lines without a tab and
    equivalences, and the placeholder of an undefined identifier. None of them has a row.

    Args:
        corpus: of either side.
        given: the reference, whose text spans of .a1 files are annotations of neither side.
    """
    unread = corpus.rejected_records.filter(
        pl.col("code") != "STD101", ~pl.col("kind").is_in(["group", "given"])
    )
    mentions = corpus.mentions
    if corpus is given:
        asked = corpus.sources.filter(pl.col("member").str.ends_with(".a2"))["row"]
        mentions = mentions.filter(pl.col("origin").is_in(asked.implode()).fill_null(value=False))
    known = items(corpus, given).select("document", "target")
    references = pl.concat(
        rows.select("document", "target") for rows in (corpus.arguments, corpus.modifiers)
    )
    dummies = references.unique(maintain_order=True)
    dummies = dummies.join(known, on=["document", "target"], how="anti", maintain_order="left")
    return pl.concat(
        [
            mentions.select("document", "label", other="mention"),
            corpus.modifiers.select("document", "label", other="modifier"),
            unread.select("document", "label", other="id"),
            dummies.select("document", label=pl.lit("DUMMY"), other="target"),
        ]
    ).with_columns(pl.col("label").fill_null(""), row=pl.lit(None, pl.Int64))


# Which events lie inside one sentence.


def inside(one: Side, given: Corpus) -> Side:
    """The events of a side whose entities lie in no more than one sentence.

    An entity that no sentence holds completely counts as being in none; a document without
    sentences counts as one sentence.

    Args:
        one: the side.
        given: the corpus with the given mentions, and with the sentences as its segments.
    """
    if given.segments.is_empty():
        return one
    sentences = given.segments.select("document", "start", sentence="row", sentence_end="end")
    spans = given.mentions.select("document", "start", "end", filler_row="row").sort(
        "document", "start"
    )
    placed = spans.join_asof(
        sentences.sort("document", "start"), on="start", by="document", check_sortedness=False
    )
    placed = placed.filter(pl.col("end") <= pl.col("sentence_end")).select("filler_row", "sentence")
    entities = _entities(one).join(placed, on="filler_row")
    sentences_of = entities.group_by("frame_row").agg(pl.col("sentence").n_unique())
    across = sentences_of.filter(pl.col("sentence") > 1)["frame_row"].implode()
    return Side(
        one.events.filter(~pl.col("row").is_in(across)),
        one.arguments.filter(~pl.col("frame_row").is_in(across)),
    )


def _entities(one: Side) -> pl.DataFrame:
    """The given mentions of each event, those of events that are its arguments included."""
    entities = (
        one.arguments.filter(pl.col("filler") == "given").select("frame_row", "filler_row").unique()
    )
    nested = one.arguments.filter(pl.col("filler") == "frame").select(
        "frame_row", inner="filler_row"
    )
    while True:
        reached = nested.join(entities, left_on="inner", right_on="frame_row").select(
            "frame_row", "filler_row"
        )
        both = pl.concat([entities, reached]).unique()
        if both.height == entities.height:
            return entities
        entities = both
