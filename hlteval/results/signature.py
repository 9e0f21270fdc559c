"""Parts of a signature: digests of files, and values of options in one line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from hlteval.sources import sha256


def digest(files: Iterable[tuple[str, str]]) -> str:
    """One digest of files, given as (path, SHA-256 digest), independent of folder and order."""
    lines = sorted(f"{name.rpartition('/')[2]} {own}\n" for name, own in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def one_line(value: str) -> str:
    """The value of an option for a signature: the digest of a file, or else the value itself."""
    if not os.path.isfile(value):  # noqa: PTH113 - a Path raises for what is too long for a name
        return value.replace("|", " ")
    return sha256(Path(value).read_bytes())[:16]
