"""Confidence intervals of the values of a metric, each by the method that its part declares.

- Sums over documents: the percentile bootstrap (`resampling`).
- What is computed from all documents at once: the delete-group jackknife (`jackknife`).

No interval is given where the method is not valid: for too few documents, for a value that does not
vary with them, or that is undefined without some. docs/intervals.md shows how often intervals cover
the truth, and why the limits are what they are.

Conventions:
    The limits of a value (`within`) are what it can be at all; infinite where it has none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of, first_names
from hlteval.scoring import resampling
from hlteval.scoring.metric import DOCUMENTS, Limits, Metric, Replicates, Weights

# The delete-group jackknife: intervals of values that are computed from all documents at once.
#
# Clusters run through documents and curves through ranks, so a document that a bootstrap draws
# twice is not like two documents: its copy shares all of its clusters. The jackknife repeats
# nothing. It leaves out one group of documents at a time; from how far the value moves follows its
# standard error, and the interval is the value, plus and minus t standard errors with groups - 1
# degrees of freedom. It holds the value by construction. docs/intervals.md shows how often it
# covers the truth.
#
# Conventions:
#     Documents are taken by name and dealt into groups at random; the groups depend on the seed and
#     on the number of documents only. Not-a-number is an undefined value.
#
# References:
#     Busing, Meijer and van der Leeden 1999 (groups of unequal sizes); Shao and Tu 1995.


#: How many groups there are at most; with fewer documents, each is a group.
GROUPS = 20


Sizes = NDArray[np.int64]


def groups(documents: int, seed: int, most: int = GROUPS) -> NDArray[np.int64]:
    """The group of each document.

    Args:
        documents: how many there are.
        seed: of the random numbers.
        most: how many groups there are at most.

    Examples:
        >>> sorted(groups(5, seed=0, most=2).tolist())
        [0, 0, 0, 1, 1]
    """
    dealt = np.arange(documents, dtype=np.int64) % max(1, min(documents, most))
    return np.random.default_rng(seed).permutation(dealt)


def deletions(group: NDArray[np.int64]) -> Weights:
    """The weights of the replicates: a row per group, which leaves its documents out.

    Examples:
        >>> deletions(np.array([0, 1, 1])).tolist()
        [[0, 1, 1], [1, 0, 0]]
    """
    numbers = np.arange(group.max(initial=-1) + 1)
    kept: Weights = (group[np.newaxis] != numbers[:, np.newaxis]).astype(np.int64)
    return kept


def standard_error(value: float, values: Values, sizes: Sizes) -> float:
    """The standard error of a value, from the values without each group.

    With h = documents / size of a group, the pseudo-value of a group is h · value - (h - 1) · value
    without it; the variance is the mean of (pseudo-value - their mean)² / (h - 1).

    Args:
        value: with all documents.
        values: without each group.
        sizes: how many documents each group has.

    Returns:
        The error; not-a-number where a value is undefined or there are fewer than two groups.

    Examples:
        >>> sample = np.array([1.0, 2.0, 6.0])  # of a mean, it is the well-known one
        >>> without = (sample.sum() - sample) / 2
        >>> error = standard_error(3.0, without, np.ones(3, int))
        >>> bool(np.isclose(error, sample.std(ddof=1) / 3**0.5))
        True
    """
    if len(values) < 2:
        return math.nan
    shares = sizes.sum() / sizes
    pseudo = shares * value - (shares - 1) * values
    return float(np.sqrt(np.mean((pseudo - pseudo.mean()) ** 2 / (shares - 1))))


def jackknife_interval(
    value: float, values: Values, sizes: Sizes, confidence: float, within: Limits
) -> Limits | None:
    """The interval of a value; None where its error is undefined or 0.

    It is symmetric on the logit scale for a value between two limits, on the log scale for one with
    a lower limit only, and else as it is; and never leaves the limits.

    Args:
        value: with all documents.
        values: without each group.
        sizes: how many documents each group has.
        confidence: between 0 and 1.
        within: the limits of the value, infinite where it has none.

    Examples:
        >>> values, sizes = np.array([0.4, 0.6]), np.array([1, 1])
        >>> low, high = jackknife_interval(0.5, values, sizes, 0.5, (0.0, 1.0))
        >>> 0 < low < 0.5 < high < 1
        True
        >>> jackknife_interval(0.5, np.array([0.5, 0.5]), sizes, 0.5, (0.0, 1.0)) is None
        True
    """
    error = standard_error(value, values, sizes)
    if not error > 0:
        return None
    from scipy.special import stdtrit

    reach = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * error
    least, most = within
    if not least < value < most or math.isinf(least):
        return max(least, value - reach), min(most, value + reach)
    if math.isinf(most):
        factor = math.exp(min(reach / (value - least), _LARGEST))
        return least + (value - least) / factor, least + (value - least) * factor
    span = most - least
    share = (value - least) / span
    factor = math.exp(min(reach / span / (share * (1 - share)), _LARGEST))
    odds = share / (1 - share)
    low, high = odds / factor, odds * factor
    return least + span * low / (1 + low), least + span * high / (1 + high)


#: The largest exponent, so that nothing overflows.
_LARGEST = 500.0


def probability(difference: float, values: Values, sizes: Sizes) -> float:
    """How often chance alone gives a difference as large: Student's t over its standard error.

    Args:
        difference: with all documents.
        values: the difference without each group.
        sizes: how many documents each group has.

    Returns:
        Two-sided; 1 where there is no difference, not-a-number where it is undefined.
    """
    error = standard_error(difference, values, sizes)
    if difference == 0:
        return 1.0
    if not error > 0:
        return math.nan
    from scipy.special import stdtr

    return float(2 * stdtr(len(values) - 1, -abs(difference) / error))


Values = NDArray[np.float64]
UNLIMITED = (-np.inf, np.inf)
#: How many values without an interval are named in a note.
NAMED = 3


@dataclass(frozen=True)
class Method(ABC):
    """A method of intervals.

    Attributes:
        documents: how many there are.
        confidence: how often an interval is to cover the truth, between 0 and 1.
        seed: of the random numbers.
    """

    fewest: ClassVar[int]
    """With fewer documents, intervals cover the truth too seldom to be given."""

    documents: int
    confidence: float
    seed: int

    @property
    @abstractmethod
    def signature(self) -> str:
        """The method and how often it computes a value, as `name:number`."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The method for people."""

    @abstractmethod
    def resample(self, samples: Sequence[resampling.Sample]) -> list[Replicates]:
        """The values of the replicates of systems over the same documents."""

    def replicates(
        self, part: Metric, counts: pl.DataFrame, documents: Sequence[str]
    ) -> Replicates:
        """The values of the replicates of a system over the named documents."""
        return self.resample([resampling.Sample(part, counts, tuple(documents))])[0]

    @abstractmethod
    def limits(self, value: float, replicates: Values, within: Limits) -> Limits | None:
        """The interval of a value; None if the replicates do not give one."""

    @abstractmethod
    def chance(self, difference: float, replicates: Values) -> resampling.Chance | None:
        """The p value of a difference from its replicates; None where it is undefined."""

    def interval(self, value: float, replicates: Values, within: Limits) -> Limits | str:
        """The interval of a value, or why there is none."""
        if self.documents < self.fewest:
            return self._few(self.fewest)
        if np.isnan(replicates).mean() > 1 - self.confidence:
            return "undefined without some of the documents"
        if np.ptp(replicates[~np.isnan(replicates)]) <= _CLOSE * abs(value):
            return "the same whatever documents are taken"
        found = self.limits(value, replicates, within)
        if found is None:
            return "undefined without some of the documents"
        return found if encloses(found, value) else "its resamples lie to one side of it"

    def missing(self, part: Metric, name: str) -> str:
        """Why a value has no interval whatever its replicates are; empty where it can have one."""
        return self.too_few(part, name) or part.no_interval(name)

    def too_few(self, part: Metric, name: str) -> str:
        """Report too few documents for intervals and tests of a value; empty if enough."""
        fewest = max(self.fewest, part.fewest_documents(name))
        return self._few(fewest) if self.documents < fewest else ""

    def _few(self, fewest: int) -> str:
        return f"{count_of(self.documents, 'document')} with counts, at least {fewest} are needed"

    def difference(self, value: float, replicates: Values, within: Limits) -> Limits | None:
        """The interval of a difference of two values with the same limits; None if there is none.

        Systems that do not differ in any replicate do not differ.
        """
        if value == 0 and not np.any(replicates):
            return 0.0, 0.0
        found = self.interval(value, replicates, UNLIMITED)
        most = within[1] - within[0]
        return None if isinstance(found, str) else (max(-most, found[0]), min(most, found[1]))


