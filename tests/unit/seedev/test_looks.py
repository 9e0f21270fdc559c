"""A rule that a quick look leaves out has nothing to find."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from hlteval.tasks import load, rules
from hlteval.validators import Rule, RuleContext
from tests.runs import open_sides

FIXTURES = Path(__file__).parents[3] / "fixtures"


def test_rules_that_are_left_out_find_nothing() -> None:
    """In submissions with errors of many kinds; and each look leaves its rule out somewhere."""
    left_out: set[Rule] = set()
    for folder in sorted((FIXTURES / "seedev" / "invalid").iterdir())[::3]:
        task = load("seedev-binary" if "binary" in folder.name else "seedev-full")
        reference = FIXTURES / "standoff" / "valid" / task.name.removeprefix("seedev-")
        for pair in open_sides(task.name, str(folder), str(reference)).pairs():
            context = RuleContext(pair.system.corpus, pair.reference.corpus, task.schema())
            idle = [r for r in rules(task) if r.suspects is not None and not r.suspects(context)]
            results = pl.collect_all([rule.check(context) for rule in idle])
            found = {rule.code for rule, rows in zip(idle, results, strict=True) if rows.height}
            assert not found, folder.name
            left_out.update(idle)
    assert left_out == {rule for rule in rules(load("seedev-full")) if rule.suspects is not None}
