r"""CTM: words with their times, as the output of speech recognition.

Format:
    A line for each word: file, channel, start, duration, word, and a confidence if there is one;
    further fields are ignored. Comments begin with `;;`.

Conventions:
    A file and channel are a document: `FILE` for the channels `1` and `A`, `FILE;CHANNEL` for
    others. Its words, in the order of their starts, are one segment without a name.

Example lines:
    meeting1 1 12.41 0.28 thank 0.98

Codes raised: TRN3xx.
"""

from collections.abc import Iterable

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit.source_files import File
from hlteval.converters.toolkit.spaced_lines import line_problems, match_lines
from hlteval.converters.transcripts.stm import SECONDS, as_segments, by_time
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member
from hlteval.syntax.sections import TableSections, field_sections

_FIELD = r"[^ \t]+"
_PATTERN = (
    rf"(?P<file>{_FIELD})[ \t]+(?P<channel>{_FIELD})[ \t]+(?P<start>{SECONDS})"
    rf"[ \t]+(?:{SECONDS})[ \t]+(?P<text>{_FIELD})(?:[ \t]+.*)?"
)


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The words of each document as a segment, a batch for each file."""
    text = file.text or ""
    rows, wrong = match_lines(text, _PATTERN)
    texts = (
        by_time(rows)
        .group_by("name", maintain_order=True)
        .agg(pl.col("record").first(), pl.col("text").str.join(" "))
    )
    corpus = as_segments(texts, file)
    return corpus, line_problems(file.member, text, "TRN301", wrong)


def sections(member: Member, **_: str) -> TableSections:
    """The documents of a file, of which one has all channels of a recording."""
    return field_sections(member, 0, b";;")


FORMAT = declaration(__name__)
