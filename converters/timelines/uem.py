r"""UEM: the stretches of each file that are evaluated.

Format:
    A line for each stretch: file, channel, start, end, between spaces or tabs. Comments begin with
    `;;`.

Conventions:
    Times are seconds. A file is a document, whatever the channel; a region is named by its line.

Example lines:
    meeting1 1 0.000 1800.000

Codes raised: TLN8xx.
"""

from collections.abc import Iterable

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File
from hlteval.converters.toolkit.spaced_lines import line_problems, match_lines
from hlteval.findings import Finding
from hlteval.representation import Corpus

_FIELD = r"[^ \t]+"
_PATTERN = (
    rf"(?P<name>{_FIELD})[ \t]+{_FIELD}[ \t]+(?P<start>{notation.SECONDS})"
    rf"[ \t]+(?P<end>{notation.SECONDS})"
)


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The stretches as regions, a batch for each file."""
    text = file.text or ""
    rows, wrong = match_lines(text, _PATTERN)
    times = [pl.Series(name, [float(each) for each in rows[name]], pl.Float64) for name in _TIMES]
    rows = rows.with_columns(*times, region=pl.col("record").cast(pl.String))
    empty = rows.filter(pl.col("start") >= pl.col("end"))
    documents, regions = with_documents(rows.filter(pl.col("start") < pl.col("end")))
    corpus = Corpus(sources=[file.origin], documents=documents, regions=regions)
    return corpus, [
        *line_problems(file.member, text, "TLN801", wrong),
        *line_problems(file.member, text, "TLN802", empty["record"].to_list()),
    ]


_TIMES = ("start", "end")


FORMAT = declaration(__name__)
