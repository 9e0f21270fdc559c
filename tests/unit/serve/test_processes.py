"""Processes of jobs: each has its limits, and ends with its job."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from hlteval.serve.jobs import Job, Processes, Sessions
from hlteval.serve.settings import Order, ServeLimits, Upload
from hlteval.workflows.processes.pool import Call
from tests.unit.serve.visiting import FRAMES

LOADED = "{*__import__('sys').modules}"


async def job(runner: Processes) -> Job:
    """A job whose submission is there."""
    sessions = Sessions(runner.root, runner)
    made = await sessions.create(await sessions.open(), Order(task="speech-sf"))
    (made.folder / "input" / "000000").write_bytes(FRAMES.read_bytes())
    made.uploads = {"submission": (Upload("run.json", FRAMES.stat().st_size, "000000"),)}
    return made


@pytest.mark.parametrize(
    ("seconds", "megabytes", "reason"),
    [(0, 4000, "it took more than 0 seconds"), (600, 60, "its process ended")],
)
def test_a_job_beyond_its_limits_ends(
    tmp_path: Path, seconds: int, megabytes: int, reason: str
) -> None:
    async def steps() -> None:
        runner = Processes(tmp_path, ServeLimits(seconds=seconds, megabytes=megabytes))
        made = await job(runner)
        outcome = await runner.run(made.folder, made.order, lambda _: None)
        assert outcome.error == f"The work was stopped: {reason}."
        assert not outcome.parts

    asyncio.run(steps())


def test_a_cancelled_job_ends_its_process_and_leaves_nothing(tmp_path: Path) -> None:
    async def steps() -> None:
        runner = Processes(tmp_path)
        made = await job(runner)
        runner.prepare()
        process = runner.spare
        assert process
        made.begin()
        while runner.spare:
            await asyncio.sleep(0)
        await made.remove()
        assert not made.folder.exists()
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
        assert made.state == "done"

    asyncio.run(steps())


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc")
def test_a_job_has_nothing_of_the_environment(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_TESTS", "secret")

    async def steps() -> None:
        runner = Processes(tmp_path)
        runner.prepare()
        assert runner.spare
        environment = b""
        while not environment:  # it is there when the program has begun
            environment = Path(f"/proc/{runner.spare.pid}/environ").read_bytes()
            await asyncio.sleep(0)
        assert b"SECRET_OF_THE_TESTS" not in environment
        assert f"HOME={tmp_path}/scratch".encode() in environment
        await runner.close()
        assert runner.spare is None

    asyncio.run(steps())


def test_the_process_that_waits_has_imported_all_that_a_job_needs(tmp_path: Path) -> None:
    async def steps() -> None:
        runner = Processes(tmp_path)
        runner.prepare()
        assert runner.spare
        loaded = await runner.spare.answer(Call("builtins:eval", (LOADED,)), 60)
        await runner.close()
        rooms = ("compare.comparison", "fixing", "run.engine")
        assert {f"hlteval.workflows.{room}" for room in rooms} <= loaded

    asyncio.run(steps())


def test_while_a_server_runs_what_has_expired_goes_and_a_process_is_ready(tmp_path: Path) -> None:
    async def steps() -> None:
        runner = Processes(tmp_path)
        sessions = Sessions(tmp_path, runner)
        await sessions.open()
        sessions.clock = lambda: 10**9
        tending = asyncio.create_task(sessions.tend())
        while sessions.sessions:
            await asyncio.sleep(0)
        assert runner.spare
        tending.cancel()
        await sessions.close()
        assert runner.spare is None

    asyncio.run(steps())
