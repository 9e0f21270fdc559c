"""Steps that undo what a spreadsheet or a script did to all rows of a table."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from itertools import combinations, pairwise

from hlteval.findings.counts import enumeration
from hlteval.syntax.tsv import Column, Table, shorten

#: The columns of a file in their order; None for one that the table does not have.
Columns = tuple[Column | None, ...]
Cells = list[str]
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_PERCENTAGE = re.compile(r"([+-]?[0-9]+(?:[.,][0-9]*)?)\s*%|(?:100|[0-9]{1,2})(?:\.[0-9]*)?")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")
#: Rows of which a step that changes values must explain at least so many.
_FEWEST = 2
#: The share of the cells which a step that changes values must explain.
_SURE = 0.9
_LEAST, _MOST_WORDS = 2, 50
#: Cells that only columns of any text take, without and with spaces.
NO_WORD, NO_WORDS = "?!", "?! ?!"
COMMAS, PERCENTAGES, EXCHANGED = "TAB106", "TAB107", "TAB108"
SURPLUS, LACKING, CASE = "TAB109", "TAB110", "TAB111"
#: The codes of columns too many or missing.
LENGTHS = (SURPLUS, LACKING)


def same(cells: Cells) -> Cells:
    """Return cells as they are."""
    return cells


@dataclass(frozen=True)
class Step:
    """A step that makes cells fit.

    Attributes:
        code: of the finding.
        values: of its message.
        row: the cells of a row after it.
        head: the cells of the header after it.
        can_undo: whether it is known how to undo the mistake.
    """

    code: str
    values: Mapping[str, object]
    row: Callable[[Cells], Cells] = same
    head: Callable[[Cells], Cells] = same
    can_undo: bool = True


def _point(cell: str) -> str:
    """A number with a decimal point."""
    return cell.replace(",", ".") if _COMMA.fullmatch(cell.strip()) else cell


def _share(cell: str) -> str:
    """A percentage as a number from 0 to 1."""
    found = _PERCENTAGE.fullmatch(cell.strip())
    if not found:
        return cell
    share = Decimal((found[1] or found[0]).replace(",", ".")) / 100
    return f"{share:f}" if share % 1 else f"{share:.1f}"


def _as_listed(cell: str, words: Sequence[str]) -> str:
    """A word of a list as the list writes it."""
    alike = [word for word in words if word.casefold() == cell.strip().casefold()]
    return alike[0] if len(alike) == 1 else cell


def _reorder(cells: Cells, places: Sequence[int]) -> Cells:
    """Cells in another order: `places` has for each its place before."""
    if len(cells) <= max(places):
        return cells
    return [*(cells[at] for at in places), *cells[len(places) :]]


def _order(places: Sequence[int], names: Sequence[str], *, with_header: bool) -> Step:
    """The step that puts columns in another order."""
    move = partial(_reorder, places=tuple(places))
    return Step(EXCHANGED, {"columns": enumeration(names)}, move, move if with_header else same)


def order_step(columns: Columns, table: Table) -> Step | None:
    """The step for a header in another order than that of the table, if that counts."""
    names = [column.name if column else "" for column in columns]
    wanted = [column.name for column in table.columns if column.name in names]
    if table.any_order or "" in names or names == wanted:
        return None
    places = [names.index(name) for name in wanted]
    moved = [at for at, place in enumerate(places) if at != place]
    titles = [name_of(columns, at, table) for at in moved]
    return _order(places, titles, with_header=True)


@lru_cache(maxsize=10_000)
def fits(column: Column | None, cell: str) -> bool:
    """Whether a cell looks like one of a column."""
    if column is None or (column.nullable and not cell):
        return True
    pattern = column.usual_pattern
    return pattern == "" or re.fullmatch(pattern, cell) is not None


def name_of(columns: Columns, at: int, table: Table) -> str:
    """Name of a column in messages: its heading, or its number where there is no header."""
    column = columns[at]
    title = column.title if column else f"column {at + 1}"
    return title if table.header == "required" else f"{title} (field {at + 1})"


def _counts(columns: Columns, table: Table) -> range:
    """How many cells a row may have."""
    fewest = sum(column is None or not column.optional for column in columns)
    if table.ragged:
        return range(1 if table.header == "required" else fewest, 10**9)
    return range(fewest, len(columns) + 1)


def _bad(columns: Columns, rows: Iterable[Cells], table: Table) -> list[int]:
    """How many cells of each column do not fit, in rows with as many cells as they must have."""
    counts, known = [0] * len(columns), _counts(columns, table)
    names = [column.name if column else "" for column in columns]
    ordered = [names.index(name) for name in table.ascending if name in names]
    for cells in rows:
        if len(cells) not in known:
            continue
        for at, (column, cell) in enumerate(zip(columns, cells, strict=False)):
            counts[at] += not fits(column, cell)
        if len(ordered) > 1 and max(ordered) < len(cells):
            pair = [cells[at] for at in ordered]
            if all(map(_NUMBER.fullmatch, pair)) and float(pair[0]) > float(pair[1]):
                for at in ordered:
                    counts[at] += 1
    return counts


def misfits(columns: Columns, rows: Sequence[Cells], table: Table) -> int:
    """How many rows do not fit the columns of a table."""
    known = _counts(columns, table)
    return sum(len(cells) not in known or any(_bad(columns, [cells], table)) for cells in rows)


def length_step(
    columns: Columns, rows: Sequence[Cells], table: Table
) -> tuple[Step, Columns] | None:
    """The step for rows with a column too many, or too few, and the columns after it.

    Args:
        columns: those of the header, or of the table.
        rows: the rows.
        table: the declaration.
    """
    lengths = Counter(map(len, rows)).most_common(1)
    if not lengths or lengths[0][1] < _FEWEST:
        return None
    length = lengths[0][0]
    unknown = [at for at, column in enumerate(columns) if column is None]
    if len(unknown) == 1 and length == len(columns):
        at = unknown[0]  # a different one that a header names is reported by its name
        numbers = [cells[at] for cells in rows if len(cells) == length]
        return (_too_many(rows, length, at), _without(columns, at)) if _counts_up(numbers) else None
    if length == len(columns) + 1 and not table.ragged:
        return _surplus(columns, rows, table, length), columns
    is_clear = length > 1 or not any(fits(column, NO_WORD) for column in columns)
    if length + 1 == _counts(columns, table).start and is_clear:
        found = _least(range(len(columns)), lambda at: _misfit(_without(columns, at), rows, table))
        names = enumeration([name_of(columns, at, table) for at in found], "or")
        lacking = Step(LACKING, {"column": names}, can_undo=False)  # it names all that may be
        return lacking, _without(columns, found[-1])
    return None


def _surplus(columns: Columns, rows: Sequence[Cells], table: Table, length: int) -> Step:
    """The step for a column too many; which one is open where others would do as well."""

    def badness(at: int) -> tuple[int, int, bool]:
        """How badly rows fit without a column; of equal ones, numbers of rows go."""
        numbered = _counts_up([cells[at] for cells in rows if at < len(cells)])
        leave_out = _leaving_out(at, length)
        return *_misfit(columns, list(map(leave_out, rows)), table), not numbered

    found = _least(range(length), badness)
    if len(found) == 1:
        return _too_many(rows, length, found[0])
    example = next((cells for cells in rows if len(cells) == length), [])
    if len({tuple(cells[at] for cells in rows if at < len(cells)) for at in found}) == 1:
        return _too_many(rows, length, found[-1])
    numbers = enumeration([str(at + 1) for at in found], "or")
    cells = enumeration([shorten(example[at], 20) or "nothing" for at in found], "or")
    values = {"column": f"column {numbers}", "example": cells, "hint": "leave the column out"}
    return Step(SURPLUS, values, _leaving_out(found[-1], length), can_undo=False)


def _least(places: Iterable[int], badness: Callable[[int], tuple[int, ...]]) -> list[int]:
    """The places with the least badness."""
    by_place = {at: badness(at) for at in places}
    return [at for at, value in by_place.items() if value == min(by_place.values())]


def _misfit(columns: Columns, rows: Sequence[Cells], table: Table) -> tuple[int, int]:
    """How many cells do not fit, and how few fit columns that do not take any text."""
    telling = [at for at, column in enumerate(columns) if not fits(column, NO_WORD)]
    bad = _bad(columns, rows, table)
    return sum(bad), -sum(len(rows) - bad[at] for at in telling)


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether cells are the numbers of rows."""
    are_numbers = all(map(str.isdecimal, cells))
    return are_numbers and all(int(other) == int(cell) + 1 for cell, other in pairwise(cells))


