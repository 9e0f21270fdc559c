r"""The tables of a corpus as JSON Lines: human-readable, and for tools that do not read Parquet.

Format:
    A header, then one line per row: the name of its table and its columns, without nulls.

Conventions:
    Those of the representation: nothing is lost. Columns that a row lacks are null where that is
    allowed; unknown columns are ignored.

Example lines:
    {"format":"hlteval-corpus","version":1}
    {"table":"documents","row":0,"name":"d1","text":"aba"}

Codes raised: COR101, COR102.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from hlteval.converters.corpus.parquet import loaded, locate
from hlteval.converters.format import EVERYTHING, Format, ReadResult
from hlteval.converters.toolkit.single_file import head
from hlteval.representation import Corpus, read_jsonl, write_jsonl
from hlteval.sources import Source, Unreadable

_HEADER = '"hlteval-corpus"'


def sniff(source: Source) -> bool:
    """Whether the source is a single file that begins with the header."""
    return _HEADER in head(source, 200).partition("\n")[0]


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus, as one batch."""
    for member in source.members:
        try:
            content = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,))
        else:
            yield loaded(partial(read_jsonl, content, member.display), member.display)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All batches as one corpus."""
    with path.open("wb") as stream:
        write_jsonl(Corpus.concat(corpora), stream)


FORMAT = Format(
    name="jsonl",
    title="tables as JSON Lines: one row per line",
    suffixes=(".jsonl",),
    layout="single_file",
    carries=EVERYTHING,
    sniff=sniff,
    read=read,
    codes=("COR",),
    locate=locate,
    write=write,
    has_rows=True,
)
