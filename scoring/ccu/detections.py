"""What is counted of norms and emotions: the evaluation label of each instance.

CCU Phase 1 plan, Appendix A, Step 2: a system instance is a correct detection (`CD`) or a false
alarm (`FA`), a reference instance without one a missed detection (`MD`). What they are at a
detection threshold follows from the scores alone, so that these rows are all that is kept.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

import polars as pl

from hlteval.representation import Corpus, judgments
from hlteval.representation.judgments import NONE, UNANNOTATED, Constants
from hlteval.scoring import instance_detection
from hlteval.scoring.ccu import spans
from hlteval.scoring.ccu.spans import Criterion, half_open

# Hidden norms (CCU Phase 1 plan, 2.1.6): a system finds one only by what a mapping lists.
#
# Norms that the mapping does not list are not scored as hidden ones, whatever their names; without
# a mapping no hidden norm is scored at all.


HIDDEN, KNOWN = "hidden", "known"


def hidden_norms(reference: Corpus, system: Corpus, mapping: pl.DataFrame | None) -> list[str]:
    """The norms of the reference that the system can find by a mapping only.

    They are the hidden ones of its list, and others that the mapping names, but for those that are
    listed as known. An annotation that is scored like a system has the list, so it knows them all.

    Args:
        reference: the reference.
        system: the system.
        mapping: `sys_norm` and `ref_norm`; None if there is none.

    Examples:
        >>> listed = [{"row": 0, "entity": "005", "label": "hidden"}]
        >>> listed += [{"row": 1, "entity": "101", "label": "known"}]
        >>> mapping = pl.DataFrame({"sys_norm": ["A1", "A1"], "ref_norm": ["101", "006"]})
        >>> hidden_norms(Corpus(entities=listed), Corpus(), mapping)
        ['005', '006']
    """
    ours, known, theirs = (
        {*corpus.entities.filter(label=disclosure)["entity"].drop_nulls()}
        for corpus, disclosure in ((reference, HIDDEN), (reference, KNOWN), (system, HIDDEN))
    )
    targets = set() if mapping is None else {*mapping["ref_norm"]}
    return sorted((ours - theirs) | (targets - known))


def in_plan_classes(
    system: pl.DataFrame, hidden: Collection[str], mapping: pl.DataFrame | None
) -> pl.DataFrame:
    """Instances with the `class` in which each is scored: its own, and hidden norms by the mapping.

    A mapping changes nothing for norms that are not hidden.

    Args:
        system: instances, with their `label`.
        hidden: the hidden norms.
        mapping: `sys_norm` and `ref_norm`; None if there is none.

    Examples:
        >>> rows = pl.DataFrame({"label": ["A1", "101", "006"], "llr": [1.0, 2.0, 3.0]})
        >>> pairs = [("A1", "005"), ("101", "005"), ("A1", "101")]
        >>> mapping = pl.DataFrame(pairs, ["sys_norm", "ref_norm"], orient="row")
        >>> in_plan_classes(rows, {"005", "006"}, mapping)["class"].to_list()
        ['A1', '101', '005', '005']
    """
    is_hidden = pl.col("class").is_in(list(hidden))
    own = system.with_columns(pl.col("label").alias("class")).filter(~is_hidden)
    if mapping is None:
        return own
    pairs = mapping.select(label="sys_norm", **{"class": "ref_norm"}).filter(is_hidden).unique()
    mapped = system.join(pairs, on="label", maintain_order="left")
    return pl.concat([own, mapped.select(own.columns)])


# Emotions of parts of documents instead of instances: an option of the public scorer.
#
# The annotated span of a document is divided into equal parts. A segment belongs to the part in
# which more of it lies, and a part lasts from the first to the last of its segments. It has the
# labels of these, unless half of them are `noann`; it then is not scored. The system has a label
# there if it has an instance of it that overlaps the part, with the highest score of these.


_DOCUMENT = ("document", "genre", "text")
_HALF = 0.5


def parts_of_reference(decided: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """The labels of each part, `noann` among them; places as written.

    Args:
        decided: what is in each segment: `document`, `genre`, `text`, `label`, `start`, `end`.
        placed: all segments of these documents with their parts, as from `in_parts`.
    """
    extents = placed.group_by("document", "part").agg(
        first=pl.col("start").min(), last=pl.col("end").max()
    )
    key = [*_DOCUMENT, "part"]
    silent = pl.col("label") == UNANNOTATED
    labels = placed.join(decided, on=["document", "start", "end"], maintain_order="left")
    labels = labels.with_columns(most=silent.mean().over(key) >= _HALF)
    found = labels.filter(silent == pl.col("most")).unique([*key, "label"], maintain_order=True)
    found = found.join(extents, on=["document", "part"], maintain_order="left")
    return found.select(
        *_DOCUMENT, "label", status=pl.lit(None, dtype=pl.String), start="first", end="last"
    ).sort("document", "start", "label")


def in_parts(
    segments: pl.DataFrame, number: int, step: Callable[[pl.Expr], pl.Expr]
) -> pl.DataFrame:
    """Segments with the number of their `part`, from 0; places with three decimals.

    Args:
        segments: of whole documents: `document`, `start`, `end`.
        number: of parts.
        step: the length of a part but for the last one, from that of the annotated span.

    Examples:
        >>> rows = {"document": ["d"] * 3, "start": [0.0, 6.0, 9.0], "end": [6.0, 9.0, 20.0]}
        >>> in_parts(pl.DataFrame(rows), 2, lambda span: span / 2)["part"].to_list()
        [0, 0, 1]
    """
    rows = segments.with_columns(pl.col("start", "end").round(3))
    first, last = pl.col("start").min().over("document"), pl.col("end").max().over("document")
    rows = rows.with_columns(_first=first, _last=last, _step=step(last - first))

    def bound(part: int | pl.Expr) -> pl.Expr:
        return (pl.col("_first") + part * pl.col("_step")).round(3)

    begun = (bound(part) <= pl.col("start") for part in range(1, number))
    rows = rows.with_columns(part=pl.sum_horizontal(pl.lit(0), *begun))
    is_last = pl.col("part") == number - 1
    limit = pl.when(is_last).then("_last").otherwise(bound(pl.col("part") + 1))
    is_later = ~is_last & (pl.col("end") - limit > limit - pl.col("start"))
    return rows.with_columns(part=pl.col("part") + is_later).drop("_first", "_last", "_step")


def parts_of_system(rows: pl.DataFrame, parts: pl.DataFrame) -> pl.DataFrame:
    """The labels of a system in each part, as instances with the places of the parts.

    Args:
        rows: instances of a system, places as written.
        parts: those of the reference, as from `parts_of_reference`.
    """
    own = parts.select(*_DOCUMENT, "start", "end").unique(maintain_order=True)
    left, right, _ = instance_detection.overlap_pairs(
        half_open(rows), half_open(own), ("document",)
    )
    found = pl.concat([rows.select("label", "llr")[left], own[right]], how="horizontal")
    key = [*_DOCUMENT, "label", "start", "end"]
    best = found.group_by(key, maintain_order=True).agg(pl.col("llr").max())
    return best.with_columns(status=pl.lit(None, dtype=pl.String)).select(rows.columns)


# What can be chosen about the detection of norms, emotions and change points.


Hack = Literal["ManyRef:OneHyp", "OneRef:ManyHyp", "ManyRef:ManyHyp"]
By = Literal["class", "class-status"]


class LlrFilter(NamedTuple):
    """Which system instances are scored, by their scores.

    Attributes:
        when: as they are read, or after instances were cut and merged.
        least: the least score.
    """

    when: Literal["after_read", "after_transforms"]
    least: float


@dataclass(frozen=True)
class DetectionOptions:
    """How norms and emotions are prepared and compared.

    Attributes:
        classes: the classes that are scored; all if None.
        mapping: the norms of the system, `sys_norm`, that stand for norms of the reference,
            `ref_norm`.
        overlap: how similar a correct pair is; the scores of the first have the plain names.
        collar: seconds that a correct instance may start early or end late, in scaled scores.
        collar_text: the same in characters.
        merge_reference: segments less than this apart are merged; None for that of the profile.
        merge_reference_text: the same in characters.
        merge_reference_by: whether merged instances have the same class, or the same status too.
        merge_system: the same for instances of the system; None merges none.
        merge_system_text: the same in characters.
        merge_system_llr: the score of a merged instance.
        merge_system_by: what merged instances of the system have in common.
        min_votes: how many annotators must agree on an emotion.
        llr_filter: which system instances are scored.
        file_merge: into how many parts documents are divided; 0 for instances as they are.
        align: a rule for one instance that overlaps several.
        conflicts_unscored: whether a segment with several statuses of one norm is not scored.
        index: names of the documents that are scored; None for all.
        submission_form: whether instances have places (`regular`) or name segments of the reference
            (`open`); empty: places, and where there are none, segments.
    """

    classes: frozenset[str] | None = None
    mapping: pl.DataFrame | None = None
    overlap: tuple[Criterion, ...] = (Criterion(),)
    collar: float = 15.0
    collar_text: float = 150.0
    merge_reference: float | None = None
    merge_reference_text: float | None = None
    merge_reference_by: By = "class"
    merge_system: float | None = None
    merge_system_text: float | None = None
    merge_system_llr: Literal["min_llr", "max_llr"] = "max_llr"
    merge_system_by: By = "class"
    min_votes: int = 2
    llr_filter: LlrFilter | None = None
    file_merge: int = 0
    align: Hack | Literal[""] = ""
    conflicts_unscored: bool = False
    submission_form: Literal["", "regular", "open"] = ""
    index: frozenset[str] | None = None

    def constants(
        self,
        seconds: float | None = Constants.seconds,
        characters: float | None = Constants.characters,
    ) -> Constants:
        """The constants of Appendix D; the gaps are those of a profile where none are chosen."""
        return Constants(
            seconds if self.merge_reference is None else self.merge_reference,
            characters if self.merge_reference_text is None else self.merge_reference_text,
            self.merge_reference_by == "class-status",
            self.min_votes,
            self.conflicts_unscored,
        )


@dataclass(frozen=True)
class ChangeOptions:
    """How change points are compared.

    Attributes:
        delta: how far a correct change point may be from that of the reference, in seconds; of
            several, the scores of the first have the plain names.
        delta_text: the same in characters.
        llr_filter: which change points of the system are scored.
        index: names of the documents that are scored; None for all.
    """

    delta: tuple[float, ...] = (10.0,)
    delta_text: tuple[float, ...] = (100.0,)
    llr_filter: LlrFilter | None = None
    index: frozenset[str] | None = None


# The instances of a system: placed, filtered and merged.


_KEPT = ("document", "genre", "text", "label", "status", "start", "end", "llr")


def documents(reference: Corpus) -> pl.DataFrame:
    """The documents of a reference by name: `key`, `genre`, `text` and `length`."""
    return reference.documents.select(
        document="name", key="row", genre="modality", text=judgments.is_text(), length="length"
    )


def system_instances(
    reference: Corpus, system: Corpus, kind: str, options: DetectionOptions
) -> pl.DataFrame:
    """The instances of a system in the documents of a reference, places as written.

    What it says of documents that it could not process does not count.

    Args:
        reference: knows which documents are text, and where segments are.
        system: the submission.
        kind: `norm` or `emotion`.
        options: what was chosen.
    """
    own = system.instances.filter(pl.col("kind") == kind)
    own = own.select("document", "label", "status", "start", "end", "llr", "region")
    rows = of_processed(system, own)
    if options.submission_form != "regular":
        places = segments(reference).rename({"start": "begin", "end": "until"})
        places = places.unique(["document", "region"], keep="first")
        rows = rows.join(places, on=["document", "region"], how="left", maintain_order="left")
        if options.submission_form == "open":
            rows = rows.with_columns(start=None, end=None)
        rows = rows.with_columns(pl.coalesce("start", "begin"), pl.coalesce("end", "until"))
    rows = rows.join(documents(reference), on="document", maintain_order="left")
    return rows.with_columns(pl.col("llr").fill_nan(None)).select(_KEPT)


def of_processed(corpus: Corpus, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the documents that a side could process, with their names."""
    done = corpus.documents.filter(pl.col("processed").fill_null(value=True))
    return _with_names(rows, done)


