"""Writing CoNLL coreference: tokens of a corpus with the mentions that begin and end there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.edl.conll_brackets import BEGIN, part
from hlteval.representation import Corpus

_ENTITY = r"^[^()|\s]+$"
_PARTED = re.compile(r"(.*);([1-9][0-9]*)", re.DOTALL)
_SPACES = re.compile(r"\s+")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the documents that have tokens."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for corpus in corpora:
            stream.writelines(f"{line}\n" for line in _lines(corpus))


def _begin(name: str) -> str:
    """The line that begins a document."""
    parted = _PARTED.fullmatch(name)
    base, number = (parted[1], parted[2]) if parted else (name, "")
    return f"#begin document ({base}); part {number:0>3}"


def _is_writable(name: str) -> bool:
    """Whether a document of this name is read as the same one."""
    begun = BEGIN.match(_begin(name))
    return "\n" not in name and "\r" not in name and begun is not None and part(begun) == name


def _tokens(corpus: Corpus) -> pl.DataFrame:
    """The tokens of documents that can be written, in order."""
    names = [name for name in corpus.documents["name"] if _is_writable(name)]
    documents = corpus.documents.filter(pl.col("name").is_in(names)).select(
        named="name", document="row"
    )
    tokens = corpus.tokens.filter(pl.col("text").str.strip_chars() != "")
    named = tokens.join(documents, on="document", maintain_order="left")
    return named.sort("document", "start", "end", maintain_order=True).with_columns(
        token=pl.int_range(pl.len())
    )


def _placed(corpus: Corpus, tokens: pl.DataFrame) -> pl.DataFrame:
    """The mentions that begin and end where tokens do, with the first and the last of these."""
    first = tokens.unique(("document", "start"), keep="first").select(
        "document", "start", first="token"
    )
    last = tokens.unique(("document", "end"), keep="last").select(
        "document", "end", "named", last="token"
    )
    placed = corpus.mentions.join(first, on=("document", "start"), maintain_order="left")
    placed = placed.join(last, on=("document", "end"), maintain_order="left")
    own = pl.format("NIL{}:{}", "number", "named")
    numbered = placed.with_columns(
        number=pl.col("entity").str.extract(r"^NIL([0-9]+):", 1).fill_null("")
    )
    written = pl.when(pl.col("entity") == own).then("number").otherwise("entity")
    return numbered.with_columns(written=written).filter(
        pl.col("first") <= pl.col("last"), pl.col("written").str.contains(_ENTITY)
    )


def _read_again() -> pl.Expr:
    """Whether a token is read with the same offsets: its number, or characters of the words."""
    number = pl.int_range(1, pl.len() + 1).over("document")
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    end = (length + 1).cum_sum().over("document") - 1
    by_number = (pl.col("start") == number) & (pl.col("end") == number + 1)
    return by_number | ((pl.col("start") == end - length) & (pl.col("end") == end))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What no line can represent of the tables."""
    tokens = _tokens(corpus)
    placed = _placed(corpus, tokens)
    silent = corpus.documents.join(tokens, left_on="row", right_on="document", how="anti")
    bare = corpus.segments.join(tokens, left_on="row", right_on="segment_row", how="anti")
    elsewhere = tokens.filter(~_read_again())
    numbers = placed.filter(pl.col("entity").str.contains("^[0-9]+$"))
    return {
        "documents without tokens": silent.height,
        "segments without tokens": bare.height,
        "tokens without text, or with spaces": corpus.tokens.height
        - tokens.filter(~pl.col("text").str.contains(r"\s")).height,
        "tokens with offsets that change on reading": elsewhere.height,
        "mentions without an entity, or not aligned with tokens": corpus.mentions.height
        - placed.height,
        "types and identifiers of mentions": placed.filter(
            (pl.col("label") != "") | (pl.col("mention") != "")
        ).height,
        "links to a knowledge base, read back as clusters": numbers.height,
    }


def _lines(corpus: Corpus) -> Iterator[str]:
    tokens = _tokens(corpus)
    brackets = _brackets(_placed(corpus, tokens))
    document, segment, number = None, None, 0
    for name, sentence, token, text in tokens.select(
        "named", "segment_row", "token", "text"
    ).rows():
        if name != document:
            yield from (["", "#end document"] if document is not None else [])
            yield _begin(name)
            document, segment, number = name, sentence, 0
        elif sentence != segment:
            yield ""
            segment, number = sentence, 0
        word = _SPACES.sub("_", text)
        base = _PARTED.fullmatch(name)
        shown = _SPACES.sub("_", base[1] if base else name)
        cell = "|".join(brackets.get(token, ())) or "-"
        yield "\t".join([shown or "-", str(base[2] if base else 0), str(number), word, cell])
        number += 1
    yield from (["", "#end document"] if document is not None else [])


def _brackets(mentions: pl.DataFrame) -> Mapping[int, list[str]]:
    """The last column by token: mentions that begin, the outer first; then those that end."""
    ordered = mentions.sort("first", "last", descending=[False, True], maintain_order=True)
    rows = ordered.select("first", "last", "written").rows()
    cells: dict[int, list[str]] = {}
    for first, last, entity in rows:
        cells.setdefault(first, []).append(f"({entity})" if first == last else f"({entity}")
    for _, last, entity in (row for row in reversed(rows) if row[0] != row[1]):
        cells.setdefault(last, []).append(f"{entity})")
    return cells
