"""Packing: files of a submission become an archive that validates, or nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from hlteval.findings import Finding, Findings, finding
from hlteval.results.packages import PackedArchive
from hlteval.results.verdict import Verdict
from hlteval.sources import Member, Source, Unreadable, open_source, writing
from hlteval.sources.names import is_text, printable
from hlteval.sources.open_input import OpenInput
from hlteval.sources.opening import open_stream
from hlteval.sources.packing import file_sha256
from hlteval.sources.packing import pack as write_archive
from hlteval.sources.spooling import CHUNK
from hlteval.sources.writing import check_outputs
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.tasks.task import Task
from hlteval.validators.packing import Arranged, collisions
from hlteval.workflows.steps import Step, silent
from hlteval.workflows.validation import validate

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
        hlteval.workflows.batches.NothingGiven: if there is nothing to check against.
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
    judged = validate(task.name, OpenInput(written), step=step, **arguments)
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
