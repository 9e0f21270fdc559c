"""Deposits: the archives in `submissions/` of an evaluation, and what their names say."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hlteval.findings import Finding, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.evaluation import PARTS, Evaluation, name_pattern
from hlteval.sources import sha256
from hlteval.sources.archives import type_name
from hlteval.sources.names import archive_suffix, printable
from hlteval.tasks import BUILTIN, load

FOLDER = "submissions"
_SUFFIX = re.compile(r"\.(?:tar\.[a-z0-9]+|[a-z0-9]+)$", re.IGNORECASE)
_DIGITS = re.compile("([0-9]+)")
_LONGEST = 200
"""Bytes of an identifier, so that the names of its logs are not too long for a file system."""

Stamp = tuple[int, int, int]
"""What changes when a file changes: its size, the time of its last change, and its number."""


@dataclass(frozen=True)
class Deposit:
    """One entry of the folder.

    Attributes:
        name: of the file.
        identifier: SUB_ID, the name of its logs and results.
        parts: its team, task, language, condition and checkpoint, as far as they are known, and
            its timestamp.
        stamp: of the file when the folder was listed.
        problem: why it is not looked into; None if it is.
    """

    name: str
    identifier: str
    parts: Mapping[str, str]
    stamp: Stamp
    problem: Finding | None = None

    @property
    def path(self) -> str:
        """The path from the root of the evaluation."""
        return f"{FOLDER}/{self.name}"

    @property
    def task(self) -> str:
        """The task, empty if it is unknown."""
        return self.parts.get("task", "")

    @property
    def team(self) -> str:
        """The team, empty if it is unknown."""
        return self.parts.get("team", "")

    @property
    def order(self) -> tuple[str, list[str | tuple[int, str]], str]:
        """The sort key: by timestamp, then by name, in which digits are numbers.

        Examples:
            >>> [Deposit(f"run{n}.tgz", "", {}, (0, 0, 0)) for n in (9, 10)][0].order[1][1]
            (1, '9')
        """
        pieces: list[str | tuple[int, str]] = list(_DIGITS.split(self.name))
        pieces[1::2] = [(len(str(each)), str(each)) for each in pieces[1::2]]
        return (self.parts.get("timestamp", ""), pieces, self.name)

    def unchanged(self, root: Path) -> bool:
        """Whether the file is still that which was listed."""
        return stamp(root / self.path) == self.stamp


def stamp(path: Path) -> Stamp:
    """The stamp of a file; zeros if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def deposits(root: Path, evaluation: Evaluation | None = None, task: str = "") -> list[Deposit]:
    """All deposits, in the order in which they count.

    Hidden files are none: a name that begins with a dot is that of an upload in progress.

    Args:
        root: the folder of the evaluation.
        evaluation: what its manifest declares, if there is one.
        task: the task of all submissions; empty if their names say it.

    Raises:
        FileNotFoundError: if there is no folder `submissions`.
    """
    each = (path.name for path in (root / FOLDER).iterdir())
    names = sorted(name for name in each if not name.startswith("."))
    identifiers = _identifiers(names)
    found = [_deposit(root, name, identifiers[name], evaluation, task) for name in names]
    return sorted(found, key=lambda deposit: deposit.order)


def _deposit(
    root: Path, name: str, identifier: str, evaluation: Evaluation | None, task: str
) -> Deposit:
    path = root / FOLDER / name
    parts = parts_of(name, evaluation, task)
    deposit = Deposit(name, identifier, parts, stamp(path))
    problem = _no_archive(path) or _no_task(deposit, evaluation) or _undeclared(deposit, evaluation)
    return replace(deposit, problem=problem)


def stem_of(name: str) -> str:
    """The name of an archive without its suffix.

    Examples:
        >>> stem_of("NIST_EDL_CP1_1.tab.tgz"), stem_of("run7.tar.gz"), stem_of("v1.2")
        ('NIST_EDL_CP1_1.tab', 'run7', 'v1.2')
    """
    return _SUFFIX.sub("", name) if archive_suffix(name) else name


