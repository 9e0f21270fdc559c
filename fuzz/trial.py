"""A trial: damaged files given to `validate` and `convert`, which may find whatever they like.

What is not allowed: an exception, a place of a finding outside of its file, more than `SECONDS` of
CPU time, more than `BYTES` of memory.
"""

from __future__ import annotations

import atexit
import shutil
import time
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

from rich.console import Console

from fuzz.mutations import TOGETHER, Files, given, mutated, renumbered, together
from fuzz.subjects import BESIDE, FIXTURES, Beside, Use, seeds, uses
from hlteval import tasks
from hlteval.converters import known, load
from hlteval.findings import Finding
from hlteval.reports import findings as shown
from hlteval.reports.terminal import write
from hlteval.results.verdict import Verdict
from hlteval.sources import open_source
from hlteval.tasks.task import WrongOption
from hlteval.workflows.batches import NothingGiven
from hlteval.workflows.conversion import UnknownFormat, convert
from hlteval.workflows.validation import validate

SECONDS = 5.0
"""Of CPU time, for a trial."""
BYTES = 400 << 20
"""Of memory, beyond what the process has before."""

_FORMS = tuple(shown.FORMATS)


class Outcome(NamedTuple):
    """What came of a trial.

    Attributes:
        findings: how many there were.
        seconds: of CPU time.
        memory: bytes beyond those before; 0 where the system does not tell.
        fault: what was wrong, by kind and place; empty where nothing was.
        report: the same with all that helps.
    """

    findings: int
    seconds: float
    memory: int
    fault: str = ""
    report: str = ""


def drawn(reader: str, number: int) -> list[Files]:
    """The damaged things of a trial."""
    draw = Random(f"{reader} {number}")
    return mutated(seeds(reader), draw, alone=not gathers(reader))


@cache
def gathers(reader: str) -> bool:
    """Whether a format reads several things of a folder at once: most of them came out."""
    one = given(seeds(reader)[0])
    rows = [_rows(reader, files) for files in (one, together([one] * TOGETHER))]
    return rows[1] > rows[0] * TOGETHER / 2


def _rows(reader: str, files: Files) -> int:
    with TemporaryDirectory(prefix="fuzz-") as folder:
        source = open_source(str(placed(files, Path(folder))))
        corpora = [reading.corpus for reading in load(reader).read(source)]
    return sum(rows.height for corpus in corpora for _, rows in corpus.tables())


def tried(reader: str, number: int, files: Files, folder: Path) -> Outcome:
    """Give files to all that reads the format; `number` draws what is done with them."""
    before, start, found = _peak(reset=True), time.process_time(), 0
    fault = report = ""
    try:
        path = placed(files, folder)
        draw = Random(number)
        told = [*_validated(reader, path, draw, missing=files.missing)]
        told += _converted(reader, path, draw, folder, missing=files.missing)
        found = len(told)
        _hold(told, files, str(path))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # what Polars panics with is no Exception
        fault, report = _fault(error), "".join(traceback.format_exception(error))
    seconds, memory = time.process_time() - start, max(0, _peak() - before)
    shutil.rmtree(folder, ignore_errors=True)
    if not fault and seconds > SECONDS:
        fault = report = f"slow: {seconds:.1f} s"
    if not fault and memory > BYTES:
        fault = report = f"memory: {memory >> 20} MB"
    return Outcome(found, seconds, memory, fault, report)


