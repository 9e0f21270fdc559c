"""What brat represents differently: entities as normalizations, places of events as triggers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from hlteval.converters.standoff.dialects import BRAT
from hlteval.converters.standoff.identifiers import fresh, identifiers
from hlteval.converters.toolkit.normalizations import (
    KNOWLEDGE_BASE,
    LABEL,
    entity_of,
    is_normalization,
)
from hlteval.representation import Corpus

_REFERENCE = r"^[^ \t\r\n\f\x0b\x00:]+:[^ \t\r\n\f\x0b\x00]+$"
_KEYS = ("document", "origin", "record")
#: The note on the trigger of an event that has none.
NOTE, PLACEHOLDER = "AnnotatorNotes", "placeholder: the event has no trigger"


def reference(entity: str) -> pl.Expr:
    """A column of entities as references: `Wikipedia:534366`, `KB:1000001`."""
    named = referring(entity) & ~pl.col(entity).str.starts_with(f"{KNOWLEDGE_BASE}:")
    word = pl.col(entity).str.replace_all(r"[ \t\r\n\f\x0b\x00]", "_")
    return pl.when(named).then(entity).otherwise(pl.format(KNOWLEDGE_BASE + ":{}", word))


def referring(value: str) -> pl.Expr:
    """Whether the values of a column name a resource and an entry in it."""
    return pl.col(value).str.contains(_REFERENCE)


def with_entities(corpus: Corpus) -> Corpus:
    """Normalizations of mentions as their entities: the first as the entity, others as `links`."""
    normalized = corpus.modifiers.filter(is_normalization())
    if normalized.is_empty():
        return corpus
    named = corpus.mentions.select("document", target="mention", mention_row="row")
    named = named.unique(["document", "target"], keep="first", maintain_order=True)
    found = normalized.join(named, on=["document", "target"], maintain_order="left")
    rank = pl.int_range(1, pl.len() + 1).over("mention_row")
    ranked = found.select(*_KEYS, "mention_row", rank=rank, entity=entity_of("value"))
    own = ranked.filter(pl.col("rank") == 1).select(row="mention_row", own="entity")
    mentions = corpus.mentions.join(own, on="row", how="left", maintain_order="left")
    links = ranked.filter(pl.col("rank") > 1).sort("mention_row", "rank")
    return corpus.replace(
        mentions=mentions.with_columns(entity="own").drop("own"),
        links=links.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64)),
    )


def with_references(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """Entities of mentions as normalizations, unless the mention has the same one already.

    Args:
        corpus: a corpus whose mentions have identifiers.
        counts: the counts of losses, which are updated.
    """
    own = corpus.mentions.filter(pl.col("entity").is_not_null())
    links = _candidates(corpus, own)
    counts["candidates without an entity"] += corpus.links.height - links.height
    entities = [
        own.select(*_KEYS, target="mention", rank=pl.lit(1, pl.Int64), entity="entity"),
        links.select(*_KEYS, target="mention", rank="rank", entity="entity"),
    ]
    wanted = pl.concat(entities).with_columns(value=reference("entity"))
    wrong = wanted.filter(
        pl.col("entity").str.contains(r"[ \t\r\n\f\x0b\x00]") | (pl.col("entity") == "")
    )
    counts["entity identifiers that are not a single word"] += wrong.height
    key = ["document", "target", "value"]
    wanted = wanted.join(corpus.modifiers.select(key), on=key, how="anti", maintain_order="left")
    if wanted.is_empty():
        return corpus
    wanted = wanted.sort("document", "origin", "record", "target", "rank", maintain_order=True)
    names = fresh(identifiers(corpus, "modifiers"), "N", wanted["document"])
    made = wanted.select(*_KEYS, "target", "value", modifier=names, label=pl.lit(LABEL))
    return corpus.replace(modifiers=_with(corpus.modifiers, made))


def _candidates(corpus: Corpus, own: pl.DataFrame) -> pl.DataFrame:
    """The other candidates of mentions with an entity, each with the place of its mention."""
    mentions = own.select("mention", *_KEYS, mention_row="row")
    links = corpus.links.drop(_KEYS).filter(pl.col("entity").is_not_null())
    return links.join(mentions, on="mention_row", maintain_order="left")


def _with(rows: pl.DataFrame, made: pl.DataFrame) -> pl.DataFrame:
    """A table with more rows, whose keys follow the existing ones."""
    last = rows.select(pl.col("row").max().fill_null(-1)).item()
    keyed = made.with_columns(row=pl.int_range(1, pl.len() + 1, dtype=pl.Int64) + last)
    return pl.concat([rows, keyed], how="diagonal")


def with_triggers(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """A new trigger for each event without a trigger of its own type.

    Its place is that of the trigger of another type, or of the first argument. An event that leads
    to no mention is left out. Events read from brat do not change. A note marks each trigger of an
    event that has none, so that it goes away on the way back (`without_placeholders`).

    Args:
        corpus: a corpus whose items have identifiers.
        counts: the counts of losses, which are updated.
    """
    own = corpus.sources.filter(pl.col("format") == BRAT.name)["row"].implode()
    written = pl.col("trigger").is_not_null() & pl.col("origin").is_in(own)
    events = corpus.frames.filter(pl.col("kind") == "event", ~written)
    spans = corpus.mentions.select("document", "label", trigger="mention")
    bare = events.join(
        spans, on=["document", "label", "trigger"], how="anti", maintain_order="left"
    )
    others = bare.height - bare["trigger"].null_count()
    counts["triggers of another type than the event"] += others
    counts["events without triggers"] += bare.height - others
    if bare.is_empty():
        return corpus
    placed = _places(corpus, bare)
    found = bare.join(placed, on="row", maintain_order="left")
    names = fresh(identifiers(corpus, "mentions"), "T", found["document"])
    made = found.select(*_KEYS, *("label", "start", "end", "fragments", "text"), mention=names)
    triggers = found.select("row", new=names)
    frames = corpus.frames.join(triggers, on="row", how="left", maintain_order="left")
    frames = frames.with_columns(trigger=pl.coalesce("new", "trigger")).drop("new")
    lost = bare.join(placed, on="row", how="anti")["row"].implode()
    marked = made.filter(found["trigger"].is_null())
    notes = marked.select(
        *_KEYS,
        modifier=fresh(identifiers(corpus, "modifiers"), "#", marked["document"]),
        label=pl.lit(NOTE),
        target="mention",
        text=pl.lit(PLACEHOLDER),
    )
    return corpus.replace(
        mentions=_with(corpus.mentions, made),
        modifiers=_with(corpus.modifiers, notes),
        frames=frames.filter(~pl.col("row").is_in(lost)),
        arguments=corpus.arguments.filter(~pl.col("frame_row").is_in(lost)),
    )


def without_placeholders(corpus: Corpus) -> Corpus:
    """Events without the triggers that `with_triggers` gave them, as their notes say."""
    is_mark = (pl.col("label") == NOTE) & (pl.col("text") == PLACEHOLDER)
    marks = corpus.modifiers.filter(is_mark.fill_null(value=False))
    if marks.is_empty():
        return corpus
    marked = marks.select("document", trigger="target").unique()
    events = corpus.frames.join(marked, on=["document", "trigger"], how="semi")["row"].implode()
    trigger = pl.when(~pl.col("row").is_in(events)).then("trigger")
    on: dict[str, Any] = {"left_on": ["document", "mention"], "right_on": ["document", "trigger"]}
    return corpus.replace(
        frames=corpus.frames.with_columns(trigger=trigger),
        mentions=corpus.mentions.join(marked, **on, how="anti", maintain_order="left"),
        modifiers=corpus.modifiers.join(marks, on="row", how="anti", maintain_order="left"),
    )


def _places(corpus: Corpus, bare: pl.DataFrame) -> pl.DataFrame:
    """The places of the new triggers of events, by `row`.

    An argument has the place of its mention, or of its event.
    """
    span = ("start", "end", "fragments", "text")
    mentions = corpus.mentions.select("document", *span, target="mention")
    mentions = mentions.unique(["document", "target"], keep="first", maintain_order=True)
    frames = corpus.frames.select("row", "document", "trigger", "frame")
    triggered = frames.join(
        mentions, left_on=["document", "trigger"], right_on=["document", "target"]
    )
    known = pl.concat([mentions, triggered.select("document", *span, target="frame")])
    placed = triggered.join(bare, on="row", how="semi").select("row", *span)
    arguments = corpus.arguments.sort("frame_row", "position").select(
        "document", "target", row="frame_row"
    )
    arguments = arguments.join(bare, on="row", how="semi", maintain_order="left")
    while True:
        rest = arguments.join(placed, on="row", how="anti", maintain_order="left")
        first = known.unique(["document", "target"], keep="first", maintain_order=True)
        found = rest.join(first, on=["document", "target"], maintain_order="left")
        more = found.unique("row", keep="first", maintain_order=True).select("row", *span)
        if more.is_empty():
            return placed
        placed = pl.concat([placed, more])
        named = more.join(frames, on="row").select("document", *span, target="frame")
        known = pl.concat([known, named])
