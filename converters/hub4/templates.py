r"""HUB-4 template sets: the templette instances found in a text.

Format:
    One file of instances. An instance has a header line with its name, and slots; a slot has a name
    and fills, on the same and on following lines. A fill is a pointer to another instance, or a
    text with its extents. A line that starts with `/` starts another alternative; a slash before
    the first fill marks the slot as optional. Empty lines and indentation are ignored
    (grammars/hub4.lark). All instances of a document form its instance set.

Conventions:
    Extents are 0-based, half-open code points from the `<` of the document's start tag. In a
    reference, brackets mark the minimal strings of a text, and the extents after the first are
    theirs; in system output, brackets are ordinary text. The type of an instance ends at the first
    hyphen, unless a type with a hyphen is declared.

Example lines:
    <CONTEST-B1-1> :=
        NAME: "bread contest" ##66#79#
            / "contest in Lyon" ##72#87#
        WINNER: "bakers of [Cairo]" ##37#52#47#52#

Codes raised: HUB1xx.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.hub4 import lines as hub4_lines
from hlteval.converters.toolkit.fitting import TEMPLETTE
from hlteval.converters.toolkit.source_files import File, head_of_first, read_files
from hlteval.findings import Finding, Problem, line_findings
from hlteval.grammars import pattern
from hlteval.representation import Corpus
from hlteval.sources import Source

# Writes HUB-4 template sets, in the layout of the specification's samples.


#: One more than the largest number that an extent may hold.
_MOST = 10**9
_ORDER = ("frame_row", "slot_number", "alternative", "position", "row")


def instances(corpus: Corpus) -> Iterator[str]:
    """The text of each instance, in the order of the records; slashes and texts are aligned."""
    slot = pl.struct("frame_row", "slot_number")
    mark = pl.when("optional").then(pl.lit(" /")).otherwise(pl.lit(""))
    head = pl.format("    {}:{}", "slot", mark)
    margin = head.str.replace_all(r"[^\n]", " ")
    space = pl.when(pl.col("content") == "").then(pl.lit("")).otherwise(pl.lit(" "))
    lead = (
        pl.when((slot != slot.shift()).fill_null(value=True))
        .then(head + space)
        .when(pl.col("alternative") == pl.col("alternative").shift())
        .then(margin + " ")
        .otherwise(margin.str.slice(1) + "/ ")
    )
    fills = corpus.cached(_fills).lazy().drop_nulls("content").sort(_ORDER)
    lines = fills.select("frame_row", line=pl.concat_str(lead, "content", pl.lit("\n")))
    bodies = lines.group_by(row="frame_row").agg(pl.col("line").str.join())
    frames = corpus.frames.lazy().filter((pl.col("kind") == TEMPLETTE) & _is_pointer("frame"))
    whole = frames.join(bodies, on="row", how="left").sort("origin", "record", "row")
    written = whole.select(pl.format("<{}> :=\n{}", "frame", pl.col("line").fill_null("")))
    yield from written.collect().to_series()


def _fills(corpus: Corpus) -> pl.DataFrame:
    """The fills with their `content` as written, null where no line can represent it."""
    # Brackets around minimal strings, if they can be read back.
    some = corpus.fills.with_row_index("at").filter(pl.col("brackets").list.len() > 0)
    marked: list[str | None] = []
    for text, brackets in some.select("text", "brackets").iter_rows():
        whole = "" if text is None else hub4_lines.with_brackets(text, brackets)
        marked.append(whole if hub4_lines.parse_brackets(whole) == (text, brackets) else None)
    texts = corpus.fills["text"].alias("written")
    if marked:
        texts = texts.scatter(some["at"], pl.Series(marked, dtype=pl.String))

    kind, text = pl.col("kind"), pl.col("written")
    again = text.str.contains(f"^(?:{pattern('hub4', 'fill')})$")
    other = text.str.contains('^["<]|##') | (text != text.str.strip_chars(hub4_lines.SPACES))
    slot = (pl.col("position") > 1) & text.str.contains("^[A-Za-z0-9_-]+:")
    bare = ~pl.col("quoted").fill_null(value=True) & again & ~other & ~slot
    numbers = pl.col("extents").list
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    low = numbers.eval(pl.min_horizontal(start, end)).list.min() >= 0
    high = numbers.eval(pl.max_horizontal(start, end)).list.max() < _MOST
    extents = pl.format(" ##{}", numbers.eval(pl.format("{}#{}#", start, end)).list.join(""))
    content = (
        pl.when((kind == "pointer") & _is_pointer("target"))
        .then(pl.format("<{}>", "target"))
        .when(kind == "empty")
        .then(pl.lit(""))
        .when((kind == "text") & ~text.str.contains("[\n\0]") & (low & high).fill_null(value=True))
        .then(pl.when(bare).then(text).otherwise(pl.format('"{}"', text)) + extents.fill_null(""))
    )
    named = (pl.col("slot") + ":").str.contains(f"^(?:{pattern('hub4', 'slot')})$")
    rows = corpus.fills.lazy().with_columns(texts)
    rows = rows.select(*_ORDER, "slot", "optional", content=pl.when(named).then(content))
    return rows.collect()


def _is_pointer(column: str) -> pl.Expr:
    return pl.format("<{}>:=", column).str.contains(f"^(?:{pattern('hub4', 'header')})$")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """Count what no template set can represent."""
    pointers = corpus.frames.filter(~_is_pointer("frame").fill_null(value=False))
    return {
        "instances with invalid pointers": pointers.height,
        "fills with unsupported content": corpus.cached(_fills)["content"].null_count(),
    }


#: Rejected lines of a file that are reported at the exact place; others are reported whole.
EXPLAINED = 2000


def sniff(source: Source) -> bool:
    """Whether the first line of its first file is a header."""
    return begins_set(head_of_first(source.members))


def begins_set(text: str) -> bool:
    r"""Whether the first line of a text is a header.

    Examples:
        >>> begins_set("<BREAD-D1-1> :=\n"), begins_set("<DOC>")
        (True, False)
    """
    first = text.lstrip(" \t\r\n\f\x0b").partition("\n")[0].strip(hub4_lines.SPACES)
    return first.startswith("<") and first.endswith(":=")


def read(source: Source, side: str = "reference", types: str = "") -> Iterator[ReadResult]:
    """The template sets of a source, one batch per file."""
    declared = [name for name in types.split(",") if name]
    read_file = partial(_instances, reference=side == "reference", types=declared)
    return read_files(source, FORMAT.name, read_file)


def _instances(
    file: File, *, reference: bool, types: Sequence[str]
) -> tuple[Corpus, Iterable[Finding]]:
    """The instances of a file, and the findings about its lines."""
    if file.text is None:
        return Corpus(sources=[file.origin]), ()
    found = hub4_lines.tables(file.text, reference=reference, types=types)
    rejected, member = found.rejected_records, file.member
    flawed = (rejected["record"], found.idle, found.hashless)
    lines = file.text.split("\n") if any(map(len, flawed)) else []
    causes = [
        hub4_lines.explain(line, record, kind, ask=row < EXPLAINED)
        if code == hub4_lines.UNREAD
        else Problem(code, record, 0, len(line), {"expected": ""})
        for row, (record, line, kind, code) in enumerate(rejected.iter_rows())
    ]
    origin = pl.lit(0, pl.Int64).alias("origin")
    corpus = Corpus(
        sources=[file.origin],
        documents=found.documents.with_columns(origin),
        frames=found.frames.with_columns(origin),
        fills=found.fills.with_columns(origin),
        rejected_records=rejected.select(
            *("record", pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), origin),
            pl.col("kind")
            .cast(pl.Int64)
            .replace_strict(range(4), hub4_lines.RULES, return_dtype=pl.String),
            pl.Series("code", [cause.code for cause in causes], dtype=pl.String),
            pl.Series("column", [cause.start + 1 for cause in causes], dtype=pl.Int64),
            pl.Series("end_column", [cause.end + 1 for cause in causes], dtype=pl.Int64),
            pl.Series("expected", [cause.values["expected"] for cause in causes], dtype=pl.String),
            text="line",
        ),
    )
    problems = _problems(found, causes, lines, member.max_per_code)
    return corpus, line_findings(problems, lines, member.display, member.max_per_code)


def _problems(
    found: hub4_lines.Tables, causes: Sequence[Problem], lines: Sequence[str], most: int
) -> Iterator[Problem]:
    """The problems of lines as written.

    Lines before the first header are one problem, and so are extents without a last hash.

    Args:
        found: the tables of the file.
        causes: why each rejected line cannot be read.
        lines: all lines of the file.
        most: the maximum number of problems of a code that have all values; 0 for all.
    """
    outside = sum(cause.code == hub4_lines.OUTSIDE for cause in causes)
    seen: Counter[str] = Counter()
    for cause, line in zip(causes, found.rejected_records["line"], strict=True):
        seen[cause.code] += 1
        if cause.code == hub4_lines.OUTSIDE and seen[hub4_lines.OUTSIDE] > 1:
            continue
        if most and seen[cause.code] > most + 1:
            yield cause
            continue
        hint = "write the slot name and a colon before its first fill, such as KIND:"
        if name := re.match(hub4_lines.WITHOUT_COLON, line):
            hint = f"write {name[1]}: with the colon at the name"
        values = {
            "given": line[cause.start : cause.end].strip(hub4_lines.SPACES)[:40] or "end of line",
            "expected": cause.values["expected"] or "what a line of its kind has there",
            "count": outside,
            "hint": hint,
        }
        written = lines[cause.record - 1]
        margin = len(written) - len(written.lstrip(hub4_lines.SPACES))
        yield cause._replace(values=values).shift(margin)
    fields = [("HUB108", record, "slash") for record in found.idle]
    fields += [("HUB109", record, "extents") for record in found.hashless[:1]]
    for code, record, field in fields:
        place = stretch(lines[record - 1].removesuffix("\r"), field)
        yield Problem(code, record, *place, {"count": len(found.hashless)})


def stretch(line: str, field: str) -> tuple[int, int]:
    """Start and end of a field in a line; of the whole record if it has no such field."""
    record = line.strip(hub4_lines.SPACES)
    begin, whole = len(line) - len(line.lstrip(hub4_lines.SPACES)), (0, len(record))
    start, end = hub4_lines.field_spans(record).get(field, whole) if field else whole
    return begin + start, begin + end


as_text = instances


FORMAT = declaration(__name__)
