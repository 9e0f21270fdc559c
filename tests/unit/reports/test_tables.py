"""Tables in terminals of any width: nothing is cut, and columns that do not fit are named."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from hlteval.reports.tables import (
    FIXED,
    KEY,
    Column,
    Table,
    Tables,
    UnknownColumnError,
    View,
    column_names,
    tsv_lines,
)
from hlteval.reports.terminal import Prose, wrap
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.task import HIGH, LOW, NUMBER, Range, StatisticInfo

COUNT = Range("an integer ≥ 0", "count", least=0.0)

SCORES = Table(
    [
        Column("", "name"),
        Column("Insertions", importance=LOW),
        Column("F1", importance=FIXED),
        Column("Recall", importance=HIGH),
        Column("Deletions", importance=LOW),
    ],
    [["Regulates_Molecule_Activity", "12", "0.5000", "0.2500", "3"]],
)
WORDS = st.text("ab_-1東\x1b\u0301", min_size=1, max_size=12)
CELLS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
KINDS = st.sampled_from(["name", "number", "prose"])


def drawn(*tables: Table, width: int, terminal: bool = True, wide: bool = False) -> list[str]:
    stream = StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system=None)
    console.print(Tables(tables, wide), soft_wrap=True)
    return stream.getvalue().splitlines()


def test_the_least_important_columns_are_dropped_and_named():
    assert drawn(SCORES, width=60) == [
        "                             Insertions      F1  Recall",
        "Regulates_Molecule_Activity          12  0.5000  0.2500",
        "1 column not shown: Deletions; use --wide or --columns",
    ]
    assert drawn(SCORES, width=44) == [
        "                                 F1  Recall",
        "Regulates_Molecule_Activity  0.5000  0.2500",
        "2 columns not shown: Insertions, Deletions;",
        "  use --wide or --columns",
    ]


def test_what_must_be_shown_goes_beyond_the_edge():
    assert drawn(SCORES, width=20)[:2] == [
        "                                 F1",
        "Regulates_Molecule_Activity  0.5000",
    ]


@pytest.mark.parametrize("given", [{"wide": True}, {"terminal": False}])
def test_wide_tables_and_pipes_have_all_columns(given):
    lines = drawn(SCORES, width=20, **given)
    assert lines[0].split() == ["Insertions", "F1", "Recall", "Deletions"]
    assert len(lines) == 2


def test_chosen_columns_are_shown_in_their_order_even_beyond_the_edge():
    (table,) = View(("Deletions", "Insertions")).of([SCORES])
    assert drawn(table, width=20) == [
        "                             Deletions  Insertions",
        "Regulates_Molecule_Activity          3          12",
    ]
    assert View(("absent",)).of([SCORES]) == []


def test_columns_are_named_as_people_write_them():
    known = ["F1", "False Negatives", "p (Holm)"]
    assert column_names(" f1, false_negatives,f1", known) == ("F1", "False Negatives")
    with pytest.raises(UnknownColumnError, match="did you mean False Negatives"):
        column_names("F1,False Negative", known)
    with pytest.raises(UnknownColumnError, match=r"use F1, False Negatives, p \(Holm\)"):
        column_names("xyz", known)


def test_tables_that_drop_the_same_share_a_line():
    other = Table(SCORES.columns[:3], SCORES.rows, "second")
    first = Table(SCORES.columns, SCORES.rows, "first")
    assert drawn(first, first, width=50)[-1].startswith("  ")
    ends = [line for line in drawn(first, other, width=40) if "not shown" in line]
    assert ends == [
        "first: 3 columns not shown: Insertions,",
        "second: 1 column not shown: Insertions;",
    ]


def test_control_characters_stay_outside():
    (line,) = drawn(Table([Column("x", "name")], [["a\x1b[2Jb"]], header=False), width=80)
    assert line == "a\\x1b[2Jb"


@given(
    st.lists(st.tuples(KINDS, st.integers(1, KEY), st.lists(CELLS, min_size=3, max_size=3))),
    st.integers(1, 60),
)
def test_every_cell_is_whole(columns, width):
    heads = [Column(f"column{n}", kind, rank) for n, (kind, rank, _) in enumerate(columns)]
    rows = list(zip(*(cells for _, _, cells in columns), strict=True))
    lines = drawn(Table(heads, rows), width=width)
    text = "\n".join(lines)
    dropped = set(re.findall(r"column\d+", " ".join(text.split()).partition("not shown:")[2]))
    assert not columns or len(dropped) < len(columns)
    for head, (kind, rank, cells) in zip(heads, columns, strict=True):
        assert rank < FIXED or head.name not in dropped
        if head.name in dropped:
            continue
        for cell in cells:
            parts = cell.split(" ") if kind == "prose" else [cell]
            assert all(part.replace("\x1b", r"\x1b").lstrip("\u0301") in text for part in parts)


@given(CELLS, st.integers(1, 40), st.integers(0, 10))
def test_words_are_never_broken(text, width, first):
    lines = wrap(text, width, first)
    assert " ".join(lines) == text
    for number, line in enumerate(lines):
        assert cell_len(line) <= width - first * (number == 0) or " " not in line


def test_a_sentence_hangs_in_a_terminal_and_is_a_line_in_a_pipe():
    stream = StringIO()
    console = Console(file=stream, width=20, force_terminal=True, color_system=None)
    console.print(Prose("note: one two three four five", indent="      "), soft_wrap=True)
    assert stream.getvalue() == "note: one two three\n      four five\n"
    pipe = StringIO()
    Console(file=pipe, width=20).print(Prose("one two three four five six"), soft_wrap=True)
    assert pipe.getvalue() == "one two three four five six\n"


def test_rates_are_more_important_than_counts_unless_declared():
    rate, number, count = (
        StatisticInfo("x", "", values=v) for v in (StatisticInfo("", "").values, NUMBER, COUNT)
    )
    assert rate.weight > number.weight > count.weight
    assert StatisticInfo("x", "", values=COUNT, importance=HIGH).weight == HIGH


@pytest.mark.parametrize("name", BUILTIN)
def test_the_importance_of_every_statistic_leaves_it_droppable(name):
    task = load(name)
    assert all(LOW <= info.weight < FIXED for info in (*task.statistics, *task.table_statistics))


def test_tables_for_papers_escape_texts_and_put_numbers_on_the_right() -> None:
    columns = [Column("a_name", "name"), Column("f1")]
    tables = Tables([Table(columns, [[("x|_y", "bold"), "0.5"]], title="by |type|")])
    assert tables.markdown("a:1|b:2").splitlines() == [
        "`a:1|b:2`", "", "by |type|:", "",
        "| a_name | f1 |", "|---|---:|", r"| x\|\_y | 0.5 |",
    ]  # fmt: skip
    assert tables.markdown("", aligned=False).splitlines()[5] == "|---|---|"
    assert tables.latex("a:1").splitlines() == [
        "% a:1", "", "% by |type|", r"\begin{tabular}{lr}", r"\toprule", r"a\_name & f1 \\",
        r"\midrule", r"x\textbar{}\_y & 0.5 \\", r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip


def test_numbers_in_cells_are_in_full_and_formulas_are_texts() -> None:
    assert tsv_lines(("=sum", -0.1), ("a\tb", None)) == "'=sum\t-0.1\na→b\t\n"