_CLOSE = 1e-12


@dataclass(frozen=True)
class Bootstrap(Method):
    """Percentiles of the values of resamples.

    Attributes:
        resamples: how many there are.
        units: what is resampled.
    """

    fewest: ClassVar[int] = 10

    resamples: int
    units: str = DOCUMENTS

    @property
    def signature(self) -> str:
        """The number of resamples."""
        return f"bootstrap:{self.resamples}"

    @property
    def text(self) -> str:
        """The units that are resampled, and how often."""
        return f"bootstrap interval, {self.resamples:,} resamples of {self.units}"

    def resample(self, samples: Sequence[resampling.Sample]) -> list[Replicates]:
        """The values of the resamples."""
        if self.units == DOCUMENTS:
            return resampling.resample(samples, self.resamples, self.seed)
        drawn = (self.resamples, self.seed)
        return [resampling.bootstrap(item.metric, item.counts, *drawn) for item in samples]

    def limits(self, value: float, replicates: Values, within: Limits) -> Limits | None:  # noqa: ARG002
        """Their percentiles."""
        return resampling.interval(replicates, self.confidence)

    def interval(self, value: float, replicates: Values, within: Limits) -> Limits | str:
        """The interval; as the software takes it where other units are resampled."""
        if self.units == DOCUMENTS:
            return super().interval(value, replicates, within)
        found = resampling.listed_interval(replicates, self.confidence)
        return found or "undefined in some resamples"

    def too_few(self, part: Metric, name: str) -> str:
        """Never, where the software's own units are resampled."""
        return super().too_few(part, name) if self.units == DOCUMENTS else ""

    def chance(self, difference: float, replicates: Values) -> resampling.Chance | None:
        """Of resamples that are moved so that their middle is no difference."""
        return resampling.drawn_chance(replicates - difference, difference)


