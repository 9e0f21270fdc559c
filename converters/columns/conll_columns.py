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
from itertools import islice
from typing import Literal

import numpy as np
import polars as pl

from hlteval.converters.columns import tag_writing
from hlteval.converters.columns.cells import read_cells
from hlteval.converters.columns.tag_findings import Repair
from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, locate_tags, read_tagged
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit.source_files import cell_stretch, head_of_first
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
_LINE = re.compile("(?m)^.*$")
#: A space beside another, or beside a line feed, as numbers of two bytes.
_WIDE = tuple(int.from_bytes(pair.encode()) for pair in ("  ", " \n", "\n "))
#: Characters whose cells are read at a time: these take many times as much memory.
_SIZE = 2_000_000


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
    first = [match[0].removesuffix("\r") for match in islice(_LINE.finditer(text), _FIRST)]
    first = [line for line in first if line.strip() and not _is_marker(line)]
    tabs = any("\t" in line for line in first[:1])
    sizes = Counter(len(cells(line.rstrip(" ") if not tabs else line)) for line in first)
    sizes = Counter({size: count for size, count in sizes.items() if size <= _MOST})
    width = max((*sizes.most_common(1), (2, 0))[0][0], 2)
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
    found = _Stretches(lines, width, places, layout)
    start, number = 0, 1
    while not start or start < len(text):
        end = text.find("\n", start + _SIZE) + 1 or len(text)
        part = text[start:end]
        own, between = (part, "\t") if tabs else (_single_spaces(part), " ")
        if layout.blanks and not tabs:
            own, between = with_words(own, width, layout.word), "\t"
        table = read_cells(own, between, width, first=number)
        found.add(table)
        number += table.height
        start = end or 1
    return found.rows()


def _single_spaces(text: str) -> str:
    """Lines with one space between cells, and none at either end."""
    codes = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    low = codes <= ord(" ")
    first = np.flatnonzero(low[1:] & low[:-1])
    pairs = 256 * codes[first].astype(np.int64) + codes[first + 1]
    if np.isin(pairs, _WIDE).any() or text.startswith(" ") or "\t" in text:
        text = re.sub(r"[ \t]+", " ", text)
        text = text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")
    return text


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


class _Stretches:
    """The tokens of stretches of a text, with their sentences and documents.

    Args:
        lines: all lines of the text.
        width: how many columns it has.
        places: the columns of the words and the tags.
        layout: how the lines are read.
    """

    def __init__(self, lines: Lines, width: int, places: Sequence[int], layout: Layout) -> None:
        self._all, self._width, self._places, self._layout = lines, width, places, layout
        self._documents = self._last = -1
        self._sentences = 0
        self._tokens: list[pl.DataFrame] = []
        self._begun: list[pl.DataFrame] = []
        self._wrong: list[pl.Series] = []

    def add(self, table: pl.DataFrame) -> None:
        """Add the cells of a stretch."""
        first, last, record = table["0"], table[str(self._width - 1)], table["record"]
        marker = _MARKER if self._layout.document == _SENTENCE else self._layout.document
        begins, breaks = np.zeros((2, table.height), dtype=np.bool_)
        at = (first < max("#f", f"{marker}!")).arg_true()  # to compare takes least for most lines
        some = first.gather(at)
        begin = (some == marker) | some.str.starts_with(f"{marker} ")
        begins[at] = begin = begin | some.str.starts_with("#begin")
        breaks[at] = begin | some.str.starts_with("#end")
        breaks |= (first.is_null() & last.is_null()).to_numpy()
        filled = last.is_not_null() & table[str(self._width)].is_null()
        for place in self._places:
            filled &= table[str(place)].is_not_null()
        fit = filled.to_numpy()
        kept = ~breaks & fit
        self._begun.append(table.select(pl.col("record", "0", "1").gather(at.filter(begin))))
        self._wrong.append(record.filter(pl.Series(~breaks & ~fit)))
        sentence = np.r_[self._last, self._sentences + np.cumsum(breaks)[kept]]
        document = np.cumsum(begins) + self._documents
        word, tag = (table[str(place)] for place in self._places)
        rows = pl.DataFrame([record, word.alias("word"), tag.alias("tag")]).filter(kept)
        if self._layout.affix == "suffix":
            rows = rows.with_columns(move_suffix(rows["tag"]).alias("tag"))
        self._tokens.append(
            rows.with_columns(document=document[kept], begins=sentence[1:] != sentence[:-1])
        )
        self._documents += int(np.count_nonzero(begins))
        self._sentences += int(np.count_nonzero(breaks))
        self._last = int(sentence[-1])

    def rows(self) -> TokenRows:
        """The tokens of all stretches."""
        tokens, lines = pl.concat(self._tokens), self._all
        self._tokens.clear()
        wrong, begun = pl.concat(self._wrong), pl.concat(self._begun)
        explain = lru_cache(_wrong_line)  # many lines are alike
        problems = [
            explain(line, self._width, self._layout.word)._replace(record=record)
            for record, line in zip(wrong, lines.gather(wrong - 1), strict=True)
        ]
        if self._layout.document == _SENTENCE:
            tokens = tokens.with_columns(document=pl.col("begins").cast(pl.Int64).cum_sum() - 1)
            return TokenRows.of(tokens, [None] * int(tokens["begins"].sum()), problems)
        bare = (begun["0"] == _MARKER) & ~begun["1"].str.starts_with("(").fill_null(False)
        at, names = (~bare).arg_true(), [""] * len(begun)
        for number, line in zip(at, lines.gather(begun["record"].gather(at) - 1), strict=True):
            match = _BEGIN.match(line)
            names[number] = ";".join(filter(None, match.groups())) if match else ""
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
    return locate_tags(member, places, {"tag": _tag_stretch(_tag_column(column, conlleval))})


def _tag_stretch(column: int) -> Stretch:
    """Make the function that finds the cell of a column in a line."""
    return lambda line, _: cell_stretch(line, column, "\t" if "\t" in line else " ")


write, count_losses = tag_writing.write, tag_writing.count_losses
FORMAT = declaration(__name__)
