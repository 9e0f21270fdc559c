"""Rules of LoReHLT situation frames about a submission as a package (LSF102 to LSF107)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from hlteval.converters.situations.lorehlt.lorehlt_sf_json import (
    NAME,
    entity_members,
    frames_member,
)
from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source
from hlteval.sources.archives import first_names
from hlteval.validators.packages import Package, entity_header

_ARCHIVES = {"zip", "tgz"}
_SUFFIXES = (".tgz", ".zip")


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package; a single file is the frames alone."""
    source = package.submission
    frames, tables = frames_member(source), entity_members(source)
    for member in tables:
        yield from entity_header(member)
    if source.kind not in {"folder", *_ARCHIVES} or frames is None:
        return
    yield from _files(source, frames, tables)
    yield from named(source)
    if source.kind in _ARCHIVES:
        yield from _folders([frames, *tables])


def _files(source: Source, frames: Member, tables: Sequence[Member]) -> Iterator[Finding]:
    """What is missing beside the frames, and what is too much."""
    if not tables:
        yield finding("LSF102", file=source.path)
    if len(tables) > 1:
        names = first_names([member.name for member in tables])
        yield finding("LSF103", file=source.path, count=len(tables), names=names)
    if frames.basename != NAME:
        yield finding("LSF106", file=frames.display, name=frames.basename)
    for member in source.members:
        if member not in (frames, *tables):
            yield finding("LSF104", file=member.display)


def _folders(read: Sequence[Member]) -> Iterator[Finding]:
    """The findings about the folders of an archive."""
    for member in read:
        path = PurePosixPath(member.name)
        if len(path.parts) > 1:
            folder = str(path.parent)
            yield finding("LSF105", file=member.display, folder=folder, base=path.name)


def named(source: Source) -> Iterator[Finding]:
    """What is wrong with the name of an archive.

    Args:
        source: the submission.
    """
    if source.kind in _ARCHIVES and source.has_name and not source.path.endswith(_SUFFIXES):
        yield finding("LSF107", file=source.path, name=PurePosixPath(source.path).name)
