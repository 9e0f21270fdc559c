r"""Responses to the questionnaire of CCU TA2: one answer of a speaker per line.

Format:
    Five tab-separated columns: condition, interaction, speaker, question, response. The first line
    names them, in any order. There is no quoting.

Conventions:
    An interaction is a document. Questions are numbered from 1, answers are words of a scale of
    agreement or numbers. Empty lines are skipped.

Example lines:
    condition	interaction	speaker	question	response
    Baseline	I07	operator	1	Completely Agree

Codes raised: CCA1xx.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File, head
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table

#: A cell with more than spaces.
_FILLED = "[^\t\r\n\x00]*[^\t\r\n\x00 ][^\t\r\n\x00]*"
TABLE = Table(
    (
        Column("condition", pattern=_FILLED, code="CCA104"),
        Column("name", heading="interaction", pattern=_FILLED, code="CCA104"),
        Column("speaker", pattern=_FILLED, code="CCA104"),
        Column("question", "integer", pattern="[0-9]{1,9}", code="CCA103"),
        Column("response", pattern=_FILLED, code="CCA104"),
    ),
    code="CCA101",
    header="required",
    header_code="CCA102",
    exact=False,
    any_order=True,
)
#: Columns that a header must name to be recognised, so that it can lack one.
_RECOGNISED = 3


def sniff(source: Source) -> bool:
    """Whether it is a single file whose first line names columns of responses."""
    first = head(source).partition("\n")[0]
    titles = {title.strip().lower() for title in first.split("\t")}
    return len(titles & {*TABLE.headings}) >= _RECOGNISED


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The responses, a batch for each file."""
    if file.text is None:
        return Corpus(sources=[file.origin]), ()
    table = TABLE.read(file.text)
    documents, responses = with_documents(table.rows)
    rejected = table.rejected_records("response")
    corpus = Corpus(
        sources=[file.origin], documents=documents, responses=responses, rejected_records=rejected
    )
    return corpus, table.findings(file.member)


def as_rows(corpus: Corpus) -> pl.DataFrame:
    """The responses of all interactions that lines can represent."""
    return _with_names(corpus).filter(_writable())


def _with_names(corpus: Corpus) -> pl.DataFrame:
    names = corpus.documents.select("name", document="row")
    return corpus.responses.join(names, on="document", maintain_order="left")


def _writable() -> pl.Expr:
    """Which responses, with the names of their interactions, a line can represent."""
    texts = ("condition", "name", "speaker", "response")
    return pl.all_horizontal(
        pl.col("question").is_between(0, 10**9 - 1),
        *(pl.col(text).str.contains(f"^(?:{_FILLED})$") for text in texts),
    )


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what lines cannot represent."""
    odd = _with_names(corpus).filter(~_writable())
    return {"responses that do not fit a line": odd.height}


FORMAT = declaration(__name__)
