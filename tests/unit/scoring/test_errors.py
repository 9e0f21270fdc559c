"""Error analysis between systems: values by hand, and margins, the counts of each system."""

from __future__ import annotations

from io import StringIO

import polars as pl
import pytest

import hlteval
from hlteval.results.systems import Comparison, ErrorCounts
from hlteval.scoring.errors import EXTRA, REFERENCE, ItemColumns, analyse_errors
from hlteval.scoring.metric import Evidence
from hlteval.tasks import load
from hlteval.tasks.task import ERRORS
from tests.cli.test_widths import SIDES
from tests.runs import compare
from tests.unit.tasks.test_alignments import TEXT_OPTIONS

GOLD = (
    "R\tm1\tOsh\td:0-2\tE1\tGPE\tNAM\t1.0\n"
    "R\tm2\tAnn\td:10-12\tNIL1\tPER\tNAM\t1.0\n"
    "R\tm3\tUN\td:20-21\tE2\tORG\tNAM\t1.0\n"
    "R\tm4\tNaryn\te:0-4\tE3\tGPE\tNAM\t1.0\n"
)
#: Has m1 and m2 right, m3 of another type, m4 not at all, and something else.
FIRST = (
    "A\tm1\tOsh\td:0-2\tE1\tGPE\tNAM\t1.0\n"
    "A\tm2\tAnn\td:10-12\tNIL7\tPER\tNAM\t1.0\n"
    "A\tm3\tUN\td:20-21\tE2\tPER\tNAM\t1.0\n"
    "A\tm4\tsea\te:9-11\tNIL8\tLOC\tNAM\t1.0\n"
)
#: Has m1 and m3 right, m2 and m4 not at all, the same something else, and one more.
SECOND = (
    "B\tm1\tOsh\td:0-2\tE1\tGPE\tNAM\t1.0\n"
    "B\tm2\tUN\td:20-21\tE2\tORG\tNAM\t1.0\n"
    "B\tm3\tsea\te:9-11\tNIL8\tLOC\tNAM\t1.0\n"
    "B\tm4\tsun\te:20-22\tNIL9\tLOC\tNAM\t1.0\n"
)


def compared(*systems: str, **options: bool) -> Comparison:
    names = {name: StringIO(text) for name, text in zip("ABC", systems, strict=False)}
    return hlteval.compare("lorehlt-edl", StringIO(GOLD), names, bootstrap=9, **options)


def test_items_of_two_systems_by_hand():
    errors = compared(FIRST, SECOND).errors
    assert errors is not None
    assert errors.systems == ("A", "B")
    assert errors.to_frame("A", "B").rows() == [
        ("reference", "d", "GPE", "Osh · E1 · 0-2", "both right", "correct", "correct"),
        ("reference", "d", "PER", "Ann · NIL1 · 10-12", "only A right", "correct", "missing"),
        ("reference", "d", "ORG", "UN · E2 · 20-21", "only B right", "wrong", "correct"),
        ("reference", "e", "GPE", "Naryn · E3 · 0-4", "both wrong", "missing", "missing"),
        ("extra", "e", "LOC", "sea · NIL8 · 9-11", "both extra", "extra", "extra"),
        ("extra", "e", "LOC", "sun · NIL9 · 20-22", "extra only in B", None, "extra"),
    ]
    assert errors.to_frame("B", "A")["result"].to_list()[1:3] == ["only A right", "only B right"]
    assert errors.to_frame("A")["result"].to_list() == [
        *("all right", "all right", "all wrong", "all wrong", "all extra")
    ]


def test_counts_of_two_systems_by_hand():
    found = compared(FIRST, SECOND)
    assert found.errors is not None
    assert found.member_errors == (
        ErrorCounts(
            first="A",
            second="B",
            both_right=1,
            only_first=1,
            only_second=1,
            both_wrong=1,
            both_extra=1,
            only_first_extra=0,
            only_second_extra=1,
            unpaired=0,
        ),
    )
    assert found.errors.counts("document").rows() == [
        ("A", "B", "d", 1, 1, 1, 0, 0, 0, 0, 0),
        ("A", "B", "e", 0, 0, 0, 1, 1, 0, 1, 0),
    ]
    assert found.errors.counts("label").rows() == [
        ("A", "B", "GPE", 1, 0, 0, 1, 0, 0, 0, 0),
        ("A", "B", "LOC", 0, 0, 0, 0, 1, 0, 1, 0),
        ("A", "B", "ORG", 0, 0, 1, 0, 0, 0, 0, 0),
        ("A", "B", "PER", 0, 1, 0, 0, 0, 0, 0, 0),
    ]


