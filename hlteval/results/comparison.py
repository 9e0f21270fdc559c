"""Comparisons: which of several systems is better, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hlteval.extensions import lazy
from hlteval.findings import Finding
from hlteval.results.verdict import Verdict
from hlteval.results.versions import head

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Limits = tuple[float, float] | None
"""A confidence interval, lower limit first; None if it is undefined."""
NOT_DISTINGUISHABLE = "not distinguishable"
"""Said of systems where all that are ranked share a rank, so that none is the best."""


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


class RefusedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system that has no rank, because nothing of it was scored.

    Attributes:
        name: its short name.
        reason: why, in one line, with the codes of the findings.
        help: what to do, in one line.
        codes: the codes of the findings that are the reason, sorted.
        blocking: these findings.
        verdict: the verdict of validation, with all findings.
    """

    name: str
    reason: str
    help: str
    codes: tuple[str, ...]
    blocking: tuple[Finding, ...]
    verdict: Verdict

    @property
    def note(self) -> str:
        """That it is refused and why, in one line."""
        return f"{self.name} is refused: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The verdict in plain types, which is `refused`, with the reason and what to do."""
        reasons = {"verdict": "refused", "reason": self.reason, "help": self.help}
        return {**self.verdict.to_dict(), **head("refusal"), **reasons}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Several systems scored against one reference.

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
    """

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
        html: str = lazy("hlteval.reports.notebook:comparison")(self)
        return html

    def plot(self) -> Figure:
        """The systems and their differences, with intervals, as a figure.

        Raises:
            ImportError: where matplotlib is not installed.
        """
        figure: Figure = lazy("hlteval.reports.plots:of_comparison")(self)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain types, as `hlteval compare --format json` prints it."""
        names = [name for name in self.__struct_fields__ if name not in {"refused", "paths"}]
        own = {name: getattr(self, name) for name in names}
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(own))
        return {
            **head("comparison"),
            **plain,
            "refused": {system.name: system.to_dict() for system in self.refused},
        }

    def to_frame(self, rows: Literal["systems", "differences"] = "systems") -> pl.DataFrame:
        """The systems or the differences of pairs, a row each.

        The columns are the attributes of `System` or `Difference`, with `low` and `high` in place
        of `interval`. Systems that are refused come last, without a rank.

        Args:
            rows: what the rows are.

        Raises:
            ValueError: for anything else.
        """
        import polars as pl

        if rows not in ("systems", "differences"):
            raise ValueError(f"rows: expected 'systems' or 'differences', got {rows!r}")
        kind = System if rows == "systems" else Difference
        listed: Sequence[System | Difference] = self.differences
        if rows == "systems":
            refused = (
                System(name=each.name, value=None, interval=None, rank=None)
                for each in self.refused
            )
            listed = (*self.systems, *refused)
        return pl.DataFrame([_flat(item) for item in listed], schema=_types(kind))


def _flat(item: System | Difference) -> dict[str, Any]:
    """The attributes of a system or a difference, with the limits of its interval apart."""
    values = msgspec.structs.asdict(item)
    low, high = values.pop("interval") or (None, None)
    return {**values, "low": low, "high": high}


def _types(kind: type[System | Difference]) -> dict[str, Any]:
    """The columns of a table of systems or differences, which may have no rows."""
    import polars as pl

    columns = {"str": pl.String, "int": pl.Int64, "int | None": pl.Int64}
    fields = {
        field.name: columns.get(str(kind.__annotations__[field.name]), pl.Float64)
        for field in msgspec.structs.fields(kind)
        if field.name != "interval"
    }
    return {**fields, "low": pl.Float64, "high": pl.Float64}
