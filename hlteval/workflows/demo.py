"""The demonstration: files that come with the package, and what to do with them."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path


def unpack(folder: Path) -> None:
    """Put the example files into a folder; files that are there already stay as they are."""
    _copy(resources.files("hlteval") / "demo", folder)


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        place = target / entry.name
        if entry.is_dir():
            _copy(entry, place)
        elif not place.exists():
            place.write_bytes(entry.read_bytes())


def commands(folder: str) -> list[list[str]]:
    """What the demonstration does with the files in a folder, as a user would type it."""
    typed = (
        "validate seedev-full {}/flawed --against {}/reference",
        "explain SEE205",
        "score seedev-full -r {}/reference -s {}/system -o {}/scores",
        "score seedev-full -r {}/reference -s {}/system --profile official",
        "validate lorehlt-edl {}/entities/flawed.tab --against {}/entities/texts",
        "score hub4 -r {}/templettes/reference.tpl -s {}/templettes/system.tpl --mode both",
        "convert {}/system {}/system.jsonl",
    )
    return [["hlteval", *(word.replace("{}", folder) for word in line.split())] for line in typed]