def _without(columns: Columns, at: int) -> Columns:
    return (*columns[:at], *columns[at + 1 :])


def _leaving_out(at: int, length: int) -> Callable[[Cells], Cells]:
    """Rows of some length without a cell."""
    return lambda cells: [*cells[:at], *cells[at + 1 :]] if len(cells) == length else cells


def _too_many(rows: Sequence[Cells], length: int, at: int) -> Step:
    """The step that leaves a column out, in the header too if it has it."""
    example = next((cells[at] for cells in rows if len(cells) == length), "")
    values = {"column": f"column {at + 1}", "example": shorten(example, 40) or "nothing"}
    values["hint"] = "leave the column out; --fix --unsafe-fixes does so"
    leave_out = _leaving_out(at, length)
    return Step(SURPLUS, values, leave_out, leave_out)


def cell_steps(columns: Columns, rows: Sequence[Cells], table: Table) -> Step | None:
    """The step after which the most cells more fit; None if there is none."""
    bad = _bad(columns, rows, table)
    if not any(bad):
        return None
    gains = [(step, gain) for step, gain in _gains(columns, rows, table, bad) if gain > 0]
    if not gains:
        return None
    most = max(gain for _, gain in gains)
    best = [step for step, gain in gains if gain == most]
    # Columns that may be exchanged with several others are not certain.
    return None if len(best) > 1 and best[0].code == EXCHANGED else best[0]


