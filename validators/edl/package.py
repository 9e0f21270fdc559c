"""Rules of EDL about a submission as a package: a flat tarball with one .tab file (EDL1xx)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from hlteval.converters.edl import neleval
from hlteval.converters.edl.edl_tab import SUFFIX, files, sniff
from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source
from hlteval.validators.edl.packing import NAME
from hlteval.validators.packages import Package, entity_header

ARCHIVES = {"zip", "tgz"}
_NAMED = 3


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package."""
    source = package.submission
    if neleval.sniff(source) and not sniff(source):
        return  # not a submission, but made from one for the scorer
    tables = files(source)
    yield from (found for member in tables for found in entity_header(member))
    yield from _names(source, tables)
    yield from named(source)
    if source.kind in ARCHIVES:
        yield from _archive(source, tables)


def named(source: Source) -> Iterator[Finding]:
    """What is wrong with the name of an archive.

    Args:
        source: the submission.
    """
    if source.kind in ARCHIVES and source.has_name:
        outer = PurePosixPath(source.path).name
        if not NAME.fullmatch(_stem(outer)):
            yield finding("EDL111", file=source.path, name=outer)


def _stem(name: str) -> str:
    """The name of an archive without its suffix."""
    return re.sub(r"\.(?:tgz|tar\.gz|zip)$", "", name, flags=re.IGNORECASE)


def _names(source: Source, tables: Sequence[Member]) -> Iterator[Finding]:
    """Files beside the one file, and its name."""
    if len(tables) > 1:
        names = ", ".join(member.name for member in tables[:_NAMED])
        more = ", …" if len(tables) > _NAMED else ""
        yield finding("EDL105", file=source.path, count=len(tables), names=names + more)
    for member in tables:
        if source.kind != "stdin" and not member.basename.endswith(SUFFIX):
            yield finding("EDL108", file=member.display)
    for member in source.members:
        if member not in tables:
            yield finding("EDL109", file=member.display)


def _archive(source: Source, tables: Sequence[Member]) -> Iterator[Finding]:
    """The findings about the kind of an archive and what is in it."""
    if source.kind == "zip":
        yield finding("EDL106", file=source.path)
    for member in tables:
        path = PurePosixPath(member.name)
        if len(path.parts) > 1:
            folder, base = str(path.parent), path.name
            yield finding("EDL107", file=member.display, name=member.name, folder=folder, base=base)
    if not source.has_name:
        return
    stem = _stem(PurePosixPath(source.path).name)
    if len(tables) == 1 and tables[0].basename not in {stem, f"{stem}{SUFFIX}"}:
        inner = tables[0].basename
        yield finding(
            "EDL110", file=source.path, inner=inner, outer=f"{stem.removesuffix(SUFFIX)}.tab"
        )
