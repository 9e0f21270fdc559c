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

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.hub4.lines import (
    OUTSIDE,
    RULES,
    SPACES,
    UNREAD,
    WITHOUT_COLON,
    Bracket,
    Tables,
    bracketed,
    explain,
    field_spans,
    tables,
    with_brackets,
)
from hlteval.converters.toolkit.fitting import TEMPLETTE
from hlteval.converters.toolkit.source_files import File, head_of_first, locate_lines, read_files
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.grammars import pattern
from hlteval.representation import Corpus
from hlteval.sources import Member, Source

# Writes HUB-4 template sets, in the layout of the specification's samples.


#: One more than the largest number that an extent may hold.
_MOST = 10**9
_ORDER = ("frame_row", "slot_number", "alternative", "position", "row")


def instances(corpus: Corpus) -> Iterator[str]:
    """The text of each instance, in the order of the records."""
    bodies = _lines(corpus.cached(_fills)).group_by(row="frame_row").agg(pl.col("line").str.join())
    frames = corpus.frames.lazy().filter((pl.col("kind") == TEMPLETTE) & _is_pointer("frame"))
    header = pl.concat_str(pl.lit("<"), "frame", pl.lit("> :=\n"), pl.col("line").fill_null(""))
    whole = frames.join(bodies, on="row", how="left").sort("origin", "record", "row")
    yield from whole.select(header).collect().to_series()


def _lines(fills: pl.DataFrame) -> pl.LazyFrame:
    """The fills as lines; slashes and texts of a slot are aligned."""
    slot = pl.col("frame_row").cast(pl.String) + "/" + pl.col("slot_number").cast(pl.String)
    marks = pl.when("optional").then(pl.lit(" /")).otherwise(pl.lit(""))
    rows = fills.lazy().filter(pl.col("content").is_not_null()).sort(_ORDER)
    rows = rows.with_columns(
        begins=(slot != slot.shift()).fill_null(value=True),
        same=pl.col("alternative") == pl.col("alternative").shift(),
        head=pl.concat_str(pl.lit("    "), "slot", pl.lit(":"), marks),
    )
    spaces = pl.col("head").str.replace_all(r"[^\n]", " ")
    lead = (
        pl.when("begins")
        .then(
            pl.col("head")
            + pl.when(pl.col("content") == "").then(pl.lit("")).otherwise(pl.lit(" "))
        )
        .when("same")
        .then(spaces + " ")
        .otherwise(spaces.str.slice(1) + "/ ")
    )
    return rows.select("frame_row", line=pl.concat_str(lead, "content", pl.lit("\n")))


def _fills(corpus: Corpus) -> pl.DataFrame:
    """The fills with their `content` as written, null where no line can represent it."""
    rows = corpus.fills.lazy().with_columns(_with_brackets(corpus.fills))
    kind, text = pl.col("kind"), pl.col("written")
    start, end = pl.element().struct.field("start"), pl.element().struct.field("end")
    each = pl.concat_str(start, pl.lit("#"), end, pl.lit("#"))
    numbers = pl.col("extents").list
    low = numbers.eval(pl.min_horizontal(start, end)).list.min() >= 0
    high = numbers.eval(pl.max_horizontal(start, end)).list.max() < _MOST
    content = (
        pl.when((kind == "pointer") & _is_pointer("target"))
        .then(pl.concat_str(pl.lit("<"), "target", pl.lit(">")))
        .when(kind == "empty")
        .then(pl.lit(""))
        .when((kind == "text") & ~text.str.contains("[\n\0]") & (low & high).fill_null(value=True))
        .then(
            pl.concat_str(
                pl.when(_bare())
                .then(text)
                .otherwise(pl.concat_str(pl.lit('"'), text, pl.lit('"'))),
                pl.concat_str(pl.lit(" ##"), numbers.eval(each).list.join("")).fill_null(""),
            )
        )
    )
    named = (pl.col("slot") + ":").str.contains(f"^(?:{pattern('hub4', 'slot')})$")
    written = rows.with_columns(content=pl.when(named).then(content))
    wanted = (*_ORDER, "slot", "optional", "content")
    return written.select(wanted).collect()


