"""Records of a pipeline: the logs of each submission, which are its state.

A record begins with lines `name: value`, up to an empty line; what follows is for people. It is
written in one step after what it is about, and says of what it is the result by a key: the digest
of all that the result depends on. Whoever finds a record with the key that he expects has nothing
to do.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hlteval import __version__
from hlteval.sources import writing
from hlteval.sources.names import printable
from hlteval.sources.writing import finish, hidden_path, remove_unfinished
from hlteval.workflows.deposits import Deposit, Stamp, stamp

LOGS, RESULTS, WITHDRAWN = "logs", "results", "withdrawn"
_STATUS = ".status.txt"
Step = Literal["validation", "score"]
STEPS: tuple[Step, ...] = ("validation", "score")
_HEAD = 1 << 16
"""Bytes of a record in which its lines `name: value` are."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Records:
    """The logs and results below the root of an evaluation.

    Attributes:
        root: the folder.
    """

    root: Path

    def prepare(self) -> None:
        """Make the folders, and remove what an interrupted run left unfinished."""
        for name in (LOGS, RESULTS):
            folder = self.root / name
            folder.mkdir(exist_ok=True)
            remove_unfinished(folder)

    def path(self, deposit: Deposit, step: Step | Literal["status"]) -> Path:
        """The path of a log."""
        return self.root / LOGS / f"{deposit.identifier}.{step}.txt"

    def results(self, deposit: Deposit) -> Path:
        """The folder of the scores."""
        return self.root / RESULTS / deposit.identifier

    def read(self, deposit: Deposit, step: Step | Literal["status"]) -> Mapping[str, str]:
        """The values of a record; none if it is not there."""
        return read_record(self.path(deposit, step))

    def write(
        self, deposit: Deposit, step: Step | Literal["status"], values: Mapping[str, str], text: str
    ) -> None:
        """Write a record in one step, unless it is there already."""
        lines = [f"{name}: {printable(value)}\n" for name, value in values.items() if value]
        content = "".join([*lines, "\n" if text else "", text])
        data = content.encode("utf-8", "backslashreplace")
        path = self.path(deposit, step)
        if path.is_symlink():  # nothing is written where somebody else leads to
            path.unlink()
        if not path.is_file() or path.read_bytes() != data:
            with writing(path, replace=True) as unfinished:
                unfinished.write_bytes(data)

    def keep(self, deposit: Deposit, made: Path) -> None:
        """Give a complete folder of scores its name; the record of older ones goes first."""
        self.path(deposit, "score").unlink(missing_ok=True)
        results = self.results(deposit)
        if results.is_symlink() or results.is_file():
            results.unlink()
        finish(made, results)

    def withdrawn(self, deposits: Iterable[Deposit]) -> Iterator[Deposit]:
        """Those that have a status, and whose archives are no longer there, by identifier."""
        there = {deposit.identifier for deposit in deposits}
        for path in sorted((self.root / LOGS).glob(f"*{_STATUS}")):
            identifier = path.name.removesuffix(_STATUS)
            values = read_record(path)
            if identifier not in there and "status" in values:
                parts = {part: values.get(part, "") for part in ("task", "team")}
                yield Deposit(values.get("submission", identifier), identifier, parts, (0, 0, 0))

    def set_aside(self, deposit: Deposit) -> str:
        """Move the results of a submission to where no others are; their path, empty for none."""
        results, kept = self.results(deposit), self.root / WITHDRAWN / deposit.identifier
        if results.is_dir() and not results.is_symlink():
            kept.parent.mkdir(exist_ok=True)
            if kept.exists():  # those of an earlier withdrawal
                number = sum(1 for _ in kept.parent.glob(f"{glob.escape(kept.name)}~*"))
                kept.rename(kept.with_name(f"{kept.name}~{number + 1}"))
            results.rename(kept)
        self.path(deposit, "score").unlink(missing_ok=True)
        return kept.relative_to(self.root).as_posix() if kept.is_dir() else ""

    def forget(self, deposit: Deposit) -> None:
        """Remove the record of scores, then the scores."""
        self.path(deposit, "score").unlink(missing_ok=True)
        results = self.results(deposit)
        if results.is_dir() and not results.is_symlink():
            hidden = results.rename(hidden_path(results))  # a part of them is never seen
            shutil.rmtree(hidden)


def read_record(path: Path) -> Mapping[str, str]:
    """The values of a record, by name; none if it is not there, or is not a record."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return {}
    lines = head.partition("\n\n")[0].splitlines()
    pairs = (line.partition(": ") for line in lines)
    return {name: value for name, colon, value in pairs if colon}


def key(*pieces: object) -> str:
    """The digest of what a result depends on.

    Examples:
        >>> key("validation", {"task": "hub4"}) == key("validation", {"task": "seedev-full"})
        False
    """
    text = json.dumps([__version__, *pieces], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


@dataclass
class Digests:
    """Digests of files and folders; a file is read again when it has changed.

    Attributes:
        known: the digest of each file, with its stamp.
    """

    known: dict[Path, tuple[Stamp, str]] = field(default_factory=dict)

    def of(self, path: Path) -> str:
        """The digest of a file, or of all files below a folder with their names.

        Examples:
            >>> Digests().of(Path("no such file"))
            'missing'
        """
        if not path.is_dir():
            return self._file(path)
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return key(
            [(os.fsencode(file.relative_to(path)).hex(), self._file(file)) for file in files]
        )

    def _file(self, path: Path) -> str:
        now = stamp(path)
        if path not in self.known or self.known[path][0] != now:
            self.known[path] = (now, _digest(path))
        return self.known[path][1]


def _digest(path: Path) -> str:
    made = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                made.update(chunk)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return made.hexdigest()
