"""Comparisons and leaderboards as values: ranks and differences of systems, and short names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from hlteval.extensions import lazy
from hlteval.findings import Findings
from hlteval.findings.counts import count_of
from hlteval.results.verdict import Citable, Count, Counts, Refusal
from hlteval.scoring.errors import ErrorAnalysis
from hlteval.sources.names import as_text
from hlteval.sources.opening import OpenInput

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

#: A confidence interval, lower limit first; None if it is undefined.
Limits = tuple[float, float] | None
#: The limits of a confidence interval, lower first.
Interval = tuple[float | None, float | None]
#: Description of systems where all that are ranked share a rank, so that none is the best.
NOT_DISTINGUISHABLE = "not distinguishable"


class System(msgspec.Struct, frozen=True, kw_only=True):
    """One system: its value and its rank.

    Attributes:
        name: its short name, as on a leaderboard, or the one that was given to it.
        value: value of the metric; None if undefined.
        interval: confidence interval of the value.
        rank: 1 for the best. Systems not significantly different from the best of their group
            share its rank. None if the value is undefined.
    """

    name: str
    value: float | None
    interval: Limits
    rank: int | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between two systems and its significance.

    Attributes:
        first: name of the first system.
        second: name of the second system.
        difference: value of the first minus value of the second; None if either is undefined.
        interval: confidence interval of the difference, from the same documents of both.
        probability: two-sided p value of the significance test; None if undefined.
        monte_carlo_error: standard error of the p value where replicates are drawn; 0 where all
            outcomes are counted, None for a test without replicates.
        corrected: the p value with Holm's correction for the number of pairs.
        wins: number of documents in which the first system is better.
        losses: number of documents in which the second system is better.
        ties: number of documents in which neither is better, or either has no value.
    """

    first: str
    second: str
    difference: float | None
    interval: Limits
    probability: float | None
    monte_carlo_error: float | None
    corrected: float | None
    wins: int
    losses: int
    ties: int


class Significance(msgspec.Struct, frozen=True, kw_only=True):
    """Whether any difference can be significant.

    Attributes:
        documents: number of documents with counts.
        pairs: number of pairs of systems with a p value.
        smallest: the smallest p value (Holm) that the test can give for these documents and pairs;
            None if it has no such limit.
        note: why no difference can be significant, in one line; empty if one can.
    """

    documents: int
    pairs: int
    smallest: float | None = None
    note: str = ""


class ErrorCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many items two systems have right and wrong.

    Items are those of the reference, and `extra` ones of the systems; stretches of time count as
    seconds. What is not scored is not counted.

    Attributes:
        first: name of the first system.
        second: name of the second system.
        both_right: items that both have right.
        only_first: items that only the first has right.
        only_second: items that only the second has right.
        both_wrong: items that neither has right: missing, or wrong in any way.
        both_extra: items that both have, but not the reference.
        only_first_extra: items that only the first has.
        only_second_extra: items that only the second has.
        unpaired: items of the reference that are scored for one of them only.
    """

    first: str
    second: str
    both_right: float
    only_first: float
    only_second: float
    both_wrong: float
    both_extra: float
    only_first_extra: float
    only_second_extra: float
    unpaired: float


class RefusedSystem(Refusal, frozen=True, kw_only=True):
    """A system that has no rank, because nothing of it was scored.

    Attributes:
        name: its short name.
        codes: the codes of the findings that are the reason, sorted.
    """

    name: str
    codes: tuple[str, ...]

    @property
    def note(self) -> str:
        """The name and the reason, in one line."""
        return f"{self.name} is refused: {self.reason}"


class Comparison(Citable, frozen=True, kw_only=True):
    """Several systems that were scored against one reference, with their differences.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        metric: name of the metric that is compared.
        signature: everything that the numbers depend on: version, parameters, digests, seed.
        systems: the systems, best first.
        differences: one for each pair of systems, in the order of `systems`.
        significance: whether any difference can be significant.
        notes: remarks on how to read the numbers.
        refused: the systems that were not scored, in the order in which they were named.
        paths: the path of each submission, by name.
        alpha: the level of significance of corrected p values.
        errors: what each system has right and wrong, item by item; None if it was not wanted, for
            fewer than two systems, and for tasks without an alignment. In JSON, how many items
            each pair of systems has right and wrong.
    """

    json_schema: ClassVar[str] = "comparison"
    json_members: ClassVar[tuple[str, ...]] = (
        *("task", "profile", "metric", "signature", "systems", "differences", "significance"),
        *("notes", "refused", "errors"),
    )

    task: str
    profile: str
    metric: str
    signature: str
    systems: tuple[System, ...]
    differences: tuple[Difference, ...]
    significance: Significance = Significance(documents=0, pairs=0)
    notes: tuple[str, ...] = ()
    refused: tuple[RefusedSystem, ...] = ()
    paths: Mapping[str, str] = {}
    alpha: float = 0.05
    errors: ErrorAnalysis | None = None

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The longest runs of systems, best first, of which no two differ significantly.

        A system can be in several; one that differs from its neighbours is in none. Pairs without a
        p value do not differ.
        """
        names = [system.name for system in self.systems if system.value is not None]
        place = {name: at for at, name in enumerate(names)}
        first = [0] * len(names)  # the first system of the run that ends at each one
        for pair in self.differences:
            if pair.corrected is not None and pair.corrected < self.alpha:
                better, other = sorted((place[pair.first], place[pair.second]))
                first[other] = max(first[other], better + 1)
        runs: list[tuple[str, ...]] = []
        for at in range(len(names)):
            first[at] = max(first[at], first[at - 1] if at else 0)
            is_longest = at + 1 == len(names) or first[at + 1] > first[at]
            if is_longest and at > first[at]:
                runs.append(tuple(names[first[at] : at + 1]))
        return tuple(runs)

    @property
    def best(self) -> tuple[System, ...]:
        """The systems of rank 1; none where several systems are not distinguishable."""
        ranked = [system for system in self.systems if system.rank is not None]
        best = tuple(system for system in ranked if system.rank == 1)
        return best if len(best) < max(2, len(ranked)) else ()

    def __repr__(self) -> str:
        head = f"{self.task}, profile {self.profile}: {self.metric} of {len(self.systems)} systems"
        best = ", ".join(f"{system.name} {system.value:.4f}" for system in self.best)
        return f"<Comparison: {head}; {f'best {best}' if best else NOT_DISTINGUISHABLE}>"

    def _repr_html_(self) -> str:
        return str(lazy("hlteval.reports.notebook:comparison")(self))

    def plot(self) -> Figure:
        """The systems and their differences, with intervals, as a figure.

        Raises:
            ImportError: where matplotlib is not installed.
        """
        figure: Figure = lazy("hlteval.reports.curves:of_comparison")(self)
        return figure

    @property
    def member_refused(self) -> dict[str, RefusedSystem]:
        """Why systems were not scored, by name."""
        return {system.name: system for system in self.refused}

    @property
    def member_errors(self) -> tuple[ErrorCounts, ...]:
        """How many items each pair of systems has right and wrong."""
        if self.errors is None:
            return ()
        return tuple(ErrorCounts(**row) for row in self.errors.counts().iter_rows(named=True))

    def to_frame(self, rows: Literal["systems", "differences"] = "systems") -> pl.DataFrame:
        """The systems or the differences of pairs, a row each.

        The columns are the attributes of `System` or `Difference`, with `low` and `high` in place
        of `interval`. Systems that are refused come last, without a rank.

        Args:
            rows: what the rows are.

        Raises:
            ValueError: for anything else.
        """
        if rows not in ("systems", "differences"):
            raise ValueError(f"rows: expected 'systems' or 'differences', got {rows!r}")
        if rows == "differences":
            return interval_frame(Difference, self.differences)
        refused = (
            System(name=each.name, value=None, interval=None, rank=None) for each in self.refused
        )
        return interval_frame(System, (*self.systems, *refused))


def interval_frame(kind: type[msgspec.Struct], items: Iterable[msgspec.Struct]) -> pl.DataFrame:
    """Structs of one class, a row each, with the limits of their intervals as `low` and `high`.

    Args:
        kind: the class, of which there may be no structs.
        items: the structs.
    """
    import polars as pl

    rows = []
    for item in items:
        values = msgspec.structs.asdict(item)
        low, high = values.pop("interval") or (None, None)
        rows.append({**values, "low": low, "high": high})
    types = {**polars_types(kind), "low": pl.Float64(), "high": pl.Float64()}
    return pl.DataFrame(rows, schema={name: types[name] for name in types if name != "interval"})


def polars_types(kind: type[msgspec.Struct]) -> dict[str, pl.DataType]:
    """The types of the columns that the fields of a struct become; of others than these, floats."""
    import polars as pl

    types: dict[str, pl.DataType] = {
        **dict.fromkeys(("str", "Profile", "CellStatus"), pl.String()),
        **dict.fromkeys(("int", "Count"), pl.Int64()),
        "tuple[str, ...]": pl.List(pl.String),
    }
    return {
        name: types.get(str(annotation).removesuffix(" | None"), pl.Float64())
        for name, annotation in kind.__annotations__.items()
    }


class RankedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A system by one metric.

    Attributes:
        value: value of the metric; None if undefined.
        interval: confidence interval of the value; None without one.
        rank: 1 for the best by this metric; None if the value is undefined.
    """

    value: float | None = None
    interval: Interval | None = None
    rank: Count | None = None


class RankedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a leaderboard.

    Attributes:
        name: of the system.
        rank: 1 for the best by the first metric. Systems not significantly different from the best
            of their group share its rank. Null if the value is undefined.
        scores: value, interval and rank by metric.
    """

    name: str
    rank: Count | None
    scores: Mapping[str, RankedValue]


class RefusedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Why a system of a leaderboard was not scored.

    Attributes:
        reason: why: the first finding that is in the way, all their codes, how many more there are.
        help: what to do, in one line.
        codes: the codes of the findings that are the reason, sorted.
        counts: the number of all its findings.
    """

    reason: str
    help: str
    codes: tuple[str, ...]
    counts: Counts


class Row(RankedSystem, frozen=True, kw_only=True):
    """A system of a leaderboard, or one that is refused, which has no rank and no scores.

    Attributes:
        reason: why it is refused, as `RefusedRow` says; empty for the others.
        help: what to do about that.
        codes: the codes of the findings that are the reason.
    """

    reason: str = ""
    help: str = ""
    codes: tuple[str, ...] = ()


class MetricDifference(Difference, frozen=True, kw_only=True):
    """The difference between two systems by one metric.

    Attributes:
        metric: name of the metric.
    """

    metric: str


class MetricSignificance(Significance, frozen=True, kw_only=True):
    """Whether any difference by one metric can be significant.

    Attributes:
        metric: name of the metric.
    """

    metric: str


class Leaderboard(Citable, frozen=True, kw_only=True):
    """Systems by several metrics.

    Attributes:
        task: name of the task.
        profile: `plan` or `official`.
        metrics: the metrics in order; the first one ranks.
        signature: everything that the numbers depend on; empty if all systems are refused.
        comparisons: the systems by each metric, under their names.
        refused: the systems that were not scored, under their names.
        paths: the path of each submission, by name.
        notes: remarks on how to read the numbers.
        findings: about the file of names.
    """

    json_schema: ClassVar[str] = "leaderboard"
    json_members: ClassVar[tuple[str, ...]] = (
        *("task", "profile", "metrics", "signature", "systems", "differences", "significance"),
        *("refused", "notes", "findings"),
    )

    task: str
    profile: str
    metrics: tuple[str, ...]
    signature: str
    comparisons: tuple[Comparison, ...]
    refused: tuple[RefusedSystem, ...] = ()
    paths: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    findings: Findings = Findings()

    def __repr__(self) -> str:
        head = f"{self.task}, profile {self.profile}: {', '.join(self.metrics)}"
        number = f"{count_of(len(self.systems), 'system')}, {len(self.refused)} refused"
        if not self.comparisons:
            return f"<Leaderboard: {head}; {number}>"
        best = ", ".join(system.name for system in self.comparisons[0].best)
        return f"<Leaderboard: {head}; {number}; {f'best {best}' if best else NOT_DISTINGUISHABLE}>"

    def _repr_html_(self) -> str:
        return str(lazy("hlteval.reports.notebook:leaderboard")(self))

    @property
    def systems(self) -> tuple[RankedSystem, ...]:
        """The systems that were scored, best first."""
        ranked: dict[str, dict[str, RankedValue]] = {}
        for each in self.comparisons:
            for own in each.systems:
                value = RankedValue(value=own.value, interval=own.interval, rank=own.rank)
                ranked.setdefault(own.name, {})[each.metric] = value
        first = self.comparisons[0].systems if self.comparisons else ()
        return tuple(
            RankedSystem(name=own.name, rank=own.rank, scores=ranked[own.name]) for own in first
        )

    @property
    def differences(self) -> tuple[MetricDifference, ...]:
        """One for each metric and pair of systems."""
        return tuple(
            MetricDifference(metric=each.metric, **msgspec.structs.asdict(pair))
            for each in self.comparisons
            for pair in each.differences
        )

    @property
    def significance(self) -> tuple[MetricSignificance, ...]:
        """For each metric, whether any difference can be significant."""
        return tuple(
            MetricSignificance(metric=each.metric, **msgspec.structs.asdict(each.significance))
            for each in self.comparisons
        )

    @property
    def member_refused(self) -> dict[str, RefusedRow]:
        """Why systems were not scored, by name."""
        return {system.name: _refused_row(system) for system in self.refused}

    @property
    def rows(self) -> tuple[Row, ...]:
        """The systems, best first by the first metric, then those that are refused."""
        refused = (
            Row(name=name, rank=None, scores={}, reason=row.reason, help=row.help, codes=row.codes)
            for name, row in self.member_refused.items()
        )
        ranked = (Row(name=own.name, rank=own.rank, scores=own.scores) for own in self.systems)
        return (*ranked, *refused)

    def by(self, metric: str) -> Comparison:
        """The systems by one of the metrics.

        Raises:
            KeyError: for another metric.
        """
        return {each.metric: each for each in self.comparisons}[metric]

    def to_frame(self, rows: Literal["systems", "differences"] = "systems") -> pl.DataFrame:
        """One of the tables: a row per system and metric, or per metric and pair of systems.

        The columns are `metric`, those of `Comparison.to_frame`, and for systems the `reason` of
        those that are refused, which have no metric.

        Args:
            rows: what the rows are.

        Raises:
            ValueError: for anything else.
        """
        import polars as pl

        empty = Comparison(task="", profile="", metric="", signature="", systems=(), differences=())
        frames = [
            each.to_frame(rows).select(pl.lit(each.metric, pl.String).alias("metric"), pl.all())
            for each in (empty, *self.comparisons)
        ]
        if rows == "systems":
            refused = [(name, row.reason) for name, row in self.member_refused.items()]
            types = {"name": pl.String, "reason": pl.String}
            names = pl.DataFrame(refused, schema=types, orient="row")
            return pl.concat([*frames, names], how="diagonal")
        return pl.concat(frames)


def _refused_row(system: RefusedSystem) -> RefusedRow:
    reason = system.reason
    if system.blocking:
        first, others = system.blocking[0], sum(item.count for item in system.blocking) - 1
        more = f"; {others:,} more" if others else ""
        reason = f"{first.message} ({', '.join(system.codes)}){more}"
    counts = msgspec.convert(system.verdict.counts, Counts)
    return RefusedRow(reason=reason, help=system.help, codes=system.codes, counts=counts)


#: The suffixes of submissions; nothing is left out of names such as `system-1.0` or `run.final`.
_SUFFIX = re.compile(
    r"(?<=[^/])(\.tar\.gz|\.tgz|\.zip|\.gz|(\.pubannotation|\.bioc|\.doccano|\.label-studio|\.prodigy|\.spacy|\.tokens)?\.jsonl?|(\.ltf|\.laf|\.mteval|\.bioc|\.gate)?\.xml"
    r"|(\.index|\.issues|\.needs)?\.tab|(\.rsd)?\.txt|\.tsv|\.csv|\.tpl|\.sgml?|\.ann|\.a[12]"
    r"|\.frames|\.appen|\.muc|\.neleval|\.rttm|\.conll|\.bio(es)?|\.iob2?|\.corpus"
    r"|\.stm|\.ctm|\.trn|\.vtt|\.eaf|(\.tokens)?\.parquet|\.pubtator|\.TextGrid|\.textgrid"
    r"|\.spacy|\.xmi|\.TypeSystem\.xml|\.cas\.json|\.conllup?|\.webanno\.tsv)$"
)


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """A short name for each path, such as that of a submission; no two have the same.

    It is the shortest end of the path that no other has. Suffixes are left out, unless paths differ
    in nothing else. Paths that mean the same place are numbered. Inputs that are not paths, such as
    those to which a user has given names, keep these.

    Args:
        paths: the paths; repeated ones count once.

    Returns:
        The names by path, in the order of the paths.

    Examples:
        >>> short_names(["runs/a.json", "runs/b.json"])
        {'runs/a.json': 'a', 'runs/b.json': 'b'}
        >>> short_names(["a/system.json", "b/system.json", "b/system.tgz"])["a/system.json"]
        'a/system.json'
    """
    unique = list(dict.fromkeys(paths))
    whole = [_parts(path) for path in unique]
    stems = [_parts(path, without_suffix=True) for path in unique]
    parts = stems if len(set(stems)) == len(set(whole)) else whole
    shared = Counter(each[-size:] for each in set(parts) for size in range(1, len(each) + 1))
    names: list[str] = []
    for each in parts:
        ends = (each[-size:] for size in range(1, len(each)))
        end = next((end for end in ends if shared[end] == 1), each)
        names.append(as_text(end[0] + "/".join(end[1:]) if end[0] == "/" else "/".join(end)))
    return dict(zip(unique, _with_numbers(names), strict=True))


def _parts(path: str, *, without_suffix: bool = False) -> tuple[str, ...]:
    """The parts of a path; a name that is not a path has one."""
    if isinstance(path, OpenInput):
        return (str(path),)
    parts = PurePath(path).parts or (".",)
    return (*parts[:-1], _SUFFIX.sub("", parts[-1])) if without_suffix else parts


def _with_numbers(names: Sequence[str]) -> list[str]:
    """Names of which those that are there already get a number."""
    taken, numbered = set(names), []
    for index, name in enumerate(names):
        new = name
        if name in names[:index]:
            new = next(other for n in count(2) if (other := f"{name} {n}") not in taken)
        taken.add(new)
        numbered.append(new)
    return numbered
