r"""CoNLL columns: a token per line with its tag, and an empty line after each sentence.

Format:
    Columns between tabs, or between spaces where the first token line has no tab. A file has the
    same number of columns in all lines. A line that begins with the marker `-DOCSTART-`, or with
    `#begin document (NAME)`, begins a document; after the marker, a name may be in brackets. A line
    that begins with `#` and a space or tab is a comment if it does not end with a tag.

Conventions:
    A tag is a prefix and a type; the settings are the columns of the word and the tag, the scheme
    of the tags, and what becomes of sequences that are not valid in it. If the first column numbers
    the tokens of each sentence, the word is in the second one. The text is made of the
    words of a sentence with spaces between them, and sentences with line breaks. Documents of a
    file alone are numbered from 1 unless they have names; those of several files have the names of
    these. What conlleval reads has two tags in the last columns: that of the reference, and that of
    a system. The writer is in `tag_writing`.

Example lines:
    EU NNP B-NP B-ORG

Codes raised: COL1xx.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
import polars as pl

from hlteval.converters.columns import tag_writing
from hlteval.converters.columns.column_layout import COMMENT, TAGGED, ColumnLayout, is_token
from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, locate_tags, read_tagged
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult, WrongSetting
from hlteval.converters.toolkit.cells import cells, read_cells
from hlteval.converters.toolkit.source_files import cell_stretch, head_of_first
from hlteval.findings import FieldRef, Location, Problem
from hlteval.representation.tag_schemes import move_suffix
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Sections, marked_sections
from hlteval.syntax.tsv import Lines, shorten

_TAG = re.compile(r"O|[BIESLU]-\S+")
_BEGIN = re.compile(
    r"(?:#begin document|-DOCSTART-) \((?P<name>[^\n]*?)\)(?:; part 0*(?P<part>[0-9]*))?[ \t]*$"
)
#: The usual first cell of a line that begins a document; and the setting without such lines.
_MARKER, _SENTENCE = "-DOCSTART-", "sentence"
#: So many lines decide how many columns a file has.
_FIRST = 200


def sniff(source: Source) -> bool:
    """Whether most of the first lines have a tag as their last cell, and none names columns."""
    lines = head_of_first(source.members).split("\n")[:-1]
    rows = [cells(line.rstrip(" \r")) for line in lines if is_token(line)]
    tagged = sum(len(row) > 1 and bool(_TAG.fullmatch(row[-1])) for row in rows)
    return 2 * tagged > len(rows) and not any("global.columns" in line for line in lines[:1])


def read(source: Source, **settings: str) -> Iterator[ReadResult]:
    """The tokens and mentions of each file."""
    given = [_index(settings[name]) for name in ("word", "column")]

    def divide(lines: Lines) -> tuple[TokenRows, Stretch]:
        return _rows(lines, given, settings), _tag_stretch(given[1])

    return read_tagged(source, FORMAT.name, ".conll", settings, divide)


def _index(text: str) -> int:
    """The index of a column.

    Raises:
        WrongSetting: if it is not a number.
    """
    if not re.fullmatch("-?[0-9]{1,4}", text):
        raise WrongSetting(f"invalid column {text}: use 0, 1, … or -1, -2, … from the end")
    return int(text)


def _rows(lines: Lines, given: Sequence[int], settings: Mapping[str, str]) -> TokenRows:
    """The tokens of a file; `given` are the columns of words and tags."""
    if not len(lines):
        return TokenRows.without_tokens()
    first = [*filter(is_token, islice(lines, _FIRST))]
    width, tabs, numbered = ColumnLayout.of(first)
    word, tag = (at + width if at < 0 else at for at in given)
    word += word == 0 and numbered
    outside = [at for at in given if not -width <= at < width]
    if outside or word == tag:  # such as that of the reference, where lines have one tag
        hint = "number columns from 0, or from -1 at the end; word and tag are two columns"
        values = {"column": (outside or given[1:])[0], "wanted": width, "hint": hint}
        return TokenRows.without_tokens(*([Problem("COL105", 0, 0, 0, values)] if first else []))
    marker = _MARKER if settings["document"] == _SENTENCE else settings["document"]
    parts, begun, wrong = list[pl.DataFrame](), list[pl.DataFrame](), list[pl.Series]()
    documents, sentences = -1, 0
    for number, text in lines.texts():  # cells take many times the memory of their text
        joined = word if settings["blanks"] == "word" and not tabs else None
        table = read_cells(text, "\t" if tabs else " ", width, first=number + 1, joined=joined)
        head, last = table["0"], table[str(width - 1)]
        at = (head < max("#f", f"{marker}!")).arg_true()  # to compare takes least for most lines
        some = head.gather(at)
        begin = (some == marker) | some.str.starts_with(f"{marker} ")
        begin |= some.str.starts_with("#begin")
        begun.append(table.select(pl.col("record", "0", "1").gather(at.filter(begin))))
        begins, breaks, comments = np.zeros((3, table.height), dtype=np.bool_)
        begins[at], breaks[at] = begin, begin | some.str.starts_with("#end")
        breaks |= (head.is_null() & last.is_null()).to_numpy()
        at = at.filter(some.str.contains(COMMENT))
        ends = table[at].select(pl.coalesce([str(cell) for cell in range(width, -1, -1)]))
        comments[at] = ~ends.to_series().str.contains(TAGGED)
        fit = table[str(width)].is_null() & last.is_not_null()
        fits = (fit & table[str(word)].is_not_null() & table[str(tag)].is_not_null()).to_numpy()
        kept, left = ~breaks & ~comments & fits, ~breaks & ~comments & ~fits
        wrong.append(table["record"].filter(pl.Series(left)))
        taken = {"record": table["record"], "word": table[str(word)], "tag": table[str(tag)]}
        mask = pl.Series(kept)  # of each column, since those of a table are copied before
        rows = pl.DataFrame({name: column.filter(mask) for name, column in taken.items()})
        if settings["affix"] == "suffix":
            rows = rows.with_columns(move_suffix(rows["tag"]).alias("tag"))
        at_document, at_sentence = np.cumsum(begins)[kept], np.cumsum(breaks)[kept]
        rows = rows.with_columns(document=at_document + documents, begins=at_sentence + sentences)
        parts.append(rows)
        documents += int(np.count_nonzero(begins))
        sentences += int(np.count_nonzero(breaks))
    tokens = pl.concat(parts).with_columns(pl.col("begins").ne_missing(pl.col("begins").shift(1)))
    problems = _problems(pl.concat(wrong), lines, width, word)
    if settings["document"] == _SENTENCE:
        tokens = tokens.with_columns(document=pl.col("begins").cast(pl.Int64).cum_sum() - 1)
        return TokenRows.of(tokens, [None] * int(tokens["begins"].sum()), problems)
    every = pl.concat(begun)
    bare = (every["0"] == _MARKER) & ~every["1"].str.starts_with("(").fill_null(False)
    named, names = (~bare).arg_true(), [""] * len(every)
    for at, line in zip(named, lines.gather(every["record"].gather(named) - 1), strict=True):
        names[at] = _begun(line) or ""
    return TokenRows.of(tokens, names, problems)._replace(detected=f"{width} {word} {tabs}")


def _problems(wrong: pl.Series, lines: Lines, width: int, word: int) -> list[Problem]:
    """The problems of lines that have not as many columns as others, or an empty one."""

    @lru_cache  # many lines are alike
    def explain(line: str) -> Problem:
        parts = cells(line)
        more = len(parts) - width
        hint = "an empty line ends a sentence" if more else "one is empty"
        if more > 0 and "\t" not in line and 0 <= word < width:
            words = shorten(" ".join(parts[word : word + more + 1]), 40)
            hint = f"if {words!r} is one word, set blanks to word"
        values = {"given": len(parts) - parts.count(""), "wanted": width, "hint": hint}
        return Problem("COL101", 0, 0, len(line), values)

    found = zip(wrong, lines.gather(wrong - 1), strict=True)
    return [explain(line)._replace(record=record) for record, line in found]


def locate(member: Member, places: Sequence[FieldRef], **settings: str) -> list[Location | None]:
    """The lines of places of a file; of a label or tag, its cell."""
    return locate_tags(member, places, {"tag": _tag_stretch(_index(settings["column"]))})


def _tag_stretch(column: int) -> Stretch:
    """Make the function that finds the cell of a column in a line."""
    return lambda line, _: cell_stretch(line, column, "\t" if "\t" in line else " ")


def sections(member: Member, **settings: str) -> Sections | None:
    """The documents of a file in which lines begin them, and no cell has several words."""
    if (settings["document"], settings["blanks"]) != (_MARKER, "none"):
        return None
    return marked_sections(member, (_MARKER.encode(), b"#begin"), _begun)


def _begun(line: str) -> str | None:
    """The name in a line that begins a document; empty without one, None in other lines."""
    if match := _BEGIN.match(line):
        return ";".join(filter(None, match.groups()))
    return "" if line.startswith("#begin") or cells(line)[0] == _MARKER else None


write, count_losses = tag_writing.write, tag_writing.count_losses
FORMAT = declaration(__name__)