@dataclass(frozen=True)
class Jackknife(Method):
    """The value with t standard errors on either side, from values without groups of documents."""

    fewest: ClassVar[int] = 6

    @property
    def groups(self) -> NDArray[np.int64]:
        """The group of each document."""
        return groups(self.documents, self.seed)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many documents each group has."""
        return np.bincount(self.groups)

    @property
    def signature(self) -> str:
        """The number of groups."""
        return f"jackknife:{len(self.sizes)}"

    @property
    def text(self) -> str:
        """The number of groups that are left out."""
        return f"jackknife interval, {len(self.sizes)} groups of documents, not resampled"

    def resample(self, samples: Sequence[resampling.Sample]) -> list[Replicates]:
        """The values without each group."""
        kept = deletions(self.groups)
        return [sample.replicates(kept) for sample in samples]

    def limits(self, value: float, replicates: Values, within: Limits) -> Limits | None:
        """The value and its standard error."""
        return jackknife_interval(value, replicates, self.sizes, self.confidence, within)

    def chance(self, difference: float, replicates: Values) -> resampling.Chance | None:
        """Student's t of the difference over its standard error."""
        p = probability(difference, replicates, self.sizes)
        return None if np.isnan(p) else resampling.Chance(p)


def method(
    part: Metric, documents: int, *, resamples: int, confidence: float, seed: int
) -> Method | None:
    """The method of a part of a metric; None where none is known to be valid."""
    if part.interval_method == "none":
        return None
    if part.interval_method == "jackknife":
        return Jackknife(documents, confidence, seed)
    return Bootstrap(documents, confidence, seed, resamples, part.resampling_units)


