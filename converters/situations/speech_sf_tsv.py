r"""Speech Situation Frames as a table: one frame per line.

Format:
    A header and six tab-separated columns: DocumentID, Type, PlaceMention, TypeConfidence, Need,
    Relief. There is no quoting.

Conventions:
    An empty cell means no value. In every cell but TypeConfidence, `\t`, `\n`, `\r` and `\\`
    encode a tab, line breaks and a backslash, and `\e` alone an empty value.

Example lines:
    DocumentID	Type	PlaceMention	TypeConfidence	Need	Relief
    CHN_EVAL_096_004	Medical Assistance	江苏	0.55

Codes raised: SFT1xx.
"""

import re
from collections.abc import Iterable, Mapping

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.situations.types import names, type_hint
from hlteval.converters.toolkit.fitting import SITUATION
from hlteval.converters.toolkit.rows import escape, unescape, with_documents
from hlteval.converters.toolkit.source_files import File, head
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.tsv import Column, Table

_TEXTS = ("name", "label", "place", "status", "resolution")


def _number_hint(cell: str) -> Mapping[str, str]:
    if "," in cell:
        return {"hint": "the decimal sign is a point"}
    percentage = re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]*)?\s*%?", cell.strip())
    return {"hint": "divide percentages by 100" if percentage else "use only digits and a point"}


TABLE = Table(
    (
        Column("name", heading="DocumentID"),
        Column(
            "label",
            heading="Type",
            pattern=lambda: "|".join(map(re.escape, names())),
            code="SFT104",
            tolerated=True,
            describe=lambda cell: {"hint": type_hint(cell)},
        ),
        Column("place", heading="PlaceMention", nullable=True),
        Column(
            "confidence",
            "number",
            heading="TypeConfidence",
            pattern=r"(?:0(?:\.[0-9]*)?|1(?:\.0*)?|\.[0-9]+)(?:[eE]-?[0-9]{1,3})?",
            code="SFT103",
            nullable=True,
            describe=_number_hint,
        ),
        Column("status", heading="Need", nullable=True),
        Column("resolution", heading="Relief", nullable=True),
    ),
    code="SFT102",
    header="required",
    header_code="SFT101",
    blank_is_empty=False,
)


def sniff(source: Source) -> bool:
    """Whether it is a single file that begins with the header."""
    return head(source).startswith("DocumentID\tType\t")


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The frames of the file, as one batch."""
    if file.text is None:
        return Corpus(sources=[file.origin]), ()
    table = TABLE.read(file.text)
    rows = table.rows.with_columns(map(unescape, _TEXTS), kind=pl.lit(SITUATION))
    documents, frames = with_documents(rows)
    corpus = Corpus(sources=[file.origin], documents=documents, frames=frames)
    return corpus, table.findings(file.member)


def as_rows(corpus: Corpus) -> pl.DataFrame:
    """The situation frames of all documents, as they are written."""
    names = corpus.documents.select("name", document="row")
    frames = corpus.frames.filter(pl.col("kind") == SITUATION)
    rows = frames.join(names, on="document", maintain_order="left")
    return rows.with_columns(map(escape, _TEXTS))


FORMAT = declaration(__name__)
