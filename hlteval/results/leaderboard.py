"""Leaderboards: systems by several metrics, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hlteval.findings import Findings
from hlteval.findings.counts import counted
from hlteval.results.comparison import (
    NOT_DISTINGUISHABLE,
    Comparison,
    Difference,
    RefusedSystem,
    System,
)
from hlteval.results.versions import head

if TYPE_CHECKING:
    import polars as pl


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a leaderboard.

    Attributes:
        name: of the system.
        rank: by the first metric; None if its value is undefined or the system is refused.
        scores: value, interval and rank by metric; empty if the system is refused.
        reason: why it is refused: the first finding that is in the way, all their codes, and how
            many more there are; empty for the others.
        help: what to do about that.
        codes: the codes of the findings that are the reason.
    """

    name: str
    rank: int | None = None
    scores: Mapping[str, System] = {}
    reason: str = ""
    help: str = ""
    codes: tuple[str, ...] = ()


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Systems by several metrics: values, intervals, ranks, and which differ.

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
        refused = len(self.refused)
        number = f"{counted(len(self.rows) - refused, 'system')}, {refused} refused"
        if not self.comparisons:
            return f"<Leaderboard: {head}; {number}>"
        best = ", ".join(system.name for system in self.comparisons[0].best)
        return f"<Leaderboard: {head}; {number}; {f'best {best}' if best else NOT_DISTINGUISHABLE}>"

    @property
    def rows(self) -> tuple[Row, ...]:
        """The systems, best first by the first metric, then those that are refused."""
        scored = self.comparisons[0].systems if self.comparisons else ()
        by_metric = {
            each.metric: {system.name: system for system in each.systems}
            for each in self.comparisons
        }
        rows = [
            Row(
                name=system.name,
                rank=system.rank,
                scores={metric: own[system.name] for metric, own in by_metric.items()},
            )
            for system in scored
        ]
        return (*rows, *map(_refused, self.refused))

    def by(self, metric: str) -> Comparison:
        """The systems by one of the metrics.

        Raises:
            KeyError: for another metric.
        """
        return {each.metric: each for each in self.comparisons}[metric]

    def to_dict(self) -> dict[str, Any]:
        """The leaderboard in plain types, as `hlteval leaderboard --format json` prints it."""
        return {
            **head("leaderboard"),
            "task": self.task,
            "profile": self.profile,
            "metrics": list(self.metrics),
            "signature": self.signature,
            "systems": list(self._systems()),
            "differences": [
                {"metric": each.metric, **_plain(pair)}
                for each in self.comparisons
                for pair in each.differences
            ],
            "significance": [
                {"metric": each.metric, **msgspec.structs.asdict(each.significance)}
                for each in self.comparisons
            ],
            "refused": {
                row.name: {"reason": row.reason, "help": row.help, "codes": list(row.codes),
                           "counts": system.verdict.counts}
                for row, system in zip(map(_refused, self.refused), self.refused, strict=True)
            },
            "notes": list(self.notes),
            "findings": self.findings.to_dict(),
        }  # fmt: skip

    def _systems(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            if not row.reason:
                scores = {
                    metric: {name: value for name, value in _plain(own).items() if name != "name"}
                    for metric, own in row.scores.items()
                }
                yield {"name": row.name, "rank": row.rank, "scores": scores}

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

        from hlteval.results.comparison import Comparison

        empty = Comparison(
            task="", profile="", metric="", signature="", systems=(), differences=()
        ).to_frame(rows)
        first = pl.lit("", pl.String).alias("metric")
        frames = [empty.select(first, pl.all())] + [
            each.to_frame(rows).select(pl.lit(each.metric).alias("metric"), pl.all())
            for each in self.comparisons
        ]
        if rows == "systems":
            refused = [(row.name, row.reason) for row in self.rows if row.reason]
            types = {"name": pl.String, "reason": pl.String}
            names = pl.DataFrame(refused, schema=types, orient="row")
            return pl.concat([*frames, names], how="diagonal")
        return pl.concat(frames)


def _refused(system: RefusedSystem) -> Row:
    reason = system.reason
    if system.blocking:
        first, others = system.blocking[0], sum(item.count for item in system.blocking) - 1
        more = f"; {others:,} more" if others else ""
        reason = f"{first.message} ({', '.join(system.codes)}){more}"
    return Row(name=system.name, reason=reason, help=system.help, codes=system.codes)


def _plain(value: System | Difference) -> dict[str, Any]:
    """The attributes of a system or a difference, a list for its interval."""
    plain = msgspec.structs.asdict(value)
    limits = plain["interval"]
    return {**plain, "interval": None if limits is None else list(limits)}
