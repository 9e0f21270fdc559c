"""The pipeline: every submission of an evaluation is validated, and scored if it is valid.

The state is the file system, and its pieces are written in this order, each in one step:

1. `logs/ID.validation.txt` ends the validation;
2. `results/ID/` has the scores, and `logs/ID.score.txt` ends the scoring;
3. `logs/ID.status.txt` says what follows from the two.

A record that has the key of what it depends on is right; else its step is done again, and what it
was about is replaced. So an interrupted run is continued by the next one, and a run after a
complete one changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import msgspec

from hlteval.results.pipeline import Entry, PipelineResult
from hlteval.sources.disk import UNCHANGED, NotWritten
from hlteval.sources.writing import hidden_path, remove_unfinished
from hlteval.tasks import load
from hlteval.workflows.deposits import Deposit, deposits
from hlteval.workflows.pipeline_orders import Orders, companions
from hlteval.workflows.pipeline_records import RESULTS, Digests, Records, Step
from hlteval.workflows.pipeline_settings import PipelineSettings
from hlteval.workflows.pipeline_status import (
    Over,
    Values,
    broken,
    entry,
    over_limits,
    team_help,
    withdrawn,
)
from hlteval.workflows.pipeline_work import BROKEN, Order, Outcome
from hlteval.workflows.pipeline_workers import Processes, Workers, WorkLimits
from hlteval.workflows.root_lock import locked
from hlteval.workflows.steps import Step as Watch
from hlteval.workflows.steps import silent


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
