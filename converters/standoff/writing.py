"""Writes a corpus as standoff, as far as a dialect can represent it; counts what is lost."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import polars as pl

from hlteval.converters.standoff.dialects import BIONLP, BRAT, SPACES, TEXT, Dialect
from hlteval.converters.toolkit.fitting import (
    KNOWLEDGE_BASE,
    LABEL,
    REFERENCES,
    entity_of,
    is_normalization,
)
from hlteval.converters.toolkit.offsets import map_spans
from hlteval.converters.toolkit.source_files import UNWRITABLE_TEXT, folders_of, write_files
from hlteval.converters.toolkit.spans import UNRESOLVED, count_unresolved, equivalences, fill_texts
from hlteval.representation import Corpus, of_documents
from hlteval.sources import is_file_path, stays_inside

_KEYS = ("document", "origin", "record")
_BLANK = r"[ \t\r\n\f\x0b\x00]"
#: The largest offset: nine digits.
_LARGEST = 999_999_999
_REFERENCE = r"^[^ \t\r\n\f\x0b\x00:]+:[^ \t\r\n\f\x0b\x00]+$"
#: The note on the trigger of an event that has none.
NOTE, PLACEHOLDER = "AnnotatorNotes", "placeholder: the event has no trigger"


#: The corpus that is written, and the counts of what is lost, by description.
Fitted = tuple[Corpus, Mapping[str, int]]


def count_losses(corpus: Corpus, dialect: Dialect) -> Mapping[str, int]:
    """The counts of what a dialect loses of a corpus, in the tables that it supports.

    Examples:
        >>> count_losses(Corpus(), BRAT)["names of groups"]
        0
    """
    return {**fit(corpus, dialect)[1], UNRESOLVED: count_unresolved(corpus, dialect.name)}


def write(corpora: Iterable[Corpus], path: Path, dialect: Dialect) -> None:
    """The documents as a folder of texts and annotations."""
    write_files((file for corpus in corpora for file in _files(corpus, dialect)), path)


# Files: where the records of each document are written, and as which lines.


def _files(corpus: Corpus, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of those without records.

    A record is written to the file that it was read from, or to a file of its document in the
    folder of others. The name of a document begins with its folder where the name of its files does
    not suffice.
    """
    corpus, _ = fit(corpus, dialect)
    member = pl.col("member")
    read = corpus.sources.select(
        "format",
        inside=member.map_elements(stays_inside, pl.Boolean),
        origin="row",
        path=member.str.extract(r"(.*)\.[^./]*$"),
        suffix=member.str.extract(r"(\.[^./]*)$"),
    ).filter("inside", pl.col("suffix").is_in(dialect.suffixes), format=dialect.name)
    qualified = pl.col("path").is_in(corpus.documents["name"].implode())
    stem = pl.col("path").str.extract(r"([^/]*)$")
    read = read.with_columns(name=pl.when(qualified).then("path").otherwise(stem))
    homes = {(name, suffix): path for name, suffix, path in read.select(_FILE).iter_rows()}
    others = dict(read.select("name", "path").unique("name", keep="first").iter_rows())
    for name, suffix, content in _contents(corpus, dialect, read):
        path = homes.get((name, suffix)) or others.get(name) or name
        yield path + suffix, content


_FILE = ("name", "suffix", "path")


def _contents(
    corpus: Corpus, dialect: Dialect, files: pl.DataFrame
) -> Iterator[tuple[str, str, str]]:
    """The document, suffix and content of every file.

    Args:
        corpus: what is written.
        dialect: the dialect.
        files: the files that the documents were read from: `origin`, `name` and `suffix`.
    """
    for name, text in corpus.documents.select("name", "text").iter_rows():
        if text is not None:
            yield name, TEXT, text
    annotated = pl.when(pl.col("suffix").is_in(dialect.annotations)).then("suffix")
    read = files.select("origin", "name", suffix=annotated)
    names = corpus.documents.select("name", document="row")
    tables = [
        rows.select(*_KEYS, "line", home=pl.lit(home), order=pl.col("row") + kind * 1_000_000_000)
        for kind, (home, rows) in enumerate(_lines(corpus, dialect))
    ]
    lines = pl.concat(tables).join(read.select("origin", "suffix"), on="origin", how="left")
    lines = lines.join(names, on="document").with_columns(pl.coalesce("suffix", "home"))
    lines = lines.sort("name", "suffix", "origin", "record", "home", "order")
    key = ["name", "suffix"]
    contents = lines.group_by(key, maintain_order=True).agg(pl.col("line").str.join("\n") + "\n")
    bare = names.join(read, on="name", how="anti").select("name")
    bare = bare.join(pl.DataFrame({"suffix": dialect.annotations}), how="cross")
    known = read.select(key).drop_nulls().join(names, on="name", how="semi")
    wanted = pl.concat([known, bare, contents.select(key)]).unique()
    for name, suffix, content in wanted.join(contents, on=key, how="left").sort(key).iter_rows():
        yield name, suffix, content or ""


