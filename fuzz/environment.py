"""Damage to the environment and to the files of options: no crash, nothing hidden, nothing left.

    python -m fuzz.environment [--trials 200] [--first 0]

A trial runs a command as a user does, with files of options that are damaged or are no files, with
full disks, closed descriptors, signals, little memory, broken plug-ins and settings that Polars
cannot follow, all drawn from a seed. It fails on an internal error, a
traceback, an exit code that is not declared, or anything unfinished that is left.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from fuzz.mutations import as_files, mutate
from fuzz.subjects import CONTEXTS, FIXTURES, Seed
from fuzz.trial import write_files
from hlteval import tasks

SECONDS = 300
"""Maximum wall time of a command; a busy machine is no hang."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIZES = (0, 100, 600, 4000, 60_000)
"""Bytes that a file may have on a full disk."""
SAMPLES = (
    b"a\tb\t0.5\n",
    b"NIST_1\t0\t10\n",
    b'mode = "both"\nbeta = 2\n',
    b"a => b\n",
    b"A B 1\n",
)
"""Contents of files of options that some option accepts."""


ADDRESSES = (20, 30, 60, 2000)
"""Megabytes of a small address space: no library can be loaded, or all can."""
SETTINGS = (
    *(("POLARS_MAX_THREADS", value) for value in ("0", "00", "2")),
    *(("POLARS_ENGINE_AFFINITY", value) for value in ("gpu", "", "auto", "Streaming")),
    *(("POLARS_VERBOSE", "0"), ("POLARS_FMT_MAX_ROWS", "5")),
)
"""Variables of Polars, some of which it cannot follow."""
BROKEN = (b"import no_such_library", b"FORMAT = TASK = 1", b"(", b"1 / 0")
"""Modules of plug-ins."""


class Trial(NamedTuple):
    """A command and its environment.

    Attributes:
        command: the words after the name of the program.
        size: bytes that a file may have; None without a limit.
        closed: standard descriptors that are closed.
        interrupt: a signal, and the seconds after which it is sent.
        megabytes: of the address space; None without a limit.
        variables: of the environment.
    """

    command: Sequence[str]
    size: int | None = None
    closed: tuple[int, ...] = ()
    interrupt: tuple[signal.Signals, float] | None = None
    megabytes: int | None = None
    variables: tuple[tuple[str, str], ...] = ()


def generate(number: int, folder: Path) -> Trial:
    """A trial in a folder, which gets the files of its options; equal numbers give equal trials."""
    draw = Random(f"environment {number}")
    task = tasks.load(draw.choice(list(tasks.task_names())))
    command = [*_line(task.name, draw), *_options(task.name, draw, folder)]
    size = draw.choice(SIZES) if draw.random() < 0.3 else None
    closed = tuple(n for n in (0, 1, 2) if draw.random() < 0.15)
    interrupt = (draw.choice(SIGNALS), draw.uniform(0, 2)) if draw.random() < 0.2 else None
    megabytes = draw.choice(ADDRESSES) if draw.random() < 0.2 else None
    variables = (draw.choice(SETTINGS),) if draw.random() < 0.3 else ()
    if draw.random() < 0.2:
        variables += (("PYTHONPATH", _plug_in(draw, folder)),)
    return Trial(command, size, closed, interrupt, megabytes, variables)


def _plug_in(draw: Random, folder: Path) -> str:
    """The place of a distribution whose format and task are broken."""
    info = folder / "site" / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = {"formats": "broken-tab = broken:FORMAT", "tasks": "broken-task = broken:TASK"}
    text = "".join(f"[hlteval.{group}]\n{line}\n" for group, line in groups.items())
    (info / "entry_points.txt").write_text(text)
    (info.parent / "broken.py").write_bytes(draw.choice(BROKEN))
    return str(info.parent)


