r"""An index of CCU: a list of documents with a header, such as those that are scored.

Format:
    A first line that names the columns, of which `file_id` is needed; then a line for each
    document, separated by tabs. `type` and `length` are read if they are there, other columns not.

Conventions:
    The order has no meaning.

Example lines:
    file_id	type	file_path	length
    M987654BY	audio	./data/audio/M987654BY.flac.ldcc	306.7

Codes raised: CCS14x.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from hlteval.converters.ccu import tables as ccu_tables
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import head, locate_lines
from hlteval.findings import FieldRef, Location
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

KIND = ccu_tables.kinds_of("documents")["index"]
_ROW = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")


def sniff(source: Source) -> bool:
    """Whether it is a single file with a header of documents only."""
    first = head(source).partition("\n")[0]
    return "file_id" in ccu_tables.words_of(first) and not set(ccu_tables.words_of(first)) & _OTHERS


#: Columns of other tables about documents.
_OTHERS = {"user_id", "segment_id", "norm", "emotion", "llr", "start", "end", "is_processed"}


def read(source: Source) -> Iterator[ReadResult]:
    """The documents of each file."""
    return (_read(source.path, member) for member in source.members)


def _read(path: str, member: Member) -> ReadResult:
    tables = ccu_tables.Tables(path, FORMAT.name)
    tables.read(member, KIND)
    rows = tables.take_rows(KIND)
    tables.report_repeated("CCS141", rows, "file_id")
    kept = rows.unique("file_id", keep="first", maintain_order=True)
    documents = kept.select(_ROW, "origin", "length", "modality", name="file_id")
    sources, rejected = tables.files.sources, tables.rejected_records()
    corpus = Corpus(sources=sources, documents=documents, rejected_records=rejected)
    return ReadResult(corpus, tuple(tables.findings()), (member,))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of places of a file."""
    return locate_lines(
        member, places, KIND.table(ccu_tables.header_of(member).split("\t")).stretch
    )


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the names of all documents, with their types and lengths if any has one."""
    rows = pl.concat([_cells(corpus) for corpus in corpora] or [_cells(Corpus())])
    written = rows.filter(ccu_tables.fits(KIND, rows))
    titles = ccu_tables.titles_of(KIND, written)
    path.write_text(ccu_tables.text(titles, written), "utf-8", newline="")


def _cells(corpus: Corpus) -> pl.DataFrame:
    documents = corpus.documents.select("modality", "length", file_id="name")
    return ccu_tables.with_number_cells(documents, "length")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The documents that no line can hold."""
    rows = _cells(corpus)
    return {"documents that a line cannot hold": int((~ccu_tables.fits(KIND, rows)).sum())}


TABLE = KIND.declaration()
FORMAT = declaration(__name__)
