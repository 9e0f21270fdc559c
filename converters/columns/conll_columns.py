r"""CoNLL columns: a token per line with its tag, and an empty line after each sentence.

Format:
    Columns between tabs, or between spaces where the first token line has no tab. A file has the
    same number of columns in all lines. A line that begins with the marker `-DOCSTART-`, or with
    `#begin document (NAME)`, begins a document; after the marker, a name may be in brackets.

Conventions:
    A tag is a prefix and a type; the settings are the columns of the word and the tag, the scheme
    of the tags, and what becomes of sequences that are not valid in it. The text is made of the
    words of a sentence with spaces between them, and sentences with line breaks. Documents of a
    file alone are numbered from 1 unless they have names; those of several files have the names of
    these. What conlleval reads has two tags in the last columns: that of the reference, and that of
    a system. The writer is in `tag_writing`.

Example lines:
    EU NNP B-NP B-ORG

Codes raised: COL1xx.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import polars as pl

from hlteval.converters.columns import tag_writing
from hlteval.converters.columns.cells import cell_spans, read_cells
from hlteval.converters.columns.tag_findings import Repair
from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, read_tagged
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit.source_files import head_of_first, locate_lines
from hlteval.findings import FieldRef, Location, Problem
from hlteval.representation.tag_schemes import Scheme, move_suffix
from hlteval.sources import Member, Source
from hlteval.syntax.tsv import Lines, shorten

SUFFIX = ".conll"
_TAG = re.compile(r"O|[BIESLU]-\S+")
_BEGIN = re.compile(
    r"(?:#begin document|-DOCSTART-) \((?P<name>[^\n]*?)\)(?:; part 0*(?P<part>[0-9]*))?[ \t]*$"
)
#: The usual first cell of a line that begins a document; and the setting without such lines.
_MARKER, _SENTENCE = "-DOCSTART-", "sentence"
#: A line has so many columns at most.
_MOST = 2000
#: Lines that decide how many columns a file has.
_FIRST = 200


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are read.

    Attributes:
        word: the index of the column with the words; negative from the end.
        column: that of the column with the tags.
        document: the first cell of a line that begins a document; or `sentence`, where each
            sentence is a document.
        affix: where a tag has the letter of its scheme.
        blanks: whether more cells than other lines have are parts of the word.
    """

    word: int
    column: int
    document: str
    affix: str
    blanks: bool


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
    document: str = _MARKER,
    affix: str = "prefix",
    conlleval: str = "",
    blanks: str = "none",
) -> Iterator[ReadResult]:
    """The tokens and mentions of each file."""
    tag = _tag_column(column, conlleval)
    layout = Layout(_index(word), tag, document, affix, blanks == "word")
    stretch = _tag_stretch(tag)
    return read_tagged(
        *(source, FORMAT.name, SUFFIX, scheme, repair),
        lambda text, lines: (_rows(text, lines, layout), stretch),
    )


def _tag_column(column: str, conlleval: str) -> int:
    """The index of the column of tags: of two at the end, those of the reference are first."""
    return {"gold": -2, "prediction": -1}.get(conlleval, _index(column))


def _index(text: str) -> int:
    """The index of a column.

    Raises:
        WrongSetting: if it is not a number.
    """
    if not re.fullmatch("-?[0-9]{1,4}", text):
        raise WrongSetting(f"invalid column {text}: use 0, 1, … or -1, -2, … from the end")
    return int(text)


def _rows(text: str, lines: Lines, layout: Layout) -> TokenRows:
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
    sizes = Counter({size: count for size, count in sizes.items() if size <= _MOST})
    width = max((*sizes.most_common(1), (2, 0))[0][0], 2)
    if layout.blanks and not tabs:
        text, tabs = with_words(text, width, layout.word), True
    table = read_cells(text, "\t" if tabs else " ", width)
    places = [at + width if at < 0 else at for at in (layout.word, layout.column)]
    hint = "number columns from 0, or from -1 at the end"
    outside = [at for at in (layout.word, layout.column) if not -width <= at < width]
    if places[0] == places[1]:  # such as that of the reference, where lines have one tag
        outside.append(layout.column)
        hint = "the word and the tag are in different columns"
    if outside:
        values = {"column": outside[0], "wanted": width, "hint": hint}
        problems = [Problem("COL105", 0, 0, 0, values)] if first else []
        return TokenRows.without_tokens(*problems)
    return _divide(table, lines, width, places, layout)


