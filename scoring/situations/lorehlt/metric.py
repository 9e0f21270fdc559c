"""LoReHLT 2019 situation frames: nDCG, its variant with sentiments, and all diagnostic metrics.

Section 16.3 of the plan, step by step: situations by gravity (nDCG, precision at N), frames within
situations (mean average precision, macro-averaged recall), frames of documents (curves, F1), and
sentiments. The statistics are the frames themselves, since situations run through all documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import polars as pl

from hlteval.findings import Finding
from hlteval.findings.counts import count_of
from hlteval.representation import Corpus
from hlteval.scoring.metric import IntervalMethod, Metric, Replicates, Tables, Weights
from hlteval.scoring.situations.lorehlt import official_files, tables
from hlteval.scoring.situations.lorehlt.frame_rows import (
    MENTION,
    conformed,
    frame_rows,
    is_nil,
    is_scored,
    total,
    unknown_annotators,
    unknown_documents,
)
from hlteval.scoring.situations.lorehlt.frame_scores import (
    FAMILIES,
    ScoredFrames,
    additive_families,
    replicates,
)
from hlteval.scoring.situations.lorehlt.frame_sides import Annotations
from hlteval.scoring.situations.lorehlt.official_sides import (
    OfficialAnnotations,
    is_listed,
    with_annotators,
)
from hlteval.scoring.situations.lorehlt.ranking import RankingOptions

# What a reader of the scores of situation frames must know.


#: What is missing where the public scorer stops, by the fields of `Stops`.
_MISSING = {
    "reading": "no official score",
    "ranking": "no official scores but those of sentiments",
    "numeric": "no official ndcg_sec",
    "sentiments": "no official scores of sentiments",
}


def notes(scored: ScoredFrames) -> Iterator[str]:
    """The notes, in order."""
    annotations = scored.annotations
    yield from _stops(scored)
    yield from _unscored(annotations)
    if annotations.cropped:
        most = annotations.options.max_frames
        yield (
            f"only the {most:,} most confident frames of the submission are scored; "
            f"{annotations.cropped:,} are left out"
        )
    if annotations.several:
        yield _drawn(scored)
    if not scored.official and annotations.mentions is None:
        yield from _by_name(annotations)
    if scored.official and not scored.stopped:
        yield from _ties(scored)


def _unscored(annotations: Annotations) -> Iterator[str]:
    """The frames that are not scored, and how they would be."""
    frames = annotations.unscored_frames
    if frames.is_empty():
        return
    documents = frames["docid"].n_unique()
    were = "was" if frames.height == 1 else "were"
    note = (
        f"{count_of(frames.height, 'frame')} of {count_of(documents, 'document')} {were} not scored"
    )
    if annotations.options.scored is None:
        yield f"{note}; list documents that were annotated and are empty with --scored"
    else:
        yield f"{note}: --scored does not list {'it' if documents == 1 else 'them'}"


def _stops(scored: ScoredFrames) -> Iterator[str]:
    """Where the public scorer stops, and which scores are missing."""
    for name, reason in scored.stops._asdict().items():
        skipped = name in {"numeric", "sentiments"} and scored.annotations.options.no_sec
        if reason and not skipped:
            yield f"{_MISSING[name]}: the public scorer stops with an error, because {reason}"
        if name == "reading" and reason:
            return


def _drawn(scored: ScoredFrames) -> str:
    annotations = scored.annotations
    given = annotations.options.annotators is not None
    how = "given" if given else f"drawn with seed {annotations.seed}"
    number = annotations.several
    several = "1 document has" if number == 1 else f"{number:,} documents have"
    return f"{several} several annotators; one of each is {how}: see the table annotators"


def _by_name(annotations: Annotations) -> Iterator[str]:
    """The NIL identifiers of the system that nothing resolves, and what would resolve them."""
    options = annotations.options
    tables = {"source": annotations.drawn.system_felt, "place": annotations.system}
    if options.no_sec:
        del tables["source"]
    numbers = {
        column: table.filter(is_nil(column))[column].n_unique() for column, table in tables.items()
    }
    named = [count_of(number, f"NIL {column}") for column, number in numbers.items() if number]
    if named:
        lacking = {
            "--system-edl": annotations.system_mentions,
            "--reference-edl": options.reference_edl,
        }
        flags = [flag for flag, table in lacking.items() if table is None or table.is_empty()]
        were = "was" if sum(numbers.values()) == 1 else "were"
        resolve = "resolves" if len(flags) == 1 else "resolve"
        yield (
            f"{' and '.join(named)} of the submission {were} compared by name; "
            f"{' and '.join(flags)} {resolve} {'it' if were == 'was' else 'them'}"
        )


def _ties(scored: ScoredFrames) -> Iterator[str]:
    ties = scored.shown.system.filter(pl.len().over("gravity") > 1)
    if scored.shown.system.height > _STABLE and ties["gain"].n_unique() > 1:
        yield (
            f"{ties.height:,} situations share their gravity with others: the order of the public "
            "scorer, and with it ndcg.standard, is that of NumPy 1.17, and another one with newer "
            "versions; vindictive and forgiving do not depend on it"
        )


#: The public scorer's sort is stable up to this number of situations.
_STABLE = 16


Values = dict[str, float | None]


@dataclass(frozen=True)
class SituationRanking(Metric):
    """How situation frames are scored in a profile.

    Attributes:
        options: what was chosen.
        families: the metrics that are computed, by the first part of their names; all if empty.
    """

    document_column: ClassVar[str] = "docid"

    options: RankingOptions = field(default_factory=RankingOptions)
    families: tuple[str, ...] = ()
    _kept: dict[int, tuple[pl.DataFrame, ScoredFrames]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def statistics(
        self,
        reference: Corpus,
        system: Corpus,
        *,
        alignment: bool = True,  # noqa: ARG002
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """The frames and sentiments of a batch of documents.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
            >>> frame |= {"label": "food", "place_kb": "17", "urgent": "true", "confidence": 0.5}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}], frames=[frame])
            >>> metric = SituationRanking()
            >>> rows, _ = metric.statistics(corpus, corpus)
            >>> metric.score(metric.total([rows]))[0]["ndcg.standard"]
            1.0
        """
        sides = ((reference, False), (system, True))
        rows = pl.concat([frame_rows(corpus, system=side) for corpus, side in sides])
        return rows.with_columns(scored=self._is_scored(reference)), None

    def _is_scored(self, reference: Corpus) -> pl.Expr:
        """Whether the documents of rows are scored, beside their reference."""
        if self.official:
            return is_listed(self.options.scored)
        return is_scored(
            "docid",
            annotated=reference.documents["name"],
            scored=self.options.scored,
            processed=self.options.documents,
        )

    def documents(self, counts: pl.DataFrame) -> list[str]:
        """The names of the documents that are scored, sorted."""
        return super().documents(counts.filter("scored", pl.col("part") != MENTION))

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The rows of all batches; in `official` with the annotators that are drawn, once."""
        rows = total(counts)
        if not self.official or not rows["chosen"].is_null().all():
            return rows
        seed = self._annotations(rows).seed
        return with_annotators(rows, self.options.annotators, seed)

    def _annotations(self, rows: pl.DataFrame) -> Annotations:
        return (OfficialAnnotations if self.official else Annotations)(rows, self.options)

    def judge(self, counts: Sequence[pl.DataFrame]) -> Sequence[Finding]:
        """Return what names the options give that the reference does not have."""
        rows = pl.concat([conformed(pl.DataFrame()), *counts]).filter(~pl.col("system"))
        return [*unknown_annotators(self.options, rows), *unknown_documents(self.options, rows)]

    def score(self, total: pl.DataFrame) -> tuple[Values, Tables]:
        """All values, and the tables that show why they are what they are."""
        scored = self.scored(total)
        values = dict(self._values(scored))
        if self.families:
            return values, {"scorings": tables.scorings(values)}
        return values, tables.tables(values, scored)

    def _values(self, scored: ScoredFrames) -> Iterator[tuple[str, float | None]]:
        for name, family in FAMILIES.items():
            if self._has(name):
                for ending, value in family(scored):
                    yield f"{name}.{ending}", _plain(value)

    def _has(self, family: str) -> bool:
        if self.options.no_sec and family.startswith(("ndcg_sec", "sec_")):
            return False
        return not self.families or family in self.families

    def scored(self, total: pl.DataFrame) -> ScoredFrames:
        """Both sides, and what was computed of them; kept for the latest rows."""
        if id(total) not in self._kept:
            self._kept.clear()
            self._kept[id(total)] = (total, ScoredFrames(self._annotations(total)))
        return self._kept[id(total)][1]

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the values must know."""
        return tuple(notes(self.scored(total)))

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files of the public scorer; none in the profile `plan`."""
        return official_files.written(self.scored(total)) if self.official else {}

    @property
    def additive(self) -> bool:
        """Whether all families are computed from counts that add."""
        families = additive_families(official=self.official)
        return bool(self.families) and {*self.families} <= {*families}

    @property
    def interval_method(self) -> IntervalMethod:
        """The jackknife, also where counts add: few documents have most frames of a situation."""
        return "jackknife"

    def no_interval(self, name: str) -> str:
        """The top of a list changes too much without some documents to say anything."""
        return _TOP if name.startswith("precision_at.") else ""

    def replicates(
        self, counts: pl.DataFrame, documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of each replicate: by weighted sums over documents where counts add."""
        rows = self.total([counts])
        if not self.additive:
            return super().replicates(rows, documents, weights)
        scored = self.scored(rows)
        return replicates(scored, self.families, documents, weights)

    def decompose(self, names: Iterable[str] | None = None) -> tuple[SituationRanking, ...]:
        """The metrics that give the named values: those whose counts add, and all others.

        Raises:
            ValueError: for an unknown name.
        """
        families = tuple(FAMILIES) if names is None else tuple(map(_family, names))
        wanted = [family for family in dict.fromkeys(families) if self._has(family)]
        adding = {*additive_families(official=self.official)}
        parts = [[f for f in wanted if (f in adding) is adds] for adds in (True, False)]
        return tuple(replace(self, families=tuple(part)) for part in parts if part)


_TOP = "the top of the list varies too much"


def _family(name: str) -> str:
    family = name.partition(".")[0]
    if family not in FAMILIES:
        raise ValueError(f"unknown metric {name}; the first part is one of {', '.join(FAMILIES)}")
    return family


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
