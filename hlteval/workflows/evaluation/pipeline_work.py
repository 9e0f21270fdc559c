"""The work of a pipeline on one submission: validation, and scoring into a folder.

It is done in a process of its own, in the root of the evaluation, so that all paths in logs and
results are relative to it.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from hlteval.findings import Finding
from hlteval.results.verdict import Defaults
from hlteval.sources.spooling import NotWritten, report_write_errors
from hlteval.workflows.evaluation.pipeline_state import Step
from hlteval.workflows.processes.graph import Problem
from hlteval.workflows.run.request import Request

Result = Literal["passed", "failed", "undecided", "scored", "refused", "ranked", "disk"] | Problem
#: Results that say more of the program and its limits than of the submission.
BROKEN: frozenset[str] = frozenset({"crashed", "time", "memory"})
#: The name of the function that does an order.
PERFORM = f"{__name__}:perform"
#: The name of the function that makes a leaderboard.
RANK = f"{__name__}:rank"
#: Maximum number of findings that a log shows of a file, and five times as many in all.
MAX_FINDINGS = 200


@dataclass(frozen=True)
class Order:
    """One step of one submission.

    Attributes:
        step: validation or scoring.
        request: the submission, what it is validated against and scored with, and how, with the
            options of both steps.
        output: the folder that takes the scores.
        key: the digest of all that the outcome depends on.
        mates: paths of submissions by identifier: where the submission goes with one of them, it is
            validated beside this.
        beside: the option of validation that names it.
        defaults: what came from a file of defaults; None if none applies.
    """

    step: Step
    request: Request
    output: str = ""
    key: str = ""
    mates: Mapping[str, str] = field(default_factory=dict)
    beside: str = ""
    defaults: Defaults | None = None

    @property
    def options(self) -> dict[str, str]:
        """The options that the command of the step has."""
        command = "validate" if self.step == "validation" else "score"
        available = {o.name for o in self.request.definition.options if o.available_in(command)}
        given = self.request.options.items()
        return {name: str(value) for name, value in given if name in available}

    @property
    def validate_command(self) -> str:
        """The command that validates the submission, in the root of the evaluation."""
        return replace(self, step="validation").command

    @property
    def command(self) -> str:
        """The command that does the same, in the root of the evaluation."""
        request = self.request
        if self.step == "validation":
            words = ["hlteval", "validate", request.task, request.system]
            words += ["--against", request.against] if request.against else []
        else:
            words = ["hlteval", "score", request.task]
            words += ["-r", request.reference] if request.reference else []
            words += ["-s", request.system]
        words += [] if request.profile == "plan" else ["--profile", request.profile]
        several = {o.name for o in request.definition.options if o.repeatable}
        values = {n: v.split() if n in several else v for n, v in self.options.items()}
        words += request.definition.option_words(words[1], values)
        words += ["--defaults", "none"] if self.defaults else []
        return shlex.join(words)

    @property
    def inputs(self) -> list[str]:
        """The paths that are read; one is empty where there is no such input."""
        request, options = self.request, self.options
        other = request.against if self.step == "validation" else request.reference
        paths = [request.system, other or "", *(self.mates[name] for name in sorted(self.mates))]
        for option in request.definition.options:
            if option.is_input and option.name in options:
                value = options[option.name]
                paths += value.split() if option.repeatable else [value]
        return paths

    def report(self, text: str = "") -> str:
        """Return a report with the command before it."""
        return f"$ {self.command}\n" + (f"\n{text}" if text else "")


@dataclass(frozen=True)
class BoardOrder:
    """A leaderboard of submissions that were scored against one reference.

    Attributes:
        request: how each of them is scored.
        systems: their paths, with the options that only this submission has.
        metric: the metric that ranks; empty for that of the task.
        output: the folder that takes the leaderboard.
        defaults: what came from a file of defaults; None if none applies.
    """

    request: Request
    systems: Mapping[str, Mapping[str, str]]
    metric: str = ""
    output: str = ""
    defaults: Defaults | None = None


@dataclass(frozen=True)
class Outcome:
    """Result of an order.

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
    """Do what is ordered, in the working directory; a full disk is an outcome."""
    try:
        if order.step == "score":
            return _score(order)
        outcome = _validate(order)
        mates = [order.mates[each] for each in outcome.companions if each in order.mates]
        if not mates or order.beside in order.request.options:
            return outcome
        options = {**order.request.options, order.beside: mates[0]}
        beside = replace(order, request=replace(order.request, options=options))
        return replace(_validate(beside), companions=outcome.companions)
    except NotWritten as error:
        return Outcome("disk", reason=str(error))


