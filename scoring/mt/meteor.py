"""METEOR 1.5 from its statistics (Denkowski and Lavie 2014, section 2), for English.

The jar aligns a translation with its reference, and gives 23 counts. Counts of segments add; the
score of a segment, of a document or of any set of segments follows from sums:

    P, R    weighted matches / weighted words, of the translation and of the reference
    Fmean   P * R / (alpha * P + (1 - alpha) * R)
    Pen     gamma * (chunks / matches) ** beta
    score   (1 - Pen) * Fmean

Matches weigh by their matcher (exact, stem, synonym, paraphrase); content words weigh delta,
function words 1 - delta. A segment that is equal to its reference adds no chunk.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hlteval.findings import entry
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.ratios import ratio

Numbers = NDArray[np.float64]

ALPHA: Final = 0.85
BETA: Final = 0.2
GAMMA: Final = 0.6
DELTA: Final = 0.75
#: The weights of exact, stem, synonym and paraphrase matches.
MATCHERS: Final = (1.0, 0.6, 0.8, 0.6)

#: The counts of the jar: words and function words of both sides, four counts of each matcher
#: (content words of the translation and of the reference, then function words), chunks, and matches
#: of both sides.
SIZE: Final = 23
_CHUNKS, _MATCHED, _COVERED = 20, 21, 22


class Meteor(NamedTuple):
    """The score and what it is made of."""

    score: Numbers
    precision: Numbers
    recall: Numbers
    penalty: Numbers


def addable(counts: Numbers) -> Numbers:
    """Counts of segments, a row each, whose sums give the score of any set of segments.

    Examples:
        >>> equal = np.array([[2.0, 2, 1, 1, 1, 1, 1, 1, *[0.0] * 12, 1, 2, 2]])
        >>> float(addable(equal)[0, 20]), float(meteor(addable(equal)).score[0])
        (0.0, 1.0)
    """
    added = counts.copy()
    equal = (
        (counts[:, _MATCHED] == counts[:, 0])
        & (counts[:, _COVERED] == counts[:, 1])
        & (counts[:, _CHUNKS] == 1)
    )
    added[equal, _CHUNKS] = 0.0
    return added


def meteor(counts: Numbers) -> Meteor:
    """The scores of rows of added counts.

    Args:
        counts: sums of `addable` counts, a row per set of segments.

    Returns:
        An element per row, from 0 to 1; 0 where nothing matches.
    """
    precision = _share(counts, words=0, function=2, content_matches=4, function_matches=6)
    recall = _share(counts, words=1, function=3, content_matches=5, function_matches=7)
    mean = np.nan_to_num(ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall))
    matches = (counts[:, _MATCHED] + counts[:, _COVERED]) / 2
    penalty = GAMMA * np.nan_to_num(ratio(counts[:, _CHUNKS], matches)) ** BETA
    return Meteor((1 - penalty) * mean, precision, recall, penalty)


def _share(
    counts: Numbers, *, words: int, function: int, content_matches: int, function_matches: int
) -> Numbers:
    """Weighted matches by weighted words of one side; 0 of no words."""
    content = counts[:, content_matches:_CHUNKS:4] @ np.array(MATCHERS)
    others = counts[:, function_matches:_CHUNKS:4] @ np.array(MATCHERS)
    matched = DELTA * content + (1 - DELTA) * others
    content_words = counts[:, words] - counts[:, function]
    return np.nan_to_num(ratio(matched, DELTA * content_words + (1 - DELTA) * counts[:, function]))


# METEOR 1.5 as a process: the jar reads requests line by line, and answers each with a line.
#
#     SCORE ||| reference 1 ||| ... ||| translation     23 counts
#     EVAL ||| counts 1 ||| counts 2 ...                a score per counts, then that of their sum
#
# A line break or `|||` in a text would shift all answers that follow, so neither reaches the
# process. What it writes to its standard error goes to a file, so that it never waits for a
# reader.


JAR = "meteor-1.5.jar"
#: The table of paraphrases, beside the jar; without it the values are others.
PARAPHRASES = "data/paraphrase-en.gz"
OPTION = "--metrics"
#: The least memory that METEOR needs with its paraphrases.
MEMORY = "2G"
#: Seconds to wait for the first answer, before which the paraphrases are read, and for others.
START, ANSWER = 900.0, 300.0
_READ = 65536
_SEPARATOR = re.compile(r"\|{3,}")


@dataclass(frozen=True)
class Command:
    """How METEOR is started.

    Attributes:
        jar: path of the jar; that of the package pycocoevalcap if empty.
        paraphrases: whether paraphrases match, whose table takes most of the start.
        start: seconds to wait for the first answer.
        answer: seconds to wait for others.
    """

    jar: str = ""
    paraphrases: bool = True
    start: float = START
    answer: float = ANSWER

    def words(self) -> list[str]:
        """The command line.

        Raises:
            CannotCount: if there is no Java, no jar, or no table of paraphrases beside it.
        """
        jar, java = Path(self.jar) if self.jar else packaged_jar(), _java()
        if jar is None or not jar.is_file():
            where = f"{jar} is not a file" if jar else "the package pycocoevalcap is not installed"
            raise _cannot("MTS101", reason=where)
        if self.paraphrases and not (jar.parent / PARAPHRASES).is_file():
            raise _cannot("MTS102", folder=str(jar.parent))
        if java is None:
            raise _cannot("MTS103")
        modules = [] if self.paraphrases else ["-m", "exact stem synonym"]
        options = ["-", "-", "-stdio", "-l", "en", "-norm", *modules]
        return [
            java,
            f"-Xmx{MEMORY}",
            "-Dfile.encoding=UTF-8",
            "-jar",
            str(jar.resolve()),
            *options,
        ]


def packaged_jar() -> Path | None:
    """The jar of the package pycocoevalcap, if that is installed."""
    spec = find_spec("pycocoevalcap")
    places = spec.submodule_search_locations if spec else None
    return next((Path(place) / "meteor" / JAR for place in places or ()), None)


def _java() -> str | None:
    """The Java of JAVA_HOME, or the first one in PATH."""
    home = os.environ.get("JAVA_HOME")
    own = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    return own or shutil.which("java")


def field_text(text: str) -> str:
    r"""A text as a field of a request.

    Examples:
        >>> field_text("a ||| b\r\nc")
        'a | | | b c'
    """
    apart = _SEPARATOR.sub(lambda found: " ".join(found[0]), text)
    return " ".join(apart.split())


@dataclass(eq=False)
class MeteorProcess:
    """A running METEOR; it ends with this object.

    Attributes:
        command: how it is started.
        failure: why it cannot be used any more.
        checked: whether its scores were compared with ours.
    """

    command: Command
    failure: CannotCount | None = None
    checked: bool = False
    _running: _Running | None = field(default=None, repr=False)

    def counts(
        self, translations: Sequence[str], references: Sequence[Sequence[str]]
    ) -> NDArray[np.float64]:
        """The counts of segments, a row each.

        Args:
            translations: their texts.
            references: one or several per segment; the one that matches best counts.

        Raises:
            CannotCount: if METEOR cannot be started, ends too early, or takes too long.
        """
        rows = np.zeros((len(translations), SIZE))
        for row, (text, others) in enumerate(zip(translations, references, strict=True)):
            fields = ["SCORE", *map(field_text, others), field_text(text)]
            rows[row] = self._numbers(fields, SIZE)
        return rows

    def scores(self, counts: NDArray[np.float64]) -> list[float]:
        """The scores of rows of counts, and then that of their sum, as METEOR has them."""
        fields = ["EVAL", *(" ".join(map(str, row)) for row in counts.tolist())]
        lines = self._ask(fields, len(counts) + 1)
        return [float(line) for line in lines]

    def close(self) -> None:
        """End the process; it would be started again."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def _numbers(self, fields: Sequence[str], size: int) -> list[float]:
        (line,) = self._ask(fields, 1)
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            numbers = []
        if len(numbers) != size:
            raise self._failed("MTS105", answer=line[:80])
        return numbers

    def _ask(self, fields: Sequence[str], answers: int) -> list[str]:
        if self.failure is not None:
            raise self.failure
        wait = self.command.answer if self._running else self.command.start
        try:
            if self._running is None:
                self._running = _Running(self.command.words())
            return list(self._running.ask(" ||| ".join(fields), answers, wait))
        except CannotCount as reason:
            self.failure = reason
            raise
        except TimeoutError as reason:
            raise self._failed("MTS106", seconds=f"{wait:g}") from reason
        except OSError as reason:
            raise self._ended(str(reason)) from reason

    def _ended(self, reason: str) -> CannotCount:
        """Why it ended, as it says itself if it does."""
        said = self._running.said() if self._running else ""
        if "UnsupportedClassVersionError" in said and self._running:
            return self._failed("MTS108", java=self._running.words[0])
        return self._failed("MTS104", reason=said or reason)

    def _failed(self, code: str, **values: str) -> CannotCount:
        self.failure = _cannot(code, **values)
        self.close()
        return self.failure


