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

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple
from unicodedata import category

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit import source_files
from hlteval.converters.toolkit.source_files import FileBatch
from hlteval.findings import Finding, Problem, spot
from hlteval.representation import Corpus
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
    documents: dict[str, dict[str, object]] = {}
    for origin, name, text in files.texts:
        document = {"row": len(documents), "origin": origin, "name": name, "text": text}
        documents.setdefault(name, document)
    return Corpus(sources=files.sources, documents=documents.values())


def _unwritable(files: FileBatch) -> Iterator[Finding]:
    """The first character of each text that LTF cannot hold, with the count of all."""
    for origin, _, text in files.texts:
        if found := re.search(UNWRITABLE, text):
            count = len(re.findall(UNWRITABLE, text))
            values = {"character": f"U+{ord(found[0]):04X}", "count": count}
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
    }


# Segments and tokens of plain text, by simple rules without a language model.
#
# A segment is a line without its line feed, so that the text can be rebuilt from the segments.
# White space separates tokens; punctuation at either end of a token is a token of its own.


_LINE, _CHUNK = re.compile("[^\n]+"), re.compile(r"\S+")
#: Addresses, user names and hash tags, whose first character is not punctuation.
_WHOLE = re.compile(r"[A-Za-z][A-Za-z+.-]*://\S*\w/?|[@#]\w+")
#: Characters between letters of a word: apostrophes and joiners.
_INNER = "'`\u2019\u02bc\u02bb\u200c\u200d"


class Token(NamedTuple):
    """A token: its offsets (half-open), and whether it is a word, punctuation or neither."""

    start: int
    end: int
    pos: str


def lines(text: str) -> Iterator[tuple[int, int]]:
    r"""The lines of a text that are not empty, as offsets.

    Only a line feed ends a line.

    Examples:
        >>> list(lines("\nab\n\nc d\n"))
        [(1, 3), (5, 8)]
    """
    return (line.span() for line in _LINE.finditer(text))


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of a stretch of a text: between white space, a core and the punctuation around it.

    Examples:
        >>> text = "(Reuters) - Ukraine's Buk-M2."
        >>> [text[token.start : token.end] for token in tokens(text)]
        ['(', 'Reuters', ')', '-', "Ukraine's", 'Buk-M2', '.']
        >>> [token.pos for token in tokens(text)][-3:]
        ['word', 'unknown', 'punct']
    """
    for chunk in _CHUNK.finditer(text, start, len(text) if end is None else end):
        first, last = chunk.span()
        whole = _WHOLE.match(text, first, last)
        while not whole and first < last and _is_mark(text[first]):
            first += 1
        floor = whole.end() if whole else first
        while last > floor and _is_mark(text[last - 1]):
            last -= 1
        if first > chunk.start():
            yield Token(chunk.start(), first, "punct")
        if last > first:
            letters = all(category(c)[0] in "LMN" or c in _INNER for c in text[first:last])
            yield Token(first, last, "word" if letters and not whole else "unknown")
        if chunk.end() > last:
            yield Token(last, chunk.end(), "punct")


@cache
def _is_mark(character: str) -> bool:
    """Whether a character is punctuation, or a sign of money or arithmetic."""
    return category(character)[0] == "P" or category(character) in {"Sc", "Sm", "Sk"}


FORMAT = declaration(__name__)
