"""Records of a pipeline: the logs of each submission, which are its state.

A record begins with lines `name: value`, up to an empty line; what follows is for people. It is
written in one step after what it is about, and says of what it is the result by a key: the digest
of all that the result depends on. Whoever finds a record with the key that he expects has nothing
to do.
"""

import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from hlteval import __version__
from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.config import Config
from hlteval.results.evaluation import Evaluation, Limit, TaskSettings
from hlteval.results.verdict import Defaults
from hlteval.sources import writing
from hlteval.sources.names import printable
from hlteval.sources.writing import check_outputs, finish, hidden_path, remove_unfinished
from hlteval.tasks import BUILTIN, is_file, load
from hlteval.tasks.options import by_name, check_values, metric_options
from hlteval.tasks.task import Option, WrongOption
from hlteval.workflows.evaluation.deposits import FOLDER, Deposit, Stamp, stamp
from hlteval.workflows.evaluation.manifests import read_manifest, resolve_options

LOGS, RESULTS, WITHDRAWN, BOARDS = "logs", "results", "withdrawn", "leaderboards"
_STATUS = ".status.txt"
Step = Literal["validation", "score"]
Log = Literal["validation", "score", "status"]
#: Bytes of a record in which its lines `name: value` are.
_HEAD = 1 << 16


@dataclass(frozen=True)
class Records:
    """The logs and results below the root of an evaluation.

    Attributes:
        root: the folder.
    """

    root: Path

    def prepare(self) -> None:
        """Make the folders, and remove what an interrupted run left unfinished."""
        for name in (LOGS, RESULTS, BOARDS):
            folder = self.root / name
            folder.mkdir(exist_ok=True)
            remove_unfinished(folder)

    def path(self, deposit: Deposit, step: Log) -> Path:
        """The path of a log."""
        return self.root / LOGS / f"{deposit.identifier}.{step}.txt"

    def results(self, deposit: Deposit) -> Path:
        """The folder of the scores."""
        return self.root / RESULTS / deposit.identifier

    def read(self, deposit: Deposit, step: Log) -> Mapping[str, str]:
        """The values of a record; none if it is not there."""
        return read_record(self.path(deposit, step))

    def write(self, deposit: Deposit, step: Log, values: Mapping[str, str], text: str) -> None:
        """Write a record in one step, unless it is there already."""
        self.write_record(self.path(deposit, step), values, text)

    def write_record(self, path: Path, values: Mapping[str, str], text: str = "") -> None:
        """Write a record at a path in one step, unless it is there already."""
        lines = [f"{name}: {printable(value)}\n" for name, value in values.items() if value]
        content = "".join([*lines, "\n" if text else "", text])
        data = content.encode("utf-8", "backslashreplace")
        if path.is_symlink():  # nothing is written where somebody else leads to
            path.unlink()
        if not path.is_file() or path.read_bytes() != data:
            with writing(path, replace=True) as unfinished:
                unfinished.write_bytes(data)

    def keep(self, deposit: Deposit, made: Path) -> None:
        """Give a complete folder of scores its name; the record of older ones goes first."""
        self.path(deposit, "score").unlink(missing_ok=True)
        self.exchange(made, self.results(deposit))

    def exchange(self, made: Path, folder: Path) -> None:
        """Give a complete folder its name in one step; a link or file of that name is removed."""
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        finish(made, folder)

    def board(self, name: str) -> Path:
        """The folder of a leaderboard, whose record is beside it."""
        return self.root / BOARDS / name

    def withdrawn(self, deposits: Iterable[Deposit]) -> Iterator[Deposit]:
        """Yield submissions with a status whose archives are no longer there, by identifier."""
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
        self.remove(self.results(deposit))

    def remove(self, folder: Path) -> None:
        """Remove a folder in one step."""
        if folder.is_dir() and not folder.is_symlink():
            hidden = folder.rename(hidden_path(folder))  # a part of it is never seen
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
        names = (os.fsencode(file.relative_to(path)).hex() for file in files)
        return key([*zip(names, map(self._file, files), strict=True)])

    def _file(self, path: Path) -> str:
        now = stamp(path)
        if path not in self.known or self.known[path][0] != now:
            try:
                with path.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                absent = isinstance(error, FileNotFoundError)
                digest = "missing" if absent else f"unreadable: {error.strerror}"
            self.known[path] = (now, digest)
        return self.known[path][1]


#: What the smallest submission needs.
#:
#: Limits are of addresses, which libraries reserve by far more than they use: the reference and
#: systems of the demonstration, 20 lines each, take 1,070 MB where they are scored and compared.
LEAST_MEGABYTES = 1200


