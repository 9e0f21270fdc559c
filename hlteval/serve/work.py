"""The work of a job: its reports, each with what can be downloaded."""

import csv
import os
import re
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import structs

from hlteval.converters import WrongSetting
from hlteval.findings import REFERENCE, SUBMISSION, Item
from hlteval.findings.counts import count_of
from hlteval.reports.findings import json
from hlteval.reports.html import write
from hlteval.reports.scores import FORMATS, value_text, values_of
from hlteval.reports.systems import COMPARISON_FORMATS
from hlteval.reports.tables import ALL
from hlteval.reports.terminal import printable
from hlteval.results.systems import NOT_DISTINGUISHABLE
from hlteval.results.verdict import Verdict
from hlteval.serve.settings import Folder, Link, Order, Outcome, Part, Progress, Upload
from hlteval.sources import Source, open_source
from hlteval.sources.archives import FILE, Entry, admit, too_large
from hlteval.sources.inputs import WrongArgument
from hlteval.sources.names import archive_suffix, is_text, unsafe_reason
from hlteval.sources.names import printable as printable_name
from hlteval.sources.opening import OpenInput, open_named, read_file
from hlteval.sources.source import LIMITS, Limits
from hlteval.sources.spooling import NotWritten
from hlteval.sources.writing import pack
from hlteval.tasks import load
from hlteval.tasks.options import check_effect, merge_options
from hlteval.tasks.task import Task, WrongOption
from hlteval.workflows.compare.comparison import compare
from hlteval.workflows.fixing import fix, fixable
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.engine import score, validate
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Refused

#: The names that a corrected copy keeps.
_ORDINARY = re.compile(r"[A-Za-z0-9_][\w+=,@() -]{0,80}(?:\.[A-Za-z0-9_-]{1,20}){0,3}", re.ASCII)
#: The columns of the table of findings.
_COLUMNS = ("severity", "code", "file", "line", "column", "message", "help", "record", "side")
#: The end of the link to save a report in another form, by the end of its name.
_LABELS = {"json": "as JSON", "tsv": "as a table (TSV)"}


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
        values = (getattr(item, name) for name in _COLUMNS)
        cells = ["" if value is None else str(printable(str(value))) for value in values]
        # No program of tables takes a cell for a formula.
        table.writerow(f"'{cell}" if cell.startswith(("=", "+", "@")) else cell for cell in cells)
    return text.getvalue()


#: The limits of uploads: a file is held to what a member of an archive is held to.
PLAIN = replace(LIMITS, file_bytes=LIMITS.member_bytes)
#: The name of several files that are not in one folder.
LOOSE = "upload"


def open_uploads(uploads: Sequence[Upload], folder: Path, limits: Limits = PLAIN) -> Source:
    """Uploaded files as one file, one archive or one folder.

    Args:
        uploads: the files; a folder that all are in is the name of the source.
        folder: where they are, under their numbers.
        limits: the limits of their sizes.
    """
    upload = uploads[0]
    if len(uploads) == 1 and is_plain(upload.name):
        if upload.file:
            return open_named(str(folder / upload.file), upload.name, limits=limits)
        is_file = archive_suffix(upload.name) is None
        limit = limits.file_bytes if is_file else limits.total_bytes
        problem = too_large(printable_name(upload.name), upload.size, limit).finding
        return Source(upload.name, "file", (), (problem,))
    label, names = _split_root([upload.name for upload in uploads])
    entries = []
    for name, upload in zip(names, uploads, strict=True):
        display = f"{printable_name(label)}/{printable_name(name)}"
        read = partial(read_file, str(folder / upload.file), display, limits)
        entries.append(Entry(name, FILE, upload.size, read))
    members, findings = admit(entries, printable_name(label), limits)
    return Source(label, "folder", members, tuple(findings))


def is_plain(name: str) -> bool:
    """Whether a name is that of one file, without folders, and means nothing else.

    Examples:
        >>> is_plain("run1.tgz"), is_plain("-"), is_plain("../run1.tgz")
        (True, False, False)
    """
    odd = name in {"-", ".", ".."} or name.startswith("<") or "/" in name or not name.strip()
    return not odd and is_text(name) and unsafe_reason(name) is None


