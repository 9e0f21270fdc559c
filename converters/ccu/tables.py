"""What a table of CCU is: its columns, its header and the codes of what is wrong with it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

import polars as pl

from hlteval.converters.toolkit.source_files import FileBatch, JoinedTables, beginning
from hlteval.findings import Finding, Problem
from hlteval.findings.suggest import closest
from hlteval.grammars import vocabulary
from hlteval.sources import Member
from hlteval.syntax.tsv import Column, Table

# What is wrong with a cell, in words: the usual mistakes and how to correct them.


_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_WORDS = {"nan", "na", "n/a", "null", "none"}
_LARGE = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:e\+?[0-9]{1,2})?")
_INFINITE = re.compile(r"inf|infinity|[0-9.]+e\+?[0-9]{3,}")


def describe_number(cell: str) -> Mapping[str, object]:
    """How to correct a cell that is not a number.

    Examples:
        >>> describe_number("0,75")["hint"]
        'write a decimal point: 0.75'
    """
    return {"hint": next(_number_hints(cell))}


def _number_hints(cell: str) -> Iterator[str]:
    bare = cell.strip().lstrip("+-").lower()
    digits = "".join(str(int(c)) if c.isdecimal() else c for c in cell)
    if not bare:
        yield "write a number"
    if _COMMA.fullmatch(cell.strip()):
        yield f"write a decimal point: {cell.strip().replace(',', '.')}"
    if bare in _WORDS:
        yield "every line needs a number here: write one, or remove the line"
    if _INFINITE.fullmatch(bare):
        yield "write a finite number; places are below 1e15, others at most 1e99"
    if cell != cell.strip():
        yield "remove the spaces around the number"
    if cell.isascii() and _LARGE.fullmatch(bare):
        yield "write a number below 1e15: no document is so long"
    if "_" in bare and bare.replace("_", "").isdecimal():
        yield f"write the digits without underscores: {cell.replace('_', '')}"
    if digits != cell:
        yield f"write the digits 0 to 9: {digits}"
    yield "write digits, optionally with a sign, a point and an exponent: 12, 0.75, -1e-3"


def describe_whole(cell: str) -> Mapping[str, object]:
    """How to correct a cell that is not a whole number.

    Examples:
        >>> describe_whole("210.5")["hint"]
        'write a whole number: 210'
        >>> describe_whole("0.38")["hint"]
        'write a level from 1 to 1000, not a share of 1'
    """
    if re.fullmatch(r"\+?0?\.[0-9]*[1-9][0-9]*", cell):
        return {"hint": "write a level from 1 to 1000, not a share of 1"}
    if found := re.fullmatch(r"([+-]?[0-9]+)\.[0-9]*", cell):
        return {"hint": f"write a whole number: {found[1]}"}
    return describe_number(cell)


def describe_name(cell: str) -> Mapping[str, object]:
    """How to correct a cell that is not an identifier.

    Examples:
        >>> describe_name('"001"')["hint"]
        'nothing is quoted in these tables: write 001'
    """
    if not cell.strip():
        return {"hint": "write the identifier"}
    if '"' in cell:
        return {"hint": f"nothing is quoted in these tables: write {cell.replace(chr(34), '')}"}
    return describe_word(cell)


def describe_word(cell: str) -> Mapping[str, object]:
    """How to correct a cell with characters that no cell can have, or spaces around it."""
    if "\r" in cell:
        return {"hint": "remove the carriage return; lines end in LF or CRLF"}
    if cell != cell.strip():
        return {"hint": "remove the spaces around it"}
    return {"hint": "remove control characters"}


# The types of columns, of which grammars/ccu.toml declares the tables.


#: An identifier: no quotes and no control characters, and no space around it.
NAME = r'[^\x00-\x20\x7f-\x9f"](?:[^\x00-\x1f\x7f-\x9f"]*[^\x00-\x20\x7f-\x9f"])?'
#: A number that a computer can hold: neither `1e400` nor `nan`.
NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?:-[0-9]{1,3}|\+?[0-9]{1,2}))?"
#: A number below 10 to the power of 15: no stream is so long, and windows can be counted.
PLACE = (
    r"[+-]?(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+"
    r"|[0-9]{1,6}(?:\.[0-9]*)?[eE]\+?0{0,2}[0-8]|[0-9](?:\.[0-9]*)?[eE]\+?0{0,2}(?:9|1[0-4])"
    r"|(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)[eE]-[0-9]{1,3})"
)
#: Cells of a reference: where an annotator found nothing, nobody annotated, or there is no value;
#: and what is not finished.
NONE, NO_ANNOTATION, NOT_APPLICABLE, TO_DO = "none", "noann", "EMPTY_NA", "EMPTY_TBD"
NO_VALUE = (NONE, NO_ANNOTATION, NOT_APPLICABLE)


def _number_or_word(*patterns: str) -> Column:
    """Numbers, or words in their place; references of LDC have spaces beside them."""
    pattern = f" *(?:{'|'.join([*patterns, TO_DO])}) *"
    return Column("", pattern=pattern, code="107", describe=describe_number)


_PLACES = Column("", "number", PLACE, "107", describe=describe_number)
_TEXTS = Column("", pattern=r"[^\x00-\x1f\x7f]*", code="109", nullable=True, describe=describe_word)
_SPEAKERS = "|".join(["(?i:true|false)", *NO_VALUE, TO_DO])
#: The types by name; codes lack their prefix. `status` is what rules accept.
TYPES = {
    "name": Column("", pattern=NAME, code="108", describe=describe_name),
    "words": _TEXTS,
    "status": replace(
        _TEXTS,
        usual="(?:adhere|violate)(?:, ?(?:adhere|violate))*|EMPTY_NA",
        words=("adhere", "violate", "adhere,violate", "EMPTY_NA"),
    ),
    "number": replace(_PLACES, pattern=NUMBER),
    "place": _PLACES,
    "length": replace(_PLACES, nullable=True),
    "level": Column("", "number", "[+-]?[0-9]{1,15}", "110", describe=describe_whole),
    "truth": Column("", pattern="(?i:true|false)", code="121", tolerated=True),
    "annotated place": _number_or_word(PLACE),
    "annotated length": _number_or_word(PLACE, ""),
    "annotated level": _number_or_word("[0-9]{1,15}", NO_ANNOTATION),
    "annotated time": _number_or_word(PLACE, *NO_VALUE),
    "speakers": replace(_TEXTS, pattern=_SPEAKERS, code="110", tolerated=True),
}
#: The most columns of a table; a line with more is not a header.
_MOST = 100


@cache
def kinds_of(group: str) -> Mapping[str, Kind]:
    """The tables of `submission`, `reference` or `documents`, as grammars/ccu.toml declares them.

    Examples:
        >>> kinds_of("submission")["vd"].headings
        ('file_id', 'start', 'end', 'valence_continuous')
    """
    codes = "CCR" if group == "reference" else "CCS"
    return {
        path: Kind(**{
            "name": path, **declared, "codes": codes,
            "columns": tuple(_column(codes, each) for each in declared["columns"]),
        })
        for path, declared in vocabulary("ccu")[group].items()
    }  # fmt: skip


def _column(codes: str, declared: str) -> Column:
    """A column from its declaration."""
    titles, _, kind = declared.partition(": ")
    name, _, heading = titles.removesuffix("?").partition("=")
    column, optional = TYPES[kind], titles.endswith("?")
    code = f"{codes}{column.code}"
    return replace(column, name=name, heading=heading, optional=optional, code=code)


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of table.

    Attributes:
        name: of the kind, for people.
        columns: its columns; those that are optional may be missing in a header.
        codes: the prefix of its codes.
        item: what a line should be.
        kind: of its instances or ratings in the corpus, if they have one.
        key: the columns that identify a row, if any do.
        others: whether it may have further columns.
        short: a column after which lines may end, if they may.
        also: older headings, and the heading that each stands for.
    """

    name: str
    columns: tuple[Column, ...]
    codes: str
    item: str
    kind: str = ""
    key: Sequence[str] = ()
    others: bool = False
    short: str = ""
    also: Mapping[str, str] = field(default_factory=dict)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns in their usual order, without optional ones."""
        return tuple(column.title for column in self.columns if not column.optional)

    def by_title(self) -> Mapping[str, Column]:
        """The columns by what a header may call them."""
        known = {column.title: column for column in self.columns}
        return known | {old: replace(known[now], heading=old) for old, now in self.also.items()}

    def missing(self, titles: Sequence[str]) -> list[str]:
        """The columns that a header lacks."""
        known = self.by_title()
        there = {known[title].name for title in titles if title in known}
        return [c.title for c in self.columns if not c.optional and c.name not in there]

    def declaration(self, header: str = "") -> Table:
        """The table with its header, whose mistakes in all rows can be found.

        Args:
            header: the first line of a file: older headings that it has are kept.
        """
        names = {column.name for column in self.columns}
        titles = header.split("\t")
        older = {now: old for old, now in self.also.items() if old in titles}
        return Table(
            tuple(replace(c, heading=older.get(c.title, c.heading)) for c in self.columns),
            header="required",
            any_order=True,
            ragged=self.others,
            ascending=("start", "end") if {"start", "end"} <= names else (),
        )

    def table(self, titles: Sequence[str]) -> Table:
        """The declaration of the lines after a header.

        Columns that it does not know are texts. If it may have them, their names begin with `+`.
        """
        return _table(self, tuple(titles))

    def problems(self, header: str) -> Iterator[Problem]:
        """The problems of a header: with 102 or 104, the lines after it cannot be read."""
        titles = header.split("\t")
        values = {"table": self.name, "header": " ".join(self.headings)}
        missing = self.missing(titles)
        if missing or len(titles) > _MOST:
            problem = f"lacks {', '.join(missing)}" if missing else f"has {len(titles):,} columns"
            more = {"problem": problem, "hint": _header_hint(self, header)}
            yield Problem(f"{self.codes}102", 1, 0, len(header), {**values, **more})
            return
        known = self.by_title()
        unknown = () if self.others else [title for title in titles if title not in known]
        for title in dict.fromkeys(unknown):
            hint = f"remove the column {title}" if title else "remove the tab after the last column"
            more = {"column": title or "without a name", "hint": hint}
            yield Problem(f"{self.codes}103", 1, *_stretch(header, title), {**values, **more})
        counts = Counter(known[title].name for title in titles if title in known)
        repeated = [t for t in titles if t in known and counts[known[t].name] > 1]
        for title in repeated[-1:]:
            place = _stretch(header, title)
            yield Problem(f"{self.codes}104", 1, *place, {**values, "column": title})


@lru_cache(maxsize=64)  # thousands of files share one header
def _table(kind: Kind, titles: tuple[str, ...]) -> Table:
    known = kind.by_title()
    mark = "+" if kind.others else "\t+"
    columns = [
        replace(known[title], optional=False)
        if title in known
        else Column(f"{mark}{title if titles.count(title) == 1 else at}", heading=title)
        for at, title in enumerate(titles)
    ]
    if kind.short in titles:
        end = titles.index(kind.short) + 1
        columns[end:] = [replace(c, optional=True, nullable=True) for c in columns[end:]]
    return Table(
        tuple(columns), code=f"{kind.codes}105", empty_code=f"{kind.codes}106", blank_is_empty=False
    )


def _stretch(header: str, title: str) -> tuple[int, int]:
    """The place of the last column of a name in a header."""
    start = f"\t{header}\t".rindex(f"\t{title}\t")
    return start, start + len(title)


def header_of(member: Member) -> str:
    """The first line of a file."""
    return beginning(member, 100_000).partition("\n")[0].removesuffix("\r")


def words_of(header: str) -> list[str]:
    r"""The words of a header, also of a damaged one.

    Examples:
        >>> words_of("FILE_ID, norm  llr")
        ['file_id', 'norm', 'llr']
    """
    plain = header.lower()
    for separator in ("\t", ",", ";"):
        plain = plain.replace(separator, " ")
    return plain.replace('"', "").split()


def _header_hint(kind: Kind, header: str) -> str:
    """How to correct a header that lacks columns."""
    titles, wanted = header.split("\t"), " ".join(kind.headings)
    lower = set(words_of(header))
    if not lower & set(kind.by_title()):
        return f"begin with the header, separated by tabs: {wanted}"
    if len(titles) == 1:
        given = "commas" if "," in header else "semicolons" if ";" in header else "spaces"
        return f"separate the columns of all lines by tabs, not by {given}"
    pairs = []
    for title in kind.missing(titles):
        others = [other for other in titles if other not in kind.by_title()]
        if other := closest(title, others):
            pairs.append(f"write {other} as {title}")
    return "; ".join(pairs) or f"these columns are needed, separated by tabs: {wanted}"


# Rows as cells of tables of CCU, and which of them a table can hold.


#: What no cell can have.
NO_CELL = r"[\t\n\r\x00]"
_NUMBER = Column("number", "number")


def number_cells(values: pl.Series) -> pl.Series:
    """Numbers as cells, whole ones without a point; null stays null.

    Examples:
        >>> number_cells(pl.Series([12.0, 0.5, None, -1e-7])).to_list()
        ['12', '0.5', None, '-1e-07']
    """
    return score_cells(values).str.strip_suffix(".0")


def score_cells(values: pl.Series) -> pl.Series:
    """Scores as cells, each with a point or an exponent; null stays null.

    The official validator refuses a table whose scores are all whole numbers.

    Examples:
        >>> score_cells(pl.Series([12.0, 0.5, None])).to_list()
        ['12.0', '0.5', None]
    """
    cells = _NUMBER.cells(values.cast(pl.Float64))
    return pl.select(pl.when(values.is_not_null()).then(cells)).to_series()


def with_number_cells(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Rows with some columns of numbers as cells; `llr` is a score."""
    made = {name: score_cells if name == "llr" else number_cells for name in names}
    return rows.with_columns(cells(rows[name]).alias(name) for name, cells in made.items())


