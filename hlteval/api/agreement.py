"""Agreement between annotators: `agreement`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hlteval.api.arguments import AnyTask, Count, Encoding, Share, checked
from hlteval.api.names import system_paths
from hlteval.api.options import OptionValue, python_names, task_options
from hlteval.results.agreement import Agreement
from hlteval.results.names import short_names
from hlteval.sources.inputs import Input, as_path
from hlteval.tasks import load
from hlteval.workflows import agreement as workflow
from hlteval.workflows.runs import Intervals


@checked
def agreement(
    task: AnyTask,
    annotations: Iterable[Input] | Mapping[str, Input],
    *,
    against: Input | None = None,
    bootstrap: Count = 1000,
    confidence: Share = 0.95,
    seed: Count = 0,
    lenient: bool = False,
    encoding: Encoding = "utf-8",
    defaults: Input | None = None,  # noqa: ARG001 - `checked` reads it
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Agreement:
    r"""Measure the agreement between annotators of the same documents.

    Args:
        task: name of the task.
        annotations: an annotation of each annotator, or a mapping of names to annotations; or a
            single one that names several annotators.
        against: the documents of the annotations, if these do not include them.
        bootstrap: number of resamples for confidence intervals; 0 for no intervals.
        confidence: confidence level of the intervals.
        seed: of the random numbers.
        lenient: compare what can be read in spite of blocking findings.
        encoding: encoding of the files.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Raises:
        Refused: a ValueError, if the annotations cannot be compared.
        WrongOption: a ValueError, for an unknown option, or a task without judgments.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
        >>> names = {"Ada": StringIO(table), "Bo": StringIO(table.replace("GPE", "LOC"))}
        >>> found = agreement("lorehlt-edl", names, bootstrap=0)
        >>> {pair.measure: pair.value for pair in found.measures}["strong_mention_match.fscore"]
        1.0
    """
    paths = system_paths(annotations, load(task).scored_table, argument="annotations")
    documents = None if against is None else as_path("against", against)
    given = task_options(task, agreement, options, task_option)
    names = short_names(paths)
    with python_names({"annotations": paths[0], "against": documents, **given}, task):
        return workflow.agreement(
            task, paths, names=[names[path] for path in paths], against=documents,
            intervals=Intervals(bootstrap, confidence, seed) if bootstrap else None,
            lenient=lenient, options=given, encoding=encoding,
        )  # fmt: skip
