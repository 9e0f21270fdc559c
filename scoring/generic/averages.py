"""Counts by label, and precision, recall and F1 of them: micro, macro and weighted averages.

With G units of the reference, P of the system and tp right ones, by label and pooled:

    precision = tp / P        recall = tp / G        F1 = 2 tp / (G + P)

The micro average is over the pooled counts, the macro average the mean over labels, the weighted
average the mean weighted by G. What is 0 / 0 is undefined: averages leave it out, unless the
options say that it is 0 or 1.

Conventions:
    Counts are whole numbers of `UNIT`s where units can be right in part. They are a row per
    document and label, and one without a label for what is counted of documents; they add. Where a
    right pair may have two labels, it is met under that of the reference, and found under that of
    the system.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.findings.counts import count_of, first_names
from hlteval.scoring.confusions import count_labels
from hlteval.scoring.metric import AdditiveMetric, Replicates, Sums, Tables, columns_of, scorings
from hlteval.scoring.ratios import Rates, plain, ratio

Average = Literal["micro", "macro", "weighted", "samples"]
Floats = NDArray[np.float64]
#: What is counted by label: units of either side, and right ones on either side.
COUNTED = ("expected", "predicted", "met", "found")
#: The rates, in the order in which they are shown.
RATES = ("precision", "recall", "f1")
#: Begins the names of the sums of labels.
_LABEL = "label "
#: Labels that a note names.
_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """Which labels there are, and how they are averaged.

    Attributes:
        declared: the labels of the task; those of the reference if empty.
        ignore: labels that are left out on both sides.
        map: labels that are counted as another, with that.
        undeclared: with `ignore`, labels that are not declared are left out, too.
        parents: the parent of each label that has one, in a hierarchy.
        average: the averages that are computed.
        average_labels: the only labels that averages are over; all if empty.
        macro_over: the labels of the macro average: the declared ones, those of the reference, or
            those of either side; without declared labels, those of the reference.
        undefined: the value of 0 / 0.
        also: what is given beside the averages, by the first parts of its names; all if empty.
    """

    declared: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    map: Mapping[str, str] = field(default_factory=dict)
    undeclared: Literal["error", "warning", "ignore"] = "error"
    parents: Mapping[str, str] = field(default_factory=dict)
    average: tuple[Average, ...] = ("micro", "macro", "weighted")
    average_labels: tuple[str, ...] = ()
    macro_over: Literal["declared", "reference", "seen"] = "declared"
    undefined: Literal["none", 0, 1] = "none"
    also: tuple[str, ...] = ()

    def prepare(self, label: pl.Expr) -> pl.Expr:
        """Labels as they are counted; null where they are ignored.

        Examples:
            >>> options = LabelOptions(ignore=("Note",), map={"Pers": "Person"})
            >>> rows = pl.DataFrame({"label": ["Pers", "Note", "Org"]})
            >>> rows.select(options.prepare(pl.col("label"))).to_series().to_list()
            ['Person', None, 'Org']
        """
        if self.map:
            label = label.replace(dict(self.map))
        if self.ignore:
            label = pl.when(~label.is_in(self.ignore)).then(label)
        if self.declared and self.undeclared == "ignore":
            label = pl.when(label.is_in(self.declared)).then(label)
        return label

    def ancestors(self, label: str) -> list[str]:
        """A label and the labels above it, the nearest first.

        Examples:
            >>> LabelOptions(parents={"City": "Place", "Place": "Thing"}).ancestors("City")
            ['City', 'Place', 'Thing']
        """
        line = [label]
        while (parent := self.parents.get(line[-1])) and parent not in line:
            line.append(parent)
        return line


@dataclass(frozen=True)
class LabelCounts:
    """Counts of labels, of one or several replicates.

    Attributes:
        labels: the labels.
        counts: by replicate, label and `COUNTED`, in units.
    """

    labels: tuple[str, ...]
    counts: Floats

    def only(self, labels: Sequence[str]) -> "LabelCounts":
        """The counts of some labels, in that order."""
        at = {label: place for place, label in enumerate(self.labels)}
        chosen = np.zeros((len(self.counts), len(labels), len(COUNTED)))
        known = [place for place, label in enumerate(labels) if label in at]
        chosen[:, known] = self.counts[:, [at[labels[place]] for place in known]]
        return LabelCounts(tuple(labels), chosen)

    def rates(self, undefined: Literal["none", 0, 1] = "none") -> Rates[Floats]:
        """Precision, recall and F1 by replicate and label."""
        return rates_of(self.counts, undefined)


def rates_of(counts: Floats, undefined: Literal["none", 0, 1] = "none") -> Rates[Floats]:
    """Precision, recall and F1 of counts whose last dimension is `COUNTED`.

    Examples:
        >>> [float(rate) for rate in rates_of(np.array([4.0, 2.0, 1.0, 1.0]))]
        [0.5, 0.25, 0.3333333333333333]
    """
    expected, predicted, met, found = np.moveaxis(counts, -1, 0)
    rates = Rates(
        ratio(found, predicted), ratio(met, expected), ratio(met + found, expected + predicted)
    )
    if undefined == "none":
        return rates
    return Rates(*(np.where(np.isnan(rate), float(undefined), rate) for rate in rates))


def mean(values: Floats, weights: Floats) -> Floats:
    """The weighted means of rows, without what is undefined; undefined where nothing weighs.

    Examples:
        >>> mean(np.array([[0.5, np.nan, 1.0]]), np.array([[1.0, 1.0, 1.0]])).tolist()
        [0.75]
    """
    weights = np.where(np.isnan(values), 0.0, weights)
    return ratio((np.where(np.isnan(values), 0.0, values) * weights).sum(1), weights.sum(1))


@dataclass(frozen=True)
class LabelMetric(AdditiveMetric):
    """A metric whose counts are by document and label.

    Attributes:
        options: the labels and averages.
    """

    options: LabelOptions = field(default_factory=LabelOptions)

    #: What is counted of documents, beside their labels.
    extras: ClassVar[tuple[str, ...]] = ("ignored",)
    #: Those of the counts that are 0 or 1 in each row, which need a byte.
    flags: ClassVar[frozenset[str]] = frozenset()
    #: What is counted, in the singular.
    items: ClassVar[str] = "unit"

    @property
    def count_columns(self) -> tuple[str, ...]:
        """The columns of the counts that add."""
        return (*COUNTED, *self.extras)

    def counts_of(self, tables: Sequence[pl.DataFrame], documents: pl.DataFrame) -> pl.DataFrame:
        """Counts by the name of the document, zero where nothing was counted.

        Args:
            tables: with the number of the document, `row`; possibly a `label`; and counts.
            documents: the `row` and the `name` of each document.
        """
        place = np.zeros(1 + int(documents["row"].to_numpy().max(initial=-1)), dtype=np.int64)
        place[documents["row"].to_numpy()] = np.arange(documents.height)
        types = {name: pl.UInt8 if name in self.flags else pl.Int64 for name in self.count_columns}
        named = []
        for rows in tables:
            names = documents["name"].gather(place[rows["row"].to_numpy()]).alias("document")
            label = pl.Series("label", [None], dtype=pl.String).new_from_index(0, rows.height)
            none = pl.Series(np.zeros(rows.height, dtype=np.int64))  # shared by all that are absent
            added = [
                rows[name].fill_null(0).cast(dtype)
                if name in rows.columns
                else none.cast(dtype).alias(name)
                for name, dtype in types.items()
            ]
            named.append(pl.DataFrame([names, rows.get_column("label", default=label), *added]))
        return pl.concat(named)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of all documents: a row per label, and one without a label."""
        schema = {"label": pl.String, **dict.fromkeys(self.count_columns, pl.Int64)}
        added = pl.col(self.count_columns).cast(pl.Int64).sum()
        batches = [batch.group_by("label").agg(added) for batch in counts]
        rows = pl.concat([pl.DataFrame(schema=schema), *batches])
        return rows.group_by("label").sum().sort("label", nulls_last=False)

    def of_labels(self, total: pl.DataFrame) -> LabelCounts:
        """The counts by label: of those that occur and those that are declared."""
        rows = total.drop_nulls("label").filter(
            pl.any_horizontal(pl.col("expected", "predicted") > 0)
        )
        labels = [*dict.fromkeys((*self.options.declared, *rows["label"]))]
        counts = rows.select(COUNTED).to_numpy().astype(np.float64)[np.newaxis]
        return LabelCounts(tuple(rows["label"]), counts).only(labels)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The averages, and the tables `scorings` and `labels`."""
        counted = self.of_labels(total)
        whole = total.filter(pl.col("label").is_null())
        sums = {name: np.array([whole[name].sum()]) for name in self.extras}
        values = {name: plain(value)[0] for name, value in self._select(counted, sums).items()}
        labels = self.label_table(counted)
        rows = [
            {"evaluation": self.evaluation(scoring), "scoring": scoring or measure, **figure}
            for name, value in values.items()
            for scoring, _, measure in [name.rpartition(".")]
            for figure in [{"measure": measure if scoring else "value", "value": value}]
        ]
        rows += [
            {"evaluation": "labels", "scoring": row["label"], "measure": name, "value": row[name]}
            for row in labels.iter_rows(named=True)
            for name in (*RATES, "support")
        ]
        return values, {"scorings": scorings(rows), "labels": labels}

    def evaluation(self, scoring: str) -> str:
        """The table in which people read an average, by the first part of the names of its values.

        All values of a table have the same last parts.
        """
        return "averages" if scoring else "all"

    def label_table(self, counted: LabelCounts) -> pl.DataFrame:
        """The rates of each label, and its support: its units in the reference."""
        rates = counted.rates(self.options.undefined)
        columns = {rate: getattr(rates, rate)[0] for rate in RATES}
        support = counted.counts[0, :, 0] / self.unit
        table = pl.DataFrame(
            {"label": counted.labels, **columns, "support": support.astype(np.int64)}
        )
        return table.with_columns(
            pl.col(RATES).fill_nan(None), label=table["label"].cast(pl.String)
        )

    @property
    def unit(self) -> int:
        """Count of a right unit: more than 1 where units can be right in part."""
        return 1

    def values(
        self,
        counted: LabelCounts,
        extras: Mapping[str, NDArray[np.int64]],  # noqa: ARG002
    ) -> Replicates:
        """The values of replicates.

        Args:
            counted: the counts by label.
            extras: what else was counted, by name.
        """
        return self.averages(counted)

    def averages(self, counted: LabelCounts) -> Replicates:
        """The averages of the options, by name."""
        options = self.options
        if options.average_labels:
            counted = counted.only(options.average_labels)
        rates, weights = counted.rates(options.undefined), counted.counts[:, :, 0]
        found: Replicates = {}
        for average in options.average:
            if average == "micro":
                means = rates_of(counted.counts.sum(1), options.undefined)
            elif average == "macro":
                means = Rates(*(mean(rate, self._in_macro(counted)) for rate in rates))
            elif average == "weighted":
                means = self.weighted_mean(rates, weights, counted)
            else:
                continue
            found |= {f"{average}.{rate}": getattr(means, rate) for rate in RATES}
        return found

    def weighted_mean(self, rates: Rates[Floats], weights: Floats, _: LabelCounts) -> Rates[Floats]:
        """The means weighted by the units of the reference."""
        return Rates(*(mean(rate, weights) for rate in rates))

    def _in_macro(self, counted: LabelCounts) -> Floats:
        """Whether each label is part of the macro average, by replicate."""
        options, shape = self.options, counted.counts.shape[:2]
        if options.average_labels:
            inside = np.ones(shape, dtype=np.bool_)
        elif options.macro_over == "seen":
            inside = counted.counts[:, :, :2].sum(2) > 0
        elif options.macro_over == "declared" and options.declared:
            inside = np.broadcast_to(np.isin(counted.labels, options.declared), shape)
        else:
            inside = counted.counts[:, :, 0] > 0
        return inside.astype(np.float64)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Notes on labels that are left out, on both sides and of averages."""
        notes = []
        if ignored := int(total["ignored"].sum()):
            notes.append(f"{count_of(ignored, self.items)} with ignored labels left out")
        known = {*self.options.declared}
        expected, predicted = (pl.col(name) > 0 for name in ("expected", "predicted"))
        if unknown := [
            label
            for label in total.drop_nulls("label").filter(~expected & predicted)["label"]
            if label not in known
        ]:
            notes.append(
                f"wrong everywhere, since the reference lacks it: {first_names(unknown, _NAMED)}"
            )
        if self.options.undefined == "none" and "macro" in self.options.average:
            counted = self.of_labels(total)
            inside = self._in_macro(counted)[0] > 0
            rates = counted.rates()
            for rate in RATES:
                gone = np.isnan(getattr(rates, rate)[0]) & inside
                if gone.any() and not gone.all():
                    names = [counted.labels[at] for at in np.flatnonzero(gone)]
                    listed = first_names(names, _NAMED)
                    notes.append(f"macro.{rate} leaves out labels where it is undefined: {listed}")
        return tuple(notes)

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `confusion`: how often the alignment has a label beside another, or none."""
        counts = count_labels(aligned, ("reference_label", "system_label"))
        return {"confusion": counts}, {}

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The counts of documents: a matrix per label, and one of what else is counted."""
        own = counts.filter(pl.col("label").is_null())
        sums = {"": columns_of(own, self.extras, documents).astype(np.int64)}
        labels = counts.drop_nulls("label").partition_by("label", as_dict=True)
        for label in dict.fromkeys((*self.options.declared, *sorted(key[0] for key in labels))):
            rows = labels.get((label,), counts.clear())
            sums[f"{_LABEL}{label}"] = columns_of(rows, COUNTED, documents).astype(np.int64)
        return sums

    def values_of(self, sums: Sums) -> Replicates:
        """The values of rows of sums."""
        names = [name for name in sums if name]
        matrices = [sums[name] for name in names]
        empty = np.zeros((len(sums[""]), 0, len(COUNTED)))
        counts = np.stack(matrices, axis=1).astype(np.float64) if matrices else empty
        labels = tuple(name.removeprefix(_LABEL) for name in names)
        extras = dict(zip(self.extras, sums[""].T, strict=True))
        return self._select(LabelCounts(labels, counts), extras)

    def _select(self, counted: LabelCounts, extras: Mapping[str, NDArray[np.int64]]) -> Replicates:
        """The averages, and what the options say beside them."""
        values, also = self.values(counted, extras), self.options.also
        parts = {*also, *get_args(Average)}
        return {n: v for n, v in values.items() if not also or n.partition(".")[0] in parts}
