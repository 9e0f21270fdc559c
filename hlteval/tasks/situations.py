"""Speech Situation Frames (v1.5): the task speech-sf."""

from __future__ import annotations

from functools import partial

from hlteval.extensions import lazy
from hlteval.findings import Finding
from hlteval.tasks.task import (
    BOTH,
    NORMAL,
    AlignmentInfo,
    CellInfo,
    FacetInfo,
    MeasureInfo,
    Option,
    OutcomeInfo,
    Packaging,
    StatisticInfo,
    Task,
)


def _goes_on(finding: Finding) -> bool:
    """Whether the official script prints a finding and goes on.

    It validates by the schema, but scores whatever it can; of a Status it takes no notice.
    """
    if finding.code in {"SFJ205", "SFJ206", "SFJ207", "APN404"}:
        return True
    paths = finding.further.places if finding.further else (finding.record,)
    return finding.code.startswith("SFJ2") and all(".Status" in str(path) for path in paths)


_SECTION = "Speech SF v1.5, section 2"
_COUNTS = "TP = Σ similarity of aligned frames, P = TP / |system|, R = TP / |reference|"

MEASURES = (
    MeasureInfo("relevance", "Segments with any situation.",
                f"frames are segments; identical ones have similarity 1; {_COUNTS}",
                f"{_SECTION}.1, Relevance"),
    MeasureInfo("type", "Situation types per segment.",
                f"frames are segment and type; identical ones have similarity 1; {_COUNTS}",
                f"{_SECTION}.1, Type"),
    MeasureInfo("type+place", "Situation types and places per segment.",
                "frames are segment, type and place; similarity = (L − d) / L, with L the total "
                "length of both places and d their edit distance (substitutions cost 2); "
                f"{_COUNTS}", f"{_SECTION}.1, Type+Place"),
)  # fmt: skip

_AREA = "Σ (R₂ − R₁) · (P₁ + P₂) / 2 over"
_POINTS = "points (R, P) of the cuts at round(N^(j/100)), j = 1 to 100, of N frames by confidence"
_ORDER = "in the order of the cuts (`official`: by R, then P)"

_statistic = partial(StatisticInfo, clause=_SECTION)
STATISTICS = (
    _statistic("auc", "Area under the precision-recall curve as defined by the profile: anchored "
               "in `plan`, unanchored in `official`.",
               "`plan`: auc_anchored; `official`: auc_unanchored"),
    _statistic("auc_anchored", "Area with the curve extended to recall 0, at the precision of its "
               "first cut.", f"{_AREA} (0, P of the first cut), then {_POINTS}, {_ORDER}",
               importance=NORMAL),
    _statistic("auc_unanchored", "Area between the first and the last point with recall above 0.",
               f"{_AREA} the {_POINTS}, with R > 0, {_ORDER}", importance=NORMAL),
    _statistic("max_f1", "Largest F1 of any point of the curve.",
               f"max 2 · TP / (|system| + |reference|) over the {_POINTS}"),
)  # fmt: skip


_ALIGNMENT = AlignmentInfo(
    table="alignment", rows=lazy("hlteval.scoring.situations.situations:readable"),
    outcomes=(OutcomeInfo("matched", "correct"), OutcomeInfo("partly matched", "different"),
              OutcomeInfo("missed", "missing"), OutcomeInfo("false positive", "extra"),
              OutcomeInfo("left out", "unscored")),
    cells=(CellInfo("type", "type", "type"), CellInfo("place", "reference_place", "system_place")),
    facets=(FacetInfo("layer", "layer", single=True),),
    details={"similarity": "similarity", "confidence": "confidence", "record": "frame"},
    shows_documents=True,
)  # fmt: skip

SPEECH = Task(
    name="speech-sf",
    title="Speech Situation Frames: situations in audio segments, with confidences",
    specification="Speech Situation Frames Evaluation Specification v1.5",
    format="speech-sf-json",
    references=("appen", "speech-sf-json", "corpus", "jsonl", "document-list"),
    reference_optional=True,
    schema=lazy("hlteval.validators.situations.rules:types"),
    rules=lazy("hlteval.validators.situations.rules:RULES"),
    metric=lazy("hlteval.scoring.situations.metric:frame_match"),
    metric_options=lazy("hlteval.scoring.situations.plan:Options"),
    statistics=STATISTICS,
    measures=MEASURES,
    alignment_info=_ALIGNMENT,
    table_statistics=(
        StatisticInfo("precision", "The precision of all frames."),
        StatisticInfo("recall", "The recall of all frames."),
        StatisticInfo("f1", "F1 of the frames above a threshold."),
    ),
    primary={"plan": "type.auc", "official": "type.auc"},
    official_ignores=_goes_on,
    codes=("OPT101", "OPT106", "OPT107", "OPT109", "OPT110"),
    official_crashes_on=frozenset({"APN108"}),
    agreement=lazy("hlteval.tasks.agreement:SPEECH"),
    official_settings={"blocks": "position"},
    packaging=Packaging(
        layout="one .json file of frames",
        arrange=partial(lazy("hlteval.validators.packages:flat"), suffixes=(".json",)),
    ),
    document_codes=frozenset({"SSF101", "SSF102"}),
    options=(
        Option("place_match", "Partial credit for similar places (soft), or identical places only "
               "(exact).", choices=("soft", "exact")),
        Option("normalize", "Unicode normalization form for the places of both sides.",
               choices=("NFC", "NFD", "NFKC", "NFKD")),
        Option("place_dictionary", "Table of places: written form and name to compare, "
               "tab-separated.", read=lazy("hlteval.tasks.runtime.options:place_dictionary")),
        Option("place_separators", "Characters that separate places and types in Appen annotations "
               "(default `,፣`).", metavar="CHARS", is_format_setting=True, commands=BOTH),
        Option("types", "File of the situation types to evaluate, one per line (default: all).",
               commands=BOTH, read=lazy("hlteval.tasks.runtime.options:situation_types")),
        Option("threshold", "Also report precision, recall and F1 of frames with at least this "
               "confidence, by type and by segment.", metavar="CONFIDENCE", adds="rows",
               read=lazy("hlteval.tasks.runtime.options:threshold")),
    ),
)  # fmt: skip
