"""The work of a job: its reports, each with what can be downloaded."""

from __future__ import annotations

import csv
import os
import re
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import structs

from hlteval.converters import WrongSetting
from hlteval.findings import REFERENCE, SUBMISSION, Item
from hlteval.findings.counts import count_of
from hlteval.reports.findings import json
from hlteval.reports.findings import json as json_text
from hlteval.reports.html import write
from hlteval.reports.scores import FORMATS, value_text, values_of
from hlteval.reports.systems import COMPARISON_FORMATS
from hlteval.reports.tables import ALL
from hlteval.reports.terminal import printable
from hlteval.results.scores import Scores
from hlteval.results.systems import NOT_DISTINGUISHABLE, Comparison
from hlteval.results.verdict import Refusal, Verdict
from hlteval.serve.settings import (
    INPUT,
    LINKS,
    OPTION,
    OUTPUT,
    SCRATCH,
    SECOND,
    Download,
    Order,
    Outcome,
    Part,
    Progress,
)
from hlteval.serve.uploads import open_uploads
from hlteval.sources import Source, open_source
from hlteval.sources.inputs import WrongArgument
from hlteval.sources.opening import OpenInput
from hlteval.sources.spooling import NotWritten
from hlteval.sources.writing import pack
from hlteval.tasks import load
from hlteval.tasks.options import check_effect, merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.compare.comparison import compare
from hlteval.workflows.fix.fixing import fix, fixable
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.engine import score, validate
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Refused

#: The names that a corrected copy keeps.
_ORDINARY = re.compile(r"[A-Za-z0-9_][\w+=,@() -]{0,80}(?:\.[A-Za-z0-9_-]{1,20}){0,3}", re.ASCII)
#: The columns of the table of findings.
_COLUMNS = ("severity", "code", "file", "line", "column", "message", "help", "record", "side")


_LABELS = {"json": "as JSON", "tsv": "as a table (TSV)"}


def _part(
    key: str, title: str, outcome: str, facts: Iterable[tuple[str, str]], result: Any, **texts: str
) -> Part:
    """A report of a result, with the same as texts to download, by the ends of their names."""
    write(result, Path(OUTPUT, f"{key}.html"))
    downloads = [Download(f"{key}-report", "Report (HTML)", f"{key}.html", f"{key}.html")]
    for suffix, text in texts.items():
        name = f"{key}.{suffix}"
        Path(OUTPUT, name).write_text(text, "utf-8", errors="backslashreplace", newline="")
        label = f"{title.split(maxsplit=1)[0]} {_LABELS[suffix]}"
        downloads.append(Download(f"{key}-{suffix}", label, name, name))
    return Part(key, title, outcome, tuple(facts), f"{key}.html", tuple(downloads))


def of_verdict(verdict: Verdict, key: str, second: bool, copy: Download | None) -> Part:
    """The findings of a submission.

    Args:
        verdict: with its findings.
        key: of the part.
        second: whether it is the submission that the first is compared with.
        copy: the corrected copy, if there is one.
    """
    title = "Findings of the second" if second else "Findings"
    counts = [(f"{name}s", f"{count:,}") for name, count in verdict.by_severity.items()]
    texts = {"json": json(verdict), "tsv": findings_table(verdict)}
    part = _part(key, title, verdict.outcome, counts, verdict, **texts)
    return part if copy is None else structs.replace(part, downloads=(copy, *part.downloads))


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
    task = load(scores.task)
    value = value_text(scores.metrics.get(scores.primary), values_of(task, scores.primary))
    texts = {name: str(FORMATS[name](scores, ALL)) for name in _LABELS}
    return _part("scores", "Scores", "", [(scores.primary, value)], scores, **texts)


def of_comparison(comparison: Comparison) -> Part:
    """The comparison of two submissions."""
    facts = []
    for system in comparison.systems:
        value = "undefined" if system.value is None else f"{system.value:.4f}"
        rank = f"rank {system.rank or 'none'}" if comparison.best else NOT_DISTINGUISHABLE
        facts.append((system.name, f"{value}, {rank}"))
    facts += [(refused.name, "not scored") for refused in comparison.refused]
    texts = {name: str(COMPARISON_FORMATS[name](comparison, ALL)) for name in _LABELS}
    outcome = "refused" if comparison.refused else ""
    return _part("comparison", "Comparison", outcome, facts, comparison, **texts)


def of_refusal(refused: Refused, title: str) -> Part:
    """The reason why nothing was scored."""
    refusal = Refusal(refused.verdict, str(refused), refused.fix, refused.blocking)
    facts = [("reason", str(refused))]
    return _part(title.lower(), title, "refused", facts, refusal, json=json_text(refusal))


def fixed_copy(task: str, path: str, key: str, settings: Mapping[str, Any]) -> Download | None:
    """A corrected copy of a submission; None if nothing was corrected.

    Args:
        task: name of the task.
        path: the submission.
        key: of the part that it belongs to.
        settings: what validation takes.
    """
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
    fixes = count_of(sum(each.count for each in copy.fixes), "fix")
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


