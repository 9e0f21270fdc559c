"""A corpus as a dialect of standoff can represent it, and the counts of what is lost."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.standoff.dialects import BIONLP, BRAT, SPACES, Dialect
from hlteval.converters.toolkit.fitting import KNOWLEDGE_BASE, LABEL, entity_of, is_normalization
from hlteval.converters.toolkit.source_files import UNWRITABLE_TEXT
from hlteval.converters.toolkit.spans import filled
from hlteval.representation import Corpus, of_documents
from hlteval.sources import is_file_path

# Identifiers that a dialect of standoff allows: others are replaced, with all references.


_REFERENCES = (
    ("arguments", "target"),
    ("frames", "trigger"),
    ("modifiers", "target"),
    ("groups", "member"),
)
_HOLDERS = (("mentions", "mention"), ("frames", "frame"), ("modifiers", "modifier"))


def modifier_kind() -> pl.Expr:
    """The kind of a modifier, from the first letter of its identifier and its value.

    A `note`, a `normalization`, a `value` (an attribute with a value), or an `attribute`.
    """
    valued = pl.col("value").is_not_null()
    return (
        pl.when(pl.col("modifier").str.starts_with("#"))
        .then(pl.lit("note"))
        .when(is_normalization())
        .then(pl.lit("normalization"))
        .when(valued)
        .then(pl.lit("value"))
        .otherwise(pl.lit("attribute"))
    )


def fresh(known: pl.DataFrame, letter: str, documents: pl.Series) -> pl.Series:
    """New identifiers, with numbers above those in use in a document.

    Args:
        known: the identifiers in use as `id`, by `document`.
        letter: the first letter of the new identifiers.
        documents: the document of each new identifier.

    Examples:
        >>> known = pl.DataFrame({"document": [1], "id": ["T7"]})
        >>> fresh(known, "T", pl.Series([0, 1, 1])).to_list()
        ['T1', 'T8', 'T9']
    """
    number = pl.col("id").str.extract("^[^0-9]*([0-9]{1,9})").cast(pl.Int64)
    used = known.filter(pl.col("id").str.starts_with(letter))
    last = used.group_by("document").agg(last=number.max())
    wanted = documents.alias("document").cast(pl.Int64).to_frame()
    joined = wanted.join(
        last.cast({"document": pl.Int64}), on="document", how="left", maintain_order="left"
    )
    ordinal = pl.int_range(1, pl.len() + 1).over("document")
    numbered = joined.select(pl.format(letter + "{}", pl.col("last").fill_null(0) + ordinal))
    return numbered.to_series()


def identifiers(corpus: Corpus, table: str) -> pl.DataFrame:
    """The identifiers of a table as `id`, by `document`."""
    column = dict(_HOLDERS)[table]
    rows: pl.DataFrame = getattr(corpus, table)
    return rows.select("document", id=column)


def identified(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The corpus with valid identifiers; the first item with an identifier keeps it.

    Args:
        corpus: a corpus of items that the dialect supports.
        dialect: the dialect.
        counts: the counts of losses, which are updated.
    """
    renamed = {table: _renamed(corpus, table, dialect) for table, _ in _HOLDERS}
    changed = pl.concat(renamed.values()).filter(pl.col("id") != pl.col("new"))
    if changed.is_empty() and not any(table["id"].has_nulls() for table in renamed.values()):
        return _identifiers_worded(corpus, dialect, counts)
    counts["identifiers of another form"] += changed.filter(pl.col("id") != "").height
    tables = {}
    for table, column in _HOLDERS:
        rows: pl.DataFrame = getattr(corpus, table)
        tables[table] = rows.with_columns(renamed[table]["new"].alias(column))
    first = pl.concat(renamed.values()).filter(pl.col("id") != "")
    first = first.unique(["document", "id"], keep="first", maintain_order=True)
    followed = _following(corpus.replace(**tables), first.filter(pl.col("id") != pl.col("new")))
    return _identifiers_worded(followed, dialect, counts)


