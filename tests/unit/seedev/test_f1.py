"""F1 comes from counts: 0 where nothing is right, undefined only where both sides are empty."""

from __future__ import annotations

import pytest

from hlteval import compare
from hlteval.workflows.run.request import Intervals
from tests.runs import score

RIGHT = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
WRONG = "E1\tBinds_To Functional_Molecule:T2 Molecule:T1\n"
LINKED = "E1\tIs_Linked_To Agent1:T1 Agent2:T2\n"


@pytest.fixture
def folder(tmp_path):
    """Writes documents of SeeDev-binary, given by name as the content of their .a2 file."""

    def write(name, documents):
        path = tmp_path / name
        path.mkdir()
        for document, content in documents.items():
            (path / f"{document}.txt").write_text("AGL15 SVP\n")
            (path / f"{document}.a1").write_text("T1\tProtein 0 5\tAGL15\nT2\tProtein 6 9\tSVP\n")
            (path / f"{document}.a2").write_text(content)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [(RIGHT, RIGHT, 1), (RIGHT, WRONG, 0), (RIGHT, "", 0), ("", WRONG, 0), ("", "", None)],
    ids=["right", "wrong", "nothing predicted", "nothing to find", "nothing"],
)
def test_f1_is_null_only_where_both_sides_are_empty(folder, gold, predicted, expected):
    more = ({}, {}) if gold else ({"b": LINKED}, {"b": ""})  # a reference has some event
    sides = [
        folder(name, {"a": text} | other)
        for name, text, other in zip("rs", (gold, predicted), more, strict=True)
    ]
    scored = score("seedev-binary", *sides)
    table = scored.tables["scorings"].filter(measure="F1")
    values = dict(table.select("scoring", "value").iter_rows())
    assert values["Binds_To"] == expected
    assert values["All Relations"] == scored.metrics["f1"]
    assert scored.metrics["f1"] == (expected if gold else 0)
    assert values["Is_Localized_In"] is None


def test_official_prints_what_the_software_prints(folder):
    sides = [folder("r", {"a": RIGHT}), folder("s", {"a": WRONG})]
    assert score("seedev-binary", *sides, profile="official").metrics["f1"] is None
    assert score("seedev-binary", *sides, profile="plan").metrics["f1"] == 0


def test_full_has_the_same_rule(folder):
    gold, wrong = (text.replace("Binds_To", "Binding") for text in (RIGHT, WRONG))
    scored = score("seedev-full", folder("r", {"a": gold}), folder("s", {"a": wrong}))
    assert scored.metrics["f1"] == 0


def test_the_interval_of_f1_counts_replicates_without_a_hit(folder):
    names = [f"d{number:02}" for number in range(20)]
    gold = folder("r", dict.fromkeys(names, RIGHT))
    few = folder("s", {name: RIGHT if number < 2 else WRONG for number, name in enumerate(names)})
    scored = score("seedev-binary", gold, few, intervals=Intervals(1000, seed=1))
    f1, recall = (scored.intervals[name] for name in ("f1", "recall"))
    assert f1 == pytest.approx(recall)  # as many predictions as references: the values are equal
    assert f1[0] == 0


def test_a_system_without_a_hit_has_a_rank(folder):
    gold = folder("r", {"a": RIGHT, "b": RIGHT})
    systems = [folder("good", {"a": RIGHT, "b": WRONG}), folder("bad", {"a": WRONG, "b": WRONG})]
    found = compare("seedev-binary", gold, systems)
    ranked = {system.name: (system.value, system.rank) for system in found.systems}
    assert [value for value, _ in ranked.values()] == [0.5, 0]
    assert all(rank is not None for _, rank in ranked.values())
