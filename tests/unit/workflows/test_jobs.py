"""Several processes: what they give is what one gives, and none is left behind."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hlteval
from hlteval.workflows.processes.pool import Call
from hlteval.workflows.run.checks import names_of
from hlteval.workflows.run.engine import open_check
from hlteval.workflows.run.request import Request
from hlteval.workflows.run.workers import reason_for_one_process, report_batches, results
from tests.runs import score, validate

ROOT = Path(__file__).parents[3]
SCORED = ROOT / "fixtures" / "scores"
TRIALS = runpy.run_path(str(Path(__file__).with_name("trials.py")))
DOCUMENTS = 7
INVALID = ("ltf", str(ROOT / "fixtures" / "ltf" / "invalid"))
LTF = Call("hlteval.workflows.run.engine:open_check", (Request(*INVALID),))
Processes = list["subprocess.Popen[bytes]"]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A reference and a submission of a few documents with different errors."""
    reference, system = TRIALS["standoff"](tmp_path_factory.mktemp("jobs"))
    for path in sorted(system.iterdir())[DOCUMENTS:]:
        for file in (path, *reference.glob(f"{path.stem}.*")):
            file.unlink()
    paths = {"reference": str(reference), "system": str(system)}
    return {"task": "seedev-full", **paths, "lenient": True}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Processes:
    """The processes that are started."""
    found: Processes = []

    class Kept(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Kept)
    return found


def ended(processes: Processes) -> bool:
    return all(process.returncode is not None for process in processes)


def everything(scores: Any) -> dict[str, Any]:
    """All that scores have, in the order that they have it in."""
    found = {name: getattr(scores, name) for name in ("metrics", "notes", "signature", "files")}
    found["tables"] = {name: table.to_dicts() for name, table in scores.tables.items()}
    return found | {"verdict": msgspec.json.encode(scores.verdict)}


def test_processes_give_the_same_in_the_same_order(
    arguments: dict[str, Any], started: Processes
) -> None:
    one = score(**arguments, batch=3)
    assert not started
    steps: list[tuple[int, int | None]] = []
    two = score(**arguments, batch=3, jobs=2, step=lambda *step: steps.append(step))
    assert everything(one) == everything(two)
    assert len(one.verdict.by_code) >= DOCUMENTS
    assert steps == [(3, DOCUMENTS), (6, DOCUMENTS), (7, DOCUMENTS)]
    assert len(started) == 2
    assert ended(started)


def test_no_process_is_left_behind(started: Processes) -> None:
    """Whoever stops early, as after Ctrl-C, ends them; and they get no Ctrl-C of their own."""
    worker = open_check(Request(*INVALID))
    with closing(results(worker, LTF, 2, 1)) as each:
        next(each)
        assert {os.getsid(process.pid) for process in started}.isdisjoint({os.getsid(0)})
    assert len(started) == 2
    assert ended(started)


def test_where_a_process_fails_this_one_goes_on(
    started: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    two = validate(*INVALID, batch=9, jobs=9)
    assert len(started) > 2
    assert ended(started)
    assert two == validate(*INVALID, batch=9)


def test_each_batch_is_taken_once() -> None:
    whole = [
        [names_of(checked.documents).to_list() for checked in batch]
        for batch in open_check(Request(*INVALID)).results(5)
    ]
    parts: list[list[Any]] = [[], [], []]
    for first, part in enumerate(parts):
        report_batches(LTF, 5, first, 3, None, part.append)
    for number, names in enumerate(whole):
        part = parts[number % 3].pop(0)
        assert [names_of(checked.documents).to_list() for checked in part] == names
    assert not any(parts)


@pytest.mark.parametrize("kind", ["file", "stream", "few"])
def test_what_only_one_process_reads_starts_no_others(kind: str, started: Processes) -> None:
    """A single file is one batch; a stream and a corpus in memory are in this process only."""
    system = str(SCORED / "lorehlt-edl" / "system.tab")
    given: dict[str, Any] = {
        "file": ("lorehlt-edl", system),
        "stream": ("lorehlt-edl", StringIO(Path(system).read_text("utf-8"))),
        "few": ("seedev-full", str(SCORED / "seedev-full" / "reference")),
    }
    found = [hlteval.validate(*given[kind], jobs=number) for number in (1, 2)][1:]
    assert found
    assert not started


def test_standard_input_is_read_by_one_process() -> None:
    assert not Request("lorehlt-sf", "runs", options={"sentences": ["-"]}).repeatable


def test_the_number_of_processes_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="jobs"):
        hlteval.validate("seedev-full", str(SCORED / "seedev-full" / "reference"), jobs=0)


def test_there_is_no_reason_for_one_process_where_batches_are_several(
    arguments: dict[str, Any],
) -> None:
    request = Request("seedev-full", arguments["system"], against=arguments["reference"])
    check, opening = open_check(request), Call("a:b", ())
    assert not reason_for_one_process(check.opened, opening, 1)
    assert reason_for_one_process(check.opened, opening, DOCUMENTS)
    assert reason_for_one_process(check.opened, None, 1)
