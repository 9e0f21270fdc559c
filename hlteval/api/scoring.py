"""Scores of a submission: `score`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlteval.api.arguments import (
    Count,
    Encoding,
    Positive,
    Profile,
    ScoredTask,
    Share,
    checked,
)
from hlteval.api.options import OptionValue, python_names, reference_path, task_options
from hlteval.results.scores import Scores
from hlteval.sources.inputs import Input, as_path
from hlteval.tasks import load
from hlteval.tasks.options import with_seed
from hlteval.workflows import scoring
from hlteval.workflows.runs import Intervals


@checked
def score(
    task: ScoredTask,
    reference: Input | None,
    system: Input,
    *,
    profile: Profile = "plan",
    lenient: bool = False,
    bootstrap: Count = 0,
    confidence: Share = 0.95,
    seed: Count = 0,
    alignment: bool = True,
    encoding: Encoding = "utf-8",
    jobs: Positive = 1,
    defaults: Input | None = None,  # noqa: ARG001 - `checked` reads it
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Scores:
    """Score a submission against a reference.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        system: the submission.
        profile: `plan` for the written specification, `official` for the official software.
        lenient: score what can be scored in spite of blocking findings.
        bootstrap: number of resamples for confidence intervals; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alignment: whether the table `alignment`, and texts for reports, are wanted; costs memory.
        encoding: encoding of the files.
        jobs: number of processes; the scores do not depend on it.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Raises:
        Refused: a ValueError, if there are blocking findings; its `verdict` has them.
        WrongOption: a ValueError, for an unknown option or one that cannot have its value.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> import polars as pl
        >>> row = {"document": "d1", "mention": "m1", "label": "PER", "start": 0, "end": 4}
        >>> mentions = pl.DataFrame([row | {"entity": "NIL1", "mention_type": "NAM"}])
        >>> scores = score("lorehlt-edl", mentions, mentions, measure="muc", lenient=True)
        >>> scores.metrics["muc.fscore"]  # undefined: one mention has no links
    """
    table = load(task).scored_table
    paths = (reference_path(task, reference), as_path("system", system, table=table))
    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    given = with_seed(load(task), task_options(task, score, options, task_option), seed)
    with python_names({"reference": paths[0], "system": paths[1], **given}, task):
        more: dict[str, Any] = {"alignment": alignment, "evidence": alignment, "jobs": jobs}
        more["intervals"] = Intervals(bootstrap, confidence, seed) if bootstrap else None
        return scoring.score(task, paths[0], paths[1], options=given, **settings, **more)
