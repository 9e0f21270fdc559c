"""Events as they are compared: keys that are equal exactly where two things count as the same.

The arguments of an event are annotations. Which of them are the same is a matter of the task: that
is what `Comparison` says. Everything here is columns; an event's `row` is that of `frames`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from hlteval.representation import SEPARATOR, Corpus, effective_fillers, frame_keys, items, numbers
from hlteval.scoring.matching import equivalence_classes
from hlteval.scoring.pairings import across_sentences

#: Begins the key of an event that is known by its content.
_CONTENT = "\x1e"
_NESTED, _GIVEN = pl.col("filler") == "frame", pl.col("filler") == "given"


@dataclass(frozen=True)
class Comparison:
    """When two events, or two fillers of a role, are the same.

    Entities are the same by identifier, or as members of one equivalence of the reference. Events
    as fillers are the same if they have the same type and the same mandatory arguments.

    Attributes:
        conditions: the optional roles; without them similarity is 0 or 1.
        nested: whether events as fillers are compared at all.
        roles: of each type the mandatory roles, and those of which one is needed, if the official
            software of SeeDev-full is followed: it compares events by type and roles, whatever
            fills these, knows no equivalences, and pairs greedily.
    """

    conditions: tuple[str, ...] = ()
    nested: bool = True
    roles: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] | None = None


@dataclass(frozen=True)
class Side:
    """The events of one side, reference or system, ready to be compared.

    Attributes:
        events: a row per event, in document order: `document`, `row`, `frame`, `label`, `negated`.
        arguments: the arguments that count (of a repeated role the last): `document`, `frame_row`,
            `label`, `role`, `target`, `key` (equal where fillers are the same), `thing` (equal
            where they are one object), and the `filler` with its `filler_label` and `filler_row`.
    """

    events: pl.DataFrame
    arguments: pl.DataFrame


def side(
    corpus: Corpus,
    given: Corpus,
    name: str,
    comparison: Comparison,
    commutative: frozenset[str] = frozenset(),
) -> Side:
    """One side of a comparison.

    Given mentions are the same objects on both sides; whatever else there is belongs to one side.
    Events of the same content are one object, as entities are; by roles, each is its own.

    Args:
        corpus: its annotations.
        given: the reference, which holds the given mentions and the equivalences.
        name: tells the objects of this side from those of the other.
        comparison: when fillers are the same.
        commutative: the types whose arguments may change places.
    """
    arguments = effective_fillers(corpus, given).with_columns(key="target")
    if (arguments["filler"] != "given").fill_null(True).any():
        item = pl.coalesce(pl.format("{} {}", "filler", "filler_row"), "row")
        unshared = pl.format(f"{name}{SEPARATOR}{{}}", item)
        arguments = arguments.with_columns(key=pl.when(_GIVEN).then("target").otherwise(unshared))
    if given.groups.height and not comparison.roles:
        classes = equivalence_classes(given.groups)
        key = ["document", "target"]
        merged = arguments.join(classes, on=key, how="left", maintain_order="left")
        same = pl.when(_GIVEN).then(pl.coalesce("representative", "key")).otherwise("key")
        arguments = merged.with_columns(key=same)
    objects = arguments["key"]
    if comparison.nested and (arguments["filler"] == "frame").any():
        arguments = _nested_keys(arguments, comparison, commutative)
    things = objects if comparison.roles else arguments["key"]
    negations = corpus.modifiers.filter(label="Negation").select("document", "target")
    modified = negations.join(items(corpus, given), on=["document", "target"]).filter(_NESTED)
    negated = pl.col("row").is_in(modified["filler_row"].implode())
    return Side(
        corpus.frames.select("document", "row", "frame", "label", negated=negated),
        arguments.select(
            *("document", "frame_row", "label", "role", "target", "key", things.alias("thing")),
            *("filler", "filler_label", "filler_row"),
        ),
    )


def _nested_keys(
    arguments: pl.DataFrame, comparison: Comparison, commutative: frozenset[str]
) -> pl.DataFrame:
    """Give fillers that are events their content as key: type and mandatory arguments, or roles.

    This goes from the inside out: an event has its content once its own fillers have theirs. What
    is left in the end refers to itself, and stays an object of its own.
    """
    mandatory = ~pl.col("role").is_in(comparison.conditions)
    argument = pl.concat_str(_compared_role(commutative), "key", separator=SEPARATOR)
    known = pl.col("key").str.starts_with(_CONTENT)
    if comparison.roles:
        argument, known = pl.col("role"), pl.lit(value=True)
    content = _CONTENT + pl.col("label").first() + SEPARATOR
    content += argument.sort().str.join(SEPARATOR)
    inner = pl.col("frame_row").is_in(arguments.filter(_NESTED)["filler_row"].implode())
    while True:
        waiting = arguments.filter(_NESTED & mandatory & ~known)
        ready = arguments.filter(inner, mandatory).join(waiting, on="frame_row", how="anti")
        contents = ready.group_by(filler_row="frame_row").agg(content=content)
        joined = arguments.join(contents, on="filler_row", how="left", maintain_order="left")
        key = pl.when(_NESTED).then(pl.coalesce("content", "key")).otherwise("key")
        following = joined.with_columns(key=key).drop("content")
        if following["key"].equals(arguments["key"]):
            return following
        arguments = following


def _compared_role(commutative: frozenset[str]) -> pl.Expr:
    """The role, but of a commutative type none."""
    return pl.when(pl.col("label").is_in(commutative)).then(pl.lit("")).otherwise("role")


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
    left, right = (rows.select(*columns, role=_compared_role(commutative)) for rows in sides)
    offset = 1 + (left["frame_row"].max() or 0)  # type: ignore[operator]
    both = pl.concat([left, right.with_columns(pl.col("frame_row") + offset)])
    both = both.with_columns(value=numbers(both.select("label", "role", "key")))
    cores = frame_keys(both, ["document"]).select("document", row="frame_row", core="content")
    of_left = pl.col("row") < offset
    return cores.filter(of_left), cores.filter(~of_left).with_columns(pl.col("row") - offset)


def inside(events: Side, given: Corpus) -> Side:
    """The events of a side whose entities lie in no more than one sentence.

    The entities of an event that is an argument count, too. An entity that no sentence holds
    completely counts as being in none; a document without sentences counts as one sentence.

    Args:
        events: the side.
        given: the corpus with the given mentions, and with the sentences as its segments.
    """
    if given.segments.is_empty():
        return events
    filled = events.arguments.select("filler", "frame_row", "filler_row")
    entities = filled.filter(_GIVEN).select("frame_row", "filler_row").unique()
    nested = filled.filter(_NESTED).select(outer="frame_row", frame_row="filler_row")
    size = -1
    while entities.height > size:
        size = entities.height
        reached = nested.join(entities, on="frame_row").select("filler_row", frame_row="outer")
        entities = pl.concat([entities, reached.select(entities.columns)]).unique()
    mentions = given.mentions.select("document", "start", "end", filler_row="row")
    places = entities.join(mentions, on="filler_row").rename({"frame_row": "row"})
    across = across_sentences(places, given.segments).implode()
    return Side(
        events.events.filter(~pl.col("row").is_in(across)),
        events.arguments.filter(~pl.col("frame_row").is_in(across)),
    )


def others(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    """Annotations other than events: `document`, `row`, `label`, and the identifier as `other`.

    These are text spans, modifiers, records that could not be read but for lines without a tab and
    equivalences, and the placeholder of an undefined identifier. None of them has a row.

    Args:
        corpus: of either side.
        given: the reference, whose text spans of .a1 files are annotations of neither side.
    """
    other_kind = ~pl.col("kind").is_in(["group", "given"])
    unread = corpus.rejected_records.filter(pl.col("code") != "STD101", other_kind)
    mentions = corpus.mentions
    if corpus is given:
        asked = corpus.sources.filter(pl.col("member").str.ends_with(".a2"))["row"]
        mentions = mentions.filter(pl.col("origin").is_in(asked.implode()).fill_null(value=False))
    known = items(corpus, given).select("document", "target")
    references = [rows.select(known.columns) for rows in (corpus.arguments, corpus.modifiers)]
    dangling = pl.concat(references).unique(maintain_order=True)
    dangling = dangling.join(known, on=known.columns, how="anti", maintain_order="left")
    annotations = [
        mentions.select("document", "label", other="mention"),
        corpus.modifiers.select("document", "label", other="modifier"),
        unread.select("document", "label", other="id"),
        dangling.select("document", label=pl.lit("DUMMY"), other="target"),
    ]
    none = pl.lit(None, pl.Int64)
    return pl.concat(annotations).with_columns(pl.col("label").fill_null(""), row=none)
