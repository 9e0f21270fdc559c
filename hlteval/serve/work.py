"""The work of a job: its inputs are checked, scored and compared, and reports are written.

It is done in the folder of the job, so that no path in a report leads out of it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from hlteval.serve import parts
from hlteval.serve.orders import (
    INPUT,
    LINKS,
    OPTION,
    OUTCOME,
    OUTPUT,
    REFERENCE,
    SECOND,
    SUBMISSION,
    Order,
    Outcome,
    Part,
    Progress,
    read_order,
    write_value,
)
from hlteval.serve.received import open_uploads
from hlteval.sources.disk import NotWritten
from hlteval.sources.open_input import OpenInput
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.tasks.options import check_effect, merged
from hlteval.tasks.task import Task

RESAMPLES = 1000
"""Bootstrap resamples of scores."""
Report = Callable[[Progress], None]
"""Called with the progress of a job."""


def perform(folder: Path, report: Report) -> None:
    """Do a job; whatever goes wrong is an outcome.

    Args:
        folder: of the job, with its order.
        report: takes its progress.
    """
    done: list[Part] = []
    error = bug = ""
    with chdir(folder):
        try:
            for part in _Work(read_order(Path()), report).parts():
                done.append(part)
        except MemoryError:
            error = "There is not enough memory for these files."
        except NotWritten as problem:
            error, bug = "The disk of the server is full.", f"{problem.strerror}"
        except Exception as problem:
            error, bug = _explained(problem)
        write_value(Path(OUTCOME), Outcome(tuple(done), error, bug))


def _explained(problem: Exception) -> tuple[str, str]:
    """An error for people, and what the terminal of the server shows of a bug."""
    from hlteval.converters import WrongSetting
    from hlteval.sources.inputs import WrongArgument
    from hlteval.workflows.batches import NothingGiven

    if isinstance(problem, NothingGiven):
        return f"The reference cannot be used: {problem}.", ""
    expected = (WrongOption, WrongSetting, WrongArgument)
    if isinstance(problem, expected) or (isinstance(problem, LookupError) and _about(problem)):
        return f"{problem}", ""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    kind = type(problem).__name__
    return f"Internal error ({kind}). This is a bug in hlteval, not in your data.", f"{kind}{place}"


def _about(problem: LookupError) -> bool:
    """Whether an error is about an encoding that does not exist."""
    return type(problem) is LookupError and "encoding" in str(problem)


@dataclass(frozen=True)
class _Work:
    """A job.

    Attributes:
        order: what is to be done.
        report: takes the progress.
    """

    order: Order
    report: Report

    @cached_property
    def task(self) -> Task:
        return load(self.order.task)

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """The inputs as paths; those that were uploaded are open."""
        found = {name: f"{LINKS}/{link}" for name, link in self.order.given.items()}
        for name, uploads in sorted(self.order.uploads.items(), key=lambda item: item[0] == SECOND):
            source = open_uploads(uploads, Path(INPUT))
            found[name] = OpenInput(source, name=_distinct(source.path, found.values()))
        return found

    def options(self, command: str) -> dict[str, object]:
        """The options of the task that a command has.

        Raises:
            WrongOption: for one without effect.
        """
        names = [option.name for option in self.task.options]
        files = {name: self.inputs.get(f"{OPTION}{name}") for name in names}
        given = {**self.order.options, **{name: path for name, path in files.items() if path}}
        own: dict[str, object] = {
            option.name: given[option.name]
            for option in self.task.options
            if option.name in given and option.available_in(command)
        }
        present = {"tables", *(["against"] if REFERENCE in self.inputs else [])}
        check_effect(self.task, command, own, {*merged(self.task, own), *present})
        return own

    def step(self, phase: Any) -> Callable[[int, int | None], None]:
        """Takes the progress of a phase."""
        self.report(Progress(phase))
        return lambda done, total: self.report(Progress(phase, done, total))

    def parts(self) -> Iterator[Part]:
        """The reports, as they are made."""
        Path(OUTPUT).mkdir(exist_ok=True)
        yield self.findings(SUBMISSION, "findings")
        if SECOND in self.inputs:
            yield self.findings(SECOND, "findings-second")
        if self.task.metric is None or not (REFERENCE in self.inputs or self.task.scored_alone):
            return
        yield self.scores()
        if SECOND in self.inputs:
            yield self.comparison()

    def findings(self, side: str, key: str) -> Part:
        """The report of the findings of an input, with a corrected copy where there is one."""
        from hlteval.workflows.validation import validate

        settings = self._common("validate")
        path = self.inputs[side]
        against = self.inputs.get(REFERENCE)
        run = partial(validate, self.task.name, path, against=against, **settings)
        verdict = run(step=self.step("checking"))
        copy = None
        if parts.is_fixable(verdict):
            self.report(Progress("fixing"))
            copy = parts.fixed_copy(self.task.name, path, key, {"against": against, **settings})
        return parts.of_verdict(verdict, key, side == SECOND, copy)

    def scores(self) -> Part:
        """The report of the scores, or of why there are none."""
        from hlteval.workflows.refusals import Refused
        from hlteval.workflows.runs import Intervals
        from hlteval.workflows.scoring import score

        settings = {**self._common("score"), "lenient": self.order.lenient, "evidence": True}
        settings["intervals"] = Intervals(RESAMPLES) if self.order.intervals else None
        sides = (self.inputs.get(REFERENCE, ""), self.inputs[SUBMISSION])
        try:
            return parts.of_scores(
                score(self.task.name, *sides, step=self.step("scoring"), **settings)
            )
        except Refused as refused:
            return parts.of_refusal(refused, "scores", "Scores")

    def comparison(self) -> Part:
        """The report of the comparison with the second submission, or of why there is none."""
        from hlteval.workflows.comparison import compare
        from hlteval.workflows.refusals import Refused

        settings = {**self._common("compare"), "lenient": self.order.lenient}
        reference = self.inputs.get(REFERENCE, "")
        systems = [self.inputs[SUBMISSION], self.inputs[SECOND]]
        try:
            step = self.step("comparing")
            return parts.of_comparison(
                compare(self.task.name, reference, systems, step=step, **settings)
            )
        except Refused as refused:
            return parts.of_refusal(refused, "comparison", "Comparison")

    def _common(self, command: str) -> dict[str, Any]:
        """What all commands take."""
        order = self.order
        options = self.options(command)
        return {"profile": order.profile, "encoding": order.encoding, "options": options}


def _distinct(path: str, others: Iterable[str]) -> str:
    """The name of an input, which none of the others has."""
    return f"{path} (second)" if path in set(others) else path
