"""Token lines that are written: tokens in order, and the mentions that begin and end there."""

from collections.abc import Iterator

import polars as pl

from hlteval.representation import Corpus


def ordered_tokens(corpus: Corpus, fit: pl.Expr) -> pl.DataFrame:
    """The tokens of a corpus that fit, by document and place; whether a sentence `begins` at each.

    Examples:
        >>> place = {"document": 0, "origin": 0, "record": 1, "text": "a", "end": 4}
        >>> tokens = [{**place, "row": 0, "start": 3}, {**place, "row": 1, "start": 2}]
        >>> found = ordered_tokens(Corpus(tokens=tokens), pl.col("text") != "")
        >>> found.select("start", "begins").rows()
        [(2, True), (3, False)]
    """
    own = corpus.tokens.select("document", "segment_row", "start", "end", "text", "pos").filter(fit)
    own = own.sort("document", "start", "end", maintain_order=True)
    new = pl.col("segment_row").ne_missing(pl.col("segment_row").shift(1))
    begins = new | (pl.col("document") != pl.col("document").shift(1))
    return own.with_columns(begins=begins.fill_null(value=True))


def with_tokens(mentions: pl.DataFrame, tokens: pl.DataFrame) -> pl.DataFrame:
    """Mentions with the `first` and the `last` token that start and end where they do, or null.

    Args:
        mentions: the mentions.
        tokens: in order, with their numbers as `token`.

    Examples:
        >>> columns = {"document": [0, 0], "start": [0, 2], "end": [1, 3], "token": [0, 1]}
        >>> tokens = pl.DataFrame(columns)
        >>> with_tokens(pl.DataFrame({"document": [0], "start": [0], "end": [3]}), tokens).rows()
        [(0, 0, 3, 0, 1)]
    """
    first = tokens.select("document", "start", first="token")
    first = first.unique(["document", "start"], keep="first")
    last = tokens.select("document", "end", last="token")
    last = last.unique(["document", "end"], keep="last")
    rows = mentions.join(first, on=["document", "start"], how="left", maintain_order="left")
    return rows.join(last, on=["document", "end"], how="left", maintain_order="left")


def bodies(
    documents: pl.DataFrame, tokens: pl.DataFrame, line: pl.Expr, end: str = "\n"
) -> Iterator[tuple[str, str]]:
    r"""Give the name and the joined lines of each document; empty without tokens.

    Args:
        documents: their `row` and `name`.
        tokens: in order, with their `document`, and whether a sentence `begins` at each.
        line: makes the line of a token, without a line break.
        end: what is after the last line of a sentence.

    Examples:
        >>> tokens = pl.DataFrame({"document": [0, 0], "begins": [True, False], "word": ["a", "b"]})
        >>> list(bodies(pl.DataFrame({"row": [0], "name": ["d"]}), tokens, pl.col("word")))
        [('d', 'a\nb\n\n')]
    """
    is_last = pl.col("begins").shift(-1, fill_value=True)
    ends = pl.when(is_last).then(pl.lit(f"\n{end}")).otherwise(pl.lit("\n"))
    lines = tokens.select("document", line=line + ends)
    joined = lines.group_by("document").agg(pl.col("line").str.join(""))
    found = dict(joined.iter_rows())
    for row, name in documents.select("row", "name").iter_rows():
        yield name, found.get(row, "")
