"""Requests: what is read, how, and what is kept of it; the one argument of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hlteval.findings import MAX_PER_CODE, SUBMISSION, Finding, Severity, catalogue
from hlteval.sources.opening import OpenInput
from hlteval.tasks import load
from hlteval.tasks.options import with_seed
from hlteval.tasks.task import Task

if TYPE_CHECKING:
    from hlteval.converters import ReadResult
    from hlteval.workflows.run.batches import Batch

Role = Literal["submission", "reference"]


class UnknownCode(ValueError):
    """No code has a given prefix, or a severity is unknown: a usage error."""


@dataclass
class SharedReference:
    """The reference of several submissions, which is read and checked once.

    Attributes:
        readings: what was read, by the names of documents; without names, all of it.
        findings: what was found, and what all batches decide, by what a batch has of it.
    """

    readings: dict[tuple[str, ...], ReadResult] = field(default_factory=dict)
    findings: dict[tuple[str | int, ...], Batch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selection:
    """The findings that are reported, by code or prefix of codes.

    Attributes:
        select: prefixes of the codes to report; empty for all.
        ignore: prefixes of codes not to report; overrides `select`.
        severities: overrides of the severity, by prefix; the longest matching prefix applies.

    Examples:
        >>> from hlteval.findings import finding
        >>> wrong = [finding("SRC201", offset=3, byte="0xe9", guess="")]
        >>> Selection(ignore=("SRC2",)).of(wrong)
        []
        >>> Selection(severities={"SRC201": Severity.INFO}).of(wrong)[0].severity
        <Severity.INFO: 'info'>
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, select: Iterable[str], ignore: Iterable[str], severities: Iterable[str]
    ) -> Selection:
        """Read a selection in the notation of the command line: `STD,SEE310`, `SEE310=warning`.

        Raises:
            UnknownCode: if no code has a prefix, or a severity is unknown.
        """
        levels: dict[str, Severity] = {}
        for assignment in _items(severities):
            code, _, level = assignment.partition("=")
            if level not in list(Severity):
                raise UnknownCode(
                    f"invalid severity {assignment}: use CODE=error, CODE=warning or CODE=info"
                )
            levels[_prefix(code)] = Severity(level)
        return cls(tuple(map(_prefix, _items(select))), tuple(map(_prefix, _items(ignore))), levels)

    def of(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the selected findings, with the severities of this selection."""
        selected = []
        for finding in findings:
            if self.select and not finding.code.startswith(self.select):
                continue
            if finding.code.startswith(self.ignore):
                continue
            prefixes = [prefix for prefix in self.severities if finding.code.startswith(prefix)]
            if prefixes:
                severity = self.severities[max(prefixes, key=len)]
                finding = msgspec.structs.replace(finding, severity=severity)  # noqa: PLW2901
            selected.append(finding)
        return selected


def _items(values: Iterable[str]) -> list[str]:
    """Split lists separated by commas."""
    return [item.strip() for value in values for item in value.split(",") if item.strip()]


def _prefix(written: str) -> str:
    """Return a prefix of codes in upper case, if there are any."""
    prefix = written.upper()
    if not any(code.startswith(prefix) for code in catalogue()):
        raise UnknownCode(f"no code starts with {written}; see docs/codes.md")
    return prefix


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals: how they are computed.

    Attributes:
        replicates: number of resamples, where documents are resampled.
        confidence: how often an interval is to cover the truth, between 0 and 1.
        seed: of the random numbers.
    """

    replicates: int
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class Request:
    """One submission, what it is compared with, and how.

    Each face (command line, Python, editor, page, evaluation) makes one, and the engine takes
    nothing else. `cli/commands.toml` has the help and the limits of the options of these names.

    Attributes:
        task: name of the task.
        system: path of the submission: a folder, file or archive, or `-`.
        reference: path of the reference that it is scored against; empty for tasks without one.
        against: path of the documents that it is validated against, in the same forms; None if it
            brings its own.
        role: `reference` to validate a reference by itself, in the formats that it may have.
        profile: `plan` for the written specification, `official` for the official software.
        options: values by the names of the task's options, as text or typed.
        encoding: of the files.
        lenient: whether to score what can be scored in spite of blocking findings.
        alignment: whether the table `alignment` is kept; it costs memory.
        evidence: whether texts of documents are kept for reports; they cost memory.
        intervals: how confidence intervals are computed; None for no intervals.
        max_per_code: maximum number of findings of a code in a file that are explained, the others
            are counted; 0 for all.
        selection: the findings that are reported.
        fail_on: the lowest severity that fails, in `plan`.
        batch: documents at a time, by default those of the task; nothing depends on it.
        jobs: number of processes that work on batches; nothing depends on it.
        cluster: address of the scheduler of a cluster that works on them instead.
        step: called after each batch with the documents that are done, and their number, which is
            None if it is known only after reading.
        unused_jobs: called with the reason for each submission that one process reads although
            `jobs` are more.
        apart: whether large files may be read in parts; the engine tries that first.
        condensed: whether only what scores need of the counts is kept: no intervals, no alignment.
    """

    task: str
    system: str
    reference: str = ""
    against: str | None = None
    role: Role = SUBMISSION
    profile: str = "plan"
    options: Mapping[str, object] = field(default_factory=dict)
    encoding: str = "utf-8"
    lenient: bool = False
    alignment: bool = True
    evidence: bool = False
    intervals: Intervals | None = None
    max_per_code: int = MAX_PER_CODE
    selection: Selection = field(default_factory=Selection)
    fail_on: str = "error"
    batch: int | None = None
    jobs: int = 1
    cluster: str = ""
    step: Callable[[int, int | None], None] | None = None
    unused_jobs: Callable[[str], None] | None = None
    shared: SharedReference | None = None
    apart: bool = False
    condensed: bool = False

    @classmethod
    def of(cls, task: Task, values: Mapping[str, Any], options: Mapping[str, object]) -> Request:
        """Make a request of the values of options, or of arguments, that have the same names.

        The seed is also that of the options of the task that follow it, where there is a reference.

        Args:
            task: the task.
            values: by name; None is a value that is not set, and others are left out. The number
                of replicates is `bootstrap`: 0 for no intervals, None for the usual number.
            options: of the task.

        Examples:
            >>> values = {"profile": "official", "bootstrap": 0, "columns": "name"}
            >>> Request.of(load("hub4"), values, {}) == Request("hub4", "", profile="official")
            True
        """
        replicates, intervals = values.get("bootstrap", 0), None
        if replicates != 0:
            intervals = Intervals(replicates or 0, values["confidence"], values["seed"])
        if "reference" in values:
            options = with_seed(task, options, values.get("seed", 0))
        names = {item.name for item in fields(cls)} - {"task", "options"}
        own = {name: value for name, value in values.items() if name in names and value is not None}
        return replace(cls(task.name, "", options=options, intervals=intervals), **own)

    @property
    def definition(self) -> Task:
        """The task.

        Raises:
            KeyError: for an unknown task.
        """
        return load(self.task)

    @property
    def repeatable(self) -> bool:
        """Whether another process can read the same: no standard input, nothing in memory.

        Examples:
            >>> [Request("ltf", path).repeatable for path in ("runs", "-")]
            [True, False]
        """
        values = [self.system, self.reference, self.against, *self.options.values()]
        lists = [value if isinstance(value, list | tuple) else [value] for value in values]
        return not any(
            item == "-" or isinstance(item, OpenInput) for items in lists for item in items
        )
