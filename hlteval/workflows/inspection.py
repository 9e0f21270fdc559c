"""Inspection: what an archive is and what is wrong with it as a package, without a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import attrgetter
from pathlib import Path, PurePosixPath

import msgspec

from hlteval.converters import load as load_format
from hlteval.findings import SUBMISSION, Finding, Findings, Severity
from hlteval.findings.cascades import without_cascades
from hlteval.results.packages import Guess, Inspection
from hlteval.sources import Listed, Source, open_source
from hlteval.sources.packing import file_sha256
from hlteval.tasks import known, load
from hlteval.tasks.task import Task
from hlteval.workflows.batches import Submission


def inspect(path: str) -> Inspection:
    """Content of an archive, and what is wrong with it.

    Nothing is unpacked: an archive is checked by its list, and of the files of a sound one only the
    beginnings are looked at.

    Args:
        path: an archive, a folder, a file, or `-` for standard input.

    Raises:
        FileNotFoundError: if the path does not exist.
        NotWritten: if the disk has no space for temporary files.
    """
    source = open_source(path)
    size, digest = _digest(path)
    shown = Inspection(
        path=source.path,
        kind=source.kind,
        size=size,
        sha256=digest,
        members=_members(source),
        tasks=tuple(_guesses(source)),
        readable=bool(source.members),
    )
    tasks = [load(name) for name in shown.likeliest]
    named = _as_package(source, tasks)
    kept = () if source.members else {item.code for item in named}
    found = without_cascades([*source.findings, *named], {SUBMISSION: source.path}, kept)
    return msgspec.structs.replace(
        shown,
        name=_parts(source, tasks),
        findings=Findings(sorted(found, key=attrgetter("order"))),
    )


def _guesses(source: Source) -> list[Guess]:
    """The tasks that a source may be a submission to, those with the most reasons first."""
    found = [Guess(name, tuple(_reasons(load(name), source))) for name in known()]
    likely = [guess for guess in found if guess.reasons]
    return sorted(likely, key=lambda guess: -len(guess.reasons))


def _reasons(task: Task, source: Source) -> Iterator[str]:
    """What indicates that a source is a submission to a task."""
    if _parts(source, [task]):
        yield f"its name has the form {task.packaging.name}"
    if reason := task.packaging.recognize(source):
        yield reason
    if task.packaging.by_format and source.members:
        forms = (load_format(name) for name in (task.format, *task.submitted))
        form = next((form for form in forms if form.sniff(source)), None)
        if form is not None:
            yield f"has the format {form.name}"


def _parts(source: Source, tasks: Sequence[Task]) -> Mapping[str, str]:
    """The parts of the name of a source, if it has the form that a task wants."""
    if not source.has_name:
        return {}
    name = PurePosixPath(source.path).name
    for task in tasks:
        suffix = task.packaging.suffix(name)
        if parts := task.packaging.parse(name[: len(name) - len(suffix)]):
            return parts
    return {}


def _as_package(source: Source, tasks: Sequence[Task]) -> list[Finding]:
    """What the rules of packages find that all tasks have in common."""
    each = [_of_task(source, task) for task in tasks]
    if not each:
        return []
    shared = reduce(lambda some, others: some & others, (set(map(_key, found)) for found in each))
    return [finding for finding in each[0] if _key(finding) in shared]


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.code, finding.file, finding.message


def _of_task(source: Source, task: Task) -> list[Finding]:
    """What the rules of a task find about a submission as a package."""
    if not source.members:
        named = task.packaging.named(source)
        return [finding for finding in named if finding.severity == Severity.ERROR]
    return list(task.package(Submission(task, source, None).package))


def _members(source: Source) -> tuple[Listed, ...]:
    """All that a source names."""
    if source.kind in {"zip", "tgz"}:
        return source.listing()
    return tuple(
        Listed(member.name or member.display, "file", _size(source, member.name, member.size))
        for member in source.members
    )


def _size(source: Source, name: str, size: int | None) -> int:
    return Path(source.path, name).stat().st_size if size is None else size


def _digest(path: str) -> tuple[int | None, str | None]:
    """The size and the digest of a file of the disk that can be read; None of anything else."""
    with suppress(OSError):  # which is a finding of the source
        file = Path(path)
        if path != "-" and file.is_file():
            return file.stat().st_size, file_sha256(file)
    return None, None
