"""Every measure of the tasks of Bacteria Biotope on the fixtures, with the computation.

The similarity of the habitat whose parent is given is that of test_scoring.py; half of its
characters are right where systems find entities. In the tasks about entities of 2019, a taxon is
wrong.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hlteval

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