def _identifiers(names: Sequence[str]) -> dict[str, str]:
    """The identifier of each: its name without the suffix, if no other has the same."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda name: (not name.endswith(".tgz"), name)):
        candidates = (_fitting(stem_of(name)), _fitting(name), f"{_fitting(name)}~{_digest(name)}")
        found[name] = next(each for each in candidates if each.casefold() not in taken)
        taken.add(found[name].casefold())
    return found


def _fitting(identifier: str) -> str:
    """An identifier that is short enough; one that is not has a digest at its end."""
    data = os.fsencode(identifier)
    if len(data) <= _LONGEST:
        return identifier
    return f"{data[:_LONGEST].decode('utf-8', 'ignore')}~{_digest(identifier)}"


def _digest(name: str) -> str:
    return sha256(os.fsencode(name))[:8]


def parts_of(name: str, evaluation: Evaluation | None = None, task: str = "") -> dict[str, str]:
    """The parts of a submission: what the manifest lists, else what its name says.

    Examples:
        >>> sorted(parts_of("NIST_EDL_CP1_1.tab.tgz").items())
        [('checkpoint', 'CP1'), ('task', 'lorehlt-edl'), ('team', 'NIST')]
    """
    found = named_parts(stem_of(name), evaluation, task)
    listed = evaluation.submissions if evaluation else ()
    for entry in listed:
        if entry.file == name:
            found |= entry.parts
    if "task" not in found and evaluation and len(evaluation.tasks) == 1:
        found["task"] = next(iter(evaluation.tasks))
    return {**found, "task": task} if task else found


def named_parts(stem: str, evaluation: Evaluation | None, task: str = "") -> dict[str, str]:
    """What the name of a submission says, by the first task that has such names.

    The form of names is that of the manifest, or else that of the task itself.
    """
    for name in [task] if task else list(evaluation.tasks if evaluation else BUILTIN):
        given = evaluation.tasks[name].names if evaluation and name in evaluation.tasks else ""
        found: Mapping[str, str] = {}
        if not given:
            found = load(name).packaging.parse(stem)
        elif matched := name_pattern(given).fullmatch(stem):
            found = matched.groupdict()
        if found:
            known = {part: found[part] for part in _NAMED if part in found}
            return {**known, "task": name}
    return {}


_NAMED = (*PARTS, "timestamp")
_ADD_TEAM = "add the team to the manifest, or correct the name of the archive"
"""The hint for organisers about a team that is like no other."""


def _no_archive(path: Path) -> Finding | None:
    """The finding about what is not an archive, by its kind and its suffix."""
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = 0
    if stat.S_ISREG(mode) and archive_suffix(path.name):
        return None
    kind = f"a {type_name(mode)}" if mode else "a broken link"
    return finding("PIP102", file=shown(path.name), name=printable(path.name), kind=kind)


def _no_task(deposit: Deposit, evaluation: Evaluation | None) -> Finding | None:
    if deposit.task:
        return None
    names = evaluation.tasks if evaluation else ()
    forms = [_form(evaluation, task) for task in names]
    form = next(filter(None, forms), "the organisers say")
    name = printable(deposit.name)
    return finding("PIP101", file=shown(deposit.name), name=name, form=form)


def _form(evaluation: Evaluation | None, task: str) -> str:
    """The form of the names of submissions to a task; empty if they are free."""
    given = evaluation.tasks[task].names if evaluation else ""
    return given or load(task).packaging.name


ASK = (
    "as a team, ask the organisers for the name that is registered; as an organiser, add the team "
    "to the manifest or correct the name"
)
"""What to do about a team that a manifest does not declare."""


def _undeclared(deposit: Deposit, evaluation: Evaluation | None) -> Finding | None:
    for part, value, hint in undeclared(deposit, evaluation):
        # The team receives this: it must not learn who else takes part.
        own = ASK if part == "team" else hint
        return finding("PIP107", file=shown(deposit.name), part=part, value=value, hint=own)
    return None


def undeclared(deposit: Deposit, evaluation: Evaluation | None) -> Iterator[tuple[str, str, str]]:
    """The parts of a deposit that a manifest does not declare: part, value and hint."""
    if evaluation is None:
        return
    for part in PARTS:
        known, value = evaluation.declared(part), deposit.parts.get(part, "")
        if known and value and value not in known:
            otherwise = _ADD_TEAM if part == "team" else f"use {', '.join(known)}"
            yield part, printable(value), did_you_mean(value, known, otherwise)


def shown(name: str) -> str:
    """The path of a deposit in findings."""
    return f"{FOLDER}/{printable(name)}"
