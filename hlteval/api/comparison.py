"""Comparisons of several submissions: `compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from hlteval.api.arguments import (
    Count,
    Encoding,
    Positive,
    Profile,
    ScoredTask,
    Share,
    checked,
)
from hlteval.api.names import system_paths
from hlteval.api.options import OptionValue, python_names, reference_path, task_options
from hlteval.results.comparison import Comparison
from hlteval.sources.inputs import Input
from hlteval.tasks import load
from hlteval.tasks.options import with_seed
from hlteval.workflows import comparison
from hlteval.workflows.runs import Intervals


@checked
def compare(
    task: ScoredTask,
    reference: Input | None,
    systems: Iterable[Input] | Mapping[str, Input],
    *,
    metric: str | None = None,
    test: Literal["permutation", "bootstrap", "jackknife"] | None = None,
    bootstrap: Positive | None = None,
    confidence: Share = 0.95,
    seed: Count = 0,
    alpha: Share = 0.05,
    profile: Profile = "plan",
    lenient: bool = False,
    encoding: Encoding = "utf-8",
    defaults: Input | None = None,  # noqa: ARG001 - `checked` reads it
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Comparison:
    r"""Compare submissions: ranks, confidence intervals and significance tests.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        systems: the submissions, or a mapping of names to submissions.
        metric: what they are compared by; by default the metric that ranks.
        test: significance test; by default `permutation`, or `jackknife` if counts do not add.
        bootstrap: number of replicates; by default 10,000, or 200 if each is scored separately.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alpha: level of significance.
        profile: `plan` or `official`.
        lenient: compare what can be scored in spite of blocking findings.
        encoding: encoding of the files.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Raises:
        Refused: a ValueError, if a submission cannot be scored.
        WrongOption: a ValueError, for an unknown metric or option.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
        >>> names = {"a": StringIO(table), "b": StringIO(table.replace("GPE", "PER"))}
        >>> compare("lorehlt-edl", StringIO(table), names, bootstrap=9).systems[0].name
        'a'
    """
    table = load(task).scored_table
    path, submissions = reference_path(task, reference), system_paths(systems, table)
    given = with_seed(load(task), task_options(task, compare, options, task_option), seed)
    with python_names({"reference": path, "systems": submissions[0], **given}, task):
        return comparison.compare(
            task, path, submissions, metric=metric, test=test, alpha=alpha, profile=profile,
            intervals=Intervals(bootstrap or 0, confidence, seed), lenient=lenient,
            encoding=encoding, options=given,
        )  # fmt: skip
