"""The best submission of each team: at each checkpoint, for each task, language and condition."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hlteval.results.evaluation import PARTS, Evaluation
from hlteval.results.pipeline import Best
from hlteval.tasks import load
from hlteval.workflows.deposits import Deposit, deposits
from hlteval.workflows.pipeline_records import Records

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
