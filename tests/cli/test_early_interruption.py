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


@pytest.mark.parametrize("hidden", ["plain", "hidden"])
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("hlteval.cli.process", SCORE),
        ("hlteval.cli.app", SCORE),
        ("polars.dataframe", SCORE),
        ("numpy", SCORE),
        ("numpy.lib", SCORE),
        ("hlteval.scoring.seedev", SCORE),
        ("hlteval.cli.process", SERVE),
        ("hlteval.serve.settings", SERVE),
        ("hlteval.serve.application", SERVE),
        ("starlette.routing", SERVE),
        ("hlteval.serve.jobs", SERVE),
        ("uvicorn", SERVE),
        ("uvicorn.protocols.http.h11_impl", SERVE),
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
