"""A trial: pass damaged files to `validate` and `convert`, which may report any findings.

A trial fails on an exception, a finding outside its file, more than `SECONDS` of CPU time (of large
inputs, `PER_MB`), or more than `BYTES` of memory.
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

from fuzz import corpora
from fuzz.mutations import TOGETHER, Files, as_files, combine, mutate, numbered_path
from fuzz.places import strays
from fuzz.subjects import CONTEXTS, FIXTURES, Context, Use, seeds, uses
from hlteval import tasks
from hlteval.converters import ReadResult, known, load
from hlteval.findings import Finding
from hlteval.reports.findings import FORMATS, render
from hlteval.reports.terminal import write
from hlteval.representation import Corpus
from hlteval.results.verdict import Verdict
from hlteval.sources import Source, open_source
from hlteval.sources.names import printable
from hlteval.tasks.task import WrongOption
from hlteval.workflows.convert.conversion import NotConverted, convert
from hlteval.workflows.convert.inputs import UnknownFormat
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Request

SECONDS = 5.0
"""Maximum CPU time of a trial whose inputs have up to 12 MB."""
PER_MB = 0.2
"""CPU time that each MB of larger inputs may take, after half of `SECONDS`."""
BYTES = 400 << 20
"""Maximum memory of a trial, without that of the process before it."""

_FORMS = tuple(FORMATS)


class Outcome(NamedTuple):
    """The outcome of a trial.

    Attributes:
        findings: number of findings.
        seconds: CPU time.
        memory: additional memory in bytes; 0 if the system does not report it.
        failure: the kind of failure and its location in the code; empty for success.
        report: details of the failure, such as the traceback.
    """

    findings: int
    seconds: float
    memory: int
    failure: str = ""
    report: str = ""


def generate(reader: str, number: int) -> list[Files]:
    """The damaged inputs of a trial."""
    draw = Random(f"{reader} {number}")
    if reader in corpora.SAVED and draw.random() < 0.5:
        return corpora.mutate(reader, draw)
    return mutate(seeds(reader), draw, alone=not reads_many(reader))


@cache
def reads_many(reader: str) -> bool:
    """Whether a format reads several inputs in one folder: most of their rows are read."""
    subject = as_files(seeds(reader)[0])
    rows = _rows(reader, combine([subject] * TOGETHER))
    return rows > _rows(reader, subject) * TOGETHER / 2


def _rows(reader: str, files: Files) -> int:
    """The number of rows that a format reads."""
    with TemporaryDirectory(prefix="fuzz-") as folder:
        source = open_source(str(write_files(files, Path(folder))))
        found = [result.corpus for result in load(reader).read(source)]
    return sum(rows.height for corpus in found for _, rows in corpus.tables())


def run_trial(reader: str, number: int, files: Files, folder: Path) -> Outcome:
    """Validate and convert an input in a folder; `number` is the seed of the random choices."""
    before, start, found = _peak(reset=True), time.process_time(), 0
    seconds, failure, report = 0.0, "", ""
    try:
        path = write_files(files, folder)
        draw = Random(number)
        findings = [*_validate(reader, path, draw, missing=files.missing)]
        findings += _convert(reader, path, draw, folder, missing=files.missing)
        found, seconds = len(findings), time.process_time() - start
        _check_findings(findings, files, str(path))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of Polars is not an Exception
        failure, report = _failure(error), "".join(traceback.format_exception(error))
    seconds, memory = seconds or time.process_time() - start, max(0, _peak() - before)
    shutil.rmtree(folder, ignore_errors=True)
    size = sum(len(content or b"") for content in files.files.values()) / 1e6
    if not failure and seconds > max(SECONDS, PER_MB * size + SECONDS / 2):
        failure = report = f"slow: {seconds:.1f} s"
    if not failure and memory > BYTES:
        failure = report = f"memory: {memory >> 20} MB"
    return Outcome(found, seconds, memory, failure, report)


def write_files(subject: Files, folder: Path) -> Path:
    """Write an input into an empty folder; its path."""
    shutil.rmtree(folder, ignore_errors=True)
    path = folder / "in" / subject.name
    (folder / "in").mkdir(parents=True)
    for name, content in () if subject.missing else subject.files.items():
        file = path / name if name else path
        if content is None:
            file.mkdir(parents=True, exist_ok=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    if not subject.missing and "" not in subject.files:
        path.mkdir(parents=True, exist_ok=True)
    return path


def _validate(reader: str, path: Path, draw: Random, *, missing: bool) -> Sequence[Finding]:
    """The findings of one of the tasks that read the format, rendered in one of the formats."""
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
    except (NothingGiven, WrongOption):  # a missing or unsuitable other input
        return ()
    _show(verdict, draw.choice(_FORMS))
    return verdict.findings


def _verdict(use: Use, path: str, profile: str, *, alone: bool) -> Verdict:
    context = CONTEXTS.get(use.task, Context(path))
    paths = {"submission": str(FIXTURES / context.submission), "against": ""}
    options: dict[str, str] = {}
    if not alone:
        paths["against"] = copies_of(context.against) if context.against else ""
        options = {name: str(FIXTURES / value) for name, value in context.options.items()}
    if use.role in paths:
        paths[use.role] = path
    else:
        options[use.role] = path
    if profile not in tasks.load(use.task).profiles:
        profile = "plan"
    return validate(
        Request(
            use.task,
            paths["submission"],
            against=paths["against"] or None,
            options=options,
            profile=profile,
        )
    )


@cache
def copies_of(name: str) -> str:
    """The path of a fixture; of a folder, one with copies of its files for combined inputs.

    A folder with folders is as it is: its files are tables, of which each is there once.
    """
    path = FIXTURES / name
    if not path.is_dir() or any(file.is_dir() for file in path.iterdir()):
        return str(path)
    folder = Path(mkdtemp(prefix="fuzz-against-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for file in path.iterdir():
        for copy in [file.name, *(numbered_path(file.name, number) for number in range(TOGETHER))]:
            (folder / copy).write_bytes(file.read_bytes())
    return str(folder)


def _show(verdict: Verdict, form: str) -> None:
    with Path("/dev/null").open("w", encoding="utf-8") as stream:
        write(Console(file=stream, width=80), render(verdict, form))


def _convert(
    reader: str, path: Path, draw: Random, folder: Path, *, missing: bool
) -> list[Finding]:
    """The findings of reading an input and writing it as JSON Lines and another format."""
    form = load(reader)
    try:
        if draw.random() < 0.15:
            return _convert_by_command(reader, path, draw, folder)
        source = open_source(str(path))
    except FileNotFoundError:
        if missing:
            return []
        raise
    results = list(form.read(source))
    if reader in corpora.SAVED and not missing:
        corpus = Corpus.concat(result.corpus for result in results)
        corpora.check_writing(corpus, folder, [draw.choice(corpora.writers())])
        return _found(source, results)
    targets = {"jsonl", draw.choice((form.name, form.name, *known()))}
    for number, target in enumerate(sorted(targets)):
        other = load(target)
        if other.write is not None:
            supported = [other.supported(result.corpus) for result in results]
            other.write(supported, folder / f"out-{number}")
    return _found(source, results)


def _found(source: Source, results: Sequence[ReadResult]) -> list[Finding]:
    return [*source.findings, *(finding for result in results for finding in result.findings)]


def _convert_by_command(reader: str, path: Path, draw: Random, folder: Path) -> list[Finding]:
    """The findings of `hlteval.convert`, with or without the name of the input format."""
    writable = reader if load(reader).write else "jsonl"
    from_format = reader if draw.random() < 0.7 else None
    target = draw.choice((writable, "jsonl"))
    try:
        return convert(str(path), str(folder / "out"), from_format=from_format, to_format=target)
    except NotConverted as reason:
        return reason.findings
    except UnknownFormat:
        if from_format is None:
            return []
        raise


def _check_findings(findings: Sequence[Finding], subject: Files, path: str) -> None:
    """Check that findings have a message, and that their span is inside the file."""
    for finding in findings:
        assert finding.message, finding
        if span := finding.span:
            assert span.line >= 1, finding
            assert 1 <= span.column <= span.end_column, finding
    if not subject.name.endswith((".zip", ".tgz", ".gz")):
        files = {
            printable(f"{path}/{name}" if name else path): content
            for name, content in subject.files.items()
            if content is not None
        }
        found = strays(findings, files)
        assert not found, found


def _failure(error: BaseException) -> str:
    """The type of an error and the last line of our code in its traceback."""
    frames = list(traceback.extract_tb(error.__traceback__))
    rooms = ("hlteval", "converters", "grammars", "validators", "scoring", "fuzz")
    root = str(Path(__file__).parents[1])
    ours = [
        f for f in frames if f.filename.startswith(root) and any(r in f.filename for r in rooms)
    ]
    at = ours[-1] if ours else frames[-1]
    return f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"


def _peak(*, reset: bool = False) -> int:
    """The peak memory of the process since the last reset, in bytes."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(status.partition("VmHWM:")[2].split()[0]) << 10
