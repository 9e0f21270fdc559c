"""Texts of spans, and discontinuous spans, as the representation has them."""

import polars as pl

from hlteval.converters.toolkit.quotes import are_at_place
from hlteval.representation import FACT, Corpus

#: The roles of a relation of two mentions, as brat has them.
ROLES = ("Arg1", "Arg2")
#: The loss of formats that refer to annotations by their identifiers; see `count_unresolved`.
UNRESOLVED = "arguments that are not annotations of the document"
#: Most times that spans may have each character of a text, on average; and how many more.
_REPEATED, _MORE = 20, 200_000


class Quotes:
    """The texts of spans of a document, for spans whose file has none.

    Nested and equal spans repeat the text: a megabyte of them would have gigabytes. Spans after
    those that have 20 times the text, and 200,000 characters more, have no text of their own.

    Examples:
        >>> quotes = Quotes("in Osh")
        >>> quotes.at((3, 6)), quotes.at((0, 2), (3, 6))
        ('Osh', 'in Osh')
    """

    def __init__(self, text: str) -> None:
        self.text, self.left = text, _REPEATED * len(text) + _MORE

    def at(self, *places: tuple[int, int]) -> str | None:
        """Return the text at some places, joined by spaces; None if spans have too much."""
        pieces = [self.text[max(start, 0) : max(end, 0)] for start, end in places]
        self.left -= sum(map(len, pieces))
        return " ".join(pieces) if self.left >= 0 else None


def candidates(corpus: Corpus) -> dict[int, list[str]]:
    """The further entities of mentions by their rows, in the order of their ranks."""
    found: dict[int, list[str]] = {}
    links = corpus.links.drop_nulls("entity").sort("mention_row", "rank")
    for row, entity in links.select("mention_row", "entity").iter_rows():
        found.setdefault(row, []).append(entity)
    return found


def two_arguments(corpus: Corpus) -> dict[int, list[str]]:
    """The targets of the frames that have two arguments, by row."""
    ordered = corpus.arguments.sort("frame_row", "position")
    found = ordered.group_by("frame_row", maintain_order=True).agg("target")
    return {row: targets for row, targets in found.iter_rows() if len(targets) == len(ROLES)}


def count_roles(corpus: Corpus) -> int:
    """Count the arguments whose role does not have the number of their place."""
    number = pl.int_range(1, pl.len() + 1).over("frame_row")
    usual = pl.col("role") == pl.format("Arg{}", number)
    return corpus.arguments.sort("frame_row", "position").filter(~usual).height


def count_unresolved(corpus: Corpus, *forms: str) -> int:
    """Count the arguments that are neither mentions nor frames of their document, but for facts.

    Those that were read from a format come back as they were, if they are written to the same one.

    Args:
        corpus: the batch.
        forms: the names of the format that is written, and of those that are alike.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1}
        >>> argument = {**place, "frame_row": 0, "position": 1, "role": "Arg1", "target": "Q1"}
        >>> count_unresolved(Corpus(arguments=[argument]), "brat")
        1
    """
    mentions = corpus.mentions.select("document", target="mention")
    named = pl.concat([mentions, corpus.frames.select("document", target="frame")])
    own = corpus.sources.filter(pl.col("format").is_in(forms)).select(origin="row")
    facts = corpus.frames.filter(kind=FACT).select(frame_row="row")
    others = corpus.arguments.join(own, on="origin", how="anti")
    others = others.join(facts, on="frame_row", how="anti")
    return others.join(named, on=["document", "target"], how="anti").height


def equivalences(groups: pl.DataFrame) -> pl.DataFrame:
    """The groups of a corpus with each `member` in a list, at the place of the first one."""
    alike = groups.group_by("document", "group", "kind", maintain_order=True)
    members = alike.agg(pl.col("row", "origin", "record").first(), pl.col("member"))
    return members.select("row", "document", "origin", "record", "group", "kind", "member")


def odd_fragments() -> pl.Expr:
    """Whether a mention has a single fragment, or fragments that do not cover its extent."""
    fragments = pl.col("fragments").list
    starts = fragments.eval(pl.element().struct.field("start")).list.min()
    ends = fragments.eval(pl.element().struct.field("end")).list.max()
    same = (starts == pl.col("start")) & (ends == pl.col("end")) & (fragments.len() > 1)
    return pl.col("fragments").is_not_null() & ~same.fill_null(value=False)


