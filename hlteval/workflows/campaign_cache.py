"""The cache of a campaign: the result of each cell by the digest of all that it depends on.

A file takes its name when it is complete, and a file that does not have its own digest is none: so
runs at the same time, and runs that are killed, leave nothing that another run could take wrongly.
Paths are not part of a digest: findings name files below `{submission}` and `{reference}`, which
are replaced by the paths of the cell that takes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import msgspec

from hlteval import __version__
from hlteval.extensions import FORMATS, RULES, TASKS
from hlteval.results.campaign import Cell, CellResult
from hlteval.sources.writing import writing
from hlteval.tasks import load
from hlteval.workflows.signatures import names_file

LAYOUT = 1
"""Of the entries; another one is another digest."""
_PLACES = ("{submission}", "{reference}")
_LIBRARIES = ("numpy", "polars", "pycocoevalcap", "rapidfuzz", "sacrebleu", "scipy")
"""The libraries that numbers come from."""
_EXTENSIONS = (FORMATS, RULES, TASKS)


@cache
def versions() -> dict[str, str]:
    """The versions of all that computes: hlteval, libraries, and packages that extend it.

    Examples:
        >>> "hlteval" in versions(), "polars" in versions()
        (True, True)
    """
    found = {"hlteval": __version__}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    points = [point for group in _EXTENSIONS for point in metadata.entry_points(group=group)]
    return found | {point.dist.name: point.dist.version for point in points if point.dist}


class Input(NamedTuple):
    """What the result of a cell depends on.

    Attributes:
        path: path or URL.
        encoding: of the files.
        reference_of: the task that reads some files only of a reference; empty for all files.
    """

    path: str
    encoding: str
    reference_of: str = ""


def inputs_of(cell: Cell) -> dict[str, list[Input]]:
    """What the result of a cell depends on: its sides, and the files of its options."""
    paths = {"system": [cell.system], "reference": [cell.reference] if cell.reference else []}
    for option in load(cell.task).options:
        if option.name in cell.options and (option.is_input or names_file(option)):
            value = cell.options[option.name]
            paths[f"--{option.flag}"] = value.split() if option.repeatable else [value]
    partly = cell.task if load(cell.task).reference_files else ""
    return {
        side: [Input(path, cell.encoding, partly if side == "reference" else "") for path in each]
        for side, each in paths.items()
    }


def key(cell: Cell, digests: Mapping[Input, str | None]) -> str:
    """The digest of all that the result of a cell depends on; empty where an input is not there.

    Args:
        cell: the cell.
        digests: of all inputs.
    """
    found = {side: [digests[item] for item in each] for side, each in inputs_of(cell).items()}
    if any(own is None for each in found.values() for own in each):
        return ""
    values = {
        name: value for name, value in cell.options.items() if f"--{_flag(name)}" not in found
    }
    drawn = (cell.resamples, cell.confidence, cell.seed) if cell.resamples else None
    parts = {
        "versions": versions(), "layout": LAYOUT, "task": cell.task, "profile": cell.profile,
        "lenient": cell.lenient, "encoding": cell.encoding, "options": values, "inputs": found,
        "drawn": drawn, "ranked": cell.ranked,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _flag(name: str) -> str:
    return name.replace("_", "-")


@dataclass(frozen=True)
class Cache:
    """Results in a folder.

    Attributes:
        folder: the folder.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """The file of a result."""
        return self.folder / key[:2] / f"{key}.msgpack"

    def get(self, key: str, cell: Cell, shown: Callable[[str], str]) -> CellResult | None:
        """The result of a cell; None if there is none, or its file is damaged.

        Args:
            key: its digest.
            cell: the cell.
            shown: gives a path as findings have it.
        """
        result = self.whole(key)
        if result is None:
            return None
        shown_sides = map(shown, _sides(cell))
        return placed(result.without_counts, dict(zip(_PLACES, shown_sides, strict=True)))

    def whole(self, key: str) -> CellResult | None:
        """A result with what was counted, and without the paths of findings."""
        try:
            digest, _, content = self.path(key).read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest().encode() != digest:
            return None
        return msgspec.msgpack.decode(content, type=CellResult)

    def put(self, key: str, cell: Cell, result: CellResult) -> None:
        """Keep the result of a cell.

        Raises:
            NotWritten: if the disk refuses it.
        """
        content = msgspec.msgpack.encode(
            placed(result, dict(zip(_sides(cell), _PLACES, strict=True)))
        )
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as unfinished:
            digest = hashlib.sha256(content).hexdigest().encode()
            unfinished.write_bytes(digest + b"\n" + content)


def _sides(cell: Cell) -> tuple[str, str]:
    return cell.system, cell.reference


def placed(result: CellResult, paths: Mapping[str, str]) -> CellResult:
    """A result whose findings are in files below other paths.

    Args:
        result: the result.
        paths: the new path by the old one.
    """
    findings = tuple(
        msgspec.structs.replace(finding, file=_moved(finding.file, paths))
        for finding in result.findings
    )
    return msgspec.structs.replace(result, findings=findings)


def _moved(file: str | None, paths: Mapping[str, str]) -> str | None:
    """A path below one of some folders, below its new one.

    Examples:
        >>> _moved("/runs/a/d1.a2", {"/runs/a": "runs/b"}), _moved("/runs/ab", {"/runs/a": "b"})
        ('runs/b/d1.a2', '/runs/ab')
    """
    for old, new in sorted(paths.items(), key=lambda item: -len(item[0])) if file else ():
        if file and old and (file == old or file.startswith(f"{old.rstrip('/')}/")):
            return new.rstrip("/") + file[len(old.rstrip("/")) :]
    return file
