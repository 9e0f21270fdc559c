"""The parts of what a job gives: a report each, with what can be downloaded."""

from __future__ import annotations

import csv
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any

from hlteval.findings import Item
from hlteval.findings.counts import counted
from hlteval.reports.html import write
from hlteval.reports.scores import Refusal
from hlteval.reports.terminal import printable
from hlteval.results.scores import Scores
from hlteval.results.systems import NOT_DISTINGUISHABLE, Comparison
from hlteval.results.verdict import Verdict
from hlteval.serve.settings import (
    INPUT,
    LINKS,
    OPTION,
    OUTCOME,
    OUTPUT,
    REFERENCE,
    SECOND,
    SUBMISSION,
    Download,
    Order,
    Outcome,
    Part,
    Progress,
    read_order,
    write_value,
)
from hlteval.serve.uploads import open_uploads
from hlteval.sources import Source, open_source
from hlteval.sources.opening import OpenInput
from hlteval.sources.spooling import NotWritten
from hlteval.sources.writing import pack
from hlteval.tasks import load
from hlteval.tasks.options import check_effect, merged
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.run.verdicts import Refused

_ORDINARY = re.compile(r"[A-Za-z0-9_][\w+=,@() -]{0,80}(?:\.[A-Za-z0-9_-]{1,20}){0,3}", re.ASCII)
"""The names that a corrected copy keeps."""
_COLUMNS = ("severity", "code", "file", "line", "column", "message", "help", "record", "side")
"""The columns of the table of findings."""


def of_verdict(verdict: Verdict, key: str, second: bool, copy: Download | None) -> Part:
    """The findings of a submission.

    Args:
        verdict: with its findings.
        key: of the part.
        second: whether it is the submission that the first is compared with.
        copy: the corrected copy, if there is one.
    """
    from hlteval.reports.findings import json

    title = "Findings of the second" if second else "Findings"
    counts = tuple((f"{name}s", f"{count:,}") for name, count in verdict.by_severity.items())
    files = (
        _saved(f"{key}.json", "Findings as JSON", json(verdict)),
        _saved(f"{key}.tsv", "Findings as a table (TSV)", findings_table(verdict)),
    )
    report = _reported(verdict, key)
    downloads = (report, *files) if copy is None else (copy, report, *files)
    return Part(key, title, verdict.outcome, counts, report.file, downloads)


def findings_table(verdict: Verdict) -> str:
    r"""The findings as tab-separated values, a line each.

    Examples:
        >>> findings_table(Verdict("hub4", "plan", passed=True))[:14]
        'severity\tcode\t'
    """
    text = StringIO()
    table = csv.writer(text, "excel-tab", lineterminator="\n")
    table.writerow(_COLUMNS)
    for finding in verdict.findings:
        item = Item.of(finding)
        table.writerow(_cell(getattr(item, name)) for name in _COLUMNS)
    return text.getvalue()


def _cell(value: object) -> str:
    """A cell; no program of tables takes it for a formula."""
    text = "" if value is None else str(printable(str(value)))
    return f"'{text}" if text.startswith(("=", "+", "@")) else text


def of_scores(scores: Scores) -> Part:
    """The scores of a submission."""
    from hlteval.reports.scores import FORMATS, shown, values_of
    from hlteval.reports.tables import ALL
    from hlteval.tasks import load

    task = load(scores.task)
    value = shown(scores.metrics.get(scores.primary), values_of(task, scores.primary))
    report = _reported(scores, "scores")
    files = (
        _saved("scores.json", "Scores as JSON", str(FORMATS["json"](scores, ALL))),
        _saved("scores.tsv", "Scores as a table (TSV)", str(FORMATS["tsv"](scores, ALL))),
    )
    return Part("scores", "Scores", "", ((scores.primary, value),), report.file, (report, *files))


def of_comparison(comparison: Comparison) -> Part:
    """The comparison of two submissions."""
    from hlteval.reports.systems import COMPARISON_FORMATS as FORMATS
    from hlteval.reports.tables import ALL

    report = _reported(comparison, "comparison")
    names = {"json": "Comparison as JSON", "tsv": "Comparison as a table (TSV)"}
    files = [
        _saved(f"comparison.{form}", label, str(FORMATS[form](comparison, ALL)))
        for form, label in names.items()
    ]
    facts = tuple(_ranks(comparison))
    outcome = "refused" if comparison.refused else ""
    return Part("comparison", "Comparison", outcome, facts, report.file, (report, *files))


def _ranks(comparison: Comparison) -> Iterator[tuple[str, str]]:
    for system in comparison.systems:
        value = "undefined" if system.value is None else f"{system.value:.4f}"
        rank = f"rank {system.rank or 'none'}" if comparison.best else NOT_DISTINGUISHABLE
        yield system.name, f"{value}, {rank}"
    for refused in comparison.refused:
        yield refused.name, "not scored"


