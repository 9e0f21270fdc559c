"""Pipelines: the submissions in a folder, validated and scored as they arrive.

The state of a pipeline is the file system: a log is written in one step after what it is about,
with a key, the digest of all that it depends on (`pipeline_state.py`); a step whose log has another
key, or none, is done again. So no step depends on the state of an interrupted run. One process
decides and commits (`Run`), and holds the lock of the folder; workers (`pipeline_work.py`) only
compute, and make scores in a hidden folder, which `Records.keep` exchanges with the old one.

The lock is that of the operating system (flock), which frees it when its process ends, however it
ends; the file names the process that holds it, or held it last.
"""

import json
import os
import socket
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import msgspec

from hlteval.results.config import Config
from hlteval.results.evaluation import Entry, PipelineResult
from hlteval.sources.spooling import UNCHANGED, NotWritten, report_write_errors
from hlteval.sources.writing import hidden_path, remove_unfinished
from hlteval.tasks import load
from hlteval.workflows.evaluation import pipeline_status
from hlteval.workflows.evaluation.deposits import FOLDER, Deposit, deposits
from hlteval.workflows.evaluation.manifests import read_manifest
from hlteval.workflows.evaluation.pipeline_state import (
    BOARDS,
    RESULTS,
    Digests,
    PipelineSettings,
    Records,
    Step,
    key,
    read_record,
)
from hlteval.workflows.evaluation.pipeline_status import Over, Values, over_limits
from hlteval.workflows.evaluation.pipeline_work import (
    BROKEN,
    PERFORM,
    RANK,
    BoardOrder,
    Order,
    Outcome,
)
from hlteval.workflows.processes.graph import Failed, LocalProcesses, Node, Workers
from hlteval.workflows.processes.pool import Limits
from hlteval.workflows.run.batches import Progress as Watch
from hlteval.workflows.run.batches import no_progress
from hlteval.workflows.run.request import Request

FILE = ".hlteval.lock"
#: The page of a leaderboard.
INDEX = "index.html"
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        # What is locked cannot be read by others: it is a byte far after the end.
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class InUse(ValueError):
    """Another process works on the folder."""


@contextmanager
def lock_folder(root: Path) -> Iterator[str]:
    """Hold the lock of a folder.

    Yields:
        A note about the process that held it and did not come to its end; empty if there is none.

    Raises:
        InUse: if another process holds it.
        NotWritten: if the file cannot be written.
    """
    path = root / FILE
    with report_write_errors(path, "nothing was changed"):
        descriptor = os.open(path, _LOCK_FLAGS, 0o644)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:

        def holder() -> str:
            """Return the process that the lock names; empty if it names none."""
            file.seek(0)
            text = file.read(1000)
            try:
                process = json.loads(text.decode("utf-8", "replace"))
                return f"process {int(process['process'])} on {process['host']}"
            except (ValueError, KeyError, TypeError):
                return "another process" if text else ""

        try:
            _lock(file.fileno())
        except (BlockingIOError, PermissionError):
            busy = f"{root} is in use by {holder() or 'another process'}"
            raise InUse(f"{busy}; wait until it ends, or end it") from None
        before = holder()
        file.truncate(0)
        file.seek(0)
        file.write(json.dumps({"process": os.getpid(), "host": socket.gethostname()}).encode())
        yield f"continues where {before} was interrupted" if before else ""
        file.truncate(0)


def pipeline(
    settings: PipelineSettings, *, workers: Workers | None = None, step: Watch = no_progress
) -> PipelineResult:
    """Bring all submissions below a root to their status.

    Args:
        settings: how they are validated and scored.
        workers: executor of the work, by default processes in the root.
        step: called after each step of a submission with the steps that are done, and all.

    Raises:
        FileNotFoundError, NoReference, WrongOption: see `PipelineSettings.check`.
        InUse: if another pipeline works on the root.
        NotWritten: if the disk is full.
    """
    (result,) = _runs(settings, (), workers, step)
    return result