def _line(name: str, draw: Random) -> list[str]:
    """A command over good files, with an output or without."""
    context = CONTEXTS[name]
    good = str(FIXTURES / context.submission)
    against = ["--against", str(FIXTURES / context.against)] if context.against else []
    lines = [
        ["validate", name, good, *against],
        ["validate", name, good, *against, "--output-file", "json=out.json"],
        ["convert", good, "out.jsonl", "--force"],
        ["convert", good, "-", "--to", "jsonl"],
    ]
    if tasks.load(name).metric:
        score = ["score", name, "-r", good, "-s", good]
        lines += [score, [*score, "--format", "json"], [*score, "-o", "out"]]
    return draw.choice(lines)


def _options(name: str, draw: Random, folder: Path) -> Iterator[str]:
    """Files of the options of a task: damaged, or no files at all."""
    task = tasks.load(name)
    files = [option for option in task.options if option.is_input]
    if not files or draw.random() < 0.4:
        return
    option = draw.choice(files)
    yield from (f"--{option.flag}", draw.choice((_damaged, _strange))(draw, folder))


def _damaged(draw: Random, folder: Path) -> str:
    seed = Seed({"options.txt": draw.choice(SAMPLES)}, single=True)
    (subject, *_) = mutate([seed], draw, alone=True) or [as_files(seed)]
    return str(write_files(subject, folder / "options"))


def _strange(draw: Random, folder: Path) -> str:
    """A path that is no plain file."""
    place = folder / "strange"
    makers: tuple[Callable[[], object], ...] = (
        place.mkdir,
        lambda: os.mkfifo(place),
        lambda: place.symlink_to(place.name),
        lambda: place.symlink_to("/dev/zero"),
        lambda: place.symlink_to("/proc/self/mem"),
        lambda: place.write_bytes(b""),
    )
    draw.choice(makers)()
    return str(place)


def run(trial: Trial, folder: Path) -> str:
    """Run a trial in a folder; why it fails, empty for success."""
    before = {path.name for path in folder.iterdir()}
    (folder / "out.jsonl").write_bytes(b"earlier")
    process = subprocess.Popen(
        [sys.executable, "-m", "hlteval", *trial.command],
        cwd=folder,
        env={**os.environ, **dict(trial.variables)},
        stdin=subprocess.DEVNULL if 0 not in trial.closed else None,
        stdout=subprocess.DEVNULL if 1 not in trial.closed else None,
        stderr=subprocess.PIPE if 2 not in trial.closed else None,
        preexec_fn=lambda: _prepare(trial),  # noqa: PLW1509 - there are no threads
    )
    number = None
    if trial.interrupt is not None and wait_for_handlers(process):
        number, seconds = trial.interrupt
        time.sleep(seconds)
        process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "it hangs"
    allowed = {0, 1, 2} if number is None else {0, 1, 2, -number}
    if process.returncode not in allowed:
        return f"exit code {process.returncode}: {(errors or b'').decode(errors='replace')}"
    for word in (b"Traceback", b"Exception ignored", b"internal error"):
        if word in (errors or b""):
            return (errors or b"").decode(errors="replace")
    return _left(folder, before)


def _prepare(trial: Trial) -> None:
    if trial.size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (trial.size, trial.size))
    for descriptor in trial.closed:
        os.close(descriptor)
    if trial.megabytes is not None:
        size = trial.megabytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _left(folder: Path, before: set[str]) -> str:
    """What a command left behind that it should not have."""
    new = {path.name for path in folder.iterdir()} - before
    if parts := [name for name in new if name.endswith(".part")]:
        return f"left {parts}"
    content = (folder / "out.jsonl").read_bytes()
    whole = content == b"earlier" or (content.startswith(b'{"format"') and content.endswith(b"\n"))
    return "" if whole else "out.jsonl is half-written"


def wait_for_handlers(process: subprocess.Popen[bytes]) -> bool:
    """Wait until the program has begun: before that, Python itself reports a signal."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and status.exists():
        caught = int(status.read_text().partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return True
        time.sleep(0.002)
    return False


def main() -> None:
    """Run trials from a first number; exit code 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first number")
    options = parser.parse_args()
    failed = 0
    for number in range(options.first, options.first + options.trials):
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            trial = generate(number, Path(folder))
            reason = run(trial, Path(folder))
        if reason:
            failed += 1
            print(f"{number}: {trial}\n{reason}", flush=True)
    print(f"{options.trials} trials, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
