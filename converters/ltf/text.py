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

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.ltf.rsd import lines, texts
from hlteval.converters.ltf.tables import with_texts
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

    def files() -> Iterator[tuple[str, str]]:
        for corpus in corpora:
            paths = source_files.output_paths(corpus, FORMAT.name, SUFFIX)
            for row, content in _contents(corpus, divided=tokens == "divided"):
                if row in paths and not re.search(source_files.UNWRITABLE_TEXT, content):
                    yield paths[row], content

    source_files.write_files(files(), path)


def _contents(corpus: Corpus, *, divided: bool) -> Iterator[tuple[int, str]]:
    """The content of the file of each document: its segments, or its lines.

    White space in them is one space; there is one between tokens if they are divided.
    """
    segments, text = with_texts(corpus, corpus.segments), pl.col("text").fill_null("")
    if divided:
        inside = corpus.tokens.group_by(row="segment_row", maintain_order=True)
        joined = inside.agg(divided=pl.col("text").str.join(" "))
        segments = segments.join(joined, on="row", how="left", maintain_order="left")
        text = pl.coalesce("divided", text)
    line = text.str.replace_all(r"\s+", " ").str.strip_chars()
    contents: dict[int, list[str]] = {}
    for document, written in segments.select("document", line=line).iter_rows():
        contents.setdefault(document, []).append(written)
    for row, whole in corpus.documents.select("row", pl.col("text").fill_null("")).iter_rows():
        bare = (" ".join(whole[start:end].split()) for start, end in lines(whole))
        yield row, "".join(f"{one}\n" for one in contents.get(row) or filter(None, bare))


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of documents without a file, and of those whose text is not its lines."""
    contents = dict(_contents(corpus, divided=False))
    written = pl.Series(contents.values(), dtype=pl.String)
    texts = corpus.documents.select("row", "text").iter_rows()
    return {
        **source_files.count_without_file(corpus, FORMAT.name, SUFFIX),
        **source_files.count_unwritable_texts(written),
        "texts that do not consist of lines": sum(text != contents[row] for row, text in texts),
    }


FORMAT = declaration(__name__)