def test_three_systems_have_three_pairs_and_other_results():
    found = compared(FIRST, SECOND, GOLD)
    assert found.errors is not None
    assert [(each.first, each.second, each.only_first) for each in found.member_errors] == [
        *(("C", "A", 2), ("C", "B", 2), ("A", "B", 1))
    ]
    assert found.errors.to_frame()["result"].to_list() == [
        *("all right", "some right", "some right", "some right", "extra in some", "extra in some")
    ]


def test_there_are_none_for_one_system_or_if_they_are_not_wanted():
    assert compared(FIRST).errors is None
    unwanted = compared(FIRST, SECOND, alignment=False)
    assert unwanted.errors is None and unwanted.to_dict()["errors"] == []


def test_an_unknown_system_is_refused():
    errors = compared(FIRST, SECOND).errors
    assert errors is not None
    with pytest.raises(ValueError, match="unknown system C: use one of A, B"):
        errors.to_frame("A", "C")


def test_stretches_of_time_are_cut_where_either_system_has_a_boundary():
    def turns(*rows: tuple[str, int, int]) -> StringIO:
        line = "SPEAKER m 1 {1} {2} <NA> <NA> {0} <NA> <NA>\n"
        return StringIO("".join(line.format(name, at, end - at) for name, at, end in rows))

    gold = turns(("ann", 0, 4), ("ben", 4, 8))
    systems = {"A": turns(("x", 0, 4), ("y", 4, 6)), "B": turns(("z", 0, 6), ("w", 9, 10))}
    found = hlteval.compare("segments", gold, systems, bootstrap=9).errors
    assert found is not None
    assert found.to_frame().select("item", "weight", "result").rows() == [
        ("ann · 0.0-4.0", 4.0, "both right"),
        ("ben · 4.0-6.0", 2.0, "only A right"),
        ("ben · 6.0-8.0", 2.0, "both wrong"),
        ("9.0-10.0", 1.0, "extra only in B"),
    ]
    assert found.counts().row(0)[2:] == (4.0, 2.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0)


COLUMNS = ItemColumns(
    key={REFERENCE: ["reference"], EXTRA: ["system"]},
    text={REFERENCE: ["reference"], EXTRA: ["system"]},
)


def rows(*each: tuple[str | None, str | None, str]) -> pl.DataFrame:
    types = dict.fromkeys(("reference", "system", "_kind"), pl.String)
    frame = pl.DataFrame(each, schema=types, orient="row")
    return frame.with_columns(document=pl.lit("d"), outcome="_kind")


def test_equal_items_are_paired_right_ones_first():
    sides = {
        "A": rows(("x", None, "missing"), ("x", "x", "correct"), ("x", "y", "different")),
        "B": rows(("x", "x", "correct"), ("x", "x", "correct"), ("x", None, "missing")),
    }
    errors = analyse_errors(COLUMNS, sides, dict.fromkeys(sides, Evidence()))
    assert errors.counts().row(0)[2:] == (1, 0, 1, 1, 0, 0, 0, 0)


def test_what_is_scored_for_one_system_only_is_counted_as_such():
    sides = {
        "A": rows(("x", "x", "correct"), ("y", "y", "correct")),
        "B": rows(("x", "x", "correct")),
    }
    errors = analyse_errors(COLUMNS, sides, dict.fromkeys(sides, Evidence()))
    assert errors.counts().row(0)[2:] == (1, 0, 0, 0, 0, 0, 0, 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("task", sorted(set(SIDES) - {"segments"}))  # of which stretches are cut
def test_the_counts_of_each_system_are_the_margins(task):
    """A task as it is declared: the two sides of the pair add up to what each alignment has."""
    reference, system = SIDES[task]
    reference = "" if load(task).scored_alone else reference
    other = system if task.startswith("ccu") else reference
    request = {"options": TEXT_OPTIONS.get(task, {}), "lenient": True}
    found = compare(task, reference, [system, f"./{other}"], **request).errors
    info = load(task).alignment_info
    assert found is not None and info is not None
    kinds = {outcome.name: outcome.kind for outcome in info.outcomes}
    (numbers,) = found.counts().iter_rows(named=True)
    assert not numbers["unpaired"]
    extra = {"first": numbers["only_first_extra"], "second": numbers["only_second_extra"]}
    for side, (name, rows_of_system) in zip(extra, found.rows.items(), strict=True):
        assert name in found.systems
        one = [pl.col(column) == value for column, value in found.counted.items()]
        became = [kinds[outcome] for outcome in rows_of_system.filter(*one)["outcome"]]
        assert numbers["both_right"] + numbers[f"only_{side}"] == became.count("correct")
        assert numbers["both_extra"] + extra[side] == became.count("extra")
        whole = sum(numbers[name] for name in ("only_first", "only_second", "both_wrong"))
        wrong = whole - numbers[f"only_{side}"]
        assert wrong == sum(became.count(kind) for kind in ERRORS - {"extra"})
