"""Agreement between annotators, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from hlteval.extensions import lazy
from hlteval.findings import Findings
from hlteval.findings.counts import count_of
from hlteval.results.systems import Limits, interval_frame
from hlteval.results.verdict import Citable, Count

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Rows = Literal["measures", "coefficients", "differences"]


class PairMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of the task of two annotators, each scored against the other.

    Attributes:
        measure: name of the metric.
        first: the first annotator.
        second: the second annotator.
        forward: the value of the second, with the first as the reference; None if undefined.
        backward: the value of the first, with the second as the reference; None if undefined.
        value: the mean of both; None if either is undefined.
        interval: confidence interval of the mean.
        documents: the number of documents that both annotated.
        reason: why there is no value, or no interval; empty if there are both.
    """

    measure: str
    first: str
    second: str
    forward: float | None
    backward: float | None
    value: float | None
    interval: Limits
    documents: int
    reason: str = ""


class CoefficientValue(msgspec.Struct, frozen=True, kw_only=True):
    """A coefficient of agreement.

    Attributes:
        judged: what is judged, as docs/agreement.md lists it by task.
        coefficient: name of the coefficient.
        annotators: whose agreement it is: two, or all.
        value: of the coefficient; None if undefined.
        interval: confidence interval of the value.
        units: the number of units that at least two of the annotators judged.
        document: the only document that counts; None for all.
        label: the only label or category that counts; None for all.
        reason: why there is no value, or no interval; empty if there are both.
    """

    judged: str
    coefficient: str
    annotators: tuple[str, ...]
    value: float | None
    interval: Limits
    units: int
    document: str | None = None
    label: str | None = None
    reason: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is of all documents and labels."""
        return self.document is None and self.label is None

    @property
    def is_overall(self) -> bool:
        """Whether it is alpha, the coefficient of all annotators, in all documents and labels."""
        return self.coefficient == "alpha" and self.is_whole


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """The judgment of one annotator about a unit.

    Attributes:
        category: the category, or the number; None if the annotator did not mark the unit.
        place: file and line; None where there is nothing in a file.
    """

    category: str | float | None
    place: str | None


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A unit of which annotators say different things.

    Attributes:
        judged: what is judged.
        document: the document.
        unit: the unit, by its key in the document.
        judgments: those of the annotators who annotated the document, by annotator.
    """

    judged: str
    document: str
    unit: str
    judgments: Mapping[str, Judgment]


class Agreement(Citable, frozen=True, kw_only=True):
    """How far annotators of the same documents agree.

    Attributes:
        task: name of the task.
        signature: everything that the numbers depend on: version, options, digests, seed.
        annotators: their names, in the order in which they were given.
        documents: the number of documents that at least two of them annotated.
        measures: the measures of the task, for each pair of annotators.
        coefficients: of what is judged: of all documents, by document, and by label.
        differences: the units that annotators judge differently.
        findings: about the annotations.
        notes: remarks on how to read the numbers.
        meanings: what is judged and what coefficients mean, by name.
    """

    json_schema: ClassVar[str] = "agreement"

    task: str
    signature: str
    annotators: tuple[str, ...]
    documents: Count
    measures: tuple[PairMeasure, ...]
    coefficients: tuple[CoefficientValue, ...]
    differences: tuple[Disagreement, ...]
    findings: Findings = Findings()
    notes: tuple[str, ...] = ()
    meanings: Mapping[str, str] = {}

    def __repr__(self) -> str:
        names = ", ".join(self.annotators)
        return f"<Agreement: {self.task}, {names}, {count_of(self.documents, 'document')}>"

    def _repr_html_(self) -> str:
        return str(lazy("hlteval.reports.notebook:agreement")(self))

    @property
    def overall(self) -> tuple[CoefficientValue, ...]:
        """The alpha of all annotators by what is judged, where it is defined."""
        return tuple(
            item for item in self.coefficients if item.is_overall and item.value is not None
        )

    def plot(self) -> Figure:
        """The pairs of annotators by each measure, and alpha of all, with intervals, as a figure.

        Raises:
            ImportError: where matplotlib is not installed.
        """
        figure: Figure = lazy("hlteval.reports.curves:of_agreement")(self)
        return figure

    def pairs_of(self, measure: str) -> tuple[PairMeasure, ...]:
        """The pairs of annotators with a value of a measure."""
        return tuple(
            pair for pair in self.measures if pair.measure == measure and pair.value is not None
        )

    def to_frame(self, rows: Rows = "coefficients") -> pl.DataFrame:
        """The measures, the coefficients or the differences, a row each.

        The columns are the attributes of the rows, with `low` and `high` in place of `interval`;
        of differences, a row per judgment.

        Args:
            rows: what the rows are.

        Raises:
            ValueError: for anything else.
        """
        import polars as pl

        if rows == "measures":
            return interval_frame(PairMeasure, self.measures)
        if rows == "coefficients":
            return interval_frame(CoefficientValue, self.coefficients)
        if rows != "differences":
            raise ValueError(
                f"rows: expected 'measures', 'coefficients' or 'differences', got {rows!r}"
            )
        columns = ("judged", "document", "unit", "annotator", "category", "place")
        judgments = [
            (
                *(item.judged, item.document, item.unit, name),
                None if judgment.category is None else str(judgment.category),
                judgment.place,
            )
            for item in self.differences
            for name, judgment in item.judgments.items()
        ]
        return pl.DataFrame(judgments, schema=dict.fromkeys(columns, pl.String), orient="row")
