"""A pipeline that is killed again and again: what test_pipeline_killed runs as a program.

It imports everything once and forks for each run, so that a kill costs milliseconds. The work on a
submission is replaced by writing its bytes; what is tried is all else.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from hlteval.workflows.evaluation.pipeline import pipeline
from hlteval.workflows.evaluation.pipeline_state import PipelineSettings
from hlteval.workflows.evaluation.pipeline_work import Order, Outcome
from tests.unit.workflows.evaluations import Doubles, content

EVENTS = 240
"""Changes of files in a run, about."""
TASK = "speech-sf"
FILES = ("scores.json", "metrics.tsv", "score.sh", "validate.sh")


class Copying(Doubles):
    """Takes archives for text: those with `bad` in them are invalid, others get these as scores."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def outcome(self, order: Order) -> Outcome:
        text = (self.root / order.request.system).read_text("utf-8")
        if order.step == "validation":
            return Outcome("failed" if "bad" in text else "passed", text * 50)
        folder = Path(order.output)
        folder.mkdir()
        for name in FILES:
            (folder / name).write_text(f"{text}{name}\n" * 200, "utf-8")
        return Outcome("scored")


def settings(root: Path) -> PipelineSettings:
    return PipelineSettings(root, str(root.parent / "reference"), task=TASK)


def submit(root: Path, version: int) -> None:
    """Replace all submissions by those of a version; one is valid in odd versions only."""
    for number in range(5):
        bad = "bad " if number == 4 and version % 2 == 0 else ""
        made = root / "submissions" / ".new"
        made.write_text(f"{bad}{number} of version {version % 3}\n", "utf-8")
        made.replace(root / "submissions" / f"run{number}.tgz")


def undisturbed(folder: Path, version: int) -> dict[str, bytes]:
    """The logs and results of a version of which no run was killed."""
    root = folder / f"undisturbed{version}" / "root"
    (root / "submissions").mkdir(parents=True)
    (root.parent / "reference").write_text("", "utf-8")
    submit(root, version)
    pipeline(settings(root), workers=Copying(root))
    return content(root)


def run_killed(root: Path, seconds: float, events: int) -> bool:
    """Run the pipeline in a process that is killed; whether it still ran.

    Args:
        root: of the evaluation.
        seconds: time after which it is killed from outside.
        events: number of changes of files after which it kills itself.
    """
    child = os.fork()
    if child == 0:
        try:
            sys.addaudithook(Countdown(events))
            pipeline(settings(root), workers=Copying(root))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    time.sleep(seconds)
    if seconds:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status in {0, signal.SIGKILL}, f"the run failed: {status}"
    return status == signal.SIGKILL


class Countdown:
    """Kills this process at the n-th change of a file."""

    EVENTS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree")

    def __init__(self, events: int) -> None:
        self.left = events

    def __call__(self, event: str, _: tuple[object, ...]) -> None:
        if event in self.EVENTS:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def check(root: Path, wanted: list[dict[str, bytes]]) -> None:
    """Hold that all there is, is whole: each log and each folder of results of some version."""
    found = content(root)
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in found.items():
        if "/." in path:  # unfinished, which its name shows
            assert path.partition("/.")[2].split("/")[0].endswith(".part"), path
        elif path.startswith("results/"):
            folders.setdefault(path.split("/")[1], {})[path] = data
        elif not (path.endswith(".status.txt") and data.startswith(b"status: waiting\n")):
            assert any(each.get(path) == data for each in wanted), path
    for name, files in folders.items():
        versions = [
            {path: data for path, data in each.items() if path.startswith(f"results/{name}/")}
            for each in wanted
        ]
        assert files in versions, f"a part of results/{name}"


def main() -> None:
    """Kill runs at random moments, and print how many were running, and how many completed."""
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    os.fsync = lambda _: None  # what is killed is the process, not the machine
    random.seed(seed)
    wanted = [undisturbed(folder, version) for version in range(6)]
    root = folder / "root"
    (root / "submissions").mkdir(parents=True)
    (folder / "reference").write_text("", "utf-8")
    start = time.monotonic()
    undisturbed(folder, 6)
    usual = time.monotonic() - start
    killed = completed = version = 0
    submit(root, version)
    while killed < kills:
        # Half of them are killed from outside, half between two changes of files.
        outside = killed % 2 == 0
        seconds = random.uniform(0, usual) if outside else 0
        if run_killed(root, seconds, 0 if outside else random.randint(1, EVENTS)):
            killed += 1
            check(root, wanted)
        else:
            assert content(root) == wanted[version % 6]
            completed += 1
            version += 1
            submit(root, version)
    pipeline(settings(root), workers=Copying(root))
    assert content(root) == wanted[version % 6]
    again = pipeline(settings(root), workers=Copying(root))
    assert again.done == 0
    digest = hashlib.sha256(repr(content(root)).encode()).hexdigest()
    sys.stdout.write(f"{killed} {completed} {digest}\n")


if __name__ == "__main__":
    main()