#: Bootstrap resamples of scores.
RESAMPLES = 1000
#: Called with the progress of a job.
Report = Callable[[Progress], None]


def perform_alone(folder: Path, order: Order, report: Report) -> Outcome:
    """Do a job in a process that does nothing else: all its temporary files are in the folder."""
    scratch = folder / SCRATCH
    scratch.mkdir(mode=0o700)
    os.environ |= {"TMPDIR": str(scratch), "HOME": str(scratch)}
    tempfile.tempdir = None
    return perform(folder, order, report)


def perform(folder: Path, order: Order, report: Report) -> Outcome:
    """Do a job; whatever goes wrong is an outcome.

    Args:
        folder: of the job.
        order: with its uploads.
        report: takes its progress.
    """
    done: list[Part] = []
    error = bug = ""
    with chdir(folder):
        try:
            done.extend(_Work(order, report).parts())
        except MemoryError:
            error = "There is not enough memory for these files."
        except NotWritten as problem:
            error, bug = "The disk of the server is full.", f"{problem.strerror}"
        except NothingGiven as problem:
            error = f"The reference cannot be used: {problem}."
        except (WrongOption, WrongSetting, WrongArgument) as problem:
            error = f"{problem}"
        except Exception as problem:
            kind = type(problem).__name__
            if type(problem) is LookupError and "encoding" in str(problem):
                error = f"{problem}"
            else:
                frames = traceback.extract_tb(problem.__traceback__)
                bug = f"{kind} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
                error = f"Internal error ({kind}). This is a bug in hlteval, not in your data."
    return Outcome(tuple(done), error, bug)


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
        """The inputs as paths; those that were uploaded are open, each with a name of its own."""
        inputs = {name: f"{LINKS}/{link}" for name, link in self.order.given.items()}
        for name, uploads in sorted(self.order.uploads.items(), key=lambda item: item[0] == SECOND):
            source = open_uploads(uploads, Path(INPUT))
            taken = source.path in inputs.values()
            inputs[name] = OpenInput(
                source, name=f"{source.path} (second)" if taken else source.path
            )
        return inputs

    def settings(self, command: str) -> dict[str, Any]:
        """The profile, the encoding and those options of the task that a command has.

        Raises:
            WrongOption: for an option without effect.
        """
        options = self.task.options
        files = {option.name: self.inputs.get(f"{OPTION}{option.name}") for option in options}
        values = {**self.order.options, **{name: path for name, path in files.items() if path}}
        available: dict[str, object] = {
            option.name: values[option.name]
            for option in options
            if option.name in values and option.available_in(command)
        }
        present = {"tables", *(["against"] if REFERENCE in self.inputs else [])}
        check_effect(
            self.task, command, available, {*merge_options(self.task, available), *present}
        )
        order = self.order
        return {"profile": order.profile, "encoding": order.encoding, "options": available}

    def step(self, phase: Any) -> Callable[[int, int | None], None]:
        """Report the progress of a phase."""
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
        parts = {"Scores": self.scores}
        if SECOND in self.inputs:
            parts["Comparison"] = self.comparison
        for title, part in parts.items():
            try:
                yield part()
            except Refused as refused:
                yield of_refusal(refused, title)

    def findings(self, side: str, key: str) -> Part:
        """The report of the findings of an input, with a corrected copy where there is one."""
        settings = {"against": self.inputs.get(REFERENCE), **self.settings("validate")}
        path = self.inputs[side]
        request = Request(self.task.name, path, step=self.step("checking"), **settings)
        verdict = validate(request)
        copy = None
        if any(fixable(each for each in verdict.findings if each.side == verdict.side)):
            self.report(Progress("fixing"))
            copy = fixed_copy(self.task.name, path, key, settings)
        return of_verdict(verdict, key, side == SECOND, copy)

    def scores(self) -> Part:
        """The report of the scores.

        Raises:
            Refused: if there are none.
        """
        settings = {**self.settings("score"), "lenient": self.order.lenient, "evidence": True}
        settings["intervals"] = Intervals(RESAMPLES) if self.order.intervals else None
        sides = (self.inputs[SUBMISSION], self.inputs.get(REFERENCE, ""))
        request = Request(self.task.name, *sides, step=self.step("scoring"), **settings)
        return of_scores(score(request))

    def comparison(self) -> Part:
        """The report of the comparison with the second submission.

        Raises:
            Refused: if there is none.
        """
        settings = {**self.settings("compare"), "lenient": self.order.lenient}
        reference = self.inputs.get(REFERENCE, "")
        systems = [self.inputs[SUBMISSION], self.inputs[SECOND]]
        step = self.step("comparing")
        return of_comparison(compare(self.task.name, reference, systems, step=step, **settings))
