"""The texts of spans: what stands where they are, and which of them cannot be right."""

from __future__ import annotations

import polars as pl

from hlteval.representation import Corpus


def parts(mentions: pl.DataFrame) -> pl.DataFrame:
    """The parts of each span in their order, a whole one being its own only part."""
    broken = (pl.col("fragments").list.len() > 0).fill_null(value=False)
    several = mentions.filter(broken).explode("fragments")
    part = pl.col("fragments").struct
    several = several.with_columns(start=part.field("start"), end=part.field("end"))
    whole = mentions.filter(~broken)
    return pl.concat([whole.drop("fragments"), several.drop("fragments")])


def there(corpus: Corpus, mentions: pl.DataFrame) -> pl.DataFrame:
    """What the text has where spans are.

    Returns:
        By `row` of those whose documents have a text: `there`, the parts with a blank between and
        blanks for line ends; and whether they `fit`: end where they start or later, in the text.
    """
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    placed = parts(mentions.filter(pl.col("document").is_in(list(texts))))
    spans = placed.select("document", "start", "end").rows()
    # Polars looks for a code point from the beginning of the text, each time; Python knows it.
    cut = [texts[document][max(start, 0) : max(end, 0)] for document, start, end in spans]
    fit = [0 <= start <= end <= len(texts[document]) for document, start, end in spans]
    found = placed.select(
        "row",
        there=pl.Series(cut, dtype=pl.String).str.replace_all(r"[\r\n]", " "),
        fit=pl.Series(fit, dtype=pl.Boolean),
    )
    return found.group_by("row", maintain_order=True).agg(
        pl.col("there").str.join(" "), pl.col("fit").all()
    )


def filled(corpus: Corpus) -> Corpus:
    """The corpus with the texts of spans that do not bring their own, as far as they are known.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1"}
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d", "text": "in Osh"}],
        ...     mentions=[{**place, "label": "City", "start": 3, "end": 6}],
        ... )
        >>> filled(corpus).mentions["text"].to_list()
        ['Osh']
    """
    silent = corpus.mentions.filter(pl.col("text").is_null())
    if silent.is_empty():
        return corpus
    found = there(corpus, silent).drop("fit")
    mentions = corpus.mentions.join(found, on="row", how="left", maintain_order="left")
    said = pl.coalesce("text", pl.when(pl.col("there") != "").then("there"))
    return corpus.replace(mentions=mentions.with_columns(text=said).drop("there"))


def misplaced(corpus: Corpus) -> pl.DataFrame:
    """The mentions that are not in their text, or repeat something else than what is there.

    Behind the text of a span a comment may stand, and the parts of older files have no blank
    between them.

    Returns:
        The mentions with `there` and `fit`, as in `there`.
    """
    found = there(corpus, corpus.mentions)
    placed = corpus.mentions.join(found, on="row", maintain_order="left")
    said, right = pl.col("text"), pl.col("there").str.strip_chars_end()
    rest = said.str.slice(right.str.len_chars())
    same = said.str.starts_with(right) & (rest.str.head(1).str.contains(r"^\s?$"))
    close = said.str.replace_all(" ", "") == right.str.replace_all(" ", "")
    older = pl.col("fragments").is_not_null() & close
    return placed.filter(~pl.col("fit") | ~(said.is_null() | same | older))
