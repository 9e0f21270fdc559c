"""Every measure of every task has an example that is computed by hand.

The module of a family scores one example and compares all values with those of a computation, so
that a measure without one makes its test fail. What a task declares must be among these values,
the EXAMPLES of the module by task.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from hlteval import tasks

FOLDER = Path(__file__).parents[1]
MODULES = [import_module(f"tests.unit.{path.parent.name}.{path.stem}")
           for path in sorted(FOLDER.glob("*/test_*by_hand.py"))]  # fmt: skip
EXAMPLES = {
    name: values for module in MODULES for name, values in getattr(module, "EXAMPLES", {}).items()
}
ELSEWHERE = {"lorehlt-mt": {"meteor"}}
"""The values of METEOR are those of its jar; tests/unit/mt/test_meteor.py has its formula."""


@pytest.mark.parametrize("name", sorted(tasks.BUILTIN))
def test_every_measure_has_an_example_by_hand(name: str) -> None:
    declared = {*tasks.load(name).metrics}
    assert declared - ELSEWHERE.get(name, set()) <= {*EXAMPLES.get(name, {})}