def _lines(corpus: Corpus, dialect: Dialect) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every record as a `line`, with the suffix of its file if it was not read from one."""
    ends = [pl.element().struct.field(name) for name in ("start", "end")]
    parts = pl.col("fragments").list.eval(pl.concat_str(ends, separator=" ")).list.join(";")
    broken = pl.when(pl.col("fragments").list.len() > 0).then(parts)
    span = pl.coalesce(broken, pl.format("{} {}", "start", "end"))
    text = pl.format("\t{}", "text").fill_null("")
    mention = pl.format("{}\t{} {}{}", "mention", "label", span, text)
    yield dialect.mentions, corpus.mentions.with_columns(line=mention)
    arguments = corpus.arguments.sort("frame_row", "position").group_by(row="frame_row")
    argument = pl.format("{}:{}", "role", "target").str.join(" ")
    frames = corpus.frames.join(arguments.agg(arguments=argument), on="row", how="left")
    label = pl.concat_str("label", "trigger", separator=":", ignore_nulls=True)
    rest = pl.format(" {}", "arguments").fill_null("")
    yield dialect.others, frames.with_columns(line=pl.format("{}\t{}{}", "frame", label, rest))
    value = pl.format(" {}", "value").fill_null("")
    texts = modifier_kind().is_in(["normalization", "note"])
    text = pl.when(texts).then(pl.format("\t{}", "text")).fill_null("")
    modifier = pl.format("{}\t{} {}{}{}", "modifier", "label", "target", value, text)
    if dialect is BIONLP:
        referent = pl.format(" Referent:{}", "value").fill_null("")
        modifier = pl.format("{}\t{} Annotation:{}{}", "modifier", "label", "target", referent)
    yield dialect.others, corpus.modifiers.with_columns(line=modifier)
    line = pl.format("*\t{} {}", "kind", pl.col("member").list.join(" "))
    yield dialect.others, equivalences(corpus.groups.sort("row")).with_columns(line=line)


# The corpus in which every row is a record of the dialect.


def fit(corpus: Corpus, dialect: Dialect) -> Fitted:
    """The corpus in which every row is a record of the dialect, and the losses."""
    return corpus.cached(_fit_brat if dialect is BRAT else _fit_bionlp)


def _fit_bionlp(corpus: Corpus) -> Fitted:
    counts = Counter[str]()
    corpus = _of_kinds(_with_names(corpus, BIONLP, counts), BIONLP, counts)
    has_arguments = pl.col("row").is_in(corpus.arguments["frame_row"].implode())
    corpus = _only_frames(corpus, has_arguments, "frames without arguments", counts)
    corpus = fill_texts(_with_identifiers(_in_words(corpus, BIONLP, counts), BIONLP, counts))
    mentions = corpus.mentions.drop_nulls("text")
    counts["spans with unknown text"] += corpus.mentions.height - mentions.height
    return corpus.replace(mentions=mentions), counts


def _fit_brat(corpus: Corpus) -> Fitted:
    counts = Counter[str]()
    corpus = with_line_feeds(_with_names(corpus, BRAT, counts), counts)
    corpus = _of_kinds(corpus, BRAT, counts)
    roles = corpus.arguments.group_by("frame_row").agg(pl.len(), pl.col("role").n_unique())
    two = roles.filter(len=2, role=2)["frame_row"].implode()
    fits = (pl.col("kind") != "relation") | pl.col("row").is_in(two)
    relations = "relations without exactly two arguments in two roles"
    corpus = _only_frames(corpus, fits, relations, counts)
    bare = (modifier_kind() == "normalization") & ~_is_reference("value")
    value = pl.when(bare).then(_reference("value")).otherwise("value")
    modifiers = corpus.modifiers.with_columns(value)
    changed = (modifiers["value"] != corpus.modifiers["value"]).sum()
    counts["normalisations without a knowledge base"] += int(changed)
    corpus = _in_words(corpus.replace(modifiers=modifiers), BRAT, counts)
    corpus = with_references(_with_identifiers(corpus, BRAT, counts), counts)
    return fill_texts(with_triggers(corpus, counts)), counts


def _with_names(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The documents whose names can be names of files, and whose texts can be written."""
    kept, names = [], corpus.documents["name"]
    folders = folders_of(names)
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
    offsets = [pl.col("start"), pl.col("end")]
    for field in ("start", "end"):
        parts = pl.col("fragments").list.eval(pl.element().struct.field(field)).list
        offsets += [parts.min().fill_null(0), parts.max().fill_null(0)]
    mentions = corpus.mentions.filter(each.is_between(0, _LARGEST) for each in offsets)
    counts["spans beyond the largest offset"] += corpus.mentions.height - mentions.height
    groups = corpus.groups.filter(kind="Equiv") if dialect is BIONLP else corpus.groups
    counts["members of groups other than Equiv"] += corpus.groups.height - groups.height
    modifiers = corpus.modifiers.filter(modifier_kind().is_in(dialect.identifiers.keys()))
    counts["notes and attributes with values"] += corpus.modifiers.height - modifiers.height
    # Groups get their ordinals as names when they are read again.
    key = ("document", "group", "kind")
    ordered = groups.sort("origin", "record", "row")
    first = ordered.unique(key, keep="first", maintain_order=True)
    number = pl.int_range(1, pl.len() + 1).over("document").cast(pl.String)
    counts["names of groups"] += first.filter(pl.col("group") != number).height
    return corpus.replace(mentions=mentions, modifiers=modifiers, groups=groups)


