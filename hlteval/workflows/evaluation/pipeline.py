"""The lock of a folder: one process at a time writes to it.

The lock is that of the operating system (flock), which frees it when its process ends, however it
ends; the file names the process that holds it, or held it last.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from hlteval.results.config import Config
from hlteval.results.evaluation import Entry, PipelineResult
from hlteval.results.verdict import Defaults
from hlteval.sources.spooling import UNCHANGED, NotWritten, written
from hlteval.sources.writing import hidden_path, remove_unfinished
from hlteval.tasks import load
from hlteval.workflows.evaluation.deposits import FOLDER, Deposit, deposits
from hlteval.workflows.evaluation.manifests import read_manifest
from hlteval.workflows.evaluation.pipeline_state import (
    RESULTS,
    Digests,
    PipelineSettings,
    Records,
    Step,
)
from hlteval.workflows.evaluation.pipeline_status import (
    Orders,
    Over,
    Values,
    broken,
    companions,
    entry,
    over_limits,
    team_help,
    withdrawn,
)
from hlteval.workflows.evaluation.pipeline_work import BROKEN, Order, Outcome
from hlteval.workflows.evaluation.pipeline_workers import Processes, Workers, WorkLimits
from hlteval.workflows.processes.batches import Step as Watch
from hlteval.workflows.processes.batches import silent

FILE = ".hlteval.lock"


class InUse(ValueError):
    """Another process works on the folder."""


@contextmanager
def locked(root: Path) -> Iterator[str]:
    """Hold the lock of a folder.

    Yields:
        A note about the process that held it and did not come to its end; empty if there is none.

    Raises:
        InUse: if another process holds it.
        NotWritten: if the file cannot be written, or the system has no such locks.
    """
    path = root / FILE
    with written(path, "nothing was changed"):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        before = _take(file, root)
        _write(file, json.dumps({"process": os.getpid(), "host": socket.gethostname()}))
        yield _note(before)
        _write(file, "")
    finally:
        os.close(file)


def _take(file: int, root: Path) -> str:
    """Take the lock; gives what the file said before.

    Raises:
        InUse: if another process holds it.
    """
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(os.pread(file, 1000, 0).decode("utf-8", "replace"))
        raise InUse(f"{root} is in use by {holder}; wait until it ends, or end it") from None
    return os.pread(file, 1000, 0).decode("utf-8", "replace")


def _write(file: int, text: str) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, text.encode(), 0)


def _holder(written_by: str) -> str:
    """The process that a lock names."""
    try:
        known = json.loads(written_by)
        return f"process {int(known['process'])} on {known['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"


def _note(before: str) -> str:
    return f"continues where {_holder(before)} was interrupted" if before else ""


def pipeline(
    settings: PipelineSettings,
    *,
    jobs: int = 1,
    limits: WorkLimits | None = None,
    workers: Workers | None = None,
    step: Watch = silent,
) -> PipelineResult:
    """Bring all submissions below a root to their status.

    Args:
        settings: how they are validated and scored.
        jobs: how many processes work at most.
        limits: what each may use for one step of a submission.
        workers: those who work; by default these processes.
        step: called after each step of a submission with the steps that are done, and all.

    Raises:
        FileNotFoundError, NoReference, WrongOption: see `PipelineSettings.check`.
        InUse: if another pipeline works on the root.
        NotWritten: if the disk is full.
    """
    with opened(settings, jobs=jobs, limits=limits, workers=workers, step=step) as run:
        return run()


@contextmanager
def opened(
    settings: PipelineSettings,
    *,
    jobs: int = 1,
    limits: WorkLimits | None = None,
    workers: Workers | None = None,
    step: Watch = silent,
) -> Iterator[Callable[[], PipelineResult]]:
    """Hold the lock of a root; the arguments and errors are those of `pipeline`.

    Yields:
        A function that runs the pipeline; another time it reads only files that changed.
    """
    settings.check()
    used, digests = limits or WorkLimits(), Digests()
    with (
        locked(settings.root) as note,
        closing(workers or Processes(settings.root, jobs, used)) as group,
    ):

        def run() -> PipelineResult:
            records = Records(settings.root)
            records.prepare()
            try:
                result = Run(settings, records, group, used, digests, step).complete()
            finally:
                remove_unfinished(settings.root / RESULTS)
            return msgspec.structs.replace(result, notes=(note,) if note else ())

        yield run


@dataclass
class Run:
    """One pass over all submissions.

    Attributes:
        settings: how they are validated and scored.
        records: their logs and results.
        workers: those who work.
        limits: of their work.
        digests: of the files on which results depend.
        step: takes the steps that are done.
        over: the submissions that are over a limit, by name.
        done: how many steps were done.
    """

    settings: PipelineSettings
    records: Records
    workers: Workers
    limits: WorkLimits
    digests: Digests
    step: Watch = silent
    over: Mapping[str, Over] = field(default_factory=dict)
    done: int = 0

    @cached_property
    def deposits(self) -> Sequence[Deposit]:
        """All submissions, in the order in which they count."""
        return deposits(self.settings.root, self.settings.evaluation, self.settings.task)

    @cached_property
    def orders(self) -> Orders:
        """What is to be done for each."""
        return Orders(self.settings, self.limits, self.digests, self.deposits)

    def complete(self) -> PipelineResult:
        """Validate, choose what is within the limits, score, and say what came of it."""
        gone = tuple(map(self.withdraw, self.records.withdrawn(self.deposits)))
        self.statuses()
        self.do("validation", [each for each in self.deposits if each.problem is None])
        valid = [each for each in self.deposits if self.passed(each)]
        self.over = over_limits(valid, self.settings.limits_of)
        within = [each for each in valid if each.name not in self.over]
        named = {each.name: self.companions(each) for each in within}
        self.orders.add(companions(within, named), within)
        self.do("score", [each for each in within if self.is_scored(each)])
        return PipelineResult(str(self.settings.root), (*self.statuses(), *gone), self.done)

    def record(self, deposit: Deposit, step: Step) -> Values:
        """The record of a step, if it is the result of what there is now."""
        values = self.records.read(deposit, step)
        if deposit.problem or not self.orders.current(deposit, step, values):
            return {}
        complete = values["result"] != "scored" or self.records.results(deposit).is_dir()
        return values if complete else {}

    def passed(self, deposit: Deposit) -> bool:
        """Whether a submission passed validation."""
        return self.record(deposit, "validation").get("result") == "passed"

    def companions(self, deposit: Deposit) -> tuple[str, ...]:
        """The submissions that a submission goes with."""
        return tuple(self.record(deposit, "validation").get("companions", "").split())

    def is_scored(self, deposit: Deposit) -> bool:
        """Whether a valid submission can be scored."""
        task = load(deposit.task)
        reference = self.settings.reference_of(deposit)
        return task.metric is not None and (task.scored_alone or bool(reference))

    def do(self, step: Step, wanted: Sequence[Deposit]) -> None:
        """Do a step of all submissions that have no record of it."""
        todo = {each.name: each for each in wanted if not self.record(each, step)}
        orders = [self.order(each, step) for each in todo.values()]
        for number, (order, outcome) in enumerate(self.workers.outcomes(orders), 1):
            self.commit(todo[order.name], order, outcome)
            self.step(number, len(orders))

    def order(self, deposit: Deposit, step: Step) -> Order:
        """The order for a step; scores are first made in a hidden folder."""
        output = str(hidden_path(self.records.results(deposit))) if step == "score" else ""
        return replace(self.orders.order(deposit, step), output=output)

    def commit(self, deposit: Deposit, order: Order, outcome: Outcome) -> None:
        """Keep what came of an order, unless the submission changed meanwhile.

        Raises:
            NotWritten: if the worker could not write.
        """
        if outcome.result == "disk":
            raise NotWritten(None, outcome.reason, str(self.settings.root), UNCHANGED)
        if not deposit.unchanged(self.settings.root):
            return
        if outcome.result == "scored":
            self.records.keep(deposit, Path(order.output))
        elif order.step == "score":
            self.records.forget(deposit)
        values = self.values(deposit, order, outcome)
        self.records.write(deposit, order.step, values, outcome.report or order.headed())
        self.done += 1
        self.status(deposit)

    def values(self, deposit: Deposit, order: Order, outcome: Outcome) -> Mapping[str, str]:
        """The values of a record."""
        reason, help_ = outcome.reason, outcome.help
        if outcome.result in BROKEN:
            found = broken(deposit, order.step, outcome, self.limits)
            reason, help_ = f"{found.message} ({found.code})", found.help or ""
        return {
            "result": outcome.result,
            "reason": reason,
            "help": help_,
            "companions": " ".join(outcome.companions),
            "key": self.orders.key(order, outcome.result),
        }

    def statuses(self) -> tuple[Entry, ...]:
        """The status of each submission, which is also written."""
        return tuple(map(self.status, self.deposits))

    def status(self, deposit: Deposit) -> Entry:
        """The status of a submission, which is also written; scores of others are removed."""
        validation = self.record(deposit, "validation")
        full = self.over.get(deposit.name)
        reference = self.settings.reference_of(deposit) if deposit.task else ""
        score = {} if full or not validation else self.record(deposit, "score")
        found = entry(deposit, validation, score, full, reference)
        if found.status in {"invalid", "over limit", "valid"}:
            self.records.forget(deposit)
        return self.write_status(deposit, found)

    def withdraw(self, deposit: Deposit) -> Entry:
        """Move the results of a submission that is no longer there aside; its status."""
        return self.write_status(deposit, withdrawn(deposit, self.records.set_aside(deposit)))

    def write_status(self, deposit: Deposit, found: Entry) -> Entry:
        """Write the status of a submission."""
        values = {"status": found.status, "submission": found.file, "task": found.task}
        evaluation = self.settings.evaluation
        help_ = team_help(deposit, found, evaluation.teams if evaluation else ())
        values |= {"team": found.team, "reason": found.reason, "help": help_}
        self.records.write(deposit, "status", values, "")
        return found


_QUIET = 1000
"""Milliseconds without a change after which the pipeline goes on: uploads take a while."""
_LONGEST = 60_000
"""Milliseconds after which it goes on in any case."""
_NOW_AND_THEN = 30_000
"""Milliseconds after which it looks by itself: drives of a network report no changes."""


class CannotWatch(ValueError):
    """The library that watches folders is not installed."""


def watch(
    settings: PipelineSettings, *, jobs: int = 1, limits: WorkLimits | None = None
) -> Iterator[PipelineResult]:
    """Run a pipeline, and again after each change, until nobody asks for more.

    Args:
        settings: how submissions are validated and scored.
        jobs: how many processes work at most.
        limits: what each may use for one step of a submission.

    Yields:
        The result of each run that did something, and of the first one.

    Raises:
        CannotWatch: if the library for it is not installed.
        hlteval.workflows.evaluation.pipeline.InUse: if another pipeline works on the root.
    """
    changes = _changes(settings)
    with opened(settings, jobs=jobs, limits=limits) as run:
        yield run()
        for _ in changes:
            result = run()
            if result.done:
                yield result


def _changes(settings: PipelineSettings) -> Iterator[object]:
    """Something each time after something changed, and now and then.

    Raises:
        CannotWatch: if the library for it is not installed.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise CannotWatch("--watch needs watchfiles: pip install 'hlteval[watch]'") from error
    return watchfiles.watch(
        *watched_paths(settings),
        debounce=_LONGEST,
        step=_QUIET,
        rust_timeout=_NOW_AND_THEN,
        yield_on_timeout=True,
    )


