"""The status of a submission: what follows from its records, and from the limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from hlteval.findings import Finding, finding
from hlteval.results.evaluation import Limit
from hlteval.results.pipeline import Entry, Status
from hlteval.sources.names import printable
from hlteval.sources.problems import shown_names
from hlteval.tasks import load
from hlteval.workflows.deposits import Deposit, shown
from hlteval.workflows.pipeline_records import Step
from hlteval.workflows.pipeline_work import BROKEN, Outcome
from hlteval.workflows.pipeline_workers import WorkLimits

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