def segments(reference: Corpus) -> pl.DataFrame:
    """The segments of a reference: `document` by name, `region`, `start` and `end`."""
    rows = reference.regions.select("document", "region", "start", "end")
    return _with_names(rows, reference.documents)


def _with_names(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """The rows of some documents, with the names of these as `document`."""
    names = documents.select(document="row", _name="name")
    own = rows.join(names, on="document", maintain_order="left")
    return own.with_columns(document="_name").drop("_name")


def split_placed(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The instances that have a place, and those that have none and cannot be scored."""
    known = pl.col("start").is_not_null() & pl.col("end").is_not_null()
    return rows.filter(known), rows.filter(~known)


def above_least(rows: pl.DataFrame, chosen: LlrFilter | None, when: str) -> pl.DataFrame:
    """Rows whose score is not too low, if a filter is chosen for this step."""
    if chosen is None or chosen.when != when:
        return rows
    return rows.filter((pl.col("llr") >= chosen.least).fill_null(value=True))


def merge_system(rows: pl.DataFrame, options: DetectionOptions) -> pl.DataFrame:
    """Instances of one class that are close to each other become one.

    The plan merges none: options give the largest gap.
    """
    gaps = options.merge_system, options.merge_system_text
    if gaps == (None, None):
        return rows
    key = ["document", "label", *["status"] * (options.merge_system_by != "class")]
    ordered = rows.sort(*key, "start", "end")
    numbered = ordered.with_columns(number=judgments.begins_instance(key, *gaps).cum_sum())
    score = pl.col("llr").max() if options.merge_system_llr == "max_llr" else pl.col("llr").min()
    shared = ["document", "genre", "text", "label"]
    return judgments.merge_numbered(numbered, shared, score).select(rows.columns)


CORRECT, FALSE, MISSED, FORGIVEN = "CD", "FA", "MD", "F-FA"
#: In `official`: a row that the public scorer writes as a missed detection, but does not count; and
#: a missed detection that it counts, but does not write.
AGAIN, UNWRITTEN = "MD again", "MD unwritten"
#: Not scored: an instance of a hidden norm without a mapping, or one of a system that has the name
#: of a hidden norm and is not in the mapping.
UNMAPPED = "not mapped"
#: The criterion of system instances without a place.
UNPLACED = "unplaced"
#: The columns: an instance or a pair by criterion; without an outcome, a document, or what else is
#: counted of it. Places are as written, except that the official software cuts them. `disclosure`
#: is whether a norm is known or hidden; `shifted` places are those of a system instance with a
#: collar. Change points have a start only, and a `distance` from their reference.
ROWS: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        **dict.fromkeys(("document", "genre", "criterion"), pl.String),
        **dict.fromkeys(("class", "disclosure", "outcome"), pl.String),
        **dict.fromkeys(("reference_start", "reference_end"), pl.Float64),
        **dict.fromkeys(("system_start", "system_end", "llr"), pl.Float64),
        **dict.fromkeys(("iou", "intersection", "union"), pl.Float64),
        **dict.fromkeys(("shifted_start", "shifted_end", "tp_share", "fp_share"), pl.Float64),
        **dict.fromkeys(("reference_status", "system_status", "system_class"), pl.String),
        "distance": pl.Float64,
    }
)


def rows(reference: Corpus, system: Corpus, kind: str, options: DetectionOptions) -> pl.DataFrame:
    """The rows of a batch of documents (`ROWS`).

    Args:
        reference: whole documents.
        system: the submission.
        kind: `norm` or `emotion`.
        options: what was chosen.
    """
    expected, scored = _reference_instances(reference, kind, options)
    every = system_instances(reference, system, kind, options)
    every = every.with_columns(pl.col("llr").fill_null(-math.inf))  # the last of all
    found, lost = split_placed(above_least(every, options.llr_filter, "after_read"))
    if options.file_merge:
        files = scored.select("document", "genre", "text", start="from", end="to")
        found = parts_of_system(found, files)
    found = above_least(merge_system(found, options), options.llr_filter, "after_transforms")
    covered = spans.union(scored)
    expected = _of_classes(spans.scored_places(expected, covered), options)
    found = spans.scored_places(half_open(found), covered)
    found = found.filter(pl.col("end") > pl.col("start"))

    mapping = options.mapping
    hidden = hidden_norms(reference, system, mapping)
    unlisted = found.filter(
        pl.col("label").is_in(hidden),
        ~pl.col("label").is_in([] if mapping is None else mapping["sys_norm"].to_list()),
    ).with_columns(pl.col("label").alias("class"))
    can_be_found = ~pl.col("class").is_in(hidden) | (mapping is not None)
    unlisted = _of_classes(unlisted, options).select(_SYSTEM)
    unmapped = expected.filter(~can_be_found).select(REFERENCE)
    aside = pl.concat(map(to_rows, (unlisted, unmapped)))
    expected = expected.filter(can_be_found)
    found = _of_classes(in_plan_classes(found, hidden, mapping), options)
    if options.align.startswith("ManyRef"):
        found = spans.divide(found, expected)
    found = found.sort("document", "class", "start", "end", "llr", descending=[False] * 4 + [True])
    names = to_rows(documents(reference))
    parts = [to_rows(aside, outcome=UNMAPPED, criterion=c.written) for c in options.overlap]
    parts += [labels(found, expected, criterion, options) for criterion in options.overlap]
    return with_disclosure(pl.concat([names, without_place(lost), *parts]), reference)


def without_place(rows: pl.DataFrame) -> pl.DataFrame:
    """Instances of a system that have no place, to be counted."""
    return to_rows(
        rows.select("document", "genre", "llr", **{"class": "label"}), criterion=UNPLACED
    )


def _reference_instances(
    reference: Corpus, kind: str, options: DetectionOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The instances of a reference, and the parts of documents that are scored; half-open.

    Regions that nobody annotated are not scored; what is merged has no gap in it.
    """
    constants = options.constants()
    if options.file_merge:
        # Parts of documents instead of segments.
        decisions = judgments.decisions_of(reference, kind, constants)
        decisions = decisions.with_columns(genre=pl.lit(""))
        own = reference.regions.join(decisions, on="document", how="semi")
        number = options.file_merge
        segments = in_parts(own.select("document", "start", "end"), number, lambda s: s / number)
        parts = parts_of_reference(decisions, segments).drop("genre")
        annotated = parts.filter(pl.col("label") != UNANNOTATED)
        instances = annotated.filter(pl.col("label") != NONE)
        annotated = annotated.select("document", "text", "start", "end").unique(maintain_order=True)
    else:
        instances, annotated = judgments.scored_reference(reference, kind, constants)
    names = documents(reference).select("document", "genre", "key")
    instances, annotated = (
        half_open(part.rename({"document": "key"}).join(names, on="key", maintain_order="left"))
        for part in (instances, annotated)
    )
    covered = pl.concat([annotated, instances], how="diagonal")
    return instances.with_columns(pl.col("label").alias("class")), covered


def _of_classes(rows: pl.DataFrame, options: DetectionOptions) -> pl.DataFrame:
    """The instances of the classes that are scored."""
    if options.classes is None:
        return rows
    return rows.filter(pl.col("class").is_in(list(options.classes)))


def labels(
    system: pl.DataFrame, reference: pl.DataFrame, criterion: Criterion, options: DetectionOptions
) -> pl.DataFrame:
    """The evaluation label of each instance, by a criterion.

    Args:
        system: instances in scored places, with `class`, `llr`, and places as written.
        reference: the same, without `llr`.
        criterion: what a correct pair is.
        options: the collars.
    """
    every = instance_detection.pairs(system, reference)
    iou, common = every["iou"].to_numpy(), every["intersection"].to_numpy()
    mappable = every.filter(criterion.holds(iou=iou, intersection=common))
    own, expected = mappable["_system"].to_numpy(), mappable["_reference"].to_numpy()
    places = (system["start"].to_numpy()[own], reference["start"].to_numpy()[expected])
    correct = instance_detection.greedy(own, expected, system["llr"].to_numpy()[own], *places)
    pairs = mappable.filter(correct)
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    instances = system.select(*_SYSTEM, _system=row)
    others = reference.select(*REFERENCE, _reference=row)
    both = pairs.join(instances, on="_system").join(others.drop(_SHARED), on="_reference")
    both = spans.shares(both, options.collar, options.collar_text)
    # False alarms for references that others have found can be forgiven.
    forgiven = pl.col("_system").is_in(own.tolist()) & options.align.endswith("ManyHyp")
    false = pl.when(forgiven).then(pl.lit(FORGIVEN)).otherwise(pl.lit(FALSE))
    alone = instances.join(pairs, on="_system", how="anti")
    missed = others.join(pairs, on="_reference", how="anti")
    parts = (
        to_rows(both, outcome=CORRECT),
        to_rows(alone.with_columns(tp_share=0.0, fp_share=1.0, outcome=false)),
        to_rows(missed, outcome=MISSED),
    )
    return to_rows(pl.concat(parts), criterion=criterion.written)


_PLACES = {"start": "from", "end": "to"}
_SHARED = ("document", "genre", "class")
_SYSTEM: tuple[str | pl.Expr, ...] = (
    *(*_SHARED, "text", "start", "end", "llr"),
    *(pl.col(place).alias(f"system_{name}") for name, place in _PLACES.items()),
    pl.col("status").alias("system_status"),
    pl.col("label").alias("system_class"),
)
#: The columns of instances of a reference: their half-open places, and these as written.
REFERENCE: tuple[str | pl.Expr, ...] = (
    *_SHARED,
    *(pl.col(name).alias(f"expected_{name}") for name in _PLACES),
    *(pl.col(place).alias(f"reference_{name}") for name, place in _PLACES.items()),
    pl.col("status").alias("reference_status"),
)


def to_rows(rows: pl.DataFrame, **values: str) -> pl.DataFrame:
    """Rows with all columns of `ROWS`, in order; what is absent is null.

    Args:
        rows: with some of the columns.
        **values: the columns that have one value.
    """
    rows = rows.with_columns(pl.lit(value).alias(name) for name, value in values.items())
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in ROWS.items()
    )


def with_disclosure(rows: pl.DataFrame, reference: Corpus) -> pl.DataFrame:
    """Rows that say whether their norm is known or hidden, where the reference lists it."""
    listed = reference.entities.select(pl.col("entity").alias("class"), disclosure="label")
    known = listed.filter(pl.col("disclosure").is_in([KNOWN, HIDDEN])).unique("class", keep="first")
    joined = rows.select("class").join(known, on="class", how="left", maintain_order="left")
    return rows.with_columns(joined["disclosure"])
