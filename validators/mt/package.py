"""Machine translation as a package: its rules (MTV101 to MTV104), and how it is packed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from hlteval.converters.mt import lorehlt_mt
from hlteval.findings import Finding, entry, finding
from hlteval.findings.suggest import closest_files
from hlteval.sources import Member, Source
from hlteval.validators.packages import Arranged, Package, rename_files

SUFFIX = ".ltf.xml"
_ARCHIVES = {"zip", "tgz"}
_SUFFIXES = (".tgz", ".zip")
_XML = re.compile(r"(?:\.ltf)?\.xml", re.IGNORECASE)


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package; its files have the names of the input."""
    source = package.submission
    if source.corpus is not None:
        return
    if source.members and not package.found and not any(map(_is_xml, source.members)):
        yield finding("MTV101", file=source.path)
    elif source.kind != "stdin":
        yield from _other_files(package)
    if source.kind in _ARCHIVES:
        folders = Counter(str(PurePosixPath(member.name).parent) for member in source.members)
        for folder, count in folders.items():
            if folder != ".":
                yield finding("MTV103", file=source.path, folder=folder, count=count)
    yield from archive_name(source)


def archive_name(source: Source) -> Iterator[Finding]:
    """The finding about the name of an archive.

    Args:
        source: the submission.
    """
    archive = source.kind in _ARCHIVES and source.has_name
    if archive and not source.path.endswith(_SUFFIXES):
        yield finding("MTV104", file=source.path, name=PurePosixPath(source.path).name)


def _other_files(package: Package) -> Iterator[Finding]:
    """The files whose names are not those of input files.

    The names are unknown where all of the input is in one file, or where there are reference
    translations, which are of a part of the input. Where nothing else is read, such a file blocks:
    there is nothing to score.
    """
    names = [name for name in package.expected if name]
    unknown = package.reference is None or lorehlt_mt.sniff(package.reference)
    known = set() if unknown else {f"{name}{SUFFIX}" for name in names}
    read = {member.name for members in package.found.values() for member in members}
    strange = [
        member
        for member in package.submission.members
        if member.name not in read or (known and member.basename not in known)
    ]
    # A name that one of a part of the input is like may be that of another input file.
    distance = 1 if known else 0
    meant = closest_files([member.basename for member in strange], names, distance=distance)
    for member in strange:
        stem = member.basename.partition(".")[0]
        if member.basename in meant:
            hint = f"rename it to {meant[member.basename]}{SUFFIX}, the name of the input file"
        elif member.basename.endswith(SUFFIX):
            hint = "use the name of the input file, or remove the file"
        elif _is_xml(member):
            hint = f"rename it to {stem}{SUFFIX} if it is a translation, or remove it"
        else:
            hint = "remove it; a submission contains only translations"
        values = {"name": member.basename, "hint": hint}
        yield entry("MTV102").finding(values, file=member.display, blocking=not package.found)


def _is_xml(member: Member) -> bool:
    return _XML.search(member.basename) is not None


def accepted_codes(options: Mapping[str, str]) -> frozenset[str]:
    """The codes of missing translations, where these are scored as empty ones.

    Examples:
        >>> sorted(accepted_codes({"missing": "empty"})), sorted(accepted_codes({}))
        (['MTV201', 'MTV301'], [])
    """
    return frozenset({"MTV201", "MTV301"} if options.get("missing") == "empty" else ())


def arrange(stem: str, source: Source) -> Arranged:  # noqa: ARG001 - the name may be any
    """The XML files without folders, with the suffix of the input.

    Args:
        stem: the name of the archive without its suffix.
        source: the files of the user.
    """
    documents = filter(_is_xml, source.members)
    return rename_files(
        source, {member.name: named_as_input(member.basename) for member in documents}
    )


def named_as_input(name: str) -> str:
    """The name of the input of a file.

    Examples:
        >>> named_as_input("NW_X_1.xml"), named_as_input("NW_X_1.ltf.xml")
        ('NW_X_1.ltf.xml', 'NW_X_1.ltf.xml')
    """
    found = _XML.search(name)
    ends = found is not None and found.end() == len(name)
    return f"{name[: found.start()]}{SUFFIX}" if found and ends else name
