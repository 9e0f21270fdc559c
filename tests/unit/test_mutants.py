"""The mutants of a module: what is changed, what is not, and that a changed function is found."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from hlteval.scoring import ratios
from mutants.changes import Mutant, mutants
from mutants.trial import ROOT, replaced

SOURCE = '''\
"""A module with 1."""

from __future__ import annotations

HALF = 0.5


@dataclass(frozen=True)
class Thing:
    size: int | None = 2

    @property
    def more(self) -> int:
        """One more than 1."""
        if not self.size:
            raise ValueError(1 + 2)
        return max(self.size, 1) + 1
'''


@pytest.fixture
def found(tmp_path) -> list[Mutant]:
    path = tmp_path / "module.py"
    path.write_text(SOURCE, "utf-8")
    return list(mutants(path))


def test_operators_constants_and_extremes_are_changed_and_types_and_messages_are_not(found):
    assert [(mutant.function, mutant.change) for mutant in found] == [
        ("", "5: 0.5 -> 1.5"),
        ("", "10: 2 -> 3"),
        ("Thing.more", "15: not self.size -> self.size"),
        ("Thing.more", "17: max(self.size, 1) + 1 -> max(self.size, 1) - 1"),
        ("Thing.more", "17: max -> min"),
        ("Thing.more", "17: 1 -> 2"),
        ("Thing.more", "17: 1 -> 2"),
    ]


def test_each_mutant_differs_from_the_module_in_one_place(found):
    import ast

    whole = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in found:
        lines = ast.unparse(mutant.code()).splitlines()
        assert sum(a != b for a, b in zip(whole, lines, strict=True)) == 1


def test_a_changed_function_takes_the_place_of_the_imported_one(monkeypatch):
    path = ROOT / "scoring/ratios.py"
    changed = next(item for item in mutants(path) if "part / whole -> part * whole" in item.change)
    assert changed.function == "quotient"
    assert not replaced(replace(changed, function="nowhere"))
    monkeypatch.setattr(ratios.quotient, "__code__", ratios.quotient.__code__)
    assert replaced(changed)
    assert "hlteval.scoring.ratios" in sys.modules
    assert "*" in str(ratios.quotient(ratios.pl.lit(2), ratios.pl.lit(4)))
