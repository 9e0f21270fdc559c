"""Damaged files of every reader: reading, converting and checking give findings and nothing worse.

The fixtures of each format are damaged in bytes, lines, fields, structure and as packages, from a
seed; see `fuzz/`. `make fuzz` makes 20,000 of each, here it is half a minute's worth;
`--mutations N` makes N of each.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fuzz.minimising import minimise
from fuzz.mutations import Files, combine, mutate
from fuzz.subjects import CONTEXTS, FIXTURES, readers, seeds, uses
from fuzz.trial import generate, run_trial
from hlteval import tasks
from hlteval.converters import known, load


@pytest.mark.sampled(8)
@pytest.mark.parametrize("reader", readers())
def test_damage_gives_findings_and_nothing_worse(
    reader: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = number = 0
    while made < request.config.getoption("--mutations"):
        listed = generate(reader, number)
        outcome = run_trial(reader, number, combine(listed), tmp_path / "trial")
        assert not outcome.failure, (
            f"{reader}, number {number}: {outcome.failure}\n{outcome.report}"
        )
        made += len(listed)
        number += 1


def test_every_reader_is_damaged_and_every_task_has_a_partner() -> None:
    assert set(readers()) == {name for name in known() if load(name).reads}
    assert CONTEXTS.keys() == {*tasks.BUILTIN}
    for context in CONTEXTS.values():
        assert all((FIXTURES / path).exists() for path in (context.submission, context.against))
        assert all((FIXTURES / path).exists() for path in context.options.values())
    tried_in = {use.task for name in readers() for use in uses(name) if use.role == "submission"}
    assert tried_in == {*tasks.BUILTIN}


def test_damage_depends_on_the_seed_alone() -> None:
    one, same, other = (mutate(seeds("edl-tab"), Random(seed)) for seed in (3, 3, 4))
    assert one == same
    assert one != other


def test_an_exception_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: an exception is reported with its location, and minimised."""

    def broken(data: bytes) -> Files:
        monkeypatch.setattr("fuzz.trial._convert", lambda *_, **__: 1 // (b"\n!" not in data))
        return Files("frames.tsv", {"": data})

    outcome = run_trial("speech-sf-tsv", 1, broken(b"a\n!b\n"), tmp_path)
    assert outcome.failure.startswith("ZeroDivisionError at ")
    assert "ZeroDivisionError" in outcome.report

    def fails(candidate: Files) -> bool:
        return b"!" in (candidate.files[""] or b"")

    small = minimise(Files("x", {"": b"one\ntwo\nth!ree\n" * 3}), fails)
    assert small.files == {"": b"!"}
