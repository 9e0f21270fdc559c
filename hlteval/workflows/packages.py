"""Packing: files of a submission become an archive that validates, or nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from hlteval.converters import load as load_format
from hlteval.findings import SUBMISSION, Finding, Findings, Severity, finding
from hlteval.findings.cascades import without_cascades
from hlteval.results.packages import Guess, Inspection, PackedArchive
from hlteval.results.verdict import Verdict
from hlteval.sources import Listed, Member, Source, Unreadable, open_source, writing
from hlteval.sources.names import is_text, printable
from hlteval.sources.opening import OpenInput, open_stream
from hlteval.sources.spooling import CHUNK
from hlteval.sources.writing import check_outputs, file_sha256
from hlteval.sources.writing import pack as write_archive
from hlteval.tasks import known, load
from hlteval.tasks.task import Task, WrongOption
from hlteval.validators.packing import Arranged, collisions
from hlteval.workflows.processes.batches import Step, silent
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Request

_KINDS = {".zip": "zip", ".tgz": "tgz", ".tar.gz": "tgz"}


class _NotValidError(Exception):
    """The archive does not pass; nothing of it is kept."""


def pack(
    task: str,
    paths: Sequence[str],
    target: str,
    *,
    force: bool = False,
    step: Step = silent,
    **arguments: Any,
) -> PackedArchive:
    """Pack a submission as its task requires, and validate the archive.

    Names, folders and the index follow from the task and the name of the archive. Equal files make
    equal archives, byte for byte. What does not pass validation is not written.

    Args:
        task: name of the task.
        paths: folders, files or archives with the files of the submission.
        target: the archive; a name without a suffix has the usual one of the task.
        force: whether an existing archive is replaced.
        step: called after each batch of the validation.
        **arguments: further arguments of `validate`, such as `against`.

    Raises:
        FileExistsError: if the archive exists, unless `force` is set.
        FileNotFoundError: if a path does not exist, or the folder of the archive.
        WrongOption: if the name of the archive is not UTF-8 or has a suffix that the task does not
            accept, or if a file has no name.
        hlteval.workflows.run.batches.NothingGiven: if there is nothing to check against.
    """
    declared = load(task)
    path = _target(declared, target, force=force)
    check_outputs([path], [*paths, *filter(None, [arguments.get("against")])])
    source = _joined(paths, arguments.get("encoding", "utf-8"))
    suffix = declared.packaging.suffix(path)
    arranged = declared.packaging.arrange(PurePosixPath(path).name.removesuffix(suffix), source)
    stops = [item for item in source.findings if item.blocking] or _in_the_way(declared, arranged)
    findings = [*source.findings, *arranged.findings]
    if stops:
        return _refused(declared, arguments, {*findings, *stops})
    archive = Source(path, _KINDS[suffix], tuple(sorted(arranged.members, key=_name)))
    try:
        with writing(Path(path)) as unfinished:
            write_archive(archive, unfinished)
            packed = _checked(declared, archive, unfinished, findings, arguments, step)
            if not packed.verdict.passed:
                raise _NotValidError
    except Unreadable as error:
        return _refused(declared, arguments, {*findings, error.finding})
    except _NotValidError:
        return PackedArchive(path=None, verdict=packed.verdict)
    return packed


def _name(member: Member) -> str:
    return member.name


def _target(task: Task, target: str, *, force: bool) -> str:
    """The path of the archive, with a suffix that the task accepts."""
    suffixes = task.packaging.suffixes
    name = PurePosixPath(target).name
    if not is_text(target):
        raise WrongOption(f"{printable(target)} is not valid UTF-8; choose another name")
    if not task.packaging.suffix(target):
        if not name or name in {".", ".."} or os.path.isdir(target):  # noqa: PTH112
            raise WrongOption(f"{target} is a folder; name the archive, e.g. NAME{suffixes[0]}")
        if name.lower().endswith(_FOREIGN):
            raise WrongOption(f"an archive of {task.name} is named NAME{' or NAME'.join(suffixes)}")
        target += suffixes[0]
    if os.path.lexists(target) and not force:
        raise FileExistsError(f"{target} exists; use --force to replace it")
    return target


_FOREIGN = (".zip", ".tgz", ".gz", ".tar", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tbz", ".txz")


def _joined(paths: Sequence[str], encoding: str) -> Source:
    """The files of all paths as those of one folder; a single file has its own name.

    Raises:
        WrongOption: for a stream that is a file, which has no name.
    """
    sources = [open_source(path, encoding=encoding) for path in dict.fromkeys(paths)]
    for source in sources:
        if not source.has_name and any(not member.name for member in source.members):
            raise WrongOption(f"{source.path} is a file without a name; pass a path or an archive")
    members = tuple(
        msgspec.structs.replace(member, name=member.name or PurePosixPath(source.path).name)
        for source in sources
        for member in source.members
    )
    findings = tuple(item for source in sources for item in source.findings)
    return Source(sources[0].path, "folder", members, findings)


def _in_the_way(task: Task, arranged: Arranged) -> list[Finding]:
    """Why the files cannot be packed: there are none, or two would have one name."""
    if not arranged.members:
        return [finding("PKG101", task=task.name, layout=task.packaging.layout)]
    return collisions(arranged.members)


def _refused(task: Task, arguments: Mapping[str, Any], findings: set[Finding]) -> PackedArchive:
    """Nothing: files could not be read or arranged."""
    profile = arguments.get("profile", "plan")
    return PackedArchive(
        path=None, verdict=Verdict(task.name, profile, passed=False, findings=Findings(findings))
    )


def _checked(
    task: Task,
    archive: Source,
    file: Path,
    findings: Sequence[Finding],
    arguments: Mapping[str, Any],
    step: Step,
) -> PackedArchive:
    """The archive, which has no name of its own yet, checked under the name that it will have."""
    written = open_stream(_chunks(file), archive.path)
    judged = validate(Request(task.name, OpenInput(written), step=step, **arguments))
    found = [*findings, *_at_origin(judged.findings, archive)]
    verdict = msgspec.structs.replace(judged, findings=Findings(found))
    return PackedArchive(
        path=archive.path,
        verdict=verdict,
        size=file.stat().st_size,
        sha256=file_sha256(file),
        members=written.listing(),
    )


def _at_origin(findings: Iterable[Finding], archive: Source) -> Iterator[Finding]:
    """Findings at the files of the user, where they are to be corrected."""
    label = printable(archive.path)
    files = {f"{label}/{printable(member.name)}": member for member in archive.members}
    for item in findings:
        member = files.get(item.file or "")
        written = member is not None and member.display
        yield msgspec.structs.replace(item, file=written) if written else item


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


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
        kind=source.kind,  # type: ignore[arg-type]
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
