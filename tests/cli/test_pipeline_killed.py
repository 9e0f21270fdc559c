"""A pipeline that is killed at any moment leaves nothing half-written, and the next run goes on.

HLTEVAL_KILLS sets how many runs are killed with SIGKILL, HLTEVAL_SEED at which moments:
`HLTEVAL_KILLS=5000 make pytest PYTEST_ARGS="-k pipeline_killed"` takes some minutes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hlteval.workflows.evaluation.pipeline import pipeline
from hlteval.workflows.evaluation.pipeline_state import PipelineSettings
from tests.unit.workflows.evaluations import InProcess, content, evaluation, links, processes_in

KILLS = int(os.environ.get("HLTEVAL_KILLS", "60"))
SEED = os.environ.get("HLTEVAL_SEED", "1")
ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_runs_that_are_killed_at_random_moments_end_with_the_logs_and_results_of_others(tmp_path):
    program = [sys.executable, "-m", "tests.cli.pipeline_victim", str(tmp_path), str(KILLS), SEED]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    killed, completed, _ = run.stdout.split()
    assert int(killed) == KILLS
    assert int(completed) > 0, "no run was quick enough to complete"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_the_program_that_is_ended_leaves_no_process_behind_and_is_continued(number, tmp_path):
    root = evaluation(tmp_path, *(links("LCC", run) for run in range(2)))
    command = [sys.executable, "-m", "hlteval", "pipeline", str(root)]
    command += ["-r", str(tmp_path / "reference.tab"), "--option", "measure=muc"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while process.poll() is None and not list(root.glob("logs/*.validation.txt")):
            time.sleep(0.002)
        process.send_signal(number)
        shown, _ = process.communicate()
    assert process.returncode == -number, "it had ended before it was killed"
    assert shown == b""
    assert processes_in(root) == []
    if number == signal.SIGINT:
        assert not list(root.rglob("*.part"))
    options = {"measure": "muc"}
    made = PipelineSettings(root, str(tmp_path / "reference.tab"), options=options)
    done = pipeline(made, workers=InProcess(root))
    assert done.counts == {"scored": 2}
    assert done.notes[0].startswith(f"continues where process {process.pid} on ")
    before = content(root)
    again = pipeline(made, workers=InProcess(root))
    assert (again.done, content(root)) == (0, before)
    assert not list(root.rglob("*.part"))
