"""The base class of all metrics: what is counted, how it adds up, and what is reported of it.

A metric counts batches of documents (`statistics`), adds or collects these counts (`total`), and
computes its values from them (`score`). Everything else has a default. A metric whose counts add is
an `AdditiveMetric`, so that many replicates, and many pairs of systems, cost little more than one.

Conventions:
    Counts are integers where they add, so that sums do not depend on the order of documents. They
    name the document that each row belongs to in the column `document_column`.

Metrics whose counts do not add keep the rows of each batch as counts and work on all of them in
`score`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings import Finding
from hlteval.representation import Corpus

# The evidence for an alignment: the texts of documents, and what items of each side are about.


#: The text of each document by its name; `system` is null where the text is the same.
TEXTS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"document": pl.String, "reference": pl.String, "system": pl.String}
)
#: What an item of a side, such as an event, consists of: a row per argument, its text and place
#: (half-open offsets in code points; null where it has none).
MARKS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        **dict.fromkeys(("document", "side", "item", "role", "text"), pl.String),
        **dict.fromkeys(("start", "end"), pl.Int64),
    }
)


@dataclass(frozen=True)
class Evidence:
    """Texts and marks that people need beside an alignment to judge its rows.

    Attributes:
        texts: as `TEXTS`.
        marks: as `MARKS`.
    """

    texts: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=dict(TEXTS)))
    marks: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=dict(MARKS)))

    @classmethod
    def merge(cls, parts: Iterable[Evidence]) -> Evidence:
        """The evidence of several batches of documents."""
        every = [cls(), *parts]
        texts = pl.concat([part.texts for part in every]).unique("document", keep="first")
        return cls(texts.sort("document"), pl.concat([part.marks for part in every]))


def texts(reference: Corpus, system: Corpus) -> pl.DataFrame:
    """The texts of the documents of two corpora, as `TEXTS`.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "Osh."}])
        >>> texts(corpus, corpus).rows()
        [('d', 'Osh.', None)]
    """
    ours, theirs = (
        corpus.documents.select("name", "text").unique("name", keep="first")
        for corpus in (reference, system)
    )
    both = ours.join(theirs, on="name", how="full", coalesce=True, suffix="_system")
    own = pl.coalesce("text", "text_system")
    other = pl.when(pl.col("text_system") != own).then("text_system")
    rows = both.select(document="name", reference=own, system=other)
    return rows.drop_nulls("reference").sort("document").cast(dict(TEXTS))  # type: ignore[arg-type]


#: A row per replicate, a column per document or unit: how often the replicate has it.
Weights = NDArray[np.int64]
#: The values of a metric by name, an element per replicate; not-a-number where undefined.
Replicates = dict[str, NDArray[np.float64]]
#: What adds up over documents, a column each; a row per document, or per replicate once weighed.
#: What is multiplied at once has a name, so that the last digits of sums of fractions stay.
Sums = Mapping[str, NDArray[Any]]
Tables = dict[str, pl.DataFrame]
#: The lower and the upper limit of an interval, or of what a value can be.
Limits = tuple[float, float]
#: How intervals are computed; `none` where no method is known to be valid.
IntervalMethod = Literal["bootstrap", "jackknife", "none"]

DOCUMENTS = "documents"
#: The columns of the table `scorings`: all measures of a scoring in consecutive rows.
SCORINGS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {"evaluation": pl.String, "scoring": pl.String, "measure": pl.String, "value": pl.Float64}
)


class CannotCount(Exception):
    """A metric cannot count: a program or a library that it needs is absent, or has failed.

    Attributes:
        finding: what is wrong, and how to fix it.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True)
