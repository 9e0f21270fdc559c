"""The status of a submission: what follows from its records, and from the limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from hlteval.findings import Finding, finding
from hlteval.results.evaluation import PARTS, Best, Entry, Evaluation, Limit
from hlteval.results.evaluation import SubmissionStatus as Status
from hlteval.sources.archives import shown_names
from hlteval.sources.names import printable
from hlteval.tasks import load
from hlteval.workflows.evaluation.deposits import Deposit, deposits, shown
from hlteval.workflows.evaluation.pipeline_state import (
    Digests,
    PipelineSettings,
    Records,
    Step,
    key,
)
from hlteval.workflows.evaluation.pipeline_work import BROKEN, Order, Outcome
from hlteval.workflows.evaluation.pipeline_workers import WorkLimits

Values = Mapping[str, str]
"""The values of a record; none if there is no record, or not of what there is now."""
ASK_ORGANISERS = "ask the organisers"
_NAMES: Mapping[Step, str] = {"validation": "validation", "score": "scoring"}


class Over(NamedTuple):
    """Why a submission is over a limit.

    Attributes:
        limit: the limit.
        group: the parts of the group that is full.
        earlier: the names of the submissions of the same team that count.
    """

    limit: Limit
    group: tuple[str, ...]
    earlier: tuple[str, ...]

    def finding(self, deposit: Deposit) -> Finding:
        """The finding about a submission."""
        group = printable(", ".join(self.group))
        names = shown_names([printable(name) for name in self.earlier])
        hint = f"withdraw one of {names}" if names else "ask the organisers for a higher limit"
        file = shown(deposit.name)
        return finding("PIP103", file=file, hint=hint, group=group, most=self.limit.most)


def over_limits(
    valid: Iterable[Deposit], limits: Callable[[str], Iterable[Limit]]
) -> dict[str, Over]:
    """The submissions that are over a limit, by name: the first ones of each group are not.

    Args:
        valid: the submissions that passed validation, in the order in which they count.
        limits: the limits of a task.
    """
    found: dict[str, Over] = {}
    counted: dict[tuple[Limit, tuple[str, ...]], list[Deposit]] = {}
    for deposit in valid:
        groups = [(limit, limit.group(deposit.parts)) for limit in limits(deposit.task)]
        own = [(limit, group) for limit, group in groups if group and limit.most is not None]
        full = [each for each in own if len(counted.get(each, ())) >= (each[0].most or 0)]
        if full:
            limit, group = full[0]
            own_team = [each for each in counted[limit, group] if each.team == deposit.team]
            earlier = tuple(each.name for each in own_team if each.team)
            found[deposit.name] = Over(limit, group, earlier)
        else:
            for each in own:
                counted.setdefault(each, []).append(deposit)
    return found


def broken(deposit: Deposit, step: Step, outcome: Outcome, limits: WorkLimits) -> Finding:
    """The finding about a submission at which a step went wrong."""
    file, name = shown(deposit.name), _NAMES[step]
    if outcome.result == "time":
        return finding("PIP105", file=file, step=name, seconds=limits.seconds)
    if outcome.result == "memory":
        return finding("PIP106", file=file, step=name, megabytes=limits.megabytes)
    return finding("PIP104", file=file, step=name, reason=outcome.reason)


def entry(
    deposit: Deposit, validation: Values, score: Values, full: Over | None, reference: str
) -> Entry:
    """The status of a submission.

    Args:
        deposit: the submission.
        validation: the record of its validation.
        score: the record of its scores.
        full: why it is over a limit, if it is.
        reference: the path of its reference; empty if there is none.
    """
    if deposit.problem is not None:
        return _of_finding(deposit, "invalid", deposit.problem)
    result = validation.get("result", "")
    if result != "passed":
        return _entry(deposit, _status(result, _OF_VALIDATION), validation)
    task = load(deposit.task)
    if full is not None:
        return _of_finding(deposit, "over limit", full.finding(deposit))
    if task.metric is None:
        return _entry(deposit, "valid", validation)
    if not reference and not task.scored_alone:
        return _of_finding(deposit, "not scored", no_reference(deposit))
    return _entry(deposit, _status(score.get("result", ""), _OF_SCORE), score)


def team_help(deposit: Deposit, found: Entry, declared: Collection[str]) -> str:
    """The help in the log that a team receives, which names no other team.

    Args:
        deposit: the submission.
        found: its status, with the help for the organisers.
        declared: the names of all teams.
    """
    others = [name for name in declared if name != deposit.team]
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", found.help) for name in others):
        return ASK_ORGANISERS  # such as a form of names that lists the teams
    return found.help


def withdrawn(deposit: Deposit, aside: str) -> Entry:
    """The status of a submission whose archive is no longer there.

    Args:
        deposit: the submission.
        aside: where its results are; empty if it has none.
    """
    reason = f"{deposit.path} is no longer there"
    kept = f"its results are in {printable(aside)}; " if aside else ""
    help_ = f"{kept}remove logs/{deposit.identifier}.* to forget it, or put it back to count it"
    return _entry(deposit, "withdrawn", {"reason": printable(reason), "help": printable(help_)})


def no_reference(deposit: Deposit) -> Finding:
    """The finding about a submission for which there is no reference."""
    parts = [deposit.task, deposit.parts.get("language", "")]
    return finding("PIP108", file=shown(deposit.name), what=", ".join(filter(None, parts)))


_OF_VALIDATION: Mapping[str, Status] = {"failed": "invalid", "undecided": "not scored"}
_OF_SCORE: Mapping[str, Status] = {"scored": "scored", "refused": "not scored"}


def _status(result: str, of_result: Mapping[str, Status]) -> Status:
    return "failed" if result in BROKEN else of_result.get(result, "waiting")


def _of_finding(deposit: Deposit, status: Status, reason: Finding) -> Entry:
    values = {"reason": f"{reason.message} ({reason.code})", "help": reason.help or ""}
    return _entry(deposit, status, values)


def _entry(deposit: Deposit, status: Status, values: Values) -> Entry:
    return Entry(
        submission=printable(deposit.identifier),
        file=printable(deposit.name),
        status=status,
        task=printable(deposit.task),
        team=printable(deposit.team),
        reason=values.get("reason", ""),
        help=values.get("help", ""),
    )


@dataclass
class Orders:
    """Makes the orders of a run, each once.

    Attributes:
        settings: how submissions are validated and scored.
        limits: of the work on each.
        digests: of the files on which results depend.
        deposits: all submissions.
        made: the orders by submission and step.
        read: the digest of each path in this run.
        options: those of each task.
    """

    settings: PipelineSettings
    limits: WorkLimits
    digests: Digests
    deposits: Sequence[Deposit] = ()
    made: dict[tuple[str, Step], Order] = field(default_factory=dict)
    read: dict[str, str] = field(default_factory=dict)
    options: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def order(self, deposit: Deposit, step: Step) -> Order:
        """The order for a step of a submission."""
        if (deposit.name, step) not in self.made:
            self.made[deposit.name, step] = self._order(deposit, step, {})
        return self.made[deposit.name, step]

    def add(self, companions: Mapping[str, Mapping[str, str]], valid: Sequence[Deposit]) -> None:
        """Let scores depend on the submissions that options name, where nothing else is given.

        Args:
            companions: their paths by the name of the submission that is scored, and by option.
            valid: the submissions that count.
        """
        for deposit in valid:
            if deposit.name in companions:
                order = self._order(deposit, "score", companions[deposit.name])
                self.made[deposit.name, "score"] = order

    def _order(self, deposit: Deposit, step: Step, more: Mapping[str, str]) -> Order:
        order = Order(
            step=step,
            task=deposit.task,
            submission=deposit.path,
            against=self.settings.against_of(deposit),
            reference=self.settings.reference_of(deposit),
            profile=self.settings.of_task(deposit.task).profile,
            options={**more, **self._options(deposit.task)},
            name=deposit.name,
            defaults=self.settings.defaults_of(deposit.task),
        )
        if step == "validation":
            beside, mates = self._mates(deposit)
            order = replace(order, beside=beside, mates=mates)
        digests = [self._digest(path) if path else "" for path in _inputs(order)]
        commands = (order.validate_command, order.command, sorted(order.mates))
        names = [list(order.defaults.names)] if order.defaults else []
        return replace(order, key=key(step, *commands, digests, *names))

    def _mates(self, deposit: Deposit) -> tuple[str, dict[str, str]]:
        """The submissions of the same team that a submission may go with, and the option for it."""
        beside, mates = "", {}
        for other in self.deposits:
            if deposit.team and other.team == deposit.team and not other.problem:
                for option in load(other.task).options:
                    if option.submission_to and option.submission_to[0] == deposit.task:
                        beside, mates[other.identifier] = option.submission_to[1], other.path
        return beside, mates

    def _options(self, task: str) -> Mapping[str, str]:
        """The options of a task, which are checked once."""
        if task not in self.options:
            self.options[task] = self.settings.options_of(task)
        return self.options[task]

    def _digest(self, path: str) -> str:
        if path not in self.read:
            self.read[path] = self.digests.of(self.settings.root / path)
        return self.read[path]

    def key(self, order: Order, result: str) -> str:
        """The digest of what a result depends on; on the limits, too, if these are the reason."""
        if result not in BROKEN:
            return order.key
        return key(order.key, self.limits.seconds, self.limits.megabytes)

    def current(self, deposit: Deposit, step: Step, values: Values) -> bool:
        """Whether a record is the result of what there is now."""
        result = values.get("result", "")
        if not result or (self.settings.retry and result in BROKEN):
            return False
        return values.get("key") == self.key(self.order(deposit, step), result)


def _inputs(order: Order) -> list[str]:
    """The paths that are read for an order."""
    paths = [order.submission, order.against if order.step == "validation" else order.reference]
    paths += [order.mates[name] for name in sorted(order.mates)]
    for option in load(order.task).options:
        if option.is_input and option.name in order.own_options:
            value = order.own_options[option.name]
            paths += value.split() if option.repeatable else [value]
    return paths


def companions(
    valid: list[Deposit], named: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, str]]:
    """The submissions that are values of options of others: the latest one of the same team.

    Args:
        valid: the submissions that count, in their order.
        named: the identifiers of the submissions that each one goes with, by its name.

    Returns:
        Their paths by the name of the other and by option.
    """
    found: dict[str, dict[str, str]] = {}
    for deposit in valid:
        for option in load(deposit.task).options:
            mates = [
                mate.path
                for mate in valid
                if option.submission_to
                and mate.task == option.submission_to[0]
                and deposit.team
                and mate.team == deposit.team
                and deposit.identifier in named.get(mate.name, ())
            ]
            if mates:
                found.setdefault(deposit.name, {})[option.name] = mates[-1]
    return found


_MAIN = "scores.json"


def best_submissions(evaluation: Evaluation, root: Path) -> tuple[Best, ...]:
    """The best submission of each team that a pipeline has scored.

    Teams are compared by these, whether or not they are of one ensemble. Of equal submissions, the
    first counts, in the order of timestamps and names.

    Args:
        evaluation: what the manifest declares.
        root: the folder of the evaluation.

    Returns:
        By task, language, condition and checkpoint; the best team first.

    Raises:
        FileNotFoundError: if it has no folder `submissions`.

    Specification:
        LoReHLT 2019 plan, 8.4.
    """
    best: dict[tuple[str, ...], Best] = {}
    for each in _scored(evaluation, root):
        group = tuple(getattr(each, part) for part in PARTS)
        if group not in best or _worth(each) > _worth(best[group]):
            best[group] = each
    return tuple(sorted(best.values(), key=lambda each: (*each.group, -_worth(each), each.team)))


def _scored(evaluation: Evaluation, root: Path) -> Iterator[Best]:
    records = Records(root)
    for deposit in deposits(root, evaluation):
        if records.read(deposit, "status").get("status") != "scored":
            continue
        scores = json.loads((records.results(deposit) / _MAIN).read_text("utf-8"))
        yield _best(evaluation, deposit, scores)


def _best(evaluation: Evaluation, deposit: Deposit, scores: dict[str, Any]) -> Best:
    settings = evaluation.tasks.get(deposit.task)
    metric = (settings.metric if settings else "") or scores["primary"]
    statistic = load(deposit.task).statistic(metric)
    return Best(
        **{part: deposit.parts.get(part, "") for part in PARTS},
        submission=deposit.identifier,
        metric=metric,
        value=scores["metrics"].get(metric),
        less_is_better=statistic is not None and statistic.better == "less",
    )


def _worth(best: Best) -> float:
    """What is larger for better submissions; without a value, less than all others."""
    if best.value is None:
        return float("-inf")
    return -best.value if best.less_is_better else best.value
