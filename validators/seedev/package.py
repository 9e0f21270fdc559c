"""Rules of SeeDev about a folder or archive of .a2 files (SEE401 to SEE410)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlteval.findings import Finding, finding
from hlteval.findings.suggest import closest_files
from hlteval.sources import Member, Unreadable
from hlteval.validators.packages import Package

PROVIDED, PREDICTED = (".txt", ".a1"), ".a2"
#: Suffixes of files that are not text, whatever they are called.
_OFFICE = {"xlsx", "xls", "ods", "docx", "doc", "odt", "pdf"}


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package."""
    yield from _two_files(package)
    if package.reference is not None:
        yield from _missing_and_unknown(package)
        yield from _not_read(package)


def _two_files(package: Package) -> Iterator[Finding]:
    """The files of documents that have several, and the folders if these are several runs."""
    folders: dict[tuple[str, ...], list[str]] = {}
    for document, members in package.found.items():
        for suffix in (*PROVIDED, PREDICTED):
            files = [member for member in members if member.name.endswith(suffix)]
            for member in files[1:]:
                other = files[0].display
                yield finding("SEE408", file=member.display, document=document, other=other)
            if len(files) > 1 and suffix == PREDICTED:
                runs = tuple(member.name.rpartition("/")[0] for member in files)
                folders.setdefault(runs, []).append(document)
    yield from _several_runs(folders, package.submission.path)


def _several_runs(folders: Mapping[tuple[str, ...], Sequence[str]], path: str) -> Iterator[Finding]:
    """The finding about several runs, if these explain all documents with several files.

    Args:
        folders: the documents with several files, by the folders of these.
        path: of the submission.
    """
    for runs, documents in folders.items():
        if len(folders) == 1 and len(documents) > 1 and len(set(runs)) == len(runs):
            names = [run or "the top level" for run in runs]
            listed = ", ".join(names[:-1]) + f" and {names[-1]}"
            values: Mapping[str, Any] = {
                "count": len(runs),
                "runs": listed,
                "documents": len(documents),
            }
            yield finding("SEE409", file=path, **values)


def _missing_and_unknown(package: Package) -> Iterator[Finding]:
    missing = _missing(package)
    unknown = [document for document in package.found if document not in package.expected]
    # Longer names of a corpus are all much alike, so only a letter or two may differ.
    meant_by = closest_files(missing, unknown, distance=2)
    nested, other = _nested(package), _other_files(package)
    folder = _run_folder(package)
    if folder:
        values: Mapping[str, Any] = {"folder": folder, "name": folder.rpartition("/")[2]}
        yield finding("SEE410", file=package.submission.path, count=len(nested), **values)
    for document in missing:
        if folder and document in nested:
            continue
        hint = "add the file, or an empty one if nothing is predicted"
        if document in other:
            hint = _renamed(other[document], other[document].basename)
        if document in nested:
            hint = f"move {nested[document].display} to the top level"
        if document in meant_by:
            hint = f"rename {meant_by[document]}{PREDICTED} if it is meant for this document"
        yield finding("SEE401", file=package.submission.path, document=document, hint=hint)
    meant = closest_files(unknown, missing, distance=2)
    for document in unknown:
        hint = "rename the file after a document of the task"
        if document in meant:
            hint = f"did you mean {meant[document]}?"
        file = package.found[document][0].display
        yield finding("SEE402", file=file, document=document, hint=hint)


def _missing(package: Package) -> list[str]:
    """The documents of the task that have no file."""
    return [document for document in package.expected if document not in package.found]


def _nested(package: Package) -> dict[str, Member]:
    """The files in subfolders of the documents without a file at the top level."""
    read = {member.name for members in package.found.values() for member in members}
    missing = set(_missing(package))
    return {
        document: member
        for member in package.submission.members
        if member.name not in read and member.name.endswith(PREDICTED)
        if (document := member.basename.removesuffix(PREDICTED)) in missing
    }


def _run_folder(package: Package) -> str:
    """The subfolder that has all files, if the top level has none; empty if there is none."""
    folders = {member.display.rpartition("/")[0] for member in _nested(package).values()}
    return folders.pop() if len(folders) == 1 and not package.found else ""


def _other_files(package: Package) -> dict[str, Member]:
    """The files with other suffixes of the documents without a file; not inputs of the task."""
    missing, own = set(_missing(package)), _inputs(package)
    return {
        document: member
        for member in package.submission.members
        if (document := member.basename.rpartition(".")[0]) in missing
        and "/" not in member.name
        and not member.name.endswith(PREDICTED)
        and not (member.basename in own and _content(member) == _content(own[member.basename]))
    }


def _renamed(member: Member, name: str) -> str:
    """The fix of a file with another suffix, which is called by a name in it."""
    stem, _, suffix = member.basename.rpartition(".")
    if suffix.lower() in _OFFICE:
        return f"save {name} as plain text, as {stem}{PREDICTED}, if it contains predictions"
    return f"rename {name} to {stem}{PREDICTED} if it contains predictions"


def _inputs(package: Package) -> dict[str, Member]:
    """The files of the task by their names."""
    return {member.basename: member for members in package.expected.values() for member in members}


def _not_read(package: Package) -> Iterator[Finding]:
    """The files of a submission that hold no predictions, or are where none are expected."""
    read = {member.name for members in package.found.values() for member in members}
    own = _inputs(package)
    folder, predictions = _run_folder(package), {m.name for m in _other_files(package).values()}
    for member in package.submission.members:
        if member.name in read:
            continue
        if member.name.endswith(PREDICTED):
            inside = member.display.rpartition("/")[0]
            if inside != folder:
                yield finding("SEE405", file=member.display, folder=inside)
        elif member.name in predictions:
            yield finding("SEE404", file=member.display, hint=_renamed(member, "it"))
        elif member.name.endswith(PROVIDED) and member.basename in own:
            same = _content(member) == _content(own[member.basename])
            yield finding("SEE406" if same else "SEE407", file=member.display)
        else:
            yield finding("SEE404", file=member.display, hint=_hint(member))


def _content(member: Member) -> bytes | None:
    try:
        return member.fetch()
    except Unreadable:
        return None


def _hint(member: Member) -> str:
    stem, _, suffix = member.basename.rpartition(".")
    if f".{suffix.lower()}" == PREDICTED:
        return f"rename it to {stem}{PREDICTED}, with a lower-case suffix"
    if suffix.lower() in {"ann", "a2~", "bak"} or PREDICTED in member.basename:
        name = member.basename.partition(PREDICTED)[0] if PREDICTED in member.basename else stem
        return f"rename it to {name}{PREDICTED} if it contains predictions"
    return "remove it; only files whose names end in .a2 are read as predictions"