def _split_root(names: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all files are in, and their names there.

    Examples:
        >>> _split_root(["run/a", "run/b/c"]), _split_root(["a", "run/b"])
        (('run', ['a', 'b/c']), ('upload', ['a', 'run/b']))
    """
    roots = {name.partition("/")[0] for name in names if "/" in name}
    root = next(iter(roots), "")
    shared = len(roots) == 1 and all("/" in name for name in names)
    if not shared or not is_plain(root):
        return LOOSE, list(names)
    return root, [name.partition("/")[2] for name in names]


#: Bootstrap resamples of scores.
RESAMPLES = 1000
#: Called with the progress of a job.
Report = Callable[[Progress], None]


def perform_alone(folder: Path, order: Order, report: Report) -> Outcome:
    """Do a job in a process that does nothing else: all its temporary files are in the folder."""
    scratch = folder / Folder.SCRATCH
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
    work, error, bug = _Work(order, report), "", ""
    with chdir(folder):
        try:
            work.perform()
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
    return Outcome(tuple(work.parts), work.files, error, bug)


@dataclass
class _Work:
    """A job, and what came of it.

    Attributes:
        order: what is to be done.
        report: takes the progress.
        parts: the reports.
        files: what can be saved, as in an `Outcome`.
    """

    order: Order
    report: Report
    parts: list[Part] = field(default_factory=list)
    files: dict[str, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def task(self) -> Task:
        return load(self.order.task)

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """The inputs as paths; those that were uploaded are open, each with a name of its own."""
        inputs = {name: f"{Folder.LINKS}/{link}" for name, link in self.order.given.items()}
        for name in sorted(self.order.uploads, key=Order.SECOND.__eq__):
            source = open_uploads(self.order.uploads[name], Path(Folder.INPUT))
            second = " (second)" if source.path in inputs.values() else ""
            inputs[name] = OpenInput(source, name=f"{source.path}{second}")
        return inputs

    def settings(self, command: str) -> Mapping[str, Any]:
        """The profile, the encoding and those options of the task that a command has.

        Raises:
            WrongOption: for an option without effect.
        """
        files = {name: path for name, path in self.inputs.items() if name.startswith(Order.OPTION)}
        values = {name.removeprefix(Order.OPTION): path for name, path in files.items()}
        values = {**self.order.options, **values}
        names = [option.name for option in self.task.options if option.available_in(command)]
        available: dict[str, object] = {name: values[name] for name in names if name in values}
        present = {"tables", *(["against"] if REFERENCE in self.inputs else [])}
        present |= merge_options(self.task, available).keys()
        check_effect(self.task, command, available, present)
        order = self.order
        return {"profile": order.profile, "encoding": order.encoding, "options": available}

    def step(self, phase: Any) -> Callable[[int, int | None], None]:
        """Report the progress of a phase."""
        self.report(Progress(phase))
        return lambda done, total: self.report(Progress(phase, done, total))

    def perform(self) -> None:
        """Make the reports, one after the other."""
        self.findings(SUBMISSION, "findings")
        if Order.SECOND in self.inputs:
            self.findings(Order.SECOND, "findings-second")
        if self.task.metric is None or not (REFERENCE in self.inputs or self.task.scored_alone):
            return
        reports = {"Scores": self.scores}
        if Order.SECOND in self.inputs:
            reports["Comparison"] = self.comparison
        for title, make in reports.items():
            try:
                make()
            except Refused as refused:
                part = Part(title.lower(), title, "refused", (("reason", str(refused)),))
                self.add(part, refused.result(), {"json": json(refused.result())})

    def add(
        self, part: Part, result: Any, texts: Mapping[str, str], links: Iterable[Link] = ()
    ) -> None:
        """Write the report of a result, and the same as texts, by the ends of their names."""
        page = f"{part.key}.html"
        write(result, Path(Folder.OUTPUT, page))
        links = [*links, Link(f"{part.key}-report", "Report (HTML)")]
        self.files[links[-1].key] = (page, page)
        for suffix, text in texts.items():
            name = f"{part.key}.{suffix}"
            file = Path(Folder.OUTPUT, name)
            file.write_text(text, "utf-8", errors="backslashreplace", newline="")
            label = f"{part.title.split(maxsplit=1)[0]} {_LABELS[suffix]}"
            links.append(Link(f"{part.key}-{suffix}", label))
            self.files[links[-1].key] = (name, name)
        self.parts.append(structs.replace(part, files=tuple(links)))

    def findings(self, side: str, key: str) -> None:
        """Report the findings of an input, with a corrected copy where there is one."""
        settings = {"against": self.inputs.get(REFERENCE), **self.settings("validate")}
        request = Request(self.task.name, self.inputs[side], **settings)
        verdict = validate(replace(request, step=self.step("checking")))
        links: list[Link] = []
        if any(fixable(each for each in verdict.findings if each.side == verdict.side)):
            self.report(Progress("fixing"))
            links.extend(self.fix(request, f"{key}-fixed"))
        title = "Findings of the second" if side == Order.SECOND else "Findings"
        counts = ((f"{name}s", f"{count:,}") for name, count in verdict.by_severity.items())
        part = Part(key, title, verdict.outcome, tuple(counts))
        self.add(part, verdict, {"json": json(verdict), "tsv": findings_table(verdict)}, links)

    def fix(self, request: Request, key: str) -> Iterator[Link]:
        """Write a corrected copy of a submission; nothing if nothing was corrected.

        Args:
            request: how the submission is validated.
            key: of the link.
        """
        source, folder = open_source(request.system), Path(Folder.OUTPUT, key)
        folder.mkdir()
        suffix = {"zip": ".zip", "tgz": ".tgz"}.get(source.kind, "")
        is_ordinary = _ORDINARY.fullmatch(source.path)
        target = folder / (source.path if is_ordinary else f"submission{suffix}")
        copy = fix(request, str(target))
        if copy.path is None or not copy.fixes:
            return
        name = f"fixed-{target.name}"
        if source.kind == "folder":
            packed = folder.with_suffix(".zip")
            pack(replace(open_source(str(target)), kind="zip"), packed)
            target, name = packed, f"{name}.zip"
        self.files[key] = (str(target.relative_to(Folder.OUTPUT)), name)
        fixes = count_of(sum(each.count for each in copy.fixes), "fix")
        yield Link(key, f"Corrected copy ({fixes}, then: {copy.verdict.outcome})")

    def scores(self) -> None:
        """Report the scores.

        Raises:
            Refused: if there are none.
        """
        settings = {**self.settings("score"), "lenient": self.order.lenient, "evidence": True}
        settings["intervals"] = Intervals(RESAMPLES) if self.order.intervals else None
        sides = (self.inputs[SUBMISSION], self.inputs.get(REFERENCE, ""))
        scores = score(Request(self.task.name, *sides, step=self.step("scoring"), **settings))
        value = scores.metrics.get(scores.primary)
        fact = (scores.primary, value_text(value, values_of(self.task, scores.primary)))
        texts = {name: str(FORMATS[name](scores, ALL)) for name in _LABELS}
        self.add(Part("scores", "Scores", "", (fact,)), scores, texts)

    def comparison(self) -> None:
        """Report the comparison with the second submission.

        Raises:
            Refused: if there is none.
        """
        settings = {**self.settings("compare"), "lenient": self.order.lenient}
        settings["reference"] = self.inputs.get(REFERENCE, "")
        request = Request(self.task.name, "", step=self.step("comparing"), **settings)
        comparison = compare(request, [self.inputs[SUBMISSION], self.inputs[Order.SECOND]])
        facts = []
        for system in comparison.systems:
            value = "undefined" if system.value is None else f"{system.value:.4f}"
            rank = f"rank {system.rank or 'none'}" if comparison.best else NOT_DISTINGUISHABLE
            facts.append((system.name, f"{value}, {rank}"))
        facts += [(refused.name, "not scored") for refused in comparison.refused]
        texts = {name: str(COMPARISON_FORMATS[name](comparison, ALL)) for name in _LABELS}
        outcome = "refused" if comparison.refused else ""
        self.add(Part("comparison", "Comparison", outcome, tuple(facts)), comparison, texts)
