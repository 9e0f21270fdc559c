"""Tagged tokens of a corpus: which mentions tags can represent, in which scheme, and what is lost.

The text of a document is made of its words when columns are read, so that all offsets count in
that text. Documents without tokens get those of their text: words, and other characters alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from hlteval.converters.format import WrongSetting, comma_parts
from hlteval.converters.toolkit.made_text import MadeText
from hlteval.converters.toolkit.token_lines import bodies, ordered_tokens, with_tokens
from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import Mask, Scheme, Spans, TagSequence, Whole, detect

DocumentLine = Literal["named", "plain", "begin", "none", "row"]
#: What tokens of a text are, and what is between them.
_PARTS = r"\w+|\s+|[^\w\s]"
#: Characters that no cell has, by what is between cells.
_UNFIT = {"tab": r"[\t\n\r\x00\x{FEFF}]", "space": r"[\s\x00\x{FEFF}]"}
#: First words that would begin or end a document.
_MARKER = "^(-DOCSTART-|#begin|#end)"
_UNNAMED = r"[\n\r\x00\x{FEFF}]|^$|^\s|\s$"


class Tagged(NamedTuple):
    """The tokens and mentions of a corpus as they are written.

    Attributes:
        documents: the documents, with their place in the file as `number`.
        tokens: a row per token: `number`, `word` as written, `pos`, `begins`, `start` and `end` in
            the corpus, `tag`, and the `mention_row` of its mention, if it has one.
        mentions: all mentions, with `lost`: why one is not written, null if it is.
        made: the text as it will be read.
    """

    documents: pl.DataFrame
    tokens: pl.DataFrame
    mentions: pl.DataFrame
    made: MadeText


#: Why a mention is lost whose fragments are counted already.
_IN_PIECES = "discontinuous spans"


def _tokens(corpus: Corpus) -> pl.DataFrame:
    """The tokens of a corpus by document and start, or those of its texts; and what they begin."""
    own = ordered_tokens(corpus, pl.col("text") != "").drop("segment_row")
    silent = corpus.documents.join(own, left_on="row", right_on="document", how="anti")
    texts = silent.select(document="row", text="text").drop_nulls("text")
    parts = texts.with_columns(pl.col("text").str.extract_all(_PARTS)).explode("text")
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    end = length.cum_sum().over("document")
    parts = parts.drop_nulls("text").with_columns(start=end - length, end=end)
    line = pl.col("text").str.contains(r"^\s*\n").cast(pl.Int64).cum_sum()
    parts = parts.with_columns(line=line).filter(pl.col("text").str.contains(r"\S"))
    changes = pl.struct("document", "line").ne_missing(pl.struct("document", "line").shift(1))
    parts = parts.with_columns(begins=changes, pos=pl.lit(None, pl.String))
    return pl.concat([own, parts.select(own.columns)])


def tag_corpus(
    corpus: Corpus,
    separator: str,
    scheme: Scheme | Literal["same"],
    document_line: DocumentLine,
    *,
    glue: bool = False,
) -> Tagged:
    """The tokens of a corpus with their tags, and what becomes of its mentions.

    Args:
        corpus: any corpus.
        separator: what is between columns: `tab` or `space`.
        scheme: of the tags; `same` for that of the tags of the corpus.
        document_line: how documents begin; in `row` they are rows of one sentence each.
        glue: whether a format marks words without a space between them.
    """
    named = document_line in {"named", "begin"}
    fit = ~pl.col("name").str.contains(_UNNAMED) if named else pl.lit(value=True)
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    documents = corpus.documents.filter(fit).with_columns(number=number)
    if document_line == "none":
        documents = documents.with_columns(number=pl.lit(0, pl.Int64))
    tokens = _tokens(corpus)
    if document_line == "row":
        tokens = tokens.with_columns(begins=pl.col("document").is_first_distinct())
        joined = pl.col("text").str.replace_all("\n", " ", literal=True)  # between sentences
        documents = documents.with_columns(joined)
    word = pl.col("text").str.replace_all(_UNFIT[separator], "_").str.replace(_MARKER, "_$1")
    keys = documents.select("number", document="row")
    tokens = tokens.with_columns(word=word).join(
        keys, on="document", how="inner", maintain_order="right_left"
    )
    tokens = tokens.with_columns(token=pl.int_range(pl.len(), dtype=pl.Int64))
    if glue:
        glued = (pl.col("start") == pl.col("end").shift(1)) & ~pl.col("begins")
        tokens = tokens.with_columns(glued=glued.fill_null(value=False))
    begins = tokens["begins"].to_numpy()
    mentions = _placed_mentions(corpus, tokens)
    written = mentions.filter(pl.col("lost").is_null())
    if scheme == "same":
        tags = corpus.tokens["tag"]
        whole = np.zeros(len(tags), dtype=np.bool_)
        known = corpus.tokens.height > 0 and not tags.null_count()
        scheme = detect(TagSequence.parse(tags, whole)) if known else "IOB2"
    first, last = written["first"].to_numpy(), written["last"].to_numpy()
    owners = Spans(first, last, first).owners(len(begins))
    inside = pl.Series(owners >= 0, dtype=pl.Boolean)
    tokens = tokens.with_columns(
        tag=_tags(written, owners, begins, scheme),
        mention_row=pl.when(inside).then(written["row"].gather(np.maximum(owners, 0)))
        if written.height
        else pl.lit(None, pl.Int64),
    )
    size = int(documents["number"].max() or 0) + 1 if documents.height else 0  # type: ignore[arg-type]
    made = MadeText.of(tokens.with_columns(document="number"), size)
    return Tagged(documents, tokens, mentions, made)


def _placed_mentions(corpus: Corpus, tokens: pl.DataFrame) -> pl.DataFrame:
    """The mentions with their `first` and `last` tokens, by these; and why some are `lost`."""
    rows = corpus.mentions.with_columns(order=pl.int_range(pl.len()))
    rows = with_tokens(rows, tokens)
    sentence = tokens["begins"].cum_sum()
    first, last = (sentence.gather(rows[name]) for name in ("first", "last"))
    torn = pl.col("first").is_null() | pl.col("last").is_null() | (pl.col("first") > pl.col("last"))
    reason = (
        pl.when(pl.col("fragments").is_not_null())
        .then(pl.lit(_IN_PIECES))
        .when(torn)
        .then(pl.lit("spans that do not begin and end with words"))
        .when(first != last)
        .then(pl.lit("spans over several sentences"))
        .when(~pl.col("label").str.contains(r"^[^\s\x00\x{FEFF}]+$") | (pl.col("label") == "_"))
        .then(pl.lit("mentions whose label is empty or has spaces"))
    )
    rows = rows.with_columns(lost=reason)
    kept = rows.filter(pl.col("lost").is_null())
    kept = kept.sort("first", -pl.col("last"), "order", maintain_order=True)
    outer = _without_overlaps(kept["first"].to_numpy(), kept["last"].to_numpy())
    nested = kept.filter(~pl.Series(outer, dtype=pl.Boolean))["row"]
    lost = pl.when(pl.col("row").is_in(nested.implode())).then(
        pl.lit("spans that overlap another one")
    )
    return rows.with_columns(lost=pl.coalesce("lost", lost)).sort("first", maintain_order=True)


def _without_overlaps(first: Whole, last: Whole) -> Mask:
    """Whether each span is kept: of some that overlap, the first one, and what follows it.

    Args:
        first: the first token of each span, in order; the longest first among equals.
        last: its last token.
    """
    reach = np.maximum.accumulate(np.r_[-1, last][: len(first)])
    kept = first > reach
    starts = np.flatnonzero(kept)
    sizes = np.diff(np.r_[starts, len(first)])
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        end = last[start]  # only spans that overlap are looked at one by one
        for at in range(start + 1, start + size):
            if first[at] > end:
                kept[at], end = True, last[at]
    return kept


def _tags(mentions: pl.DataFrame, owners: Whole, begins: Mask, scheme: Scheme) -> pl.Series:
    """The tag of each token.

    Args:
        mentions: those that are written, in order, with their `label`.
        owners: the number of the mention that each token is in; -1 in none.
        begins: whether a sentence begins at a token.
        scheme: of the tags.
    """
    size = len(begins)
    owner = np.r_[-1, owners, -1]  # with nothing before and after all tokens
    code = np.r_[mentions["label"].rank("dense").to_numpy().astype(np.int64), 0]
    label = np.where(owner >= 0, code[owner], 0)
    ends = np.r_[begins[1:], np.ones(min(size, 1), dtype=np.bool_)]
    before = np.where(begins, 0, label[:-2]) == label[1:-1]  # the same label beside it
    after = np.where(ends, 0, label[2:]) == label[1:-1]
    opens, closes = owner[:-2] != owner[1:-1], owner[2:] != owner[1:-1]
    letters = np.full(size, "I")
    match scheme:
        case "IOB1":
            letters[opens & before] = "B"
        case "IOB2":
            letters[opens] = "B"
        case "IOE1":
            letters[closes & after] = "E"
        case "IOE2":
            letters[closes] = "E"
        case _:
            letters[opens] = "B"
            letters[closes] = "L" if scheme == "BILOU" else "E"
            letters[opens & closes] = "U" if scheme == "BILOU" else "S"
    names = mentions["label"].gather(np.maximum(owner[1:-1], 0)) if mentions.height else pl.lit("")
    tagged = pl.format("{}-{}", pl.Series(letters, dtype=pl.String), names)
    is_out = pl.Series(owner[1:-1] < 0, dtype=pl.Boolean)
    return pl.select(pl.when(is_out).then(pl.lit("O")).otherwise(tagged)).to_series()


def write(
    corpora: Iterable[Corpus],
    path: Path,
    to_scheme: Scheme | Literal["same"] = "same",
    document_line: DocumentLine = "named",
    columns: str = "word,tag",
    separator: str = "tab",
) -> None:
    """Write the documents of all corpora to one file.

    Raises:
        WrongSetting: if the columns lack the word or the tag, or cannot be columns.
    """
    between = {"tab": "\t", "space": " "}[separator]
    named = comma_parts(columns)
    if not {"word", "tag"} <= {*named}:
        raise WrongSetting(f"invalid columns {columns}: word and tag must be among them")
    if any(re.search(r"^$|\s", name) for name in named):
        raise WrongSetting(f"invalid columns {columns}: names are not empty, without spaces")
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            tagged = tag_corpus(corpus, separator, to_scheme, document_line)
            stream.writelines(_blocks(tagged, named, between, document_line))


def _blocks(
    tagged: Tagged, columns: Sequence[str], between: str, document_line: DocumentLine
) -> Iterator[str]:
    """The documents, each with its line and its sentences, which end in an empty line."""
    unfit = _UNFIT["tab" if between == "\t" else "space"]
    cells = {
        "word": pl.col("word"),
        "tag": pl.col("tag"),
        "pos": pl.col("pos").replace("", None).str.replace_all(unfit, "_").fill_null("_"),
    }
    line = pl.concat_str([cells.get(name, pl.lit(name)) for name in columns], separator=between)
    plain = between.join(["-DOCSTART-", *["-X-"] * (len(columns) - 2), "O"])
    for name, body in bodies(tagged.documents, tagged.tokens, line):
        match document_line:
            case "named":
                yield f"-DOCSTART- ({name})\n\n"
            case "plain":
                yield f"{plain}\n\n"
            case "begin":
                yield f"#begin document ({name}); part 000\n"
        yield body
        if document_line == "begin":
            yield "#end document\n"


def count_losses(
    corpus: Corpus, document_line: DocumentLine = "named", separator: str = "tab"
) -> Mapping[str, int]:
    """The counts of what tags of tokens cannot represent."""
    tagged = tag_corpus(corpus, separator, "IOB2", document_line)
    documents = tagged.documents
    numbered = documents["name"] == (documents["number"] + 1).cast(pl.String)
    return {
        **count_words_lost(corpus, tagged),
        "names of documents": int((~numbered).sum()) if document_line in {"plain", "none"} else 0,
        "documents that are joined to the first": max(documents.height - 1, 0)
        if document_line == "none"
        else 0,
    }


def count_words_lost(corpus: Corpus, tagged: Tagged) -> Mapping[str, int]:
    """The counts of what a text of words and tags of them cannot represent.

    Args:
        corpus: the corpus.
        tagged: the same, with tags.
    """
    documents, made, tokens = tagged.documents, tagged.made, tagged.tokens
    reasons = tagged.mentions["lost"].drop_nulls().to_list()
    now = pl.DataFrame({"start": made.starts, "end": made.ends})
    now = now.with_columns(tokens["document", "word", "begins"])
    sentences = now.with_columns(sentence=pl.col("begins").cum_sum()).group_by("sentence")
    places = sentences.agg(pl.col("document", "start").first(), pl.col("end").last())
    key = ["document", "start", "end"]
    texts = documents.drop_nulls("text").select("number", "text")
    same = texts["text"] == pl.Series(made.texts, dtype=pl.String).gather(texts["number"])
    own = corpus.tokens.join(now, left_on=[*key, "text"], right_on=[*key, "word"], how="anti")
    return {
        **{
            reason: reasons.count(reason)
            for reason in dict.fromkeys(reasons)
            if reason != _IN_PIECES
        },
        "documents whose name no line can have": corpus.documents.height - documents.height,
        "texts that are not their words with single spaces": int((~same).sum()),
        "sentences with other offsets in the text of words": corpus.segments.join(
            places, on=key, how="anti"
        ).height,
        "tokens with other offsets in the text of words": own.height,
        "tokens outside of sentences": corpus.tokens["segment_row"].null_count(),
    }
