"""LoReHLT situation frames: all values of files beside a scorer in plain Python."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import hlteval
from hlteval.results.scores import Scores
from tests.properties.situations.lorehlt_cases import Drawn, draw
from tests.properties.situations.lorehlt_oracle import ISSUES, Case, expected


def drawn_annotators(case: Drawn, scores: Scores) -> dict[tuple[str, bool], str]:
    """The annotators of each document: those that the table of the scores names, if it is there."""
    rows = scores.tables["annotators"].rows() if "annotators" in scores.tables else []
    shown = {(doc, kind == "issue"): name for doc, kind, name in rows}
    names = {(f.doc, f.annotator) for f in case.reference}
    assert all((doc, name) in names for (doc, _), name in shown.items())
    assert all(shown.get(key, name) == name for key, name in case.given.items())
    return {(f.doc, f.type in ISSUES): f.annotator for f in case.reference} | shown


def compare(seed: int, folder: Path) -> list[tuple[str, float | None, float | None]]:
    """The values of a case that differ: name, the scorer's and the oracle's."""
    case = draw(Random(seed), folder)
    scores = hlteval.score(
        "lorehlt-sf", folder / "gold", folder / "system.json", seed=seed, **case.options
    )
    mentions = None if None in case.mentions else tuple(case.mentions)
    drawn = drawn_annotators(case, scores)
    own = Case(
        case.reference, case.annotated, case.system, drawn, mentions=mentions, **case.settings
    )
    values = expected(own)
    assert {name for name, value in scores.metrics.items() if value is not None} <= {*values}
    return [
        (name, scores.metrics[name], value)
        for name, value in values.items()
        if scores.metrics[name] != (value if value is None else pytest.approx(value, abs=1e-12))
    ]


@pytest.mark.parametrize("seed", range(8))
def test_all_values_are_those_of_the_oracle(seed: int, tmp_path: Path) -> None:
    assert compare(seed, tmp_path) == []