def _validate(order: Order) -> Outcome:
    from hlteval.reports.findings import render
    from hlteval.reports.terminal import render_text
    from hlteval.workflows.run.engine import validate
    from hlteval.workflows.run.verdicts import BESIDE_A_SUBMISSION

    verdict = validate(replace(order.request, options=order.options))
    report = order.report(render_text(render(verdict, "text", MAX_FINDINGS)))
    if verdict.passed and verdict.decided:
        return Outcome("passed", report, companions=_companions(order.request))
    errors = [each for each in verdict.findings if each.severity == "error"]
    blamed = [each for each in errors if each.side == verdict.side]
    blamed += [each for each in errors if each.code in BESIDE_A_SUBMISSION]
    if not verdict.decided and not blamed:  # the reference is the reason, for any submission
        return Outcome("undecided", report, _reason(errors), "check the reference")
    return Outcome("failed", report, _reason(blamed or errors))


def _reason(errors: list[Finding]) -> str:
    """Return the first of some errors, and how many others there are."""
    if not errors:
        return "refused by the rules of the profile"
    number = sum(finding.count for finding in errors)
    more = f", and {number - 1:,} more" if number > 1 else ""
    return f"{errors[0].message} ({errors[0].code}){more}"


def _companions(request: Request) -> tuple[str, ...]:
    """Return the submissions that a submission goes with, as its task finds them."""
    from hlteval.converters import load as load_format
    from hlteval.representation import Corpus
    from hlteval.sources import open_source

    task = request.definition
    if task.deposited.companions is None:
        return ()
    results = load_format(task.format).read(open_source(request.system))
    return task.deposited.companions(Corpus.concat(result.corpus for result in results))


def _score(order: Order) -> Outcome:
    """Score a submission, and write all scores and both commands as scripts into its folder.

    Tables have the names of the specification; those of the official software have them already.
    """
    from hlteval.reports.scores import refusal_text, write_tables
    from hlteval.reports.terminal import render_text
    from hlteval.results.config import with_defaults
    from hlteval.workflows.run.engine import score
    from hlteval.workflows.run.verdicts import Refused

    try:
        scores = score(replace(order.request, options=order.options))
    except Refused as refused:
        refusal = refused.result(shlex.split(order.command))
        report = order.report(render_text(refusal_text(refusal, MAX_FINDINGS)))
        return Outcome("refused", report, str(refused), refused.fix)
    if order.defaults and order.defaults.names:
        scores = with_defaults(scores, order.defaults)
    folder = Path(order.output)
    with report_write_errors(folder):
        write_tables(scores, folder)
        for table, name in order.request.definition.deposited.result_files.items():
            file = folder / f"{table}.tsv"
            if file.exists() and not (folder / name).exists():
                file.rename(folder / name)
        commands = {"validate.sh": order.validate_command, "score.sh": order.command}
        for script_name, line in commands.items():
            script = folder / script_name
            text = _SCRIPT.format(command=line)
            script.write_text(text, "utf-8", errors="surrogateescape", newline="\n")
            script.chmod(0o755)
    return Outcome("scored", order.report("the scores are in the folder of results\n"))


def rank(order: BoardOrder) -> Outcome:
    """Make a leaderboard, as `hlteval leaderboard -o` does, in the working directory."""
    from hlteval.results.config import with_defaults
    from hlteval.tasks.task import WrongOption
    from hlteval.workflows.compare.board import leaderboard_in
    from hlteval.workflows.run.verdicts import Refused

    metrics = [order.metric] if order.metric else []
    try:
        leaderboard_in(
            order.output,
            order.request,
            order.systems,
            metrics=metrics,
            named=lambda board: with_defaults(board, order.defaults),
        )
    except NotWritten as error:
        return Outcome("disk", reason=str(error))
    except (Refused, WrongOption) as reason:
        return Outcome("refused", reason=str(reason))
    return Outcome("ranked")


_SCRIPT = """\
#!/bin/sh
# In the root of the evaluation, from wherever this is called.
cd "$(dirname "$0")/../.." || exit 2
exec {command}
"""