def _renamed(corpus: Corpus, table: str, dialect: Dialect) -> pl.DataFrame:
    """The items of a table: `document`, the present identifier as `id`, the valid one as `new`."""
    column = dict(_HOLDERS)[table]
    rows: pl.DataFrame = getattr(corpus, table)
    kind = {"mentions": pl.lit("mention"), "frames": pl.col("kind")}.get(table, modifier_kind())
    items = rows.select("document", kind=kind, id=column, new=column)
    fits = pl.lit(value=False)
    for name, (_, form) in dialect.identifiers.items():
        named = pl.col("kind") == name
        fits = pl.when(named).then(pl.col("id").str.contains(f"^(?:{form})$")).otherwise(fits)
    items = items.with_columns(fits=fits.fill_null(value=False))
    if dialect.numbered:
        once = pl.struct("document", "id").is_first_distinct()
        items = items.with_columns(fits=pl.col("fits") & once)
    if items["fits"].all():
        return items.select("document", "id", "new")
    return _with_new(items, dialect).select("document", "id", "new")


def _with_new(items: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
    """The items, with a new identifier of their kind in place of invalid ones."""
    items = items.with_row_index("at")
    kept = items.filter("fits").select("document", "id")
    for letter in dict.fromkeys(letter for letter, _ in dialect.identifiers.values()):
        kinds = [name for name, (begins, _) in dialect.identifiers.items() if begins == letter]
        chosen = items.filter(~pl.col("fits"), pl.col("kind").is_in(kinds))
        names = chosen.select("at", new=fresh(kept, letter, chosen["document"]))
        items = items.update(names, on="at", how="left")
    return items


def _following(corpus: Corpus, changed: pl.DataFrame) -> Corpus:
    """The corpus with references to the new identifiers."""
    tables = {}
    for table, column in _REFERENCES:
        rows: pl.DataFrame = getattr(corpus, table)
        names = changed.select("document", "new", pl.col("id").alias(column))
        joined = rows.join(names, on=["document", column], how="left", maintain_order="left")
        tables[table] = joined.with_columns(pl.coalesce("new", column).alias(column)).drop("new")
    return corpus.replace(**tables)


def _identifiers_worded(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The corpus with `_` for characters that dangling references cannot contain."""
    tables = {}
    for table, column in _REFERENCES:
        rows: pl.DataFrame = getattr(corpus, table)
        wrong = rows[column].str.contains(dialect.unreferable) | (rows[column] == "")
        if wrong.any():
            counts["identifiers of another form"] += int(wrong.sum())
            word = pl.col(column).str.replace_all(dialect.unreferable, "_")
            word = pl.when(word == "").then(pl.lit("_")).otherwise(word)
            tables[table] = rows.with_columns(word.alias(column))
    return corpus.replace(**tables) if tables else corpus


# What brat represents differently: entities as normalizations, places of events as triggers.


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
    on: Mapping[str, Any] = {
        "left_on": ["document", "mention"],
        "right_on": ["document", "trigger"],
    }
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


# Line ends in texts: brat counts each as one character, whatever it is written as.


def with_line_feeds(corpus: Corpus, counts: Counter[str]) -> Corpus:
    r"""The corpus with line feeds for all line ends of texts, and offsets that follow.

    Args:
        corpus: a corpus of documents with their mentions.
        counts: the counts of losses, which are updated.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 4, "end": 7}
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d", "text": "in\r\nOsh"}],
        ...     mentions=[{**place, "mention": "T1", "label": "City"}],
        ... )
        >>> changed = with_line_feeds(corpus, Counter())
        >>> changed.documents["text"].to_list(), changed.mentions.select("start", "end").rows()
        (['in\nOsh'], [(3, 6)])
    """
    some = corpus.documents.filter(pl.col("text").str.contains("\r"))
    if some.is_empty():
        return corpus
    counts["texts with carriage returns, written as line feeds"] += some.height
    texts = dict(some.select("row", "text").iter_rows())
    written = pl.col("text").str.replace_all("\r\n?", "\n")
    return corpus.replace(
        documents=corpus.documents.with_columns(written),
        mentions=_moved(corpus.mentions, {row: _mapping(text) for row, text in texts.items()}),
    )


def _mapping(text: str) -> Callable[[int], int]:
    """The new offset of each offset of a text."""
    pairs = [match.start() + 1 for match in re.finditer("\r\n", text)]
    return lambda offset: offset - bisect_left(pairs, offset)


def _moved(mentions: pl.DataFrame, mappings: dict[int, Callable[[int], int]]) -> pl.DataFrame:
    moved: dict[str, list[object]] = {"start": [], "end": [], "fragments": [], "text": []}
    for document, start, end, fragments, text in mentions.select("document", *moved).iter_rows():
        at = mappings.get(document, int)
        parts = [{name: at(value) for name, value in part.items()} for part in fragments or ()]
        moved["start"].append(at(start))
        moved["end"].append(at(end))
        moved["fragments"].append(parts if fragments is not None else None)
        own = text.replace("\r\n", "\n") if text and document in mappings else text
        moved["text"].append(own)
    schema = mentions.schema
    return mentions.with_columns(
        pl.Series(name, values, dtype=schema[name]) for name, values in moved.items()
    )


_BLANK = r"[ \t\r\n\f\x0b\x00]"
#: The largest offset: nine digits.
_LARGEST = 999_999_999


class Fitted(NamedTuple):
    """The corpus that is written, and the counts of what is lost, by description."""

    corpus: Corpus
    lost: Mapping[str, int]


def lost(corpus: Corpus, dialect: Dialect) -> Mapping[str, int]:
    """The counts of what a dialect loses of a corpus, in the tables that it supports.

    Examples:
        >>> lost(Corpus(), BRAT)["names of groups"]
        0
    """
    return fitted(corpus, dialect).lost


def fitted(corpus: Corpus, dialect: Dialect) -> Fitted:
    """The corpus in which every row is a record of the dialect, and the losses."""
    return corpus.cached(_brat if dialect.name == BRAT.name else _bionlp)


def _bionlp(corpus: Corpus) -> Fitted:
    counts = Counter[str]()
    named = _named(corpus, BIONLP, counts)
    kept = _with_arguments(_of_kinds(named, BIONLP, counts), counts)
    marked = identified(_worded(kept, BIONLP, counts), BIONLP, counts)
    return Fitted(_with_texts(filled(marked), counts), counts)


def _brat(corpus: Corpus) -> Fitted:
    counts = Counter[str]()
    named = with_line_feeds(_named(corpus, BRAT, counts), counts)
    kept = _with_two_arguments(_of_kinds(named, BRAT, counts), counts)
    marked = identified(_worded(_normalized(kept, counts), BRAT, counts), BRAT, counts)
    triggered = with_triggers(with_references(marked, counts), counts)
    return Fitted(filled(triggered), counts)


def _named(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The documents whose names can be names of files, and whose texts can be written."""
    folders = {
        str(folder) for name in corpus.documents["name"] for folder in PurePath(name).parents
    }
    kept = []
    for name, text in corpus.documents.select("name", "text").iter_rows():
        if re.search(UNWRITABLE_TEXT, text or ""):
            counts["texts with null characters or an initial byte order mark"] += 1
        elif not is_file_path(name):
            counts["documents whose name is not a valid file name"] += 1
        elif any(f"{name}{suffix}" in folders for suffix in dialect.suffixes):
            counts["documents whose file another document has"] += 1
        else:
            kept.append(name)
    if len(kept) == corpus.documents.height:
        return corpus
    return of_documents(corpus, pl.Series(kept, dtype=pl.String))


