r"""Plain text for other tools: the segments of each document, one per line.

Format:
    One UTF-8 file `<document>.txt` per document. When written, each line is a segment, or a
    non-empty line of a document without segments; when read, the whole file is the text of the
    document. This format is never auto-detected: use --from and --to.

Conventions:
    Whitespace in a segment, including line breaks, is written as a single space. With
    `tokens=divided`, tokens are separated by spaces.

Example lines:
    Emlashni birinchi kim boshlagan?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf.files import lines
from hlteval.converters.ltf.rsd import texts
from hlteval.converters.toolkit import source_files
from hlteval.representation import Corpus
from hlteval.sources import Source

SUFFIX = ".txt"


def read(source: Source) -> Iterator[ReadResult]:
    """The texts of a source in batches, in the order of their names."""
    for files in source_files.batches(source, FORMAT.name, SUFFIX):
        yield ReadResult(texts(files), tuple(files.findings), tuple(files.members))


def write(corpora: Iterable[Corpus], path: Path, tokens: str = "as-written") -> None:
    """The documents as a folder of files."""
    make = partial(_files, divided=tokens == "divided")
    source_files.write_files((file for corpus in corpora for file in make(corpus)), path)


def _files(corpus: Corpus, *, divided: bool) -> Iterator[tuple[str, str]]:
    output_paths = source_files.output_paths(corpus, FORMAT.name, SUFFIX)
    for row, content in _contents(corpus, divided=divided):
        if row in output_paths and not re.search(source_files.UNWRITABLE_TEXT, content):
            yield output_paths[row], content


def _contents(corpus: Corpus, *, divided: bool) -> Iterator[tuple[int, str]]:
    """The content of the file of each document: its segments, or its lines."""
    written: dict[int, list[str]] = {}
    for document, text in _segments(corpus, divided=divided).iter_rows():
        written.setdefault(document, []).append(text)
    for row, text in corpus.documents.select("row", "text").iter_rows():
        whole = text or ""
        segments = written.get(row) or [
            line for start, end in lines(whole) if (line := " ".join(whole[start:end].split()))
        ]
        yield row, "".join(f"{line}\n" for line in segments)


def _segments(corpus: Corpus, *, divided: bool) -> pl.DataFrame:
    """The text of each segment, with one space for white space."""
    whole = corpus.documents.select(document="row", whole="text")
    segments = corpus.segments.join(whole, on="document", how="left", maintain_order="left")
    width = (pl.col("end") - pl.col("start")).clip(lower_bound=0)
    text = pl.coalesce("text", pl.col("whole").str.slice(pl.col("start"), width), pl.lit(""))
    if divided:
        inside = corpus.tokens.group_by(row="segment_row", maintain_order=True)
        joined = inside.agg(divided=pl.col("text").str.join(" "))
        segments = segments.join(joined, on="row", how="left", maintain_order="left")
        text = pl.coalesce("divided", text)
    return segments.select("document", text=text.str.replace_all(r"\s+", " ").str.strip_chars())


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of documents without a file, and of those whose text is not its lines."""
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    contents = list(_contents(corpus, divided=False))
    written = pl.Series([text for _, text in contents], dtype=pl.String)
    return {
        **source_files.count_without_file(corpus, FORMAT.name, SUFFIX),
        **source_files.count_unwritable_texts(written),
        "texts that do not consist of lines": sum(text != texts[row] for row, text in contents),
    }


FORMAT = declaration(__name__)
