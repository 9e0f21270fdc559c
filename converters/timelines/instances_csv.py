r"""Instances, ratings and changes of all documents as comma-separated values.

Format:
    RFC 4180: a header, then a row per instance, rating or change. The columns `document` and `kind`
    must be there, and any of `label`, `start`, `end`, `status`, `llr`, `region`, `several`,
    `annotator`, `level`, `bin`, `direction`, `strength` and `evidence`, in any order.

Conventions:
    The kind is `norm` or `emotion` for an instance, `valence` or `arousal` for a rating, `change`
    for a change, which is at its start. Places are as in the tables: seconds, or characters of
    text. An empty cell has no value. A record is a row, at the line where it begins. `file_id` is
    another name of the column `document`; other columns are not read.

Example lines:
    document,kind,label,start,end,status,llr
    M01,norm,101,45.2,60.2,"adhere,violate",1.5

Codes raised: TLN101, TLN6xx.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.timelines import notation
from hlteval.converters.toolkit.rows import keyed
from hlteval.converters.toolkit.source_files import File, beginning, head, locate_lines, read_files
from hlteval.findings import FieldRef, Finding, Location, Problem, line_findings
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.sections import TableSections, first_line
from hlteval.syntax.tsv import Column, Table, shorten

COLUMNS = (
    *("document", "kind", "label", "start", "end", "status", "llr", "region", "several"),
    *("annotator", "level", "bin", "direction", "strength", "evidence"),
)
_NEEDED = ("document", "kind")
_ALSO = {"file_id": "document"}
_NUMBERS = ("start", "end", "llr", "level")
#: The columns of each table that cells hold; a change is at its start.
_OF = {
    "instances": COLUMNS[1:10],
    "ratings": ("kind", "level", "bin", "start", "end", "region", "annotator"),
    "changes": ("at", "llr", "direction", "strength", "evidence", "annotator"),
}
#: The columns of each table that are read.
_READ = {
    **{table: ("document", "origin", "record", *columns) for table, columns in _OF.items()},
    "rejected_records": ("origin", *Problem("", 0, 0, 0).rejection("", "")),
}
#: The pattern of the cells of a column, and what a message calls that.
_PATTERNS = {
    **dict.fromkeys(_NUMBERS, (f" *{notation.NUMBER} *", "a number")),
    "kind": ("|".join(notation.TABLE_OF), ""),
    "document": ("(?s).+", "the name of a document"),
    "several": ("true|false", "true or false"),
}
_OTHERS: Mapping[str, Callable[[str], object]] = {"several": "true".__eq__, "kind": str.strip}
_VALUES = {**_OTHERS, **dict.fromkeys(_NUMBERS, float)}
#: The columns as a table, for mistakes in all rows.
_TABLE = Table(
    tuple(
        Column(
            name,
            "number" if name in _NUMBERS else "text",
            pattern=_PATTERNS.get(name, ("", ""))[0],
            nullable=name not in _NEEDED,
            optional=name not in _NEEDED,
        )
        for name in COLUMNS
    ),
    header="required",
    any_order=True,
    ragged=True,
    separator=",",
    ascending=("start", "end"),
)
_CELL = re.compile(r'"(?:[^"]|"")*"|[^,]*')

#: The code of a problem, the number of its cell (None for the row), and the values of its message.
Fault = tuple[str, int | None, Mapping[str, object]]
Rows = dict[str, list[tuple[object, ...]]]


def sniff(source: Source) -> bool:
    """Whether it is a single file whose header names a document, a kind and a start."""
    titles = {title.strip(' "\r') for title in head(source).partition("\n")[0].split(",")}
    named = bool(titles & {"document", "file_id"}) + ("kind" in titles)
    return named > 0 and named + bool(titles & {"start", "label", "level"}) > 1


def tabular(_: Member, first: str) -> Sequence[Table]:
    """The table, whose first column may be called `file_id`."""
    named, *others = _TABLE.columns
    own = replace(named, heading=next((title for title in _ALSO if title in first), ""))
    return (replace(_TABLE, columns=(own, *others)),)


def read(source: Source) -> Iterator[ReadResult]:
    """The instances, ratings and changes, a batch for each file."""
    return read_files(source, FORMAT.name, _read)


def _read(file: File) -> tuple[Corpus, Iterable[Finding]]:
    """The rows of a file, by table, and what is wrong with others."""
    lines = (file.text or "").split("\n")
    documents: dict[str, int] = {}
    # A row is a tuple, since a dictionary takes several times the memory.
    tables: Rows = {}
    # Problems are explained or counted at once: there may be one for each of a million lines.
    problems = _take(lines, documents, tables) if file.text is not None else ()
    findings = line_findings(problems, lines, file.member.display, file.member.max_per_code)
    names = [(0, name) for name in documents]
    frames = {name: keyed(name, rows, _READ[name]) for name, rows in tables.items()}
    frames["documents"] = keyed("documents", names, ("origin", "name"))
    return Corpus(sources=[file.origin], **frames), findings


def _take(lines: Sequence[str], documents: dict[str, int], tables: Rows) -> Iterator[Problem]:
    """Add the rows of a file; what is wrong with them.

    Args:
        lines: of the file.
        documents: the keys of the documents by name.
        tables: the rows by table, with the columns `_READ`.
    """
    reader = csv.reader((f"{line}\n" for line in lines), strict=True)
    header: list[str] = []
    record, following = 1, 1
    try:
        for cells in reader:
            record, following = following, reader.line_num + 1
            line = lines[record - 1].removesuffix("\r")
            is_first, faults = not header, list[Fault]()
            if is_first:
                header = [_ALSO.get(cell.strip(), cell.strip()) for cell in cells] or [""]
                faults = list(_header_faults(header))
            elif cells:
                faults = list(_faults(cells, header))
            last = max((cell for _, cell, _ in faults if cell is not None), default=-1)
            spans = [*_spans(line, last + 1), (0, len(line))]  # of cells, and of the row
            places = ((code, spans[-1 if cell is None else cell], v) for code, cell, v in faults)
            wrong = [Problem(code, record, *span, v) for code, span, v in places]
            yield from wrong
            if is_first or not cells:
                if any(problem.code == "TLN601" for problem in wrong):
                    return
            elif wrong:
                rejected = wrong[0].rejection("instance", line)
                tables.setdefault("rejected_records", []).append((0, *rejected.values()))
            else:
                pairs = zip(header, cells, strict=True)
                row = {name: _VALUES.get(name, str)(cell) for name, cell in pairs if cell}
                row |= {"at": row.get("start"), "origin": 0, "record": record}
                row["document"] = documents.setdefault(str(row["document"]), len(documents))
                table = notation.TABLE_OF[str(row["kind"])]
                tables.setdefault(table, []).append(tuple(map(row.get, _READ[table])))
    except csv.Error as error:
        record = min(following, len(lines))
        length = len(lines[record - 1].removesuffix("\r"))
        yield Problem("TLN606", record, 0, length, {"reason": str(error)})
        return
    if not header:
        yield Problem("TLN601", 1, 0, len(lines[0]), {"missing": ", ".join(_NEEDED)})


def _header_faults(header: Sequence[str]) -> Iterator[Fault]:
    """The faults of a header; nothing is read after one without all that is needed."""
    missing = [name for name in _NEEDED if name not in header]
    repeated = [name for name in COLUMNS if header.count(name) > 1]
    if missing or repeated:
        yield "TLN601", None, {"missing": ", ".join(missing or repeated)}
        return
    for number, name in enumerate(header):
        if name not in COLUMNS:
            yield "TLN603", number, {"column": shorten(name, 40) or "(empty)"}


def _faults(cells: Sequence[str], header: Sequence[str]) -> Iterator[Fault]:
    """The faults of the cells of a row."""
    if len(cells) != len(header):
        yield "TLN602", None, {"given": len(cells), "wanted": len(header)}
        return
    label = kind = ""
    for number, (name, cell) in enumerate(zip(header, cells, strict=True)):
        if name == "label":
            label = cell
        elif name == "kind":
            kind = cell.strip()
            if kind not in notation.TABLE_OF:
                yield "TLN605", number, {"given": shorten(cell, 40) or "nothing"}
        elif name in _PATTERNS and (cell or name in _NEEDED):
            pattern, expected = _PATTERNS[name]
            if not re.fullmatch(pattern, cell):
                given = shorten(cell, 40) or "nothing"
                yield "TLN604", number, {"given": given, "expected": expected}
    if kind in notation.INSTANCES and not label:
        yield "TLN101", header.index("label") if "label" in header else None, {}


def _spans(line: str, count: int) -> Iterator[tuple[int, int]]:
    """The places of the first cells in the first line of a row; later lines are at its end.

    Examples:
        >>> list(_spans('M01,"a,""b",3', 3))
        [(0, 3), (4, 11), (12, 13)]
    """
    end = -1
    for _ in range(count):
        start = min(end + 1, len(line))
        found = _CELL.match(line, start)
        end = found.end() if found else len(line)
        yield start, end


def sections(member: Member, **_: str) -> TableSections | None:
    """The documents of a table without quotes."""
    head = first_line(member)
    titles = head.decode("utf-8", "replace").rstrip("\n").split(",")
    column = next(
        (at for at, title in enumerate(titles) if _ALSO.get(title, title) == "document"), -1
    )
    if not 0 <= column < len(titles) - 1:
        return None
    return TableSections(member, column, b",", head=head, excluded=b'\r"')


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The cells of a file; a record is a line."""
    first = beginning(member).partition("\n")[0].removesuffix("\r")
    titles = [_ALSO.get(title.strip(' "'), title.strip(' "')) for title in first.split(",")]

    def stretch(line: str, field: str) -> tuple[int, int]:
        wanted = "start" if field == "at" else field
        if wanted not in titles:
            return 0, len(line)
        *_, span = _spans(line, titles.index(wanted) + 1)
        return span

    return locate_lines(member, places, stretch)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """Write the rows of all documents: instances, ratings, then changes of a batch."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for corpus in corpora:
            for table in _OF:
                writer.writerows(_cells(corpus, table).iter_rows())


def _cells(corpus: Corpus, table: str) -> pl.DataFrame:
    """The rows of a table that cells can represent, as cells."""
    names = corpus.documents.select(document="row", _name="name")
    frame: pl.DataFrame = getattr(corpus, table)
    rows = frame.join(names, on="document", maintain_order="left").drop("document")
    rows = rows.rename({"_name": "document"})
    conditions = []
    for name in ("document", *_OF[table]):
        if name == "kind":
            kinds = [kind for kind, of in notation.TABLE_OF.items() if of == table]
            conditions.append(pl.col("kind").is_in(kinds))
        elif name in {*_NUMBERS, "at"}:
            conditions.append(notation.is_number(name))
        elif name != "several":
            # Not all readers keep a carriage return.
            text = (pl.col(name) != "") & ~pl.col(name).str.contains("[\0\r]")
            conditions.append(text.fill_null(value=True))
    columns = {"document", *_OF[table]}
    if table == "changes":
        rows = rows.with_columns(kind=pl.lit(notation.CHANGE), start="at")
        columns |= {"kind", "start"}
    return rows.filter(conditions).select(
        pl.col(name).cast(pl.String) if name in columns else pl.lit(None, pl.String).alias(name)
        for name in COLUMNS
    )


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what rows cannot represent."""
    lost = {table: getattr(corpus, table).height - _cells(corpus, table).height for table in _OF}
    counts = {f"{table} that do not fit a row": count for table, count in lost.items()}
    return {**counts, **notation.count_silent(corpus, *_OF)}


FORMAT = declaration(__name__)