def placed(given: Files, folder: Path) -> Path:
    """Write what is given into an empty folder; its path."""
    shutil.rmtree(folder, ignore_errors=True)
    path = folder / "in" / given.name
    (folder / "in").mkdir(parents=True)
    for name, content in () if given.missing else given.files.items():
        file = path / name if name else path
        if content is None:
            file.mkdir(parents=True, exist_ok=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    if not given.missing and "" not in given.files:
        path.mkdir(parents=True, exist_ok=True)
    return path


def _validated(reader: str, path: Path, draw: Random, *, missing: bool) -> Sequence[Finding]:
    """The findings of one of the tasks that read the format, shown in one of the forms."""
    choices = uses(reader)
    if not choices:
        return ()
    use = draw.choice(choices)
    profile = "official" if draw.random() < 0.1 else "plan"
    try:
        verdict = _verdict(use, str(path), profile, alone=draw.random() < 0.1)
    except FileNotFoundError:
        if missing:
            return ()
        raise
    except (NothingGiven, WrongOption):  # nothing to check against, or in no form that fits
        return ()
    _show(verdict, draw.choice(_FORMS))
    return verdict.findings


def _verdict(use: Use, path: str, profile: str, *, alone: bool) -> Verdict:
    beside = BESIDE.get(use.task, Beside(path))
    given = {"submission": str(FIXTURES / beside.submission), "against": ""}
    options: dict[str, str] = {}
    if not alone:
        given["against"] = partner(beside.against) if beside.against else ""
        options = {name: str(FIXTURES / value) for name, value in beside.options.items()}
    if use.role in given:
        given[use.role] = path
    else:
        options[use.role] = path
    if profile not in tasks.load(use.task).profiles:
        profile = "plan"
    return validate(
        use.task,
        given["submission"],
        against=given["against"] or None,
        options=options,
        profile=profile,
    )


@cache
def partner(name: str) -> str:
    """What a task is checked against; of a folder also copies, as there are of what is damaged."""
    path = FIXTURES / name
    if not path.is_dir():
        return str(path)
    folder = Path(mkdtemp(prefix="fuzz-against-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for file in path.iterdir():
        for copy in [file.name, *(renumbered(file.name, number) for number in range(TOGETHER))]:
            (folder / copy).write_bytes(file.read_bytes())
    return str(folder)


def _show(verdict: Verdict, form: str) -> None:
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        write(Console(file=nowhere, width=80), shown.render(verdict, form))


def _converted(
    reader: str, path: Path, draw: Random, folder: Path, *, missing: bool
) -> list[Finding]:
    """The findings of reading, the files written as JSON Lines, and as what they were or others."""
    form = load(reader)
    try:
        if draw.random() < 0.15:
            return _by_command(reader, path, draw, folder)
        source = open_source(str(path))
    except FileNotFoundError:
        if missing:
            return []
        raise
    readings = list(form.read(source))
    targets = {"jsonl", draw.choice((form.name, form.name, *known()))}
    for number, target in enumerate(sorted(targets)):
        other = load(target)
        if other.write is not None:
            corpora = [other.supported(result.corpus) for result in readings]
            other.write(corpora, folder / f"out-{number}")
    return [*source.findings, *(finding for one in readings for finding in one.findings)]


def _by_command(reader: str, path: Path, draw: Random, folder: Path) -> list[Finding]:
    """The same by the function of the command, also without a name for the format."""
    writable = reader if load(reader).write else "jsonl"
    named = reader if draw.random() < 0.7 else None
    target = draw.choice((writable, "jsonl"))
    try:
        return convert(str(path), str(folder / "out"), from_format=named, to_format=target)
    except UnknownFormat:
        if named is None:
            return []
        raise


def _hold(told: Sequence[Finding], given: Files, path: str) -> None:
    """Hold that findings say something, and stand in the file, if anywhere."""
    data = given.files.get("") if not given.name.endswith((".zip", ".tgz", ".gz")) else None
    lines = None if data is None else data.count(b"\n") + data.count(b"\r") + 1
    for finding in told:
        assert finding.message, finding
        if span := finding.span:
            assert span.line >= 1, finding
            assert 1 <= span.column <= span.end_column, finding
            assert lines is None or finding.file != path or span.line <= lines, finding


def _fault(error: BaseException) -> str:
    """An error by its type and by the last place of ours on its way."""
    frames = list(traceback.extract_tb(error.__traceback__))
    rooms = ("hlteval", "converters", "grammars", "validators", "scoring", "fuzz")
    root = str(Path(__file__).parents[1])
    ours = [
        f for f in frames if f.filename.startswith(root) and any(r in f.filename for r in rooms)
    ]
    at = ours[-1] if ours else frames[-1]
    return f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"


def _peak(*, reset: bool = False) -> int:
    """The most memory that the process has had, since the last reset, in bytes."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(status.partition("VmHWM:")[2].split()[0]) << 10