def _runs(
    settings: PipelineSettings,
    changes: Iterable[object],
    workers: Workers | None = None,
    step: Watch = no_progress,
) -> Generator[PipelineResult, None, None]:
    """Run a pipeline, and again after each change, while it holds the lock of the root.

    Another run reads only files that changed. Arguments and errors are those of `pipeline`.
    """
    settings.check()
    digests, work, memory = Digests(), settings.work, Limits(settings.work.megabytes)
    workers = workers or LocalProcesses(work.jobs, 1, work.seconds, memory, settings.root)
    with lock_folder(settings.root) as note, closing(workers):
        for _ in chain([None], changes):
            records = Records(settings.root)
            records.prepare()
            try:
                result = Run(settings, records, workers, digests, step).complete()
            finally:
                for name in (RESULTS, BOARDS):
                    remove_unfinished(settings.root / name)
            notes = [*([note] if note else []), *result.notes]
            yield msgspec.structs.replace(result, notes=tuple(notes))


@dataclass
class Run:
    """One pass over all submissions.

    Attributes:
        settings: how they are validated and scored.
        records: their logs and results.
        workers: executor of orders.
        digests: of the files on which results depend.
        step: takes the steps that are done.
        over: the submissions that are over a limit, by name.
        orders: the order for each step of a submission, by its name.
        read: the digest of each path in this run.
        done: how many steps were done.
    """

    settings: PipelineSettings
    records: Records
    workers: Workers
    digests: Digests
    step: Watch
    over: Mapping[str, Over] = field(default_factory=dict)
    orders: dict[tuple[str, Step], Order] = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)
    done: int = 0

    @cached_property
    def deposits(self) -> Sequence[Deposit]:
        """All submissions, in the order in which they count."""
        return deposits(self.settings.root, self.settings.evaluation, self.settings.task)

    @cached_property
    def options(self) -> Mapping[str, Mapping[str, str]]:
        """The values of the options of each task."""
        tasks = {each.task for each in self.deposits if each.problem is None}
        return {task: self.settings.options_of(task) for task in tasks}

    def complete(self) -> PipelineResult:
        """Validate, choose what is within the limits, score, and return the statuses."""
        gone = []
        for each in self.records.withdrawn(self.deposits):
            status = pipeline_status.withdrawn(each, self.records.set_aside(each))
            gone.append(self.write_status(each, status))
        self.update()
        self.do("validation", [each for each in self.deposits if each.problem is None])
        records = {each.name: self.record(each, "validation") for each in self.deposits}
        valid = [e for e in self.deposits if records[e.name].get("result") == "passed"]
        self.over = over_limits(valid, self.settings.limits_of)
        within = [each for each in valid if each.name not in self.over]
        named = {e.name: records[e.name].get("companions", "").split() for e in within}
        for each in within:
            if mates := pipeline_status.companions(each, within, named):
                self.orders[each.name, "score"] = self.make_order(each, "score", mates)
        scored = []
        for each in within:
            task = load(each.task)
            if task.metric and (task.scored_alone or self.settings.reference_of(each)):
                scored.append(each)
        self.do("score", scored)
        entries, (boards, notes) = self.update(), self.rank(scored)
        return PipelineResult(
            str(self.settings.root), (*entries, *gone), self.done, notes=notes, leaderboards=boards
        )

    def rank(self, scored: Iterable[Deposit]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Make the leaderboard of each task and reference; one without submissions is removed.

        Args:
            scored: the submissions that can be scored.

        Returns:
            The paths of the pages, from the root; notes about leaderboards that cannot be made.

        Raises:
            NotWritten: if the worker could not write.
        """
        groups: dict[str, list[Deposit]] = {}
        for each in scored:
            if self.record(each, "score").get("result") == "scored":
                groups.setdefault(self.settings.board_of(each), []).append(each)
        for path in (self.settings.root / BOARDS).glob("*.txt"):
            if path.stem not in groups:
                path.unlink()
                self.records.remove(self.records.board(path.stem))
        reasons = {name: self.make_board(name, members) for name, members in groups.items()}
        return (
            tuple(f"{BOARDS}/{name}/{INDEX}" for name, reason in reasons.items() if not reason),
            tuple(f"no leaderboard of {name}: {why}" for name, why in reasons.items() if why),
        )

    def make_board(self, name: str, members: Sequence[Deposit]) -> str:
        """Make a leaderboard, unless it is there already; return why it cannot be made, or nothing.

        Its record is a file beside its folder. It is first made in a hidden folder.

        Args:
            name: of the leaderboard.
            members: its submissions.
        """
        settings, folder, task = self.settings, self.records.board(name), members[0].task
        orders = [self.order(each, "score") for each in members]
        metric = settings.of_task(task).metric
        made = key("leaderboard", metric, [each.key for each in orders])
        failed = key(made, settings.work.seconds, settings.work.megabytes)
        record = folder.with_name(f"{name}.txt")
        known = read_record(record)
        if (
            (reason := known.get("reason", ""))
            and known.get("key") == failed
            and not settings.retry
        ):
            return reason
        if known.get("key") == made and folder.is_dir():
            return ""
        shared, defaults = self.options[task], orders[0].defaults
        own = {
            each.request.system: {n: v for n, v in each.options.items() if shared.get(n) != v}
            for each in orders
        }
        order = BoardOrder(
            replace(orders[0].request, options=shared, system=""),
            own,
            metric,
            str(hidden_path(folder)),
            defaults if defaults and defaults.names else None,
        )
        ((_, outcome),) = self.workers.results([Node(RANK, (order,), len(members))])
        if isinstance(outcome, Outcome) and outcome.result == "disk":
            raise NotWritten(None, outcome.reason, str(settings.root), UNCHANGED)
        if not all(each.is_unchanged(settings.root) for each in members):
            return "a submission changed while it was read; run the pipeline again"
        record.unlink(missing_ok=True)
        if outcome.reason:
            self.records.remove(folder)
        else:
            self.records.exchange(Path(order.output), folder)
        values = {"reason": outcome.reason, "key": failed if outcome.reason else made}
        self.records.write_record(record, values)
        return str(outcome.reason)

    def record(self, deposit: Deposit, step: Step) -> Values:
        """Return the record of a step, if it is the result of what there is now."""
        values = self.records.read(deposit, step)
        result = values.get("result", "")
        if deposit.problem or not result or (self.settings.retry and result in BROKEN):
            return {}
        if values.get("key") != self.key(self.order(deposit, step), result):
            return {}
        there = result != "scored" or self.records.results(deposit).is_dir()
        return values if there else {}

    def do(self, step: Step, wanted: Sequence[Deposit]) -> None:
        """Do a step of all submissions that have no record of it."""
        todo = [each for each in wanted if not self.record(each, step)]
        orders = [self.order(each, step) for each in todo]
        if step == "score":  # scores are first made in a hidden folder
            hidden = (str(hidden_path(self.records.results(each))) for each in todo)
            orders = [replace(o, output=path) for o, path in zip(orders, hidden, strict=True)]
        nodes = [Node(PERFORM, (order,)) for order in orders]
        for done, (number, outcome) in enumerate(self.workers.results(nodes), 1):
            self.commit(todo[number], orders[number], outcome)
            self.step(done, len(todo))

    def commit(self, deposit: Deposit, order: Order, outcome: Outcome | Failed) -> None:
        """Keep the record of an order, unless the submission changed meanwhile.

        Raises:
            NotWritten: if the worker could not write.
        """
        if isinstance(outcome, Failed):
            result = "crashed" if outcome.problem == "error" else outcome.problem
            outcome = Outcome(result, reason=outcome.reason)
        if outcome.result == "disk":
            raise NotWritten(None, outcome.reason, str(self.settings.root), UNCHANGED)
        if not deposit.is_unchanged(self.settings.root):
            return
        if outcome.result == "scored":
            self.records.keep(deposit, Path(order.output))
        elif order.step == "score":
            self.records.forget(deposit)
        reason, hint = outcome.reason, outcome.help
        if outcome.result in BROKEN:
            limits = self.settings.work
            problem = pipeline_status.failure_finding(deposit, order.step, outcome, limits)
            reason, hint = f"{problem.message} ({problem.code})", problem.help or ""
        values = {
            "result": outcome.result,
            "reason": reason,
            "help": hint,
            "companions": " ".join(outcome.companions),
            "key": self.key(order, outcome.result),
        }
        self.records.write(deposit, order.step, values, outcome.report or order.report())
        self.done += 1
        self.status(deposit)

    def update(self) -> tuple[Entry, ...]:
        """Write and return the status of each submission."""
        return tuple(map(self.status, self.deposits))

    def status(self, deposit: Deposit) -> Entry:
        """Write and return the status of a submission; scores of others are removed."""
        validation = self.record(deposit, "validation")
        full = self.over.get(deposit.name)
        reference = self.settings.reference_of(deposit) if deposit.task else ""
        score = {} if full or not validation else self.record(deposit, "score")
        entry = pipeline_status.entry(deposit, validation, score, full, reference)
        if entry.status in {"invalid", "over limit", "valid"}:
            self.records.forget(deposit)
        return self.write_status(deposit, entry)

    def write_status(self, deposit: Deposit, entry: Entry) -> Entry:
        """Write and return a status."""
        values = {"status": entry.status, "submission": entry.file, "task": entry.task}
        evaluation = self.settings.evaluation
        hint = pipeline_status.team_help(deposit, entry, evaluation.teams if evaluation else ())
        values |= {"team": entry.team, "reason": entry.reason, "help": hint}
        self.records.write(deposit, "status", values, "")
        return entry

    def order(self, deposit: Deposit, step: Step) -> Order:
        """Return the order for a step of a submission, which is made once."""
        if (deposit.name, step) not in self.orders:
            self.orders[deposit.name, step] = self.make_order(deposit, step, {})
        return self.orders[deposit.name, step]

    def make_order(self, deposit: Deposit, step: Step, mates: Mapping[str, str]) -> Order:
        """Make the order for a step of a submission.

        Args:
            deposit: the submission.
            step: the step.
            mates: paths of the submissions that options name, where nothing else is given.
        """
        settings, task = self.settings, deposit.task
        request = Request(
            task,
            deposit.path,
            settings.reference_of(deposit),
            against=settings.against_of(deposit) or None,
            profile=settings.of_task(task).profile,
            options={**mates, **self.options[task]},
        )
        order = Order(step, request, defaults=settings.defaults_of(task))
        if step == "validation":  # beside one of the same team that it goes with
            for other in self.deposits if deposit.team else ():
                if other.team == deposit.team and not other.problem:
                    for option in load(other.task).options:
                        if option.submission_to and option.submission_to[0] == task:
                            beside, known = option.submission_to[1], order.mates
                            paths = {**known, other.identifier: other.path}
                            order = replace(order, beside=beside, mates=paths)
        digests = []
        for path in order.inputs:
            if path and path not in self.read:
                self.read[path] = self.digests.of(settings.root / path)
            digests.append(self.read[path] if path else "")
        commands = (order.validate_command, order.command, sorted(order.mates))
        names = [list(order.defaults.names)] if order.defaults else []
        signed = load(task).signed  # a declaration, which can change
        return replace(order, key=key(step, *commands, digests, *names, *signed.items()))

    def key(self, order: Order, result: str) -> str:
        """Return the digest for a result; that of limits, too, if these are the reason."""
        if result not in BROKEN:
            return order.key
        return key(order.key, self.settings.work.seconds, self.settings.work.megabytes)


#: Milliseconds without a change after which the pipeline goes on: uploads take a while.
_QUIET = 1000
#: Milliseconds after which it goes on in any case.
_LONGEST = 60_000
#: Milliseconds after which it looks by itself: drives of a network report no changes.
_NOW_AND_THEN = 30_000


class CannotWatch(ValueError):
    """The library that watches folders is not installed."""


def watch(settings: PipelineSettings) -> Iterator[PipelineResult]:
    """Run a pipeline, and again after each change, until nobody asks for more.

    Args:
        settings: how submissions are validated and scored.

    Yields:
        The result of each run that did something, and of the first one.

    Raises:
        CannotWatch: if the library for it is not installed.
        hlteval.workflows.evaluation.pipeline.InUse: if another pipeline works on the root.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise CannotWatch("--watch needs watchfiles: pip install 'hlteval[watch]'") from error
    changes = watchfiles.watch(
        *watched_paths(settings),
        debounce=_LONGEST,
        step=_QUIET,
        rust_timeout=_NOW_AND_THEN,
        yield_on_timeout=True,
    )
    with closing(_runs(settings, changes)) as runs:
        yield next(runs)
        yield from (result for result in runs if result.done)


def watched_paths(settings: PipelineSettings) -> list[Path]:
    """Return the folders and files on which results depend, which exist."""
    paths = [settings.root / FOLDER, *map(Path, settings.given_paths), *settings.manifest_paths]
    return [path for path in dict.fromkeys(paths) if path.exists()]


def other_tasks(config: Config, manifest: str | None) -> list[str]:
    """Return the tasks of a manifest that a file of defaults is not for.

    Args:
        config: the file.
        manifest: path of the manifest; None for none.
    """
    if manifest is None or not config.task:
        return []
    return [task for task in read_manifest(manifest).evaluation.tasks if task != config.task]
