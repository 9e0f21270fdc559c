"""The parts of a signature: digests of files, and values of options in one line."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from hlteval.sources import sha256


def digest(files: list[tuple[str, str]]) -> str:
    """One digest of several files: of their names without folders and their own digests, sorted."""
    lines = sorted(f"{name.rpartition('/')[2]} {own}\n" for name, own in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def option_value(value: str) -> str:
    """An option's value in one line: of a file its digest, else the value."""
    if not os.path.isfile(value):  # noqa: PTH113 - a Path raises for what is too long for a name
        return value.replace("|", " ")
    return sha256(Path(value).read_bytes())[:16]
