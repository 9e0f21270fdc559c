"""Orders of a pipeline: what is to be done for a submission, and on what the result depends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hlteval.tasks import load
from hlteval.workflows.deposits import Deposit
from hlteval.workflows.pipeline_records import Digests, Step, key
from hlteval.workflows.pipeline_settings import PipelineSettings
from hlteval.workflows.pipeline_status import Values
from hlteval.workflows.pipeline_work import BROKEN, Order
from hlteval.workflows.pipeline_workers import WorkLimits


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
