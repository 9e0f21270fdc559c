"""Speech Situation Frames (v1.5): the task speech-sf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.extensions import later
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


SPEECH = Task(
    name="speech-sf",
    title="Speech Situation Frames: situations in audio segments, by confidence",
    specification="Speech Situation Frames Evaluation Specification v1.5",
    format="speech-sf-json",
    references=("appen", "speech-sf-json", "corpus", "jsonl", "document-list"),
    predicted=(),
    given=(),
    alone=True,
    schema=later("hlteval.validators.speech_sf:types"),
    rules=later("hlteval.validators.speech_sf:RULES"),
    metric=later("hlteval.tasks.speech_sf_metrics:metric"),
    metrics=tuple(
        f"{layer}.{figure}"
        for layer in ("relevance", "type", "type+place")
        for figure in ("auc", "auc_anchored", "auc_unanchored", "max_f1")
    ),
    primary={"plan": "type.auc", "official": "type.auc"},
    forgives=_forgives,
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
            sets=True,
            commands=("score", "validate"),
        ),
        Option(
            "plot",
            "Draw the curves as FILE.png, .svg or .pdf.",
            shows=True,
        ),
        Option(
            "beside",
            "Another submission, whose curves are drawn beside; can be repeated.",
            metavar="PATH",
            shows=True,
            many=True,
        ),
    ),
)
