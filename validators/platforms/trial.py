"""Trials: a program of a bundle runs on the example of the bundle, apart from all else.

It runs as another user and without network where the system can do that, so that it fails here as
it would fail on a server.
"""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from threading import Thread
from time import monotonic
from typing import IO, Any

from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.sources.names import stays_inside
from hlteval.syntax.places import Path
from hlteval.validators.platforms.bundle import Bundle, Configuration

#: The files that a program writes, and the maximum size of the page in bytes.
SCORES, PAGE, MOST_BYTES = "scores.json", "detailed_results.html", 5_000_000
#: Bytes of the first and of each of the last two parts that are kept of what a program prints.
_PART = 50_000
#: Another user than the one who checks.
_NOBODY = "65534"
#: What must work for another user: this Python, its libraries, and Python in a process of its own.
_PROBE = "import msgspec, subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', '']))"


@dataclass(frozen=True)
class Trial:
    """A run of a program.

    Attributes:
        status: its exit status; None if it took too long.
        errors: the end of what it printed to standard error.
        seconds: how long it took.
        isolation: how it was kept apart, in a few words.
    """

    status: int | None
    errors: str
    seconds: float
    isolation: str

    @property
    def summary(self) -> str:
        """The lines of its errors that say most: the last of a traceback, otherwise the first."""
        lines = [line for line in self.errors.splitlines() if line.strip()]
        shown = lines[-1:] if "Traceback" in self.errors else lines[:3]
        return "; ".join(shown) or "it printed nothing to standard error"


def isolations() -> Iterator[tuple[str, list[str]]]:
    """The ways of running a program apart, the best first: what they are, and words before it."""
    user = ["setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        yield "as another user, without network", ["unshare", "--net", *user]
        yield "without network, but as the same user", ["unshare", "--net"]
        yield "as another user, but with network", user
    else:
        yield "as another user, without network", ["unshare", "--user", "--net"]
    yield "as the same user, with network", []


def run_apart(words: Sequence[str], folder: FilePath, limit: float) -> Trial:
    """Run a program as another user and without network, as far as the system can do that.

    Args:
        words: its command.
        folder: where it runs.
        limit: seconds that it may take.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONUNBUFFERED": "1"}
    environment |= {"HOME": str(folder), "LANG": "C.UTF-8", "TMPDIR": str(folder.parent)}

    def run(command: Sequence[str]) -> tuple[int | None, bytes]:
        """Return the exit status, None for one that took too long, and what was printed."""
        with subprocess.Popen(  # noqa: S603 - the organizers' own program
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            errors = list[bytes]()
            reading = Thread(target=keep_ends, args=(process.stderr, errors))
            reading.start()
            try:
                status: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            with suppress(OSError):  # ends what it has started, too
                if sys.platform == "win32":
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
            reading.join()
            return status, b"".join(errors)

    probe = [sys.executable, "-c", _PROBE]
    for isolation, before in isolations():  # noqa: B007 - the last one always works
        with suppress(OSError):
            if not before or run([*before, *probe])[0] == 0:
                break
    start = monotonic()
    try:
        status, errors = run([*before, *words])
    except OSError as error:
        status, errors = 127, str(error).encode()
    return Trial(status, errors.decode("utf-8", "replace"), monotonic() - start, isolation)


def keep_ends(stream: IO[bytes], parts: list[bytes]) -> None:
    """Read a stream to its end, and keep the first and the last parts of it."""
    while part := stream.read(_PART):
        parts.append(part)
        del parts[1:-2]


def unpack(bundle: Bundle, folder: FilePath) -> None:
    """Write the files of a part of a bundle to a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in bundle.files:
        if stays_inside(name) and (data := bundle.read(name)) is not None:
            with suppress(OSError):  # a name that is too long, or that of a folder, too
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)


def read_scores(output: FilePath) -> tuple[Mapping[str, Any], str]:
    """Return the scores that a program wrote, or the reason why there are none."""
    names = [name for name in (SCORES, "scores.txt") if (output / name).is_file()]
    if not names:
        return {}, f"the program wrote no {SCORES}"
    text = (output / names[0]).read_text("utf-8", errors="replace")
    try:
        if names[0] == SCORES:
            scores = json.loads(text)
        else:
            pairs = (line.partition(":") for line in text.splitlines() if line.strip())
            scores = {key.strip(): float(value) for key, _, value in pairs}
    except (ValueError, RecursionError) as error:
        return {}, f"{names[0]} cannot be read: {error}"
    return (scores, "") if isinstance(scores, dict) else ({}, f"{names[0]} is not one object")


def judge_scores(
    configuration: Configuration,
    place: Path,
    scores: Mapping[str, Any],
    columns: Mapping[str, Path],
) -> Iterator[Finding]:
    """Yield what is wrong with the scores of a program.

    Args:
        configuration: of the bundle.
        place: where findings about the program are.
        scores: the scores by their keys.
        columns: where the keys of columns are.
    """
    for key, value in scores.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            given = json.dumps(value)[:40]
            yield configuration.finding("BDL404", *place, key=key, given=given)
    for key, path in columns.items():
        if key not in scores:
            hint = did_you_mean(key, list(scores), f"it writes {', '.join(scores) or 'no key'}")
            yield configuration.finding("BDL403", *path, key=key, hint=hint)
