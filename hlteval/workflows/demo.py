"""The demonstration: example files of the package, and commands that use them."""

from __future__ import annotations

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from hlteval.sources.disk import written
from hlteval.sources.writing import finish, merge, unfinished


def unpack(folder: Path) -> None:
    """Copy the example files into a folder, all of them or none; existing files stay.

    Raises:
        FileExistsError: if a file is in the way.
        NotWritten: if the system refuses it, as a full disk does.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    with written(folder):
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with unfinished(folder) as made:
        _copy(resources.files("hlteval") / "demo", made, folder)
        if folder.is_dir():
            merge(made, folder)
        else:
            finish(made, folder)


def _copy(source: Traversable, target: Path, existing: Path) -> None:
    """Copy a folder, but for the files that exist in another one."""
    target.mkdir()
    for entry in source.iterdir():
        there = existing / entry.name
        if entry.is_dir():
            _copy(entry, target / entry.name, there)
        elif not there.exists():
            (target / entry.name).write_bytes(entry.read_bytes())


def commands(folder: str) -> list[list[str]]:
    """The commands of the demonstration as lists of words, for the example files in a folder."""
    lines = (
        "validate seedev-full {}/flawed --against {}/reference",
        "explain SEE205",
        "score seedev-full -r {}/reference -s {}/system -o {}/scores",
        "score seedev-full -r {}/reference -s {}/system --profile official",
        "validate lorehlt-edl {}/entities/flawed.tab --against {}/entities/texts",
        "score hub4 -r {}/templettes/reference.tpl -s {}/templettes/system.tpl --mode both",
        "convert {}/system {}/system.jsonl --force",
    )
    return [["hlteval", *(word.replace("{}", folder) for word in line.split())] for line in lines]
