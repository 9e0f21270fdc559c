"""Rules about a folder or archive of .a2 files (SEE401 to SEE410)."""

from collections.abc import Container, Iterator, Mapping

from hlteval.findings import Finding, finding
from hlteval.findings.counts import enumeration
from hlteval.findings.suggest import closest_files
from hlteval.sources import Member, Unreadable
from hlteval.validators.packages import Package

PROVIDED, PREDICTED = (".txt", ".a1"), ".a2"
#: Suffixes of files that are not text, whatever they are called.
_OFFICE = {"xlsx", "xls", "ods", "docx", "doc", "odt", "pdf"}


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package."""
    yield from _several_files(package)
    if package.reference is None:
        return
    read = {member.name for members in package.found.values() for member in members}
    unread = [member for member in package.submission.members if member.name not in read]
    inputs = {member.basename: member for each in package.expected.values() for member in each}
    missing = {document for document in package.expected if document not in package.found}
    nested = {
        document: member
        for member in unread
        if member.name.endswith(PREDICTED)
        and (document := member.basename.removesuffix(PREDICTED)) in missing
    }
    others = {
        document: member
        for member in unread
        if (document := member.basename.rpartition(".")[0]) in missing
        and "/" not in member.name
        and not member.name.endswith(PREDICTED)
        and not _is_copy(member, inputs)
    }
    folders = {member.display.rpartition("/")[0] for member in nested.values()}
    folder = folders.pop() if len(folders) == 1 and not package.found else ""
    if folder:
        path, name = package.submission.path, folder.rpartition("/")[2]
        yield finding("SEE410", file=path, count=len(nested), folder=folder, name=name)
        missing -= nested.keys()
    hints = {document: _rename(member, member.basename) for document, member in others.items()}
    for document, member in nested.items():
        hints[document] = f"move {member.display} to the top level"
    yield from _documents(package, missing, hints)
    predictions = {member.name for member in others.values()}
    for member in unread:
        inside = member.display.rpartition("/")[0]
        if member.name.endswith(PREDICTED):
            if inside != folder:
                yield finding("SEE405", file=member.display, folder=inside)
        elif member.name in predictions:
            yield finding("SEE404", file=member.display, hint=_rename(member, "it"))
        elif member.name.endswith(PROVIDED) and member.basename in inputs:
            code = "SEE406" if _is_copy(member, inputs) else "SEE407"
            yield finding(code, file=member.display)
        else:
            yield finding("SEE404", file=member.display, hint=_hint(member))


def _several_files(package: Package) -> Iterator[Finding]:
    """The files of documents that have several, and the folders if these are several runs."""
    several: dict[tuple[str, ...], int] = {}
    for document, members in package.found.items():
        for suffix in (*PROVIDED, PREDICTED):
            files = [member for member in members if member.name.endswith(suffix)]
            for member in files[1:]:
                other = files[0].display
                yield finding("SEE408", file=member.display, document=document, other=other)
            if len(files) > 1 and suffix == PREDICTED:
                folders = tuple(member.name.rpartition("/")[0] for member in files)
                several[folders] = several.get(folders, 0) + 1
    if len(several) != 1:
        return
    ((folders, documents),) = several.items()
    if documents > 1 and len(set(folders)) == len(folders):
        names = [folder or "the top level" for folder in folders]
        path, runs = package.submission.path, enumeration(names)
        yield finding("SEE409", file=path, count=len(folders), runs=runs, documents=documents)


def _documents(
    package: Package, missing: Container[str], hints: Mapping[str, str]
) -> Iterator[Finding]:
    """The documents of the task without a file, and the files of other documents.

    Args:
        package: the submission.
        missing: the documents that are reported as missing.
        hints: how to correct this, where there may be a file.
    """
    absent = [document for document in package.expected if document not in package.found]
    unknown = [document for document in package.found if document not in package.expected]
    # Longer names of a corpus are all much alike, so only a letter or two may differ.
    meant_by = closest_files(absent, unknown, distance=2)
    for document in absent:
        hint = hints.get(document, "add the file, or an empty one if nothing is predicted")
        if document in meant_by:
            hint = f"rename {meant_by[document]}{PREDICTED} if it is meant for this document"
        if document in missing:
            yield finding("SEE401", file=package.submission.path, document=document, hint=hint)
    meant = closest_files(unknown, absent, distance=2)
    for document in unknown:
        hint = "rename the file after a document of the task"
        if document in meant:
            hint = f"did you mean {meant[document]}?"
        file = package.found[document][0].display
        yield finding("SEE402", file=file, document=document, hint=hint)


def _is_copy(member: Member, inputs: Mapping[str, Member]) -> bool:
    """Whether a file has the name and the content of a file of the task."""
    original = inputs.get(member.basename)
    return original is not None and _content(member) == _content(original)


def _content(member: Member) -> bytes | None:
    try:
        return member.fetch()
    except Unreadable:
        return None


def _rename(member: Member, name: str) -> str:
    """The fix of a file with another suffix, which is called by a name in it."""
    stem, _, suffix = member.basename.rpartition(".")
    if suffix.lower() in _OFFICE:
        return f"save {name} as plain text, as {stem}{PREDICTED}, if it contains predictions"
    return f"rename {name} to {stem}{PREDICTED} if it contains predictions"


def _hint(member: Member) -> str:
    stem, _, suffix = member.basename.rpartition(".")
    if f".{suffix.lower()}" == PREDICTED:
        return f"rename it to {stem}{PREDICTED}, with a lower-case suffix"
    if suffix.lower() in {"ann", "a2~", "bak"} or PREDICTED in member.basename:
        name = member.basename.partition(PREDICTED)[0] if PREDICTED in member.basename else stem
        return f"rename it to {name}{PREDICTED} if it contains predictions"
    return "remove it; only files whose names end in .a2 are read as predictions"
