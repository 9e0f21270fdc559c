"""Bundles of Codabench: what its unpacker and its workers refuse, lose or pass over."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory

from hlteval.findings import Finding, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.sources.names import normalize
from hlteval.syntax.places import Path
from hlteval.validators.platforms.bundle import (
    Bundle,
    Configuration,
    at,
    check_program,
    items_of,
    python_of,
    tables_of,
)
from hlteval.validators.platforms.trial import (
    MOST_BYTES,
    PAGE,
    Trial,
    judge_scores,
    read_scores,
    run_apart,
    unpack,
)

#: The configuration, the image where none is named, and the files that have the command.
NAME, DEFAULT_IMAGE, METADATA = "competition.yaml", "codalab/codalab-legacy:py37", "metadata.yaml"
_IMAGES = (".png", ".jpg", ".jpeg")
#: What stands for folders in commands, and where they are.
FOLDERS: Mapping[str, str] = {
    "$ingestion_program": "/app/program",
    "$program": "/app/program",
    "$input": "/app/input",
    "$output": "/app/output",
    "$hidden": "/app/input/ref",
    "$predictions": "/app/input/res",
    "$shared": "/app/shared",
    "$tmp": "/app/output",
}
PROGRAM = "/app/program"


def check(bundle: Bundle) -> Iterator[Finding]:
    """Yield what is wrong with a bundle."""
    configuration = Configuration(bundle, NAME)
    yield from configuration.check_schema("codabench")
    content = configuration.content
    if not isinstance(content, dict):
        return
    yield from configuration.check_file(("image",), _IMAGES)
    yield from configuration.check_file(("terms",))
    for path, _ in tables_of(content, "pages"):
        yield from configuration.check_file((*path, "file"))
    yield from check_tasks(configuration)
    yield from check_phases(configuration)
    yield from check_columns(configuration)


def check_tasks(configuration: Configuration) -> Iterator[Finding]:
    """Yield what is wrong with tasks, with their programs and data, and with solutions."""
    content, programs = configuration.content, set[str]()
    yield from configuration.check_unique(("tasks",), "index")
    for path, task in tables_of(content, "tasks"):
        if "key" in task:  # of a task that the platform has
            continue
        for key in ("scoring_program", "name"):
            if key not in task:
                where = f"tasks[{path[-1]}]"
                yield configuration.finding("BDL203", *path, of_key=True, key=key, where=where)
        for key in ("scoring_program", "reference_data", "input_data", "ingestion_program"):
            yield from configuration.check_archive((*path, key))
        written = task.get("scoring_program")
        if isinstance(written, str) and written not in programs:
            programs.add(written)
            part = configuration.bundle.part(written)
            if part is not None and part.is_whole:
                yield from check_scoring(part, content)
    for path, _ in tables_of(content, "solutions"):
        yield from configuration.check_archive((*path, "path"))
    known = [task.get("index") for _, task in tables_of(content, "tasks")]
    for kind in ("solutions", "phases"):
        named = [
            item
            for path, _ in tables_of(content, kind)
            for item in items_of(content, *path, "tasks")
        ]
        yield from configuration.check_defined(named, known, "task")


def check_scoring(program: Bundle, content: Mapping[str, object]) -> Iterator[Finding]:
    """Yield what is wrong with the command of a scoring program, and with the file that it runs."""
    label = program.source.path
    try:
        words = command_of(program)
    except ValueError as error:
        inner = next((name for name in program.files if name.endswith(f"/{METADATA}")), "")
        reason = f"{METADATA} is in a folder, {inner}" if inner else str(error)
        yield finding("BDL305", file=label, reason=reason)
        return
    python = python_of(str(content.get("docker_image", DEFAULT_IMAGE)))
    paths = [normalize(word.removeprefix(f"{PROGRAM}/")) for word in words if word.endswith(".py")]
    for path in paths[:1]:
        if path in program.files:
            yield from check_program(program, path, python)
        else:
            scripts = [name for name in program.files if name.endswith(".py")]
            hint = did_you_mean(
                path, scripts, f"the program has {', '.join(scripts[:5]) or 'none'}"
            )
            yield finding("BDL306", file=program.display(METADATA), path=path, hint=hint)


def command_of(program: Bundle) -> list[str]:
    """Return the words of the command of a program, with the folders of a worker.

    Raises:
        ValueError: if it has none; the message is the reason.
    """
    name = next((name for name in (METADATA, "metadata") if name in program.files), "")
    if not name:
        raise ValueError(f"no {METADATA}")
    metadata = Configuration(program, name)
    command = at(metadata.content, ("command",))
    if not isinstance(command, str) or not command.strip():
        raise ValueError(f"{name} has no command")
    for word, folder in FOLDERS.items():
        command = command.replace(word, folder)
    return shlex.split(command)


def check_phases(configuration: Configuration) -> Iterator[Finding]:
    """Yield what is wrong with phases: files and dates, in the order of their indices."""
    phases = tables_of(configuration.content, "phases")
    phases.sort(key=lambda phase: index if isinstance(index := phase[1].get("index"), int) else 0)
    moments: list[tuple[Path, str, datetime | None, datetime | None]] = []
    for path, phase in phases:
        for key in ("starting_kit", "public_data"):
            yield from configuration.check_archive((*path, key))
        dates: dict[str, datetime | None] = {}
        for key in ("start", "end"):
            written = phase.get(key)
            dates[key] = moment_of(written)
            if isinstance(written, str) and dates[key] is None:
                reason = f"{key} is not a date: {written}"
                yield configuration.finding("BDL209", *path, key, reason=reason)
            elif (*path, key) in configuration.dates and ":" in str(written):
                yield configuration.finding("BDL210", *path, key, key=key)
        moments.append((path, str(phase.get("name", path[-1])), dates["start"], dates["end"]))
    for first, second in pairwise(moments):
        if first[3] is None and "end" not in at(configuration.content, first[0]):
            reason = f"phase {first[1]} has no end, but is not the last"
            yield configuration.finding("BDL209", *first[0], of_key=True, reason=reason)
        elif first[3] and second[2] and second[2] <= first[3]:
            reason = f"phase {second[1]} starts before phase {first[1]} has ended"
            yield configuration.finding("BDL209", *second[0], "start", reason=reason)
    if phases and phases[0][1].get("auto_migrate_to_this_phase"):
        reason = "nothing can migrate to the first phase"
        path = (*phases[0][0], "auto_migrate_to_this_phase")
        yield configuration.finding("BDL209", *path, reason=reason)


def moment_of(written: object) -> datetime | None:
    """Return the date and time that a text is; None for anything else.

    Examples:
        >>> moment_of("2026-12-01 12:00:00"), moment_of("soon")
        (datetime.datetime(2026, 12, 1, 12, 0), None)
    """
    try:
        return datetime.fromisoformat(str(written).strip()).replace(tzinfo=None)
    except ValueError:
        return None


def check_columns(configuration: Configuration) -> Iterator[Finding]:
    """Yield what is wrong with the columns of leaderboards."""
    for path, board in tables_of(configuration.content, "leaderboards"):
        for key in ("index", "key"):
            yield from configuration.check_unique((*path, "columns"), key)
        columns = [column for _, column in tables_of(configuration.content, *path, "columns")]
        known = [column.get("index") for column in columns]
        named = [((*path, "primary_index"), board.get("primary_index", 0))]
        named += [
            item
            for place, _ in tables_of(configuration.content, *path, "columns")
            for item in items_of(configuration.content, *place, "computation_indexes")
        ]
        yield from configuration.check_defined(named if columns else (), known, "column")


def try_program(bundle: Bundle, max_time: int) -> tuple[list[Finding], str]:
    """Run the scoring program of a bundle on its first solution, as a worker of Codabench does.

    Args:
        bundle: the bundle, in which nothing is wrong.
        max_time: seconds that the program may take at most.

    Returns:
        The findings, and how the program ran.
    """
    configuration = Configuration(bundle, NAME)
    content = configuration.content
    solution = at(content, ("solutions", 0)) or {}
    index = (at(solution, ("tasks",)) or [None])[0]
    tasks = (task for _, task in tables_of(content, "tasks"))
    task = next((task for task in tasks if task.get("index") == index), {})
    parts = {"program": task.get("scoring_program"), "input/res": solution.get("path")}
    missing = "solution" if not parts["input/res"] else ""
    if missing or not parts["program"]:
        hint = "add solutions with a path and the tasks that they are for"
        wanted = missing or "scoring program"
        return [configuration.finding("BDL407", "solutions", wanted=wanted, hint=hint)], ""
    parts["input/ref"] = task.get("reference_data")
    limits = [phase.get("execution_time_limit") for _, phase in tables_of(content, "phases")]
    limit = min([max_time, *(each for each in limits if isinstance(each, int))])
    with TemporaryDirectory(prefix="hlteval-") as folder:
        root = FilePath(folder, "app")
        for name, written in parts.items():
            if isinstance(written, str) and (part := bundle.part(written)) is not None:
                unpack(part, root / name)
        for name in ("output", "shared"):
            (root / name).mkdir(parents=True)
        for place in (FilePath(folder), *FilePath(folder).rglob("*")):
            place.chmod(0o777 if place.is_dir() else 0o644)
        program = bundle.part(str(parts["program"]))
        words = command_of(program) if program else []
        words = [word.replace("/app/", f"{folder}/app/") for word in words]
        words = [sys.executable, *words[1:]] if words[0].startswith("python") else words
        trial = run_apart(words, root / "program", limit)
        trial = replace(trial, errors=trial.errors.replace(f"{folder}/app", "/app"))
        found = list(judge(configuration, trial, root / "output", limit))
    return found, f"the scoring program ran {trial.seconds:.1f} s {trial.isolation}"


def judge(
    configuration: Configuration, trial: Trial, output: FilePath, limit: int
) -> Iterator[Finding]:
    """Yield what is wrong with a run of a scoring program, and with what it wrote."""
    content, at_program = configuration.content, ("solutions", 0, "path")
    if trial.status is None:
        yield configuration.finding("BDL406", *at_program, limit=limit)
        return
    if trial.status:
        reason = f"exit status {trial.status}"
        yield configuration.finding("BDL401", *at_program, reason=reason, hint=trial.summary)
        return
    scores, reason = read_scores(output)
    if reason:
        yield configuration.finding("BDL402", *at_program, reason=reason)
        return
    columns = {
        str(column.get("key")): (*path, "key")
        for path, column in tables_of(content, "leaderboards", 0, "columns")
        if "computation" not in column
    }
    yield from judge_scores(configuration, at_program, scores, columns)
    pages = sorted(output.glob("*.html"), key=lambda page: page.name != PAGE)
    if content.get("enable_detailed_results") is True:
        size = pages[0].stat().st_size if pages else 0
        problem = "" if pages else "no details page"
        problem = f"the details page has {size:,} bytes" if size > MOST_BYTES else problem
        if problem:
            yield configuration.finding("BDL405", "enable_detailed_results", reason=problem)
