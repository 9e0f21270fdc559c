"""Every valid file is right beside itself, by the measures of all units that its format has."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import score
from hlteval.results.scores import Scores
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.verdicts import Refused

FIXTURES = Path(__file__).parents[3] / "fixtures"
UNITS = ("mentions", "relations", "events", "labels", "links", "segments", "coreference")
FILES = sorted(FIXTURES.glob("*/valid/*"))
RATES = {"precision", "recall", "f1", "accuracy"}


def scores(unit: str, path: str) -> Scores | None:
    """The scores of a file beside itself; None if the unit has no such format, or no such data."""
    try:
        return score(unit, path, path)
    except (NothingGiven, Refused):
        return None


@pytest.mark.parametrize("path", FILES, ids=lambda path: "-".join(path.parts[-3::2]))
def test_nothing_is_wrong_beside_itself(path: Path) -> None:
    for found in filter(None, (scores(unit, str(path)) for unit in UNITS)):
        metrics = found.metrics.items()
        rates = {value for name, value in metrics if name.rpartition(".")[2] in RATES}
        assert rates <= {1.0, None}, found


def test_enough_is_read() -> None:
    units = [unit for unit in UNITS for path in FILES if scores(unit, str(path))]
    assert {*units} == {*UNITS}
