"""What a task is: a value that names its formats, rules, metrics and options.

The command line, the documentation and the tests are made from it. Declarations name what they are
made of (`lazy`), which is imported only when it is used: `hlteval --help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import polars as pl

    from hlteval.findings import Finding
    from hlteval.representation import Corpus
    from hlteval.sources import Member, Source
    from hlteval.tasks.statistics import MeasureInfo, StatisticInfo
    from hlteval.validators import Rule


class Metric(Protocol):
    """What scores a task: additive counts of batches, and a pure score of their total."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and its alignment where that is wanted."""

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""

    def score(
        self, total: pl.DataFrame
    ) -> tuple[
        dict[str, float | None], Sequence[Mapping[str, object]] | Mapping[str, pl.DataFrame]
    ]:
        """The metrics by name, and the table `scorings` row by row, or all tables by name."""


@runtime_checkable
class Talkative(Protocol):
    """A metric that has more to tell than numbers."""

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the numbers must know."""

    def files(self, total: pl.DataFrame) -> Mapping[str, str]:
        """The files that the official software writes, by name."""


@runtime_checkable
class Analyst(Protocol):
    """A metric that tells what went wrong."""

    def analysis(
        self, aligned: pl.DataFrame, total: pl.DataFrame
    ) -> tuple[Mapping[str, pl.DataFrame], Mapping[str, str]]:
        """Tables by name, and files by name, made from the alignment of all batches."""


class WrongOption(ValueError):
    """An option has a value that it cannot have: an error of usage."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option that only some tasks have, given as --name with hyphens for underscores.

    Attributes:
        name: of the option.
        help: one line for people.
        format: the format of the file that it names, where it names one that has a format.
        choices: the values that it can have, where these are few.
        metavar: what stands for its value in the help.
        is_format_setting: whether it is a setting of the formats that have it.
        display_only: whether it changes only how scores are shown.
        repeatable: whether it can be given more than once; the values are joined by spaces, unless
            it only shows.
        short: a letter that stands for its name.
        commands: the commands that have it.
        switch: whether it takes no value: given, its value is `yes`.
        reference_format: the format of what it names, if a submission is checked against that.
    """

    name: str
    help: str
    format: str = ""
    choices: tuple[str, ...] = ()
    metavar: str = "FILE"
    is_format_setting: bool = False
    display_only: bool = False
    repeatable: bool = False
    short: str = ""
    commands: tuple[Literal["score", "validate"], ...] = ("score",)
    switch: bool = False
    reference_format: str = ""

    @property
    def flag(self) -> str:
        """The name as on the command line."""
        return self.name.replace("_", "-")

    @property
    def placeholder(self) -> str:
        """What stands behind it on the command line."""
        return "" if self.switch else "|".join(self.choices) or self.metavar

    def available_in(self, command: Literal["compare", "score", "validate"]) -> bool:
        """Whether a command has it; systems are compared by what they are scored by."""
        if command == "compare":
            return "score" in self.commands and not self.display_only
        return command in self.commands

    def check(self, value: str) -> None:
        """Hold that a value is one that the option can have.

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
        submission_suffixes: suffixes of the files of a submission that are read; others come with
            the task.
        provided_suffixes: suffixes of the files that come with the task, and without which nothing
            is checked.
        rules: the rules over records.
        package: the rules over the submission as a package.
        schema: what the task allows, for the rules.
        metric: the metric of a profile; None where submissions are only checked.
        statistics: what its metrics say, in order.
        measures: what has each of these figures, where that is several things.
        primary: the metric that ranks, by profile.
        options: options of `score` beyond the common ones.
        official_crashes_on: codes of findings at which the official software crashes, even when
            forced: there is then no official number.
        official_ignores: whether the official software goes on in spite of a finding that blocks.
        official_rejects: whether the official software refuses a submission for a finding; where
            this is not said, it refuses for what blocks.
        scored_table: the table without which a reference has nothing to score against.
        submission_settings: settings of the format of a submission; those of a reference are the
            format's own.
        schema_for: what the task allows, where that depends on options.
        alignment: the name of the table that tells what was paired with what.
    """

    name: str
    title: str
    specification: str
    format: str
    submission_suffixes: tuple[str, ...]
    provided_suffixes: tuple[str, ...]
    rules: Callable[[], tuple[Rule, ...]] = tuple
    package: Callable[[Package], Iterator[Finding]] = _silent
    schema: Callable[[], Any] = _nothing
    metric: Callable[[str, Mapping[str, str]], Metric] | None = None
    statistics: tuple[StatisticInfo, ...] = ()
    measures: tuple[MeasureInfo, ...] = ()
    primary: Mapping[str, str] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    official_crashes_on: frozenset[str] = frozenset()
    references: tuple[str, ...] = ()
    submitted: tuple[str, ...] = ()
    reference_optional: bool = False
    official_ignores: Callable[[Finding], bool] | None = None
    scored_table: str = "frames"
    official_rejects: Callable[[Finding], bool] | None = None
    submission_settings: Mapping[str, str] = field(default_factory=dict)
    schema_for: Callable[[Mapping[str, str]], Any] | None = None
    alignment: str = "alignment"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, in order."""
        return tuple(self.declared)

    @property
    def declared(self) -> Mapping[str, tuple[MeasureInfo | None, StatisticInfo]]:
        """What each metric measures, and which figure of it it is, by name."""
        if not self.measures:
            return {figure.name: (None, figure) for figure in self.statistics}
        return {
            f"{measured.name}.{figure.name}": (measured, figure)
            for measured in self.measures
            for figure in self.statistics
        }

    @property
    def less(self) -> frozenset[str]:
        """The metrics of which less is better."""
        declared = self.declared.items()
        return frozenset(name for name, (_, figure) in declared if figure.better == "less")

    @property
    def profiles(self) -> tuple[str, ...]:
        """Its profiles; without public software to compare with there is only `plan`."""
        return tuple(self.primary) or ("plan",)

    def allows(self, options: Mapping[str, str]) -> Any:
        """What the task allows with some options, for the rules."""
        return self.schema() if self.schema_for is None else self.schema_for(options)

    def scorer(self, profile: str, options: Mapping[str, str]) -> Metric:
        """The metric of a profile.

        Raises:
            WrongOption: if there is none.
        """
        self.hold_profile(profile)
        if self.metric is None:
            raise WrongOption(f"{self.name} cannot be scored: it supports validation only")
        return self.metric(profile, options)

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
