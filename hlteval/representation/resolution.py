"""Resolution: what the identifiers of a corpus refer to.

Identifiers are data; nothing in a corpus says that they lead anywhere. Here they are looked up in
the corpus itself and in what was given with the task, for validators and scorers alike.
"""

from __future__ import annotations

import polars as pl

from hlteval.representation.corpus import Corpus
from hlteval.representation.keys import hashed
from hlteval.representation.schema import TABLES


def align(reference: Corpus, system: Corpus) -> tuple[Corpus, Corpus]:
    """Both corpora with one numbering of documents: the same name, the same `document`.

    Examples:
        >>> one = Corpus(documents=[{"row": 0, "name": "a"}, {"row": 1, "name": "b"}])
        >>> two = Corpus(documents=[{"row": 0, "name": "b"}])
        >>> align(one, two)[1].documents["row"].to_list()
        [1]
    """
    names = pl.concat([reference.documents["name"], system.documents["name"]]).unique().sort()
    numbering = pl.DataFrame(
        {"name": names, "number": range(len(names))}, schema_overrides={"number": pl.Int64}
    )
    return _renumber(reference, numbering), _renumber(system, numbering)


def _renumber(corpus: Corpus, numbering: pl.DataFrame) -> Corpus:
    documents = corpus.documents.join(numbering, on="name", maintain_order="left")
    if documents["row"].equals(documents["number"]):
        return corpus
    old_to_new = documents.select(document="row", number="number")
    moved = {"documents": documents.with_columns(row="number").drop("number")}
    for name, table in TABLES.items():
        if ("document", "documents") in table.references:
            rows = getattr(corpus, name).join(
                old_to_new, on="document", how="left", maintain_order="left"
            )
            moved[name] = rows.with_columns(document="number").drop("number")
    return corpus.replace(**moved)


def items(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    """Everything that an identifier of a corpus may refer to, each identifier once.

    Where one is used twice, references go to the first: what is given before what is added, then
    in the order of the records.

    Args:
        corpus: the corpus whose identifiers are looked up.
        given: the corpus whose mentions were given with the task; the same numbering of documents.

    Returns:
        A table of `document`, `target`, and of what it is: `filler` (`given`, `mention` or
        `frame`), its `filler_label` and its `filler_row` in the table of that kind.
    """
    return corpus.cached(_listed, given)


def _listed(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    listed = [_items(given.mentions, "mention", "given")]
    if given is not corpus:
        listed.append(_items(corpus.mentions, "mention", "mention"))
    listed.append(_items(corpus.frames, "frame", "frame"))
    found = pl.concat(listed)
    if found.select(hashed("document", "target")).to_series().n_unique() == found.height:
        return found
    return found.unique(["document", "target"], keep="first", maintain_order=True)


def _items(rows: pl.DataFrame, identifier: str, filler: str) -> pl.DataFrame:
    return rows.select(
        "document",
        target=identifier,
        filler=pl.lit(filler),
        filler_label="label",
        filler_row="row",
    )


def fillers(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    """The arguments of a corpus with what fills them.

    Args:
        corpus: the corpus whose arguments are resolved.
        given: the corpus whose mentions were given with the task.

    Returns:
        The table `arguments` with the columns `filler`, `filler_label` and `filler_row` of `items`,
        null where the identifier leads nowhere, and `label` and `frame` of the argument's frame.
    """
    return corpus.cached(_filled, given)


def _filled(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    frames = corpus.frames.lazy().select("label", "frame", frame_row="row")
    known = items(corpus, given)
    found = _joined(corpus.arguments, known)
    return found.lazy().join(frames, on="frame_row", how="left", maintain_order="left").collect()


def _joined(references: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """References with the item that each leads to, in their order."""
    numbered = (
        known.lazy()
        .with_columns(hashed("document", "target"))
        .rename({"document": "of", "target": "found"})
    )
    joined = references.lazy().with_columns(hashed("document", "target"))
    joined = joined.join(numbered, on="hashed", how="left", maintain_order="left")
    same = (pl.col("document") == pl.col("of")) & (pl.col("target") == pl.col("found"))
    answer = joined.with_columns(wrong=~same).drop("hashed", "of", "found").collect()
    if answer["wrong"].any():  # two pairs with one number: it will hardly ever happen
        return references.join(known, on=["document", "target"], how="left", maintain_order="left")
    return answer.drop("wrong")


def counted(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    """The `fillers` that count: of a role that a frame gives twice, the last."""
    return corpus.cached(_last_of_role, given)


def _last_of_role(corpus: Corpus, given: Corpus) -> pl.DataFrame:
    filled = fillers(corpus, given)
    # Roles are few: numbered, frame and role make one number, which is quicker to compare.
    role = pl.col("role").cast(pl.Categorical).to_physical().cast(pl.Int64)
    if not filled.select(
        (pl.col("frame_row") * (role.max() + 1) + role).is_duplicated().any()
    ).item():
        return filled
    return filled.unique(["frame_row", "role"], keep="last", maintain_order=True)
