"""The status of a submission, which follows from its records and the limits; the best of a team."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hlteval.findings import Finding, finding
from hlteval.results.evaluation import PARTS, Best, Entry, Evaluation, Limit, SubmissionStatus
from hlteval.sources.archives import first_names
from hlteval.sources.names import printable
from hlteval.tasks import load
from hlteval.workflows.evaluation.deposits import Deposit, deposits, display_path
from hlteval.workflows.evaluation.pipeline_state import Records, Step, WorkLimits
from hlteval.workflows.evaluation.pipeline_work import Outcome

#: The values of a record; none if there is no record, or not of what there is now.
Values = Mapping[str, str]
ASK_ORGANISERS = "ask the organisers"


class Over(NamedTuple):
    """The reason why a submission is over a limit.

    Attributes:
        limit: the limit.
        group: the parts of the group that is full.
        earlier: the names of the submissions of the same team that count.
    """

    limit: Limit
    group: tuple[str, ...]
    earlier: tuple[str, ...]


def over_limits(
    valid: Iterable[Deposit], limits: Callable[[str], Iterable[Limit]]
) -> dict[str, Over]:
    """Return the submissions that are over a limit, by name: the first of each group are not.

    Args:
        valid: the submissions that passed validation, in the order in which they count.
        limits: the limits of a task.
    """
    over: dict[str, Over] = {}
    counted: dict[tuple[Limit, tuple[str, ...]], list[Deposit]] = {}
    for deposit in valid:
        groups = [(limit, limit.group(deposit.parts)) for limit in limits(deposit.task)]
        places = [(limit, group) for limit, group in groups if group and limit.most is not None]
        full = [each for each in places if len(counted.get(each, ())) >= (each[0].most or 0)]
        if full:
            before = counted.get(full[0], ())
            earlier = tuple(e.name for e in before if e.team and e.team == deposit.team)
            over[deposit.name] = Over(*full[0], earlier)
        for each in () if full else places:
            counted.setdefault(each, []).append(deposit)
    return over


def failure_finding(deposit: Deposit, step: Step, outcome: Outcome, limits: WorkLimits) -> Finding:
    """Return the finding about a submission at which a step went wrong."""
    file, name = display_path(deposit.name), "scoring" if step == "score" else step
    if outcome.result == "time":
        return finding("PIP105", file=file, step=name, seconds=limits.seconds)
    if outcome.result == "memory":
        return finding("PIP106", file=file, step=name, megabytes=limits.megabytes)
    return finding("PIP104", file=file, step=name, reason=outcome.reason)


#: The status by the result of the last step.
_STATUS: Mapping[str, SubmissionStatus] = {
    "failed": "invalid",
    "undecided": "not scored",
    "scored": "scored",
    "refused": "not scored",
    "crashed": "failed",
    "time": "failed",
    "memory": "failed",
}


def entry(
    deposit: Deposit, validation: Values, score: Values, full: Over | None, reference: str
) -> Entry:
    """Return the status of a submission.

    Args:
        deposit: the submission.
        validation: the record of its validation.
        score: the record of its scores.
        full: the limit that it is over, if it is.
        reference: the path of its reference; empty if there is none.
    """
    file = display_path(deposit.name)
    if deposit.problem is not None:
        return _entry(deposit, "invalid", deposit.problem)
    if (result := validation.get("result", "")) != "passed":
        return _entry(deposit, _STATUS.get(result, "waiting"), validation)
    if full is not None:
        names = first_names([printable(name) for name in full.earlier])
        hint = f"withdraw one of {names}" if names else f"{ASK_ORGANISERS} for a higher limit"
        group, most = printable(", ".join(full.group)), full.limit.most
        problem = finding("PIP103", file=file, hint=hint, group=group, most=most)
        return _entry(deposit, "over limit", problem)
    task = load(deposit.task)
    if task.metric is None:
        return _entry(deposit, "valid", validation)
    if not reference and not task.scored_alone:
        parts = filter(None, (deposit.task, deposit.parts.get("language", "")))
        return _entry(deposit, "not scored", finding("PIP108", file=file, what=", ".join(parts)))
    return _entry(deposit, _STATUS.get(score.get("result", ""), "waiting"), score)


def withdrawn(deposit: Deposit, aside: str) -> Entry:
    """Return the status of a submission whose archive is no longer there.

    Args:
        deposit: the submission.
        aside: where its results are; empty if it has none.
    """
    reason = f"{deposit.path} is no longer there"
    kept = f"its results are in {printable(aside)}; " if aside else ""
    hint = f"{kept}remove logs/{deposit.identifier}.* to forget it, or put it back to count it"
    return _entry(deposit, "withdrawn", {"reason": printable(reason), "help": printable(hint)})


def _entry(deposit: Deposit, status: SubmissionStatus, why: Finding | Values) -> Entry:
    if isinstance(why, Finding):
        why = {"reason": f"{why.message} ({why.code})", "help": why.help or ""}
    names = map(printable, (deposit.identifier, deposit.name, deposit.task, deposit.team))
    identifier, file, task, team = names
    reason, hint = why.get("reason", ""), why.get("help", "")
    return Entry(identifier, file, status, task, team, reason, hint)


def team_help(deposit: Deposit, entry: Entry, declared: Collection[str]) -> str:
    """Return the help for the log that a team receives, which names no other team.

    Args:
        deposit: the submission.
        entry: its status, with the help for the organisers.
        declared: the names of all teams.
    """
    others = [name for name in declared if name != deposit.team]
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", entry.help) for name in others):
        return ASK_ORGANISERS  # such as a form of names that lists the teams
    return entry.help


def companions(
    deposit: Deposit, valid: Sequence[Deposit], named: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Return the submissions that options name: the latest one of the same team for each option.

    Args:
        deposit: the submission that is scored.
        valid: the submissions that count, in their order.
        named: the identifiers of the submissions that each one goes with, by its name.

    Returns:
        Their paths by option.
    """
    mates = [
        mate
        for mate in valid
        if deposit.team and mate.team == deposit.team and deposit.identifier in named[mate.name]
    ]
    return {
        option.name: mate.path
        for option in load(deposit.task).options
        for mate in mates
        if option.submission_to and mate.task == option.submission_to[0]
    }


def best_submissions(evaluation: Evaluation, root: Path) -> tuple[Best, ...]:
    """Return the best submission of each team that a pipeline has scored.

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
    records = Records(root)
    best: dict[tuple[str, ...], Best] = {}
    for deposit in deposits(root, evaluation):
        if records.read(deposit, "status").get("status") != "scored":
            continue
        scores = json.loads((records.results(deposit) / "scores.json").read_text("utf-8"))
        settings = evaluation.tasks.get(deposit.task)
        metric = (settings.metric if settings else "") or scores["primary"]
        statistic = load(deposit.task).statistic(metric)
        parts = {part: deposit.parts.get(part, "") for part in PARTS}
        submission = Best(
            **parts,
            submission=deposit.identifier,
            metric=metric,
            value=scores["metrics"].get(metric),
            less_is_better=statistic is not None and statistic.better == "less",
        )
        group = (*(parts[part] for part in PARTS[1:]), deposit.team)
        if group not in best or _worth(submission) > _worth(best[group]):
            best[group] = submission
    order = sorted(best, key=lambda group: (*group[:-1], -_worth(best[group]), group[-1]))
    return tuple(best[group] for group in order)


def _worth(best: Best) -> float:
    """Return a number that is larger for better submissions, and least without a value."""
    if best.value is None:
        return float("-inf")
    return -best.value if best.less_is_better else best.value