def _gains(
    columns: Columns, rows: Sequence[Cells], table: Table, bad: Sequence[int]
) -> Iterator[tuple[Step, int]]:
    """Each step that explains nearly all cells that do not fit, and how many."""
    for at, column in enumerate(columns):
        if column is None:
            continue
        wrong = [c[at] for c in rows if at < len(c) and not fits(column, c[at])]
        for code, change in _changes(column, wrong, len(rows)):
            left = sum(not fits(column, change(cell)) for cell in wrong)
            if left <= (1 - _SURE) * len(wrong):
                example, meant = shorten(wrong[0], 40), shorten(change(wrong[0]), 40)
                values = {"column": name_of(columns, at, table), "example": example, "meant": meant}
                yield Step(code, values, _on_cell(at, change)), len(wrong) - left
    for pair in combinations(range(len(columns)), 2):
        before = sum(bad[at] for at in pair)
        if None in (columns[pair[0]], columns[pair[1]]):
            continue
        if max(bad[at] for at in pair) < max(_FEWEST, len(rows) / 2):
            continue
        places = list(range(len(columns)))
        places[pair[0]], places[pair[1]] = reversed(pair)
        names = [name_of(columns, at, table) for at in pair]
        exchange = _order(places, names, with_header=False)
        after = _bad(columns, map(exchange.row, rows), table)
        left = sum(after[at] for at in pair)
        if left <= (1 - _SURE) * before:
            yield exchange, before - left


def _on_cell(at: int, change: Callable[[str], str]) -> Callable[[Cells], Cells]:
    """Rows with one cell changed."""
    return lambda cells: (
        [*cells[:at], change(cells[at]), *cells[at + 1 :]] if at < len(cells) else cells
    )


def _changes(
    column: Column, wrong: Sequence[str], rows: int
) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Changes that cells of a column that do not fit may have had, and how to undo it."""
    if len(wrong) < max(_FEWEST, rows / 2):
        return
    if _COMMA.fullmatch(wrong[0].strip()):
        yield COMMAS, _point
    in_all = len(wrong) >= _SURE * rows or "%" in wrong[0]
    if _PERCENTAGE.fullmatch(wrong[0].strip()) and in_all and len(wrong) > _FEWEST:
        yield PERCENTAGES, _share
    if words := column.words or _words(column.usual_pattern):
        yield CASE, partial(_as_listed, words=words)


@lru_cache(maxsize=200)
def _words(pattern: str) -> tuple[str, ...]:
    """The words of a pattern that is nothing but a list of them."""
    words = [re.sub(r"\\([^\w])", r"\1", word) for word in pattern.split("|")]
    plain = all(re.fullmatch(r"(?:\\[^\w]|[\w ,/-])+", word) for word in pattern.split("|"))
    return tuple(words) if plain and _LEAST <= len(words) <= _MOST_WORDS else ()