def _of_kinds(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """Spans, modifiers and groups of the kinds that a dialect has."""
    group = pl.col("kind") == "Equiv" if dialect is BIONLP else pl.lit(value=True)
    modifier = modifier_kind().is_in(list(dialect.identifiers))
    mentions = corpus.mentions.filter(_placed())
    groups = corpus.groups.filter(group)
    counts["names of groups"] += _renumbered(groups)
    modifiers = corpus.modifiers.filter(modifier)
    counts["spans beyond the largest offset"] += corpus.mentions.height - mentions.height
    counts["members of groups other than Equiv"] += corpus.groups.height - groups.height
    counts["notes and attributes with values"] += corpus.modifiers.height - modifiers.height
    return corpus.replace(mentions=mentions, modifiers=modifiers, groups=groups)


def _renumbered(groups: pl.DataFrame) -> int:
    """The number of groups whose names are not their ordinals, which they get when read again."""
    first = groups.sort("origin", "record", "row").unique(
        ["document", "group", "kind"], keep="first", maintain_order=True
    )
    number = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
    return first.filter(pl.col("group") != number).height


def _placed() -> pl.Expr:
    """Whether all offsets of a span can be written."""
    ends = [pl.col("start"), pl.col("end")]
    for field in ("start", "end"):
        offsets = pl.col("fragments").list.eval(pl.element().struct.field(field)).list
        ends += [offsets.min().fill_null(0), offsets.max().fill_null(0)]
    return pl.all_horizontal(end.is_between(0, _LARGEST) for end in ends)


def _only(corpus: Corpus, frames: pl.DataFrame) -> Corpus:
    """The corpus with only these frames and their arguments."""
    kept = pl.col("frame_row").is_in(frames["row"].implode())
    return corpus.replace(frames=frames, arguments=corpus.arguments.filter(kept))


def _with_arguments(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """The frames that have arguments."""
    frames = corpus.frames.filter(pl.col("row").is_in(corpus.arguments["frame_row"].implode()))
    lost = corpus.frames.height - frames.height
    counts["frames without arguments"] += lost
    return _only(corpus, frames) if lost else corpus


def _with_two_arguments(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """All frames but relations without exactly two arguments in two roles."""
    roles = corpus.arguments.group_by(row="frame_row").agg(
        size=pl.len(), roles=pl.col("role").n_unique()
    )
    sized = corpus.frames.join(roles, on="row", how="left", maintain_order="left")
    two = (pl.col("size") == 2) & (pl.col("roles") == 2)
    frames = sized.filter((pl.col("kind") != "relation") | two).drop("size", "roles")
    lost = corpus.frames.height - frames.height
    counts["relations without exactly two arguments in two roles"] += lost
    return _only(corpus, frames) if lost else corpus


def _normalized(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """Normalisations with the name of a knowledge base before what they refer to."""
    bare = (modifier_kind() == "normalization") & ~referring("value")
    written = pl.when(bare).then(reference("value"))
    modifiers = corpus.modifiers.with_columns(new=written.otherwise("value"))
    changed = modifiers.filter(pl.col("new") != pl.col("value")).height
    counts["normalisations without a knowledge base"] += changed
    named = modifiers.with_columns(value="new").drop("new")
    return corpus.replace(modifiers=named) if changed else corpus


def _worded(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """Types, roles, values and texts without characters that a line cannot hold."""
    tables = dict(corpus.tables())
    colons = pl.lit(value=True) if dialect is BIONLP else pl.lit(value=False)
    for table, column, no_colon in (
        ("mentions", "label", colons),
        ("frames", "label", colons | (pl.col("kind") == "event")),
        ("arguments", "role", pl.lit(value=True)),
        ("modifiers", "label", colons),
        ("groups", "kind", colons),
    ):
        tables[table] = _words(tables[table], column, no_colon, counts)
    line_end = "[\r\n\0]" if dialect is BRAT else "[\n\0]"
    value = r"[\t\r\n\f\x0b\x00]" if dialect is BRAT else _BLANK
    for table, column, ends, what in (
        ("mentions", "text", line_end, "texts of spans with line ends, or with spaces at an end"),
        ("modifiers", "text", line_end, "notes with line ends, or with spaces at an end"),
        ("modifiers", "value", value, "values with spaces that are not allowed"),
    ):
        tables[table] = _texts(tables[table], column, ends, counts, what)
    return corpus.replace(**tables)


def _words(
    rows: pl.DataFrame, column: str, no_colon: pl.Expr, counts: Counter[str]
) -> pl.DataFrame:
    """A column of single words, with `_` for characters that these cannot hold, and for ''."""
    word = pl.col(column).str.replace_all(_BLANK, "_")
    word = pl.when(no_colon).then(word.str.replace_all(":", "_")).otherwise(word)
    word = pl.when(word == "").then(pl.lit("_")).otherwise(word)
    new = rows.select(word.alias(column)).to_series()
    wrong = int((new != rows[column]).sum())
    counts["types and roles that are not a single word"] += wrong
    return rows.with_columns(new) if wrong else rows


def _texts(
    rows: pl.DataFrame, column: str, ends: str, counts: Counter[str], what: str
) -> pl.DataFrame:
    """A column of texts at the ends of lines, with spaces for line ends and none at either end."""
    text = pl.col(column).str.replace_all(ends, " ").str.strip_chars(SPACES)
    new = rows.select(pl.when(text != "").then(text)).to_series()
    wrong = rows[column].is_not_null() & (
        new.is_null() | (new != rows[column]).fill_null(value=True)
    )
    counts[what] += int(wrong.sum())
    return rows.with_columns(new.alias(column)) if wrong.any() else rows


def _with_texts(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """The spans whose text is known."""
    mentions = corpus.mentions.filter(pl.col("text").is_not_null())
    counts["spans with unknown text"] += corpus.mentions.height - mentions.height
    return corpus.replace(mentions=mentions)
