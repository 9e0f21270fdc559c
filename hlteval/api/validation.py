"""Submissions as a task allows them: `validate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hlteval.api.arguments import (
    AnyTask,
    Count,
    Encoding,
    Positive,
    Profile,
    checked,
)
from hlteval.api.options import OptionValue, python_names, task_options
from hlteval.findings import MAX_PER_CODE
from hlteval.results.verdict import Verdict
from hlteval.sources.inputs import Input, as_path
from hlteval.tasks import load
from hlteval.workflows import validation


@checked
def validate(
    task: AnyTask,
    submission: Input,
    *,
    against: Input | None = None,
    role: Literal["submission", "reference"] = "submission",
    profile: Profile = "plan",
    encoding: Encoding = "utf-8",
    max_per_code: Count = MAX_PER_CODE,
    jobs: Positive = 1,
    defaults: Input | None = None,  # noqa: ARG001 - `checked` reads it
    options: Mapping[str, OptionValue] | None = None,
    **task_option: OptionValue,
) -> Verdict:
    r"""Check a submission.

    Args:
        task: name of the task.
        submission: the submission.
        against: the documents that it is for; not needed if it brings its own.
        role: `reference` to check a reference by itself.
        profile: `plan` fails errors; `official` fails what the official software rejects.
        encoding: encoding of the files.
        max_per_code: maximum number of findings of a code in a file that are explained; the others
            are one finding with their `count`. 0 for all.
        jobs: number of processes; the findings do not depend on it.
        defaults: a file of defaults (`hlteval.toml`) for what is not given; none is looked for.
        options: options of the task by name, as in `docs/options.md`.
        **task_option: the same as keyword arguments.

    Returns:
        The verdict, with all findings.

    Raises:
        WrongOption: a ValueError, for an unknown option or one that cannot have its value.
        NothingGiven: a ValueError, if there is nothing to check against.
        WrongArgument, TypeError, FileNotFoundError: for any other wrong argument.

    Examples:
        >>> from io import StringIO
        >>> table = "R\tm1\tOsh\td1:3-5\tNIL1\tCITY\tNAM\t1.0\n"
        >>> verdict = validate("lorehlt-edl", StringIO(table))
        >>> verdict.outcome, [finding.message for finding in verdict.findings]
        ('fail', ['unknown entity type CITY'])
    """
    table = load(task).scored_table
    path = as_path("submission", submission, table=table)
    reference = None if against is None else as_path("against", against, table=table)
    given = task_options(task, validate, options, task_option)
    with python_names({"submission": path, "against": reference, **given}, task):
        return validation.validate(
            task, path, against=reference, role=role, profile=profile, encoding=encoding,
            max_per_code=max_per_code, jobs=jobs, options=given,
        )  # fmt: skip
