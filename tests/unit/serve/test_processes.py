"""Processes of jobs: each has its limits, and ends with its job."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from hlteval.serve.jobs import Ended, Job, Processes
from hlteval.serve.settings import Order, Upload
from hlteval.serve.uploads import Space
from hlteval.workflows.processes.pool import Call
from tests.unit.serve.visiting import FRAMES

LOADED = "{*__import__('sys').modules}"


def job(root: Path) -> Job:
    """A job whose submission is there."""
    made = Job.create("key", root, Order(task="speech-sf"), Space(1 << 20), {}, 0.0)
    (made.folder / "input" / "000000").write_bytes(FRAMES.read_bytes())
    made.uploads = {"submission": (Upload("run.json", FRAMES.stat().st_size, "000000"),)}
    return made


@pytest.mark.parametrize(
    ("seconds", "megabytes", "reason"),
    [(0, 4000, "it took more than 0 seconds"), (600, 60, "process ended")],
)
def test_a_job_beyond_its_limits_ends(
    tmp_path: Path, seconds: int, megabytes: int, reason: str
) -> None:
    async def steps() -> None:
        runner = Processes(tmp_path, seconds, megabytes)
        with pytest.raises(Ended, match=reason):
            made = job(tmp_path)
            await runner.run(made.folder, made.order, lambda _: None)
        assert not runner.busy

    asyncio.run(steps())


def test_a_cancelled_job_ends_its_process_and_leaves_nothing(tmp_path: Path) -> None:
    async def steps() -> None:
        runner = Processes(tmp_path)
        made = job(tmp_path)
        made.begin(runner, asyncio.Semaphore(1))
        while not runner.busy:
            await asyncio.sleep(0)
        (process,) = runner.busy
        await made.cancel()
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
        await runner.prepare()
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
        await runner.prepare()
        assert runner.spare
        loaded = await runner.spare.answer(Call("builtins:eval", (LOADED,)), 60)
        await runner.close()
        rooms = ("compare.comparison", "fix.fixing", "run.engine")
        assert {f"hlteval.workflows.{room}" for room in rooms} <= loaded

    asyncio.run(steps())
