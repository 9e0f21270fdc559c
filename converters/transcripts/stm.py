r"""STM: segments with their times, speakers and texts, as the reference of speech recognition.

Format:
    A line for each segment: file, channel, speaker, start, end, labels between `<` and `>` if there
    are some, and the text. Comments begin with `;;`.

Conventions:
    A file and channel are a document: `FILE` for the channels `1` and `A`, `FILE;CHANNEL` for
    others. Segments are in the order of their starts and have no names, so that a document is
    compared as a whole, whatever the segments of the system are. Segments whose text is
    `IGNORE_TIME_SEGMENT_IN_SCORING` are left out; words in braces and brackets count as written.

Example lines:
    meeting1 1 alice 12.35 14.02 <o,f0,female> thank you all for coming

Codes raised: TRN2xx.
"""

from collections.abc import Iterable

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.toolkit.rows import with_documents
from hlteval.converters.toolkit.source_files import File
from hlteval.converters.toolkit.spaced_lines import line_problems, match_lines
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member
from hlteval.syntax.sections import TableSections, field_sections

_FIELD, SECONDS = r"[^ \t]+", r"[0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+"
_PATTERN = (
    rf"(?P<file>{_FIELD})[ \t]+(?P<channel>{_FIELD})[ \t]+{_FIELD}[ \t]+(?P<start>{SECONDS})"
    rf"[ \t]+(?:{SECONDS})(?:[ \t]+<[^>]*>)?(?:[ \t]+(?P<text>.*))?"
)
_IGNORED = "IGNORE_TIME_SEGMENT_IN_SCORING"


def read_file(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The segments of a file."""
    text = file.text or ""
    rows, wrong = match_lines(text, _PATTERN)
    rows = rows.filter(pl.col("text").str.to_uppercase().ne_missing(_IGNORED))
    rows = by_time(rows).with_columns(pl.col("text").fill_null(""))
    return as_segments(rows, file), line_problems(file.member, text, "TRN201", wrong)


def by_time(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the name of their document for file and channel, by document and start."""
    first = pl.col("channel").is_in(["1", "A"])
    name = pl.when(first).then("file").otherwise(pl.format("{};{}", "file", "channel"))
    named = rows.with_columns(name=name, start=pl.col("start").cast(pl.Float64))
    first = pl.col("record").min().over("name")
    return named.with_columns(first=first).sort("first", "start", maintain_order=True)


def as_segments(rows: pl.DataFrame, file: File) -> Corpus:
    """The corpus of rows with a document and a text each, in their order.

    Args:
        rows: `record`, `name` (of the document) and `text`, the rows of a document together.
        file: where they are from.
    """
    documents, segments = with_documents(rows.select("record", "name", "text"))
    end = (pl.col("text").str.len_chars().cast(pl.Int64) + 1).cum_sum().over("document") - 1
    length = pl.col("text").str.len_chars().cast(pl.Int64)
    segments = segments.with_columns(start=end - length, end=end)
    joined = segments.group_by("document", maintain_order=True).agg(pl.col("text").str.join("\n"))
    texts = joined.select("text", row="document")
    documents = documents.join(texts, on="row", how="left", maintain_order="left")
    return Corpus(sources=[file.origin], documents=documents, segments=segments)


def sections(member: Member, **_: str) -> TableSections:
    """The documents of a file, of which one has all channels of a recording."""
    return field_sections(member, 0, b";;")


FORMAT = declaration(__name__)
