"""Token lines whose columns have names: which of them are words, tags, entities and notes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from hlteval.converters.columns.tagged_tokens import Stretch, TokenRows, locate_tags
from hlteval.converters.toolkit.source_files import cell_stretch
from hlteval.findings import FieldRef, Location, Problem
from hlteval.sources import Member
from hlteval.syntax.tsv import Lines, shorten


@dataclass(frozen=True)
class NamedColumns:
    """How token lines between tabs are read.

    Attributes:
        columns: the names of the columns of a file, in order.
        word: the name of the column with the words.
        tag: that of the column with the tags, of which `_` is `O`.
        entity: that of the column with the entities of spans, of which `_` is none; empty without.
        notes: that of the column with notes between `|`; empty without.
        number: that of the column with the numbers of words: ranges (`1-2`) and decimal numbers are
            not those of words.
        comment: what comments match; one that begins a document has its name as `name`.
        document: what a comment matches that begins a document, with its name as group 1.
        glued: the note of a word that no space follows; empty without.
        sentence: the note of the last word of a sentence; empty where empty lines end sentences.
        shorter: whether lines may have fewer cells: the others are empty.
        header: whether the first line names the columns.
    """

    columns: Sequence[str]
    word: str
    tag: str
    comment: str
    document: str
    glued: str
    entity: str = ""
    notes: str = ""
    number: str = ""
    sentence: str = ""
    shorter: bool = False
    header: bool = False

    def read(self, lines: Lines) -> tuple[TokenRows, Stretch]:
        """The tokens of the lines of a file, and where their tags are."""
        return self._rows(lines), column_stretch(self.columns, self.tag)

    def _rows(self, lines: Lines) -> TokenRows:
        absent = [name for name in (self.word, self.tag) if name not in self.columns]
        if absent:
            listed = shorten(f"it names {', '.join(self.columns)}", 80)
            values = {"column": absent[0], "wanted": len(self.columns), "hint": listed}
            problems = [Problem("COL105", 0, 0, 0, values)] if len(lines) else []
            return TokenRows.without_tokens(*problems)
        line = pl.col("line")
        every = lines.table().with_columns(
            is_comment=line.str.contains(self.comment) | (pl.col("record") == int(self.header)),
            begun=line.str.contains(self.document),
            name=line.str.extract(self.document, 1),
            is_empty=line.str.strip_chars(" ") == "",
        )
        every = every.with_columns(
            document=pl.col("begun").cast(pl.Int64).cum_sum() - 1,
            sentence=(pl.col("is_empty") | pl.col("begun")).cast(pl.Int64).cum_sum(),
        )
        rows = every.filter(~(pl.col("is_comment") | pl.col("is_empty")))
        rows = rows.with_columns(cells=line.str.split("\t"))
        width, size = len(self.columns), pl.col("cells").list.len()
        fits = (size <= width) if self.shorter else size == width
        other = self._cell(self.number).str.contains("^[0-9]+[-.][0-9]+$").fill_null(value=False)
        rows = rows.filter(~(fits & other))
        empty = fits & (self._cell(self.word) == "")
        wrong = rows.filter(~fits | empty).select(
            "record", line.str.len_chars(), given=size, lacks=empty
        )
        hints = ("tabs separate them, not spaces", "the word is empty")
        alike: dict[tuple[int, bool], dict[str, object]] = {
            (given, lacks): {"given": given - lacks, "wanted": width, "hint": hints[lacks]}
            for given, lacks in wrong.select("given", "lacks").unique().iter_rows()
        }
        problems = [
            Problem("COL101", record, 0, end, alike[given, lacks])
            for record, end, given, lacks in wrong.iter_rows()
        ]
        names = every.filter("begun")["name"].to_list()
        found = TokenRows.of(self._tokens(rows.filter(fits & ~empty)), names, problems)
        return found._replace(detected=" ".join(self.columns))

    def _cell(self, name: str) -> pl.Expr:
        """The cells of a column; null where a line or the file does not have it."""
        if name not in self.columns:
            return pl.lit(None, pl.String)
        return pl.col("cells").list.get(list(self.columns).index(name), null_on_oob=True)

    def _tokens(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The tokens of lines with a word."""
        notes = pl.concat_str(pl.lit("|"), self._cell(self.notes).fill_null(""), pl.lit("|"))
        rows = rows.with_columns(word=self._cell(self.word), notes=notes)
        ends = pl.lit(value=False)
        if self.sentence:
            ends = pl.col("notes").str.contains(f"|{self.sentence}|", literal=True)
        rows = rows.with_columns(
            sentence=pl.col("sentence") + ends.shift(1, fill_value=False).cum_sum()
        )
        begins = pl.col("sentence").ne_missing(pl.col("sentence").shift(1))
        glued = pl.col("notes").str.contains(f"|{self.glued or '/'}|", literal=True)
        entity = self._cell(self.entity).replace(["_", "", "O"], [None, None, None])
        return rows.select(
            "record", "document", "word",
            begins=begins.fill_null(value=True),
            tag=self._cell(self.tag).replace(["_", "", "*"], "O").fill_null("O"),
            glued=glued.shift(1, fill_value=False),
            entity=entity,
        )  # fmt: skip


def name_in(document: str) -> Callable[[str], str | None]:
    """Make the function that finds the name in a line that begins a document.

    Args:
        document: what such a line matches, with its name as group 1.

    Examples:
        >>> name = name_in("^# *doc(?: (.*))?$")
        >>> name("# doc d1"), name("#doc"), name("# note")
        ('d1', '', None)
    """
    begun = re.compile(document)

    def name(line: str) -> str | None:
        match = begun.search(line)
        return match and (match[1] or "")

    return name


def column_stretch(columns: Sequence[str], name: str) -> Stretch:
    """Make the function that finds the cell of a column in a line between tabs."""
    at = [*columns].index(name) if name in columns else None
    return lambda line, _: cell_stretch(line, at)


def locate_cells(
    member: Member, places: Sequence[FieldRef], columns: Sequence[str], names: Mapping[str, str]
) -> list[Location | None]:
    """The cells of places of a file; lines of other places.

    Args:
        member: the file.
        places: the fields.
        columns: the names of its columns.
        names: the column of each field, `tag` for all that a tag gives.
    """
    found = {field: column_stretch(columns, name) for field, name in names.items()}
    return locate_tags(member, places, found)
