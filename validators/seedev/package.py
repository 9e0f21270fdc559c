"""Rules of SeeDev about a folder or archive of .a2 files (SEE401 to SEE408)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hlteval.findings import Finding, finding
from hlteval.findings.suggest import closest_files
from hlteval.sources import Member, Unreadable
from hlteval.validators.packages import Package

PROVIDED, PREDICTED = (".txt", ".a1"), ".a2"


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package."""
    yield from _two_files(package.found)
    if package.reference is not None:
        yield from _missing_and_unknown(package)
        yield from _not_read(package)


def _two_files(found: Mapping[str, Sequence[Member]]) -> Iterator[Finding]:
    for document, members in found.items():
        for suffix in (*PROVIDED, PREDICTED):
            files = [member for member in members if member.name.endswith(suffix)]
            for member in files[1:]:
                other = files[0].display
                yield finding("SEE408", file=member.display, document=document, other=other)


def _missing_and_unknown(package: Package) -> Iterator[Finding]:
    missing = [document for document in package.expected if document not in package.found]
    unknown = [document for document in package.found if document not in package.expected]
    # Longer names of a corpus are all much alike, so only a letter or two may differ.
    meant_by = closest_files(missing, unknown, distance=2)
    for document in missing:
        hint = "add the file, or an empty one if nothing is predicted"
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
        return f"rename it to <document>{PREDICTED} if it contains predictions"
    return "remove it; only files whose names end in .a2 are read as predictions"
