"""The files that the public scorer writes of norms and emotions, with its columns and numbers."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hlteval.representation import Corpus
from hlteval.scoring.ccu import detection_metric, detections, official_detections
from hlteval.scoring.ccu.detection_metric import GROUP, MEASURES, Detection, InstanceDetection
from hlteval.scoring.ccu.official_detections import COMPARED, REFERENCE, SYSTEM, UNSCORED
from hlteval.scoring.ccu.spans import Criterion
from hlteval.scoring.metric import Metric
from hlteval.scoring.ratios import harmonic

_SUMS = ("fp", "md", "scaled_fp", "scaled_tp", "tp")
_RATES = ("f1", "llr", "precision", "recall", "scaled_f1", "scaled_precision", "scaled_recall")
#: The measures of a class, by their names in the files.
CLASS_METRICS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("AP", "average_precision"), "ap"),
        **{f"{name}_at_MinLLR": name for name in _RATES},
        **{f"sum_{name}_at_MinLLR": name for name in _SUMS},
    }
)
EMPTY = "EMPTY_NA"
_MISSED = (detections.MISSED, detections.AGAIN)
#: The columns of the files of scores and of statistics.
SCORES = ("class", "genre", "metric", "value", "correctness_criteria")
STATISTICS = ("data", "genre", "metric", "value")


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of tab-separated values; cells with quotation marks are quoted."""
    lines = (
        "\t".join('"' + cell.replace('"', '""') + '"' if '"' in cell else cell for cell in row)
        for row in rows
    )
    return "\n".join(["\t".join(columns), *lines]) + "\n"


def number(value: float | None) -> str:
    """A number as Python shows it; empty where there is none."""
    return "" if value is None else str(value)


def whole(value: float) -> str:
    """A place, without decimals where it has none.

    Examples:
        >>> whole(45.0), whole(45.25)
        ('45', '45.25')
    """
    return str(int(value)) if float(value).is_integer() else str(value)


def notation(criterion: Criterion) -> str:
    """A criterion as the files have it.

    Examples:
        >>> notation(Criterion())
        '{iou=0.2}'
    """
    return f"{{{'' if ':' in criterion.written else 'iou='}{criterion.written}}}"


def scores_by_class(
    measured: pl.DataFrame, swept: pl.DataFrame, criteria: Iterable[Criterion]
) -> str:
    """The file `scores_by_class.tab`.

    Args:
        measured: the classes.
        swept: the points of their curves.
        criteria: in order.
    """
    curves = swept.partition_by("criterion", "class", "genre", as_dict=True)
    rows: list[tuple[str, ...]] = []
    for criterion in criteria:
        own = measured.filter(criterion=criterion.written).sort("class", "genre")
        some = (own["tp"] + own["fp"] > 0).any()
        for row in own.to_dicts():
            key = row["class"], row["genre"]
            # Counts are whole, but not those of what the system does not have.
            whole_counts = ("md", "fp", "tp") if row["tp"] or row["fp"] else ("md",) * some
            for metric, column in CLASS_METRICS.items():
                value = row[column]
                if value is not None and column not in whole_counts:
                    value = float(value)
                rows.append((*key, metric, number(value), notation(criterion)))
            if (curve := curves.get((criterion.written, *key))) is not None:
                points = curve.select(pl.col("precision", "recall", "llr").fill_null(math.nan))
                text = json.dumps(points.to_dict(as_series=False))
                rows.append((*key, "PRCurve_json", text, notation(criterion)))
    return table(SCORES, rows)


def scores_aggregated(averaged: pl.DataFrame, task: str, criteria: Iterable[Criterion]) -> str:
    """The file `scores_aggregated.tab`.

    Args:
        averaged: the means over classes and the rates of all instances.
        task: `nd` or `ed`.
        criteria: in order.
    """
    names = {"mAP": "mean_ap"}
    for name, column in CLASS_METRICS.items():
        if name not in {"AP", "sum_md_at_MinLLR"}:
            names[f"mean_{name}"] = f"mean_{column}"
        if column in {"f1", "precision", "recall", "fp", "md", "tp"}:
            names[name] = column
    ordered = averaged.sort("genre").with_columns(pl.col("fp", "md", "tp").cast(pl.Float64))
    rows = (
        (task, row["genre"], name, number(row[names[name]]), notation(criterion))
        for criterion in criteria
        for row in ordered.filter(criterion=criterion.written).to_dicts()
        for name in sorted(names)
    )
    return table(("task", *SCORES[1:]), rows)


