"""Rules of SeeDev about a folder or archive of .a2 files (SEE401 to SEE409)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlteval.findings import Finding, finding
from hlteval.findings.suggest import closest_files
from hlteval.sources import Member, Unreadable
from hlteval.validators.packages import Package

PROVIDED, PREDICTED = (".txt", ".a1"), ".a2"


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
            values: dict[str, Any] = {
                "count": len(runs),
                "runs": listed,
                "documents": len(documents),
            }
            yield finding("SEE409", file=path, **values)


def _missing_and_unknown(package: Package) -> Iterator[Finding]:
    missing = [document for document in package.expected if document not in package.found]
    unknown = [document for document in package.found if document not in package.expected]
    # Longer names of a corpus are all much alike, so only a letter or two may differ.
    meant_by = closest_files(missing, unknown, distance=2)
    read = {member.name for members in package.found.values() for member in members}
    nested = {
        member.basename.removesuffix(PREDICTED): member.display.rpartition("/")[0]
        for member in package.submission.members
        if member.name not in read and member.name.endswith(PREDICTED)
    }
    for document in missing:
        hint = "add the file, or an empty one if nothing is predicted"
        if document in nested:
            hint = f"use the folder {nested[document]}, which has this file"
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


def _not_read(package: Package) -> Iterator[Finding]:
    """The files of a submission that hold no predictions, or are where none are expected."""
    read = {member.name for members in package.found.values() for member in members}
    own = {member.basename: member for members in package.expected.values() for member in members}
    for member in package.submission.members:
        if member.name in read:
            continue
        if member.name.endswith(PREDICTED):
            folder = member.display.rpartition("/")[0]
            yield finding("SEE405", file=member.display, folder=folder)
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
