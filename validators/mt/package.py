"""Rules of machine translation about a submission as a package (MTV101 to MTV104)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from hlteval.converters.mt import lorehlt_mt
from hlteval.findings import Finding, entry, finding
from hlteval.findings.suggest import closest_files
from hlteval.sources import Member, Source
from hlteval.validators.packages import Package

SUFFIX = ".ltf.xml"
_ARCHIVES = {"zip", "tgz"}
_SUFFIXES = (".tgz", ".zip")


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package; its files have the names of the input."""
    source = package.submission
    if source.corpus is not None:
        return
    if source.members and not package.found and not any(map(_is_xml, source.members)):
        yield finding("MTV101", file=source.path)
    else:
        yield from _other_files(package)
    if source.kind in _ARCHIVES:
        yield from _folders(source)
    yield from named(source)


def named(source: Source) -> Iterator[Finding]:
    """What is wrong with the name of an archive.

    Args:
        source: the submission.
    """
    archive = source.kind in _ARCHIVES and source.has_name
    if archive and not source.path.endswith(_SUFFIXES):
        yield finding("MTV104", file=source.path, name=PurePosixPath(source.path).name)


def _other_files(package: Package) -> Iterator[Finding]:
    """The files whose names are not those of input files.

    Where nothing else is read, such a file blocks: there is nothing to score.
    """
    source = package.submission
    if source.kind == "stdin":
        return
    known = _input_names(package)
    read = {member.name for members in package.found.values() for member in members}
    strange = [
        member
        for member in source.members
        if member.name not in read or (known and member.basename not in known)
    ]
    # A name that one of a part of the input is like may be that of another input file.
    meant = closest_files(
        [member.basename for member in strange],
        [name for name in package.expected if name],
        distance=1 if known else 0,
    )
    for member in strange:
        values = {"name": member.basename, "hint": _hint(member, meant.get(member.basename, ""))}
        blocking = not package.found
        yield entry("MTV102").finding(values, file=member.display, blocking=blocking)


def _input_names(package: Package) -> set[str]:
    """The names of the input files; none where these are unknown, or all in one file.

    Reference translations are of a part of the input.
    """
    if package.reference is None or lorehlt_mt.sniff(package.reference):
        return set()
    return {f"{name}{SUFFIX}" for name in package.expected if name}


def _hint(member: Member, meant: str) -> str:
    """How to correct the name of a file."""
    stem = member.basename.partition(".")[0]
    if meant:
        return f"rename it to {meant}{SUFFIX}, the name of the input file"
    if member.basename.endswith(SUFFIX):
        return "use the name of the input file, or remove the file"
    if _is_xml(member):
        return f"rename it to {stem}{SUFFIX} if it is a translation, or remove it"
    return "remove it; a submission contains only translations"


def _is_xml(member: Member) -> bool:
    return ".xml" in member.basename.lower()


def _folders(source: Source) -> Iterator[Finding]:
    """The findings about the folders of an archive."""
    folders: dict[str, int] = {}
    for member in source.members:
        path = PurePosixPath(member.name)
        if len(path.parts) > 1:
            folders[str(path.parent)] = folders.get(str(path.parent), 0) + 1
    for folder, count in folders.items():
        yield finding("MTV103", file=source.path, folder=folder, count=count)


def accepted_codes(options: Mapping[str, str]) -> frozenset[str]:
    """The codes of missing translations, where these are scored as empty ones.

    Examples:
        >>> sorted(accepted_codes({"missing": "empty"})), sorted(accepted_codes({}))
        (['MTV201', 'MTV301'], [])
    """
    return frozenset({"MTV201", "MTV301"} if options.get("missing") == "empty" else ())