@dataclass(frozen=True)
class IntervalSet:
    """The intervals of a system.

    Attributes:
        limits: the interval of each value that has one, by name.
        methods: the method of each of these values.
        missing: why the other values have none.
        replicates: the values of each resample, or without each group of documents.
    """

    limits: dict[str, Limits] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    replicates: Replicates = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """The methods and settings that they depend on, in one line."""
        return signature(self.methods.values())

    def notes(self) -> Iterator[str]:
        """How to read them, and why there are none."""
        yield from notes({name: self.methods[name] for name in self.limits})
        for reason in dict.fromkeys(self.missing.values()):
            names = [name for name, why in self.missing.items() if why == reason]
            yield f"no interval for {first_names(names, NAMED, others=2)}: {reason}"


def signature(methods: Iterable[Method]) -> str:
    """The methods and settings that intervals depend on, in one line.

    Examples:
        >>> signature([Bootstrap(12, 0.95, 0, 200), Jackknife(12, 0.95, 0)])
        'bootstrap:200|jackknife:12|confidence:0.95|seed:0'
    """
    every = list(dict.fromkeys(methods))
    named = dict.fromkeys(item.signature for item in every)
    shared = [f"confidence:{every[0].confidence}", f"seed:{every[0].seed}"] if every else []
    return "|".join([*named, *shared])


def notes(methods: Mapping[str, Method]) -> Iterator[str]:
    """How to read intervals: the first method of all, and those that have another one.

    Args:
        methods: by name of the value.
    """
    every = list(dict.fromkeys(methods.values()))
    for own in every:
        names = [name.rpartition(".")[0] or name for name in methods if methods[name] == own]
        what = "" if own == every[0] else f" of {', '.join(dict.fromkeys(names))}"
        yield f"[low, high]{what}: {100 * own.confidence:g} % {own.text}"


def intervals(
    metric: Metric,
    counts: pl.DataFrame,
    values: Mapping[str, float | None],
    within: Callable[[str], Limits],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> IntervalSet:
    """The confidence intervals of the values of a system.

    Args:
        metric: the metric.
        counts: what was counted of each document.
        values: by name; those that are None have no interval.
        within: gives the limits of a value by its name.
        resamples: how many there are where documents are resampled.
        confidence: how often an interval is to cover the truth, between 0 and 1.
        seed: of the random numbers.
    """
    found: dict[str, Limits | str] = {}
    methods: dict[str, Method] = {}
    drawn: Replicates = {}
    documents = metric.documents(counts)
    for part in metric.decompose():
        how = method(part, len(documents), resamples=resamples, confidence=confidence, seed=seed)
        if how is None:
            found |= dict.fromkeys(part.score(part.total([]))[0], "no method is known to be valid")
            continue
        replicates = how.replicates(part, counts, documents) if documents else {}
        drawn |= replicates
        for name, own in replicates.items():
            value = values.get(name)
            if value is not None:
                reason = how.missing(part, name)
                found[name] = reason or how.interval(value, own, within(name))
                methods[name] = how
    known = {name: found[name] for name, v in values.items() if name in found and v is not None}
    missing = {name: why for name, why in known.items() if isinstance(why, str)}
    limits = {name: item for name, item in known.items() if not isinstance(item, str)}
    return IntervalSet(limits, methods, missing, drawn)


def encloses(found: Limits, value: float) -> bool:
    """Whether a value is inside its interval, up to rounding.

    Examples:
        >>> encloses((0.5, 1.0), 1.0), encloses((0.5, 1.0), 0.4)
        (True, False)
    """
    slack = _CLOSE * (1 + abs(value))
    return found[0] - slack <= value <= found[1] + slack
