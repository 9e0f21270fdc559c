"""The metrics of translations by name, each from counts of segments that add.

BLEU, chrF, chrF++ and TER are those of sacrebleu (`strings`).

METEOR 1.5 (Denkowski and Lavie 2014, section 2) for English: the jar aligns a translation with its
reference, and gives 23 counts. Counts of segments add; the score of a segment, of a document or of
any set of segments follows from sums:

    P, R    weighted matches / weighted words, of the translation and of the reference
    Fmean   P * R / (alpha * P + (1 - alpha) * R)
    Pen     gamma * (chunks / matches) ** beta
    score   (1 - Pen) * Fmean

Matches weigh by their matcher (exact, stem, synonym, paraphrase); content words weigh delta,
function words 1 - delta. A segment that is equal to its reference adds no chunk.
"""

import os
import re
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, ClassVar, Final

import numpy as np

from hlteval.findings import entry, finding
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.mt.segments import METEOR, TranslationOptions
from hlteval.scoring.mt.strings import Numbers, Segments, StringMeasure
from hlteval.scoring.ratios import ratio

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


def addable(counts: Numbers) -> Numbers:
    """Counts of segments, a row each, whose sums give the score of any set of segments.

    Examples:
        >>> equal = np.array([[2.0, 2, 1, 1, 1, 1, 1, 1, *[0.0] * 12, 1, 2, 2]])
        >>> float(addable(equal)[0, 20]), float(meteor(addable(equal))[""][0])
        (0.0, 1.0)
    """
    equal = (counts[:, [_MATCHED, _COVERED]] == counts[:, :2]).all(axis=1)
    equal &= counts[:, _CHUNKS] == 1
    added = counts.copy()
    added[equal, _CHUNKS] = 0.0
    return added


def meteor(counts: Numbers) -> dict[str, Numbers]:
    """The scores of rows of added counts.

    Args:
        counts: sums of `addable` counts, a row per set of segments.

    Returns:
        The score and what it is made of, by what follows the name of the metric in theirs: an
        element per row, from 0 to 1; 0 where nothing matches.
    """
    shares = []
    for side in (0, 1):
        content = counts[:, 4 + side : _CHUNKS : 4] @ np.array(MATCHERS)
        others = counts[:, 6 + side : _CHUNKS : 4] @ np.array(MATCHERS)
        words, function = counts[:, side], counts[:, 2 + side]
        weight = DELTA * (words - function) + (1 - DELTA) * function
        shares.append(np.nan_to_num(ratio(DELTA * content + (1 - DELTA) * others, weight)))
    precision, recall = shares
    mean = np.nan_to_num(ratio(precision * recall, ALPHA * precision + (1 - ALPHA) * recall))
    matches = (counts[:, _MATCHED] + counts[:, _COVERED]) / 2
    penalty = GAMMA * np.nan_to_num(ratio(counts[:, _CHUNKS], matches)) ** BETA
    score = (1 - penalty) * mean
    return {"": score, "_precision": precision, "_recall": recall, "_penalty": penalty}


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
OPTION = "--metric"
#: The least memory that METEOR needs with its paraphrases.
MEMORY = "2G"
_SEPARATOR = re.compile(r"\|{3,}")
#: How many segments are scored by the jar, too, and how close both scores are.
_COMPARED, _CLOSE = 100, 1e-9


def packaged_jar() -> Path | None:
    """The jar of the package pycocoevalcap, if that is installed."""
    spec = find_spec("pycocoevalcap")
    places = spec.submodule_search_locations if spec else None
    return next((Path(place) / "meteor" / JAR for place in places or ()), None)


def field_text(text: str) -> str:
    r"""A text as a field of a request.

    Examples:
        >>> field_text("a ||| b\r\nc")
        'a | | | b c'
    """
    apart = _SEPARATOR.sub(lambda found: " ".join(found[0]), text)
    return " ".join(apart.split())


