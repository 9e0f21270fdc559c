"""Packages: files of a submission become an archive that validates; the content of archives."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path, PurePosixPath

import msgspec

from hlteval.converters import load as load_format
from hlteval.findings import SUBMISSION, Finding, Findings, Severity, finding
from hlteval.findings.cascades import cascades
from hlteval.results.packages import Guess, Inspection, PackedArchive
from hlteval.results.verdict import Verdict
from hlteval.sources import Listed, Source, Unreadable, open_source, writing
from hlteval.sources.names import ARCHIVE_SUFFIXES, is_text, printable
from hlteval.sources.opening import OpenInput, open_stream
from hlteval.sources.spooling import CHUNK
from hlteval.sources.writing import check_outputs, file_sha256
from hlteval.sources.writing import pack as write_archive
from hlteval.tasks import load, task_names
from hlteval.tasks.task import Task, WrongOption
from hlteval.validators.packages import collisions
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Request

_KINDS = {".zip": "zip", ".tgz": "tgz", ".tar.gz": "tgz"}


class _NotValidError(Exception):
    """The archive does not pass; nothing of it is kept."""


def pack(
    request: Request, paths: Sequence[str], target: str, *, force: bool = False
) -> PackedArchive:
    """Pack a submission as its task requires, and validate the archive.

    Names, folders and the index follow from the task and the name of the archive. Equal files make
    equal archives, byte for byte. What does not pass validation is not written.

    Args:
        request: how the archive is validated.
        paths: folders, files or archives with the files of the submission.
        target: the archive; a name without a suffix has the usual one of the task.
        force: whether an existing archive is replaced.

    Raises:
        FileExistsError: if the archive exists, unless `force` is set.
        FileNotFoundError: if a path does not exist, or the folder of the archive.
        WrongOption: if the name of the archive is not UTF-8 or has a suffix that the task does not
            accept, or if a file has no name.
        hlteval.workflows.run.batches.NothingGiven: if there is nothing to check against.
    """
    task = request.definition
    path = _target(task, target, force=force)
    check_outputs([path], [*paths, *filter(None, [request.against])])
    source = _join(paths, request.encoding)
    suffix = task.packaging.suffix(path)
    arranged = task.packaging.arrange(PurePosixPath(path).name.removesuffix(suffix), source)
    findings = [*source.findings, *arranged.findings]
    stops = [item for item in source.findings if item.blocking]
    if not stops and not arranged.members:
        stops = [finding("PKG101", task=task.name, layout=task.packaging.layout)]
    stops = stops or collisions(arranged.members)
    if not stops:
        members = sorted(arranged.members, key=attrgetter("name"))
        archive = Source(path, _KINDS[suffix], tuple(members))
        try:
            with writing(Path(path)) as unfinished:
                write_archive(archive, unfinished)
                packed = _check(request, archive, unfinished, findings)
                if not packed.verdict.passed:
                    raise _NotValidError
                return packed
        except Unreadable as error:
            stops = [error.finding]
        except _NotValidError:
            return PackedArchive(path=None, verdict=packed.verdict)
    every = Findings({*findings, *stops})
    verdict = Verdict(task.name, request.profile, passed=False, findings=every)
    return PackedArchive(path=None, verdict=verdict)


def _target(task: Task, target: str, *, force: bool) -> str:
    """The path of the archive, with a suffix that the task accepts."""
    suffixes = task.packaging.suffixes
    name = PurePosixPath(target).name
    if not is_text(target):
        raise WrongOption(f"the output {printable(target)} is not valid UTF-8; choose another name")
    if not task.packaging.suffix(target):
        if not name or name in {".", ".."} or os.path.isdir(target):  # noqa: PTH112
            raise WrongOption(f"{target} is a folder; name the archive, e.g. NAME{suffixes[0]}")
        if name.lower().endswith(ARCHIVE_SUFFIXES):
            raise WrongOption(f"an archive of {task.name} is named NAME{' or NAME'.join(suffixes)}")
        target += suffixes[0]
    if os.path.lexists(target) and not force:
        raise FileExistsError(f"{target} exists; use --force to replace it")
    return target


def _join(paths: Sequence[str], encoding: str) -> Source:
    """Return the files of all paths as those of one folder; a single file has its own name.

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


def _check(request: Request, archive: Source, file: Path, findings: list[Finding]) -> PackedArchive:
    """Check the archive, which has no name of its own yet, under the name that it will have.

    Findings are at the files of the user, where they are to be corrected.
    """

    def chunks() -> Iterator[bytes]:
        with file.open("rb") as stream:
            yield from iter(partial(stream.read, CHUNK), b"")

    written = open_stream(chunks(), archive.path)
    verdict = validate(replace(request, system=OpenInput(written)))
    label = printable(archive.path)
    files = {f"{label}/{printable(member.name)}": member.display for member in archive.members}
    at_origin = [
        msgspec.structs.replace(item, file=files.get(item.file or "") or item.file)
        for item in verdict.findings
    ]
    return PackedArchive(
        path=archive.path,
        verdict=msgspec.structs.replace(verdict, findings=Findings([*findings, *at_origin])),
        size=file.stat().st_size,
        sha256=file_sha256(file),
        members=written.listing(),
    )


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
    size = digest = None
    with suppress(OSError):  # which is a finding of the source
        file = Path(path)
        if path != "-" and file.is_file():
            size, digest = file.stat().st_size, file_sha256(file)
    if source.kind in {"zip", "tgz"}:
        members = source.listing()
    else:
        files = [(member, Path(source.path, member.name)) for member in source.members]
        members = tuple(
            Listed(m.name or m.display, "file", file.stat().st_size if m.size is None else m.size)
            for m, file in files
        )
    guesses = [Guess(name, tuple(_reasons(load(name), source))) for name in task_names()]
    guesses.sort(key=lambda guess: -len(guess.reasons))
    inspection = Inspection(
        path=source.path,
        kind=source.kind,  # type: ignore[arg-type]
        size=size,
        sha256=digest,
        members=members,
        tasks=tuple(guess for guess in guesses if guess.reasons),
        readable=bool(source.members),
    )
    tasks = [load(name) for name in inspection.likeliest]
    problems = _as_package(source, tasks)
    kept = () if source.members else {item.code for item in problems}
    findings = cascades([*source.findings, *problems], {SUBMISSION: source.path}, kept).kept
    ordered = Findings(sorted(findings, key=attrgetter("order")))
    return msgspec.structs.replace(inspection, name=_parts(source, tasks), findings=ordered)


def _reasons(task: Task, source: Source) -> Iterator[str]:
    """Give the reasons why a source may be a submission to a task."""
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
    """Return the findings of the rules of packages that all tasks have in common."""
    each: list[list[Finding]] = []
    for task in tasks:
        if source.members:
            each.append(list(task.package(Submission(task, source, None).package)))
        else:
            findings = task.packaging.named(source)
            each.append([item for item in findings if item.severity == Severity.ERROR])
    key = attrgetter("code", "file", "message")
    others = [set(map(key, findings)) for findings in each[1:]]
    first = each[0] if each else []
    return [item for item in first if all(key(item) in keys for keys in others)]
