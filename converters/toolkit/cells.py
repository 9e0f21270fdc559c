"""Cells of lines as the columns of a table."""

import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np
import polars as pl

from hlteval.converters.toolkit.rows import LineFile
from hlteval.converters.toolkit.source_files import File, beginning, cell_stretch, locate_lines
from hlteval.findings import FieldRef, Location, Problem
from hlteval.sources import Member
from hlteval.syntax.sections import TableSections, first_line

#: A row has so many cells at most.
MOST = 2000
#: A space beside another, or beside a line feed, as numbers of two bytes.
_WIDE = tuple(int.from_bytes(pair.encode()) for pair in ("  ", " \n", "\n "))


def cells(line: str) -> list[str]:
    r"""The cells of a line: between tabs if it has some, else between spaces.

    Examples:
        >>> cells("EU NNP  B-ORG "), cells("New York\tB-LOC")
        (['EU', 'NNP', 'B-ORG'], ['New York', 'B-LOC'])
    """
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def read_cells(
    text: str,
    separator: str,
    width: int,
    *,
    first: int = 1,
    quoted: bool = False,
    joined: int | None = None,
) -> pl.DataFrame:
    r"""The cells of lines as columns `0`, `1`, …, with one more than a line should have.

    A cell is null where it is empty, and where a line does not have it.

    Args:
        text: the lines.
        separator: the character between cells; of spaces, one or more.
        width: the number of cells that a line should have.
        first: the number of the first line.
        quoted: whether cells may be in double quotes, and then have line breaks.
        joined: the number of the cell that has spaces where a line has too many cells.

    Returns:
        A row per line with its number as `record`; of a row of several lines, the first one, and
        the number of their `breaks`.

    Examples:
        >>> read_cells('a,"b\n1"\n\nc,d,e\n', ",", 2, quoted=True).drop("breaks").rows()
        [('a', 'b\n1', None, 1), (None, None, None, 3), ('c', 'd', 'e', 4)]
    """
    names = [str(at) for at in range(width + 1)]
    if separator == " ":
        text = _single_spaces(text)
    if joined is not None:
        text, separator = with_words(text, width, joined), "\t"
    if not text.lstrip("\n"):  # which copies no text
        table = pl.DataFrame(schema=dict.fromkeys(names, pl.String)).clear(len(text))
    else:
        table = pl.read_csv(
            BytesIO(f"{separator.join(names)}\n{text}".encode()),
            separator=separator,
            quote_char='"' if quoted else None,
            infer_schema=False,
            truncate_ragged_lines=True,
        )
    record = pl.int_range(first, first + pl.len(), dtype=pl.Int64)
    if quoted:
        breaks = pl.sum_horizontal(pl.col(names).str.count_matches("\n").fill_null(0))
        table = table.with_columns(breaks=breaks.cast(pl.Int64))
        record += pl.col("breaks").cum_sum().shift(1, fill_value=0)
        table = table.with_columns(record=record)
        return table.with_columns(pl.col(names).replace("", None))
    return table.with_columns(record=record)


def leave_out_wrong_quotes(text: str, separator: str) -> tuple[str, list[int]]:
    r"""Lines without those that have a cell whose quotes are not closed, or not at its ends.

    Inside a cell without quotes at its ends, there may be pairs of them.

    Args:
        text: the lines, of which a cell in double quotes may be several.
        separator: the character between cells.

    Returns:
        The lines, with an empty one for each that is left out; and the numbers of these.

    Examples:
        >>> leave_out_wrong_quotes('a,"b\n1"\n"c"x,d\ne,"f\n', ",")
        ('a,"b\n1"\n\n\n', [3, 4])
        >>> leave_out_wrong_quotes('a,5" x\nb,5"" x\n', ",")
        ('\nb,5"" x\n', [1])
    """
    plain = rf'[^"{re.escape(separator)}\n]'
    cell = rf'(?:"(?:[^"]|"")*+"|{plain}(?:{plain}|"{plain}*+")*+|)'
    row = re.compile(rf"{cell}(?:{re.escape(separator)}{cell})*+(?:\n|\Z)")
    kept, wrong, at, line = list[str](), list[int](), 0, 1
    while at < len(text):
        match, end = row.match(text, at), text.find("\n", at) + 1 or len(text)
        if match is None:
            wrong.append(line)
        end = match.end() if match else end
        kept.append(match[0] if match else "\n")
        line += text.count("\n", at, end)
        at = end
    return "".join(kept), wrong


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

    def join_word(line: re.Match[str]) -> str:
        parts = line[0].split("\t")
        more = word + len(parts) - width + 1
        return "\t".join([*parts[:word], " ".join(parts[word:more]), *parts[more:]])

    longer = re.compile(rf"(?m)^(?!-DOCSTART-|#begin|#end)(?:[^\t\n]*\t){{{width},}}[^\t\n]*$")
    return longer.sub(join_word, text.replace(" ", "\t"))


# Tables whose first line may name their columns.


