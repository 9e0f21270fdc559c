"""Agreement of annotators by task: its units and categories, and the measures for pairs of them.

All declarations are here, side by side; the modules of the tasks name them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hlteval.extensions import lazy
from hlteval.scoring.agreement.units import Marked, Present, Unit

if TYPE_CHECKING:
    from hlteval.representation import Corpus


def _unchanged(corpus: Corpus) -> Corpus:
    """Return an annotation that a metric takes for the output of a system as it is."""
    return corpus


@dataclass(frozen=True, slots=True)
class Agreement:
    """How agreement between annotators of a task is measured.

    Attributes:
        units: what annotators judge.
        measures: the metrics of the task by which one annotator is scored against another; the one
            that ranks if there are none here.
        as_system: makes the annotation of one annotator the output of a system.
        options: values of options of the task, by name: what scoring a single annotator needs, and
            that only these measures are counted.
        why: why there are no units, after "no coefficients: "; empty where there are.
    """

    units: tuple[Unit, ...] = ()
    measures: tuple[str, ...] = ()
    as_system: Callable[[Corpus], Corpus] = _unchanged
    options: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


_SPAN = ("start", "end", "fragments")
_SEGMENT = ("start", "end")
_NOT_JUDGED = ("noann", "EMPTY_NA")
_BINS = ("1", "2", "3", "4", "5")
_SCOPES = ("1_smallgroup", "2_largegroup", "3_municipality", "4_region")
_SEVERITIES = ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath")

SEEDEV = Agreement(
    units=(
        Marked("relation", "events of the same arguments: their type", "frames", ("targets",),
               "label"),
    ),
    measures=("f1",),
)  # fmt: skip
NAMES = Agreement(units=(Marked("type", "spans of text: their type", "mentions", _SPAN, "label"),))
ENTITIES = Agreement(
    units=(
        *NAMES.units,
        Marked("mention_type", "spans of text: the type of mention", "mentions", _SPAN,
               "mention_type"),
        Marked("entity", "spans of text: their entity, all of NIL as one", "mentions", _SPAN,
               "entity", merged=r"^(NIL)"),
    ),
    measures=("strong_typed_all_match.fscore", "strong_mention_match.fscore"),
    options={"measure": "strong_typed_all_match strong_mention_match"},
)  # fmt: skip
_PLACED = ("label", "place")
SPEECH = Agreement(
    units=(
        Present("situation", "types of situations in segments: present or not", "frames"),
        Marked("status", "types and places in segments: the status", "frames", _PLACED, "status"),
        Marked("resolution", "types and places in segments: the resolution", "frames", _PLACED,
               "resolution"),
        Marked("urgent", "types and places in segments: the urgency", "frames", _PLACED, "urgent",
               otherwise="not urgent"),
    ),
    measures=("type.max_f1", "type+place.max_f1"),
    as_system=lazy("hlteval.tasks.runtime.agreement:situations"),
)  # fmt: skip
_ENTRY = ("label", "place_kb")
_OF_FRAME = ("frame.label", "frame.place_kb", "holder_kb")
FRAMES = Agreement(
    units=(
        Present("situation", "types of situations in documents: present or not", "frames"),
        Marked("status", "types and places in documents: the status", "frames", _ENTRY, "status"),
        Marked("scope", "types and places in documents: the scope", "frames", _ENTRY, "scope",
               "ordinal", _SCOPES),
        Marked("severity", "types and places in documents: the severity", "frames", _ENTRY,
               "severity", "ordinal", _SEVERITIES),
        Marked("resolution", "types and places in documents: the resolution", "frames", _ENTRY,
               "resolution"),
        Marked("urgent", "types and places in documents: the urgency", "frames", _ENTRY, "urgent"),
        Marked("polarity", "holders of sentiments about situations: the polarity", "sentiments",
               _OF_FRAME, "polarity"),
        Marked("sentiment", "holders of sentiments about situations: the value", "sentiments",
               _OF_FRAME, "value", "interval"),
    ),
    measures=("frame_f1.type", "frame_f1.type,place"),
)  # fmt: skip
TEMPLETTES = Agreement(
    units=(
        Present("type", "types of instances in documents: present or not", "frames"),
        Marked("fill", "slots of types of instances: the text of the fill", "fills",
               ("frame.label", "slot"), "text"),
    ),
    measures=("both.f", "content.f", "extent.f"),
    as_system=lazy("hlteval.tasks.runtime.agreement:templettes"),
)  # fmt: skip
TRANSLATIONS = Agreement(
    measures=("bleu", "chrf"), options={"metrics": "bleu,chrf"},
    as_system=lazy("hlteval.tasks.runtime.agreement:translations"),
    why="translations have no categories",
)  # fmt: skip


def _instances(kind: str) -> Present:
    return Present(kind, f"{kind}s in segments: present or not", "instances", _SEGMENT,
                   only={"kind": kind}, nothing=("none",), unjudged=_NOT_JUDGED)  # fmt: skip


def _levels(kind: str) -> tuple[Unit, ...]:
    of_kind = {"kind": kind}
    return (
        Marked(kind, f"segments: the level of {kind}", "ratings", _SEGMENT, "level", "interval",
               only=of_kind),
        Marked(f"{kind}_bin", f"segments: the binned level of {kind}", "ratings", _SEGMENT, "bin",
               "ordinal", _BINS, only=of_kind),
    )  # fmt: skip


_DETECTIONS = lazy("hlteval.tasks.runtime.agreement:detections")
NORMS = Agreement(
    units=(
        _instances("norm"),
        Marked("status", "norms in segments: adhered to or violated", "instances",
               (*_SEGMENT, "label"), "status", only={"kind": "norm"}, unjudged=_NOT_JUDGED),
    ),
    measures=("micro_f1",), as_system=_DETECTIONS,
)  # fmt: skip
EMOTIONS = Agreement(
    units=(_instances("emotion"),), measures=("micro_f1",), as_system=_DETECTIONS,
    options={"min_votes": "1"},
)  # fmt: skip
VALENCE = Agreement(
    units=_levels("valence"), measures=("ccc", "kappa"), options={"min_judgments": "1"}
)
AROUSAL = replace(VALENCE, units=_levels("arousal"))
CHANGES = Agreement(
    measures=("cd.f1.text", "cd.f1.audio", "cd.f1.video"), as_system=_DETECTIONS,
    why="change points of several annotators are at different places",
)  # fmt: skip
ANNOTATION = Agreement(units=(*NORMS.units, *EMOTIONS.units, *VALENCE.units, *AROUSAL.units))