def _only_frames(corpus: Corpus, fits: pl.Expr, what: str, counts: Counter[str]) -> Corpus:
    """The corpus with only some frames and their arguments; counts the others."""
    frames = corpus.frames.filter(fits)
    counts[what] += corpus.frames.height - frames.height
    kept = pl.col("frame_row").is_in(frames["row"].implode())
    return corpus.replace(frames=frames, arguments=corpus.arguments.filter(kept))


def _in_words(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """Types, roles, values and texts without characters that a line cannot hold.

    In types and roles, these are replaced by `_`; texts at the end of a line have spaces for them,
    and none at either end.
    """
    tables = dict(corpus.tables())
    always, not_in_brat = pl.lit(value=True), pl.lit(dialect is BIONLP)
    for table, column, no_colon in (
        ("mentions", "label", not_in_brat),
        ("frames", "label", not_in_brat | (pl.col("kind") == "event")),
        ("arguments", "role", always),
        ("modifiers", "label", not_in_brat),
        ("groups", "kind", not_in_brat),
    ):
        word = pl.col(column).str.replace_all(_BLANK, "_")
        word = pl.when(no_colon).then(word.str.replace_all(":", "_")).otherwise(word)
        words = tables[table].with_columns(word.replace("", "_").alias(column))
        changed = (words[column] != tables[table][column]).sum()
        counts["types and roles that are not a single word"] += int(changed)
        tables[table] = words
    line_end = "[\r\n\0]" if dialect is BRAT else "[\n\0]"
    value = r"[\t\r\n\f\x0b\x00]" if dialect is BRAT else _BLANK
    for table, column, ends, what in (
        ("mentions", "text", line_end, "texts of spans with line ends, or with spaces at an end"),
        ("modifiers", "text", line_end, "notes with line ends, or with spaces at an end"),
        ("modifiers", "value", value, "values with spaces that are not allowed"),
    ):
        text = pl.col(column).str.replace_all(ends, " ").str.strip_chars(SPACES)
        texts = tables[table].with_columns(pl.when(text != "").then(text).alias(column))
        counts[what] += int(texts[column].ne_missing(tables[table][column]).sum())
        tables[table] = texts
    return corpus.replace(**tables)


# Identifiers that a dialect of standoff allows: others are replaced, with all references.


def modifier_kind() -> pl.Expr:
    """The kind of a modifier, from the first letter of its identifier and its value.

    A `note`, a `normalization`, a `value` (an attribute with a value), or an `attribute`.
    """
    return (
        pl.when(pl.col("modifier").str.starts_with("#"))
        .then(pl.lit("note"))
        .when(is_normalization())
        .then(pl.lit("normalization"))
        .when(pl.col("value").is_not_null())
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
    last = used.group_by(pl.col("document").cast(pl.Int64)).agg(last=number.max())
    wanted = documents.alias("document").cast(pl.Int64).to_frame()
    joined = wanted.join(last, on="document", how="left", maintain_order="left")
    ordinal = pl.int_range(1, pl.len() + 1).over("document")
    numbered = joined.select(pl.format(letter + "{}", pl.col("last").fill_null(0) + ordinal))
    return numbered.to_series()


def _with_identifiers(corpus: Corpus, dialect: Dialect, counts: Counter[str]) -> Corpus:
    """The corpus with valid identifiers; the first item with an identifier keeps it.

    References follow, and dangling ones have `_` for characters that they cannot contain.

    Args:
        corpus: a corpus of items that the dialect supports.
        dialect: the dialect.
        counts: the counts of losses, which are updated.
    """
    tables, every, suffix = dict(corpus.tables()), [], dialect.identifier
    for table, column, kind in (
        ("mentions", "mention", pl.lit("mention")),
        ("frames", "frame", pl.col("kind")),
        ("modifiers", "modifier", modifier_kind()),
    ):
        items = tables[table].select("document", kind=kind, id=column, new=column)
        fits = pl.any_horizontal(
            (pl.col("kind") == name) & pl.col("id").str.contains(f"^[{letters}]{suffix}$")
            for name, letters in dialect.identifiers.items()
        )
        once = pl.struct("document", "id").is_first_distinct()
        fits = fits.fill_null(value=False) & (once if dialect.numbered else pl.lit(value=True))
        items = items.with_columns(fits=fits).with_row_index("at")
        known = items.filter("fits").select("document", "id")
        for letter in dict.fromkeys(letters[0] for letters in dialect.identifiers.values()):
            kinds = [name for name, letters in dialect.identifiers.items() if letters[0] == letter]
            wrong = items.filter(~pl.col("fits"), pl.col("kind").is_in(kinds))
            if wrong.height:
                names = wrong.select("at", new=fresh(known, letter, wrong["document"]))
                items = items.update(names, on="at", how="left")
        tables[table] = tables[table].with_columns(items["new"].alias(column))
        every.append(items.select("document", "id", "new"))
    named = pl.concat(every).filter(pl.col("id") != "")
    form = "identifiers of another form"
    counts[form] += named.filter(pl.col("id") != pl.col("new")).height
    first = named.unique(["document", "id"], keep="first", maintain_order=True)
    renamed = first.filter(pl.col("id") != pl.col("new"))
    for table, column in {**REFERENCES, "frames": "trigger"}.items():
        rows = tables[table]
        if renamed.height:
            names = renamed.select("document", "new", pl.col("id").alias(column))
            rows = rows.join(names, on=["document", column], how="left", maintain_order="left")
            rows = rows.with_columns(pl.coalesce("new", column).alias(column)).drop("new")
        word = pl.col(column).str.replace_all(dialect.unreferable, "_").replace("", "_")
        tables[table] = rows.with_columns(word)
        counts[form] += int((tables[table][column] != rows[column]).sum())
    return corpus.replace(**tables)


def _add(corpus: Corpus, table: str, column: str, letter: str, rows: pl.DataFrame) -> pl.DataFrame:
    """A table with more rows, whose keys and identifiers follow the existing ones."""
    present: pl.DataFrame = getattr(corpus, table)
    names = fresh(present.select("document", id=column), letter, rows["document"])
    last = present.select(pl.col("row").max().fill_null(-1)).item()
    keys = pl.int_range(1, pl.len() + 1, dtype=pl.Int64) + last
    return pl.concat([present, rows.with_columns(names.alias(column), row=keys)], how="diagonal")


# What brat represents differently: entities as normalizations, places of events as triggers.


def _reference(entity: str) -> pl.Expr:
    """A column of entities as references: `Wikipedia:534366`, `KB:1000001`."""
    named = _is_reference(entity) & ~pl.col(entity).str.starts_with(f"{KNOWLEDGE_BASE}:")
    word = pl.col(entity).str.replace_all(_BLANK, "_")
    return pl.when(named).then(entity).otherwise(pl.format(KNOWLEDGE_BASE + ":{}", word))


def _is_reference(value: str) -> pl.Expr:
    """Whether the values of a column name a resource and an entry in it."""
    return pl.col(value).str.contains(_REFERENCE)


def with_entities(corpus: Corpus) -> Corpus:
    """Normalizations of mentions as their entities: the first as the entity, others as `links`."""
    normalizations = corpus.modifiers.filter(is_normalization())
    if normalizations.is_empty():
        return corpus
    named = corpus.mentions.select("document", target="mention", mention_row="row")
    named = named.unique(["document", "target"], keep="first", maintain_order=True)
    placed = normalizations.join(named, on=["document", "target"], maintain_order="left")
    rank = pl.int_range(1, pl.len() + 1).over("mention_row")
    ranked = placed.select(*_KEYS, "mention_row", rank=rank, entity=entity_of("value"))
    best = ranked.filter(rank=1).select(row="mention_row", _best="entity")
    mentions = corpus.mentions.join(best, on="row", how="left", maintain_order="left")
    links = ranked.filter(pl.col("rank") > 1).sort("mention_row", "rank")
    return corpus.replace(
        mentions=mentions.with_columns(entity="_best").drop("_best"),
        links=links.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64)),
    )