def watched_paths(settings: PipelineSettings) -> list[Path]:
    """The folders and files on which results depend, which exist."""
    paths = [settings.root / FOLDER]
    paths += [Path(each) for each in (settings.reference, settings.against) if each]
    for task in settings.tasks:
        for given in (settings.of_task(task).reference, settings.of_task(task).against):
            each = [given] if isinstance(given, str) else given.values()
            paths += [settings.folder / path for path in each if path]
    return [path for path in dict.fromkeys(paths) if path.exists()]


def other_tasks(config: Config, manifest: str | None) -> list[str]:
    """The tasks of a manifest that a file of defaults is not for.

    Args:
        config: the file.
        manifest: path of the manifest; None for none.
    """
    if manifest is None or not config.task:
        return []
    evaluation = read_manifest(manifest).evaluation
    return [task for task in (evaluation.tasks if evaluation else ()) if task != config.task]


def taken(config: Config, given: Mapping[str, Any], missing: Collection[str]) -> Defaults | None:
    """What a pipeline takes from a file of defaults; None if that is nothing.

    Args:
        config: the file.
        given: the settings of the pipeline, with the `options` that are given.
        missing: the settings that are not given.
    """
    names = [name for name in config.values if name in _open(given) and name in missing]
    names += [f"options.{name}" for name in config.options if name not in given["options"]]
    return Defaults(config.path, tuple(names)) if names else None


def _open(given: Mapping[str, Any]) -> list[str]:
    """The settings that a file may have; with a manifest, the task is that of each submission."""
    return ["reference", "against", "profile", *([] if given["manifest"] else ["task"])]


def with_config(
    config: Config, given: Mapping[str, Any], missing: Collection[str]
) -> dict[str, Any]:
    """The settings of a pipeline with those of a file of defaults; the arguments are of `taken`."""
    defaults = taken(config, given, missing)
    names = defaults.names if defaults else ()
    own = {name: config.values[name] for name in names if name in config.values}
    preset = {name: v for name, v in config.options.items() if name not in given["options"]}
    folder = Path() if config.task or given["task"] else Path(config.path).parent
    shown = Defaults(os.path.relpath(config.path, given["root"]), names)
    return {**given, **own, "preset": preset, "preset_folder": folder, "defaults": shown}
