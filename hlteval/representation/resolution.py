"""Resolution: what the identifiers of a corpus refer to.

Identifiers are data: nothing in a corpus guarantees that they lead anywhere. Validators and scorers
look them up here, in the corpus itself and in the mentions that come with the task.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.keys import hashed
from hlteval.representation.schema import TABLES

_ARGUMENT = ("row", "document", "origin", "record", "frame_row", "position", "role", "target")
"""The columns of an argument that are resolved."""


def align(reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
    """Both corpora with one numbering of documents: the same name, the same `document`.

    Examples:
        >>> reference = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> system = Corpus(documents=[{"row": 0, "name": "b"}])
        >>> align(reference, system)[1].documents["row"].to_list()
        [1]
    """
    names = pl.concat([reference.documents["name"], system.documents["name"]]).unique().sort()
    number = pl.Series("_number", range(len(names)), dtype=pl.Int64)
    numbering = pl.DataFrame([names, number])
    return _renumber(reference, numbering), _renumber(system, numbering)


def _renumber(corpus: Corpus, numbering: pl.DataFrame) -> Corpus:
    documents = corpus.documents.join(numbering, on="name", maintain_order="left")
    if documents["row"].equals(documents["_number"]):
        return corpus
    numbers = documents.select("_number", document="row")
    moved = {"documents": documents.with_columns(row="_number").drop("_number")}
    for name, table in TABLES.items():
        rows: pl.DataFrame = getattr(corpus, name)
        if rows.height and ("document", "documents") in table.references:
            rows = rows.join(numbers, on="document", how="left", maintain_order="left")
            moved[name] = rows.with_columns(document="_number").drop("_number")
    return corpus.replace(**moved)


def items(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    """Everything that an identifier of a corpus may refer to, each identifier once.

    Of a repeated identifier the first item counts: that of the reference before that of the corpus,
    then in the order of the records.

    Args:
        corpus: the corpus whose identifiers are looked up.
        reference: the corpus with the mentions that come with the task, in the same numbering of
            documents.

    Returns:
        A table of `document`, `target`, and the item: `filler` (`given`, `mention`, `frame`,
        `modifier`, or `unread` for a record that could not be read), its `filler_label` (null where
        that of an unread record is not recognizable) and its `filler_row` in the table of that
        kind.
    """
    return corpus.cached(_items, reference)


def _identified(corpus: Corpus, reference: Corpus) -> list[tuple[pl.DataFrame, str, str]]:
    """The tables of what identifiers may refer to, with the column of these and the filler."""
    tables = [(reference.mentions, "mention", "given"), (_given_unread(reference), "id", "given")]
    if reference is not corpus:
        tables.append((corpus.mentions, "mention", "mention"))
    tables.append((corpus.frames, "frame", "frame"))
    tables.append((corpus.modifiers, "modifier", "modifier"))
    tables.append((_unread(corpus), "id", "unread"))
    return tables


def has_repeated_identifiers(corpus: Corpus, reference: Corpus) -> bool:
    """Whether several items of a document have one identifier; the arguments are those of `items`.

    Examples:
        >>> span = {"document": 0, "origin": 0, "label": "Gene", "start": 0, "end": 1}
        >>> spans = [{**span, "row": row, "record": row + 1, "mention": "T1"} for row in (0, 1)]
        >>> corpus = Corpus(mentions=spans)
        >>> has_repeated_identifiers(corpus, corpus)
        True
    """
    every = sum(rows.height for rows, _, _ in _identified(corpus, reference))
    return items(corpus, reference).height < every


def _items(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    found = pl.concat(
        rows.select(
            "document",
            target=identifier,
            filler=pl.lit(filler),
            filler_label="label",
            filler_row="row",
        )
        for rows, identifier, filler in _identified(corpus, reference)
    )
    if found.select(hashed("document", "target")).to_series().n_unique() == found.height:
        return found
    return found.unique(["document", "target"], keep="first", maintain_order=True)


def _given_unread(reference: Corpus) -> pl.DataFrame:
    """The unreadable records that come with the task, where a reader tells them from others."""
    found = reference.rejected_records.filter(kind="given").drop_nulls("id")
    return found.with_columns(row=pl.lit(None, pl.Int64))


def _unread(corpus: Corpus) -> pl.DataFrame:
    """The records that could not be read but have an identifier, as it seems."""
    named = corpus.rejected_records.drop_nulls(["document", "id"])
    return named.filter(pl.col("kind") != "group", pl.col("id") != "")


def fillers(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    """The arguments of a corpus with the items that fill them.

    Args:
        corpus: the corpus whose arguments are resolved.
        reference: the corpus with the mentions that come with the task.

    Returns:
        A table of `row`, `document`, `origin`, `record`, `frame_row`, `position`, `role` and
        `target` of the argument; `filler`, `filler_label` and `filler_row` of `items`, null where
        the identifier leads nowhere; and `label` and `frame` of its frame.
    """
    return corpus.cached(_fillers, reference)


def _fillers(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    frames = corpus.frames.lazy().select("label", "frame", frame_row="row")
    found = _looked_up(corpus.arguments.select(_ARGUMENT), items(corpus, reference))
    return found.lazy().join(frames, on="frame_row", how="left", maintain_order="left").collect()


def _looked_up(references: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """References with the item that each leads to, in their order."""
    key = ["document", "target"]
    numbered = known.lazy().select(hashed(*key), at=pl.int_range(pl.len()))
    wanted = references.lazy().select(hashed(*key))
    joined = wanted.join(numbered, on="hashed", how="left", maintain_order="left").collect()
    found = known.select(pl.all().gather(joined["at"]))
    same = found.height == references.height and not any(
        (references[name] != found[name]).any() for name in key
    )
    if same:
        return references.hstack(found.drop(key))
    # Two pairs have the same hash, which hardly ever happens.
    return references.join(known, on=key, how="left", maintain_order="left")


def effective_fillers(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    """The `fillers` that count: if a frame repeats a role, only the last."""
    return corpus.cached(_last_of_role, reference)


def _last_of_role(corpus: Corpus, reference: Corpus) -> pl.DataFrame:
    filled = fillers(corpus, reference)
    if filled.select(hashed("frame_row", "role")).to_series().n_unique() == filled.height:
        return filled
    return filled.unique(["frame_row", "role"], keep="last", maintain_order=True)
