"""Speech Situation Frames: three layers of precision and recall, swept over the confidences.

Specification v1.5, section 2. Frames are projected to a layer (Relevance: the segment; Type:
segment and type; Type+Place: those and the place), duplicates are merged, and what is left is
paired one to one so that the summed similarity is greatest. The sum of similarities is the number
of true positives.

Conventions:
    Similarities are integers in units of 1/`UNIT`, so that sums are exact and depend on no order.
    Statistics are what each frame adds at its layer when it comes below all more confident ones of
    its segment: sums over segments give the counts at any threshold, and similarities and pairings
    are worked out once, whatever the number of cuts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal
from unicodedata import normalize

import polars as pl

from hlteval.representation import Corpus, align, first_case
from hlteval.scoring.curves import LAST, Curve, curve
from hlteval.scoring.matching import Pair, gains, optimal
from hlteval.scoring.metric import Metric, Tables, scorings
from hlteval.scoring.ratios import rates
from hlteval.scoring.similarity import UNIT, similarities

Schema = Mapping[str, pl.DataType | type[pl.DataType]]

#: The layers by the names of their metrics, with the names of the specification.
LAYERS = {"relevance": "Relevance", "type": "Type", "type+place": "Type+Place"}

#: What each system frame adds to a layer (`matched` in units, and `frames` after merging); the
#: frames as they were submitted, as the layer `submitted`; and the `references` of a segment and
#: type.
COUNTS: Schema = {
    **dict.fromkeys(("document", "layer", "label"), pl.String),
    "confidence": pl.Float64,
    **dict.fromkeys(("record", "matched", "frames", "references"), pl.Int64),
}

#: A row per pair of merged frames, or frame without a partner, when all frames count; `outcome` is
#: `matched`, `missed`, `false positive`, or `left out` (of an ambiguous segment, at Type+Place).
ALIGNMENT: Schema = {
    **dict.fromkeys(("layer", "document", "type", "reference_place", "system_place"), pl.String),
    "confidence": pl.Float64,
    "record": pl.Int64,
    "similarity": pl.Float64,
    "outcome": pl.String,
}

#: A row per layer and cut: how many frames it takes, the least confidence of them, and counts.
CURVE: Schema = {
    "layer": pl.String,
    "cut": pl.Int64,
    **dict.fromkeys(("threshold", "tp", "fp", "fn", "precision", "recall"), pl.Float64),
}
#: The parts of the frames of each layer (section 2.1).
_KEYS = {
    "relevance": ("document",),
    "type": ("document", "label"),
    "type+place": ("document", "label", "place"),
}
#: The metrics of each layer by their names in tables; the first is one of the next two, as the
#: profile has it.
_AREAS = {
    "AUC": "auc",
    "AUC anchored": "auc_anchored",
    "AUC unanchored": "auc_unanchored",
    "Max F1": "max_f1",
}
_COUNTS = {"Precision": "precision", "Recall": "recall", "F1": "f1", **LAST}
#: Segments that intervals of areas of relevance need; docs/intervals.md has their coverage.
_MANY = 50
#: The layer of frames at which nothing can be scored.
CRASH = "crash"


# Frames on their way through scoring: projected, merged, paired, and reported.


def situations(corpus: Corpus) -> pl.DataFrame:
    """The situations of a corpus, with the columns that are compared."""
    columns = ("row", "document", "origin", "record", "label", "place", "confidence")
    return corpus.frames.filter(pl.col("kind") == "situation").select(columns)


def candidate_places(corpus: Corpus) -> pl.DataFrame:
    """The places that a frame of an ambiguous block may be at, each in a segment (section 4)."""
    return corpus.arguments.filter(pl.col("role") == "Place")


def project(frames: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Project frames to a layer: those with all its parts, the first of each kind (section 2)."""
    merged = frames.drop_nulls(keys).unique([*keys], keep="first", maintain_order=True)
    parts = (
        pl.col(name) if name in keys else pl.lit(None, pl.String).alias(name)
        for name in ("document", "label", "place")
    )
    return merged.select(*parts, "confidence", "record")