def of_refusal(refused: Refused, key: str, title: str) -> Part:
    """Why nothing was scored."""
    refusal = Refusal(refused.verdict, str(refused), refused.fix, refused.blocking)
    report = _reported(refusal, key)
    files = (_saved(f"{key}.json", f"{title} as JSON", refusal.as_json()),)
    facts = (("reason", str(refused)),)
    return Part(key, title, "refused", facts, report.file, (report, *files))


def _reported(result: Any, key: str) -> Download:
    write(result, Path(OUTPUT, f"{key}.html"))
    return Download(f"{key}-report", "Report (HTML)", f"{key}.html", f"{key}.html")


def _saved(name: str, label: str, text: str) -> Download:
    Path(OUTPUT, name).write_text(text, "utf-8", errors="backslashreplace", newline="")
    key, _, suffix = name.rpartition(".")
    return Download(f"{key}-{suffix}", label, name, name)


def is_fixable(verdict: Verdict) -> bool:
    """Whether something of a submission can be corrected mechanically."""
    from hlteval.workflows.fix.fixing import fixable

    own = (finding for finding in verdict.findings if finding.side == verdict.side)
    return next(iter(fixable(own)), None) is not None


def fixed_copy(task: str, path: str, key: str, settings: Mapping[str, Any]) -> Download | None:
    """A corrected copy of a submission; None if nothing was corrected.

    Args:
        task: name of the task.
        path: the submission.
        key: of the part that it belongs to.
        settings: what validation takes.
    """
    from hlteval.workflows.fix.fixing import fix

    source = open_source(path)
    folder = Path(OUTPUT, f"{key}-fixed")
    folder.mkdir()
    target = folder / _file_name(source)
    copy = fix(task, path, str(target), **settings)
    if copy.path is None or not copy.fixes:
        return None
    name = f"fixed-{target.name}"
    if source.kind == "folder":
        packed = folder.with_suffix(".zip")
        pack(replace(open_source(str(target)), kind="zip"), packed)
        target, name = packed, f"{name}.zip"
    fixes = counted(sum(each.count for each in copy.fixes), "fix")
    label = f"Corrected copy ({fixes}, then: {copy.verdict.outcome})"
    return Download(f"{key}-fixed", label, str(target.relative_to(OUTPUT)), name)


def _file_name(source: Source) -> str:
    """The name of a submission, if that can be the name of a file anywhere; else one of its kind.

    Examples:
        >>> _file_name(Source("run 1.tab", "file", ())), _file_name(Source("a:b.zip", "zip", ()))
        ('run 1.tab', 'submission.zip')
    """
    if _ORDINARY.fullmatch(source.path):
        return source.path
    return "submission" + {"zip": ".zip", "tgz": ".tgz"}.get(source.kind, "")


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
    from hlteval.workflows.run.batches import NothingGiven

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
        from hlteval.workflows.run.engine import validate

        settings = self._common("validate")
        path = self.inputs[side]
        against = self.inputs.get(REFERENCE)
        run = partial(validate, self.task.name, path, against=against, **settings)
        verdict = run(step=self.step("checking"))
        copy = None
        if is_fixable(verdict):
            self.report(Progress("fixing"))
            copy = fixed_copy(self.task.name, path, key, {"against": against, **settings})
        return of_verdict(verdict, key, side == SECOND, copy)

    def scores(self) -> Part:
        """The report of the scores, or of why there are none."""
        from hlteval.workflows.run.engine import Intervals, score
        from hlteval.workflows.run.verdicts import Refused

        settings = {**self._common("score"), "lenient": self.order.lenient, "evidence": True}
        settings["intervals"] = Intervals(RESAMPLES) if self.order.intervals else None
        sides = (self.inputs.get(REFERENCE, ""), self.inputs[SUBMISSION])
        try:
            return of_scores(score(self.task.name, *sides, step=self.step("scoring"), **settings))
        except Refused as refused:
            return of_refusal(refused, "scores", "Scores")

    def comparison(self) -> Part:
        """The report of the comparison with the second submission, or of why there is none."""
        from hlteval.workflows.compare.comparison import compare
        from hlteval.workflows.run.verdicts import Refused

        settings = {**self._common("compare"), "lenient": self.order.lenient}
        reference = self.inputs.get(REFERENCE, "")
        systems = [self.inputs[SUBMISSION], self.inputs[SECOND]]
        try:
            step = self.step("comparing")
            return of_comparison(compare(self.task.name, reference, systems, step=step, **settings))
        except Refused as refused:
            return of_refusal(refused, "comparison", "Comparison")

    def _common(self, command: str) -> dict[str, Any]:
        """What all commands take."""
        order = self.order
        options = self.options(command)
        return {"profile": order.profile, "encoding": order.encoding, "options": options}


def _distinct(path: str, others: Iterable[str]) -> str:
    """The name of an input, which none of the others has."""
    return f"{path} (second)" if path in set(others) else path
