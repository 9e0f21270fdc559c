"""Ctrl-C while a command still imports what it needs: it ends without a trace."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
PROGRAM = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == WANTED:
            sys.meta_path.remove(self)
            try:
                os.kill(os.getpid(), signal.SIGINT)
                sum(range(1000))
            except BaseException as error:
                if HIDDEN == "hidden":
                    raise RuntimeError("a library failed") from error
                raise

WANTED, HIDDEN = sys.argv.pop(1), sys.argv.pop(1)
sys.meta_path.insert(0, Interrupting())
from hlteval.cli import main
main()
"""
SCORE = ("score", "seedev-full", "-r", DEMO / "reference", "-s", DEMO / "system")
SERVE = ("serve", "--no-browser", "--defaults", "none")


@pytest.mark.sampled(16)
@pytest.mark.parametrize(
    ("module", "arguments", "hidden"),
    [
        ("hlteval.cli.process", SCORE, "plain"),
        ("hlteval.cli.app", SCORE, "hidden"),
        ("polars.dataframe", SCORE, "plain"),
        ("polars.dataframe", SCORE, "hidden"),
        ("numpy", SCORE, "plain"),
        ("numpy.lib", SCORE, "hidden"),
        ("hlteval.scoring.seedev", SCORE, "plain"),
        ("hlteval.cli.process", SERVE, "hidden"),
        ("hlteval.serve.settings", SERVE, "plain"),
        ("hlteval.serve.application", SERVE, "hidden"),
        ("starlette.routing", SERVE, "plain"),
        ("starlette.routing", SERVE, "hidden"),
        ("hlteval.serve.jobs", SERVE, "plain"),
        ("uvicorn", SERVE, "hidden"),
        ("uvicorn.protocols.http.h11_impl", SERVE, "plain"),
    ],
)
def test_ctrl_c_during_an_import_prints_no_traceback(
    module: str, arguments: tuple[object, ...], hidden: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module, hidden, *map(str, arguments)],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