def with_words(text: str, width: int, word: int) -> str:
    r"""Lines between spaces as lines between tabs: what is too much in a line is in its word.

    Examples:
        >>> with_words("1 000 CD O\nEU NNP O", 3, 0)
        '1 000\tCD\tO\nEU\tNNP\tO'
    """
    first = word if word >= 0 else width + word

    def join_word(line: re.Match[str]) -> str:
        parts = line[0].split("\t")
        more = first + len(parts) - width + 1
        return "\t".join([*parts[:first], " ".join(parts[first:more]), *parts[more:]])

    longer = re.compile(rf"(?m)^(?!-DOCSTART-|#begin|#end)(?:[^\t\n]*\t){{{width},}}[^\t\n]*$")
    return longer.sub(join_word, text.replace(" ", "\t"))


def _divide(
    table: pl.DataFrame, lines: Lines, width: int, places: Sequence[int], layout: Layout
) -> TokenRows:
    """The tokens of the cells, with their sentences and documents."""
    first, last = table["0"], table[str(width - 1)]
    marker = _MARKER if layout.document == _SENTENCE else layout.document
    begins = (first == marker) | first.str.starts_with(f"{marker} ")
    begins = (begins | first.str.starts_with("#begin")).fill_null(value=False)
    breaks = begins | first.str.starts_with("#end").fill_null(value=False)
    breaks |= first.is_null() & last.is_null()
    filled = last.is_not_null() & table[str(width)].is_null()
    for place in places:
        filled &= table[str(place)].is_not_null()
    table = table.with_columns(sentence=breaks.cum_sum(), document=begins.cum_sum().cast(pl.Int64))
    wrong = table["record"].filter(~breaks & ~filled)
    explain = lru_cache(_wrong_line)  # many lines are alike
    problems = [
        explain(line, width, layout.word)._replace(record=record)
        for record, line in zip(wrong, lines.gather(wrong - 1), strict=True)
    ]
    begin = (pl.col("sentence") != pl.col("sentence").shift(1)).fill_null(value=True)
    word, tag = map(str, places)
    rows = table["record", "document", "sentence", word, tag].filter(~breaks & filled)
    tokens = rows.select("record", "document", begins=begin, word=word, tag=tag)
    if layout.affix == "suffix":
        tokens = tokens.with_columns(move_suffix(tokens["tag"]).alias("tag"))
    if layout.document == _SENTENCE:
        tokens = tokens.with_columns(document=pl.col("begins").cast(pl.Int64).cum_sum())
        return TokenRows.of(tokens, [None] * int(tokens["begins"].sum()), problems)
    matches = map(_BEGIN.match, lines.gather(table["record"].filter(begins) - 1))
    names = [";".join(filter(None, match.groups())) if match else "" for match in matches]
    return TokenRows.of(tokens, names, problems)


def _wrong_line(line: str, width: int, word: int) -> Problem:
    """The problem of a line that has not as many columns as others, or an empty one."""
    parts = cells(line)
    more = len(parts) - width
    hint = "an empty line ends a sentence"
    if more > 0 and "\t" not in line and 0 <= word < width:
        words = shorten(" ".join(parts[word : word + more + 1]), 40)
        hint = f"if {words!r} is one word, set blanks to word"
    values = {"given": len(parts), "wanted": width, "hint": hint}
    return Problem("COL101", 0, 0, len(line), values)


def locate(
    member: Member, places: Sequence[FieldRef], column: str = "-1", conlleval: str = ""
) -> list[Location | None]:
    """The lines of places of a file; of a label or tag, its cell."""
    tag = _tag_stretch(_tag_column(column, conlleval))
    of_tag = {"label", "tag", "start", "end", "extent", "offsets"}

    def stretch(line: str, field: str) -> tuple[int, int]:
        return tag(line, field) if field in of_tag else (0, len(line))

    return locate_lines(member, places, stretch)


def _tag_stretch(column: int) -> Stretch:
    """Make the function that finds the cell of a column in a line."""

    def stretch(line: str, _: str) -> tuple[int, int]:
        if "\t" in line:
            spans = cell_spans(line, "\t")
        else:
            spans = [match.span() for match in re.finditer("[^ ]+", line)]
        return spans[column] if -len(spans) <= column < len(spans) else (0, len(line))

    return stretch


write, count_losses = tag_writing.write, tag_writing.count_losses
FORMAT = declaration(__name__)
