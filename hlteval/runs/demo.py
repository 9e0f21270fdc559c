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
    reference, flawed, system = (f"{folder}/{name}" for name in ("reference", "flawed", "system"))
    return [
        ["hlteval", "validate", "seedev-full", flawed, "--against", reference],
        ["hlteval", "explain", "SEE205"],
        [
            "hlteval",
            "score",
            "seedev-full",
            "-r",
            reference,
            "-s",
            system,
            "-o",
            f"{folder}/scores",
        ],
        ["hlteval", "score", "seedev-full", "-r", reference, "-s", system, "--profile", "official"],
        ["hlteval", "convert", system, f"{folder}/system.jsonl"],
    ]
