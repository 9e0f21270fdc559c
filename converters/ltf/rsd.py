r"""RSD: the raw text of each document of a language pack.

Format:
    One UTF-8 file `<document>.rsd.txt` per document, which contains only the text; or `.txt`, where
    a folder or archive has nothing else.

Conventions:
    Offsets of annotations are 0-based code points. When written as LTF, each line becomes a segment
    and is tokenized.

Example lines:
    Emlashni birinchi kim boshlagan?

Codes raised: RSD1xx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import FileBatch
from hlteval.findings import Finding, Problem, spot
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source

SUFFIX, PLAIN = ".rsd.txt", ".txt"
#: Characters that XML cannot hold, and carriage returns, which it turns into line feeds.
UNWRITABLE = "[\x00-\x08\x0b-\x1f\ufffe\uffff]"


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The file of each document, by its name without `.rsd.txt` or `.txt`."""
    return source_files.documents(source, _suffix(source))


def sniff(source: Source) -> bool:
    """Whether a file has the suffix, or there is nothing but plain texts."""
    return source_files.has_suffix(source, SUFFIX) or _suffix(source) == PLAIN


def _suffix(source: Source) -> str:
    """The suffix of the files of a source: that of plain texts if these are all that there is."""
    names = [member.basename for member in source.members]
    plain = source.kind not in {"file", "stdin"} and bool(names)
    plain = plain and all(name.endswith(PLAIN) and not name.endswith(SUFFIX) for name in names)
    return PLAIN if plain else SUFFIX


def read(source: Source) -> Iterator[ReadResult]:
    """The texts of a source in batches, in the order of their names."""
    for files in source_files.batches(source, FORMAT.name, _suffix(source)):
        unwritable = _unwritable(files)
        yield ReadResult(texts(files), (*files.findings, *unwritable), tuple(files.members))


def texts(files: FileBatch) -> Corpus:
    """A corpus of text files; of several files with one name, the first."""
    rows = {name: (origin, name, text) for origin, name, text in reversed(files.texts)}
    schema = {name: TABLES["documents"].schema[name] for name in ("origin", "name", "text")}
    table = pl.DataFrame(list(rows.values())[::-1], schema=schema, orient="row")
    return Corpus(
        sources=files.sources,
        documents=table.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *schema),
    )


def _unwritable(files: FileBatch) -> Iterator[Finding]:
    """The first character of each text that LTF cannot hold, with the count of all."""
    for origin, _, text in files.texts:
        if found := re.search(UNWRITABLE, text):
            values = {
                "character": f"U+{ord(found[0]):04X}",
                "count": len(re.findall(UNWRITABLE, text)),
            }
            place = spot(text, found.start())
            problem = Problem("RSD101", place.line, place.column - 1, place.column, values)
            line = text.split("\n", place.line)[place.line - 1]
            yield problem.in_line(files.members[origin].display, line)


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The file of each text, as it is."""
    output_paths = source_files.output_paths(corpus, FORMAT.name, SUFFIX)
    texts = corpus.documents.drop_nulls("text")
    texts = texts.filter(~pl.col("text").str.contains(source_files.UNWRITABLE_TEXT))
    for row, text in texts.select("row", "text").iter_rows():
        if row in output_paths:
            yield output_paths[row], text


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The documents that files cannot represent."""
    return {
        **source_files.count_without_file(corpus, FORMAT.name, SUFFIX),
        **source_files.count_unwritable_texts(corpus.documents["text"]),
        "documents without a text": corpus.documents["text"].null_count(),
    }


FORMAT = declaration(__name__)
