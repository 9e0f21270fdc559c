"""The kinds of frames, and a corpus without the frames of kinds that a format cannot represent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import Corpus

#: The kind of a situation frame in the representation.
SITUATION = "situation"
#: The kind of a template instance.
TEMPLETTE = "templette"
_PLURALS: Mapping[str, str] = MappingProxyType(
    {
        "event": "events",
        "relation": "relations",
        SITUATION: "situation frames",
        TEMPLETTE: "template instances",
    }
)
#: The columns that refer to an item by its identifier.
_REFERENCES = {"arguments": "target", "modifiers": "target", "groups": "member"}
_RECORD = ["document", "origin", "record"]
_ITEMS = (
    *("segments", "tokens", "mentions", "frames", "sentiments", "arguments", "fills"),
    *("modifiers", "groups"),
)


def plural(kind: str) -> str:
    """The name of the frames of a kind.

    Examples:
        >>> plural("event"), plural("claim")
        ('events', 'frames of the kind claim')
    """
    return _PLURALS.get(kind) or f"frames of the kind {kind[:40]}"


def only_kinds(corpus: Corpus, kinds: Collection[str]) -> Corpus:
    """A corpus with only the frames of some kinds.

    All that belongs to the other frames is left out with them: their sentiments, arguments and
    fills, the modifiers, memberships and arguments that refer to them by an identifier of their
    own, the modifiers of these, and the attributes of their records.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> frame = {**place, "frame": "E1", "kind": "event", "label": "Move"}
        >>> only_kinds(Corpus(frames=[frame]), ["relation"]).frames.height
        0
    """
    frames = corpus.frames.filter(pl.col("kind").is_in(list(kinds)))
    own = pl.col("frame_row").is_in(frames["row"].implode())
    kept = corpus.replace(
        frames=frames,
        sentiments=corpus.sentiments.filter(own | pl.col("frame_row").is_null()),
        arguments=corpus.arguments.filter(own),
        fills=corpus.fills.filter(own),
    )
    removed = _identifiers(corpus, ["frames"]).join(_identifiers(kept), on=_NAME, how="anti")
    while removed.height:
        rows = {
            table: getattr(kept, table).join(
                removed, left_on=["document", column], right_on=_NAME, how="anti",
                maintain_order="left",
            )
            for table, column in _REFERENCES.items()
        }  # fmt: skip
        before, kept = kept, kept.replace(**rows)
        modifiers = _identifiers(before, ["modifiers"])
        removed = modifiers.join(_identifiers(kept), on=_NAME, how="anti")
    places = _records(corpus).join(_records(kept), on=_RECORD, how="anti")
    attributes = corpus.attributes.join(places, on=_RECORD, how="anti", maintain_order="left")
    return kept.replace(attributes=attributes)


_NAME = ["document", "name"]
_HOLDERS = {"mentions": "mention", "frames": "frame", "modifiers": "modifier"}


def _identifiers(corpus: Corpus, tables: Iterable[str] = tuple(_HOLDERS)) -> pl.DataFrame:
    """The identifiers of items with the documents that they are in."""
    rows: Mapping[str, pl.DataFrame] = dict(corpus.tables())
    named = (rows[table].select("document", name=_HOLDERS[table]) for table in tables)
    return pl.concat(named).drop_nulls().unique()


def _records(corpus: Corpus) -> pl.DataFrame:
    """The records that hold an item."""
    tables: Mapping[str, pl.DataFrame] = dict(corpus.tables())
    return pl.concat(tables[name].select(_RECORD) for name in _ITEMS).unique()
