"""Statistics, alignments and options of norms, emotions, levels and change points.

TP, FP and MD are the system instances that are correct, those that are not, and the instances of
the reference that none has found, at the lowest detection score unless another is named.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

from hlteval.extensions import lazy
from hlteval.tasks.task import (
    BOTH,
    COUNT,
    HIGH,
    LOW,
    NORMAL,
    SIGNED_RATE,
    AlignmentInfo,
    CellInfo,
    FacetInfo,
    Option,
    OutcomeInfo,
    PlaceInfo,
    StatisticInfo,
)

_PLAN = "CCU Phase 1 plan, "
_AP, _MAP = f"{_PLAN}C.4.3", f"{_PLAN}C.4.4"
#: Step 3: any metric can be computed from the evaluation labels.
_OTHER = f"{_PLAN}Appendix A"
_GENRES = ("text", "audio", "video")
_READERS = "hlteval.tasks.runtime.ccu:"

_AREA = "Σ precision(τ) · Δrecall(τ) over the distinct detection scores τ, highest first"
_RAISED = "the same, each precision raised to the greatest at any higher recall"
_RATES = (
    ("precision", "Precision", "TP / (TP + FP)", f"{_PLAN}C.4.1"),
    ("recall", "Recall", "TP / (TP + MD)", f"{_PLAN}C.4.2"),
    ("f1", "F1", "2 · TP / (2 · TP + FP + MD)", _OTHER),
)
_ALL_RATES = (
    *_RATES,
    ("scaled_precision", "Precision, scaled by overlap,", "sTP / (sTP + sFP)", _OTHER),
    ("scaled_recall", "Recall, scaled by overlap,", "sTP / (TP + MD)", _OTHER),
    ("scaled_f1", "F1, scaled by overlap,", "harmonic mean of both", _OTHER),
)
_MEAN = "mean over the classes that have references"

#: The metrics of norms and emotions.
DETECTION = (
    StatisticInfo("map", "Mean average precision.", f"{_MEAN} of ap", clause=_MAP, importance=HIGH),
    *(
        StatisticInfo(f"map.{name}", f"Mean average precision of {what}.", f"{_MEAN} of ap",
                      clause=_MAP, importance=NORMAL)
        for name, what in (
            *((genre, f"{genre} documents") for genre in _GENRES),
            *((name, f"{name} norms") for name in ("known", "hidden")),
        )
    ),
    StatisticInfo("classes", "Number of classes with references, the base of the averages.",
                  values=COUNT, better="neither", clause=_MAP),
    StatisticInfo("map_interpolated", "Mean interpolated average precision.",
                  f"{_MEAN} of ap_interpolated", clause=_MAP),
    *(
        StatisticInfo(f"mean_{name}", f"{title} averaged over classes.", f"{_MEAN} of {name}",
                      clause=clause, importance=LOW)
        for name, title, _, clause in _ALL_RATES
    ),
    *(
        StatisticInfo(f"micro_{name}", f"{title} of all instances.", formula, clause=clause,
                      importance=LOW)
        for name, title, formula, clause in _ALL_RATES
    ),
)  # fmt: skip


def _of_classes(what: str) -> tuple[StatisticInfo, ...]:
    return (
        StatisticInfo("ap", f"Average precision of {what}.", _AREA, clause=_AP),
        StatisticInfo("ap_interpolated", "Interpolated average precision (VOC 2011).", _RAISED,
                      clause=_AP),
        *(
            StatisticInfo(name, f"{title} of {what}.", formula, clause=clause, importance=NORMAL)
            for name, title, formula, clause in _ALL_RATES
        ),
    )  # fmt: skip


#: What the tables have of classes, and the metrics `ap.<class>`, `f1.<class>` and so on.
DETECTION_TABLE = (
    *_of_classes("a class"),
    StatisticInfo("mAP", "Mean average precision.", clause=_MAP),
)

#: The metrics of change points; with a delta, such as `cd.ap.text@100`, they have it at the end.
CHANGES = (
    StatisticInfo("cd.ap", "Average precision of change points, averaged over data types: for "
                  "ranking only.", "mean of cd.ap of the data types that have references",
                  clause=f"{_PLAN}2.5.2"),
    *(
        StatisticInfo(f"cd.ap.{genre}", f"Average precision of change points of {genre} documents.",
                      _AREA, clause=f"{_PLAN}2.5.2", importance=HIGH)
        for genre in _GENRES
    ),
    *(
        StatisticInfo(f"cd.{name}.{genre}", f"{title} of change points of {genre} documents.",
                      formula, clause=clause, importance=LOW)
        for name, title, formula, clause in (
            ("ap_interpolated", "Interpolated average precision", _RAISED, _AP), *_RATES
        )
        for genre in _GENRES
    ),
)  # fmt: skip

CHANGES_TABLE = tuple(item for item in _of_classes("change points") if "scaled" not in item.name)

_OUTCOMES = (
    OutcomeInfo("CD", "correct", "correct detection"),
    OutcomeInfo("MD", "missing", "missed detection"),
    OutcomeInfo("FA", "extra", "false alarm"),
    OutcomeInfo("F-FA", "unscored", "false alarm, not counted"),
    OutcomeInfo("not mapped", "unscored", "hidden norm, not mapped"),
    OutcomeInfo("MD again", "unscored", "missed detection, listed again"),
)
_PLACES = PlaceInfo(genre="genre", inclusive=True)
DETECTION_ALIGNMENT = AlignmentInfo(
    table="detections", outcomes=_OUTCOMES, label=("class",), label_title="class",
    cells=(CellInfo("class", "class", "class"),
           CellInfo("status", "reference_status", "system_status")),
    facets=(FacetInfo("criterion", "criterion", single=True), FacetInfo("genre", "genre"),
            FacetInfo("disclosure", "norm")),
    places=_PLACES, details={"llr": "detection score", "iou": "IoU", "congruence": "congruence"},
)  # fmt: skip
CHANGE_ALIGNMENT = AlignmentInfo(
    table="detections", outcomes=_OUTCOMES, label=("genre",), label_title="genre",
    facets=(FacetInfo("criterion", "delta"),), places=_PLACES,
    details={"distance": "distance", "llr": "detection score", "congruence": "congruence"},
)  # fmt: skip

_BY = ("class", "class-status")


def _value(name: str, text: str, metavar: str, reader: str) -> Option:
    """An option whose value is read by a function of `tasks/runtime`."""
    kind: Literal["text", "list"] = "list" if metavar == "LIST" else "text"
    return Option(
        name, text, metavar=metavar, kind=kind, read=lazy(f"hlteval.tasks.runtime.{reader}")
    )


def _merge_options(whose: str, text: str, seconds: str, characters: str) -> tuple[Option, ...]:
    seconds = f"{text} less than S seconds apart, or none (default: {seconds})."
    characters = f"{text} less than N characters apart, or none (default: {characters})."
    return (
        _value(f"merge_{whose}", seconds, "S", "ccu:gap"),
        _value(f"merge_{whose}_text", characters, "N", "ccu:gap"),
    )


_OPTIONS = (
    Option("index", "Index of the documents to score, such as a scoring index: a table with a "
           "header and the column file_id.", read=lazy(f"{_READERS}index"), selects_documents=True),
    Option("classes", "List of the classes to score, one per line (default: all of the reference).",
           read=lazy(f"{_READERS}classes"), commands=BOTH),
    Option("mapping", "Mapping of norms of the system to hidden norms, which are not scored "
           "without it: a submission of NDMAP, or nd.map.tab.", metavar="PATH",
           read=lazy(f"{_READERS}mapping"), submission_to=("ccu-ndmap", "norms")),
    _value("overlap", "Minimum similarity of a correct pair: an IoU from 0.2 on, or iou:gt:0.5, "
           "intersection:gt:0; several with commas, the first with the plain names (default: 0.2).",
           "LIST", "ccu:overlap"),
    _value("collar", "Collar of scaled scores, in seconds (default: 15).", "S", "ccu:amount"),
    _value("collar_text", "Collar of scaled scores, in characters (default: 150).", "N",
           "ccu:amount"),
    *_merge_options("reference", "Merge segments of one class",
                    "1; in `official` none", "10; in `official` none"),
    Option("merge_reference_by", "Merge segments of the same class, or of the same class and "
           "status (default: class).", choices=_BY),
    *_merge_options("system", "Merge system instances of one class", "none", "none"),
    Option("merge_system_llr", "Detection score of a merged system instance (default: max_llr).",
           choices=("min_llr", "max_llr")),
    Option("merge_system_by", "Merge system instances of the same class, or of the same class and "
           "status (default: class).", choices=_BY),
    _value("min_votes", "Minimum number of annotators that agree on an emotion (default: 2).", "N",
           "options:positive_integer"),
    _value("llr_filter", "Score only items with a detection score of at least X; WHEN is "
           "after_read, or after_transforms for instances after cutting and merging.",
           "WHEN:by_value:X", "ccu:llr_filter"),
    Option("file_merge", "Compare parts of documents, each a fraction of the annotated span, "
           "instead of instances.", choices=("1/5", "1/4", "1/3", "1/2", "1"),
           read=lazy(f"{_READERS}parts")),
    Option("align", "Divide a system instance among the references that it overlaps (ManyRef), "
           "ignore further system instances that overlap a found reference (ManyHyp), or both.",
           choices=("ManyRef:OneHyp", "OneRef:ManyHyp", "ManyRef:ManyHyp")),
    Option("conflicts_unscored", "Do not score segments where an annotator gives several statuses "
           "to one norm.", switch=True),
    Option("submission_form", "Location of instances: their own times (regular), or segments of "
           "the reference (open) (default: as in each instance).", choices=("regular", "open")),
    _value("delta", "Maximum distance of a correct change point, in seconds; several with commas, "
           "the first with the plain names (default: 10).", "LIST", "ccu:deltas"),
    _value("delta_text", "The same in characters of text (default: 100).", "LIST", "ccu:deltas"),
    Option("gaps", "Accept gaps in the submission: gaps below 1 second or 10 characters take the "
           "preceding level, others are not scored.", switch=True, commands=BOTH),
    _value("extend_reference", "Gaps of the reference below this many seconds take the preceding "
           "level (default: 1). Only in `plan`.", "S", "ccu:amount"),
    _value("extend_reference_text", "The same in characters of texts (default: 10). Only in "
           "`plan`.", "N", "ccu:amount"),
    _value("min_judgments", "Minimum number of annotators of a scored segment of the reference "
           "(default: 2). Only in `plan`.", "N", "options:positive_integer"),
    _value("window", "Window of audio and video to compare, in seconds (default: 2). Only in "
           "`plan`.", "S", "ccu:size"),
    _value("window_text", "Window of text to compare, in characters (default: 1). Only in `plan`.",
           "N", "ccu:size"),
)  # fmt: skip


def _options(names: str) -> tuple[Option, ...]:
    """Select options by their names."""
    declared = {option.name: option for option in _OPTIONS}
    return tuple(declared[name] for name in names.split())


_OVERLAP = "overlap collar collar_text merge_reference merge_reference_text"
_MERGE_SYSTEM = "merge_system merge_system_text merge_system_llr"
ND_OPTIONS = _options(
    f"index classes mapping {_OVERLAP} merge_reference_by {_MERGE_SYSTEM} merge_system_by "
    "llr_filter align conflicts_unscored submission_form"
)
ED_OPTIONS = (
    *(replace(option, commands=("score",)) for option in _options("index classes")),
    *_options(f"{_OVERLAP} {_MERGE_SYSTEM} min_votes llr_filter file_merge align"),
)
CD_OPTIONS = _options("index delta delta_text llr_filter")
LEVEL_OPTIONS = _options(
    "index gaps extend_reference extend_reference_text min_judgments window window_text"
)


_CCC = "2 · s_xy / ((mean x − mean y)² + s_x² + s_y²)"
_KAPPA = "(p_o − p_e) / (1 − p_e) over three points: below 300, below 700, and above"


def level_statistics(section: str) -> tuple[StatisticInfo, ...]:
    """The statistics of the task of levels that a section of the plan describes."""
    ranks, concordance = f"{_PLAN}{section}.2 and C.4.5", f"{_PLAN}C.4.5 and Appendix B"
    points = f"{_PLAN}{section}.2 and C.4.6"
    coefficient = partial(StatisticInfo, values=SIGNED_RATE, grows=True)
    return (
        coefficient("ccc", "Concordance correlation coefficient of all units.", _CCC, clause=ranks),
        StatisticInfo("ccc_document_mean", "Mean of the concordance correlation coefficients of "
                      "documents.", "mean over documents of ccc", SIGNED_RATE, clause=ranks,
                      importance=NORMAL),
        *(
            coefficient(f"ccc.{genre}",
                        f"Concordance correlation coefficient of the units of {genre}.", _CCC,
                        clause=concordance)
            for genre in sorted(_GENRES)
        ),
        coefficient("kappa", "Cohen's kappa of all units on a scale of three points; not in "
                    "`official`.", _KAPPA, clause=points),
        *(
            coefficient(f"kappa.{genre}",
                        f"Cohen's kappa of the units of {genre} on a scale of three points.",
                        _KAPPA, clause=points)
            for genre in sorted(_GENRES)
        ),
    )  # fmt: skip


LEVELS_ALIGNMENT = AlignmentInfo(
    table="alignment", rows=lazy("hlteval.scoring.ccu.level_series:readable"),
    outcomes=(OutcomeInfo("equal", "correct"), OutcomeInfo("higher", "different", "system higher"),
              OutcomeInfo("lower", "different", "system lower")),
    label=("genre",), label_title="genre",
    cells=(CellInfo("level", "reference", "system", kind="number"),),
    places=PlaceInfo(("start", "end"), ("start", "end"), "genre"),
    details={"difference": "difference", "units": "units"},
)  # fmt: skip