def check_memory(megabytes: int, *, unlimited: bool = False) -> None:
    """Refuse a limit with which nothing can be done.

    Args:
        megabytes: the limit.
        unlimited: whether 0 means that there is none.

    Raises:
        WrongOption: for less than what a process needs for the smallest submission.
    """
    if megabytes < LEAST_MEGABYTES and not (unlimited and megabytes == 0):
        all_there_is = ", or 0 for all there is" if unlimited else ""
        raise WrongOption(
            f"--max-memory {megabytes} is less than the smallest submission needs; "
            f"use {LEAST_MEGABYTES} or more{all_there_is}"
        )


@dataclass(frozen=True)
class WorkLimits:
    """Limits of the work on submissions.

    Attributes:
        seconds: of time for one step of a submission.
        megabytes: of memory for it; 0 for all there is.
        jobs: how many processes work at most.
    """

    seconds: int = 3600
    megabytes: int = 8000
    jobs: int = 1


class NoReference(ValueError):
    """No task has a reference: an error of usage."""


@dataclass(frozen=True)
class PipelineSettings:
    """How submissions are validated and scored.

    Attributes:
        root: the folder of the evaluation.
        reference: path of the reference of tasks that have none in the manifest; empty for none.
        against: path of what submissions are checked against, likewise; that of the reference if
            it is empty.
        task: the task of all submissions; empty if their names, or the manifest, say it.
        profile: `plan` or `official`, of tasks for which the manifest says nothing.
        options: values of options, for the tasks that have them.
        most: how many valid submissions of a team to a task are scored; 0 for all, None for what
            the manifest, or else the task, says.
        retry: whether what crashed, or took too much time or memory, is tried again.
        work: limits of the work on them.
        evaluation: what the manifest declares, if there is one.
        folder: the folder of the manifest, to which its paths are relative.
        preset: values of options from a file of defaults, under those of the manifest.
        preset_folder: the folder to which their paths are relative.
        defaults: what came from a file of defaults, whose path is relative to the root; None if
            none applies.
    """

    root: Path
    reference: str = ""
    against: str = ""
    task: str = ""
    profile: str = "plan"
    options: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None
    retry: bool = False
    work: WorkLimits = WorkLimits()
    evaluation: Evaluation | None = None
    folder: Path = Path()
    preset: Mapping[str, object] = field(default_factory=dict)
    preset_folder: Path = Path()
    defaults: Defaults | None = None

    def __post_init__(self) -> None:
        """Keep the whole path of a declaration: the processes have another folder."""
        if is_file(self.task):
            object.__setattr__(self, "task", str(Path(self.task).absolute()))

    def defaults_of(self, task: str) -> Defaults | None:
        """Return the defaults of a file that the scores of a task use; the manifest wins."""
        if self.defaults is None:
            return None
        settings = self.of_task(task)
        replaced = {"against"} | ({"reference"} if settings.reference else set())
        replaced |= {"profile"} if self.evaluation and task in self.evaluation.tasks else set()
        known = _options(task)
        given = {name.replace("-", "_") for name in settings.options}
        replaced |= {f"options.{known[name].key}" for name in given & known.keys()}
        replaced |= {f"options.{name}" for name in self.preset.keys() - known.keys()}
        kept = tuple(name for name in self.defaults.names if name not in replaced)
        return Defaults(self.defaults.file, kept)

    def limits_of(self, task: str) -> tuple[Limit, ...]:
        """Return the limits of a task; its usual one only where nothing else sets one."""
        most = load(task).deposited.most if self.most is None else self.most
        if self.most is None and self.evaluation and self.evaluation.limits:
            return self.evaluation.limits
        unlimited = most is None or self.most == 0
        return () if unlimited else (Limit(("team", "task"), most=most),)

    def of_task(self, task: str) -> TaskSettings:
        """Return the settings that the manifest has for a task."""
        known = self.evaluation.tasks if self.evaluation else {}
        return known.get(task) or msgspec.convert({"profile": self.profile}, TaskSettings)

    def reference_of(self, deposit: Deposit) -> str:
        """Return the path of the reference of a submission, from the root; empty for none."""
        return self._path(self.of_task(deposit.task).reference, self.reference, deposit)

    def against_of(self, deposit: Deposit) -> str:
        """Return the path that a submission is checked against, from the root; empty for none."""
        path = self._path(self.of_task(deposit.task).against, self.against, deposit)
        return path or self.reference_of(deposit)

    def board_of(self, deposit: Deposit) -> str:
        """Return the name of the leaderboard of a submission: of a task, and of a reference."""
        reference = self.of_task(deposit.task).reference
        language = "" if isinstance(reference, str) else deposit.parts.get("language", "")
        parts = filter(None, [load(deposit.task).display_name, language])
        return re.sub(r"[^\w.]+", "-", "-".join(parts)).strip("-.")

    def _path(self, given: str | Mapping[str, str], otherwise: str, deposit: Deposit) -> str:
        if not isinstance(given, str):
            given = given.get(deposit.parts.get("language", ""), "")
        path = self.folder / given if given else Path(otherwise)
        return os.path.relpath(path, self.root) if given or otherwise else ""

    def options_of(self, task: str) -> Mapping[str, str]:
        """Return the values of the options of a task, as text; paths are from the root.

        Raises:
            WrongOption: for a value that an option cannot have.
        """
        declared, known = load(task), _options(task)

        def as_text(values: Mapping[str, object], folder: Path) -> dict[str, str]:
            def from_root(path: str) -> str:
                return os.path.relpath(folder / path, self.root)

            return resolve_options(declared, values, from_root)

        preset = {name: value for name, value in self.preset.items() if name in known}
        own = {name: value for name, value in self.options.items() if name in known}
        values = as_text(preset, self.preset_folder)
        values |= as_text(self.of_task(task).options, self.folder) | as_text(own, Path())
        check_values(declared, values)
        if declared.metric is not None:
            metric_options(declared, values)
        return values

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are named; none if names of submissions say them."""
        if self.task:
            return (self.task,)
        return tuple(self.evaluation.tasks) if self.evaluation else ()

    @property
    def given_paths(self) -> list[str]:
        """The paths of the reference and of what submissions are checked against."""
        return [path for path in (self.reference, self.against) if path]

    @property
    def manifest_paths(self) -> list[Path]:
        """The paths of the same for each task, as the manifest declares them."""
        settings = map(self.of_task, self.tasks)
        each = [given for task in settings for given in (task.reference, task.against)]
        paths = ([given] if isinstance(given, str) else given.values() for given in each)
        return [self.folder / path for group in paths for path in group if path]

    def check(self) -> None:
        """Check all that does not depend on submissions.

        Raises:
            FileNotFoundError: if the folder, its submissions, or a path does not exist.
            NoReference: if no task has a reference.
            WrongOption: for an option that no task has, or that cannot have its value.
        """
        for path in (self.root / FOLDER, *map(Path, self.given_paths)):
            if not path.exists():
                raise FileNotFoundError(2, "no such file or folder", str(path))
        outputs = [self.root / name for name in (LOGS, RESULTS, BOARDS)]
        check_outputs(outputs, [*self.manifest_paths, *self.given_paths])
        references = [self.reference, *(self.of_task(task).reference for task in self.tasks)]
        alone = [load(task).scored_alone or load(task).metric is None for task in self.tasks]
        if not any([*references, *alone]):
            raise NoReference("no reference: use --reference, or name it in the manifest")
        for task in self.tasks:
            load(task).hold_profile(self.of_task(task).profile)
            self.options_of(task)
        names = set[str]().union(*map(_options, self.tasks or BUILTIN))
        for name in (*self.options, *self.preset):
            if name not in names:
                hint = did_you_mean(name, sorted(names), "`hlteval score TASK --help` lists them")
                raise WrongOption(f"no task of the pipeline has the option {name}; {hint}")


def _options(task: str) -> dict[str, Option]:
    """Return the options of a task by all their names."""
    return by_name(load(task).options)


def with_manifest(
    settings: PipelineSettings, manifest: str | None
) -> tuple[PipelineSettings, tuple[Finding, ...]]:
    """Return settings with what a manifest declares.

    Args:
        settings: the settings.
        manifest: path of the manifest, if there is one.

    Returns:
        The settings, and the findings about the manifest by itself; with an error among them, the
        pipeline should not run.

    Raises:
        FileNotFoundError: if there is no such manifest.
        NotToml: if it is not a file.
    """
    if manifest is None:
        return settings, ()
    read, folder = read_manifest(manifest), Path(manifest).parent
    return replace(settings, evaluation=read.evaluation, folder=folder), read.check()


#: The settings of a pipeline that a file of defaults can have, beside options.
SETTINGS = ("reference", "against", "profile", "task")


def with_config(
    settings: PipelineSettings, config: Config, missing: Collection[str], manifest: str | None
) -> PipelineSettings:
    """Return settings with those of a file of defaults.

    Args:
        settings: the settings.
        config: the file.
        missing: names of the settings that are not given.
        manifest: path of the manifest, which then has the task of each submission.
    """
    open_ = SETTINGS[:-1] if manifest else SETTINGS
    values = {k: v for k, v in config.values.items() if k in open_ and k in missing}
    declared = _options(config.task) if config.task else {}
    given = {declared[name].key if name in declared else name for name in settings.options}
    preset = {k: v for k, v in config.options.items() if k not in given}
    names = (*values, *(f"options.{name}" for name in preset))
    folder = Path() if config.task or settings.task else Path(config.path).parent
    defaults = Defaults(os.path.relpath(config.path, settings.root), names)
    return replace(settings, **values, preset=preset, preset_folder=folder, defaults=defaults)
