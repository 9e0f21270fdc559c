r"""SeeDev sentences: the sentence boundaries of each document.

Format:
    One line per sentence: document, tab, start, tab, end.

Conventions:
    Offsets are 0-based, half-open code points.

Example line:
    SeeDev-binary-11573014-4	0	33

Codes raised: SNT1xx.
"""

from collections.abc import Iterable

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File, head
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table

TABLE = Table(
    (
        Column("name", pattern=r"[^\t]+"),
        Column("start", "integer", pattern="[0-9]{1,9}"),
        Column("end", "integer", pattern="[0-9]{1,9}"),
    ),
    code="SNT101",
    ascending=("start", "end"),
)


def sniff(source: Source) -> bool:
    """Whether it is a single file whose first line is of this form."""
    first = head(source, 1000).partition("\n")[0]
    return bool(TABLE.explain_cells(1, first.removesuffix("\r"))[0])


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The sentences of all documents as segments of one corpus."""
    table = TABLE.read(file.text or "")
    is_stretch = pl.col("start") < pl.col("end")
    empty, most = table.rows.filter(~is_stretch), file.member.max_per_code
    wrong = table.problems_at("SNT101", empty, most=most)
    documents, segments = with_documents(table.rows.filter(is_stretch))
    corpus = Corpus(sources=[file.origin], documents=documents, segments=segments)
    return corpus, table.findings(file.member, *wrong)


FORMAT = declaration(__name__)
