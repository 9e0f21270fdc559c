"""Events as they are compared: equivalences, and arguments that are events."""

from __future__ import annotations

import polars as pl
import pytest

from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.representation import Corpus
from hlteval.scoring.matching import equivalence_classes
from hlteval.scoring.seedev.event_pairs import UNIT
from hlteval.scoring.seedev.events import Comparison, keys, others, side
from hlteval.sources import Member, Source

A1 = "".join(f"T{number}\tX 0 1\tx\n" for number in range(1, 7))


def corpus(events: str) -> Corpus:
    files = {"d.a1": A1.encode(), "d.a2": events.encode()}
    members = tuple(Member(n, n, len(d), lambda d=d: d) for n, d in sorted(files.items()))  # type: ignore[misc]
    (reading,) = FORMAT.read(Source("x", "folder", members))
    return reading.corpus


def same(ours: str, theirs: str, commutative: frozenset[str] = frozenset()) -> bool:
    """Whether the last event of either side is the same."""
    reference, system = corpus(ours), corpus(theirs)
    made = [
        side(one, reference, name, Comparison(("Optional",)), commutative)
        for name, one in (("reference", reference), ("system", system))
    ]
    compared = [one.arguments.filter(pl.col("role") != "Optional") for one in made]
    left, right = (one["core"].to_list() for one in keys(compared, commutative))
    return bool(left[-1] == right[-1])


def test_equivalences_that_share_a_member_are_one() -> None:
    rows = {
        "document": [0, 0, 0, 0, 0, 0, 1, 1],
        "group": ["1", "1", "2", "2", "3", "3", "1", "1"],
        "member": ["A", "B", "C", "D", "D", "A", "A", "X"],
    }
    table = equivalence_classes(pl.DataFrame(rows))
    classes: dict[object, set[object]] = {}
    for document, target, representative in table.iter_rows():
        classes.setdefault((document, representative), set()).add(target)
    assert sorted(map(sorted, classes.values())) == [["A", "B", "C", "D"], ["A", "X"]]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("E1\tY A:T1 B:T2\n", "E7\tY B:T2 A:T1\n", True),
        ("E1\tY A:T1 B:T2\n", "E1\tY A:T2 B:T1\n", False),
        ("E1\tY A:T1 B:T2\n", "E1\tZ A:T1 B:T2\n", False),
        ("E1\tY A:T1 B:T2\n", "E1\tY A:T1\n", False),
        ("E1\tY A:T1 A:T2\n", "E1\tY A:T3 A:T2\n", True),  # of a role the last counts
        ("E1\tY A:T1 B:T2\n", "E1\tY A:T3 B:T2\n*\tEquiv T1 T3\n", False),  # the reference's only
        ("E1\tY A:T1 B:T2\n*\tEquiv T1 T3\n", "E1\tY A:T3 B:T2\n", True),
        ("E1\tY A:T9 B:T2\n", "E1\tY A:T9 B:T2\n", False),  # what leads nowhere is like nothing
        # events as arguments: by type and mandatory arguments, whatever they are called
        ("E1\tY A:T1\nE2\tZ A:E1\n", "E8\tY A:T1\nE9\tZ A:E8\n", True),
        ("E1\tY A:T1\nE2\tZ A:E1\n", "E1\tY A:T2\nE2\tZ A:E1\n", False),
        ("E1\tY A:T1 Optional:T2\nE2\tZ A:E1\n", "E1\tY A:T1\nE2\tZ A:E1\n", True),
        ("E1\tY A:T1\nE2\tZ A:E1\nE3\tZ A:E2\n", "E1\tY A:T1\nE2\tZ A:E1\nE3\tZ A:E2\n", True),
        ("E1\tY A:T1\nE2\tZ A:E1\nE3\tZ A:E2\n", "E1\tY A:T2\nE2\tZ A:E1\nE3\tZ A:E2\n", False),
        # what depends on itself is like nothing
        ("E1\tY A:E1\n", "E1\tY A:E1\n", False),
        ("E1\tY A:E2\nE2\tY A:E1\n", "E1\tY A:E2\nE2\tY A:E1\n", False),
    ],
)  # fmt: skip
def test_what_is_the_same(ours: str, theirs: str, expected: bool) -> None:
    assert same(ours, theirs) is expected


def test_commutative_arguments_may_change_places() -> None:
    both = frozenset({"Y"})
    assert same("E1\tY A:T1 B:T2\n", "E1\tY A:T2 B:T1\n", both)
    assert not same("E1\tY A:T1 B:T1\n", "E1\tY A:T1 B:T2\n", both)
    assert not same("E1\tZ A:T1 B:T2\n", "E1\tZ A:T2 B:T1\n", both)
    nested = "E1\tY A:T{} B:T{}\nE2\tZ A:E1\n"
    assert same(nested.format(1, 2), nested.format(2, 1), both)


@pytest.mark.parametrize("fillers", range(1, 13))
def test_every_similarity_is_a_whole_number_of_units(fillers: int) -> None:
    for errors in range(fillers + 1):
        units = (fillers - errors) * UNIT
        assert units % fillers == 0
        assert (units // fillers) % 2 == 0


def test_identifiers_that_lead_nowhere_are_listed_in_the_order_of_the_file() -> None:
    """The alignment lists them, and the same input is to give the same bytes."""
    names = [f"T{900 - number * number % 97}{number}" for number in range(60)]
    system = corpus("".join(f"E{at}\tY A:T1 B:{name}\n" for at, name in enumerate(names)))
    assert others(system, corpus("")).filter(label="DUMMY")["other"].to_list() == names