class Heading(NamedTuple):
    """The columns of a table, as its first line gives them.

    Attributes:
        names: their names.
        at: the number of the column of each field; None if there is none.
        separator: the character between cells.
        quoted: whether cells may be in double quotes, and then have line breaks.
        named: whether the first line names them, so that it is no row.
        missing: the columns that should be there.
    """

    names: Sequence[str]
    at: Mapping[str, int | None]
    separator: str = ","
    quoted: bool = True
    named: bool = True
    missing: Sequence[str] = ()

    def stretch(self, line: str, field: str) -> tuple[int, int]:
        """The place of a field in a line."""
        return cell_stretch(line, self.at.get(field), self.separator, quoted=self.quoted)


#: Gives the columns of a table by its first line, and the settings of its format.
Headed = Callable[..., Heading]


def locate_by_heading(
    member: Member, places: Sequence[FieldRef], *, heading: Headed, **settings: str
) -> list[Location | None]:
    """The cells of a file; a record is a line."""
    first = beginning(member).partition("\n")[0].removesuffix("\r")
    return locate_lines(member, places, heading(first, **settings).stretch)


def sections_by_heading(
    member: Member, *, heading: Headed, **settings: str
) -> TableSections | None:
    """The documents of a table that names its columns and has no quotes."""
    head = first_line(member)
    own = heading(head.decode("utf-8", "replace").removesuffix("\n"), **settings)
    column = own.at.get("document")
    if own.missing or not own.named or column is None or column + 1 >= len(own.names):
        return None
    excluded = b'\r"' if own.quoted else b"\r"
    return TableSections(member, column, own.separator.encode(), head=head, excluded=excluded)


class CellFile(LineFile):
    r"""A file that is a table: its rows, and what is wrong with its other lines.

    Attributes:
        text: the file, with LF at the ends of lines.
        first: the first line; its problems are `problems`.

    Examples:
        >>> member = Member("", "s.csv", None, bytes)
        >>> file = CellFile(File(member, "id,label\n\nd1,a\nd2\n", {}, {}))
        >>> rows = file.rows(Heading(["id", "label"], {}), ("LBT102", "LBT106"))
        >>> rows.select("record", "0", "1", "line").rows(), file.rejected[0][:2]
        ([(3, 'd1', 'a', 1)], ('LBT102', 4))
    """

    def __init__(self, file: File) -> None:
        self.text = (file.text or "").replace("\r\n", "\n")
        super().__init__(file._replace(text=self.text or "\n"))
        self.first = self.text.partition("\n")[0]

    def rows(
        self, heading: Heading, codes: tuple[str, str], *, padded: bool = False
    ) -> pl.DataFrame:
        """The rows that have as many cells as there are columns.

        Args:
            heading: the columns.
            codes: of a row with another number of cells, `given` instead of `wanted`, and of a line
                with a cell whose quotes are not closed, or not at its ends.
            padded: whether further cells are ignored if they are empty.

        Returns:
            `record` and the cells of each row, as in `read_cells`, and its number from 0 as `line`;
            without those that are empty.
        """
        separator, quoted, lines = heading.separator, heading.quoted, self.lines
        text, width, wrong = self.text, len(heading.names), list[int]()
        try:
            table = read_cells(text, separator, width, quoted=quoted)
        except pl.exceptions.ComputeError:
            if not quoted:
                raise
            text, wrong = leave_out_wrong_quotes(text, separator)
            table = read_cells(text, separator, width, quoted=quoted)
        names = [str(at) for at in range(width + 1)]
        table = table.slice(heading.named).with_columns(line=pl.int_range(pl.len()))
        table = table.filter(~pl.all_horizontal(pl.col(names).is_null()))
        more = pl.col(names[-1]).is_not_null()
        odd = table.filter(more | pl.col(names[-2]).is_null()) if padded else table
        texts = lines.gather(odd["record"] - 1)
        odd = odd.with_columns(size=texts.str.len_chars())
        if quoted:
            several = odd.with_row_index("at").filter(pl.col("breaks") > 0)
            bounds = several.select(first="record", last=pl.col("record") + pl.col("breaks")).rows()
            whole = [
                "\n".join(lines[at - 1] for at in range(first, last + 1)) for first, last in bounds
            ]
            texts = texts.scatter(several["at"], whole).str.replace_all('"[^"]*"', "")
        given = texts.str.count_matches(separator, literal=True) + 1
        odd = odd.with_columns(given=given)
        other = more | (pl.col("given") < width) if padded else pl.col("given") != width
        odd = odd.filter(other).select("record", "size", "given")
        alike = {given: {"given": given, "wanted": width} for given in odd["given"].unique()}
        self.rejected += (
            Problem(codes[0], at, 0, size, alike[given]) for at, size, given in odd.iter_rows()
        )
        self.reject_rows(codes[1], pl.DataFrame({"record": wrong}, {"record": pl.Int64}))
        return table.filter(~pl.col("record").is_in(odd["record"].implode()))

    def report_once(self, code: str, rows: pl.DataFrame) -> None:
        """Report how many rows have something, at the first of them."""
        for record in rows["record"].head(1):
            self.report(code, record, count=rows.height)

    def reject_rows(self, code: str, rows: pl.DataFrame, *values: str) -> None:
        """Report a problem of whole lines.

        Args:
            code: of the problem.
            rows: their `record`, and the values of the message.
            values: the names of the columns of values.
        """
        for record, *own in rows.select("record", *values).iter_rows():
            self.reject(code, record, **dict(zip(values, own, strict=True)))
