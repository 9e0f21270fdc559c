"""Whether spans have the text of their documents, many at a time."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus

_ENCODING = "utf-32-le"
#: Characters that are compared at a time.
_BLOCK = 1_000_000


def are_at_place(corpus: Corpus) -> pl.Series:
    """Whether the text of each mention is exactly that of its document.

    Readers and rules ask for it: `corpus.cached(are_at_place)` compares them once.

    Examples:
        >>> mention = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1"}
        >>> mention |= {"label": "Place", "start": 3, "end": 6, "text": "Osh"}
        >>> documents = [{"row": 0, "name": "d", "text": "in Osh"}]
        >>> are_at_place(Corpus(documents=documents, mentions=[mention])).to_list()
        [True]
    """
    return are_quoted(corpus.documents, corpus.mentions)


def are_quoted(documents: pl.DataFrame, spans: pl.DataFrame) -> pl.Series:
    """Whether the text of each span is exactly that of its document between its offsets.

    Polars searches a code point from the beginning of a text, and Python takes a second for a
    million spans: here they are compared as bytes in texts of ASCII only, and as arrays of code
    points in others.

    Args:
        documents: the columns `row` and `text` of documents.
        spans: the columns `document`, `start`, `end` and `text`, in code points; without a text a
            span has none that is equal.

    Examples:
        >>> documents = pl.DataFrame({"row": [0], "text": ["in Osh"]})
        >>> spans = {"document": [0, 0], "start": [3, 3], "end": [6, 9], "text": ["Osh", "Osh"]}
        >>> are_quoted(documents, pl.DataFrame(spans)).to_list()
        [True, False]
    """
    # of a document in several files, the first text counts
    known = documents.drop_nulls("text").unique("row", keep="first", maintain_order=True)
    size = pl.col("text").str.len_chars().cast(pl.Int64)
    plain = size == pl.col("text").str.len_bytes()
    texts = known.select("text", document="row", size=size, plain=plain)
    table = spans.select("document", "start", "end", quoted="text")
    table = table.join(texts, on="document", how="left", maintain_order="left")
    length = pl.col("end") - pl.col("start")
    fits = (pl.col("start") >= 0) & (pl.col("end") <= pl.col("size"))
    fits &= pl.col("quoted").str.len_chars() == length
    start = pl.col("start").clip(0)
    size = pl.when(fits).then(length).otherwise(0)  # a slice is a copy
    there = pl.col("text").cast(pl.Binary).bin.slice(start, size.clip(0))
    same = pl.col("plain") & (there == pl.col("quoted").cast(pl.Binary))
    found = table.select((fits & same).fill_null(value=False)).to_series()
    if texts["plain"].all():
        return found
    others = table.select((fits & ~pl.col("plain")).fill_null(value=False)).to_series().arg_true()
    return found.scatter(others, _are_equal(texts.filter(~pl.col("plain")), table[others]))


def _are_equal(texts: pl.DataFrame, spans: pl.DataFrame) -> NDArray[np.bool_]:
    """Whether the text of each span, which is as long, is that of its document, which is known."""
    bases = texts.select("document", base=pl.col("size").cum_sum() - pl.col("size"))
    bases = spans.select("document").join(bases, on="document", maintain_order="left")
    points = _code_points(texts["text"])
    size = spans.select(pl.col("end") - pl.col("start")).to_series().to_numpy()
    firsts, blocks = (bases["base"] + spans["start"]).to_numpy(), np.cumsum(size) // _BLOCK
    equal = []
    for block in np.unique(blocks):  # arrays of places take thirty times the texts
        own = blocks == block
        sizes = size[own]
        ends = np.cumsum(sizes)
        place = np.arange(int(sizes.sum())) + np.repeat(firsts[own] - (ends - sizes), sizes)
        before = np.r_[0, np.cumsum(points[place] != _code_points(spans["quoted"].filter(own)))]
        equal.append(before[ends] == before[ends - sizes])
    return np.concatenate([np.zeros(0, dtype=bool), *equal])


def _code_points(texts: pl.Series) -> NDArray[np.unsignedinteger]:
    """The code points of texts, one after the other: small numbers where all are small."""
    text = texts.str.join("").item()
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode(_ENCODING, "surrogatepass"), dtype=np.uint32)


def normalized_spaces(column: str) -> pl.Expr:
    """The texts of a column with a space for each stretch of white space, and none at the ends."""
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()
