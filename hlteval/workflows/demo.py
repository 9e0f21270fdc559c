"""The demonstration: example files of the package, and commands that use them."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from hlteval.sources import writing
from hlteval.sources.disk import written


def unpack(folder: Path) -> None:
    """Copy the example files into a folder; existing files are not overwritten."""
    _copy(resources.files("hlteval") / "demo", folder)


def _copy(source: Traversable, target: Path) -> None:
    with written(target):
        target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        path = target / entry.name
        if entry.is_dir():
            _copy(entry, path)
        elif not path.exists():
            with writing(path) as unfinished:
                unfinished.write_bytes(entry.read_bytes())


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