def in_order(instances: pl.DataFrame, compared: pl.Series) -> pl.DataFrame:
    """The rows that the scorer writes, as its table has them before it is sorted.

    Classes follow each other; in each are the rows by falling score and document, then missed
    instances that are near a false alarm. Where the system has nothing, references stay as listed.
    """
    if compared.is_empty():
        return instances.sort("document", "reference_start", "reference_end", maintain_order=True)
    again = pl.col("system_start").is_not_null() & pl.col("system_end").is_null()
    written = instances.filter(pl.col("outcome") != detections.UNWRITTEN)
    return written.sort(
        "class", again, "llr", "document", descending=[False, False, True, False],
        nulls_last=True, maintain_order=True,
    )  # fmt: skip


def alignment(
    instances: pl.DataFrame, compared: pl.Series, options: detections.DetectionOptions, kind: str
) -> pl.DataFrame:
    """The rows of `instance_alignment.tab`, in the order of `in_order`.

    Args:
        instances: with evaluation labels, of classes that have references.
        compared: the classes of the system.
        options: the collars.
        kind: `norm` or `emotion`; norms have the columns of statuses.
    """
    columns = ["class", "file_id", "eval", "ref", "sys", "llr", "parameters"]
    columns += ["ref_status", "hyp_status"] * (kind == "norm")
    silent = ~pl.col("class").is_in(compared.unique().implode())
    start = pl.coalesce("system_start", "reference_start")
    ranked = in_order(instances, compared).with_columns(_silent=silent, _start=start)
    rows = []
    for row in ranked.iter_rows(named=True):
        outcome = row["outcome"]
        cells = [
            row["class"],
            row["document"],
            "mapped" if outcome == detections.CORRECT else "unmapped",
            "{}" if outcome == detections.FALSE else _span(row, "reference"),
            "{}" if outcome in _MISSED else _span(row, "system"),
            number(row["llr"]),
            "{}" if row["_silent"] else _parameters(row, options),
        ]
        if kind == "norm":
            cells += statuses(row)
        rows.append([*cells, row["_start"]])
    schema = {**dict.fromkeys(columns, pl.String), "sort": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def statuses(row: Mapping[str, object]) -> list[str]:
    """The statuses of both sides, `EMPTY_NA` for a side that is not there."""
    is_alone = row["outcome"] in _MISSED and row["system_end"] is None
    expected = EMPTY if row["outcome"] == detections.FALSE else row["reference_status"] or EMPTY
    return [str(expected), str(EMPTY if is_alone else row["system_status"] or "")]


def _span(row: Mapping[str, float | None], side: str) -> str:
    start, end = row[f"{side}_start"], row[f"{side}_end"]
    return "{}" if end is None or start is None else f"{{start={whole(start)},end={whole(end)}}}"


def _parameters(row: Mapping[str, object], options: detections.DetectionOptions) -> str:
    """The parameters of an instance or pair."""
    outcome = row["outcome"]
    if outcome in _MISSED:
        return f"{{pct_temp_tp=0.0,pct_temp_fp=0.0,eval={detections.MISSED}}}"
    if outcome == detections.FALSE:
        return f"{{pct_temp_tp=0.0,pct_temp_fp=1.0,eval={detections.FALSE}}}"
    names = {"shifted_start_hyp": "shifted_start", "shifted_end_hyp": "shifted_end"}
    names |= {"pct_temp_tp": "tp_share", "pct_temp_fp": "fp_share"}
    values = {name: row[names.get(name, name)] for name in ("iou", "intersection", "union", *names)}
    values["collar"] = options.collar_text if row["genre"] == "text" else options.collar
    shown = ",".join(f"{name}={value:.3f}" for name, value in values.items())
    return f"{{{shown},type={row['genre']},eval={outcome}}}"


# The statistics files of the public scorer: amounts of data, and counts of labels.


Sides = Mapping[str, Sequence[str]]
#: The criteria of what is counted of each side.
SIDES: Sides = MappingProxyType({"ref": (REFERENCE,), "sys": (SYSTEM,)})
#: The names of the sides in the files, and in counts.
NAMES = {"ref": "reference", "sys": "system"}


def statistics_by_class(total: pl.DataFrame, sides: Sides = SIDES) -> str:
    """The file `statistics_by_class.tab`."""
    rows = []
    for data, criteria in sides.items():
        own = total.filter(pl.col("outcome").is_null(), pl.col("criterion").is_in(criteria))
        counts = own.group_by("class", "genre").len().sort("class", "genre")
        rows += [(data, name, genre, "instance_counts", str(n)) for name, genre, n in counts.rows()]
    return table(("data", "class", *STATISTICS[1:]), rows)


def statistics_aggregated(total: pl.DataFrame) -> str:
    """The file `statistics_aggregated.tab`."""
    rows = []
    for data, side in NAMES.items():
        own = total.filter(pl.col("criterion").is_in(SIDES[data]))
        length = pl.col(f"{side}_end") - pl.col(f"{side}_start") + (pl.col("genre") == "text")
        for genre, value in own.group_by("genre").agg(length.sum()).sort("genre").rows():
            unit = "characters" if genre == "text" else "seconds"
            # a sum has no decimals if it has none, not if it is rounded to that
            amount = whole(value) if value.is_integer() else str(round(value, 2))
            rows.append((data, genre, f"total_instance_{unit}", amount))
    silent = total.filter(criterion=UNSCORED).height
    return table(STATISTICS, [*rows, *file_counts(scored_files(total, SIDES), silent)])


def scored_files(total: pl.DataFrame, sides: Sides) -> dict[str, tuple[int, int]]:
    """How many files of each side are listed, and how many are scored."""
    scored = {
        data: total.filter(pl.col("criterion").is_in(criteria))["document"].n_unique()
        for data, criteria in sides.items()
    }
    return {data: (count(total, FILES, NAMES[data]) or 0, scored[data]) for data in sides}


def file_counts(
    files: Mapping[str, tuple[int, int]], silent: int
) -> Iterator[tuple[str, str, str, str]]:
    """The rows of the numbers of files.

    Args:
        files: of each side, how many are listed, and how many are scored.
        silent: the number of regions that nobody annotated.
    """
    for data, (listed, scored) in files.items():
        yield data, "all", "file_counts", str(listed)
        yield data, "all", "file_scoring_counts", str(scored)
        if data == "ref":
            yield data, "all", "noann_segment_scoring_counts", str(silent)


def of_outcomes(alignment: pl.DataFrame) -> str:
    """The file `instance_alignment_class_stats.tab`.

    What has no reference is a false alarm, what else is not mapped a missed detection: forgiven
    false alarms are among these.

    Args:
        alignment: the rows of `instance_alignment.tab`.
    """
    mapped, alone = pl.col("eval") == "mapped", pl.col("ref") == "{}"
    outcomes = {"cd": mapped, "fa": ~mapped & alone, "md": ~mapped & ~alone}
    sums = [which.sum().alias(name) for name, which in outcomes.items()]
    of_classes = alignment.group_by("class", maintain_order=True).agg(sums)
    every = alignment.select(pl.lit("all").alias("class"), *sums)
    rows = [
        (name, f"number_{outcome}", str(count))
        for name, *counts in pl.concat([every, of_classes]).rows()
        for outcome, count in zip(outcomes, counts, strict=True)
    ]
    return table(("class", "metric", "value"), rows)


def of_statuses(alignment: pl.DataFrame) -> dict[str, str]:
    """The file `instance_alignment_status_confusion.tab` of norms, by name; nothing of others.

    Args:
        alignment: the rows of `instance_alignment.tab`, in the order of the scorer.
    """
    if "ref_status" not in alignment.columns:
        return {}
    statuses = pl.col("ref_status", "hyp_status").replace("", "nan")
    every = pl.concat([alignment.with_columns(pl.lit("all").alias("class")), alignment])
    own = every.with_columns(statuses).with_row_index("_at")
    counts = own.group_by("class", "ref_status", "hyp_status", maintain_order=True).agg(
        count=pl.len(), first=pl.col("_at").first()
    )
    # classes, statuses of the reference and of the system, each in the order of their first rows
    outer = [pl.col("first").min().over(key) for key in ("class", ["class", "ref_status"])]
    rows = [
        (*statuses_of, "number_instance", str(count))
        for *statuses_of, count, _ in counts.sort(*outer, "first").rows()
    ]
    columns = ("class", "ref_status", "hyp_status", "metric", "value")
    return {"instance_alignment_status_confusion.tab": table(columns, rows)}


# The measures of the public scorer: those of the plan, rounded on the way and defined elsewhere.
#
# Measures of classes are rounded to three decimals, and means are means of these, rounded again. A
# class of which the system has nothing is 0 in everything; one without a correct instance has no
# F1. Average precision is interpolated.


DECIMALS = 3
COUNTS = ("tp", "fp", "md", "scaled_tp", "scaled_fp", "llr")


def with_decimals(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """A frame with some of its values rounded, as NumPy does it."""
    values = frame.select(pl.col(names).cast(pl.Float64))
    return frame.with_columns(
        pl.Series(name, np.round(values[name].to_numpy(), DECIMALS)).fill_nan(None)
        for name in names
    )


def classes(instances: pl.DataFrame, swept: pl.DataFrame) -> pl.DataFrame:
    """The measures of each class that has references, rounded.

    Args:
        instances: as from `detection_metric.by_genre`.
        swept: the points of the curves.
    """
    measured = detection_metric.classes(instances, swept).drop("llr", "ap", *_SCALED)
    own = areas(swept).join(_shares(instances), on=GROUP, maintain_order="left")
    measured = measured.join(own, on=GROUP, how="left", maintain_order="left")
    sums = pl.col(*_SCALED, "ap").fill_null(0.0)
    measured = detection_metric.with_rates(measured.with_columns(sums))
    nothing = pl.col("tp") + pl.col("fp") == 0
    measured = measured.with_columns(
        ap_interpolated=pl.col("ap"),
        f1=harmonic(pl.col("precision"), pl.col("recall")),
        scaled_f1=harmonic(pl.col("scaled_precision"), pl.col("scaled_recall")),
    ).with_columns(pl.when(nothing).then(0.0).otherwise(pl.col(MEASURES)).name.keep())
    return with_decimals(measured, *MEASURES, *_SCALED, "llr")


_SCALED = ("scaled_tp", "scaled_fp")


def areas(swept: pl.DataFrame) -> pl.DataFrame:
    """The area below each curve, and the lowest score; null if some instance has none."""
    rows = []
    for key, own in swept.group_by(GROUP, maintain_order=True):
        precision, recall = (own[name].to_numpy() for name in ("precision", "recall"))
        rows.append((*key, interpolated_area(precision, recall), own["llr"][-1]))
    schema = {**dict.fromkeys(GROUP, pl.String), **dict.fromkeys(("ap", "llr"), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def interpolated_area(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> float:
    """Interpolated average precision, its terms added as NumPy adds those of the scorer.

    Examples:
        >>> round(interpolated_area(np.array([1.0, 0.5, 2 / 3]), np.array([0.25, 0.25, 0.5])), 4)
        0.4167
    """
    best = np.maximum.accumulate(np.hstack([[0.0], precision, [0.0]])[::-1])[::-1]
    reached = np.hstack([[0.0], recall, [1.0]])
    steps = np.flatnonzero(reached[1:] != reached[:-1]) + 1
    return float(np.sum((reached[steps] - reached[steps - 1]) * best[steps]))


def _shares(instances: pl.DataFrame) -> pl.DataFrame:
    """The scaled counts of each class, added in the order of the scores, as NumPy adds them."""
    counted = instances.filter(
        pl.col("outcome").is_in([detections.CORRECT, detections.FALSE])
    ).sort("llr", "document", descending=[True, False], nulls_last=True, maintain_order=True)
    rows = []
    for key, own in counted.group_by(GROUP, maintain_order=True):
        correct = own.filter(outcome=detections.CORRECT)
        inside, beside = (np.sum(correct[name].to_numpy()) for name in ("tp_share", "fp_share"))
        rows.append((*key, inside, own.height - correct.height + beside))
    schema = {**dict.fromkeys(GROUP, pl.String), **dict.fromkeys(_SCALED, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def means(measured: pl.DataFrame) -> pl.DataFrame:
    """The means over classes, rounded, and the rates of all instances, by criterion and genre.

    The scorer adds values of classes one by one, in their order.

    Args:
        measured: the classes, as from `classes`.
    """
    names = (*MEASURES, *COUNTS)
    ordered = measured.sort("class", maintain_order=True)
    own = ordered.group_by("criterion", "genre", maintain_order=True).agg(
        pl.col(names).cast(pl.Float64).drop_nulls().cum_sum().last() / pl.col(names).count()
    )
    own = own.rename({name: f"mean_{name}" for name in names})
    averaged = detection_metric.means(measured).drop(f"mean_{name}" for name in MEASURES)
    averaged = averaged.join(own, on=["criterion", "genre"], maintain_order="left")
    f1 = harmonic(pl.col("precision"), pl.col("recall"))
    kept = [f"mean_{name}" for name in names] + ["map_known", "map_hidden"]
    return with_decimals(averaged, *kept).with_columns(f1=f1)


# What the scorer knows of both sides beside the documents that are scored.


#: The element of attributes that names such a column of a submission.
WHOLE = "whole"
#: The criteria: how many files an index of each side lists; how many records the system has; how
#: many scores or places have decimals, or are none at all; and how many change points of the
#: reference are `none`, or not finished: these are attributes of this element. The class is the
#: side or the column, the number in `distance`.
FILES, RECORDS, NUMBERS, WORDS = "files", "records", "numbers", "words"
_INPUTS = "system_input.index.tab"
#: What a note begins with where there are no values.
CRASH = "no official score: the public scorer crashes"


def inventory(
    reference: Corpus, system: Corpus, table: Literal["instances", "changes"]
) -> pl.DataFrame:
    """The counts of a batch.

    Args:
        reference: all documents.
        system: all documents.
        table: what the task has records of: `instances` or `changes`.
    """
    done = system.documents.filter(pl.col("processed").fill_null(value=True))["row"]
    records = getattr(system, table).filter(pl.col("document").is_in(done.implode()))
    counts = [
        (FILES, "reference", documents_of_index(reference).height),
        (FILES, "system", system.documents.filter(pl.col("processed").is_not_null()).height),
        (RECORDS, "system", records.height),
    ]
    if table == "changes":
        unfinished = reference.attributes.filter(pl.col("element") == WORDS)
        segments = pl.concat([reference.regions["start"], reference.regions["end"]])
        for name in ("llr", "timestamp"):
            # documents with a column of numbers that are not all written without decimals
            integers = system.attributes.filter(element=WHOLE, name=name)
            fractional = records.join(integers, on="document", how="anti")["document"].n_unique()
            counts.append((NUMBERS, name, fractional))
        counts += [
            (NUMBERS, "reference", _fractions(reference.changes["at"])),
            (NUMBERS, "segments", _fractions(segments)),
            (WORDS, "reference", reference.changes["at"].null_count() + unfinished.height),
        ]
    columns = ["criterion", "class", "distance"]
    return detections.to_rows(pl.DataFrame(counts, schema=columns, orient="row"))


def _fractions(values: pl.Series) -> int:
    """How many values have decimals, or are missing."""
    number = values.fill_nan(None)
    whole = (number == number.round()) & number.is_finite()
    return int((~whole.fill_null(value=False)).sum())


def count(total: pl.DataFrame, criterion: str, name: str) -> int | None:
    """A number of the inventory; None where there is none, as of documents by themselves."""
    rows = total.filter(pl.col("criterion") == criterion, pl.col("class") == name)
    return int(rows["distance"].sum()) if rows.height else None


def documents_of_index(reference: Corpus) -> pl.DataFrame:
    """The documents of the first index of inputs."""
    indexes = reference.attributes.filter(pl.col("name").str.ends_with(_INPUTS), element="index")
    return indexes.filter(pl.col("name") == pl.col("name").min()).select("document").unique()


class OfficialDetection(Detection):
    """A metric that counts what the scorer knows, too; nothing has a value where it crashes."""

    records: ClassVar[Literal["instances", "changes"]]
    """The table of which the task has records: `instances` or `changes`."""
    # Its tables, and whether it crashes, depend on all documents: each replicate is scored alone.
    alone, replicates = Metric.alone, Metric.replicates

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The evaluation labels of a batch of documents, and what is counted of all of them."""
        labels, _ = super().statistics(reference, system, alignment=alignment)
        return pl.concat([labels, inventory(reference, system, self.records)]), None

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Say what a reader of the values must know."""
        crash = [f"{CRASH} {where}"] if (where := self.crash(total)) else []
        return (*crash, *super().notes(total))


@dataclass(frozen=True)
class OfficialInstanceDetection(OfficialDetection, InstanceDetection):
    """How the public scorer scores norms or emotions; nothing has a score where it crashes."""

    records = "instances"

    def rows(self, reference: Corpus, system: Corpus) -> pl.DataFrame:
        """The rows of the documents that are scored."""
        return official_detections.rows(reference, system, self.kind, self.options)

    def measures(self, total: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """The measures of each class, their means and the rates of all, and points of curves."""
        instances = detection_metric.by_genre(total)
        swept = detection_metric.curves(instances)
        measured = classes(instances, swept)
        return measured, means(measured), swept

    def crash(self, total: pl.DataFrame) -> str:
        """The case in which the scorer crashes; empty if it does not."""
        marks = set(total["criterion"].unique())
        silent = count(total, RECORDS, "system") == 0
        align, options = self.options.align, self.options
        stops = {
            "with --file-merge where no segment of a part of a document has a label": (
                official_detections.UNLABELLED in marks
            ),
            "where the reference has no instance, or writes zeros of no class": (
                REFERENCE not in marks
            ),
            "where it filters a submission without instances": silent and options.llr_filter,
            "with --file-merge where a submission has no instances": silent and options.file_merge,
            "with several criteria of overlap": len(options.overlap) > 1,
            f"with {align} where an instance meets no reference of its class, in a document that "
            "has some and no no-score region": official_detections.INDIVISIBLE in marks,
        }
        places = (where for where, crashes in stops.items() if crashes)
        return "" if total.is_empty() else next(places, "")

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer."""
        if self.crash(total):
            return {}
        measured, averaged, swept = self.measures(total)
        with_references = measured.select("criterion", "class").unique()
        instances = total.drop_nulls("outcome").join(
            with_references, on=["criterion", "class"], how="semi", maintain_order="left"
        )
        task, criteria = "nd" if self.kind == "norm" else "ed", self.options.overlap
        compared = total.filter(criterion=COMPARED)["class"]
        written = alignment(instances, compared, self.options, self.kind)
        ordered = written.sort("class", "file_id", "sort", maintain_order=True).drop("sort")
        return {
            "instance_alignment.tab": table(ordered.columns, ordered.iter_rows()),
            "instance_alignment_class_stats.tab": of_outcomes(written),
            **of_statuses(written),
            "scores_by_class.tab": scores_by_class(measured, swept, criteria),
            "scores_aggregated.tab": scores_aggregated(averaged, task, criteria),
            "statistics_by_class.tab": statistics_by_class(total),
            "statistics_aggregated.tab": statistics_aggregated(total),
        }


def instance_detection(
    profile: str = "plan",
    options: detections.DetectionOptions | None = None,
    kind: Literal["norm", "emotion"] = "norm",
) -> InstanceDetection:
    """The metric of norms or emotions."""
    metrics = {"plan": InstanceDetection, "official": OfficialInstanceDetection}
    return metrics[profile](profile, options or detections.DetectionOptions(), kind)
