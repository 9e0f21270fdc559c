"""The scores of situation frames by section 16.3 of the plan, each computed when it is asked for.

A metric is named by its family and by what it is of: `ndcg.standard`, `map.type,place`. The public
scorer's differences are in `official`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import polars as pl

from hlteval.findings.counts import count_of, fill
from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.ratios import ratio
from hlteval.scoring.resampling import replicate_sums
from hlteval.scoring.similarity import resolve_places, with_entries
from hlteval.scoring.situations.lorehlt import frames as sf
from hlteval.scoring.situations.lorehlt.frame_rows import (
    FRAME,
    MENTION,
    MENTIONS,
    SENTIMENT,
    is_nil,
    is_scored,
    side,
    with_nil_resolved,
)
from hlteval.scoring.situations.lorehlt.ranking import (
    TIE_BREAKS,
    Discount,
    Gains,
    Ranking,
    RankingOptions,
    ndcg_by_group,
    situations,
)

#: The N of precision at N among the metrics; the table `precision_at` has every N.
NUMBERS = (1, 2, 3, 5, 10, 20, 50, 100)
RATES = ("precision", "recall", "f1")
FRAMES = tuple(f"frame_{rate}" for rate in RATES)
SENTIMENTS = tuple(f"sec_{rate}" for rate in RATES)
_POOLED = tuple(
    f"{measure}:{name}"
    for name in ("type,place", sf.STATUS)
    for measure in ("polarity", "sentiment", "emotion")
)

#: The gravity of each nDCG, and the sides that it is of (section 16.3).
RANKINGS = {
    "ndcg": ("boolean", "single"),
    "ndcg_sec": ("numeric", "single"),
    "ndcg_text": ("boolean", "text"),
    "ndcg_sec_text": ("numeric", "text"),
    "ndcg_combined": ("boolean", "combined"),
}
#: The columns of `averages` whose means over all situations are metrics.
AVERAGES = {"map": "average_precision", "mar": "recall"}
#: The families of metrics, in order, with the endings of their names.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(RANKINGS, TIE_BREAKS),
    "precision_at": (*map(str, NUMBERS), "high", "medium"),
    **dict.fromkeys(AVERAGES, sf.SITUATION_CLASSES),
    "auc": (*sf.CLASSES, sf.GRAVE),
    **dict.fromkeys(("frame_f1", *FRAMES[:2]), tuple(sf.CLASSES)),
    **dict.fromkeys(("sec_f1", *SENTIMENTS[:2]), (*sf.SENTIMENT_CLASSES, *_POOLED)),
}
#: The notes about frames that are not scored, about annotators, and about NIL identifiers.
_UNSCORED = (
    "{frames:,} {frames|frame|frames} of {documents:,} {documents|document|documents} "
    "{frames|was|were} not scored"
)
_EMPTY = "; list documents that were annotated and are empty with --scored"
_UNLISTED = ": --scored does not list {documents|it|them}"
_CROPPED = (
    "only the {most:,} most confident frames of the submission are scored; {others:,} are left out"
)
_SEVERAL = (
    "{count:,} {count|document has|documents have} several annotators; one of each is {how}: see "
    "the table annotators"
)
_UNRESOLVED = (
    "{names} of the submission {count|was|were} compared by name; {by} {flags|resolves|resolve} "
    "{count|it|them}"
)
#: The columns of frames that are compared, beside the annotator or the confidence.
_COMPARED = ("docid", "frame", "modality", "issue", "current", *sf.CLASSES[sf.FINEST])
_TAIL = 0.025
DRAWS = {"draw": pl.Int64, "metric": pl.String, "value": pl.Float64}


class Sides(NamedTuple):
    """The frames of both sides, with the places of the system as the reference has them."""

    reference: pl.DataFrame
    system: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Scores:
    """Both sides of a submission, and the values that are computed of them, each once.

    Attributes:
        rows: as `frame_rows.total` gives them.
        options: what was chosen.
    """

    rows: pl.DataFrame
    options: RankingOptions

    #: The families whose counts add over documents, so that they are resampled as sums: frames of
    #: documents and sentiments of frames are right by themselves. Situations run through documents.
    additive: ClassVar[tuple[str, ...]] = (*FRAMES, *SENTIMENTS)
    #: The families that one annotator of each document decides; the others have all annotators.
    of_draw: ClassVar[tuple[str, ...]] = (
        *("ndcg", "ndcg_sec", "ndcg_text", "ndcg_sec_text", "precision_at"),
        *SENTIMENTS,
    )
    #: The seed of the draw, the gravity of frames and the parts that it is counted in, and the
    #: ranking of situations, with its gains and discount, if no others are chosen.
    default_seed: ClassVar[int] = 0
    gravity: ClassVar[Mapping[str, Sequence[float]]] = sf.GRAVITY
    parts: ClassVar[int] = sf.PARTS
    rank: ClassVar[type[Ranking]] = Ranking
    gains: ClassVar[Gains] = Gains()
    discount: ClassVar[Discount] = "method1"
    #: Whether sentiments count in speech, of which none are annotated.
    speech_is_felt: ClassVar[bool] = False
    #: Whether there is nothing to rank or to compare but sentiments.
    is_stopped: ClassVar[bool] = False

    @classmethod
    def prepare(cls, rows: pl.DataFrame, options: RankingOptions) -> pl.DataFrame:  # noqa: ARG003
        """The rows of all batches with what must be decided before any of them is left out."""
        return rows

    @staticmethod
    def scored_documents(annotated: Iterable[str], options: RankingOptions) -> pl.Expr:
        """Whether the documents of rows are scored, with those that the reference has."""
        return is_scored(annotated, options)

    # The frames and sentiments of both sides (section 16.1).

    @cached_property
    def scored_rows(self) -> pl.DataFrame:
        """The rows of documents that are scored."""
        return self.rows if self.rows["scored"].all() else self.rows.filter("scored")

    @cached_property
    def speech(self) -> pl.Expr:
        """Whether the document of a row is speech."""
        speech = self.scored_rows.filter(~pl.col("system"), pl.col("modality") == "speech")
        return pl.col("docid").is_in(speech["docid"].unique().implode())

    @cached_property
    def annotation(self) -> pl.DataFrame:
        """All frames of the reference, as they were annotated."""
        frames = sf.with_flags(with_entries(side(self.scored_rows, FRAME, system=False)))
        return frames.select(*_COMPARED, "annotator")

    @cached_property
    def reference(self) -> pl.DataFrame:
        """The frames of the reference, of all annotators."""
        return self.without_nil(self.annotation)

    @property
    def submission(self) -> pl.DataFrame:
        """The frames of the system as it gives them, not more than are allowed."""
        frames = side(self.scored_rows, FRAME, system=True).with_columns(
            pl.col("confidence").fill_null(1.0),
            modality=pl.when(self.speech).then(pl.lit("speech")).otherwise("modality"),
        )
        most = self.options.max_frames
        if most is not None and frames.height > most:
            order = pl.col("confidence").rank("ordinal", descending=True)
            frames = frames.filter(order <= most)
        return frames

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system, as many as are scored."""
        frames = sf.with_flags(with_entries(self.submission)).select(*_COMPARED, "confidence")
        frames = self.without_nil(frames)
        if self.mentions is None:
            return frames
        return with_nil_resolved(frames, "place", *self.mentions)

    def without_nil(self, frames: pl.DataFrame) -> pl.DataFrame:
        """The frames, without NIL places if these are left out; those without a place stay."""
        nil = pl.col("place").str.to_lowercase().str.contains("nil", literal=True)
        return frames.filter(~nil.fill_null(value=False)) if self.options.no_nil else frames

    @cached_property
    def sentiments(self) -> Sides:
        """The sentiments of both sides."""
        kept = pl.lit(value=True) if self.speech_is_felt else ~self.speech
        sides = (side(self.scored_rows, SENTIMENT, system=system) for system in (False, True))
        return Sides(*(rows.filter(kept) for rows in sides))

    @cached_property
    def mentions(self) -> tuple[pl.DataFrame, pl.DataFrame] | None:
        """The mentions of system and reference, if there are such of both."""
        own, gold = self.system_mentions, self.options.reference_edl
        return None if gold is None or own.is_empty() else (own, gold)

    @cached_property
    def system_mentions(self) -> pl.DataFrame:
        """The mentions of the system: those of NIL entities, and one row per document with any."""
        if self.options.system_edl is not None:
            return self.options.system_edl
        return side(self.rows, MENTION, system=True).select(*MENTIONS)

    # One annotation or all (sections 16.2 and 16.2.1).

    @property
    def seed(self) -> int:
        """The seed of the draw."""
        seed = self.options.annotator_seed
        return self.default_seed if seed is None else seed

    @cached_property
    def several(self) -> int:
        """The number of documents with several annotators."""
        names = self.annotation.group_by("docid").agg(pl.col("annotator").drop_nulls().n_unique())
        return names.filter(pl.col("annotator") > 1).height

    @cached_property
    def choice(self) -> pl.DataFrame:
        """The annotator of each document that is drawn or given."""
        return sf.choose_annotators(self.annotation, self.options.annotators, self.seed)

    @cached_property
    def single_annotation(self) -> pl.DataFrame:
        """The frames of the annotators that are drawn, and those without one, as in speech."""
        frames = self.reference
        keys = frames.select("annotator", "docid", "issue")
        joined = keys.join(self.choice, on=["docid", "issue"], how="left", maintain_order="left")
        own = (joined["annotator"] == joined["chosen"]).fill_null(value=True)
        return frames if own.all() else frames.filter(own)

    def against(self, reference: pl.DataFrame, system: pl.DataFrame | None = None) -> Sides:
        """The system, or some frames of it, compared with some frames of the reference."""
        system = self.system if system is None else system
        placed = resolve_places(system, reference, ["docid", "type"])
        return Sides(*(frames.cast({sf.WORDS: pl.Categorical}) for frames in (reference, placed)))

    @cached_property
    def single(self) -> Sides:
        """Both sides, with one annotation of each document."""
        return self.against(self.single_annotation)

    @cached_property
    def combined(self) -> Sides:
        """Both sides, with all annotations."""
        return self.against(self.reference) if self.several else self.single

    @cached_property
    def text(self) -> Sides:
        """Both sides, with one annotation of each document, of text only."""
        text = pl.col("modality").fill_null("text") != "speech"
        if all(frames.select(text.all()).item() for frames in self.single):
            return self.single
        return Sides(*(frames.filter(text) for frames in self.single))

    def redraw(self, seed: int) -> Self:
        """The scores with other annotators, where none are given."""
        other = replace(self, options=replace(self.options, annotator_seed=seed))
        for name in ("reference", "system", "mentions", "annotation", "sentiments"):
            other.__dict__[name] = getattr(self, name)  # does not depend on the draw
        return other

    # Situations: nDCG and precision at N (sections 16.2.1, 16.2.3 and 16.2.5).

    @cached_property
    def _rankings(self) -> dict[tuple[str, str], Ranking]:
        return {}

    def ranking(self, kind: str, of: str = "single") -> Ranking:
        """The situations of both sides, ranked by a kind of gravity.

        Args:
            kind: `boolean` or `numeric`.
            of: `single` for one annotation of each document, `combined` for all, `text` for that of
                text only.
        """
        both: Sides = getattr(self, of)
        of = "single" if both is self.single else of
        if (kind, of) not in self._rankings:
            reference, system = (
                situations(frames, self.parts) for frames in self.graded_frames(kind, both)
            )
            gains, discount = self.options.gain_table(self.gains), self.options.dcg
            ranking = self.rank.of(reference, system, gains, discount or self.discount)
            self._rankings[kind, of] = ranking
        return self._rankings[kind, of]

    def graded_frames(self, kind: str, both: Sides) -> Sides:
        """The frames of which situations consist, with a kind of gravity."""
        sentiments = self.grave_sentiments(both) if kind == "numeric" else (None, None)
        sides = zip(self.unique_frames(both), sentiments, strict=True)
        return Sides(*(sf.with_gravity(frames, self.gravity, felt) for frames, felt in sides))

    def grouped_ndcg(self, families: Sequence[str], members: pl.DataFrame, size: int) -> Replicates:
        """The nDCG of groups of documents, as if each group were all there is.

        Nothing before situations depends on more than a document, but for what `is_divisible`
        excludes, so that groups differ in the situations only.

        Args:
            families: of `RANKINGS`.
            members: `group`, the number of a group, and `docid`, a document that it has.
            size: how many groups there are.
        """
        found: Replicates = {}
        members = members.cast({"docid": pl.Categorical})
        for family in families:
            kind, of = RANKINGS[family]
            reference, system = (
                situations(
                    frames.join(members, on="docid", maintain_order="left"), self.parts, "group"
                )
                for frames in self.graded_frames(kind, getattr(self, of))
            )
            gains, discount = self.options.gain_table(self.gains), self.options.dcg or self.discount
            values = ndcg_by_group(reference, system, gains, discount, size)
            found |= {f"{family}.{ties}": values[ties] for ties in TIE_BREAKS}
        return found

    @property
    def is_divisible(self) -> bool:
        """Whether what is compared of a document depends on nothing else.

        What is cropped, and whether names of NIL entities are resolved, depends on all documents.
        """
        return self.options.max_frames is None and self.options.reference_edl is None

    def above_cutoff(self, both: Sides) -> Sides:
        """The frames of the system that its cut-off keeps (section 16.1: above this threshold)."""
        if self.options.cutoff is None:
            return both
        above = pl.col("confidence") > self.options.cutoff
        return both._replace(system=both.system.filter(above))

    def unique_frames(self, both: Sides) -> Sides:
        """The frames of which situations consist: no frame twice, for each annotator."""
        fields, (reference, system) = sf.key(sf.FINEST), self.above_cutoff(both)
        graded = (*fields, "frame", "issue", "current")
        once = reference.select(*graded, "annotator")
        once = once.unique([*fields, "annotator"], keep="first", maintain_order=True)
        falling = system.select(*graded, "confidence")
        falling = falling.sort("confidence", descending=True, maintain_order=True)
        return Sides(once, falling.unique(fields, keep="first", maintain_order=True))

    def grave_sentiments(self, both: Sides) -> Sides:
        """The sentiments whose emotions make frames graver.

        Of a system, those of the same source and polarity as one of the reference about the same
        target (section 16.2.1).
        """
        reference, system = self.comparable_sentiments(self.above_cutoff(both))
        fields = [*sf.TARGET, *sf.SENTIMENT_CLASSES["polarity"]]
        return Sides(reference, system.join(reference, on=fields, how="semi"))

    @property
    def main_ranking(self) -> Ranking:
        """The ranking by the gravity that precision at N, tables and official files show."""
        return self.ranking(self.options.gravity)

    @property
    def ranks(self) -> int:
        """The greatest N for which there is a precision."""
        return self.main_ranking.reference.height

    # Frames and sentiments (sections 16.2.4, 16.2.6 and 16.2.7).

    @cached_property
    def matches(self) -> Mapping[str, sf.FrameMatches]:
        """The frames that are right, by class, in all annotations."""
        return {
            name: sf.FrameMatches(sf.compare(*self.combined, name), self.options.cutoff)
            for name in (*sf.CLASSES, sf.GRAVE)
        }

    @cached_property
    def averages(self) -> dict[str, pl.DataFrame]:
        """Average precision and recall of each situation, by class."""
        return {name: self.matches[name].averages() for name in sf.SITUATION_CLASSES}

    def comparable_sentiments(self, both: Sides) -> Sides:
        """The sentiments about frames, with the sources of the reference for NIL and ambiguous."""
        reference, system = self.sentiments
        if self.mentions is not None:
            system = with_nil_resolved(system, "source", *self.mentions)
        reference, system = map(sf.about_frames, (reference, system), both)
        gold, own = (table.select("docid", "type", place="source") for table in (reference, system))
        sources = resolve_places(own, gold, ["docid", "type"])["place"]
        sides = reference, system.with_columns(source=sources)
        return Sides(*(rows.cast({"source": pl.Categorical}) for rows in sides))

    @cached_property
    def targets(self) -> dict[str, pl.DataFrame]:
        """The sentiments of each target that are right, by class."""
        both = self.comparable_sentiments(self.above_cutoff(self.single))
        return {name: sf.match_sentiments(*both, name) for name in sf.SENTIMENT_CLASSES}

    @cached_property
    def sentiment_rates(self) -> Mapping[str, Mapping[str, float | None]]:
        """The rates of sentiments: the means over all frames that have them ("Frame Average")."""
        return {
            name: counts.select(pl.col(RATES).mean()).row(0, named=True)
            for name, counts in self.targets.items()
        }

    # All values.

    def values(self, family: str) -> Iterator[tuple[str, float | None]]:
        """The values of a family by the endings of their names."""
        for ending in FAMILIES[family]:
            yield ending, self.value(family, ending)

    def value(self, family: str, ending: str) -> float | None:
        """The value of a metric, by section 16.3 of the plan; None where undefined."""
        if family in RANKINGS:
            return self.ranking(*RANKINGS[family]).last(ending)  # type: ignore[arg-type]
        if family == "precision_at":
            ranking = self.main_ranking
            number = int(ending) if ending.isdecimal() else getattr(ranking, ending)
            return float(ranking.precisions[number - 1]) if 0 < number <= self.ranks else None
        if family in AVERAGES:
            return sf.mean(self.averages[ending][AVERAGES[family]])
        if family == "auc":
            return self.matches[ending].area() if ending in self.matches else None
        kind, _, rate = family.partition("_")
        rates = self.matches[ending].rates if kind == "frame" else self.sentiment_rates.get(ending)
        return rates[rate] if rates else None

    def replicates(
        self, families: Sequence[str], documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values of some additive families in each replicate, from weighted sums of counts.

        Args:
            families: of the metrics.
            documents: the names of the columns of `weights`.
            weights: a row per replicate, a column per document.
        """
        values: Replicates = {}
        for name in sf.CLASSES if {*FRAMES} & {*families} else ():
            matches = self.matches[name]
            counts = matches.counts().rename({"docid": "document"})
            counts = counts.cast({"document": pl.String, **dict.fromkeys(sf.COUNTS, pl.Int64)})
            sums = replicate_sums(counts, sf.COUNTS, documents, weights)
            rates = matches.rates_of(*(sums[column] for column in sf.COUNTS))
            values |= {f"frame_{rate}.{name}": own for rate, own in rates._asdict().items()}
        for name, counts in self.targets.items() if {*SENTIMENTS} & {*families} else ():
            # floats are added as of sorted texts
            document = pl.col("docid").cast(pl.String).set_sorted()
            added = counts.group_by(document=document).agg(
                *(pl.col(rate).sum().alias(f"{rate}_sum") for rate in RATES),
                *(pl.col(rate).count().cast(pl.Float64).alias(f"{rate}_frames") for rate in RATES),
            )
            totals = replicate_sums(added, added.columns[1:], documents, weights)
            for rate in RATES:
                share = ratio(totals[f"{rate}_sum"], totals[f"{rate}_frames"])
                values[f"sec_{rate}.{name}"] = share
        return {name: own for name, own in values.items() if name.partition(".")[0] in families}

    def draws(self) -> pl.DataFrame:
        """The values of other draws of annotators (`DRAWS`; section 16.2.1, last paragraph)."""
        rows = []
        for number in range(1, self.options.draws + 1):
            other = self.redraw(self.seed + number)
            rows += [
                (number, f"{family}.{ending}", value)
                for family in self.of_draw
                if not (self.options.no_sec and family.startswith(("ndcg_sec", "sec_")))
                for ending, value in other.values(family)
            ]
        return pl.DataFrame(rows, schema=DRAWS, orient="row").fill_nan(None)

    def notes(self) -> Iterator[str]:
        """Sentences about the values, in order."""
        yield from self.notes_of_frames()
        tables = {"source": self.sentiments.system, "place": self.system}
        if self.options.no_sec:
            del tables["source"]
        nil = {name: table.filter(is_nil(name))[name] for name, table in tables.items()}
        numbers = {name: identifiers.n_unique() for name, identifiers in nil.items()}
        count = sum(numbers.values())
        if self.mentions is None and count:
            names = (count_of(number, f"NIL {name}") for name, number in numbers.items() if number)
            edl = {"system": self.system_mentions, "reference": self.options.reference_edl}
            lacking = (side for side, table in edl.items() if table is None or table.is_empty())
            flags = [f"--{side}-edl" for side in lacking]
            values = {"count": count, "flags": len(flags), "by": " and ".join(flags)}
            yield fill(_UNRESOLVED, {"names": " and ".join(names), **values})

    def notes_of_frames(self) -> Iterator[str]:
        """The frames that are not scored, how they would be, and the annotators that are drawn."""
        options, most = self.options, self.options.max_frames
        rows = self.rows.lazy().filter(~pl.col("scored"), "system", pl.col("part") == FRAME)
        unscored = rows.select("docid").collect()  # without a copy of all rows
        if unscored.height:
            counts = {"frames": unscored.height, "documents": unscored["docid"].n_unique()}
            yield fill(_UNSCORED + (_EMPTY if options.scored is None else _UNLISTED), counts)
        submitted = 0 if most is None else side(self.scored_rows, FRAME, system=True).height
        if most is not None and submitted > most:
            yield fill(_CROPPED, {"most": most, "others": submitted - most})
        if self.several:
            how = f"drawn with seed {self.seed}" if options.annotators is None else "given"
            yield fill(_SEVERAL, {"count": self.several, "how": how})

    def files(self) -> dict[str, str]:
        """The files that the software of a profile writes."""
        return {}


def distribution(table: pl.DataFrame) -> pl.DataFrame:
    """The sf.mean, the standard deviation, and the middle 95 % of the draws, by metric.

    Examples:
        >>> table = pl.DataFrame([(1, "m", 0.0), (2, "m", 1.0)], schema=DRAWS, orient="row")
        >>> distribution(table).select("metric", "mean").row(0)
        ('m', 0.5)
    """
    value = pl.col("value")
    return table.group_by("metric", maintain_order=True).agg(
        draws=value.count().cast(pl.Int64),
        mean=value.mean(),
        deviation=value.std(),
        low=value.quantile(_TAIL, "linear"),
        high=value.quantile(1 - _TAIL, "linear"),
    )
