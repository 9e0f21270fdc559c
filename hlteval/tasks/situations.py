"""Speech Situation Frames (v1.5): the task speech-sf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.tasks.statistics import MeasureInfo, StatisticInfo
from hlteval.tasks.task import Option, Task

if TYPE_CHECKING:
    from hlteval.findings import Finding

_PRINTED = frozenset({"SFJ205", "SFJ206", "SFJ207"})


def _forgives(finding: Finding) -> bool:
    """Whether the official script prints a finding and goes on.

    It validates by the schema, but scores whatever it can; of a Status it takes no notice.
    """
    if finding.code in _PRINTED:
        return True
    return finding.code.startswith("SFJ2") and ".Status" in (finding.record or "")


_COUNTS = "TP = Σ similarity of aligned frames, P = TP / |system|, R = TP / |reference|"

LAYERS = (
    MeasureInfo(
        "relevance",
        "Segments in which there is any situation.",
        f"frames are segments, equal ones have similarity 1; {_COUNTS}",
        "Speech SF v1.5, section 2.1, Relevance",
    ),
    MeasureInfo(
        "type",
        "Types of situations by segment.",
        f"frames are segment and type, equal ones have similarity 1; {_COUNTS}",
        "Speech SF v1.5, section 2.1, Type",
    ),
    MeasureInfo(
        "type+place",
        "Types of situations with their places, by segment.",
        "frames are segment, type and place; similarity = (L − d) / L, with L the lengths of both "
        f"places and d their edit distance (substitutions cost 2); {_COUNTS}",
        "Speech SF v1.5, section 2.1, Type+Place",
    ),
)

_POINTS = "points (R, P) of the cuts at round(N^(j/100)), j = 1 to 100, of N frames by confidence"

FIGURES = (
    StatisticInfo(
        "auc",
        "The area below the curve of precision by recall, as the profile has it: anchored in "
        "`plan`, unanchored in `official`.",
        "`plan`: auc_anchored; `official`: auc_unanchored",
        clause="Speech SF v1.5, section 2",
    ),
    StatisticInfo(
        "auc_anchored",
        "The area with the curve drawn back to recall 0, at the precision of its first cut.",
        f"Σ (R₂ − R₁) · (P₁ + P₂) / 2 over (0, P of the first cut), then {_POINTS}",
        clause="Speech SF v1.5, section 2",
    ),
    StatisticInfo(
        "auc_unanchored",
        "The area between the first and the last point with a recall above 0.",
        f"Σ (R₂ − R₁) · (P₁ + P₂) / 2 over the {_POINTS}, that have R > 0",
        clause="Speech SF v1.5, section 2",
    ),
    StatisticInfo(
        "max_f1",
        "The largest F1 of a point of the curve.",
        f"max 2 · P · R / (P + R) over the {_POINTS}",
        clause="Speech SF v1.5, section 2",
    ),
)


SPEECH = Task(
    name="speech-sf",
    title="Speech Situation Frames: situations in audio segments, by confidence",
    specification="Speech Situation Frames Evaluation Specification v1.5",
    format="speech-sf-json",
    references=("appen", "speech-sf-json", "corpus", "jsonl", "document-list"),
    submission_suffixes=(),
    provided_suffixes=(),
    reference_optional=True,
    schema=lazy("hlteval.validators.situations.schema:types"),
    rules=lazy("hlteval.validators.situations.rules:RULES"),
    metric=lazy("hlteval.tasks.situations_metrics:metric"),
    statistics=FIGURES,
    measures=LAYERS,
    primary={"plan": "type.auc", "official": "type.auc"},
    official_ignores=_forgives,
    options=(
        Option(
            "place_match",
            "Whether similar places count in part (soft), or only equal ones (exact).",
            choices=("soft", "exact"),
        ),
        Option(
            "normalize",
            "Bring the places of both sides to a Unicode normal form.",
            choices=("NFC", "NFD", "NFKC", "NFKD"),
        ),
        Option(
            "place_dictionary",
            "A table of places, written form and then the name to compare, with a tab between.",
        ),
        Option(
            "place_separators",
            "The characters between places in Appen annotations; `,፣` if not given.",
            metavar="CHARS",
            is_format_setting=True,
            commands=("score", "validate"),
        ),
        Option(
            "plot",
            "Draw the curves as FILE.png, .svg or .pdf.",
            display_only=True,
        ),
        Option(
            "beside",
            "Another submission, whose curves are drawn beside; can be repeated.",
            metavar="PATH",
            display_only=True,
            repeatable=True,
        ),
    ),
)
