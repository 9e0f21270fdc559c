"""Entity discovery and linking: all measures of LoReHLT 2019, section 17.3, and of neleval.

Annotations of both sides are pooled over all batches, since clusters run through all documents; a
measure is a filter, a key and an aggregate over them (`counts`), and its counts lead to precision,
recall and F-score (`figures`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from hlteval.representation import Corpus, align
from hlteval.scoring.confusions import count_labels
from hlteval.scoring.edl import errors
from hlteval.scoring.edl.annotations import ANNOTATIONS, encode, outside
from hlteval.scoring.edl.condensed import CondensedResults, condense, is_condensed, merge
from hlteval.scoring.edl.counts import Counting
from hlteval.scoring.edl.credit import IdentifierWeights, PairWeights, TypeWeights, with_identifiers
from hlteval.scoring.edl.measures import (
    COUNTS,
    DEFAULT,
    FIGURES,
    PAIRWISE,
    Measure,
    measure_of,
    measures,
)
from hlteval.scoring.edl.measures import measure as parse
from hlteval.scoring.edl.official import OfficialCounting, files
from hlteval.scoring.edl.results import AVERAGES, Results, scorings
from hlteval.scoring.metric import Metric, Replicates, Sums, Weights, columns_of, weigh
from hlteval.scoring.resampling import join_blocks

PRIMARY = "strong_typed_all_match"
#: What counts annotations, and what is written beside the tables, by profile.
COUNTING: Mapping[str, type[Counting]] = {"plan": Counting, "official": OfficialCounting}
FILES: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], dict[str, str]]] = {
    "plan": lambda _: {},
    "official": files,
}
#: How many annotations of replicates are counted at a time, which bounds the memory.
_ROWS = 1_000_000


@dataclass(frozen=True)
class Options:
    """The measures, and how annotations are prepared.

    Attributes:
        measure: the measures.
        by: what they are also counted by, one of `GROUPINGS`, or empty.
        alternatives: what an alternative of the reference has in common with the system's candidate
            for it to be selected: `eid`, or `fields` for its type as well; empty: the first one.
        conversion: whether a type is `PER` (pipeline) or `PER/NAM` (tac15).
        type_weights: what a pair of types (reference, system) counts, where types are compared.
        exclude: zones as `docid`, `start`, `last`; what begins or ends in one is left out.
    """

    measure: tuple[Measure, ...] = field(default_factory=lambda: measures(DEFAULT))
    by: Literal["", "document", "type", "language"] = ""
    alternatives: Literal["", "eid", "fields"] = ""
    conversion: Literal["pipeline", "tac15"] = "pipeline"
    type_weights: Mapping[tuple[str, str], float] = field(default_factory=dict)
    exclude: pl.DataFrame | None = None


@dataclass(frozen=True)
class LinkMatch(Metric):
    """The measures of a profile over entity annotations.

    Attributes:
        options: what is measured, and how.
        ranked: whether the measure that ranks is computed where it is not among the options.
        links: the weights of links of one span; None where entities have to be equal.
    """

    document_column: ClassVar[str] = "docid"

    options: Options = field(default_factory=Options)
    ranked: bool = True
    links: IdentifierWeights | None = None
    _kept: dict[int, tuple[pl.DataFrame, Counting | None, pl.DataFrame, tuple[str, ...]]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """The measures of the options, and the one that ranks."""
        asked = self.options.measure
        missing = self.ranked and PRIMARY not in {measure.name for measure in asked}
        return (*asked, parse(PRIMARY)) if missing else asked

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The annotations of a batch of documents, and what became of each mention.

        Examples:
            >>> mention = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "m"}
            >>> mention |= {"label": "PER", "start": 0, "end": 5, "entity": "NIL1"}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d"}], mentions=[mention])
            >>> metric = LinkMatch("plan", Options(measures(["strong_typed_all_match"])))
            >>> total = metric.total([metric.statistics(corpus, corpus)[0]])
            >>> metric.score(total)[0]["strong_typed_all_match.fscore"]
            1.0
        """
        reference, system = align(reference, system)
        sides = [
            COUNTING[self.profile].candidates(
                corpus,
                system=side,
                with_mention_type=self.options.conversion == "tac15",
                alternatives=bool(self.options.alternatives),
            )
            for side, corpus in ((False, reference), (True, system))
        ]
        table = pl.concat(sides)
        if self.options.exclude is not None:
            table = outside(table, self.options.exclude)
        if not alignment:
            return table, None
        shown = self._best_candidates(table) if self.links else table
        return table, errors.alignment(shown, reference, system, self.links)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The annotations of several batches as one table (`ANNOTATIONS`), their rows numbered."""
        tables = [*counts]
        if len(tables) == 1:
            return tables[0]
        if any(map(is_condensed, tables)):
            return merge(tables)
        batches, offset = [pl.DataFrame(schema=dict(ANNOTATIONS))], 0
        for table in tables:
            batches.append(table.with_columns(pl.col("row") + offset))
            largest = table["row"].max()
            offset += largest + 1 if isinstance(largest, int) else 0
        return pl.concat(batches)

    def join_parts(self, counts: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
        """Return the counts of parts of files as one table."""
        return [self.total(counts)]

    @property
    def condenses(self) -> bool:
        """Whether sums, and clusters with the numbers of their mentions, are enough to score."""
        options = self.options
        whole = options.by or options.alternatives or self._weights or self.official
        return not whole and all(measure.mergeable for measure in self.all_measures)

    def condense(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Sums, and clusters with the numbers of their mentions; the annotations where they count.

        They do in the profile `official`, where figures depend on the order of annotations, where
        there are groups, alternatives or weights, and for measures whose items are in several
        documents.
        """
        if not self.condenses:
            return counts
        counting = Counting(None, encode(self._best_candidates(counts)))
        return condense(counting, self.all_measures)

    def _best_candidates(self, total: pl.DataFrame) -> pl.DataFrame:
        """The annotations with one candidate each."""
        if self.options.alternatives:
            total = COUNTING[self.profile].select(total, self.options.alternatives)
        best = total.filter(pl.col("rank") == 1)
        return with_identifiers(best, total) if self.links else best

    @property
    def _weights(self) -> PairWeights | None:
        """The weights of pairs of values that need not be equal; None where all have to be."""
        types = self.options.type_weights
        return self.links or (TypeWeights(types) if types else None)

    def _counter(self, total: pl.DataFrame) -> Counting:
        """The annotations as what is counted."""
        known = self._kept.get(id(total))
        if known and known[1]:
            return known[1]
        counting = COUNTING[self.profile]
        whole = counting.encode(self._best_candidates(total))
        return counting(self._weights, whole)

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The figures by name, the table `scorings`, and by group the table `groups`."""
        results, _ = self._results(total)
        averaged = pl.col("group").is_in(AVERAGES)
        rows = results.filter((pl.col("by") == "") | averaged)
        metrics = {
            f"{row['measure']}.{name}": row[name]
            for row in rows.iter_rows(named=True)
            for name in FIGURES
        }
        tables = {"scorings": scorings(rows)}
        if self.options.by:
            single = ~averaged.fill_null(value=False)
            groups = results.filter(single, "asked", by=self.options.by)
            tables["groups"] = groups.drop("asked", "fractional")
        return metrics, tables

    def _results(self, total: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
        """The figures of all measures over annotations (`RESULTS`) and notes, computed once."""
        if id(total) not in self._kept:
            # the annotations are kept as well, so that no others can take their id; and no others
            # than the last, or every replicate would stay in memory
            self._kept.clear()
            options, condensed = self.options, is_condensed(total)
            counter = None if condensed else self._counter(total)
            source: Results = counter or CondensedResults(None, total)
            results = source.results(self.all_measures, options.measure, options.by)
            # of a part, whose documents are counted next, they stay as they are counted, too
            counted = None if self.ranked else counter
            self._kept[id(total)] = (total, counted, results, tuple(source.notes()))
        return self._kept[id(total)][2:]

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Caveats for a reader of the numbers."""
        notes = self._results(total)[1]
        if self.links:
            return (*notes, *self.links.notes(self._best_candidates(total), total))
        return notes

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The public scorer's table and JSON; none in the profile `plan`."""
        asked = self._results(total)[0].filter(pl.col("by") == self.options.by, "asked")
        return FILES[self.profile](asked.to_dicts())

    def error_analysis(
        self, aligned: pl.DataFrame, total: pl.DataFrame
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """The tables `errors` (by document and type), `confusion` and `clusters`, and a listing."""
        whole = encode(self._best_candidates(total))
        rows = whole.rows.select("system", item="span", cluster="eid", group=pl.lit(0, pl.Int64))
        clusters = errors.clusters(rows, whole.names["eid"])
        types = count_labels(aligned, ("reference_type", "system_type"))
        tables = {"errors": errors.by_document(aligned), "confusion": types, "clusters": clusters}
        return tables, {"errors.txt": errors.listing(aligned, clusters)}

    def decompose(self, names: Iterable[str] | None = None) -> tuple[LinkMatch, ...]:
        """The measures whose counts add, and all others.

        Args:
            names: of values, such as `muc.fscore`; all values if not given.

        Raises:
            WrongMeasure: for an unknown name.
        """
        if names is None and self.options.by:  # averages over groups are among its values
            adding = (f"{m.name}.fscore" for m in self.all_measures if m.additive)
            return (self, *self.decompose(adding))
        wanted = self.all_measures if names is None else tuple(map(measure_of, names))
        parts = [tuple(m for m in wanted if m.additive == additive) for additive in (True, False)]
        return tuple(
            replace(self, options=replace(self.options, measure=part, by=""), ranked=False)
            for part in parts
            if part
        )

    @property
    def additive(self) -> bool:
        """Whether the counts of all measures add."""
        return not self.options.by and all(measure.additive for measure in self.all_measures)

    def no_interval(self, name: str) -> str:
        """Numbers of pairs grow with the square of the documents, and have none."""
        notation, _, figure = name.rpartition(".")
        pairs = figure in COUNTS and parse(notation.partition(";")[0]).aggregate in PAIRWISE
        return "numbers of pairs vary too unevenly" if pairs else ""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The figures of each replicate: by weighted sums over documents where counts add.

        Where they do not, the replicates are groups of one table; but not where what is selected
        from the reference depends on all of the system, nor where there are groups already.
        """
        if self.additive:
            return self.values_of(weigh(weights, self._document_sums(counts, documents)))
        grouped = self.options.by or any(measure.by for measure in self.all_measures)
        if grouped or self.options.alternatives:
            return super().replicates(counts, documents, weights)
        return self._selections(counts, documents, weights)

    def document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums | None:
        """The counts of each measure by document, where they add.

        What is selected of several candidates depends on all that a system has.
        """
        added = self.additive and not self.options.alternatives
        return self._document_sums(counts, documents) if added else None

    def _document_sums(self, counts: pl.DataFrame, documents: Sequence[str]) -> Sums:
        counting = self._counter(self.total([counts]))
        each = {
            measure.name: counting.documents(measure).select(*COUNTS, document="group")
            for measure in self.all_measures
        }
        return {name: columns_of(own, COUNTS, documents) for name, own in each.items()}

    def values_of(self, sums: Sums) -> Replicates:
        """The figures of sums of these counts."""
        found: Replicates = {}
        for measure, matrix in sums.items():
            counts = pl.DataFrame(matrix, schema=dict.fromkeys(COUNTS, pl.Float64))
            values = COUNTING[self.profile].with_rates(counts).fill_null(float("nan"))
            found |= {f"{measure}.{name}": values[name].to_numpy() for name in FIGURES}
        return found

    def _selections(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The figures of replicates, of as many at a time as memory allows."""
        counting = self._counter(self.total([counts]))
        names = pl.Series("docid", documents, dtype=pl.String)
        mean = max(1.0, counting.whole.rows.height * float(weights.mean() if weights.size else 0))
        size = max(1, int(_ROWS / mean))
        blocks = []
        for begin in range(0, len(weights), size):
            block = weights[begin : begin + size]
            group, document = np.nonzero(block)
            copies = pl.int_ranges(0, pl.col("copy")).alias("copy")
            times = block[group, document]
            members = pl.DataFrame({"group": group, "docid": names.gather(document), "copy": times})
            members = members.with_columns(copies).explode("copy")
            selections = counting.selections(members, len(block))
            replicates: Replicates = {}
            for measure in sorted(self.all_measures, key=lambda measure: measure.contents):
                values = selections.figures(measure).fill_null(float("nan"))
                replicates |= {
                    f"{measure.name}.{name}": values[name].to_numpy() for name in FIGURES
                }
            blocks.append(replicates)
        return join_blocks(iter(blocks)) if blocks else {}
