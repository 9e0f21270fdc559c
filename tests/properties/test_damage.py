"""Damaged files of every reader: reading, converting and checking give findings and nothing worse.

The fixtures of each format are damaged in bytes, lines, fields, structure and as packages, from a
seed; see `fuzz/`. `make fuzz` makes 20,000 of each, here it is a minute's worth; `--mutations N`
makes N of each.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fuzz.minimising import minimised
from fuzz.mutations import Files, mutated, together
from fuzz.subjects import BESIDE, FIXTURES, readers, seeds, uses
from fuzz.trial import drawn, tried
from hlteval import tasks
from hlteval.converters import known, load


@pytest.mark.parametrize("reader", readers())
def test_damage_gives_findings_and_nothing_worse(
    reader: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = number = 0
    while made < request.config.getoption("--mutations"):
        listed = drawn(reader, number)
        outcome = tried(reader, number, together(listed), tmp_path / "trial")
        assert not outcome.fault, f"{reader}, number {number}: {outcome.fault}\n{outcome.report}"
        made += len(listed)
        number += 1


def test_every_reader_is_damaged_and_every_task_has_a_partner() -> None:
    assert set(readers()) == {name for name in known() if load(name).reads}
    assert BESIDE.keys() == tasks.BUILTIN.keys()
    for beside in BESIDE.values():
        assert all((FIXTURES / path).exists() for path in (beside.submission, beside.against))
        assert all((FIXTURES / path).exists() for path in beside.options.values())
    tried_in = {use.task for name in readers() for use in uses(name) if use.role == "submission"}
    assert tried_in == tasks.BUILTIN.keys()


def test_damage_depends_on_the_seed_alone() -> None:
    one, same, other = (mutated(seeds("edl-tab"), Random(seed)) for seed in (3, 3, 4))
    assert one == same
    assert one != other


def test_what_raises_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: an exception is told with its place, and made small."""

    def broken(data: bytes) -> Files:
        monkeypatch.setattr("fuzz.trial._converted", lambda *_, **__: 1 // (b"\n!" not in data))
        return Files("frames.tsv", {"": data})

    outcome = tried("speech-sf-tsv", 1, broken(b"a\n!b\n"), tmp_path)
    assert outcome.fault.startswith("ZeroDivisionError at ")
    assert "ZeroDivisionError" in outcome.report

    def fails(candidate: Files) -> bool:
        return b"!" in (candidate.files[""] or b"")

    small = minimised(Files("x", {"": b"one\ntwo\nth!ree\n" * 3}), fails)
    assert small.files == {"": b"!"}
