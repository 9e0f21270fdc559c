"""The kinds of frames, and a corpus without the frames of kinds that a format cannot represent."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import polars as pl

from hlteval.representation import FACT, TABLES, Corpus

#: The kind of a situation frame in the representation.
SITUATION = "situation"
#: The kind of a template instance.
TEMPLETTE = "templette"
_PLURALS: Mapping[str, str] = MappingProxyType(
    {
        "event": "events",
        FACT: "relations of entities",
        "relation": "relations",
        SITUATION: "situation frames",
        TEMPLETTE: "template instances",
    }
)
#: The columns that refer to an item by its identifier.
REFERENCES = {"arguments": "target", "modifiers": "target", "groups": "member"}
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
            for table, column in REFERENCES.items()
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


# Entities that a corpus has twice: as normalizations of mentions, and as entities and links.
#
# Readers of brat keep the lines of normalizations as modifiers, and take the entities of mentions
# from them. A format that can represent one of the two loses nothing of the other but its text.


#: The knowledge base of entities whose identifiers do not name one.
KNOWLEDGE_BASE = "KB"
#: The label of a modifier that gives the entity of its mention.
LABEL = "Reference"


def is_normalization() -> pl.Expr:
    """Whether a modifier is the normalization of a mention: N and a number, with a value."""
    return pl.col("modifier").str.starts_with("N") & pl.col("value").is_not_null()


def entity_of(value: str) -> pl.Expr:
    """The entity that the values of a column refer to: `7` for `KB:7`."""
    return pl.col(value).str.strip_prefix(f"{KNOWLEDGE_BASE}:")


def without_repeated(corpus: Corpus, tables: frozenset[str]) -> Corpus:
    """A corpus without normalizations, entities and links that are kept in another form.

    Normalizations are left out whose entity is kept; entities and links that are normalizations,
    too, are left out if they are not kept themselves.

    Args:
        corpus: of which losses are counted.
        tables: the tables and columns that a format can represent.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> mention = {**place, "mention": "T1", "label": "City", "start": 0, "end": 3}
        >>> line = {**place, "modifier": "N1", "label": "Reference", "target": "T1"}
        >>> line["value"] = "KB:7"
        >>> corpus = Corpus(mentions=[{**mention, "entity": "7"}], modifiers=[line])
        >>> without_repeated(corpus, frozenset({"mentions", "mentions.entity"})).modifiers.height
        0
        >>> without_repeated(corpus, frozenset({"modifiers"})).mentions["entity"].to_list()
        [None]
    """
    if corpus.modifiers.is_empty():
        return corpus
    own, mentions, linked, links = corpus.cached(_twice)
    forms = ((own, "mentions.entity"), (linked, "links"))
    kept = [rows for rows, column in forms if column in tables]
    key, found = pl.col("row"), dict[str, pl.DataFrame]()
    if "modifiers" not in tables and kept:
        found["modifiers"] = corpus.modifiers.filter(~key.is_in(pl.concat(kept).implode()))
    if "links" not in tables:
        found["links"] = corpus.links.filter(~key.is_in(links.implode()))
    if "mentions.entity" not in tables:
        entity = pl.when(~key.is_in(mentions.implode())).then(pl.col("entity"))
        found["mentions"] = corpus.mentions.with_columns(entity=entity)
    return corpus.replace(**found)


def _twice(corpus: Corpus) -> tuple[pl.Series, ...]:
    """The rows that are in a corpus both as a modifier and as the entity or a link of its mention.

    Returns:
        The keys of the modifiers that are the entity of their mention, of these mentions, of the
        modifiers that are a link of their mention, and of these links.
    """
    key = ["document", "target", "entity"]
    rows = corpus.modifiers.filter(is_normalization(), pl.col("label") == LABEL)
    named = rows.select("document", "target", "row", entity=entity_of("value"))
    mentions = corpus.mentions.select("document", "entity", "row", target="mention")
    mentions = mentions.unique(["document", "target"], keep="first", maintain_order=True)
    links = mentions.drop("entity").rename({"row": "mention_row"})
    links = links.join(corpus.links.select("entity", "mention_row", "row"), on="mention_row")
    # One may be repeated thousands of times on both sides: no row is joined to all of the others.
    return tuple(
        first.join(second, on=key, how="semi")["row"]
        for held in (mentions, links)
        for first, second in ((named, held), (held, named))
    )


# What is lost in the words of the format that people have: `3 N lines`, not rows of a table.


#: The words that all formats share.
COMMON: Mapping[str, str] = MappingProxyType(
    {
        "documents": "document",
        "documents.text": "text",
        "mentions.fragments": "discontinuous span",
        "rejected_records": "unreadable record",
    }
)


def word_counts(words: Mapping[str, str], item: str, rows: pl.DataFrame) -> Mapping[str, int]:
    """The counts of rows by the word of a format for them.

    Args:
        words: of a format, for the names of tables and of columns, such as `mentions.entity`;
            `modifiers:N` is the word for modifiers whose identifiers begin with N.
        item: the name of a table or column.
        rows: of that table.

    Examples:
        >>> rows = pl.DataFrame({"modifier": ["N1", "N2", "A1"]})
        >>> word_counts({"modifiers": "modifier", "modifiers:N": "N line"}, "modifiers", rows)
        {'N line': 2, 'modifier': 1}
    """
    plain = f"row of {item}" if item in TABLES else f"value of {item}"
    word = words.get(item) or COMMON.get(item) or plain
    letters = {key[-1]: words[key] for key in words if key[:-1] == f"{item}:"}
    if not letters or item not in _HOLDERS:
        return {word: rows.height} if rows.height else {}
    first = rows[_HOLDERS[item]].str.head(1)
    sizes = pl.DataFrame({"letter": first}).group_by("letter", maintain_order=True).len()
    counts: dict[str, int] = {}
    for letter, size in sizes.iter_rows():
        name = letters.get(letter or "", word)
        counts[name] = counts.get(name, 0) + size
    return counts
