"""Listing: what an archive names, also if it is rejected and nothing of it may be read."""

from __future__ import annotations

from contextlib import suppress

from hlteval.sources.limits import Limits
from hlteval.sources.names import printable
from hlteval.sources.source import Listed, Unreadable
from hlteval.sources.spooling import Spool
from hlteval.sources.tarballs import list_tgz
from hlteval.sources.zips import list_zip


def listing(file: Spool, kind: str, limits: Limits) -> tuple[Listed, ...]:
    """Everything that the list of an archive names, in its order, up to where it is damaged.

    Args:
        file: the archive.
        kind: `zip` or `tgz`.
        limits: the limits of an archive.
    """
    entries = list_zip(file, "", limits) if kind == "zip" else list_tgz(file, "", limits, [])
    found = []
    with suppress(Unreadable, OSError):
        for entry in entries:
            found.append(Listed(printable(entry.name), entry.type, entry.size))
    return tuple(found)