class Metric(ABC):
    """How a task is scored in a profile; see docs/extending.md for the smallest one.

    Attributes:
        profile: `plan` follows the specification, `official` reproduces the official software.
    """

    document_column: ClassVar[str] = "document"
    """The column of the counts that names documents."""

    profile: str = "plan"

    @property
    def official(self) -> bool:
        """Whether the official software is reproduced."""
        return self.profile == "official"

    @abstractmethod
    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Count a batch of documents.

        Args:
            reference: the reference.
            system: the system's annotations of the same documents, and possibly of others.
            alignment: whether the alignment is wanted; it costs memory.

        Returns:
            The counts, and what was paired with what.

        Raises:
            CannotCount: if the metric needs what is not there; nothing is scored then.
        """

    def finish(self) -> None:  # noqa: B027 - most metrics need nothing
        """Free what counting has needed; called after the last batch."""

    @abstractmethod
    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """Merge the counts of any number of batches, of none as well."""

    def condense(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Return what `score` alone needs of the counts of a batch of whole documents.

        By default the counts. `total` takes either the condensed counts of batches, their totals
        among them, or the whole counts, never both; `score`, `notes` and `official_files` give the
        same of either total, to the last digit. Nothing else takes condensed counts.
        """
        return counts

    def join_parts(self, counts: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
        """Return the counts of parts of files, where rows have numbers, numbered together."""
        return [*counts]

    def judge(self, counts: Sequence[pl.DataFrame]) -> Sequence[Finding]:  # noqa: ARG002
        """Return what is wrong with the files of options beside all that was counted.

        For names that only a reference knows, such as those of its annotators.
        """
        return ()

    @abstractmethod
    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """Compute the values from total counts, and from nothing else.

        Returns:
            The values by name, None where undefined; and tables by name, `scorings` among them.
        """

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:  # noqa: ARG002
        """Notes for readers of the values."""
        return ()

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:  # noqa: ARG002
        """The files that the official software writes, by name."""
        return {}

    def error_analysis(
        self,
        aligned: pl.DataFrame,  # noqa: ARG002
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The errors, from the alignment of all batches: tables and files, by name."""
        return {}, {}

    def evidence(self, reference: Corpus, system: Corpus) -> Evidence:
        """The evidence for the alignment of a batch: by default the texts of documents."""
        return Evidence(texts(reference, system))

    def decompose(self, names: Iterable[str] | None = None) -> tuple[Metric, ...]:  # noqa: ARG002
        """Metrics that give the named values together; all values without names.

        A metric of several measures splits here, so that systems are compared without computing
        the other measures, and so that those whose counts add are resampled as sums.

        Raises:
            ValueError: for an unknown name, where names need not be declared.
        """
        return (self,)

    @property
    def additive(self) -> bool:
        """Whether counts add, so that `replicates` computes weighted sums."""
        return False

    @property
    def interval_method(self) -> IntervalMethod:
        """How intervals of its values are computed (docs/intervals.md shows why).

        Sums over documents are resampled. What is computed from all documents at once is not: a
        document that is drawn twice would share clusters and ranks with its copy.
        """
        return "bootstrap" if self.additive else "jackknife"

    def no_interval(self, name: str) -> str:  # noqa: ARG002
        """Why a value has no interval though others have; empty where it has one."""
        return ""

    def fewest_documents(self, name: str) -> int:  # noqa: ARG002
        """With fewer documents, a value has no interval; 0 for the number that the method needs."""
        return 0

    @property
    def resampling_units(self) -> str:
        """Units that the bootstrap draws, in the plural; `units` lists others than documents."""
        return DOCUMENTS

    def units(self, counts: pl.DataFrame) -> pl.DataFrame:
        """The resampling units: counts of one unit per kind, and `times`, how many there are.

        `document_column` names the kinds. Needed where `resampling_units` is not documents.
        """
        raise NotImplementedError

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The names of the documents of which something was counted, sorted."""
        return counts[self.document_column].drop_nulls().unique().sort().to_list()

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums | None:  # noqa: ARG002
        """The counts of the named documents that values are computed of; None if they do not add.

        A document adds the same whatever else was counted; one without counts adds nothing.
        """
        return None

    def values_of(self, sums: Sums) -> Replicates:
        """The values of rows of `document_sums`, or of sums of these: an element each."""
        raise NotImplementedError

    def alone(self, counts: pl.DataFrame, documents: Sequence[str]) -> Replicates:
        """The values of each of the named documents as if it were the only one."""
        return self.replicates(counts, documents, np.eye(len(documents), dtype=np.int64))

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate.

        By default each replicate is scored by itself: a document that is drawn twice occurs twice,
        under two names, with everything that was counted of it. A value that a replicate does not
        have, of a class that occurs in few documents, is undefined there.

        Args:
            counts: any number of rows per document.
            documents: the names of the columns of `weights`.
            weights: a row per replicate.
        """
        scored = [
            self.score(self.total(list(self._copies(counts, documents, row))))[0] for row in weights
        ]
        names = dict.fromkeys(name for values in scored for name in values)
        return {
            name: np.array([values.get(name) for values in scored], dtype=np.float64)
            for name in names
        }

    def _copies(
        self, counts: pl.DataFrame, documents: Sequence[str], times: NDArray[np.int64]
    ) -> Iterator[pl.DataFrame]:
        """The documents that are drawn at least once, at least twice, and so on, as batches."""
        column = self.document_column
        names = pl.Series(documents, dtype=pl.String)
        for copy in range(int(times.max(initial=0))):
            drawn = counts.filter(pl.col(column).is_in(names.filter(times > copy).implode()))
            again = pl.format("{}#{}", column, pl.lit(copy)) if copy else pl.col(column)
            yield drawn.with_columns(again.alias(column))


class AdditiveMetric(Metric):
    """A metric whose counts add: it has `document_sums` and `values_of`."""

    @property
    def additive(self) -> bool:
        """All counts add."""
        return True

    @abstractmethod
    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of the named documents, as `Metric.document_sums`."""

    @abstractmethod
    def values_of(self, sums: Sums) -> Replicates:
        """The values of rows of sums, as `Metric.values_of`."""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate, from weighed sums."""
        return self.values_of(weigh(weights, self.document_sums(counts, documents)))


def columns_of(
    counts: pl.DataFrame, columns: Sequence[str], documents: Sequence[str]
) -> NDArray[Any]:
    """Columns of counts as a matrix with a row per named document.

    Args:
        counts: at most one row per document.
        columns: of the counts.
        documents: the names; one without counts has zeros.
    """
    named = pl.DataFrame({"document": documents}, schema={"document": pl.String})
    placed = named.join(counts, on="document", how="left", maintain_order="left")
    return placed.select(pl.col(columns).fill_null(0)).to_numpy()


#: Beyond this number, not all whole numbers are floats.
_EXACT = 2**53


def is_whole(matrix: NDArray[Any]) -> bool:
    """Whether there are whole numbers only, whose sums are the same in any order."""
    return matrix.dtype.kind in "iu" or bool((matrix == np.floor(matrix)).all())


def weigh(weights: NDArray[Any], sums: Sums) -> Sums:
    """Sums over documents as often as weights have them.

    Args:
        weights: a row per replicate, a column per document; whole numbers, possibly as floats.
        sums: a row per document.

    Examples:
        >>> weigh(np.array([[2, 1]]), {"found": np.array([[1, 4], [10, 0]])})["found"].tolist()
        [[12, 8]]
    """
    most = float(weights.max(initial=0))
    weighed = {}
    for name, matrix in sums.items():
        # floats are multiplied many times faster, and exactly as long as all sums are small
        small = is_whole(matrix) and most * float(np.abs(matrix).sum()) < _EXACT
        exact = np.float64 if small or matrix.dtype.kind == "f" else np.int64
        product = weights.astype(exact, copy=False) @ matrix.astype(exact, copy=False)
        weighed[name] = product.astype(matrix.dtype, copy=False)
    return weighed


def scorings(rows: Iterable[Mapping[str, object]]) -> pl.DataFrame:
    """The table `scorings` from its rows.

    Examples:
        >>> scorings([{"evaluation": "Spans", "scoring": "All", "measure": "F1", "value": 1}])[0, 3]
        1.0
    """
    return pl.DataFrame(list(rows), schema=dict(SCORINGS))


# The values of a metric for each document by itself.


#: The most documents that are scored one by one, where counts do not add.
MOST = 100
_CHUNK = 256


def by_document(metric: Metric, counts: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The values of each document as if it were the only one; null where undefined.

    Where counts do not add, each document is scored by itself; of more than `MOST` there are no
    rows.

    Args:
        metric: the metric.
        counts: what it has counted, of all documents.
        names: of the values.

    Returns:
        A row per document, sorted: `document`, and a column per value that the metric has.
    """
    parts = metric.decompose(names)
    documents = metric.documents(counts) if parts else []
    if len(documents) > MOST and not all(part.additive for part in parts):
        documents = []
    rows = [
        _values(parts, counts, documents[at : at + _CHUNK], names)
        for at in range(0, len(documents), _CHUNK)
    ]
    return pl.concat([pl.DataFrame(schema={"document": pl.String}), *rows], how="diagonal")


def _values(
    parts: Sequence[Metric], counts: pl.DataFrame, documents: Sequence[str], names: Sequence[str]
) -> pl.DataFrame:
    """The values of some documents, from the counts of these alone."""
    table = pl.DataFrame({"document": documents}, schema={"document": pl.String})
    for part in parts:
        wanted = pl.Series(documents, dtype=pl.String).implode()
        own = counts.filter(pl.col(part.document_column).is_in(wanted))
        values = part.alone(own, documents)
        known = {name: values[name] for name in names if name in values}
        table = table.with_columns(pl.Series(n, v).fill_nan(None) for n, v in known.items())
    return table


def by_group(
    metric: Metric, counts: pl.DataFrame, field: str, names: Sequence[str]
) -> pl.DataFrame:
    """The values of each group of documents as if there were no others; null where undefined.

    Args:
        metric: the metric.
        counts: what it has counted, of all documents, with the column `field`.
        field: what the documents of a group have in common, null where it is not known.
        names: of the values.

    Returns:
        A row per group, sorted: the `field`, and a column per value.
    """
    key = metric.document_column
    known = counts.drop_nulls(key).group_by(key).agg(pl.col(field).drop_nulls().first()).sort(key)
    own = known[field].fill_null("-")
    groups = own.unique().sort()
    place = own.cast(pl.Enum(groups)).to_physical().to_numpy()
    weights = (place == np.arange(len(groups))[:, np.newaxis]).astype(np.int64)
    values: Replicates = {}
    for part in metric.decompose(names):
        values |= part.replicates(counts, known[key].to_list(), weights)
    columns = {name: pl.Series(values[name]).fill_nan(None) for name in names if name in values}
    return pl.DataFrame({field: groups, **columns})