def match_frames(
    left: pl.DataFrame, right: pl.DataFrame, keys: Sequence[str], *, exact: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pair the frames of a layer so that the summed similarity is greatest (section 2.2).

    Frames of equal segments and types are similar as their places are, if the layer has places.

    Args:
        left: the frames of the reference, as from `project`.
        right: those of the system, the most confident first.
        keys: the parts of the layer.
        exact: whether only equal places are similar.

    Returns:
        What each frame of the system adds, as `matched`, and the pairs: `reference`, `system` and
        `weight`.
    """
    group = list(keys[:2])
    ours = left.select(*group, "place", reference=pl.int_range(pl.len(), dtype=pl.Int64))
    theirs = right.with_columns(system=pl.int_range(pl.len(), dtype=pl.Int64))
    both = theirs.join(ours, on=group, suffix="_reference", maintain_order="left")
    weights: pl.Series | pl.Expr = pl.lit(UNIT, pl.Int64)
    if "place" in keys:
        weights = similarities(both["place_reference"], both["place"], exact=exact)
    both = both.with_columns(weight=weights).filter(pl.col("weight") > 0)
    several = pl.col("reference", "system").n_unique().over(group) > 1
    both = both.with_columns(is_contested=pl.all_horizontal(several))
    # one frame on either side: the best similarity so far is what counts
    simple = both.filter(~pl.col("is_contested"))
    best = simple.group_by(*group, "system", maintain_order=True).agg(pl.col("weight").max())
    reached = best.sort("system").with_columns(best=pl.col("weight").cum_max().over(group))
    before = pl.col("best").shift(1, fill_value=0).over(group)
    added = [reached.select("system", matched=pl.col("best") - before)]
    falling = simple.sort("weight", descending=True, maintain_order=True)
    pair = ["reference", "system", "weight"]
    pairs = [falling.unique(group, keep="first", maintain_order=True).select(pair)]
    # several frames on both sides: an assignment grows with each frame
    groups: dict[object, list[Pair]] = {}
    contested = both.filter("is_contested").sort("system")
    for *name, reference, system, weight in contested.select(*group, *pair).iter_rows():
        groups.setdefault((*name,), []).append(Pair(reference, system, weight))
    gained = [gain for candidates in groups.values() for gain in gains(candidates)]
    chosen = [own for candidates in groups.values() for own in optimal(candidates)]
    added.append(pl.DataFrame(gained, added[0].schema, orient="row"))
    pairs.append(pl.DataFrame(chosen, pairs[0].schema, orient="row"))
    gain = pl.concat(added).group_by("system").agg(pl.col("matched").sum())
    changes = theirs.join(gain, on="system", how="left")
    return changes.with_columns(pl.col("matched").fill_null(0)), pl.concat(pairs)


def align_frames(
    layer: str, left: pl.DataFrame, right: pl.DataFrame, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Pairs, then the rest of the reference, then the rest of the system, by segment."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    ours = left.select("document", "label", reference=number, reference_place="place")
    theirs = right.rename({"place": "system_place"}).with_columns(system=number)
    matched = pairs.join(ours, on="reference").join(theirs.drop("document", "label"), on="system")
    outcomes = {
        "matched": matched,
        "missed": ours.join(pairs, on="reference", how="anti"),
        "false positive": theirs.join(pairs, on="system", how="anti"),
    }
    rows = [outcome_rows(part, layer, outcome) for outcome, part in outcomes.items()]
    both = pl.concat(rows, how="diagonal")
    return both.sort("document", "label", "record", nulls_last=True)


def outcome_rows(rows: pl.DataFrame, layer: str, outcome: str) -> pl.DataFrame:
    """Frames of one outcome, named as in the alignment."""
    return rows.with_columns(layer=pl.lit(LAYERS[layer]), outcome=pl.lit(outcome))


def with_names(rows: pl.DataFrame, names: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Rows with the names of their documents, with the columns of a table."""
    joined = rows.join(names, left_on="document", right_on="row", maintain_order="left")
    return joined.with_columns(document="name").select(list(schema))


def readable(rows: pl.DataFrame) -> pl.DataFrame:
    """The alignment as people read it: a match of similar places is a partial one.

    Examples:
        >>> rows = {"outcome": ["matched", "matched"], "similarity": [1.0, 0.8]}
        >>> readable(pl.DataFrame(rows))["outcome"].to_list()
        ['matched', 'partly matched']
    """
    partly = (pl.col("outcome") == "matched") & (pl.col("similarity") < 1)
    outcome = first_case((partly, "partly matched"), otherwise=pl.col("outcome"))
    return rows.with_columns(outcome=outcome)


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
    """How frames are compared.

    Attributes:
        options: how places are compared.
    """

    options: Options = field(default_factory=Options)

    #: Whether cuts are by rank, so that they divide frames of equal confidence.
    by_rank: ClassVar[bool] = False
    #: The sentences that end notes about the curve of a layer.
    one_point: ClassVar[str] = "a curve with a single point has no area"
    no_point: ClassVar[str] = "no point of the curve has recall above 0"

    def statistics(
        self, reference: Corpus, system: Corpus, *, alignment: bool = True
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Count what the frames of a batch of segments add to each layer, and pair them.

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
        annotated = _most_confident_first(self.reference_frames(reference))
        submitted = _most_confident_first(self.system_frames(system, reference))
        frame = ("document", "label", "confidence", "record")
        once = pl.lit(1, pl.Int64).alias("frames")
        counts = [submitted.select(*frame, once, layer=pl.lit("submitted"))]
        counts += [stops.select(*frame, layer=pl.lit(CRASH)) for stops in self.crashes_at(system)]
        exact, pairs = self.options.place_match == "exact", []
        for layer, keys in _KEYS.items():
            left = project(annotated, keys)
            right = project(self.frames_of_layer(submitted, layer), keys)
            if layer == "type+place":
                ambiguous = self.ambiguous(reference)
                for place, side in (("reference_place", left), ("system_place", right)):
                    skipped = side.join(ambiguous, on="document", how="semi", maintain_order="left")
                    pairs.append(outcome_rows(skipped.rename({"place": place}), layer, "left out"))
                left, right = (each.join(ambiguous, "document", "anti") for each in (left, right))
            changes, paired = match_frames(left, right, keys, exact=exact)
            annotations = left.group_by("document", "label", maintain_order=True)
            counts += [
                changes.select(*frame, once, "matched", layer=pl.lit(layer)),
                annotations.agg(references=pl.len().cast(pl.Int64), layer=pl.lit(layer)),
            ]
            if alignment:
                pairs.append(align_frames(layer, left, right, paired))
        names = pl.concat([reference.documents, system.documents]).select("row", "name").unique()
        zeros = pl.col("matched", "frames", "references").fill_null(0)
        named = with_names(pl.concat(counts, how="diagonal").with_columns(zeros), names, COUNTS)
        if not alignment:
            return named, None
        similarity = (pl.col("weight").fill_null(0) / UNIT).alias("similarity")
        rows = pl.concat(pairs, how="diagonal").with_columns(similarity, type="label")
        return named, with_names(rows, names, ALIGNMENT)

    def reference_frames(self, corpus: Corpus) -> pl.DataFrame:
        """The annotated frames, with the places that count."""
        return self.with_places(situations(corpus))

    def system_frames(self, corpus: Corpus, reference: Corpus) -> pl.DataFrame:  # noqa: ARG002
        """The submitted frames, with the places that count."""
        frames = situations(corpus)
        return self.with_places(frames.with_columns(pl.col("confidence").fill_null(1.0)))

    def with_places(self, frames: pl.DataFrame) -> pl.DataFrame:
        """Frames with the names of their places that are compared; white space is no place."""
        place = pl.col("place")
        frames = frames.with_columns(place=pl.when(place.str.strip_chars() != "").then(place))
        if self.options.normalize:
            frames = frames.with_columns(place.str.normalize(self.options.normalize))
        if self.options.place_dictionary:
            frames = frames.with_columns(place.replace(dict(self.options.place_dictionary)))
        return frames

    def frames_of_layer(self, submitted: pl.DataFrame, layer: str) -> pl.DataFrame:  # noqa: ARG002
        """The frames that are evaluated at a layer."""
        return submitted

    def ambiguous(self, reference: Corpus) -> pl.DataFrame:
        """The segments that are left out of Type+Place."""
        return candidate_places(reference).select("document").unique()

    def crashes_at(self, system: Corpus) -> Iterable[pl.DataFrame]:  # noqa: ARG002
        """The frames at which nothing can be scored."""
        return ()

    def total(self, counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """The statistics of several batches as one."""
        return pl.concat([pl.DataFrame(schema=dict(COUNTS)), *counts])

    def score(self, total: pl.DataFrame) -> tuple[dict[str, float | None], Tables]:
        """The metrics of all layers, and the tables `scorings` and `curve`."""
        curves = self.curves(total)
        values: dict[str, float | None] = {}
        measures: list[Mapping[str, object]] = []
        rows: list[Mapping[str, object]] = []
        for layer, points in curves.items():
            name, figures = LAYERS[layer], self.figures(points)
            values |= {f"{layer}.{figure}": value for figure, value in figures.items()}
            of_layer = {measure: figures[figure] for measure, figure in _AREAS.items()}
            of_layer |= points.last() if points else dict.fromkeys(LAST)
            measures += score_rows("Curves", name, of_layer)
            rows += [{"layer": name, **row} for row in points.rows()] if points else []
        tables = {"curve": pl.DataFrame(rows, schema=dict(CURVE))}
        if self.options.threshold is not None:
            layers = [layer for layer, points in curves.items() if points]
            measures += _add_threshold(tables, total, self.options.threshold, layers)
        return values, {"scorings": scorings(measures), **tables}

    def error_analysis(
        self,
        aligned: pl.DataFrame,
        total: pl.DataFrame,  # noqa: ARG002
    ) -> tuple[Tables, dict[str, str]]:
        """The table `near_misses`: places that an option or a dictionary would make equal."""
        return {"near_misses": near_misses(aligned)}, {}

    def curves(self, total: pl.DataFrame) -> dict[str, Curve | None]:
        """The curve of each layer; None where a layer does not apply.

        A layer applies if the submission has frames of it (section 2.1). All layers of the
        reference apply to a submission without any frames.
        """
        submitted, framed = total.filter(layer="submitted"), total.drop_nulls("confidence")
        if submitted.is_empty() and not self.by_rank:
            framed = total
        applying = {"relevance", *framed["layer"].unique()}
        return {
            layer: curve(submitted, total.filter(layer=layer), by_rank=self.by_rank)
            if layer in applying
            else None
            for layer in LAYERS
        }

    def figures(self, points: Curve | None) -> dict[str, float | None]:
        """The metrics of one layer; all null where it does not apply."""
        if points is None:
            return dict.fromkeys(_AREAS.values())
        anchored = points.area(anchored=True)
        values = (anchored, anchored, points.area(anchored=False), points.best_f1())
        return dict(zip(_AREAS.values(), values, strict=True))

    def fewest_documents(self, name: str) -> int:
        """Areas of relevance, near 1 and with few frames, need more segments than others."""
        return _MANY if name.startswith("relevance.auc") else 0

    def notes(self, total: pl.DataFrame) -> tuple[str, ...]:
        """Sentences about the numbers."""
        lines = []
        for layer, points in self.curves(total).items():
            name = LAYERS[layer]
            if points is None:
                lines.append(f"{name} does not apply: the submission has no frames of this layer")
            elif not points.references:
                lines.append(f"{name}: the reference has no frames, so recall is undefined")
            elif len(points.beyond_zero) == 1:
                lines.append(f"{name}: {self.one_point}")
            elif not points.beyond_zero:
                lines.append(f"{name}: {self.no_point}")
        return tuple(lines)


def _most_confident_first(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames by falling confidence, equal ones in the order of the file."""
    order, falling = ("confidence", "record"), [True, False]
    return frames.sort(order, descending=falling, nulls_last=True, maintain_order=True)


def score_rows(
    evaluation: str, scoring: str, values: Mapping[str, object]
) -> Iterator[Mapping[str, object]]:
    """Rows of the table `scorings`."""
    for measure, value in values.items():
        row = {"evaluation": evaluation, "scoring": scoring, "measure": measure}
        yield row | {"value": value}


def _add_threshold(
    tables: Tables, total: pl.DataFrame, threshold: float, layers: Sequence[str]
) -> Iterator[Mapping[str, object]]:
    """Add the tables `by_type` and `by_segment`: counts and rates at a threshold.

    Args:
        tables: the tables that are there.
        total: the statistics of all segments.
        threshold: the least confidence of a frame that counts.
        layers: the names of the layers that apply.

    Returns:
        The rows of the table `scorings`: of each layer, and of its types. What is undefined is
        null.
    """
    taken = total.filter(
        pl.col("layer").is_in(layers),
        pl.col("confidence").is_null() | (pl.col("confidence") >= threshold),
    )
    tp, frames, references = pl.col("matched") / UNIT, pl.col("frames"), pl.col("references")
    order = pl.col("layer").replace_strict({name: number for number, name in enumerate(LAYERS)})
    by_layer, by_type, by_segment = (
        taken.group_by("layer", *keys)
        .agg(pl.col("matched", "frames", "references").sum())
        .sort(order, *keys)
        .select(
            pl.col("layer").replace(LAYERS),
            *keys,
            tp=tp,
            fp=frames - tp,
            fn=references - tp,
            **rates(tp, frames, references)._asdict(),
        )
        for keys in ((), ("label",), ("document",))
    )
    by_type = by_type.filter(pl.col("layer") != LAYERS["relevance"])
    tables["by_type"] = by_type.rename({"label": "type"})
    tables["by_segment"] = by_segment.rename({"document": "segment"})
    for row in (*by_layer.iter_rows(named=True), *by_type.iter_rows(named=True)):
        scoring = f"{row['layer']}: {row['label']}" if "label" in row else row["layer"]
        values = {measure: row[column] for measure, column in _COUNTS.items()}
        yield from score_rows(f"Confidence ≥ {threshold:g}", scoring, values)


# Near misses: places that an option or a dictionary would make equal.


#: A row per two names: how alike they are, how many frames have them, how many true positives equal
#: names would add at most (`gain`), and what would make them equal.
_NAMES = {"system_place": pl.String, "reference_place": pl.String, "similarity": pl.Float64}
NEAR_MISSES: Schema = {**_NAMES, "frames": pl.Int64, "gain": pl.Float64, "fix": pl.String}

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
    outcome, key = pl.col("outcome"), ["document", "type"]
    localized = aligned.filter(pl.col("layer") == "Type+Place")
    paired = localized.filter(outcome == "matched", pl.col("similarity") < 1)
    missed, wrong = (
        localized.filter(outcome == name, pl.len().over(*key, "outcome") == 1).select(*key, place)
        for name, place in (("missed", "reference_place"), ("false positive", "system_place"))
    )
    alone = wrong.join(missed, on=key).with_columns(similarity=pl.lit(0.0))
    places = ["system_place", "reference_place"]
    both = pl.concat([part.select(*_NAMES) for part in (paired, alone)])
    rows = both.group_by(places).agg(
        similarity=pl.col("similarity").max(),
        frames=pl.len().cast(pl.Int64),
        gain=(1 - pl.col("similarity")).sum(),
    )
    fixes = [_fix(*names) for names in rows.select(*_NAMES).iter_rows()]
    fixable = rows.with_columns(fix=pl.Series(fixes, dtype=pl.String)).drop_nulls("fix")
    ordered = fixable.sort("gain", *places, descending=[True, False, False])
    return ordered.select(pl.col(name).cast(dtype) for name, dtype in NEAR_MISSES.items())


def _fix(system: str, reference: str, similarity: float) -> str | None:
    """The option or dictionary that would make two names equal; None if they are too different.

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