def fits(kind: Kind, rows: pl.DataFrame) -> pl.Series:
    """Which rows of cells a table can hold: each cell is what its column allows."""
    columns = [column for column in kind.columns if column.name in rows.columns]
    allowed = [
        column.valid(pl.col(column.name))
        & (pl.col(column.name).is_not_null() | pl.lit(column.nullable or column.optional))
        for column in columns
    ]
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    clean = [~pl.col(name).str.contains(NO_CELL).fill_null(value=False) for name in texts]
    return rows.select(fits=pl.all_horizontal(*allowed, *clean, pl.lit(value=True))).to_series()


def text(titles: Mapping[str, str], rows: pl.DataFrame) -> str:
    """A table as text, with its header.

    Args:
        titles: the heading of each column that is written, by its name in the rows.
        rows: of cells; null is an empty cell.
    """
    cells = [pl.col(name).fill_null("") for name in titles]
    lines = rows.select(line=pl.concat_str(cells, separator="\t"))["line"]
    return "\n".join(["\t".join(titles.values()), *lines, ""])


def titles_of(kind: Kind, rows: pl.DataFrame, always: Sequence[str] = ()) -> dict[str, str]:
    """The columns of a kind that are written: optional ones if they are used, or always."""
    used = {c for c in rows.columns if rows[c].is_not_null().any()} | {*always}
    return {c.name: c.title for c in kind.columns if not c.optional or c.name in used}


