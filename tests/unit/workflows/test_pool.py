"""The protocol of processes: calls, reports and results, and what ends a process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hlteval.workflows.processes.graph import Failed, LocalProcesses, Node
from hlteval.workflows.processes.pool import Call, Limits, Process, ProcessEnded

HERE = "tests.unit.workflows.test_pool"
REPORTING = f"{HERE}:reporting"


def reporting(count: int, report: Callable[[Any], None]) -> int:
    """Report numbers, with noise among them."""
    for number in range(count):
        sys.stdout.write("noise among the answers")
        report(number)
    return count


def ending(status: int) -> int:
    """End with a status; a process that had a call before takes 9 as a result."""
    if status == 9 and Path("mark").exists():
        return status
    Path("mark").touch()
    os._exit(status)


def environment(name: str) -> tuple[str | None, int]:
    """A variable of the process, and its session."""
    return os.environ.get(name), os.getsid(0)


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process(REPORTING)
    yield made
    made.end()


def test_reports_come_before_the_result_of_each_call(process: Process) -> None:
    for count in (3, 0, 2):
        reports: list[int] = []
        assert process.call(Call(REPORTING, (count,), reports=True), reports.append) == count
        assert reports == list(range(count))
    assert process.call(Call("builtins:max", (1, 2))) == 2
    assert process.calls == 4


def test_a_process_that_ends_has_no_result_but_a_status(process: Process) -> None:
    with pytest.raises(ProcessEnded) as ended:
        process.call(Call("os:_exit", (3,)))
    assert (ended.value.status, ended.value.reason) == (3, "the exit status 3")
    assert process.end() == 3


def test_it_ends_at_once_when_the_program_that_started_it_is_killed(tmp_path: Path) -> None:
    program = f"""
import time
from hlteval.workflows.processes.pool import Call, Process
process = Process({REPORTING!r})
process.call(Call({REPORTING!r}, (1,), reports=True))
process.begin(Call("subprocess:run", (["sleep", "600"],)))
print(process.pid, flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        group = int(parent.stdout.readline())
        os.killpg(group, 0)
        parent.kill()
    for _ in range(500):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the process, or what it started, is still there")


def test_a_caller_that_is_cancelled_ends_it_and_late_results_are_refused() -> None:
    async def steps() -> None:
        process = Process(REPORTING)
        task = asyncio.create_task(process.answer(Call("time:sleep", (600,)), 600))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert process.end() == -signal.SIGKILL
        late = Process(REPORTING)
        with pytest.raises(ProcessEnded) as ended:
            await late.answer(Call("time:sleep", (600,)), 0.1)
        assert ended.value.status is None
        assert late.end() == -signal.SIGKILL

    asyncio.run(steps())


def test_its_environment_session_and_folder_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_TESTS", "secret")
    call = Call(f"{HERE}:environment", ("SECRET_OF_THE_TESTS",))
    for given, expected in ((None, "secret"), ({"PATH": ""}, None)):
        process = Process(REPORTING, root=tmp_path, environment=given)
        assert process.call(call) == (expected, process.pid)
        assert process.call(Call("os:getcwd")) == str(tmp_path)
        process.end()


def test_limits_are_those_of_the_system() -> None:
    import resource

    process = Process(REPORTING, limits=Limits(2000, 50, 3))
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)
    found = [process.call(Call("resource:getrlimit", (kind,))) for kind in kinds]
    process.end()
    assert found == [(limit, limit) for limit in (2_000_000_000, 50, 3_000_000, 0)]


def test_a_call_at_which_a_used_process_ends_is_given_to_a_new_one(tmp_path: Path) -> None:
    with closing(LocalProcesses(1, tries=1, root=tmp_path)) as workers:

        def results(*statuses: int) -> list[tuple[int, object]]:
            nodes = [Node(f"{HERE}:ending", (status,)) for status in statuses]
            return list(workers.results(nodes))

        assert results(9) == [(0, Failed("crashed", "the exit status 9"))]
        assert results(9, 9) == [(0, 9), (1, 9)]
        assert results(4, 9) == [(0, Failed("crashed", "the exit status 4")), (1, 9)]


def test_a_call_without_time_is_not_tried_again() -> None:
    with closing(LocalProcesses(2, seconds=1)) as workers:
        found = dict(workers.results(Node("time:sleep", (time,)) for time in (0, 0.1, 60)))
    assert found == {0: None, 1: None, 2: Failed("time", "it took too long")}