def _bare() -> pl.Expr:
    """Whether a text was read without quotes, and can be written so."""
    text = pl.col("written")
    again = text.str.contains(f"^(?:{pattern('hub4', 'fill')})$")
    other = text.str.contains('^["<]|##') | (text != text.str.strip_chars(SPACES))
    slot = (pl.col("position") > 1) & text.str.contains("^[A-Za-z0-9_-]+:")
    return ~pl.col("quoted").fill_null(value=True) & again & ~other & ~slot


def _with_brackets(fills: pl.DataFrame) -> pl.Series:
    """The texts with brackets around their minimal strings; null where that is ambiguous."""
    some = fills.with_row_index("at").filter(pl.col("brackets").list.len() > 0)
    at, each = some["at"], some.select("text", "brackets").iter_rows()
    marked = pl.Series([_marked(text, brackets) for text, brackets in each], dtype=pl.String)
    text = fills["text"].alias("written")
    return text.scatter(at, marked) if len(at) else text


def _marked(text: str | None, brackets: list[Bracket]) -> str | None:
    """A text with its brackets, if it can be read back."""
    if text is None:
        return None
    marked = with_brackets(text, brackets)
    return marked if bracketed(marked) == (text, brackets) else None


def _is_pointer(column: str) -> pl.Expr:
    header = pl.concat_str(pl.lit("<"), column, pl.lit(">:="))
    return header.str.contains(f"^(?:{pattern('hub4', 'header')})$")


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no template set can say, counted."""
    templettes = corpus.frames.filter(pl.col("kind") == TEMPLETTE)
    silent = corpus.documents.join(templettes, left_on="row", right_on="document", how="anti")
    return {
        "instances with invalid pointers": templettes.filter(
            ~_is_pointer("frame").fill_null(value=False)
        ).height,
        "fills with unsupported content": corpus.cached(_fills)["content"].null_count(),
        "documents without instances": silent.height,
    }


SIDES = ("reference", "system")
#: Rejected lines of a file that are reported at the exact place; others are reported whole.
EXPLAINED = 2000


def sniff(source: Source) -> bool:
    """Whether the first line of its first file is a header."""
    return begins_set(head_of_first(source))


def begins_set(text: str) -> bool:
    r"""Whether the first line of a text is a header.

    Examples:
        >>> begins_set("<BREAD-D1-1> :=\n"), begins_set("<DOC>")
        (True, False)
    """
    first = text.lstrip(" \t\r\n\f\x0b").partition("\n")[0].strip(SPACES)
    return first.startswith("<") and first.endswith(":=")


def read(source: Source, side: str = "reference", types: str = "") -> Iterator[ReadResult]:
    """The template sets of a source, one batch per file."""
    declared = [name for name in types.split(",") if name]
    return read_files(
        source, FORMAT.name, partial(_instances, reference=side == "reference", types=declared)
    )


def _instances(
    file: File, *, reference: bool, types: Sequence[str]
) -> tuple[Corpus, Iterable[Finding]]:
    """The instances of a file, and the findings about its lines."""
    if file.text is None:
        return Corpus(sources=[file.origin]), ()
    found = tables(file.text, reference=reference, types=types)
    flawed = (found.rejected_records["record"], found.idle, found.hashless)
    lines = file.text.split("\n") if any(map(len, flawed)) else []
    rejected, problems = _rejected(found.rejected_records, lines, file.member.max_per_code)
    problems += _of_slashes_and_hashes(found, lines)
    origin = pl.lit(0, pl.Int64).alias("origin")
    corpus = Corpus(
        sources=[file.origin],
        documents=found.documents.with_columns(origin),
        frames=found.frames.with_columns(origin),
        fills=found.fills.with_columns(origin),
        rejected_records=rejected,
    )
    member = file.member
    return corpus, line_findings(problems, lines, member.display, member.max_per_code)


def _rejected(
    rejected: pl.DataFrame, lines: Sequence[str], most: int
) -> tuple[pl.DataFrame, list[Problem]]:
    """The rejected lines as the table `rejected_records`, and as problems.

    The first `EXPLAINED` have their exact place. Lines before the first header are one problem.

    Args:
        rejected: as in `Tables`.
        lines: all lines of the file.
        most: the maximum number of problems of a code that are explained; 0 for all.
    """
    found = [
        explain(line, record, kind, ask=row < EXPLAINED)
        if code == UNREAD
        else Problem(code, record, 0, len(line), _NOTHING)
        for row, (record, line, kind, code) in enumerate(rejected.iter_rows())
    ]
    outside = [problem.record for problem in found if problem.code == OUTSIDE]
    seen: Counter[str] = Counter()
    problems: list[Problem] = []
    for problem, line in zip(found, rejected["line"], strict=True):
        if problem.code != OUTSIDE or problem.record == outside[0]:
            seen[problem.code] += 1
            read = not most or seen[problem.code] <= most + 1
            written = lines[problem.record - 1]
            problems.append(_worded(problem, line, written, len(outside)) if read else problem)
    return _table(rejected, found), problems


_NOTHING: Mapping[str, object] = MappingProxyType({"expected": ""})


def _name_hint(line: str) -> str:
    """What to do about a fill before the first slot."""
    if name := re.match(WITHOUT_COLON, line):
        return f"write {name[1]}: with the colon at the name"
    return "write the slot name and a colon before its first fill, such as KIND:"


def _worded(problem: Problem, line: str, written: str, outside: int) -> Problem:
    """A problem with its place in a line as written, and the values of its message."""
    expected = problem.values["expected"] or "what a line of its kind has there"
    given = line[problem.start : problem.end].strip(SPACES)[:40] or "end of line"
    values = {"given": given, "expected": expected, "count": outside, "hint": _name_hint(line)}
    return problem._replace(values=values).shift(len(written) - len(written.lstrip(SPACES)))


def _table(rejected: pl.DataFrame, found: Sequence[Problem]) -> pl.DataFrame:
    """The rejected lines as the table `rejected_records`."""
    kinds = dict(enumerate(RULES))
    return rejected.select(
        "record",
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"),
        pl.col("kind").cast(pl.Int64).replace_strict(kinds, return_dtype=pl.String),
        pl.Series("code", [problem.code for problem in found], dtype=pl.String),
        pl.Series("column", [problem.start + 1 for problem in found], dtype=pl.Int64),
        pl.Series("end_column", [problem.end + 1 for problem in found], dtype=pl.Int64),
        pl.Series("expected", [problem.values["expected"] for problem in found], dtype=pl.String),
        origin=pl.lit(0, pl.Int64),
        text="line",
    )


def _of_slashes_and_hashes(found: Tables, lines: Sequence[str]) -> Iterator[Problem]:
    """Each slash without a fill, and the first extents without a last hash."""
    values = {"count": len(found.hashless)}
    fields = [("HUB108", record, "slash") for record in found.idle]
    fields += [("HUB109", record, "extents") for record in found.hashless[:1]]
    for code, record, field in fields:
        yield Problem(code, record, *_stretch(lines[record - 1].removesuffix("\r"), field), values)


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of fields of a file; see `field_spans` for their names."""
    return locate_lines(member, places, _stretch)


def _stretch(line: str, field: str) -> tuple[int, int]:
    """Start and end of a field in a line; of the whole record if it has no such field."""
    record = line.strip(SPACES)
    begin = len(line) - len(line.lstrip(SPACES))
    start, end = field_spans(record).get(field, (0, len(record))) if field else (0, len(record))
    return begin + start, begin + end


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The instances of all documents, in the layout of the specification."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            stream.writelines(instances(corpus))


FORMAT = declaration(__name__)