# The files of a source as tables of one header each, with what is wrong with them.


#: The columns of rows that say where they are.
READ_PLACE = ("origin", "record", "line", "group")
_TYPES = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}
_Group = tuple[Kind, str]
_Problems = dict[_Group, list[tuple[int, Problem]]]


class Tables:
    """Files in groups of one kind and one header.

    Attributes:
        files: the files as such: sources, members and findings about bytes.
        groups: the groups by kind and header.
    """

    def __init__(self, path: str, form: str) -> None:
        self.files = FileBatch(path, form)
        self.groups: dict[_Group, JoinedTables] = {}
        self._found: list[Finding] = []
        self._headers: dict[_Group, list[Problem]] = {}
        self._later: _Problems = defaultdict(list)
        self._refused: _Problems = defaultdict(list)

    def fetch(self, member: Member) -> tuple[int, str] | None:
        """The row of `sources` and the text of a file; None if it cannot be read."""
        before = len(self.files.texts)
        self.files.add(member.name, member)
        if len(self.files.texts) == before:
            return None
        origin, _, text = self.files.texts.pop()
        return origin, text

    def read(self, member: Member, kind: Kind) -> None:
        """Read a file as a kind, if it can be read."""
        if (fetched := self.fetch(member)) is not None:
            self.take(member, kind, *fetched)

    def take(self, member: Member, kind: Kind, origin: int, text: str) -> None:
        """Add the text of a file as a kind."""
        header, _, body = text.partition("\n")
        header, body = header.removesuffix("\r"), body.rstrip("\r\n")
        if (kind, header) not in self._headers:  # thousands of files share one
            self._headers[kind, header] = list(kind.problems(header))
        problems = self._headers[kind, header]
        self.report_at(member, header, *problems)
        if any(problem.code[3:] in {"102", "104"} for problem in problems):
            return
        if (kind, header) not in self.groups:
            self.groups[kind, header] = JoinedTables(kind.table(header.split("\t")))
        self.groups[kind, header].add(origin, member, body)

    def report_at(self, member: Member, line: str, *problems: Problem) -> None:
        """Add findings about a line of a file."""
        self._found += [problem.in_line(member.display, line) for problem in problems]

    def report_file(self, code: str, file: str, **values: object) -> None:
        """Add a finding about a file as a whole."""
        self._found.append(Problem(code, 0, 0, 0, values).finding(file, None, None))

    def take_rows(self, kind: Kind) -> pl.DataFrame:
        """The rows of a kind, with `PLACE` and all its columns, null where a file has none.

        They are not kept: a reference has millions.
        """
        types = {column.name: _TYPES[column.kind] for column in kind.columns}
        empty = pl.DataFrame(schema={**dict.fromkeys(READ_PLACE, pl.Int64), **types})
        parts = [
            group.take_rows().select(pl.exclude("^\t.*$"), group=pl.lit(number, pl.Int64))
            for number, ((own, _), group) in enumerate(self.groups.items())
            if own is kind
        ]
        return pl.concat([empty, *parts], how="diagonal")

    def problems(self, code: str, rows: pl.DataFrame, *columns: str) -> None:
        """Add a problem for each of some rows, with its columns as values.

        Args:
            code: of the problem.
            rows: of `take_rows`.
            columns: the columns that it concerns; the whole line without any.
        """
        self._add(self._later, code, rows, *columns)

    def report_repeated(self, code: str, rows: pl.DataFrame, column: str) -> pl.DataFrame:
        """Add a problem for each row that has the value of an earlier one; return these rows."""
        first = pl.col("record").first().over(column)
        again = rows.with_columns(first=first).filter(pl.col("record") != pl.col("first"))
        self.problems(code, again.select(*READ_PLACE, column, "first"), column)
        return again

    def reject(self, code: str, rows: pl.DataFrame) -> None:
        """Keep some rows as `rejected_records`, for a reason that is reported."""
        self._add(self._refused, code, rows)

    def _add(self, found: _Problems, code: str, rows: pl.DataFrame, *columns: str) -> None:
        keys = list(self.groups)
        for row in rows.iter_rows(named=True):
            key = keys[row["group"]]
            values = {name: value for name, value in row.items() if name not in READ_PLACE}
            found[key].append(self.groups[key].problem(code, row["line"], *columns, **values))

    def findings(self) -> Iterator[Finding]:
        """All findings."""
        yield from self.files.findings
        yield from self._found
        for key, group in self.groups.items():
            yield from group.findings(*self._later[key])

    def rejected_records(self) -> Iterator[dict[str, object]]:
        """The rows of `rejected_records`, one by one: a million of them take a gigabyte."""
        count = 0
        for key, group in self.groups.items():
            for row in group.rejected_records(key[0].item, *self._refused[key], first=count):
                count += 1
                yield row
