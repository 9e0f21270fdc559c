"""Rules over a submission as a package of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source, Unreadable

GIVEN, ASKED = (".txt", ".a1"), ".a2"


class Package(Protocol):
    """A submission beside the documents it is for; see `hlteval.tasks.task.Package`."""

    @property
    def submission(self) -> Source:
        """What was submitted."""

    @property
    def found(self) -> Mapping[str, tuple[Member, ...]]:
        """Its files with predictions, by document."""

    @property
    def reference(self) -> Source | None:
        """What it is checked against."""

    @property
    def expected(self) -> Mapping[str, tuple[Member, ...]]:
        """The files of the reference, by document."""


def standoff(package: Package) -> Iterator[Finding]:
    """What is wrong with a folder or archive of .a2 files."""
    yield from _two_files(package.found)
    if package.reference is not None:
        yield from _missing(package)
        yield from _unknown(package)
        yield from _not_read(package)


def documents(package: Package, code: str) -> Iterator[Finding]:
    """A finding of some code where a submission has members, but none that is a document."""
    if package.submission.members and not package.found:
        yield finding(code, file=package.submission.path)


def _two_files(found: Mapping[str, Sequence[Member]]) -> Iterator[Finding]:
    for document, members in found.items():
        for suffix in (*GIVEN, ASKED):
            files = [member for member in members if member.name.endswith(suffix)]
            for member in files[1:]:
                yield finding(
                    "SEE408", file=member.display, document=document, other=files[0].display
                )


def _missing(package: Package) -> Iterator[Finding]:
    unknown = [document for document in package.found if document not in package.expected]
    for document in package.expected:
        if document not in package.found:
            hint = _nearest(document, unknown, "is {} meant for it?")
            hint = hint or "add the file, or an empty one if nothing is predicted"
            yield finding("SEE401", file=package.submission.path, document=document, hint=hint)


def _unknown(package: Package) -> Iterator[Finding]:
    missing = [document for document in package.expected if document not in package.found]
    for document, members in package.found.items():
        if document not in package.expected:
            hint = (
                _nearest(document, missing, "did you mean {}?")
                or "rename the file after a document of the task"
            )
            yield finding("SEE402", file=members[0].display, document=document, hint=hint)


def _nearest(document: str, names: Iterable[str], form: str) -> str:
    """A name that differs in a letter or two; longer names of a corpus are all much alike."""
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    near = process.extractOne(
        document,
        list(names),
        scorer=DamerauLevenshtein.distance,
        processor=str.lower,
        score_cutoff=2,
    )
    return form.format(near[0]) if near else ""


def _not_read(package: Package) -> Iterator[Finding]:
    """The files of a submission that hold no predictions, or that lie where none are looked for."""
    read = {member.name for members in package.found.values() for member in members}
    given = {member.basename: member for members in package.expected.values() for member in members}
    for member in package.submission.members:
        if member.name in read:
            continue
        if member.name.endswith(ASKED):
            folder = member.display.rpartition("/")[0]
            yield finding("SEE405", file=member.display, folder=folder)
        elif member.name.endswith(GIVEN) and member.basename in given:
            same = _content(member) == _content(given[member.basename])
            yield finding("SEE406" if same else "SEE407", file=member.display)
        else:
            yield finding("SEE404", file=member.display, hint=_stray(member))


def _content(member: Member) -> bytes | None:
    try:
        return member.fetch()
    except Unreadable:
        return None


def _stray(member: Member) -> str:
    stem, _, suffix = member.basename.rpartition(".")
    if f".{suffix.lower()}" == ASKED:
        return f"rename it to {stem}{ASKED}, with a lower-case suffix"
    if suffix.lower() in {"ann", "a2~", "bak"} or ASKED in member.basename:
        return f"rename it to <document>{ASKED} if it contains predictions"
    return "remove it; only files whose names end in .a2 are read as predictions"
