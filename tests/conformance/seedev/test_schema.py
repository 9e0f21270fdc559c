"""The event schemas against those of the official software."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlteval.validators.seedev.schema import schema


@pytest.mark.parametrize("task", ["full", "binary"])
def test_the_schema_is_that_of_the_software(task: str, shared: Path) -> None:
    path = shared / "cases" / "seedev" / "schema.json"
    stated = json.loads(path.read_text("utf-8"))[f"SeeDev-{task}"]
    ours = schema(task)
    assert ours.mentions == set(stated["entities"])
    assert ours.events.keys() == stated["events"].keys()
    for label, event in stated["events"].items():
        mine = ours.events[label]
        assert set(mine.roles) == set(event["roles"]), label
        assert set(mine.mandatory) == set(event["mandatory"]), label
        assert set(mine.one_of) == set(event["alternatives"]), label
        fillers = {role: set(types) for role, types in mine.roles.items() if types is not None}
        assert fillers == {role: set(types) for role, types in event["types"].items()}, label
    modified = {name: {label for label, event in ours.events.items()} for name in ours.modifiers}
    assert modified == {name: set(on) for name, on in stated.get("modifiers", {}).items()}