def with_references(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """Entities of mentions as normalizations, unless the mention has the same one already.

    Args:
        corpus: a corpus whose mentions have identifiers.
        counts: the counts of losses, which are updated.
    """
    mentions = corpus.mentions.drop_nulls("entity")
    named = mentions.select("mention", *_KEYS, mention_row="row")
    links = corpus.links.drop(_KEYS).drop_nulls("entity")
    links = links.join(named, on="mention_row", maintain_order="left")
    counts["candidates without an entity"] += corpus.links.height - links.height
    columns = (*_KEYS, "rank", "entity")
    ranked = (mentions.with_columns(rank=pl.lit(1, pl.Int64)), links)
    wanted = pl.concat(rows.select(*columns, target="mention") for rows in ranked)
    wanted = wanted.with_columns(value=_reference("entity"))
    wrong = pl.col("entity").str.contains(_BLANK) | (pl.col("entity") == "")
    counts["entity identifiers that are not a single word"] += wanted.filter(wrong).height
    key = ["document", "target", "value"]
    wanted = wanted.join(corpus.modifiers.select(key), on=key, how="anti", maintain_order="left")
    wanted = wanted.sort("document", "origin", "record", "target", "rank", maintain_order=True)
    lines = wanted.select(*_KEYS, "target", "value", label=pl.lit(LABEL))
    return corpus.replace(modifiers=_add(corpus, "modifiers", "modifier", "N", lines))


def with_triggers(corpus: Corpus, counts: Counter[str]) -> Corpus:
    """A new trigger for each event without a trigger of its own type.

    Its place is that of the trigger of another type, or of the first argument. An event that leads
    to no mention is left out. Events read from brat do not change. A note marks each trigger of an
    event that has none, so that it goes away on the way back (`without_placeholders`).

    Args:
        corpus: a corpus whose items have identifiers.
        counts: the counts of losses, which are updated.
    """
    files = corpus.sources.filter(format=BRAT.name)["row"].implode()
    of_brat = pl.col("trigger").is_not_null() & pl.col("origin").is_in(files)
    events = corpus.frames.filter(pl.col("kind") == "event", ~of_brat)
    key = ["document", "label", "trigger"]
    spans = corpus.mentions.select("document", "label", trigger="mention")
    bare = events.join(spans, on=key, how="anti", maintain_order="left")
    others = bare.height - bare["trigger"].null_count()
    counts["triggers of another type than the event"] += others
    counts["events without triggers"] += bare.height - others
    if bare.is_empty():
        return corpus
    places = _places(corpus, bare)
    placed = bare.join(places, on="row", maintain_order="left")
    made = placed.select(*_KEYS, "label", "start", "end", "fragments", "text")
    mentions = _add(corpus, "mentions", "mention", "T", made)
    names = mentions["mention"].tail(placed.height)
    triggers = placed.select("row", new=names)
    frames = corpus.frames.join(triggers, on="row", how="left", maintain_order="left")
    frames = frames.with_columns(trigger=pl.coalesce("new", "trigger")).drop("new")
    nowhere = bare.join(places, on="row", how="anti")["row"].implode()
    notes = placed.with_columns(target=names).filter(pl.col("trigger").is_null())
    notes = notes.select(*_KEYS, "target", label=pl.lit(NOTE), text=pl.lit(PLACEHOLDER))
    return corpus.replace(
        mentions=mentions,
        modifiers=_add(corpus, "modifiers", "modifier", "#", notes),
        frames=frames.filter(~pl.col("row").is_in(nowhere)),
        arguments=corpus.arguments.filter(~pl.col("frame_row").is_in(nowhere)),
    )


def _places(corpus: Corpus, bare: pl.DataFrame) -> pl.DataFrame:
    """The places of the new triggers of events, by `row`.

    An argument has the place of its mention, or of its event.
    """
    span, key = ("start", "end", "fragments", "text"), ["document", "target"]
    mentions = corpus.mentions.select("document", *span, target="mention")
    mentions = mentions.unique(key, keep="first", maintain_order=True)
    frames = corpus.frames.select("row", "document", "trigger", "frame")
    triggered = frames.join(mentions, left_on=["document", "trigger"], right_on=key)
    known = pl.concat([mentions, triggered.select("document", *span, target="frame")])
    placed = triggered.join(bare, on="row", how="semi").select("row", *span)
    arguments = corpus.arguments.sort("frame_row", "position").select(*key, row="frame_row")
    arguments = arguments.join(bare, on="row", how="semi", maintain_order="left")
    while True:
        rest = arguments.join(placed, on="row", how="anti", maintain_order="left")
        first = known.unique(key, keep="first", maintain_order=True)
        reached = rest.join(first, on=key, maintain_order="left")
        more = reached.unique("row", keep="first", maintain_order=True).select("row", *span)
        if more.is_empty():
            return placed
        placed = pl.concat([placed, more])
        named = more.join(frames, on="row").select("document", *span, target="frame")
        known = pl.concat([known, named])


def without_placeholders(corpus: Corpus) -> Corpus:
    """Events without the triggers that `with_triggers` gave them, as their notes say."""
    marks = corpus.modifiers.filter(label=NOTE, text=PLACEHOLDER)
    if marks.is_empty():
        return corpus
    key = ["document", "trigger"]
    triggers = marks.select("document", trigger="target").unique()
    events = corpus.frames.join(triggers, on=key, how="semi")["row"].implode()
    named = triggers.rename({"trigger": "mention"})
    own = ["document", "mention"]
    mentions = corpus.mentions.join(named, on=own, how="anti", maintain_order="left")
    return corpus.replace(
        frames=corpus.frames.with_columns(pl.when(~pl.col("row").is_in(events)).then("trigger")),
        mentions=mentions,
        modifiers=corpus.modifiers.join(marks, on="row", how="anti", maintain_order="left"),
    )


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
    texts = some.select("row", "text").iter_rows()
    pairs = {row: [m.start() + 1 for m in re.finditer("\r\n", text)] for row, text in texts}
    places = {row: partial(_without_pairs, before) for row, before in pairs.items()}
    text, changed = pl.col("text").str, pl.col("document").is_in(list(pairs))
    own = pl.coalesce(pl.when(changed).then(text.replace_all("\r\n", "\n")), "text")
    return corpus.replace(
        documents=corpus.documents.with_columns(text.replace_all("\r\n?", "\n")),
        mentions=map_spans(corpus.mentions, places).with_columns(own),
    )


def _without_pairs(pairs: list[int], start: int, end: int) -> tuple[int, int]:
    """A span with one character for each pair of carriage return and line feed."""
    return start - bisect_left(pairs, start), end - bisect_left(pairs, end)
