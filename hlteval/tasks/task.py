"""What a task is: a value that names its formats, rules, metrics and options.

The command line, the documentation and the tests are made from it. Declarations import what they
name only when it is used, so that `hlteval --help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl

    from hlteval.findings import Finding
    from hlteval.representation import Corpus
    from hlteval.sources import Member, Source
    from hlteval.validators import Rule


class Metric(Protocol):
    """What scores a task: additive counts of batches, and a pure score of their total."""

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and its alignment where that is wanted."""

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], list[dict[str, object]]]:
        """The metrics by name, and the table of all scorings."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `score` that only some tasks have: a path, given as --name.

    `format` is the format of the file that it names.
    """

    name: str
    help: str
    format: str


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


@dataclass(frozen=True)
class Task:
    """A task of an evaluation.

    Attributes:
        name: as on the command line.
        title: one line for people.
        specification: the document that the profile `plan` follows.
        format: the format of reference and submission.
        predicted: suffixes of the files of a submission that are read; others come with the task.
        given: suffixes of the files that come with the task, and without which nothing is checked.
        schema: what the task allows, for the rules.
        rules: the rules over records.
        package: the rules over the submission as a package.
        metric: the metric of a profile.
        metrics: the names of the metrics, in order.
        primary: the metric that ranks, by profile.
        options: options of `score` beyond the common ones.
        crashes: codes of findings at which the official software crashes, even when forced: there
            is then no official number.
    """

    name: str
    title: str
    specification: str
    format: str
    predicted: tuple[str, ...]
    given: tuple[str, ...]
    schema: Callable[[], Any]
    rules: Callable[[], tuple[Rule, ...]]
    package: Callable[[Package], Iterator[Finding]]
    metric: Callable[[str, frozenset[str]], Metric]
    metrics: tuple[str, ...]
    primary: Mapping[str, str]
    options: tuple[Option, ...] = ()
    crashes: frozenset[str] = frozenset()
