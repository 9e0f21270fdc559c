"""What a task is: a value that names its formats, rules, metrics and options.

The command line, the documentation and the tests are made from it. Declarations name what they are
made of (`lazy`), which is imported only when it is used: `hlteval --help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from hlteval.tasks.packaging import Packaging

if TYPE_CHECKING:
    from hlteval.converters import ReadResult
    from hlteval.findings import Finding
    from hlteval.representation import Corpus
    from hlteval.scoring.metric import Metric
    from hlteval.sources import Member, Source
    from hlteval.tasks.statistics import MeasureInfo, StatisticInfo
    from hlteval.validators import Rule


class WrongOption(ValueError):
    """An option has a value that it cannot have: an error of usage."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option that only some tasks have, given as --name with hyphens for underscores.

    Attributes:
        name: of the option.
        help: one line for people.
        format: the format of the file that it names, if that is read as a corpus: rules find it by
            the option's name, and a reference has its texts and segments.
        choices: the values that it can have, where these are few.
        metavar: the placeholder of its value in the help.
        is_format_setting: whether it is a setting of the formats that have it.
        display: what it shows of the scores, if it changes no number: `plot` names a picture of
            their curves, `others` more submissions for that.
        repeatable: whether it can be given several times; as text, the values are joined by spaces.
        short: a letter that is short for its name.
        commands: the commands that have it.
        switch: whether it takes no value: its value is then `yes`.
        reference_format: the format of the file that it names, if a submission is checked against
            that.
        kind: how the metric takes its value: as text, as a list separated by commas, or as a
            number above 0.
        read: gives the metric something else instead, from the value and all options; of a file
            a `FileValue`, from its source and all options. A file that `validate` reads too may
            be for the rules only (`Task.schema_for`).
        needs: other options that a value needs in scoring; under the empty name, those that any
            value needs.
        adds: what it adds to the report of `score` if it changes no metric: `rows` of the scores,
            or `tables`, which only -o and JSON show; `compare` does not have it then.
        selects_measure: whether its values are measures, of which only the one given is computed;
            the primary metric follows it.
        needs_any: by command, options and arguments of which it needs one to have an effect.
        selects_documents: whether only the documents of the corpus that it names are scored.
        holds_options: whether the file that it names holds options of the task, in TOML.
        without_documents: whether the documents of a submission have no boundaries under it.
        follows_seed: whether it is the seed that all commands have, unless it is given itself.
    """

    name: str
    help: str
    format: str = ""
    choices: tuple[str, ...] = ()
    metavar: str = "FILE"
    is_format_setting: bool = False
    display: Literal["", "plot", "others"] = ""
    repeatable: bool = False
    short: str = ""
    commands: tuple[Literal["score", "validate"], ...] = ("score",)
    switch: bool = False
    reference_format: str = ""
    kind: Literal["text", "list", "number"] = "text"
    read: Callable[[Any, Mapping[str, str]], object] | None = None
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adds: Literal["", "rows", "tables"] = ""
    selects_measure: bool = False
    needs_any: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    selects_documents: bool = False
    holds_options: bool = False
    without_documents: bool = False
    follows_seed: bool = False

    @property
    def flag(self) -> str:
        """The name as on the command line."""
        return self.name.replace("_", "-")

    @property
    def placeholder(self) -> str:
        """The placeholder of its value; empty for a switch."""
        return "" if self.switch else "|".join(self.choices) or self.metavar

    @property
    def is_input(self) -> bool:
        """Whether it names files or folders that are read."""
        names_path = self.metavar in {"FILE", "PATH"} and not (self.switch or self.choices)
        return names_path and self.display != "plot"

    @property
    def is_file(self) -> bool:
        """Whether it names files that are read for the submission: no options, no submissions."""
        return self.is_input and not self.display and not self.holds_options

    def available_in(self, command: str) -> bool:
        """Whether a command has it; `compare` has those of `score` that change metrics.

        `pack` validates what it packs, and has those of `validate`.
        """
        if command == "compare":
            return "score" in self.commands and not self.display and not self.adds
        return ("validate" if command == "pack" else command) in self.commands

    def elsewhere(self, task: str, command: str) -> str:
        """Why a command of a task does not have it, and which does.

        Examples:
            >>> Option("by", "Also by type.", adds="rows").elsewhere("hub4", "compare")
            '--by belongs to `hlteval score hub4`: it changes no metric that could be compared'
        """
        only_shown = command == "compare" and "score" in self.commands
        reason = ": it changes no metric that could be compared" if only_shown else ""
        homes = " and ".join(f"`hlteval {home} {task}`" for home in self.commands)
        return f"--{self.flag} belongs to {homes}{reason}"

    def lacks(self, command: str, present: Collection[str]) -> str:
        """What it needs to have an effect beside what is present; empty if nothing.

        Examples:
            >>> Option("beside", "More.", needs_any={"score": ("plot",)}).lacks("score", {"beside"})
            '--beside has no effect without --plot'
        """
        wanted = self.needs_any.get("validate" if command == "pack" else command, ())
        if not wanted or not set(wanted).isdisjoint(present):
            return ""
        flags = " or ".join(f"--{name.replace('_', '-')}" for name in wanted)
        return f"--{self.flag} has no effect without {flags}"

    def check(self, value: str) -> None:
        """Check that the option can have a value.

        Raises:
            WrongOption: if it is not.
        """
        if self.choices and value not in self.choices:
            raise WrongOption(
                f"invalid value {value} of --{self.flag}: use {' or '.join(self.choices)}"
            )


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
        options: options of `score` beyond the common ones.
        official_crashes_on: codes of findings at which the official software crashes, even when
            forced: there is then no official number.
        official_ignores: whether the official software goes on in spite of a finding that blocks.
        official_rejects: whether the official software refuses a submission for a finding; where
            this is not said, it refuses for what blocks.
        official_reading: what the official software reads of what was read, where it reads records
            otherwise than the format says.
        scored_table: the table without which a reference has nothing to score against.
        submission_settings: settings of the format of a submission.
        reference_settings: settings of the format of what a submission is checked against or scored
            with; a reference that is checked by itself is read with the format's own.
        official_settings: settings of the formats in the profile `official`, where the software
            reads files in another way.
        schema_for: what the task allows, where that depends on options, and on whether a reference
            is checked.
        only_in_references: what a corpus has that only references may have, in a few words; empty
            if it has nothing of this kind.
        document_codes: codes of findings of documents that only one side has: they say nothing new
            where no document is on both sides.
        alignment: the name of the table that tells what was paired with what.
        compared: what records are compared with, in a few words, by the format of what the
            submission is checked against (empty if nothing is) and by the options.
        noted: codes of warnings about a submission that its scores note.
        reads_sub_folders: whether files in sub-folders of a folder are read, as in archives.
        packaging: how its submissions are packed.
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
    options: tuple[Option, ...] = ()
    official_crashes_on: frozenset[str] = frozenset()
    references: tuple[str, ...] = ()
    submitted: tuple[str, ...] = ()
    reference_optional: bool = False
    scored_alone: bool = False
    official_ignores: Callable[[Finding], bool] | None = None
    official_reading: Callable[[ReadResult], ReadResult] | None = None
    scored_table: str = "frames"
    official_rejects: Callable[[Finding], bool] | None = None
    submission_settings: Mapping[str, str] = field(default_factory=dict)
    reference_settings: Mapping[str, str] = field(default_factory=dict)
    official_settings: Mapping[str, str] = field(default_factory=dict)
    schema_for: Callable[[Mapping[str, str], bool], Any] | None = None
    only_in_references: Callable[[Corpus], str] = _nothing_special
    document_codes: frozenset[str] = frozenset()
    alignment: str = "alignment"
    compared: Callable[[str, Collection[str]], str] = _nothing_compared
    noted: frozenset[str] = frozenset()
    reads_sub_folders: bool = True
    packaging: Packaging = field(default_factory=Packaging)

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

    def ranking(self, profile: str, options: Mapping[str, str]) -> str:
        """The metric that ranks: the primary one, of the measure that an option selects.

        Examples:
            >>> from hlteval.tasks import load
            >>> load("hub4").ranking("plan", {"mode": "content"})
            'content.f'
        """
        primary = self.primary[profile]
        selected = self.selected(options)
        return f"{selected}.{primary.rpartition('.')[2]}" if selected else primary

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
