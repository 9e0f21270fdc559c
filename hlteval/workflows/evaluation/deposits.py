"""Deposits: the archives in `submissions/` of an evaluation, and what their names say."""

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
#: Bytes of an identifier, so that the names of its logs are not too long for a file system.
_LONGEST = 200

#: Values that change when a file changes: its size, the time of its last change, and its number.
Stamp = tuple[int, int, int]


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

    def is_unchanged(self, root: Path) -> bool:
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
    """Return all deposits, in the order in which they count.

    Hidden files are none: a name that begins with a dot is that of an upload in progress.

    Args:
        root: the folder of the evaluation.
        evaluation: what its manifest declares, if there is one.
        task: the task of all submissions; empty if their names say it.

    Raises:
        FileNotFoundError: if there is no folder `submissions`.
    """
    names = sorted(path.name for path in (root / FOLDER).iterdir() if path.name[0] != ".")
    listed = []
    for name, identifier in _identify(names).items():
        path, parts = root / FOLDER / name, parts_of(name, evaluation, task)
        deposit = Deposit(name, identifier, parts, stamp(path))
        problem = next(_problems(path, deposit, evaluation), None)
        listed.append(replace(deposit, problem=problem))
    return sorted(listed, key=lambda deposit: deposit.order)


def _problems(path: Path, deposit: Deposit, evaluation: Evaluation | None) -> Iterator[Finding]:
    """Yield why a file is not looked into: no archive, no known task, an undeclared part."""
    file, name = display_path(deposit.name), printable(deposit.name)
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = 0
    if not (stat.S_ISREG(mode) and archive_suffix(path.name)):
        kind = f"a {type_name(mode)}" if mode else "a broken link"
        yield finding("PIP102", file=file, name=name, kind=kind)
    if not deposit.task:
        tasks = evaluation.tasks.items() if evaluation else ()
        forms = (settings.names or load(task).packaging.name for task, settings in tasks)
        form = next(filter(None, forms), "the organisers say")
        yield finding("PIP101", file=file, name=name, form=form)
    for part, value, hint in undeclared_parts(deposit, evaluation):
        # The team receives this: it must not learn who else takes part.
        advice = ASK if part == "team" else hint
        yield finding("PIP107", file=file, part=part, value=value, hint=advice)


def stem_of(name: str) -> str:
    """The name of an archive without its suffix.

    Examples:
        >>> stem_of("NIST_EDL_CP1_1.tab.tgz"), stem_of("run7.tar.gz"), stem_of("v1.2")
        ('NIST_EDL_CP1_1.tab', 'run7', 'v1.2')
    """
    return _SUFFIX.sub("", name) if archive_suffix(name) else name


def _identify(names: Sequence[str]) -> dict[str, str]:
    """Return the identifier of each name: without its suffix, if no other has the same.

    One that is too long for a file system is cut, with a digest at its end.
    """

    def digest(name: str) -> str:
        return sha256(os.fsencode(name))[:8]

    def fit(identifier: str) -> str:
        data = os.fsencode(identifier)
        if len(data) <= _LONGEST:
            return identifier
        return f"{data[:_LONGEST].decode('utf-8', 'ignore')}~{digest(identifier)}"

    identifiers: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=lambda name: (not name.endswith(".tgz"), name)):
        candidates = (fit(stem_of(name)), fit(name), f"{fit(name)}~{digest(name)}")
        identifiers[name] = next(each for each in candidates if each.casefold() not in taken)
        taken.add(identifiers[name].casefold())
    return identifiers


def parts_of(name: str, evaluation: Evaluation | None = None, task: str = "") -> dict[str, str]:
    """The parts of a submission: what the manifest lists, else what its name says.

    Examples:
        >>> sorted(parts_of("NIST_EDL_CP1_1.tab.tgz").items())
        [('checkpoint', 'CP1'), ('task', 'lorehlt-edl'), ('team', 'NIST')]
    """
    parts = named_parts(stem_of(name), evaluation, task)
    for entry in evaluation.submissions if evaluation else ():
        if entry.file == name:
            parts |= entry.parts
    if "task" not in parts and evaluation and len(evaluation.tasks) == 1:
        parts["task"] = next(iter(evaluation.tasks))
    return {**parts, "task": task} if task else parts


def named_parts(stem: str, evaluation: Evaluation | None, task: str = "") -> dict[str, str]:
    """Return the parts in the name of a submission, by the first task that has such names.

    The form of names is that of the manifest, or else that of the task itself.
    """
    declared = evaluation.tasks if evaluation else {}
    for name in [task] if task else list(declared if evaluation else BUILTIN):
        form = declared[name].names if name in declared else ""
        match = name_pattern(form).fullmatch(stem) if form else None
        parts = match.groupdict() if match else {} if form else load(name).packaging.parse(stem)
        if parts:
            known = (*PARTS, "timestamp")
            return {**{part: parts[part] for part in known if part in parts}, "task": name}
    return {}


#: What to do about a team that a manifest does not declare.
ASK = (
    "as a team, ask the organisers for the name that is registered; as an organiser, add the team "
    "to the manifest or correct the name"
)


def undeclared_parts(
    deposit: Deposit, evaluation: Evaluation | None
) -> Iterator[tuple[str, str, str]]:
    """The parts of a deposit that a manifest does not declare: part, value and hint."""
    if evaluation is None:
        return
    for part in PARTS:
        known, value = evaluation.names_of(part), deposit.parts.get(part, "")
        if known and value and value not in known:
            hint = "add the team to the manifest, or correct the name of the archive"
            hint = hint if part == "team" else f"use {', '.join(known)}"
            yield part, printable(value), did_you_mean(value, known, hint)


def display_path(name: str) -> str:
    """The path of a deposit in findings."""
    return f"{FOLDER}/{printable(name)}"