# The texts of spans: the document text at their offsets, and the spans that differ from it.


def fragments(mentions: pl.DataFrame) -> pl.DataFrame:
    """The fragments of each span in order; a continuous span is its own single fragment."""
    broken = (pl.col("fragments").list.len() > 0).fill_null(value=False)
    several = mentions.filter(broken).explode("fragments")
    part = pl.col("fragments").struct
    several = several.with_columns(start=part.field("start"), end=part.field("end"))
    whole = mentions.filter(~broken)
    return pl.concat([whole.drop("fragments"), several.drop("fragments")])


def there(corpus: Corpus, mentions: pl.DataFrame) -> pl.DataFrame:
    """The document text at the offsets of spans.

    Returns:
        By `row` of the spans whose documents have a text: `there`, the text of the fragments with
        spaces between and for line ends, null if spans without a text repeat that of the document
        too often (`Quotes`), cut if it is much longer than that of its span, and `fit`, whether
        all offsets are ordered and inside the text.
    """
    texts = dict(corpus.documents.drop_nulls("text").select("row", "text").iter_rows())
    placed = fragments(mentions.filter(pl.col("document").is_in(list(texts))))
    spans = placed.select("document", "start", "end").rows()
    # Polars searches a code point from the beginning of the text each time; Python indexes it.
    quotes = {document: Quotes(text) for document, text in texts.items()}
    cut = [  # a text that is much longer than that of its span is another, and is not copied
        quotes[document].at((start, end))
        if text is None
        else texts[document][max(start, 0) : max(min(end, start + 10 * len(text) + 1000), 0)]
        for (document, start, end), text in zip(spans, placed["text"], strict=True)
    ]
    fit = [0 <= start <= end <= len(texts[document]) for document, start, end in spans]
    text = pl.Series(cut, dtype=pl.String).str.replace_all(r"[\r\n]", " ")
    found = placed.select("row", there=text, fit=pl.Series(fit, dtype=pl.Boolean))
    parts = found.group_by("row", maintain_order=True)
    return parts.agg(pl.col("there").str.join(" "), pl.col("fit").all())


def fill_texts(corpus: Corpus) -> Corpus:
    """The corpus with the document text of spans that have no text of their own.

    Examples:
        >>> place = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1"}
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d", "text": "in Osh"}],
        ...     mentions=[{**place, "label": "City", "start": 3, "end": 6}],
        ... )
        >>> fill_texts(corpus).mentions["text"].to_list()
        ['Osh']
    """
    silent = corpus.mentions.filter(pl.col("text").is_null())
    if silent.is_empty():
        return corpus
    found = there(corpus, silent).drop("fit")
    mentions = corpus.mentions.join(found, on="row", how="left", maintain_order="left")
    text = pl.coalesce("text", pl.when(pl.col("there") != "").then("there"))
    return corpus.replace(mentions=mentions.with_columns(text=text).drop("there"))


def other_texts(corpus: Corpus) -> pl.DataFrame:
    """The mentions that are not in the document text, or whose text differs from it.

    The text of a span may be followed by a comment, and older files have no space between the
    fragments.

    Returns:
        The mentions with the columns `there` and `fit` of `there`.
    """
    others = corpus.mentions.filter(
        ~corpus.cached(are_at_place) | pl.col("fragments").is_not_null()
    )
    if others.is_empty():
        return others.with_columns(there="text", fit=pl.lit(True))
    placed = others.join(there(corpus, others), on="row", maintain_order="left")
    text, right = pl.col("text"), pl.col("there").str.strip_chars_end()
    rest = text.str.slice(right.str.len_chars())
    same = text.str.starts_with(right) & (rest.str.head(1).str.contains(r"^\s?$"))
    close = text.str.replace_all(" ", "") == right.str.replace_all(" ", "")
    older = pl.col("fragments").is_not_null() & close
    return placed.filter(~pl.col("fit") | ~(text.is_null() | same | older))
