"""The work of a pipeline on one submission: validation, and scoring into a folder.

It is done in a process of its own, in the root of the evaluation, so that all paths in logs and
results are relative to it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from hlteval.findings import Finding
from hlteval.results.scores import Scores
from hlteval.results.verdict import Defaults, Verdict
from hlteval.sources.spooling import NotWritten, written
from hlteval.tasks import load
from hlteval.tasks.task import Task
from hlteval.workflows.evaluation.pipeline_state import Step

Result = Literal[
    "passed", "failed", "undecided", "scored", "refused", "crashed", "time", "memory", "disk"
]
BROKEN: frozenset[str] = frozenset({"crashed", "time", "memory"})
"""Results that say more of the program and its limits than of the submission."""
MAX_FINDINGS = 200
"""Maximum number of findings that a log shows of a file, and five times as many in all."""


@dataclass(frozen=True)
class Order:
    """What is to be done.

    Attributes:
        step: validation or scoring.
        task: name of the task.
        submission: path of the submission.
        against: path of what it is checked against; empty if there is nothing.
        reference: path of the reference; empty if there is none.
        profile: `plan` or `official`.
        options: values of the options of the task, as text.
        output: the folder that takes the scores.
        name: of the submission, by which its outcome is known.
        key: the digest of all that the outcome depends on.
        mates: paths of submissions by identifier: where the submission goes with one of them, it is
            validated beside this.
        beside: the option of validation that names it.
        defaults: what came from a file of defaults; None if none applies.
    """

    step: Step
    task: str
    submission: str
    against: str = ""
    reference: str = ""
    profile: str = "plan"
    options: Mapping[str, str] = field(default_factory=dict)
    output: str = ""
    name: str = ""
    key: str = ""
    mates: Mapping[str, str] = field(default_factory=dict)
    beside: str = ""
    defaults: Defaults | None = None

    @property
    def own_options(self) -> Mapping[str, str]:
        """The options that the command of the step has."""
        command = "validate" if self.step == "validation" else "score"
        available = {o.name for o in load(self.task).options if o.available_in(command)}
        return {name: value for name, value in self.options.items() if name in available}

    @property
    def validate_command(self) -> str:
        """The command that validates the submission, in the root of the evaluation."""
        return replace(self, step="validation").command

    @property
    def command(self) -> str:
        """The command that does the same, in the root of the evaluation."""
        validates = self.step == "validation"
        words = ["hlteval", "validate" if validates else "score", self.task]
        if validates:
            words += [self.submission, *(["--against", self.against] if self.against else [])]
        else:
            words += ["-r", self.reference] if self.reference else []
            words += ["-s", self.submission]
        words += [] if self.profile == "plan" else ["--profile", self.profile]
        for option in load(self.task).options:
            if value := self.own_options.get(option.name, ""):
                values = value.split() if option.repeatable else [value]
                words += [f"--{option.flag}"] if option.switch else []
                for item in () if option.switch else values:
                    words += [f"--{option.flag}", item]
        words += ["--defaults", "none"] if self.defaults else []
        return shlex.join(words)

    def headed(self, report: str = "") -> str:
        """A report after the command."""
        return f"$ {self.command}\n" + (f"\n{report}" if report else "")


@dataclass(frozen=True)
class Outcome:
    """What came of an order.

    Attributes:
        result: in a word.
        report: for people.
        reason: why there is no better result, in one line.
        help: what to do, in one line.
        companions: the submissions that this one goes with.
    """

    result: Result
    report: str = ""
    reason: str = ""
    help: str = ""
    companions: tuple[str, ...] = ()


def perform(order: Order) -> Outcome:
    """Do what is ordered; whatever goes wrong is an outcome.

    Args:
        order: what to do, in the working directory.
    """
    try:
        return _validated(order) if order.step == "validation" else _scored(order)
    except MemoryError:
        return Outcome("memory")
    except NotWritten as error:
        return Outcome("disk", reason=str(error))
    except Exception as error:
        return Outcome("crashed", reason=f"an internal error ({type(error).__name__}: {error})")


def _validated(order: Order) -> Outcome:
    outcome = _validate(order)
    named = [order.mates[each] for each in outcome.companions if each in order.mates]
    if not named or order.beside in order.options:
        return outcome
    beside = replace(order, options={**order.options, order.beside: named[0]})
    return replace(_validate(beside), companions=outcome.companions)


def _validate(order: Order) -> Outcome:
    from hlteval.reports.findings import render
    from hlteval.reports.terminal import rendered
    from hlteval.workflows.run.engine import validate
    from hlteval.workflows.run.request import Request
    from hlteval.workflows.run.verdicts import BESIDE_A_SUBMISSION

    verdict = validate(
        Request(
            order.task,
            order.submission,
            against=order.against or None,
            profile=order.profile,
            options=order.own_options,
        )
    )
    report = order.headed(rendered(render(verdict, "text", MAX_FINDINGS)))
    if verdict.passed and verdict.decided:
        return Outcome("passed", report, companions=_companions(order))
    errors = _errors(verdict)
    own = [each for each in errors if each.side == verdict.side]
    own += [each for each in errors if each.code in BESIDE_A_SUBMISSION]
    if not verdict.decided and not own:  # the reference is the reason, for any submission
        return Outcome("undecided", report, _first(errors), "check the reference")
    return Outcome("failed", report, _first(own or errors))


def _errors(verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.severity == "error"]


def _first(errors: list[Finding]) -> str:
    """The first of some errors, and how many others there are."""
    if not errors:
        return "refused by the rules of the profile"
    number = sum(finding.count for finding in errors)
    more = f", and {number - 1:,} more" if number > 1 else ""
    return f"{errors[0].message} ({errors[0].code}){more}"


def _companions(order: Order) -> tuple[str, ...]:
    """The submissions that a submission goes with, as its task finds them."""
    from hlteval.representation import Corpus
    from hlteval.sources import open_source

    task = load(order.task)
    if task.deposited.companions is None:
        return ()
    from hlteval.converters import load as load_format

    results = load_format(task.format).read(open_source(order.submission))
    return task.deposited.companions(Corpus.concat(result.corpus for result in results))


def _scored(order: Order) -> Outcome:
    from hlteval.reports.scores import Refusal
    from hlteval.reports.terminal import rendered
    from hlteval.results.config import with_defaults
    from hlteval.workflows.run.engine import score
    from hlteval.workflows.run.request import Request
    from hlteval.workflows.run.verdicts import Refused

    given: dict[str, Any] = {"profile": order.profile, "options": order.own_options}
    try:
        scores = score(Request(order.task, order.submission, order.reference, **given))
    except Refused as refused:
        command = shlex.split(order.command)
        refusal = Refusal(refused.verdict, str(refused), refused.fix, refused.blocking, command)
        report = order.headed(rendered(refusal.as_text(MAX_FINDINGS)))
        return Outcome("refused", report, str(refused), refused.fix)
    named = order.defaults if order.defaults and order.defaults.names else None
    scores = with_defaults(scores, named)
    write_results(scores, Path(order.output), order)
    return Outcome("scored", order.headed("the scores are in the folder of results\n"))


def write_results(scores: Scores, folder: Path, order: Order) -> None:
    """Write all scores, under the names of the specification where it has names.

    The two scripts repeat the commands, in the root of the evaluation.
    """
    from hlteval.reports.scores import write_tables

    with written(folder):
        write_tables(scores, folder)
        _rename(load(order.task), folder)
        commands = {"validate.sh": order.validate_command, "score.sh": order.command}
        for name, command in commands.items():
            script = folder / name
            script.write_text(_SCRIPT.format(command=command), "utf-8", errors="surrogateescape")
            script.chmod(0o755)


_SCRIPT = """\
#!/bin/sh
# In the root of the evaluation, from wherever this is called.
cd "$(dirname "$0")/../.." || exit 2
exec {command}
"""


def _rename(task: Task, folder: Path) -> None:
    """Give tables the names of the specification; those of the official software have them."""
    for table, name in task.deposited.result_files.items():
        file = folder / f"{table}.tsv"
        if file.exists() and not (folder / name).exists():
            file.rename(folder / name)
