"""Every measure of the tasks of Bacteria Biotope on the fixtures, with the computation.

The similarity of the habitat whose parent is given is that of test_scoring.py; half of its
characters are right where systems find entities. In the tasks about entities of 2019, a taxon is
wrong.
"""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlteval
from hlteval.representation.schema import FRAGMENTS
from hlteval.scoring.biotope.annotations import overlaps, places
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures"
ONTOLOGY = str(FIXTURES / "bb19-norm/valid/ontology.tab")
NEAR = 2.7225 / 3.7225


def figures(similarities: list[float], references: int, predictions: int) -> dict[str, float]:
    matches, pairs = sum(similarities), len(similarities)
    substitutions, insertions, deletions = pairs - matches, predictions - pairs, references - pairs
    return {
        "recall": matches / references,
        "precision": matches / predictions,
        "f1": 2 * matches / (references + predictions),
        "ser": (substitutions + insertions + deletions) / references,
        "matches": matches,
        "substitutions": substitutions,
        "insertions": insertions,
        "deletions": deletions,
        "references": references,
        "predictions": predictions,
    }


def of_facts(mean: float, predictions: int, deletions: int, references: int) -> dict[str, float]:
    counts = {"predictions": predictions, "deletions": deletions, "references": references}
    return {"mean-references": mean, **counts}


def of_given(matches: float, references: int) -> dict[str, float]:
    return {"precision": matches / references, "matches": matches, "references": references}


EXAMPLES: dict[str, dict[str, Any]] = {
    "bb19-norm": of_given(5 + NEAR, 7),
    "bb19-norm-ner": figures([1, 1, 1, 1, 1, NEAR / 2], 7, 7),
    "bb19-rel": figures([1, 1, 1, 1], 5, 4),
    "bb19-rel-ner": figures([1, 1, 1, 0.5], 5, 4),
    "bb19-kb": of_facts((1 + 1 + NEAR) / 4, 4, 1, 4),
    "bb19-kb-ner": of_facts((1 + 1 + NEAR) / 4, 4, 1, 4),
    "bb16-cat": of_given(4 + NEAR, 6),
    "bb16-event": figures([1, 1, 1], 3, 3),
}


@pytest.mark.parametrize("task", EXAMPLES)
def test_every_measure_by_hand(task: str) -> None:
    valid = FIXTURES / task / "valid"
    options = {} if "rel" in task or "event" in task else {"ontology": ONTOLOGY}
    sides = (str(valid / "reference"), str(valid / "submission"))
    assert hlteval.score(task, *sides, options=options).metrics == pytest.approx(EXAMPLES[task])


@given(st.lists(st.tuples(st.booleans(), *[st.integers(0, 9)] * 4), max_size=8))
@settings(max_examples=tries(40), deadline=None)
def test_entities_that_share_characters_are_those_of_all_pairs(
    drawn: list[tuple[bool, int, int, int, int]],
) -> None:
    unit = 4 * 10**17  # offsets may be any
    rows = [
        (ours, number % 2, str(label % 2), start * unit, (start + size) * unit)
        for ours, number, label, start, size in drawn
    ]
    schema = {"document": pl.Int64, "label": pl.String, "start": pl.Int64, "end": pl.Int64}
    sides = [
        places(pl.DataFrame([row[1:] for row in rows if row[0] == of], schema=schema, orient="row")
               .with_row_index("row").with_columns(pl.lit(None, FRAGMENTS).alias("fragments")))
        for of in (True, False)
    ]  # fmt: skip
    found = overlaps(sides[0], sides[1], ["document", "label"], itemgetter("shared"))
    ours, theirs = (side.rows(named=True) for side in sides)
    assert found.select("row", "row_system").rows() == [
        (a["row"], b["row"])
        for a in ours
        for b in theirs
        if (a["document"], a["label"]) == (b["document"], b["label"])
        and min(a["end"], b["end"]) > max(a["start"], b["start"])
    ]
