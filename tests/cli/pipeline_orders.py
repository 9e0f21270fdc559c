"""Work that goes wrong in as many ways: what tests give to the workers of a pipeline."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from hlteval.workflows.evaluation.pipeline_work import Order, Outcome


def perform(order: Order) -> Outcome:
    """Do what the name of a submission says."""
    if "hang" in order.request.system:
        subprocess.Popen(["sleep", "60"])
        time.sleep(60)
    if "kill" in order.request.system:
        os.kill(os.getpid(), signal.SIGKILL)
    if "abort" in order.request.system:
        os.abort()
    if "exit" in order.request.system:
        os._exit(3)
    if "first" in order.request.system and not Path("first").exists():  # as after much work before
        Path("first").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if "hungry" in order.request.system:
        bytearray(3_000_000_000)
    sys.stdout.write("noise among the outcomes")
    if order.step == "score":
        Path(order.output).mkdir()
        Path(order.output, "scores.json").write_text("{}")
    return Outcome("passed" if order.step == "validation" else "scored", "fine\n")
