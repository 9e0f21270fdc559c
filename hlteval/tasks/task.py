"""What a task is: a value that names its formats, rules, metrics and options.

The command line, the documentation and the tests are made from it. Declarations name what they are
made of (`lazy`), which is imported only when it is used: `hlteval --help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from hlteval.tasks.alignment import AlignmentInfo
from hlteval.tasks.deposited import Deposited
from hlteval.tasks.option import Option, WrongOption
from hlteval.tasks.packaging import Packaging

if TYPE_CHECKING:
    from hlteval.converters import ReadResult
    from hlteval.findings import Finding
    from hlteval.representation import Corpus
    from hlteval.scoring.metric import Metric
    from hlteval.sources import Member, Source
    from hlteval.tasks.agreement import Agreement
    from hlteval.tasks.statistics import MeasureInfo, StatisticInfo
    from hlteval.validators import Rule, RuleContext


OfficialReading = Callable[["ReadResult", "ReadResult"], "tuple[ReadResult, ReadResult]"]
"""What software reads of a reference and a submission that were read as their format says."""


OptionNames = Callable[["RuleContext", Mapping[str, str], Mapping[str, Any]], "Iterator[Finding]"]
"""Gives findings about names in options, given as text, and in the values of their files."""


@dataclass(frozen=True, slots=True)
class Package:
    """A submission as a package of files, beside the documents it is for.

    Attributes:
        submission: what was submitted, with all its files.
        found: its files with predictions, by document.
        reference: what it is checked against; None where the submission brings its own documents.
        expected: the files of the reference, by document.
    """

    submission: Source
    found: Mapping[str, tuple[Member, ...]]
    reference: Source | None
    expected: Mapping[str, tuple[Member, ...]]


def _nothing() -> None:
    """The schema of a task whose rules need none."""


def _nothing_compared(form: str, options: Collection[str]) -> str:  # noqa: ARG001
    return ""


def _nothing_accepted(_: Mapping[str, str]) -> frozenset[str]:
    """For tasks that score nothing in spite of a finding that blocks."""
    return frozenset()


def _no_names(*_: object) -> Iterator[Finding]:
    """For tasks whose options name nothing that a reference or a submission must have."""
    yield from ()


def _nothing_special(_: Corpus) -> str:
    """For tasks whose references may have nothing that submissions may not."""
    return ""


def _silent(_: Package) -> Iterator[Finding]:
    """Nothing to say of a submission as a package: it is one file."""
    yield from ()


@dataclass(frozen=True)
class Task:
    """A task of an evaluation.

    Attributes:
        name: as on the command line.
        title: one line for people.
        specification: the document that the profile `plan` follows.
        format: the format of the submission, and of the reference where nothing else is said.
        submitted: other formats that a submission may have.
        references: the formats that a reference may have.
        reference_optional: whether a submission can be checked without a reference.
        scored_alone: whether what a submission is compared with is the same for all, so that it is
            scored without a reference.
        submission_suffixes: suffixes of the files of a submission that are read; others come with
            the task.
        provided_suffixes: suffixes of the files that come with the task, and without which nothing
            is checked.
        rules: the rules over records.
        package: the rules over the submission as a package.
        codes: the codes of the findings of `package` and of the metric, or their prefixes.
        schema: what the task allows, for the rules.
        metric: makes the metric of a profile, with its options if there are any; None where
            submissions are only checked.
        metric_options: makes the default options of the metric, a frozen dataclass; the options of
            the task that it has as fields are converted to them.
        statistics: what its metrics say, in order.
        measures: what has each of these statistics, where that is several things.
        table_statistics: statistics that only the table `scorings` has; what it has beside these
            and those of the metrics are numbers, without decimals where they are whole.
        primary: the metric that ranks, by profile.
        primary_of: the metric that ranks with some options, where these select what is computed.
        options: options of `score` beyond the common ones.
        official_crashes_on: codes of findings at which the official software crashes, even when
            forced: there is then no official number.
        official_ignores: whether the official software goes on in spite of a finding that blocks.
        official_rejects: whether the official software refuses a submission for a finding; where
            this is not said, it refuses for what blocks.
        official_checks_reference: whether the official software checks a reference as it checks
            submissions, and goes on with neither.
        official_reading: what the official software reads of a reference and a submission that were
            read, where it reads records otherwise than the format says.
        scored_table: the table without which a reference has nothing to score against.
        submission_settings: settings of the format of a submission.
        reference_settings: settings of the format of what a submission is checked against or scored
            with; a reference that is checked by itself is read with the format's own.
        reference_files: the files of a reference that are read; all if None.
        official_settings: settings of the formats in the profile `official`, where the software
            reads files in another way.
        schema_for: what the task allows, where that depends on options, and on whether a reference
            is checked.
        only_in_references: what a corpus has that only references may have; empty if nothing.
        document_codes: codes of findings of documents that only one side has: they say nothing new
            where no document is on both sides.
        option_names: the findings about names in options that neither the reference nor the
            submission has; for tasks whose submissions are a single file.
        alignment: the name of the table of what was paired with what.
        alignment_info: how people read this table, or another that says more.
        compared: what records are compared with, in a few words, by the format of what the
            submission is checked against (empty if nothing is) and by the options.
        accepted: codes of findings that do not block with some options.
        noted: codes of warnings about a submission that its scores note.
        batch: documents in a batch: more cost memory, and save time where documents are small.
        reads_sub_folders: whether files in sub-folders of a folder are read, as in archives.
        has_index: whether a submission is a folder of tables with an index that names them.
        inner_folders: names of folders that its submissions have inside.
        packaging: how its submissions are packed.
        deposited: what the specification says of the archives of an evaluation.
        agreement: what annotators agree on; None where nothing is declared.
    """

    name: str
    title: str
    specification: str
    format: str
    submission_suffixes: tuple[str, ...]
    provided_suffixes: tuple[str, ...]
    rules: Callable[[], tuple[Rule, ...]] = tuple
    package: Callable[[Package], Iterator[Finding]] = _silent
    codes: tuple[str, ...] = ()
    schema: Callable[[], Any] = _nothing
    metric: Callable[..., Metric] | None = None
    metric_options: Callable[[], Any] | None = None
    statistics: tuple[StatisticInfo, ...] = ()
    measures: tuple[MeasureInfo, ...] = ()
    table_statistics: tuple[StatisticInfo, ...] = ()
    primary: Mapping[str, str] = field(default_factory=dict)
    primary_of: Callable[[Mapping[str, str]], str] | None = None
    options: tuple[Option, ...] = ()
    official_crashes_on: frozenset[str] = frozenset()
    references: tuple[str, ...] = ()
    submitted: tuple[str, ...] = ()
    reference_optional: bool = False
    scored_alone: bool = False
    official_ignores: Callable[[Finding], bool] | None = None
    official_checks_reference: bool = False
    official_reading: Callable[[ReadResult, ReadResult], tuple[ReadResult, ReadResult]] | None = (
        None
    )
    scored_table: str = "frames"
    official_rejects: Callable[[Finding], bool] | None = None
    submission_settings: Mapping[str, str] = field(default_factory=dict)
    reference_settings: Mapping[str, str] = field(default_factory=dict)
    reference_files: Callable[[Source], Collection[Member]] | None = None
    official_settings: Mapping[str, str] = field(default_factory=dict)
    schema_for: Callable[[Mapping[str, str], bool], Any] | None = None
    only_in_references: Callable[[Corpus], str] = _nothing_special
    document_codes: frozenset[str] = frozenset()
    option_names: OptionNames = _no_names
    alignment: str = "alignment"
    alignment_info: AlignmentInfo | None = None
    compared: Callable[[str, Collection[str]], str] = _nothing_compared
    accepted: Callable[[Mapping[str, str]], frozenset[str]] = _nothing_accepted
    noted: frozenset[str] = frozenset()
    batch: int = 500
    reads_sub_folders: bool = True
    has_index: bool = False
    inner_folders: frozenset[str] = frozenset()
    packaging: Packaging = field(default_factory=Packaging)
    deposited: Deposited = field(default_factory=Deposited)
    agreement: Callable[[], Agreement] | None = None

    @property
    def submitted_as_folder(self) -> bool:
        """Whether a submission is a folder of files, rather than one file.

        Examples:
            >>> from hlteval.tasks import load
            >>> [load(name).submitted_as_folder for name in ("seedev-full", "ccu-nd", "hub4")]
            [True, True, False]
        """
        return self.has_index or bool(self.submission_suffixes)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, in order."""
        return tuple(self.declared)

    @property
    def declared(self) -> Mapping[str, tuple[MeasureInfo | None, StatisticInfo]]:
        """The measure and the statistic of each metric, by name."""
        if not self.measures:
            return {statistic.name: (None, statistic) for statistic in self.statistics}
        return {
            f"{measure.name}.{statistic.name}": (measure, statistic)
            for measure in self.measures
            for statistic in self.statistics
            if not measure.statistics or statistic.name in measure.statistics
        }

    def statistic(self, name: str) -> StatisticInfo | None:
        """The statistic of a metric, declared or not, or of a measure of the table `scorings`.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("lorehlt-edl").statistic("sets:is_first:span.fscore").values.kind
            'rate'
            >>> load("speech-sf").statistic("Max F1").name
            'max_f1'
            >>> load("ccu-nd").statistic("ap.101@0.5").name
            'ap'
        """
        whole = name.partition("@")[0]
        parts = whole.split(".")
        beginnings = (".".join(parts[:size]) for size in range(len(parts) - 1, 0, -1))
        last = parts[-1].lower().replace(" ", "_")
        every = (*self.statistics, *self.table_statistics)
        known = {item.name: item for item in reversed(every)}
        return next((known[one] for one in (whole, last, *beginnings) if one in known), None)

    def limits(self, name: str) -> tuple[float, float]:
        """The least and the most that a metric can be, declared or not.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("speech-sf").limits("type.auc"), load("hub4").limits("both.cor")
            ((0.0, 1.0), (0.0, inf))
        """
        statistic = self.statistic(name)
        return (statistic.values.least, statistic.values.most) if statistic else (-inf, inf)

    @property
    def profiles(self) -> tuple[str, ...]:
        """Its profiles; without public software to compare with there is only `plan`."""
        judged = ("plan", "official") if self.official_rejects else ("plan",)
        return tuple(self.primary) or judged

    @property
    def has_agreement(self) -> bool:
        """Whether the agreement of its annotators can be measured.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("laf").has_agreement, load("ltf").has_agreement
            (True, False)
        """
        return self.agreement is not None or (self.metric is not None and not self.scored_alone)

    def ranking(self, profile: str, options: Mapping[str, str]) -> str:
        """The metric that ranks: the primary one, of the measure that an option selects.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("hub4").ranking("plan", {"mode": "content"})
            'content.f'
        """
        primary = self.primary_of(options) if self.primary_of else self.primary[profile]
        selected = self.selected(options)
        return f"{selected}.{primary.rpartition('.')[2]}" if selected else primary

    def beside(self, name: str, names: Iterable[str]) -> list[str]:
        """A metric, then the rates of the same measure, the most important first.

        Args:
            name: of the metric.
            names: of all metrics.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("seedev-full").beside("f1", ["precision", "matches", "f1"])
            ['f1', 'precision']
        """
        measure = name.rpartition(".")[0]
        alike = [other for other in names if other.rpartition(".")[0] == measure]
        known = {other: info for other in alike if (info := self.statistic(other))}
        rates = [other for other, info in known.items() if info.values.kind == "rate"]
        ordered = sorted(rates, key=lambda other: -known[other].weight)
        return list(dict.fromkeys([name, *ordered]))

    def selected(self, options: Mapping[str, str]) -> str:
        """The only measure that is computed with some options; empty if all are."""
        names = {measure.name for measure in self.measures}
        values = (options.get(option.name, "") for option in self.options if option.selects_measure)
        return next((value for value in values if value in names), "")

    def allows(self, options: Mapping[str, str], *, reference: bool = False) -> Any:
        """What the task allows in a submission, or in a reference, with some options."""
        return self.schema() if self.schema_for is None else self.schema_for(options, reference)

    def scorer(self, profile: str, options: Any = None) -> Metric:
        """The metric of a profile.

        Args:
            profile: `plan` or `official`.
            options: of the metric, as `metric_options` makes them; the default ones if not given.

        Raises:
            WrongOption: if there is no metric, or no such profile, or options that contradict.
        """
        self.hold_profile(profile)
        if self.metric is None:
            raise WrongOption(f"{self.name} cannot be scored: it supports validation only")
        if self.metric_options is None:
            return self.metric(profile)
        try:
            return self.metric(profile, options or self.metric_options())
        except ValueError as reason:
            raise WrongOption(str(reason)) from reason

    def hold_profile(self, profile: str) -> None:
        """Hold that there is a profile.

        Raises:
            WrongOption: if the task has no public software that it could reproduce.
        """
        if profile not in self.profiles:
            raise WrongOption(
                f"{self.name} has no public scorer and no profile {profile}; "
                f"use {' or '.join(self.profiles)}"
            )
