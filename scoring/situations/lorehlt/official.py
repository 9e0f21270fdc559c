"""The scores of LoReHLT 2019 as the public scorer has them, and the files that it writes.

The files have its names and its spelling. Where it stops with an error, all that would follow is
missing: it reads the reference and the submission, counts sentiments (unless they are switched
off), ranks situations, averages over them, and compares frames.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import polars as pl

from hlteval.scoring.metric import Replicates, Weights
from hlteval.scoring.situations.lorehlt import frames as sf
from hlteval.scoring.situations.lorehlt import official_frames as scorer
from hlteval.scoring.situations.lorehlt.frame_rows import (
    ANNOTATED,
    FRAME,
    ISSUES,
    SENTIMENT,
    is_nil,
    side,
)
from hlteval.scoring.situations.lorehlt.plan import FRAMES, RATES, Scores, Sides
from hlteval.scoring.situations.lorehlt.ranking import (
    TIE_BREAKS,
    Discount,
    Gains,
    Ranking,
    RankingOptions,
)

#: What is missing where the scorer stops, by its steps.
_MISSING = {
    "reading": "no official score",
    "ranking": "no official scores but those of sentiments",
    "numeric": "no official ndcg_sec",
    "sentiments": "no official scores of sentiments",
}
_NO_LIST = "the SEC of a frame of the submission is not a list of objects"
_LACKS = {
    "rows": "a table of needs or issues has no rows",
    "user_id": "a table of needs or issues has no column user_id",
}
_UNPLACED = "the reference has no frame with a knowledge base entry in a scored document"
_NO_TEXT = "without NIL, a frame of the reference has no entry, or a number that is no text"
#: Its sort is stable up to this number of situations.
_STABLE = 16
#: What the files call a field of classes otherwise, and the class that they misspell.
_WORDS = {"urgent": "Urgency"}
_MISSPELT = {"TypePlaceStatusUrgency": "TypeTypePlaceStatusUrgency"}
#: The number of fields from which the name of the file of a class begins with an underscore.
_MANY = 4


@dataclass(frozen=True, eq=False)
class OfficialScores(Scores):
    """The values of the public scorer, and the files that it writes."""

    #: Where it stops depends on all documents.
    is_divisible: ClassVar[bool] = False
    #: Sentiments are pooled.
    additive: ClassVar[tuple[str, ...]] = FRAMES
    #: All frames are compared with one annotation.
    of_draw: ClassVar[tuple[str, ...]] = (*Scores.of_draw, "map", "mar", "auc", *FRAMES)
    default_seed: ClassVar[int] = 1
    #: In floats: .2 is added once and again.
    gravity: ClassVar[Mapping[str, Sequence[float]]] = {
        "need": (1.0, 1.2, 1.0 + 0.2 + 0.2),
        "issue": (0.0, 1.0, 1.2),
    }
    parts: ClassVar[int] = 1
    rank: ClassVar[type[Ranking]] = scorer.OfficialRanking
    gains: ClassVar[Gains] = scorer.OFFICIAL_GAINS
    discount: ClassVar[Discount] = "method0"
    speech_is_felt: ClassVar[bool] = True

    # The frames and sentiments of both sides.

    @classmethod
    def prepare(cls, rows: pl.DataFrame, options: RankingOptions) -> pl.DataFrame:
        """The rows of all batches with the annotators that are drawn, once."""
        if not rows["chosen"].is_null().all():
            return rows
        return scorer.with_annotators(rows, options.annotators, cls(rows, options).seed)

    @staticmethod
    def scored_documents(annotated: Iterable[str], options: RankingOptions) -> pl.Expr:  # noqa: ARG004
        """Whether the documents of rows are scored."""
        return scorer.is_listed(options.scored)

    @cached_property
    def annotation(self) -> pl.DataFrame:
        """All frames of the reference, as they were annotated."""
        return side(self.scored_rows, FRAME, system=False)

    @cached_property
    def reference(self) -> pl.DataFrame:
        """All frames of the reference, of all annotators."""
        return self.without_nil(scorer.read_reference(self.annotation))

    @cached_property
    def of_any_confidence(self) -> pl.DataFrame:
        """The frames of the system of any confidence, which the curves are about."""
        return self.without_nil(scorer.with_flags(self.submission))

    @cached_property
    def system(self) -> pl.DataFrame:
        """The frames of the system above the threshold.

        There is one only with a list of scored documents, and 0 is none.
        """
        threshold = self.options.cutoff
        if self.options.scored is None or not threshold:
            return self.of_any_confidence
        return self.of_any_confidence.filter(pl.col("confidence") > threshold)

    @cached_property
    def choice(self) -> pl.DataFrame:
        """The annotator of each document that is drawn or given."""
        issue = pl.col("type").is_in(ISSUES)
        text = self.annotation.filter(pl.col("modality").fill_null("text") != "speech")
        return text.select("docid", "chosen", issue=issue).unique(maintain_order=True)

    @cached_property
    def single_annotation(self) -> pl.DataFrame:
        """The frames of the reference, of one annotator."""
        return scorer.of_chosen(self.reference)

    def against(self, reference: pl.DataFrame, system: pl.DataFrame | None = None) -> Sides:
        """The system, with the places that the public scorer takes its own for."""
        system = self.system if system is None else system
        return Sides(reference, scorer.with_first_places(system, reference))

    def redraw(self, seed: int) -> Self:
        """The scores with other annotators, where none are given."""
        options = replace(self.options, annotator_seed=seed)
        rows = scorer.with_annotators(self.rows, options.annotators, seed)
        return replace(self, options=options, rows=rows)

    # Situations, frames and sentiments.

    def unique_frames(self, both: Sides) -> Sides:
        """The frames of which situations consist: equal ones all count."""
        return both

    def grave_sentiments(self, both: Sides) -> Sides:
        """The sentiments whose emotions make frames graver: all of the system."""
        return Sides(self.comparable_sentiments(both).reference, self.sentiments.system)

    def comparable_sentiments(self, both: Sides) -> Sides:
        """The sentiments of both sides as the public scorer joins them with frames."""
        places = None if self.mentions is None else scorer.nil_places(*self.mentions)
        reference, system = self.sentiments
        return Sides(
            scorer.reference_sentiments(reference, both.reference),
            scorer.system_sentiments(system, both.system, places),
        )

    @property
    def ranks(self) -> int:
        """It goes no further than the situations of high gravity."""
        return self.main_ranking.high

    @cached_property
    def averages(self) -> dict[str, pl.DataFrame]:
        """Average precision and recall of each situation, by class."""
        return {name: scorer.official_averages(*self.single, name) for name in sf.SITUATION_CLASSES}

    @cached_property
    def matches(self) -> Mapping[str, sf.FrameMatches]:
        """The frames that are right, by class, in the annotation that is drawn."""
        both = self.against(self.single_annotation, self.of_any_confidence)
        matched, cutoff = scorer.OfficialMatches.of, self.options.cutoff
        return {name: matched(*both, name, cutoff) for name in sf.CLASSES}

    @cached_property
    def targets(self) -> dict[str, pl.DataFrame]:
        """Nothing: sentiments are not counted by target."""
        return {}

    @cached_property
    def pooled_sentiments(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """The rates of sentiments, by class of frames and then by measure."""
        both = self.comparable_sentiments(self.single)
        return {name: scorer.sentiment_rates(*both, name) for name in scorer.KEYS}

    @cached_property
    def sentiment_rates(self) -> Mapping[str, Mapping[str, float | None]]:
        """The rates of sentiments, by measure and class of frames."""
        return {
            f"{measure}:{name}": {**rates}
            for name, measures in self.pooled_sentiments.items()
            for measure, rates in measures.items()
        }

    def value(self, family: str, ending: str) -> float | None:
        """The value of a metric; None where the scorer stops before it computes it."""
        numeric = self.options.gravity == "numeric"
        if family.startswith("sec_"):
            lacks = "sentiments" in self.stops
        elif family.startswith("ndcg_sec") or (family == "precision_at" and numeric):
            lacks = self.is_stopped or "numeric" in self.stops
        else:
            lacks = self.is_stopped
        return None if lacks else super().value(family, ending)

    def replicates(
        self, families: Sequence[str], documents: Sequence[str], weights: Weights
    ) -> Replicates:
        """The values in each replicate; not-a-number where the scorer stops."""
        values = super().replicates(families, documents, weights)
        if self.is_stopped:
            return {name: np.full_like(own, np.nan) for name, own in values.items()}
        return values

    # Where the scorer stops.

    @property
    def is_stopped(self) -> bool:  # type: ignore[override]
        """Whether it stops before it ranks anything."""
        return "reading" in self.stops or "ranking" in self.stops

    @cached_property
    def stops(self) -> Mapping[str, str]:
        """Why it stops, by step: those of `_MISSING` whose numbers are missing.

        If it stops at the reference or the submission (`reading`), there is no number at all;
        without a `ranking`, there are only the numbers of sentiments; `numeric` are those with the
        gravity of sentiments.
        """
        if reading := next(self._reading_stops(), ""):
            return dict.fromkeys(("reading", "numeric", "sentiments"), reading)
        is_unplaced = self.single.reference["place"].is_null().all()
        reasons = {
            "ranking": _UNPLACED if is_unplaced else "",
            "numeric": next(self._numeric_stops(), ""),
            "sentiments": next(self._sentiment_stops(), ""),
        }
        return {step: reason for step, reason in reasons.items() if reason}

    def _reading_stops(self) -> Iterator[str]:
        """Reasons why it cannot read the tables of the annotation, whatever is scored, and both."""
        speech = pl.col("modality") == "speech"
        documents = self.rows.filter(pl.col("part") == ANNOTATED)
        frames = side(self.rows, FRAME, system=False)
        text = frames.filter(~speech.fill_null(value=False))
        if (documents["file"] == scorer.TABLES).any():
            lists = documents["nones"].cast(pl.String).str.split(",")
            lacking = lists.explode(empty_as_null=False, keep_nulls=False)
            yield from (reason for name, reason in _LACKS.items() if (lacking == name).any())
            if documents.filter(speech).height and frames.filter(speech).is_empty():
                yield "all speech of the reference is out of domain"
            if text.is_empty():
                yield "the reference has no table of needs or issues"
            if scorer.of_chosen(scorer.read_reference(text)).is_empty():
                yield "no need or issue of the reference has a place"
            if side(self.rows, SENTIMENT, system=False)["frame_id"].is_null().all():
                yield "no sentiment of the reference has a target"
        if side(self.rows, FRAME, system=True).is_empty():
            yield "the submission has no frames"
        if self.options.no_nil:
            places = scorer.of_chosen(scorer.read_reference(self.annotation))["place"]
            if (places.is_null() | places.str.starts_with("#")).any():
                yield _NO_TEXT
        places = self.single.reference["place"].drop_nulls()
        # it looks for ambiguous entries for each frame of the system
        if self.system.height and places.len() and places.str.starts_with("#").all():
            yield "all entries of the scored reference are numbers in tables of speech"

    def _numeric_stops(self) -> Iterator[str]:
        """Reasons why sentiments cannot make frames graver: all frames, whatever is scored."""
        if side(self.rows, FRAME, system=True)["nones"].is_not_null().any():
            yield _NO_LIST
        felt = side(self.rows, SENTIMENT, system=True)
        for emotion in ("fear", "anger"):
            if felt[emotion].is_null().any():
                yield f"a sentiment of the submission has no Emotion_{emotion.title()}"

    def _sentiment_stops(self) -> Iterator[str]:
        """Reasons why it cannot count sentiments."""
        known = ~is_nil("entity").fill_null(value=False)
        if self.mentions is not None and self.mentions[0].select(known.all()).item():
            yield "the EDL output of the submission has no NIL entity"
        reference, system = self.comparable_sentiments(self.single)
        if reference.is_empty():
            return
        felt = side(self.rows, SENTIMENT, system=False).select(pl.col(sf.EMOTIONS).any())
        if not any(felt.row(0)):
            yield "no sentiment of the reference has an emotion"
        if self.single.system["nones"].is_not_null().any():
            yield _NO_LIST
        # it looks at the emotions of right sentiments only
        right = self.pooled_sentiments["type,place"]["polarity"]["precision"] > 0
        for emotion in sf.EMOTIONS if right else ():
            if system[emotion].is_null().all():
                yield f"no sentiment of the submission has an Emotion_{emotion.title()}"

    # Its notes and files.

    def notes(self) -> Iterator[str]:
        """Sentences about where the scorer stops, what it scores, and its order."""
        for step, reason in self.stops.items():
            if step in {"reading", "ranking"} or not self.options.no_sec:
                yield f"{_MISSING[step]}: the public scorer stops with an error, because {reason}"
            if step == "reading":
                break
        yield from self.notes_of_frames()
        if self.is_stopped:
            return
        system = self.main_ranking.system
        ties = system.filter(pl.len().over("gravity") > 1)
        if system.height > _STABLE and ties["gain"].n_unique() > 1:
            yield (
                f"{ties.height:,} situations share their gravity with others: the order of the "
                "public scorer, and with it ndcg.standard, is that of NumPy 1.17, and another one "
                "with newer versions; vindictive and forgiving do not depend on it"
            )

    def files(self) -> dict[str, str]:
        """The files by name: those that the scorer writes before it stops.

        Numbers are written as Python shows them. Curves are in none; the scorer draws them.
        """
        files, stops = {}, {*self.stops}
        if "reading" in stops or (self.options.gravity == "numeric" and "numeric" in stops):
            return {}
        if not self.options.no_sec:
            if "sentiments" in stops:
                return {}
            titles = [f"{rate.title()}{name.title()}" for name in scorer.MEASURES for rate in RATES]
            lines = [["EqClass", *titles]]
            for name, measures in self.pooled_sentiments.items():
                rates = (str(rate) for own in measures.values() for rate in own.values())
                lines.append([f"EqClass_{_class_title(name)}", *rates])
            files["_diagnostic_SEC_scores.txt"] = "".join("\t".join(line) + "\n" for line in lines)
        if "ranking" in stops:
            return files
        head = f"Scores for Sysyem: {self.options.system_name}\n"
        for ties in TIE_BREAKS:
            rows = _ranks(self.main_ranking.ndcg(ties))
            files[f"{ties}_nDCG_Scores.txt"] = f"SF nDCG {head}k\tnDCG\n{rows}"
        diagnostics = f"SF Diagnostic {head}"
        for name, table in self.averages.items():
            begin = "GRAVE_" if name == sf.GRAVE else ""
            for ending, column in (("MAP", "average_precision"), ("MAR", "recall")):
                value = sf.mean(table[column])
                title = f"{begin}EqClass_{_class_title(name)}_{ending}"
                diagnostics += f"{title}: {'nan' if value is None else value}\n"
        rows = _ranks(self.main_ranking.precisions[: self.ranks])
        rows = rows or "NOTE: No high gravity situations were found\n"
        files["DiagnosticScores.txt"] = diagnostics
        files["precisionN.txt"] = f"SF Precision at N {head}{rows}"
        for name, fields in sf.CLASSES.items():
            title, values = _class_title(name, ""), self.matches[name].rates
            begin = "_" if len(fields) >= _MANY else ""
            files[f"{begin}F1_{title}.txt"] = (
                f"F1_{_MISSPELT.get(title, title)}:\t{values['f1']}\n"
                f"Precision_{title}:\t{values['precision']}\n"
                f"Recall_{title}:\t{values['recall']}\n"
            )
        return files


def _ranks(values: sf.Numbers) -> str:
    """The lines of values by rank."""
    return "".join(f"{rank}\t{value}\n" for rank, value in enumerate(values.tolist(), start=1))


def _class_title(name: str, joint: str = "+") -> str:
    """The title of an equivalence class in the files.

    Examples:
        >>> _class_title("type,place")
        'Type+Place'
    """
    words = name.removeprefix("grave:").split(",")
    return joint.join(_WORDS.get(word, word.title()) for word in words)
