"""Sums of fractions are the same in every run, to the last digit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hlteval
from tests.runs import score

FIXTURES = Path(__file__).parents[3] / "fixtures/lorehlt-edl"


@pytest.mark.thorough
def test_sums_of_fractions_are_the_same_in_every_run():
    reference = str(FIXTURES / "valid/submission.tab")
    system = str(FIXTURES / "invalid/EDL205-letters.tab")
    runs = (score("lorehlt-edl", reference, system, lenient=True).metrics for _ in range(12))
    assert {run["entity_ceaf.ptp"] for run in runs} == {1 + 1 + 1 + 1 + 1 + 1 + 2 / 3}


@pytest.mark.thorough
def test_sums_of_type_weights_are_the_same_in_every_run(tmp_path: Path) -> None:
    """Also where threads share the rows."""
    types, draw = ("GPE", "LOC", "ORG", "PER"), random.Random(3)
    rows = [
        f"R\tm{at}\tname\tENG_{at // 100}:{at % 100}-{at % 100}\tNIL{at}\t{{}}\tNAM\t1.0\n"
        for at in range(20_000)
    ]
    sides = (tmp_path / "reference.tab", tmp_path / "system.tab")
    for side in sides:
        side.write_text("".join(row.format(draw.choice(types)) for row in rows), "utf-8")
    weights = tmp_path / "weights.tab"
    pairs = (f"{one}\t{other}\t{draw.random()}\n" for one in types for other in types)
    weights.write_text("".join(pairs), "utf-8")
    options = {"measure": ["strong_typed_mention_match"], "type_weights": str(weights)}
    runs = [hlteval.score("lorehlt-edl", *map(str, sides), **options).metrics for _ in range(4)]
    assert all(run == runs[0] for run in runs)