@dataclass(eq=False)
class MeteorMeasure:
    """METEOR 1.5: the jar counts, the values follow from sums. Its process ends with this object.

    Attributes:
        jar: path of the jar; that of the package pycocoevalcap if empty.
        paraphrases: whether paraphrases match, whose table takes most of the start.
        start: seconds to wait for the first answer, before which the paraphrases are read.
        answer: seconds to wait for others.
        failure: why it cannot be used any more.
    """

    size: ClassVar[int] = SIZE

    jar: str = ""
    paraphrases: bool = True
    start: float = 900.0
    answer: float = 300.0
    failure: CannotCount | None = None
    _checked: bool = field(default=False, repr=False)
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _errors: IO[bytes] | None = field(default=None, repr=False)

    def counts(self, segments: Segments) -> Numbers:
        """The counts of segments, a row each.

        The score of the first segments is compared with that of the jar.

        Raises:
            CannotCount: if METEOR fails, or has other parameters than METEOR 1.5 for English.
        """
        counts = self.jar_counts(segments.translations, segments.references)
        if len(counts) and not self._checked:
            first, self._checked = counts[:_COMPARED], True
            scores = self.jar_scores(first)[:-1]
            if not np.allclose(meteor(addable(first))[""], scores, rtol=0, atol=_CLOSE):
                self.finish()
                raise CannotCount(finding("MTS109").of(OPTION))
        return addable(counts)

    def values(self, sums: Numbers, *, alone: bool = False) -> dict[str, Numbers]:  # noqa: ARG002
        """The score of rows of summed counts, and what it is made of."""
        return meteor(sums)

    def signature(self, references: int) -> str:
        """As sacrebleu writes signatures."""
        number = "var" if references < 0 else references
        matchers = "exact+stem+synonym" + "+paraphrase" * self.paraphrases
        return f"METEOR|nrefs:{number}|lang:en|norm:yes|matchers:{matchers}|version:1.5"

    def finish(self) -> None:
        """End the process; it would be started again."""
        if self._errors is not None:
            _end(self._child, self._errors)
        self._child = self._errors = None

    def jar_counts(
        self, translations: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Numbers:
        """The counts of segments as METEOR has them, a row each.

        Args:
            translations: their texts.
            references: one or several per segment; the one that matches best counts.

        Raises:
            CannotCount: if METEOR cannot be started, ends too early, or takes too long.
        """
        rows = np.zeros((len(translations), SIZE))
        for row, (text, others) in enumerate(zip(translations, references, strict=True)):
            (line,) = self._answers(["SCORE", *map(field_text, others), field_text(text)], 1)
            words = line.split()
            try:
                rows[row] = [float(words[column]) for column in range(max(SIZE, len(words)))]
            except (IndexError, ValueError) as reason:
                raise self._fail("MTS105", answer=line[:80]) from reason
        return rows

    def jar_scores(self, counts: Numbers) -> list[float]:
        """The scores of rows of counts, and then that of their sum, as METEOR has them."""
        fields = ["EVAL", *(" ".join(map(str, row)) for row in counts.tolist())]
        return [float(line) for line in self._answers(fields, len(counts) + 1)]

    def _answers(self, fields: Sequence[str], number: int) -> list[str]:
        """Send a request and return the lines of the answer; a process that is late is killed."""
        if self.failure is not None:
            raise self.failure
        wait = self.answer if self._child else self.start
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.kill()

        try:
            child = self._child = self._child or self._start()
            watch = threading.Timer(wait, stop)
            watch.daemon = True
            watch.start()
            try:
                if child.stdin is None or child.stdout is None:
                    raise BrokenPipeError("it has ended")
                child.stdin.write(" ||| ".join(fields).encode() + b"\n")
                child.stdin.flush()
                lines = [child.stdout.readline() for _ in range(number)]
            finally:
                watch.cancel()
            if not all(line.endswith(b"\n") for line in lines):
                raise BrokenPipeError("it ended without an answer")
        except OSError as reason:
            if late.is_set():
                raise self._fail("MTS106", seconds=f"{wait:g}") from reason
            raise self._fail("MTS104", reason=self._last_words() or str(reason)) from reason
        return [line.decode(errors="replace").rstrip("\r\n") for line in lines]

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the process.

        Raises:
            CannotCount: if there is no Java, no jar, or no table of paraphrases beside it.
            OSError: if it cannot be run.
        """
        jar = Path(self.jar) if self.jar else packaged_jar()
        home = os.environ.get("JAVA_HOME")
        java = shutil.which("java", path=str(Path(home) / "bin")) if home else None
        java = java or shutil.which("java")
        if jar is None or not jar.is_file():
            where = f"{jar} is not a file" if jar else "the package pycocoevalcap is not installed"
            raise self._fail("MTS101", reason=where)
        if self.paraphrases and not (jar.parent / PARAPHRASES).is_file():
            raise self._fail("MTS102", folder=str(jar.parent))
        if java is None:
            raise self._fail("MTS103")
        command = [java, f"-Xmx{MEMORY}", "-Dfile.encoding=UTF-8", "-jar", str(jar.resolve())]
        command += ["-", "-", "-stdio", "-l", "en", "-norm"]
        command += [] if self.paraphrases else ["-m", "exact stem synonym"]
        pipe, self._errors = subprocess.PIPE, tempfile.TemporaryFile()  # noqa: SIM115
        child = subprocess.Popen(  # noqa: S603 - Java, the jar and options, no shell
            command, stdin=pipe, stdout=pipe, stderr=self._errors, start_new_session=True
        )
        weakref.finalize(self, _end, child, self._errors)
        return child

    def _last_words(self) -> str:
        """The first line of the errors of a process that names one, or its exit status."""
        if self._child is None or self._errors is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines()]
        wrong = [line[:160] for line in lines if "Exception" in line or "rror" in line]
        status = self._child.returncode
        return "" if status is None else (*wrong, f"exit status {status}")[0]

    def _fail(self, code: str, **values: str) -> CannotCount:
        """End the process for good, and return the exception."""
        if self._child and "UnsupportedClassVersionError" in values.get("reason", ""):
            java = self._child.args
            code, values = "MTS108", {"java": java[0] if isinstance(java, list) else str(java)}
        self.finish()
        self.failure = CannotCount(entry(code).finding(values).of(OPTION))
        return self.failure


def _end(process: subprocess.Popen[bytes] | None, errors: IO[bytes]) -> None:
    """Kill a process if it has started, and close its files."""
    errors.close()
    if process is not None:
        process.kill()
        for stream in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):
                stream.close()
        process.wait()


Measure = StringMeasure | MeteorMeasure


def measure(name: str, options: TranslationOptions) -> Measure:
    """A metric by name."""
    if name == METEOR:
        return MeteorMeasure(options.meteor_jar, not options.no_paraphrases)
    return StringMeasure(name, options)
