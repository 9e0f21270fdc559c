"""Speech Situation Frames: three layers of precision and recall, swept over the confidences.

Frames are projected to a layer (Relevance: the segment; Type: segment and type; Type+Place: those
and the place), duplicates are merged, and what is left is paired one to one so that the summed
similarity is greatest. The sum of similarities is the number of true positives.

Conventions:
    Similarities are integers in units of 1/`UNIT`, so that sums are exact and depend on no order.
    Statistics are what each frame adds at its layer when it comes below all more confident ones of
    its segment: sums over segments give the counts at any threshold, and similarities and pairings
    are worked out once, whatever the number of cuts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from unicodedata import normalize

import polars as pl

from hlteval.findings.counts import fill
from hlteval.representation import Corpus, align
from hlteval.scoring.curves import LAST, Curve, curve
from hlteval.scoring.metric import Metric, scorings
from hlteval.scoring.ratios import rates
from hlteval.scoring.similarity import UNIT, similarities
from hlteval.scoring.situations.situations import (
    ALIGNMENT,
    COUNTS,
    FIGURES,
    LAYERS,
    aligned,
    ambiguous_segments,
    by_confidence,
    candidate_places,
    changed_rows,
    contested,
    equal,
    left_out,
    projected,
    reference_rows,
    simple,
    situations,
    submitted_rows,
    with_names,
)

# Near misses: places that an option or a dictionary would make equal.


#: A row per two names: how alike they are, how many frames have them, how many true positives equal
#: names would add at most (`gain`), and what would make them equal.
NEAR_MISSES: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "system_place": pl.String,
    "reference_place": pl.String,
    "similarity": pl.Float64,
    "frames": pl.Int64,
    "gain": pl.Float64,
    "fix": pl.String,
}

#: Least similarity of two names that a dictionary may be meant to join.
_LEAST = 0.5


def near_misses(aligned: pl.DataFrame) -> pl.DataFrame:
    """The places of the system that are nearly those of the reference, the largest gain first.

    These are paired frames whose places are similar but not equal, and the only frame missed and
    the only false positive of a type in a segment. The first two columns are a line of
    `--place-dictionary`.

    Args:
        aligned: the table `alignment`.

    Returns:
        A table with the columns `NEAR_MISSES`.
    """
    localized = aligned.filter(pl.col("layer") == "Type+Place")
    paired = localized.filter(pl.col("outcome") == "matched", pl.col("similarity") < 1)
    places = ["system_place", "reference_place"]
    key = ["document", "type"]
    sides = (("missed", "reference_place"), ("false positive", "system_place"))
    missed, wrong = (
        localized.filter(pl.col("outcome") == outcome, pl.len().over(*key, "outcome") == 1).select(
            *key, place
        )
        for outcome, place in sides
    )
    alone = wrong.join(missed, on=key).with_columns(similarity=pl.lit(0.0))
    both = pl.concat([part.select(*places, "similarity") for part in (paired, alone)])
    rows = both.group_by(places).agg(
        similarity=pl.col("similarity").max(),
        frames=pl.len().cast(pl.Int64),
        gain=(1 - pl.col("similarity")).sum(),
    )
    fixes = [_fix(*names) for names in rows.select(*places, "similarity").iter_rows()]
    found = rows.with_columns(fix=pl.Series(fixes, dtype=pl.String)).drop_nulls("fix")
    ordered = found.sort("gain", *places, descending=[True, False, False])
    return ordered.select(pl.col(name).cast(dtype) for name, dtype in NEAR_MISSES.items())


def _fix(system: str, reference: str, similarity: float) -> str | None:
    """What would make two names equal; None if they are too different.

    Examples:
        >>> _fix("Osh\u0301", "Os\u0068\u0301", 1.0), _fix("OSH", "Osh", 0.3), _fix("x", "y", 0.0)
        ('--normalize NFC', 'capitals: --place-dictionary', None)
    """
    for form in ("NFC", "NFKC"):
        if normalize(form, system) == normalize(form, reference):
            return f"--normalize {form}"
    if " ".join(system.split()) == " ".join(reference.split()):
        return "spaces: --place-dictionary"
    if system.casefold() == reference.casefold():
        return "capitals: --place-dictionary"
    return "--place-dictionary" if similarity >= _LEAST else None


# The names of places that are compared: normalized, and looked up in a dictionary.


def compared_places(
    frames: pl.DataFrame,
    normalize: Literal["", "NFC", "NFD", "NFKC", "NFKD"],
    dictionary: Mapping[str, str],
    *,
    official: bool,
) -> pl.DataFrame:
    """Frames with the names of their places that are compared.

    Args:
        frames: with the column `place`.
        normalize: a Unicode normalization form; empty for none.
        dictionary: names by written forms. The official script looks places up without spaces
            around them and in lower case, and compares the names in lower case.
        official: whether to do as the script; else keys and values are taken as they are, and a
            place of white space is none.

    Examples:
        >>> frames = pl.DataFrame({"place": ["OSH", " "]})
        >>> compared_places(frames, "", {"Osh": "Ош"}, official=True)["place"].to_list()
        ['ош', ' ']
        >>> compared_places(frames, "", {"Osh": "Ош"}, official=False)["place"].to_list()
        ['OSH', None]
    """
    place = pl.col("place")
    if not official:
        place = pl.when(place.str.strip_chars() != "").then(place)
    if normalize:
        place = place.str.normalize(normalize)
    frames = frames.with_columns(place=place)
    if not dictionary:
        return frames
    known = _found(frames, dictionary) if official else dict(dictionary)
    return frames.with_columns(pl.col("place").replace(known))


def crashing(frames: pl.DataFrame, dictionary: Mapping[str, str]) -> pl.DataFrame:
    """The frames at whose places the official script crashes: in its dictionary but for spaces."""
    known = [place for place in _found(frames, dictionary) if place.strip() != place]
    return frames.filter(pl.col("place").is_in(known))


def _found(frames: pl.DataFrame, dictionary: Mapping[str, str]) -> dict[str, str]:
    """The names of the places that the script finds in a dictionary."""
    names = {key.strip().lower(): name.strip().lower() for key, name in dictionary.items()}
    places = frames["place"].drop_nulls().unique()
    keys = {place: place.strip().lower() for place in places}
    return {place: names[key] for place, key in keys.items() if key in names}


# Counts at one threshold: precision, recall and F1 of a layer, by type and by segment.


_THRESHOLDS_MEASURES = {
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "True Positives": "tp",
    "False Positives": "fp",
    "False Negatives": "fn",
}


def counts_at(
    total: pl.DataFrame, threshold: float, layers: Iterable[str], keys: Sequence[str] = ()
) -> pl.DataFrame:
    """Counts, precision, recall and F1 of the frames with at least some confidence.

    Args:
        total: the statistics of all segments.
        threshold: the least confidence of a frame that counts.
        layers: the names of the layers that apply.
        keys: `label` and `document`, where each type or segment has a row of its own.

    Returns:
        A row for each layer and key: the keys, `tp`, `fp`, `fn`, `precision`, `recall` and `f1`.
        What is undefined is null.
    """
    taken = total.filter(
        pl.col("layer").is_in(list(layers)),
        pl.col("confidence").is_null() | (pl.col("confidence") >= threshold),
    )
    sums = taken.group_by("layer", *keys).agg(pl.col("matched", "frames", "references").sum())
    tp = pl.col("matched") / UNIT
    rows = sums.with_columns(
        tp=tp,
        fp=pl.col("frames") - tp,
        fn=pl.col("references") - tp,
        **rates(tp, pl.col("frames"), pl.col("references"))._asdict(),
    )
    order = pl.col("layer").replace_strict({name: at for at, name in enumerate(LAYERS)})
    rows = rows.sort(order, *keys).with_columns(pl.col("layer").replace(dict(LAYERS)))
    return rows.select("layer", *keys, "tp", "fp", "fn", "precision", "recall", "f1")


def rows_at(
    total: pl.DataFrame, threshold: float, layers: Sequence[str]
) -> Iterator[Mapping[str, object]]:
    """The rows of the table `scorings` at a threshold: of each layer, and of its types."""
    evaluation = f"Confidence ≥ {threshold:g}"
    for keys, some in (([], layers), (["label"], [name for name in layers if "type" in name])):
        for row in counts_at(total, threshold, some, keys).iter_rows(named=True):
            scoring = row["layer"] + (f": {row['label']}" if keys else "")
            for measure, column in _THRESHOLDS_MEASURES.items():
                yield {
                    "evaluation": evaluation,
                    "scoring": scoring,
                    "measure": measure,
                    "value": row[column],
                }


def tables_at(
    total: pl.DataFrame, threshold: float, layers: Sequence[str]
) -> dict[str, pl.DataFrame]:
    """The tables `by_type` and `by_segment` at a threshold."""
    typed = [name for name in layers if "type" in name]
    by_type = counts_at(total, threshold, typed, ["label"])
    by_segment = counts_at(total, threshold, layers, ["document"])
    return {
        "by_type": by_type.rename({"label": "type"}),
        "by_segment": by_segment.rename({"document": "segment"}),
    }


#: A row per layer and cut: how many frames it takes, the least confidence of them, and counts.
CURVE: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "layer": pl.String,
    "cut": pl.Int64,
    "threshold": pl.Float64,
    "tp": pl.Float64,
    "fp": pl.Float64,
    "fn": pl.Float64,
    "precision": pl.Float64,
    "recall": pl.Float64,
}

_KEYS = {
    "relevance": ("document",),
    "type": ("document", "label"),
    "type+place": ("document", "label", "place"),
}
_MEASURES = {
    "AUC": "auc",
    "AUC anchored": "auc_anchored",
    "AUC unanchored": "auc_unanchored",
    "Max F1": "max_f1",
}


@dataclass(frozen=True)
class Options:
    """How places are compared.

    Attributes:
        place_match: `soft`, or `exact` where only equal names match.
        normalize: a Unicode normal form that both sides are brought to, or empty.
        place_dictionary: names of places by the names that are written for them, for both sides.
        threshold: a confidence at which precision, recall and F1 are also reported.
    """

    place_match: Literal["soft", "exact"] = "soft"
    normalize: Literal["", "NFC", "NFD", "NFKC", "NFKD"] = ""
    place_dictionary: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None


@dataclass(frozen=True)
class FrameMatch(Metric):
    """How frames are compared in a profile.

    The profile `official` follows the script of the specification's authors: cuts by rank, no
    anchor, only the last of several places of one type, places before an ambiguous block still
    counted, empty places taken as places.

    Attributes:
        options: how places are compared.
    """

    options: Options = field(default_factory=Options)

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """What the frames of a batch of segments add to each layer, and how they are paired.

        Args:
            reference: the annotated frames.
            system: the system's, for the same segments and possibly others.
            alignment: whether the alignment is wanted.

        Returns:
            Statistics, as `COUNTS`; and the alignment, as `ALIGNMENT`, or None.

        Examples:
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "kind": "situation"}
            >>> frame |= {"label": "Shelter", "confidence": 0.5}
            >>> corpus = Corpus(documents=[{"row": 0, "name": "d1"}], frames=[frame])
            >>> counts, _ = FrameMatch().statistics(corpus, corpus)
            >>> counts.filter(layer="type", frames=1)["matched"].len() == 1
            True
        """
        reference, system = align(reference, system)
        annotated = by_confidence(self._reference(reference))
        submitted = by_confidence(self._system(system, reference))
        ambiguous = ambiguous_segments(reference)
        counts, pairs = [submitted_rows(submitted)], []
        if self.official and self.options.place_dictionary:
            stops = crashing(situations(system), self.options.place_dictionary)
            counts.append(submitted_rows(stops).with_columns(layer=pl.lit(_CRASH)))
        for layer, keys in _KEYS.items():
            both = (annotated, self._evaluated(submitted, layer))
            left, right = (projected(frames, keys) for frames in both)
            if layer == "type+place" and not self.official:
                pairs += [left_out(layer, item, ambiguous) for item in (left, right)]
                left, right = (
                    item.join(ambiguous, on="document", how="anti") for item in (left, right)
                )
            if layer == "type+place":
                changes, paired = self._localized(left, right)
            else:
                changes, paired = equal(left, right, keys)
            counts += [changed_rows(layer, changes), reference_rows(layer, left)]
            if alignment:
                pairs.append(aligned(layer, left, right, paired))
        names = pl.concat([reference.documents, system.documents]).select("row", "name").unique()
        named = with_names(pl.concat(counts), names, COUNTS)
        return named, with_names(pl.concat(pairs), names, ALIGNMENT) if alignment else None

    def _reference(self, corpus: Corpus) -> pl.DataFrame:
        """The annotated frames, with the places that count."""
        frames = self._named(situations(corpus))
        if not self.official:
            return frames
        block = ["document", "origin"]
        several = pl.col("label").n_unique().over(*block, "record") > 1
        last = pl.col("row") == pl.col("row").max().over(*block, "record")
        frames = frames.filter(several | last)
        firsts = candidate_places(corpus).group_by(block).agg(ambiguous=pl.col("record").min())
        frames = frames.join(firsts, on=block, how="left", maintain_order="left")
        dropped = (pl.col("record") >= pl.col("ambiguous")).fill_null(False)
        return frames.with_columns(place=pl.when(~dropped).then("place")).drop("ambiguous")

    def _system(self, corpus: Corpus, reference: Corpus) -> pl.DataFrame:
        """The submitted frames, with the places that count."""
        frames = situations(corpus).with_columns(pl.col("confidence").fill_null(1.0))
        frames = self._named(frames)
        if not self.official:
            return frames
        unknown = pl.col("document").is_in(ambiguous_segments(reference)["document"].implode())
        return frames.with_columns(place=pl.when(~unknown).then("place"))

    def _named(self, frames: pl.DataFrame) -> pl.DataFrame:
        options = self.options
        return compared_places(
            frames, options.normalize, options.place_dictionary, official=self.official
        )

    def _evaluated(self, submitted: pl.DataFrame, layer: str) -> pl.DataFrame:
        """The frames that are evaluated at a layer.

        The script leaves out Type and Type+Place if all types are `in-domain`.
        """
        some = layer == "relevance" or not self.official or (submitted["label"] != _ANY).any()
        return submitted if some else submitted.clear()

    def _localized(
        self, left: pl.DataFrame, right: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """What each localized frame adds, and the pairs when all are there."""
        group = ["document", "label"]
        ours = left.select(*group, "place", reference=pl.int_range(pl.len(), dtype=pl.Int64))
        theirs = right.with_row_index("system").with_columns(pl.col("system").cast(pl.Int64))
        both = theirs.join(ours, on=group, suffix="_reference", maintain_order="left")
        both = both.with_columns(
            weight=similarities(
                both["place_reference"], both["place"], exact=self.options.place_match == "exact"
            )
        ).filter(pl.col("weight") > 0)
        both = both.with_columns(
            references=pl.col("reference").n_unique().over(group),
            systems=pl.col("system").n_unique().over(group),
        )
        gains, pairs = zip(simple(both), contested(both), strict=True)
        gain = pl.concat(gains).group_by("system").agg(pl.col("matched").sum())
        changes = theirs.join(gain, on="system", how="left").with_columns(
            pl.col("matched").fill_null(0)
        )
        return changes, pl.concat(pairs)

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The statistics of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, pl.DataFrame]]:
        """The metrics of all layers, and the tables `scorings` and `curve`."""
        curves = self.curves(total)
        metrics: dict[str, float | None] = {}
        measured: list[Mapping[str, object]] = []
        for layer, points in curves.items():
            figures = self.figures(points)
            metrics |= {f"{layer}.{name}": figures[name] for name in FIGURES}
            shown = {name: figures[key] for name, key in _MEASURES.items()}
            shown |= points.last() if points else dict.fromkeys(LAST)
            measured += [
                {"evaluation": "Curves", "scoring": LAYERS[layer], "measure": name, "value": value}
                for name, value in shown.items()
            ]
        rows = [
            {"layer": LAYERS[layer], **row}
            for layer, points in curves.items()
            if points
            for row in points.rows()
        ]
        threshold = self.options.threshold
        applying = [layer for layer, points in curves.items() if points]
        if threshold is not None:
            measured += rows_at(total, threshold, applying)
        tables = {"scorings": scorings(measured), "curve": pl.DataFrame(rows, schema=dict(CURVE))}
        if threshold is not None:
            tables |= tables_at(total, threshold, applying)
        return metrics, tables

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
        """The table `near_misses`: places that an option or a dictionary would make equal."""
        return {"near_misses": near_misses(aligned)}, {}

    def curves(self, total: pl.DataFrame) -> dict[str, Curve | None]:
        """The curve of each layer; None where a layer does not apply.

        A layer applies if the submission has frames of it (section 2.1). All layers of the
        reference apply to a submission without any frames; in the official script, only Relevance.
        """
        if self._crashes(total):
            return dict.fromkeys(LAYERS)
        submitted = total.filter(pl.col("layer") == "submitted")
        some = pl.lit(submitted.is_empty() and not self.official)
        framed = total.filter(some | pl.col("confidence").is_not_null())
        applying = {"relevance", *framed["layer"].unique()}
        return {
            layer: curve(submitted, total.filter(pl.col("layer") == layer), by_rank=self.official)
            if layer in applying
            else None
            for layer in LAYERS
        }

    def _crashes(self, total: pl.DataFrame) -> bool:
        """Whether the script crashes before it scores anything."""
        return (total["layer"] == _CRASH).any()

    def figures(self, points: Curve | None) -> dict[str, float | None]:
        """The metrics of one layer; all null where it does not apply."""
        if points is None:
            return dict.fromkeys(FIGURES)
        anchored, unanchored = points.area(anchored=True), points.area(anchored=False)
        best = points.best_f1()
        if self.official and not points.beyond_zero:  # the script prints a zero for no point at all
            unanchored, best = 0.0, 0.0
        own = unanchored if self.official else anchored
        return dict(zip(FIGURES, (own, anchored, unanchored, best), strict=True))

    def fewest_documents(self, name: str) -> int:
        """Areas of relevance, near 1 and with few frames, need more segments than others."""
        return _MANY if name.startswith("relevance.auc") else 0

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """What a reader of the numbers must know."""
        if self._crashes(total):
            return (_CRASHES,)
        lines = []
        curves = self.curves(total)
        for layer, points in curves.items():
            name = LAYERS[layer]
            if points is None:
                lines.append(f"{name} does not apply: the submission has no frames of this layer")
            elif not points.references:
                lines.append(f"{name}: the reference has no frames, so recall is undefined")
            elif len(points.beyond_zero) == 1:
                lines.append(
                    f"{name}: a curve with a single point has no area{_STOPS * self.official}"
                )
            elif not points.beyond_zero and not self.official:
                lines.append(f"{name}: no point of the curve has recall above 0")
            elif not points.beyond_zero:
                lines.append(f"{name}: no point of the curve has recall above 0; {_ZERO}")
        split = next((curve.split_ties for curve in curves.values() if curve), 0)
        if self.official and split:
            cuts = fill("{count} {count|cut separates|cuts separate}", {"count": split})
            lines.append(
                f"{cuts} frames of equal confidence by file order; "
                "profile plan does not depend on this order"
            )
        return tuple(lines)

    def official_files(self, total: pl.DataFrame) -> dict[str, str]:
        """The files that the script of the authors writes; none in the profile `plan`."""
        if not self.official:
            return {}
        files: dict[str, str] = {}
        if self._crashes(total):
            return files
        summary = "Layer\tAUC\n"
        for layer, points in self.curves(total).items():
            if points is None:
                continue
            area = self.figures(points)["auc"]
            if area is None:  # the script stops at this layer, and writes no summary
                return files
            lines = (f"{recall:.8f}\t{precision:.8f}\n" for recall, precision in points.beyond_zero)
            files[f"log_{LAYERS[layer]}.tsv"] = "".join(["recall\tprecision\n", *lines])
            summary += f"{LAYERS[layer]}\t{area:.8f}\n"
        return {"summary.tsv": summary, **files}


#: Segments that intervals of areas of relevance need; docs/intervals.md has their coverage.
_MANY = 50
_STOPS = "; the official script crashes"
_ZERO = "the official script prints an area of 0"
#: The layer of frames at which the script crashes.
_CRASH = "crash"
_CRASHES = (
    "no official score: the official script crashes on a PlaceMention with spaces around it that "
    "--place-dictionary has without them"
)
#: A type of the script's first version, which a system may still give.
_ANY = "in-domain"
