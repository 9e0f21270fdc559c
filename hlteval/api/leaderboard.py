"""Leaderboards of several submissions: `leaderboard`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from hlteval.api.arguments import (
    Count,
    Encoding,
    Positive,
    Profile,
    ScoredTask,
    Share,
    checked,
    shown,
)
from hlteval.api.configs import taken_from
from hlteval.api.names import system_paths
from hlteval.api.options import OptionValue, python_names, reference_path, task_options
from hlteval.results.config import ranked_with_defaults
from hlteval.results.leaderboard import Leaderboard
from hlteval.sources.inputs import Input, as_path, output_path
from hlteval.tasks import load
from hlteval.tasks.options import with_seed
from hlteval.workflows.board_folder import leaderboard_in
from hlteval.workflows.runs import Intervals


@checked
def leaderboard(
    task: ScoredTask,
    reference: Input | None,
    systems: Iterable[Input] | Mapping[str, Input],
    *,
    names: Input | None = None,
    metrics: Collection[str] = (),
    output: str | os.PathLike[str] | None = None,
    bootstrap: Positive | None = None,
    confidence: Share = 0.95,
    seed: Count = 0,
    alpha: Share = 0.05,
    profile: Profile = "plan",
    lenient: bool = False,
    encoding: Encoding = "utf-8",
    jobs: Positive = 1,
    defaults: Input | None = None,
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Leaderboard:
    r"""Rank submissions by several metrics; those that are refused are rows, too.

    Args:
        task: name of the task.
        reference: the reference; None for tasks without references.
        systems: the submissions, or a mapping of names to submissions.
        names: file of names, as in `docs/leaderboard.md`.
        metrics: names of the metrics, the first of which ranks; by default the usual ones.
        output: folder to write with a page and reports; None for none.
        bootstrap: number of replicates; by default 10,000, or 200 if each is scored separately.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        alpha: level of significance.
        profile: `plan` or `official`.
        lenient: rank what can be scored in spite of blocking findings.
        encoding: encoding of the files.
        jobs: number of processes.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name.
        **task_option: the same.

    Raises:
        Refused: a ValueError, if the reference or the file of names cannot be used.
        WrongOption, WrongArgument, TypeError, FileNotFoundError: for a wrong argument.

    Examples:
        >>> from io import StringIO
        >>> gold, wrong = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n", StringIO("nothing")
        >>> board = leaderboard("lorehlt-edl", StringIO(gold), {"a": StringIO(gold), "b": wrong})
        >>> [(row.name, row.codes) for row in board.rows]
        [('a', ()), ('b', ('EDL201',))]
    """
    path = reference_path(task, reference)
    given = with_seed(load(task), task_options(task, leaderboard, options, task_option), seed)
    files = _files(names, output)
    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    settings |= {"options": given, "alpha": alpha, "jobs": jobs, "metrics": _names(metrics)}
    settings |= _counting(Intervals(bootstrap or 0, confidence, seed), files["names"], defaults)
    with python_names({"reference": path, **files, **given}, task):
        return leaderboard_in(files["output"], task, path, _paths(task, systems), **settings)


def _counting(intervals: Intervals, names: str | None, defaults: object) -> dict[str, Any]:
    """The settings of intervals and names, and that what is written names the defaults."""
    named = partial(ranked_with_defaults, defaults=taken_from(defaults))
    return {"intervals": intervals, "names": names, "named": named}


def _files(names: Input | None, output: str | os.PathLike[str] | None) -> dict[str, str | None]:
    """The paths of the file of names and of the folder, by argument."""
    return {
        "names": None if names is None else as_path("names", names, files_only=True),
        "output": None if output is None else output_path("output", output),
    }


def _paths(task: str, systems: Iterable[Input] | Mapping[str, Input]) -> list[str]:
    """The submissions, each with a name of its own; they need not exist."""
    return system_paths(systems, load(task).scored_table, existing=False)


def _names(metrics: object) -> list[str]:
    """The names of metrics.

    Raises:
        TypeError: for a single name, or names that are not text.
    """
    several = isinstance(metrics, Collection) and not isinstance(metrics, str | bytes)
    listed: list[object] = list(metrics) if several else [None]  # type: ignore[call-overload]
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(f"metrics: expected a list of names, got {shown(metrics)}")
    return [str(name) for name in listed]
