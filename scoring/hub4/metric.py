"""HUB-4 templettes: points of content and extent, by the scoring procedure of version 0.3.

Normalisation (`normalizer`, `text_columns`, `instance_sets`) and mapping (`mapping`) have modules
of their own; here are the points and the "Calculation of Scores based on the Mapping".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

import polars as pl

from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.representation import align as numbered_alike
from hlteval.scoring.hub4 import instance_sets
from hlteval.scoring.hub4.mapping import (
    POINTS,
    Instances,
    Mapping,
    instance_mapping,
    overlapping_sets,
)
from hlteval.scoring.hub4.report import listings, mapping_rows
from hlteval.scoring.matching import Pair, optimal
from hlteval.scoring.metric import TEXTS, AdditiveMetric, Evidence, Replicates, Sums, columns_of
from hlteval.scoring.ratios import quotient

#: Pairs of instance sets that are mapped at a time; more cost memory and save no time.
SETS = 2000
#: Fewest correct texts with a wrong extent that suggest another way to count.
_FEW = 3
_IDENTICAL = "the two corpora are identical: texts are not aligned, and --glm is not applied"
_DOCUMENTS = ("document", "document_system")
_SIDES = ("reference", "system")

#: A row per mode, document, type and slot: its points. A row without a slot has the correct points
#: of the instances of that type by the greedy mapping, and by the mapping that has most. It is
#: drawn with its document: the reference's, or the system's where the reference has none.
COUNTS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("mode", *_DOCUMENTS, "drawn", "type", "slot"), pl.String),
    **dict.fromkeys((*POINTS, "greedy", "best"), pl.Int64),
}
_DERIVED = ("pos", "act", "rec", "pre", "f", "und", "ovg", "sub", "sub_muc", "err")
MEASURES = (*POINTS, *_DERIVED)
_TITLES = {name: name.upper() for name in MEASURES} | {"optional": "OPT", "removed": "REM"}


@dataclass(frozen=True)
class TempletteMatch(AdditiveMetric):
    """The measures of templettes; there is no public scorer and no profile but `plan`.

    Attributes:
        options: the choices that the specification leaves to the scorer.

    Raises:
        ValueError: if the options need texts or a lexicon that they do not have.
    """

    document_column: ClassVar[str] = "drawn"

    options: instance_sets.Options = field(default_factory=instance_sets.Options)

    def __post_init__(self) -> None:
        _ = self.options.texts

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The points of a batch of documents by mode, document, type and slot, and the mapping.

        Args:
            reference: the annotated instances.
            system: the system's.
            alignment: whether the mapping is wanted.

        Returns:
            Counts, as `COUNTS`; and the mapping, as `MAPPING`, or None.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "templette"}
            >>> fill = {"row": 0, "document": 0, "origin": 0, "record": 2, "frame_row": 0,
            ...         "slot": "KIND", "slot_number": 1, "optional": False, "alternative": 1,
            ...         "position": 1, "kind": "text", "text": "rye",
            ...         "extents": [{"start": 4, "end": 7}]}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d"}], fills=[fill],
            ...                 frames=[{**frame, "frame": "BREAD-d-1", "label": "BREAD"}])
            >>> match = TempletteMatch()
            >>> match.score(match.statistics(corpus, corpus)[0])[0]["both.cor"]
            2.0
        """
        reference, system = numbered_alike(reference, system)
        # Mode by mode, and losses in the order in which types are mapped, whatever sets are mapped
        # together.
        modes = self.options.modes
        points, losses, rows = ({mode: list[pl.DataFrame]() for mode in modes} for _ in range(3))
        find_sets = (
            instance_sets.by_overlap if self.options.unsegmented else instance_sets.by_document
        )
        for sets in find_sets(reference, system, self.options).parts(SETS):
            possible = Instances(sets, sets.pairs, self.options)
            for mode in modes:
                mapping = instance_mapping(possible, mode)
                if not sets.settled:
                    chosen = overlapping_sets(sets, mapping.pairs)
                    mapping = instance_mapping(Instances(sets, chosen, self.options), mode)
                counts, lost = point_counts(mapping, sets, mode)
                points[mode].append(counts)
                losses[mode].append(lost)
                if alignment:
                    rows[mode].append(mapping_rows(mapping, sets, mode, reference, system))
        tables = []
        for mode in modes:
            lost = pl.concat(losses[mode]).sort("rank", maintain_order=True).drop("rank")
            tables += [*points[mode], lost]
        return pl.concat(tables), pl.concat(chain(*rows.values())) if alignment else None

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The counts of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics, and the tables `scorings`, `by_type`, `by_slot` and `by_document`."""
        modes = self.options.modes
        points = total.drop_nulls("slot")
        nothing = pl.DataFrame([{"mode": mode, **dict.fromkeys(POINTS, 0)} for mode in modes])
        every = pl.concat([points.select("mode", *POINTS), nothing])
        of_modes = self._table(every, ["mode"])
        metrics: dict[str, float | None] = {}
        for mode in instance_sets.MODES:
            rows = of_modes.filter(mode=mode).select(pl.col(MEASURES).cast(pl.Float64))
            values = rows.row(0, named=True) if mode in modes else dict.fromkeys(MEASURES)
            metrics |= {f"{mode}.{name}": value for name, value in values.items()}
        tables = {
            "by_type": self._table(points, ["mode", "type"]),
            "by_slot": self._table(points, ["mode", "type", "slot"]),
            "by_document": self._table(points, ["mode", *_DOCUMENTS]),
        }
        # All, each type and each slot of it, for people.
        full = pl.concat_str("type", "slot", separator=".")
        scorings = pl.concat(
            rows.select("mode", *MEASURES, scoring=scoring, level=pl.concat_list(*level))
            for rows, scoring, level in (
                (of_modes, pl.lit("all"), (pl.lit(""), pl.lit(""))),
                (tables["by_type"], pl.col("type"), ("type", pl.lit(""))),
                (tables["by_slot"], full, ("type", "slot")),
            )
        )
        scorings = scorings.sort(self._order_of_modes(), "level").with_row_index("at")
        scorings = scorings.with_columns(pl.col(MEASURES).cast(pl.Float64)).rename(_TITLES)
        index, titles = ["at", "mode", "scoring"], list(_TITLES.values())
        long = scorings.unpivot(titles, index=index, variable_name="measure")
        tables["scorings"] = long.sort("at", maintain_order=True).select(
            pl.col("mode").alias("evaluation"), "scoring", "measure", "value"
        )
        lost = pl.col("slot").is_null() & (pl.col("best") > pl.col("greedy"))
        columns = ("mode", *_DOCUMENTS, "type", "greedy", "best")
        return metrics, tables | {"greedy_loss": total.filter(lost).select(columns)}

    def _table(self, points: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        """The measures by some columns, in the order of the modes and then sorted."""
        sums = points.group_by(columns).agg(pl.col(*POINTS).sum())
        rows = sums.with_columns(**measures(self.options.beta))
        rows = rows.sort(self._order_of_modes(), *columns[1:], nulls_last=True)
        return rows.select(*columns, *MEASURES)

    def _order_of_modes(self) -> pl.Expr:
        places = {mode: place for place, mode in enumerate(self.options.modes)}
        return pl.col("mode").replace_strict(places, default=None)

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Notes on what the corpora and the points suggest, and what the greedy mapping loses."""
        notes: list[str] = []
        if self.options.identical:
            notes.append(_IDENTICAL)
        points = dict(total.group_by("mode").agg(pl.col("cor").sum()).iter_rows())
        right = points.get("content", 0)
        lost = right - points.get("extent", right)
        if self.options.corpus is None and lost >= max(_FEW, right // 3):
            notes.append(
                f"{lost} correct texts have a wrong extent: check the offsets with "
                "`hlteval validate hub4 --corpus`"
            )
        for mode in self.options.modes:
            groups = total.filter(pl.col("slot").is_null(), mode=mode)
            if groups.height:
                points_lost = groups.select((pl.col("best") - pl.col("greedy")).sum()).item()
                notes.append(
                    f"{mode}: the greedy mapping that the specification asks for has "
                    f"{count_of(points_lost, 'correct point')} less than the best mapping of "
                    f"instances, in {count_of(groups.height, 'group')} (table greedy_loss)"
                )
        return tuple(notes)

    def evidence(self, reference: Corpus, system: Corpus) -> Evidence:
        """The texts of a batch, from the corpora that are given; none without segments."""
        if self.options.unsegmented:
            return Evidence()
        ours, theirs = self.options.texts_by_document
        names = pl.concat([reference.documents["name"], system.documents["name"]]).unique().sort()
        other = {name: text.text for name, text in theirs.items() if text != ours.get(name)}
        rows = [(name, ours[name].text, other.get(name)) for name in names if name in ours]
        return Evidence(pl.DataFrame(rows, schema=dict(TEXTS), orient="row"))

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """The reference and the system side by side, for each mode, and the errors alone."""
        return {}, listings(aligned)

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        """The points of each mode by document."""
        slots = counts.drop_nulls("slot").group_by("mode", document="drawn")
        points = slots.agg(pl.col(*POINTS).sum())
        modes = self.options.modes
        return {mode: columns_of(points.filter(mode=mode), POINTS, documents) for mode in modes}

    def values_of(self, sums: Sums) -> Replicates:
        """The metrics of each mode."""
        found: Replicates = {}
        for mode, points in sums.items():
            values = pl.DataFrame(points, schema=list(POINTS))
            values = values.with_columns(**measures(self.options.beta))
            values = values.select(pl.col(MEASURES).cast(pl.Float64).fill_null(float("nan")))
            found |= {f"{mode}.{name}": values[name].to_numpy() for name in MEASURES}
        return found


def point_counts(
    mapping: Mapping, sets: instance_sets.InstanceSets, mode: instance_sets.Mode
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The points of a mapping by document, type and slot, and what the greedy algorithm lost.

    Returns:
        Both as `COUNTS`; the latter with `rank`, when the type was mapped.
    """
    slots = mapping.evaluation.slots.join(mapping.pairs.select("pair", "set", "type"), on="pair")
    points = sets.with_slots(slots).group_by("set", "type", "slot").agg(pl.col(*POINTS).sum())
    losses = greedy_losses(mapping.scored, mapping.pairs).filter(pl.col("best") > pl.col("greedy"))
    names = sets.with_names(mapping.sets).with_columns(drawn=pl.coalesce(_DOCUMENTS))
    tables = []
    for rows, more in ((points, ()), (losses, ("rank",))):
        known = rows.join(names, on="set", how="left").with_columns(mode=pl.lit(mode))
        absent = [pl.lit(None, COUNTS[name]).alias(name) for name in COUNTS if name not in known]
        tables.append(known.with_columns(absent).select(*COUNTS, *more))
    return tables[0], tables[1]


def greedy_losses(scored: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    """The correct points of the pairs that were taken, and of the best one-to-one mapping.

    Args:
        scored: `set`, `type`, `rank`, `reference`, `system`, `cor`: pairs with a correct point.
        taken: `set`, `reference`, `system`: the pairs that the greedy algorithm took.

    Returns:
        `rank`, `set`, `type`, `greedy`, `best`, in this order.
    """
    group = ["rank", "set", "type"]
    greedily = scored.join(taken, on=["set", *_SIDES], how="semi")
    rows = greedily.group_by(group).agg(greedy=pl.col("cor").sum())
    # No mapping has more than the best of each row, or of each column.
    for side in _SIDES:
        highest = scored.group_by(*group, side).agg(pl.col("cor").max())
        limit = highest.group_by(group).agg(pl.col("cor").sum().alias(side))
        rows = limit.join(rows, on=group, how="left")
    rows = rows.with_columns(pl.col("greedy").fill_null(0))
    undecided = rows.filter(pl.min_horizontal(_SIDES) > pl.col("greedy"))
    best = []
    for key, members in scored.join(undecided, on=group, how="semi").group_by(group):
        pairs = [Pair(*row) for row in members.select(*_SIDES, "cor").iter_rows()]
        best.append((*key, sum(pair.weight for pair in optimal(pairs))))
    schema = {name: rows.schema[name] for name in group} | {"best": pl.Int64}
    rows = rows.join(pl.DataFrame(best, schema, orient="row"), on=group, how="left")
    return rows.select(*group, "greedy", best=pl.coalesce("best", "greedy")).sort(group)


def measures(beta: float) -> dict[str, pl.Expr]:
    """The measures of a table of points, by the specification's formulas; null where 0 / 0.

    Args:
        beta: the weight of recall in F.

    Examples:
        >>> points = pl.DataFrame({"cor": [3], "inc": 1, "mis": 2, "spu": 1})
        >>> points.select(**measures(1.0)).select("pos", "rec", "sub", "sub_muc").row(0)
        (6, 0.5, 0.3333333333333333, 0.25)
    """
    cor, inc, mis, spu = (pl.col(name) for name in ("cor", "inc", "mis", "spu"))
    pos, act = cor + inc + mis, cor + inc + spu
    weight = beta**2
    return {
        "pos": pos,
        "act": act,
        "rec": quotient(cor, pos),
        "pre": quotient(cor, act),
        # (b^2 + 1) P R / (b^2 P + R), with P and R written out, so that no 0 / 0 is left over
        "f": quotient((weight + 1) * cor, weight * pos + act),
        "und": quotient(mis, pos),
        "ovg": quotient(spu, act),
        "sub": quotient(inc, cor),
        "sub_muc": quotient(inc, cor + inc),
        "err": quotient(inc + spu + mis, cor + inc + spu + mis),
    }
