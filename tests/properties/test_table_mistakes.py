"""What spreadsheets and scripts do to all rows of a table, made in the valid tables of all formats.

One finding names the mistake, nothing that follows from it is reported, and what the finding calls
certain gives the bytes back.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hlteval import validate
from hlteval.converters import Format, known, load
from hlteval.converters.format import no_tables
from hlteval.findings import Finding
from hlteval.sources import Member, open_source
from hlteval.syntax.tsv import Column, Table
from hlteval.syntax.tsv_mistakes import own
from hlteval.workflows.convert.inputs import Input
from hlteval.workflows.fixing import FixedFiles

FIXTURES = Path(__file__).parents[2] / "fixtures"
PLACES = {"edl-tab": ("lorehlt-edl/valid/submission.tab",), "kb-tab": ("lorehlt-edl/valid/kb.tab",)}
"""Valid files of formats, where they are not all in a folder with the name of the format."""
PLACES["document-list"] = ("lorehlt-edl/valid/documents.list", "speech-sf/valid/segments.list")
PLACES["ccu-submission"] = ("ccu-submission/valid/nd",)
PLACES["ccu-reference"] = ("ccu-reference/valid/annotation",)
PLACES["speech-sf-tsv"] = ("speech-sf-tsv/frames.tsv",)
FRAMES = "DocumentID\tType\tPlaceMention\tTypeConfidence\tNeed\tRelief\n" + "".join(
    f"D{n}\t{kind}\t{place}\t0.{n}5\t\t\n"
    for n, (kind, place) in enumerate(
        [("Shelter", "Osh"), ("Food Supply", "Batken"), ("Evacuation", ""), ("Shelter", "Naryn")], 1
    )
)
Rows = list[list[str]]
Mistake = Callable[[Table, Rows], str | None]


def joined(rows: Rows, separator: str = "\t") -> str:
    return "".join(separator.join(cells) + "\n" for cells in rows)


def body(table: Table, rows: Rows) -> Rows:
    return rows[1:] if table.header == "required" else rows


def in_body(table: Table, rows: Rows, change: Callable[[list[str]], list[str]]) -> Rows:
    return [cells if row is rows[0] and table.header == "required" else change(cells)
            for row in rows for cells in [row]]  # fmt: skip


def columns(table: Table, rows: Rows) -> list[Column | None]:
    """The columns in the order of the file."""
    if table.header != "required":
        return list(table.columns)
    named = {column.title: column for column in table.columns}
    return [named.get(title) for title in rows[0]]


def quotes(table: Table, rows: Rows) -> str | None:
    if table.separator == ",":
        return None
    line = own(table.separator).separator
    return joined([[f'"{cell}"' for cell in cells] for cells in rows], line)


def other_separator(separator: str) -> Mistake:
    def make(table: Table, rows: Rows) -> str | None:
        whole = max(map(len, rows)) > 1 and separator != table.separator
        plain = not any(separator in cell for cells in rows for cell in cells)
        return joined(rows, separator) if whole and plain else None

    return make


def other_names(table: Table, rows: Rows) -> str | None:
    if table.header != "required" or table.ragged:
        return None
    return joined([[f"my_{title}" for title in rows[0]], *rows[1:]], table.separator)


def no_header(table: Table, rows: Rows) -> str | None:
    titles = [column.title for column in table.columns]
    needed = [column.title for column in table.columns if not column.optional]
    usual = rows[0] in (titles, needed)
    return joined(rows[1:], table.separator) if table.header == "required" and usual else None


def one_header(table: Table, rows: Rows) -> str | None:
    patterned = any(column.full_pattern for column in table.columns)
    if table.header == "required" or len(table.columns) == 1 or not patterned:
        return None
    titles = [f"my_{column.title}" for column in table.columns[: len(rows[0])]]
    titles = [re.sub("[0-9 ]", "", title) for title in titles]
    separator = "\t" if table.separator == " " else table.separator
    return joined([titles], separator) + joined(rows, separator)


def decimal_commas(table: Table, rows: Rows) -> str | None:
    if table.separator == ",":
        return None
    own_columns, found = columns(table, rows), body(table, rows)
    for at, column in enumerate(own_columns):
        cells = [row[at] for row in found if at < len(row)]
        decimals = [cell for cell in cells if re.fullmatch(r"[0-9]+\.[0-9]+", cell)]
        commas = [cell.replace(".", ",") for cell in decimals]
        refused = column is not None and not any(map(column.accepts, commas))
        if refused and len(decimals) >= max(2, 0.6 * len(cells)):

            def change(cells: list[str], at: int = at) -> list[str]:
                if at >= len(cells):
                    return cells
                return [*cells[:at], cells[at].replace(".", ","), *cells[at + 1 :]]

            return joined(in_body(table, rows, change), "\t")
    return None


SHARES = {"confidence", "TypeConfidence"}
"""The headings of columns of numbers from 0 to 1."""


def percentages(table: Table, rows: Rows) -> str | None:
    titles = [column.title if column else "" for column in columns(table, rows)]
    at = next((titles.index(title) for title in titles if title in SHARES), -1)
    if at < 0 or table.separator == " " or table.columns[0].name == "key":
        return None
    return joined(
        in_body(table, rows, lambda c: [*c[:at], f"{float(c[at]) * 100:g}%", *c[at + 1 :]]), "\t"
    )


EXCHANGED = (
    *(("entity_type", "mention_type"), ("Type", "TypeConfidence"), ("status", "llr")),
    *(("start", "end"), ("question", "response"), ("timestamp", "llr")),
)
"""Columns whose values cannot be taken for each other."""


def exchanged(table: Table, rows: Rows) -> str | None:
    titles = [column.title if column else "" for column in columns(table, rows)]
    for one, other in EXCHANGED:
        if {one, other} <= set(titles) and table.separator == "\t" and one != "timestamp":
            pair = titles.index(one), titles.index(other)
            if any(row[pair[0]] == row[pair[1]] for row in rows):
                continue

            def change(cells: list[str], pair: tuple[int, int] = pair) -> list[str]:
                cells = [*cells]
                cells[pair[0]], cells[pair[1]] = cells[pair[1]], cells[pair[0]]
                return cells

            return joined(in_body(table, rows, change), "\t")
    return None


def row_numbers(table: Table, rows: Rows) -> str | None:
    if table.ragged or table.ignored or any(column.optional for column in table.columns):
        return None
    if any("CCR" in column.code for column in table.columns):  # a column more is a warning there
        return None
    headed = table.header == "required"
    numbers = ["", *map(str, range(len(rows)))] if headed else list(map(str, range(len(rows))))
    numbered = [[number, *cells] for number, cells in zip(numbers, rows, strict=False)]
    separator = "\t" if table.separator == " " else table.separator
    return joined(numbered, separator)


def one_less(table: Table, rows: Rows) -> str | None:
    if table.header == "required" or len(table.columns) < 3 or table.ragged or table.ignored:
        return None
    if any(column.optional for column in table.columns) or table.columns[0].title == "file":
        return None
    at = next(at for at, c in enumerate(table.columns) if c.usual_pattern)
    return joined([[*cells[:at], *cells[at + 1 :]] for cells in rows], "\t")


def other_case(table: Table, rows: Rows) -> str | None:
    for at, column in enumerate(columns(table, rows)):
        known = column and column.title in {"entity_type", "Type"}
        words = known and len(column.usual_pattern) > 0
        if words and table.columns[0].name not in {"key", "entity"}:
            return joined(
                in_body(table, rows, lambda c, at=at: [*c[:at], c[at].swapcase(), *c[at + 1 :]]),
                "\t",
            )
    return None


MISTAKES: dict[str, tuple[str, Mistake]] = {
    "quotes": ("TAB101", quotes),
    "commas": ("TAB102", other_separator(",")),
    "semicolons": ("TAB102", other_separator(";")),
    "bars": ("TAB102", other_separator("|")),
    "other names": ("TAB103", other_names),
    "no header": ("TAB104", no_header),
    "a header": ("TAB105", one_header),
    "decimal commas": ("TAB106", decimal_commas),
    "percentages": ("TAB107", percentages),
    "exchanged": ("TAB108", exchanged),
    "row numbers": ("TAB109", row_numbers),
    "one less": ("TAB110", one_less),
    "case": ("TAB111", other_case),
}


def tabular() -> list[Format]:
    forms = (load(name) for name in known())
    return [form for form in forms if form.reads and form.tabular is not no_tables]


def valid(form: Format) -> list[Path]:
    if form.name in PLACES:
        return [FIXTURES / path for path in PLACES[form.name]]
    return sorted((FIXTURES / form.name / "valid").iterdir())


def cases() -> Iterator[tuple[str, Path, str, str]]:
    """Each format, valid source, file of it and mistake."""
    for form in tabular():
        for path in valid(form):
            names = [""] if not path.is_dir() else [
                str(file.relative_to(path)) for file in sorted(path.rglob("*")) if file.is_file()
            ]  # fmt: skip
            for name in names:
                for mistake in MISTAKES:
                    yield form.name, path, name, mistake


def text_of(path: Path, name: str) -> str:
    file = path / name if name else path
    return FRAMES if not file.exists() else file.read_text("utf-8")


def damaged(form: Format, path: Path, name: str, mistake: str) -> str | None:
    """The text of a file with a mistake; None if it cannot be made there."""
    text = text_of(path, name)
    member = Member(name, str(path / name), 0, bytes)
    tables = form.tabular(member, text.partition("\n")[0])
    if not tables:
        return None
    rows = [list(row.cells) for row in own(tables[0].separator).rows(text)]
    if len(body(tables[0], rows)) < 2:
        return None
    return MISTAKES[mistake][1](tables[0], rows)


CASES = [
    (*case, made) for case in cases() if (made := damaged(load(case[0]), *case[1:])) is not None
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("form", "path", "name", "mistake", "made"),
    CASES,
    ids=[
        f"{form}-{path.name}-{name}-{mistake}".replace(" ", "-")
        for form, path, name, mistake, _ in CASES
    ],
)
def test_a_mistake_in_all_rows_is_one_finding_and_can_be_undone(
    form: str, path: Path, name: str, mistake: str, made: str, tmp_path: Path
) -> None:
    source = tmp_path / path.name
    if path.is_dir():
        shutil.copytree(path, source)
    file = source / name if name else source
    file.write_text(text_of(path, name), "utf-8")
    before = findings(form, source)
    file.write_text(made, "utf-8")
    code = MISTAKES[mistake][0]
    found = findings(form, source)
    new = [item for item in found if item.code not in {each.code for each in before}]
    assert [(item.code, item.file) for item in new] == [(code, str(file))]
    if code == "TAB110":
        return
    files = FixedFiles(open_source(str(source)), load(form))
    assert files.apply(new)
    (member,) = [member for member in files.result().members if member.display == str(file)]
    same(member.fetch().decode(), text_of(path, name), mistake, form)


def same(text: str, wanted: str, mistake: str, form: str) -> None:
    """The bytes are back; of a percentage, its value; of cells between spaces, the cells."""
    if form == "rttm":
        assert [line.split() for line in text.split("\n")] == [
            line.split() for line in wanted.split("\n")
        ]
    elif mistake == "percentages":
        lines = zip(text.split("\n"), wanted.split("\n"), strict=True)
        for line, own_line in lines:
            for cell, other in zip(line.split("\t"), own_line.split("\t"), strict=True):
                assert cell == other or float(cell) == float(other)
    else:
        assert text == wanted


TASKS = {"edl-tab": "lorehlt-edl", "ccu-reference": "ccu-reference"}
"""Tasks whose rules find what is wrong with values."""


def findings(form: str, path: Path) -> list[Finding]:
    if form in TASKS:
        return list(validate(TASKS[form], str(path)).findings)
    return [item for result in Input.open(str(path), form).read() for item in result.findings]


def test_all_tabular_formats_are_tried() -> None:
    assert {form.name for form in tabular()} == {case[0] for case in CASES}
    assert {case[3] for case in CASES} == MISTAKES.keys()
