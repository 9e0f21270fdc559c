"""Rules of EDL about a submission as a package: a flat tarball with one .tab file (EDL1xx)."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from hlteval.converters.edl import neleval
from hlteval.converters.edl.edl_tab import SUFFIX, files, sniff
from hlteval.findings import Finding, finding
from hlteval.sources import Source
from hlteval.validators.edl.packing import NAME
from hlteval.validators.packages import Package, entity_header

ARCHIVES = {"zip", "tgz"}
_NAMED = 3
_SUFFIXES = re.compile(r"\.(?:tgz|tar\.gz|zip)$", re.IGNORECASE)


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package."""
    source = package.submission
    if neleval.sniff(source) and not sniff(source):
        return  # not a submission, but made from one for the scorer
    tables = files(source)
    yield from (found for member in tables for found in entity_header(member))
    if len(tables) > 1:
        names = [member.name for member in tables[:_NAMED]] + ["…"] * (len(tables) > _NAMED)
        yield finding("EDL105", file=source.path, count=len(tables), names=", ".join(names))
    for member in tables:
        if source.kind != "stdin" and not member.basename.endswith(SUFFIX):
            yield finding("EDL108", file=member.display)
    for member in source.members:
        if member not in tables:
            yield finding("EDL109", file=member.display)
    yield from archive_name(source)
    if source.kind not in ARCHIVES:
        return
    if source.kind == "zip":
        yield finding("EDL106", file=source.path)
    for member in tables:
        path = PurePosixPath(member.name)
        if len(path.parts) > 1:
            folder, base = str(path.parent), path.name
            yield finding("EDL107", file=member.display, name=member.name, folder=folder, base=base)
    stem = _SUFFIXES.sub("", PurePosixPath(source.path).name)
    inner = tables[0].basename if len(tables) == 1 and source.has_name else stem
    if inner not in {stem, f"{stem}{SUFFIX}"}:
        outer = f"{stem.removesuffix(SUFFIX)}.tab"
        yield finding("EDL110", file=source.path, inner=inner, outer=outer)


def archive_name(source: Source) -> Iterator[Finding]:
    """The finding about the name of an archive.

    Args:
        source: the submission.
    """
    name = PurePosixPath(source.path).name
    if source.kind in ARCHIVES and source.has_name and not NAME.fullmatch(_SUFFIXES.sub("", name)):
        yield finding("EDL111", file=source.path, name=name)
