"""Every option and argument that names a file: devices, pipes, folders, loops and huge files.

Whatever the path is, a command ends soon, with findings or an error of usage: nothing hangs, and
nothing is read beyond its limits.

Where tasks read a file in the same way, by the same reader under the same option, the first of them
is given every path, and each other one two of them in turn.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from fuzz.subjects import CONTEXTS, FIXTURES
from hlteval import tasks
from hlteval.cli.app import app
from hlteval.sources import LIMITS

SECONDS = 60
"""Wall time after which a command hangs; the machine may be busy."""
BYTES = 400 << 20
"""Additional memory that a command may take at most."""


class Place(NamedTuple):
    """A place for a path: a task, a command, and the words of it without the path.

    Attributes:
        reader: what reads the file.
    """

    task: str
    command: str
    flag: str
    reader: object


def places() -> Iterator[Place]:
    """The submission, the reference and all options with files of each task and command."""
    for name in tasks.task_names():
        task = tasks.load(name)
        submitted, references = (task.format, *task.submitted), task.references or task.format
        yield Place(name, "validate", "", submitted)
        yield Place(name, "validate", "--against", references)
        if task.metric:
            yield Place(name, "score", "-r", references)
            yield Place(name, "score", "-s", submitted)
        for option in task.options:
            if option.is_input:
                command = "validate" if "validate" in option.commands else "score"
                yield Place(name, command, f"--{option.flag}", option.read or option.format)


def words(place: Place, path: str) -> list[str]:
    """The words of a command with a path in a place."""
    context = CONTEXTS[place.task]
    good = str(FIXTURES / context.submission)
    if place.command == "validate":
        line = ["validate", place.task, good if place.flag else path]
    else:
        sides = {"-r": good, "-s": good} | ({place.flag: path} if len(place.flag) == 2 else {})
        line = ["score", place.task, *(word for pair in sides.items() for word in pair)]
    if len(place.flag) > 2:
        line += [place.flag, path]
    return line


def device(_: Path) -> str:
    return "/dev/zero"


def memory(_: Path) -> str:
    return "/proc/self/mem"


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


def directory(folder: Path) -> str:
    (folder / "directory").mkdir()
    return str(folder / "directory")


def loop(folder: Path) -> str:
    (folder / "loop").symlink_to("loop")
    return str(folder / "loop")


def forbidden(folder: Path) -> str:
    if os.geteuid() == 0:
        pytest.skip("nothing is forbidden to the superuser")
    (folder / "forbidden").touch(0)
    return str(folder / "forbidden")


def sparse(folder: Path) -> str:
    with (folder / "sparse").open("wb") as file:
        file.truncate(LIMITS.file_bytes + 1)  # takes no room on the disk
    return str(folder / "sparse")


PATHS = (device, memory, pipe, directory, loop, forbidden, sparse)


def uses() -> Iterator[tuple[Place, Callable[[Path], str]]]:
    """All paths in the first place of each kind, and two of them, in turn, in each other one."""
    seen = set()
    for number, place in enumerate(places()):
        turn = {PATHS[(2 * number + step) % len(PATHS)] for step in (0, 1)}
        first = place[1:] not in seen
        seen.add(place[1:])
        yield from ((place, make) for make in PATHS if first or make in turn)


USES = [
    pytest.param(place, make, id="-".join(filter(None, (*place[:3], make.__name__))))
    for place, make in uses()
]


@contextmanager
def bounded() -> Iterator[None]:
    """Fails where something takes too long, or too much memory."""

    def hang(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(SECONDS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        yield
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
        assert more << 10 < BYTES
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("place", "make"), USES)
def test_no_path_hangs_or_crashes(
    place: Place, make: Callable[[Path], str], tmp_path: Path
) -> None:
    path = make(tmp_path)
    with bounded():
        result = CliRunner().invoke(app, words(place, path))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in {1, 2}, result.output
    assert result.output