class _Running:
    """The process, its errors, and what of its answers was read but not used.

    Args:
        words: the command line.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(  # noqa: S603 - Java, the jar and options, no shell
                words, stdin=pipe, stdout=pipe, stderr=self.errors, start_new_session=True
            )
        except OSError:
            self.errors.close()
            raise
        self.end = weakref.finalize(self, _end, self.process, self.errors)
        self.rest = b""

    def ask(self, request: str, answers: int, wait: float) -> Iterator[str]:
        """The answers to a request.

        Raises:
            OSError: if the process has ended.
            TimeoutError: if they take longer than `wait` seconds.
        """
        until = time.monotonic() + wait
        self._write(request.encode() + b"\n", until)
        for _ in range(answers):
            yield self._line(until)

    def _write(self, data: bytes, until: float) -> None:
        """Write without waiting for ever for a process that does not read."""
        given = _pipe(self.process.stdin)
        os.set_blocking(given, False)
        while data:
            _ready(given, selectors.EVENT_WRITE, until)
            data = data[os.write(given, data) :]

    def _line(self, until: float) -> str:
        output = _pipe(self.process.stdout)
        while b"\n" not in self.rest:
            _ready(output, selectors.EVENT_READ, until)
            more = os.read(output, _READ)
            if not more:
                raise BrokenPipeError("it ended without an answer")
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def said(self) -> str:
        """The last line of its errors that says anything, once it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors.read().decode(errors="replace").splitlines()]
        wrong = [line for line in lines if "Exception" in line or "rror" in line]
        status = f"exit status {self.process.returncode}"
        return (wrong[0][:160] if wrong else status) if self.process.returncode is not None else ""


def _pipe(stream: IO[bytes] | None) -> int:
    if stream is None or stream.closed:
        raise BrokenPipeError("it has ended")
    return stream.fileno()


def _ready(pipe: int, event: int, until: float) -> None:
    """Wait until a pipe can be read or written.

    Raises:
        TimeoutError: if that takes too long.
    """
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, event)
        if not ready.select(max(0.0, until - time.monotonic())):
            raise TimeoutError


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout, errors):
        with suppress(OSError):
            if stream is not None:
                stream.close()
    process.wait()


def _cannot(code: str, **values: str) -> CannotCount:
    return CannotCount(entry(code).finding(values).of(OPTION))
