r"""CoNLL columns: a token per line with its tag, and an empty line after each sentence.

Format:
    Columns between tabs, or between spaces where the first token line has no tab. A file has the
    same number of columns in all lines. A line that begins with the marker `-DOCSTART-`, or with
    `#begin document (NAME)`, begins a document.

Conventions:
    A tag is a prefix and a type; the settings say which columns are the word and the tag, in which
    scheme the tags are, and what becomes of sequences that are not valid in it. The text is made of
    the words of a sentence with spaces between them, and sentences with line breaks. Documents of a
    file alone are numbered from 1 unless they have names; those of several files have the names of
    these.

Example lines:
    EU NNP B-NP B-ORG

Codes raised: COL1xx.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from hlteval.converters.columns.tag_findings import Repair, TagProblems
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit.source_files import (
    File,
    head_of_first,
    locate_lines,
    read_files,
    stem,
)
from hlteval.findings import FieldRef, Finding, Location, Problem, findings_of
from hlteval.representation import Corpus
from hlteval.representation.tag_schemes import (
    Scheme,
    Spans,
    TagSequence,
    Whole,
    detect,
    move_suffix,
    read_spans,
)
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Lines

SUFFIX = ".conll"
_TAG = re.compile(r"O|[BIESLU]-\S+")
_BEGIN = re.compile(r"#begin document \((?P<name>[^\n]*?)\)(?:; part 0*(?P<part>[0-9]*))?")
#: Lines that decide how many columns a file has.
_FIRST = 200


@dataclass(frozen=True)
class Layout:
    """How a file is read.

    Attributes:
        word: the index of the column with the words; negative from the end.
        column: that of the column with the tags.
        scheme: of the tags.
        repair: what becomes of sequences that are not valid in the scheme.
        document: the first cell of a line that begins a document; or `sentence`, where each
            sentence is a document.
        affix: where a tag has the letter of its scheme.
        numbered: whether documents have no names but numbers.
    """

    word: int
    column: int
    scheme: Scheme | Literal["auto"]
    repair: Repair
    document: str
    affix: str
    numbered: bool


def cells(line: str) -> list[str]:
    r"""The cells of a line: between tabs if it has some, else between spaces.

    Examples:
        >>> cells("EU NNP  B-ORG "), cells("New York\tB-LOC")
        (['EU', 'NNP', 'B-ORG'], ['New York', 'B-LOC'])
    """
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def sniff(source: Source) -> bool:
    """Whether most of the first lines have a tag as their last cell."""
    lines = head_of_first(source.members).split("\n")[:-1]
    rows = [cells(line.rstrip(" \r")) for line in lines if line.strip() and not _is_marker(line)]
    tagged = sum(len(row) > 1 and bool(_TAG.fullmatch(row[-1])) for row in rows)
    return 2 * tagged > len(rows)


def _is_marker(line: str) -> bool:
    return line.startswith(("-DOCSTART-", "#begin", "#end"))


def read(
    source: Source,
    column: str = "-1",
    word: str = "0",
    scheme: Scheme | Literal["auto"] = "auto",
    repair: Repair = "conlleval",
    document: str = "-DOCSTART-",
    affix: str = "prefix",
) -> Iterator[ReadResult]:
    """The tokens and mentions of each file."""
    numbered = source.kind in {"file", "stdin"}
    layout = Layout(_index(word), _index(column), scheme, repair, document, affix, numbered)
    return read_files(source, FORMAT.name, lambda file: _read(file, layout))


def _index(text: str) -> int:
    """The index of a column.

    Raises:
        WrongSetting: if it is not a number.
    """
    if not re.fullmatch("-?[0-9]{1,4}", text):
        raise WrongSetting(f"invalid column {text}: use 0, 1, … or -1, -2, … from the end")
    return int(text)


class _Rows(NamedTuple):
    """The lines of a file.

    Attributes:
        tokens: a row per token: `record`, `word`, `tag`, the number of its `document` from 0, and
            whether a sentence `begins` at it.
        names: the names of documents by number, if they have some.
        documents: how many documents there are.
        problems: what is wrong with other lines.
    """

    tokens: pl.DataFrame
    names: Mapping[int, str]
    documents: int
    problems: list[Problem]


def _read(file: File, layout: Layout) -> tuple[Corpus, Iterable[Finding]]:
    """The corpus of a file, and the findings in it."""
    text = file.text or ""
    if "\r" in text:  # a single character is found much faster than two
        text = text.replace("\r\n", "\n")
    lines = Lines(text)
    rows = _rows(text, lines, layout)
    begins = rows.tokens["begins"].to_numpy()
    tags = rows.tokens["tag"]
    sequence = TagSequence.parse(tags, begins)
    scheme = detect(sequence) if layout.scheme == "auto" else layout.scheme
    spans, _ = read_spans(sequence, scheme, keep_broken=layout.repair != "drop")
    found = TagProblems(sequence, rows.tokens, scheme, layout.repair, layout.scheme == "auto")
    stretch = _tag_stretch(layout.column)

    def finding(record: int, problem: Problem) -> Finding:
        line = lines[record - 1] if record else ""
        if problem.field:
            start, end = stretch(line, "")
            problem = problem._replace(start=start, end=end, field="")
        if not record:
            return problem.finding(file.member.display, None, None)
        return problem.in_line(file.member.display, line)

    problems = ((problem.record, problem) for problem in (*rows.problems, *found.problems()))
    findings = findings_of(problems, finding, file.member.max_per_code)
    rejected = [
        {"row": row, "origin": 0, **problem.rejection("token", lines[problem.record - 1])}
        for row, problem in enumerate(rows.problems)
        if problem.record
    ]
    tables = _tables(file, layout, rows, spans, sequence.labels)
    return Corpus(sources=[file.origin], rejected_records=rejected, **tables), findings


def _rows(text: str, lines: Lines, layout: Layout) -> _Rows:
    """The tokens of a text, from the cells of its lines."""
    first = [line.removesuffix("\r") for line in text.split("\n", _FIRST)[:_FIRST]]
    first = [line for line in first if line.strip() and not _is_marker(line)]
    tabs = any("\t" in line for line in first[:1])
    if not tabs:
        codes = np.frombuffer(text.encode(), dtype=np.uint8)
        space, end = codes == ord(" "), codes == ord("\n")
        wide = np.any(space[1:] & (space | end)[:-1]) or np.any(space[:-1] & end[1:])
        if wide or "\t" in text:
            text = re.sub(r"[ \t]+", " ", text)
            text = text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")
    sizes = Counter(len(cells(line.rstrip(" ") if not tabs else line)) for line in first)
    width = max((*sizes.most_common(1), (2, 0))[0][0], 2)
    table = _table(text, "\t" if tabs else " ", width)
    places = [at + width if at < 0 else at for at in (layout.word, layout.column)]
    outside = [
        at
        for at, place in zip((layout.word, layout.column), places, strict=True)
        if not 0 <= place < width
    ]
    if outside:
        values = {"column": outside[0], "wanted": width}
        problems = [Problem("COL105", 0, 0, 0, values)] if first else []
        return _Rows(_tokens(table.clear(), 0, 1), {}, 0, problems)
    return _divide(table, lines, width, places, layout)


def _table(text: str, separator: str, width: int) -> pl.DataFrame:
    """The cells of lines, null where a line has no such cell, with one column more."""
    names = [str(at) for at in range(width + 1)]
    table = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    if text.strip("\n"):
        table = pl.read_csv(
            BytesIO(f"{separator.join(names)}\n{text}".encode()),
            separator=separator,
            quote_char=None,
            infer_schema=False,
            truncate_ragged_lines=True,
        )
    return table.with_columns(record=pl.int_range(1, 1 + pl.len(), dtype=pl.Int64))


def _divide(
    table: pl.DataFrame, lines: Lines, width: int, places: Sequence[int], layout: Layout
) -> _Rows:
    """The tokens of the cells, with their sentences and documents."""
    first, last = table["0"], table[str(width - 1)]
    begins = (first == layout.document) | first.str.starts_with(f"{layout.document} ")
    begins = (begins | first.str.starts_with("#begin")).fill_null(value=False)
    breaks = begins | first.str.starts_with("#end").fill_null(value=False)
    breaks |= first.is_null() & last.is_null()
    filled = last.is_not_null() & table[str(width)].is_null()
    for place in places:
        filled &= table[str(place)].is_not_null()
    table = table.with_columns(sentence=breaks.cum_sum(), document=begins.cum_sum().cast(pl.Int64))
    wrong = table["record"].filter(~breaks & ~filled)
    problems = []
    for record in wrong:
        line = lines[record - 1]
        given = len(cells(line))
        values = {"given": given, "wanted": width}
        problems.append(Problem("COL101", record, 0, len(line), values))
    begun = table.filter(begins)
    named = begun.filter(pl.col("0").str.starts_with("#"))
    names = {
        number: f"{match['name']};{match['part']}" if match["part"] else match["name"]
        for record, number in named.select("record", "document").iter_rows()
        if (match := _BEGIN.match(lines[record - 1]))
    }
    columns = ["record", "document", "sentence", *map(str, {*places})]
    tokens = _tokens(table[columns].filter(~breaks & filled), *places)
    if layout.affix == "suffix":
        tokens = tokens.with_columns(move_suffix(tokens["tag"]).alias("tag"))
    count = begun.height
    if tokens.height and tokens["document"][0] == 0:  # before the first line that begins one
        tokens = tokens.with_columns(pl.col("document") + 1)
        names, count = {number + 1: name for number, name in names.items()}, count + 1
    if layout.document == "sentence":
        count = int(tokens["begins"].sum())
        tokens = tokens.with_columns(document=pl.col("begins").cast(pl.Int64).cum_sum())
        names = {}
    tokens = tokens.with_columns(pl.col("document") - 1)
    return _Rows(tokens, {at - 1: name for at, name in names.items()}, count, problems)


def _tokens(rows: pl.DataFrame, word: int, tag: int) -> pl.DataFrame:
    """The rows of tokens, with the words and tags in their columns."""
    if "sentence" not in rows.columns:
        zero = pl.lit(0, pl.Int64)
        rows = rows.with_columns(sentence=zero, document=zero)
    begins = (pl.col("sentence") != pl.col("sentence").shift(1)).fill_null(value=True)
    return rows.select("record", "document", begins=begins, word=str(word), tag=str(tag))


def _tables(
    file: File, layout: Layout, rows: _Rows, spans: Spans, labels: Sequence[str]
) -> dict[str, pl.DataFrame]:
    """The tables of a file: documents, sentences, tokens and mentions."""
    tokens = rows.tokens
    made = _Text.of(rows)
    begins = tokens["begins"].to_numpy()
    opening = np.flatnonzero(begins)
    closing = np.r_[opening[1:], len(begins)][: len(opening)] - 1
    own = stem(file.member, SUFFIX)
    usual = "{}" if layout.numbered else own if rows.documents == 1 else f"{own}-{{}}"
    names = [rows.names.get(at, usual.format(at + 1)) for at in range(rows.documents)]
    schema = {"row": pl.Int64, "name": pl.String, "text": pl.String}
    columns = {"row": range(rows.documents), "name": names, "text": made.texts}
    record = tokens["record"].to_numpy()
    return {
        "documents": pl.DataFrame(columns, schema=schema).with_columns(origin=pl.lit(0, pl.Int64)),
        "segments": made.place_rows(opening, closing, record),
        "tokens": made.place_rows(slice(None), slice(None), record).with_columns(
            tokens["word"].alias("text"), tokens["tag"], segment_row=np.cumsum(begins) - 1
        ),
        "mentions": made.place_rows(spans.first, spans.last, record).with_columns(
            mention=pl.lit(""), label=pl.Series(labels, dtype=pl.String).gather(spans.label)
        ),
    }


class _Text(NamedTuple):
    """The text that is made of the words of a file.

    Attributes:
        text: that of all documents.
        starts: where each token starts in it.
        ends: where each ends.
        document: the number of the document of each token.
        offsets: where the text of each document starts.
        limits: where it ends.
    """

    text: str
    starts: Whole
    ends: Whole
    document: Whole
    offsets: Whole
    limits: Whole

    @classmethod
    def of(cls, rows: _Rows) -> "_Text":
        """The words with spaces between them, and line breaks between sentences."""
        words, begins = rows.tokens["word"], rows.tokens["begins"].to_numpy()
        codes = bytearray(words.str.join(" ").item().encode())
        firsts = np.cumsum(words.str.len_bytes().to_numpy() + np.int64(1))[:-1][begins[1:]]
        np.frombuffer(codes, dtype=np.uint8)[firsts - 1] = ord("\n")
        text = codes.decode()
        length = words.str.len_chars().to_numpy().astype(np.int64)
        ends = np.cumsum(length + 1) - 1
        starts, document = ends - length, rows.tokens["document"].to_numpy()
        changes = np.r_[True, document[1:] != document[:-1]][: len(document)]
        first = np.flatnonzero(changes)
        last = np.r_[first[1:], len(document)][: len(first)] - 1
        offsets, limits = np.zeros((2, rows.documents), dtype=np.int64)
        offsets[document[first]], limits[document[first]] = starts[first], ends[last]
        return cls(text, starts, ends, document, offsets, limits)

    @property
    def texts(self) -> list[str]:
        """The text of each document."""
        pairs = zip(self.offsets.tolist(), self.limits.tolist(), strict=True)
        return [self.text[start:end] for start, end in pairs]

    def place_rows(self, first: Whole | slice, last: Whole | slice, record: Whole) -> pl.DataFrame:
        """Rows that start and end with some tokens, at their places."""
        document = self.document[first]
        base = self.offsets[document]
        columns = {
            "row": np.arange(len(document)),
            "document": document,
            "origin": np.zeros(len(document), dtype=np.int64),
            "record": record[first],
            "start": self.starts[first] - base,
            "end": self.ends[last] - base,
        }
        return pl.DataFrame(columns)


def locate(member: Member, places: Sequence[FieldRef], column: str = "-1") -> list[Location | None]:
    """The lines of places of a file; of a label or tag, its cell."""
    tag = _tag_stretch(_index(column))
    of_tag = {"label", "tag", "start", "end", "extent", "offsets"}

    def stretch(line: str, field: str) -> tuple[int, int]:
        return tag(line, field) if field in of_tag else (0, len(line))

    return locate_lines(member, places, stretch)


def _tag_stretch(column: int) -> Callable[[str, str], tuple[int, int]]:
    """Make the function that finds the cell of a column in a line."""

    def stretch(line: str, _: str) -> tuple[int, int]:
        spans = [match.span() for match in re.finditer("[^ ]+", line)]
        if "\t" in line:
            ends = [*accumulate(len(cell) + 1 for cell in line.split("\t"))]
            spans = [(start, end - 1) for start, end in pairwise([0, *ends])]
        return spans[column] if -len(spans) <= column < len(spans) else (0, len(line))

    return stretch


FORMAT = declaration(__name__)
