"""Rules of LoReHLT situation frames about a submission as a package (LSF102 to LSF107)."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from hlteval.converters.situations.lorehlt import lorehlt_sf_json
from hlteval.findings import Finding, finding
from hlteval.sources import Source
from hlteval.sources.archives import first_names
from hlteval.validators.packages import Package, entity_header

_ARCHIVES = {"zip", "tgz"}
_SUFFIXES = (".tgz", ".zip")


def findings(package: Package) -> Iterator[Finding]:
    """The findings about a submission as a package; a single file is the frames alone."""
    source = package.submission
    frames, tables = lorehlt_sf_json.frames_member(source), lorehlt_sf_json.entity_members(source)
    for member in tables:
        yield from entity_header(member)
    if source.kind not in {"folder", *_ARCHIVES} or frames is None:
        return
    if not tables:
        yield finding("LSF102", file=source.path)
    if len(tables) > 1:
        names = first_names([member.name for member in tables])
        yield finding("LSF103", file=source.path, count=len(tables), names=names)
    if frames.basename != lorehlt_sf_json.NAME:
        yield finding("LSF106", file=frames.display, name=frames.basename)
    for member in source.members:
        if member not in (frames, *tables):
            yield finding("LSF104", file=member.display)
    yield from named(source)
    for member in (frames, *tables) if source.kind in _ARCHIVES else ():
        path = PurePosixPath(member.name)
        if len(path.parts) > 1:
            folder = str(path.parent)
            yield finding("LSF105", file=member.display, folder=folder, base=path.name)


def named(source: Source) -> Iterator[Finding]:
    """Find an archive whose name has another suffix.

    Args:
        source: the submission.
    """
    if source.kind in _ARCHIVES and source.has_name and not source.path.endswith(_SUFFIXES):
        yield finding("LSF107", file=source.path, name=PurePosixPath(source.path).name)
