"""SeeDev: the measures over pairs of reference and predicted events, and their alignment.

The evaluation as the task describes it: (1) pair reference and predicted annotations so that the
sum of their similarities is greatest, (2) filter the pairs, (3) compute measures. What a task and a
profile compare is declared as an `EventMatch`; hlteval/tasks/seedev.py has all four.

Conventions:
    Similarities are integers in units of 1/`UNIT`, so that sums are exact and do not depend on the
    order of documents or on batches. Counts are a row per document, evaluation and scoring; they
    add.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from hlteval.representation import Corpus, align, first_case
from hlteval.scoring.confusions import pair_by_key
from hlteval.scoring.metric import MARKS, Evidence, texts
from hlteval.scoring.pairings import ADDED, LABELS, PairingMetric, side_by_side, with_names
from hlteval.scoring.ratios import Numbers
from hlteval.scoring.seedev.event_pairs import UNIT, Evaluation, pairs
from hlteval.scoring.seedev.events import Comparison, Side, inside, others, side

#: What is counted: annotations of either side, pairs, and their similarities in units.
COUNTS: Mapping[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("document", "evaluation", "scoring"), pl.String),
    **dict.fromkeys(ADDED, pl.Int64),
}


@dataclass(frozen=True)
class Options:
    """Evaluations beside the main scoring.

    Attributes:
        sentences: whether there are sentences, for the evaluation inside sentences.
    """

    sentences: bool = False


@dataclass(frozen=True, kw_only=True)
class EventMatch(PairingMetric):
    """How the events of a task are compared in a profile.

    Two tasks share this metric. What they compare follows from the vocabulary and the schema of
    SeeDev, which scoring does not know: hlteval/tasks/seedev.py makes it of the options.

    Attributes:
        evaluations: the first is the main one, which the alignment shows.
        comparison: when two events are similar, and how much.
        measures: the names of the measures in the table `scorings`, in order.
        others_count: whether annotations that are not events count, too.
    """

    evaluations: tuple[Evaluation, ...]
    comparison: Comparison
    measures: tuple[str, ...]
    others_count: bool = False

    counts: ClassVar = COUNTS
    unit: ClassVar[int] = UNIT
    #: What else is counted of the pairs of a scoring and document.
    kept: ClassVar[Sequence[pl.Expr]] = ()

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The counts of a batch of documents, and the alignment of the main evaluation.

        Args:
            reference: the reference; its mentions are the given ones, its segments the sentences.
            system: the predictions for the same documents.
            alignment: whether the alignment is wanted.

        Returns:
            Counts, as `COUNTS`; and the alignment, a row per pair or unpaired annotation.
        """
        reference, system = self.prepare(*align(reference, system))
        commutative = self.evaluations[0].commutative
        sides = (
            side(reference, reference, "reference", self.comparison, commutative),
            side(system, reference, "system", self.comparison, commutative),
        )
        more = [others(corpus, reference) for corpus in (reference, system) if self.others_count]
        tables = [self._pair(each, sides, reference, more) for each in self.evaluations]
        counts = pl.concat(map(self._count, self.evaluations, tables))
        counts = with_names(counts, reference, system)
        rows = tables[0].sort("document", "row", "row_system", nulls_last=True)
        rows = with_names(rows, reference, system)
        return counts, _align(rows, sides, self.comparison.conditions) if alignment else None

    def _pair(
        self,
        evaluation: Evaluation,
        sides: tuple[Side, Side],
        reference: Corpus,
        more: Sequence[pl.DataFrame],
    ) -> pl.DataFrame:
        """A row per pair or unpaired annotation, with the scoring that counts each side."""
        if evaluation.inside_sentences:
            sides = (inside(sides[0], reference), inside(sides[1], reference))
        if not evaluation.overall:
            types = {*evaluation.scorings, *evaluation.merged, *evaluation.merged.values()}
            scored = pl.col("label").is_in(types)
            left, right = (
                Side(each.events.filter(scored), each.arguments.filter(scored)) for each in sides
            )
            sides = (left, right)
        ours, theirs = (
            _annotations(each, evaluation, more[at : at + 1]) for at, each in enumerate(sides)
        )
        return side_by_side(ours, theirs, pairs(sides, evaluation, self.comparison))

    def _count(self, evaluation: Evaluation, table: pl.DataFrame) -> pl.DataFrame:
        """The counts of an evaluation's scorings by document.

        A pair counts for the scorings of both of its events, and for the scoring over all.
        """
        labels = [pl.col(name).is_not_null() for name in ("label", "label_system")]
        rows = table.lazy().select("document", "scoring", "scoring_system", "weight", *labels)
        two = rows.filter(pl.col("scoring") != pl.col("scoring_system"))
        either = rows.with_columns(scoring=pl.coalesce("scoring", "scoring_system"))
        parts = [either, two.with_columns(scoring="scoring_system")]
        if evaluation.overall:
            parts.append(rows.with_columns(scoring=pl.lit(0, pl.Int64)))
        counts = (
            pl.concat(parts)
            .drop_nulls("scoring")
            .group_by("document", "scoring")
            .agg(
                *self.kept,
                references=pl.col("label").sum().cast(pl.Int64),
                predictions=pl.col("label_system").sum().cast(pl.Int64),
                pairs=pl.col("weight").count().cast(pl.Int64),
                matched=pl.col("weight").sum(),
                missed=(UNIT - pl.col("weight")).sum(),
            )
        )
        names = dict(enumerate(evaluation.names))
        name = pl.col("scoring").replace_strict(names, return_dtype=pl.String)
        return counts.with_columns(evaluation=pl.lit(evaluation.name), scoring=name).collect()

    def evidence(self, reference: Corpus, system: Corpus) -> Evidence:
        """The texts of a batch, and the arguments of the events of both sides."""
        return Evidence(texts(reference, system), marks(*align(reference, system)))

    def beside(self, aligned: pl.DataFrame) -> pl.DataFrame:
        """Events without a partner are paired by what fills their roles."""
        keys, filler = ("_ours", "_theirs"), pl.element().str.replace("^[^:]*:", "")
        fillers = (
            pl.col(side).list.eval(filler).list.sort().list.join(" ").replace("", None).alias(key)
            for side, key in zip(("reference_arguments", "predicted_arguments"), keys, strict=True)
        )
        return pair_by_key(aligned.with_columns(fillers), LABELS, keys)

    @property
    def layout(self) -> Sequence[tuple[str, str, Sequence[str]]]:
        """The scorings of all evaluations, which have the same measures."""
        return [
            (each.name, name, self.measures) for each in self.evaluations for name in each.names
        ]

    def add(self, counts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
        """The sums of counts."""
        return counts.group_by(by).agg(pl.col(ADDED).sum())

    def mismatches(self, pairs: Numbers, matches: Numbers, missed: Numbers) -> Numbers:  # noqa: ARG002
        """The pairs without what of them is right, to the last digit."""
        return pairs - matches


def _annotations(
    events: Side, evaluation: Evaluation, more: Sequence[pl.DataFrame]
) -> pl.DataFrame:
    """The annotations of a side, each with the number of the scoring that counts it, if any."""
    numbers = {label: evaluation.names.index(name) for label, name in evaluation.scorings.items()}
    scoring = pl.col("label").replace_strict(numbers, default=None, return_dtype=pl.Int64)
    others_of_type = ~pl.col("filler_label").is_in(evaluation.fillers).fill_null(value=False)
    strange = events.arguments.filter(pl.col("role").is_in(evaluation.restricted) & others_of_type)
    counts = ~pl.col("row").is_in(strange["frame_row"].implode())
    rows = events.events.select("document", "row", "label", scoring=pl.when(counts).then(scoring))
    parts = [rows, *(annotations.with_columns(scoring=scoring) for annotations in more)]
    return pl.concat(parts, how="diagonal")


def _align(
    pairs: pl.DataFrame, sides: tuple[Side, Side], conditions: tuple[str, ...]
) -> pl.DataFrame:
    """Align each event with its partner, and list what kept it from being right.

    A row per pair, or per annotation that has no partner: identifiers and types (null on the side
    that has none), the similarity (0 without a partner), `missing` or `extra` where only one side
    is negated; the optional arguments that only the reference has, that only the system has, and
    that both fill differently; and all arguments of both sides; as role:filler.

    Args:
        pairs: `document`, `row`, `row_system`, `label`, `label_system`, `weight`; and `other` and
            `other_system`, the identifiers of annotations that are not events, if these count;
            in order.
        sides: reference and system.
        conditions: the optional roles.
    """
    rows = pairs.with_row_index("at")
    left, right = (each.events.select("row", "frame", "negated") for each in sides)
    rows = rows.join(left, on="row", how="left")
    rows = rows.join(right, left_on="row_system", right_on="row", how="left", suffix="_system")
    paired = rows.drop_nulls("weight")
    for each, row, name in zip(sides, ("row", "row_system"), ("ours", "theirs"), strict=True):
        fills = each.arguments.group_by(pl.col("frame_row").alias(row))
        lines = fills.agg(pl.format("{}:{}", "role", "target").sort().alias(name))
        rows = rows.join(lines, on=row, how="left")
    optional = (each.arguments.filter(pl.col("role").is_in(conditions)) for each in sides)
    left, right = (rows.select("role", "target", "key", row="frame_row") for rows in optional)
    ours = paired.select("at", "row").join(left, on="row")
    theirs = paired.select("at", row="row_system").join(right, on="row")
    both = ours.join(theirs, on=["at", "role"], how="full", coalesce=True, suffix="_system")
    argument = pl.format("{}:{}", "role", pl.coalesce("target_system", "target"))
    differences = (
        both.sort("at", "role")
        .group_by("at")
        .agg(
            missing=argument.filter(pl.col("key_system").is_null()),
            extra=argument.filter(pl.col("key").is_null()),
            wrong=argument.filter(pl.col("key") != pl.col("key_system")),
        )
    )
    rows = rows.join(differences, on="at", how="left")
    only_left = pl.col("negated") & ~pl.col("negated_system") & pl.col("weight").is_not_null()
    only_right = ~pl.col("negated") & pl.col("negated_system") & pl.col("weight").is_not_null()
    negation = first_case((only_left, "missing"), (only_right, "extra"), otherwise="")
    frames = ("frame", "other") if "other" in rows.columns else ("frame",)
    return rows.sort("at").select(
        document="document",
        reference=pl.coalesce(frames),
        predicted=pl.coalesce(f"{name}_system" for name in frames),
        reference_type="label",
        predicted_type="label_system",
        similarity=pl.col("weight").fill_null(0) / UNIT,
        negation=negation,
        **{name: pl.col(name).fill_null([]) for name in ("missing", "extra", "wrong")},
        reference_arguments=pl.col("ours").fill_null([]),
        predicted_arguments=pl.col("theirs").fill_null([]),
    )


def marks(reference: Corpus, system: Corpus) -> pl.DataFrame:
    """The triggers and arguments of the events of both sides, as `evidence.MARKS`.

    Mentions of the system may be given ones, which the reference has. An argument that is an event
    is known by its type.
    """
    names = pl.concat([each.documents.select("row", "name") for each in (reference, system)])
    names, tables = names.unique("row"), []
    for side_name, corpus in (("reference", reference), ("system", system)):
        frames = corpus.frames.unique(["document", "frame"], keep="first", maintain_order=True)
        triggers = frames.drop_nulls("trigger").select(
            frame_row="row", position=pl.lit(0, pl.Int64), role=pl.lit("trigger"), target="trigger"
        )
        fills = pl.concat([triggers, corpus.arguments.select(triggers.columns)])
        fills = fills.join(frames.select("document", "frame", frame_row="row"), on="frame_row")
        place = ("text", "start", "end")
        both = (corpus.mentions, reference.mentions)
        mentions = (each.select("document", *place, target="mention") for each in both)
        events = frames.select("document", text="label", target="frame")
        known = pl.concat([*mentions, events], how="diagonal")
        known = known.unique(["document", "target"], keep="first", maintain_order=True)
        found = fills.join(known, on=["document", "target"], how="left")
        found = found.sort("frame_row", "position")
        found = found.join(names, left_on="document", right_on="row", maintain_order="left")
        tables.append(
            found.select(
                *("start", "end", "role"),
                document="name",
                side=pl.lit(side_name),
                item="frame",
                text=pl.coalesce("text", "target"),
            ).select(MARKS.keys())
        )
    return pl.concat(tables).cast(dict(MARKS))  # type: ignore[arg-type]
