"""A scorer of LoReHLT situation frames in plain Python: section 16 of the plan, loop by loop.

It is slow, knows nothing of the scorer that it checks, and reads the values of the files that
`lorehlt_cases` writes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ISSUES = {"regimechange", "crimeviolence", "terrorism"}
CLASSES = {
    "type": ("type",),
    "type,place": ("type", "place"),
    "type,place,status": ("type", "place", "status"),
    "type,place,status,urgent": ("type", "place", "status", "urgent"),
    "type,place,status,resolution": ("type", "place", "status", "unresolved"),
    "type,place,status,urgent,resolution": ("type", "place", "status", "urgent", "unresolved"),
}
FINEST = "type,place,status,urgent,resolution"
GRAVE = f"grave:{FINEST}"
EMOTIONS = {"polarity": (), "polarity,fear": ("fear",), "polarity,anger": ("anger",),
            "polarity,joy": ("joy",)}  # fmt: skip


@dataclass
class Sentiment:
    """A sentiment: its source, whether it is positive, and its emotions."""

    source: str | None
    positive: bool
    fear: bool
    anger: bool
    joy: bool


@dataclass
class Frame:
    """A frame of either side."""

    doc: str
    type: str
    place: str | None
    status: str
    urgent: bool
    unresolved: bool
    speech: bool = False
    annotator: str = ""
    confidence: float = 1.0
    sentiments: list[Sentiment] = field(default_factory=list)

    @property
    def is_grave(self) -> bool:
        return self.status == "current" and self.urgent and self.unresolved

    def key(self, name: str) -> tuple[Any, ...]:
        fields = CLASSES[name.removeprefix("grave:")]
        return self.doc, *(getattr(self, field) for field in fields)

    def is_of(self, name: str) -> bool:
        if name == GRAVE and not (self.urgent and self.unresolved):
            return False
        return name == "type" or self.place is not None


@dataclass
class Case:
    """What is scored.

    Attributes:
        reference: the frames of all annotators.
        annotated: the documents that the reference has in any of its tables.
        system: the frames of the system.
        drawn: the annotator of a document.
        mentions: of system and reference, rows of document, first and last offset and entity; None
            if one of both is not given.
    """

    reference: list[Frame]
    annotated: set[str]
    system: list[Frame]
    drawn: Mapping[tuple[str, bool], str]
    documents: list[str] | None = None
    scored: list[str] | None = None
    cutoff: float | None = None
    max_frames: int | None = None
    no_nil: bool = False
    gains: Sequence[float] = (5, 3, 1)
    thresholds: Sequence[float] = (25, 10)
    mentions: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]] | None = None


def expected(case: Case) -> dict[str, float | None]:
    """Compute all values of a case."""
    reference, system = _scored(case)
    if case.no_nil:
        reference = [f for f in reference if "nil" not in (f.place or "").lower()]
        system = [f for f in system if "nil" not in (f.place or "").lower()]
    system = [_with_nil(frame, case) for frame in system]
    single = [f for f in reference if case.drawn[f.doc, f.type in ISSUES] == f.annotator]
    values: dict[str, float | None] = {}
    own = _meant(system, single)
    predicted = [f for f in own if case.cutoff is None or f.confidence > case.cutoff]
    for name, gold, mine in (("", single, predicted), ("_text", _texts(single), _texts(predicted))):
        values |= _ndcg(f"ndcg{name}", gold, mine, case, numeric=False)
        values |= _ndcg(f"ndcg_sec{name}", gold, mine, case, numeric=True)
    everybody = _meant(system, reference)
    kept = [f for f in everybody if case.cutoff is None or f.confidence > case.cutoff]
    values |= _ndcg("ndcg_combined", reference, kept, case, numeric=False)
    values |= _precision_at(single, predicted, case)
    for name in (*CLASSES, GRAVE):
        values |= _frames(name, reference, everybody, kept)
    values |= _sentiments(single, predicted)
    return values


def _scored(case: Case) -> tuple[list[Frame], list[Frame]]:
    """16.1: a subset of the test set is scored; unknown documents are false alarms."""
    scored = case.annotated if case.scored is None else set(case.scored)
    known = scored | case.annotated | set(case.documents or ())
    reference = [f for f in case.reference if f.doc in scored]
    system = [f for f in case.system if f.doc in scored or f.doc not in known]
    if case.max_frames is not None:
        ranked = sorted(range(len(system)), key=lambda at: -system[at].confidence)
        system = [system[at] for at in sorted(ranked[: case.max_frames])]
    return reference, system


def _copy(frame: Frame, **changes: Any) -> Frame:
    return Frame(**{**vars(frame), **changes})


def _with_nil(frame: Frame, case: Case) -> Frame:
    """NIL places and sources are what the EDL pair says that they are."""
    sentiments = [
        Sentiment(**{**vars(own), "source": _entity(own.source, frame.doc, case)})
        for own in frame.sentiments
    ]
    return _copy(frame, place=_entity(frame.place, frame.doc, case), sentiments=sentiments)


def _entity(name: str | None, doc: str, case: Case) -> str | None:
    if name is None or not name.startswith("NIL") or case.mentions is None:
        return name
    own, gold = case.mentions
    common: Counter[str] = Counter()
    for document, first, last, entity in own:
        for other, begin, end, meant in gold:
            if document == other == doc and entity == name:
                common[meant] += max(0, min(last, end) - max(first, begin) + 1)
    best = sorted((-size, meant) for meant, size in common.items() if size)
    return best[0][1] if best else f"nobody's {name}"


def _meant(system: list[Frame], reference: list[Frame]) -> list[Frame]:
    """Entries of ambiguous places and sources mean the reference's, unless one has them alone."""
    found = []
    for frame in system:
        alike = [f for f in reference if (f.doc, f.type) == (frame.doc, frame.type)]
        place = _one_of(frame.place, [f.place for f in alike])
        felt = [own.source for f in alike for own in f.sentiments]
        sentiments = [
            Sentiment(**{**vars(own), "source": _one_of(own.source, felt)})
            for own in frame.sentiments
        ]
        found.append(_copy(frame, place=place, sentiments=sentiments))
    return found


def _one_of(name: str | None, known: list[str | None]) -> str | None:
    if name in known or name is None:
        return name
    return next((other for other in known if other and name in other.split("|")), name)


def _texts(frames: list[Frame]) -> list[Frame]:
    return [frame for frame in frames if not frame.speech]


def _once(frames: list[Frame]) -> list[Frame]:
    """Equal frames of an annotator, or of the system, count once; the most confident one."""
    found: dict[tuple[Any, ...], Frame] = {}
    for frame in sorted(frames, key=lambda frame: -frame.confidence):
        found.setdefault((frame.annotator, *frame.key(FINEST)), frame)
    return list(found.values())


def _gravity(frame: Frame, felt: list[Sentiment], *, numeric: bool) -> int:
    """16.2 and 16.2.1, in fifths of a frame."""
    if not numeric:
        return 5 * frame.is_grave
    boosts = any(own.fear for own in felt) + any(own.anger for own in felt)
    if frame.type in ISSUES:
        urgent = frame.status == "current" and frame.urgent
        return (4 + boosts) * (urgent and boosts > 0)
    return (5 + boosts) * frame.is_grave


def _situations(
    frames: list[Frame], right: Any, *, numeric: bool
) -> dict[tuple[str, str], tuple[int, int]]:
    """Situations by place and type: gravity and number of frames."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for frame in _once(frames):
        if frame.place is not None:
            felt = [own for own in frame.sentiments if right(frame, own)]
            grave, number = found.get((frame.place, frame.type), (0, 0))
            grave += _gravity(frame, felt, numeric=numeric)
            found[frame.place, frame.type] = grave, number + 1
    return found


def _both(
    reference: list[Frame], system: list[Frame], *, numeric: bool
) -> tuple[dict[tuple[str, str], tuple[int, int]], dict[tuple[str, str], tuple[int, int]]]:
    """16.2.1: of the system, only sentiments of a source and polarity of the reference count."""
    known = {
        (f.doc, f.type, f.place, own.source, own.positive)
        for f in reference
        for own in f.sentiments
    }

    def is_right(f: Frame, own: Sentiment) -> bool:
        return (f.doc, f.type, f.place, own.source, own.positive) in known

    gold = _situations(reference, lambda *_: True, numeric=numeric)
    return gold, _situations(system, is_right, numeric=numeric)


def _gain(grave: int, case: Case) -> float:
    high, medium = (5 * value for value in case.thresholds)
    return case.gains[0 if grave >= high else 1 if grave >= medium else 2]


def _ndcg(
    name: str, reference: list[Frame], system: list[Frame], case: Case, *, numeric: bool
) -> dict[str, float | None]:
    """16.2.3 and 16.3 (1)."""
    gold, own = _both(reference, system, numeric=numeric)
    gains = {situation: _gain(grave, case) for situation, (grave, _) in gold.items()}

    def dcg(values: list[float]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values, 1))

    ideal = dcg(sorted(gains.values(), reverse=True))
    values: dict[str, float | None] = {}
    for ties in ("standard", "vindictive", "forgiving"):

        def order(situation: tuple[str, str], ties: str = ties) -> Any:
            grave, frames = own[situation]
            gain = gains.get(situation, 0)
            second = {"standard": -frames, "vindictive": gain, "forgiving": -gain}[ties]
            return -grave, second, situation

        ranked = [gains.get(situation, 0) for situation in sorted(own, key=order)]
        values[f"{name}.{ties}"] = dcg(ranked) / ideal if ideal else None
    return values


def _precision_at(
    reference: list[Frame], system: list[Frame], case: Case
) -> dict[str, float | None]:
    """16.2.5 and 16.3 (2)."""
    tops = [
        sorted(side, key=lambda name, side=side: (-side[name][0], -side[name][1], name))
        for side in _both(reference, system, numeric=False)
    ]
    gold, _ = _both(reference, system, numeric=False)
    gains = [_gain(grave, case) for grave, _ in gold.values()]
    high = sum(gain == case.gains[0] for gain in gains)
    sizes = {str(size): size for size in (1, 2, 3, 5, 10, 20, 50, 100)}
    sizes |= {"high": high, "medium": high + sum(gain == case.gains[1] for gain in gains)}
    return {
        f"precision_at.{name}": len({*tops[0][:size]} & {*tops[1][:size]}) / size
        if 0 < size <= len(gold)
        else None
        for name, size in sizes.items()
    }


def _weights(reference: list[Frame], name: str) -> Counter[tuple[Any, ...]]:
    """16.2: occurrences in the combined reference with respect to the equivalence class."""
    return Counter(frame.key(name) for frame in _once(reference) if frame.is_of(name))


def _confidences(system: list[Frame], name: str) -> dict[tuple[Any, ...], float]:
    found: dict[tuple[Any, ...], float] = {}
    for frame in system:
        if frame.is_of(name):
            found[frame.key(name)] = max(frame.confidence, found.get(frame.key(name), 0.0))
    return found


def _sweep(
    weights: Mapping[tuple[Any, ...], int], found: Mapping[tuple[Any, ...], float]
) -> Iterator[tuple[int, int]]:
    """The weight of true positives and the number of false ones above each confidence."""
    for level in sorted({*found.values()}, reverse=True):
        taken = [key for key, confidence in found.items() if confidence >= level]
        yield sum(weights.get(key, 0) for key in taken), sum(key not in weights for key in taken)


def _frames(
    name: str, reference: list[Frame], system: list[Frame], kept: list[Frame]
) -> dict[str, float | None]:
    """16.2.4, 16.2.6 and 16.3 (3) to (5)."""
    weights, every = _weights(reference, name), _confidences(system, name)
    found, total = _confidences(kept, name), sum(weights.values())
    values: dict[str, float | None] = {f"auc.{name}": _area(weights, every) if total else None}
    if name != GRAVE:
        right = sum(weights[key] for key in found if key in weights)
        false = sum(key not in weights for key in found)
        values |= {
            f"frame_precision.{name}": _ratio(right, right + false),
            f"frame_recall.{name}": _ratio(right, total),
            f"frame_f1.{name}": _ratio(2 * right, right + false + total),
        }
    if name != "type":
        averages, recalls = [], []
        for situation in {key[1:3] for key in weights}:
            gold = {key: weight for key, weight in weights.items() if key[1:3] == situation}
            own = {key: level for key, level in found.items() if key[1:3] == situation}
            size, before, average = sum(gold.values()), 0, 0.0
            for hits, wrong in _sweep(gold, own):
                average += (hits - before) * hits / (hits + wrong) / size
                before = hits
            averages.append(average)
            recalls.append(before / size)
        values[f"map.{name}"] = _mean(averages)
        values[f"mar.{name}"] = _mean(recalls)
    return values


def _area(weights: Counter[tuple[Any, ...]], found: Mapping[tuple[Any, ...], float]) -> float:
    total, area = sum(weights.values()), 0.0
    before, last = 0.0, None
    for hits, wrong in _sweep(weights, found):
        precision, recall = hits / (hits + wrong), hits / total
        area += (recall - before) * (precision + (precision if last is None else last)) / 2
        before, last = recall, precision
    return area


def _sentiments(reference: list[Frame], system: list[Frame]) -> dict[str, float | None]:
    """16.2.7: averages over frames; a sentiment of the reference makes one of the system right."""
    values: dict[str, float | None] = {}
    for name, emotions in EMOTIONS.items():
        sides = []
        for frames in (reference, system):
            found: dict[tuple[Any, ...], Counter[tuple[Any, ...]]] = defaultdict(Counter)
            for frame in frames:
                for own in frame.sentiments:
                    felt = (getattr(own, emotion) for emotion in emotions)
                    key = own.source, own.positive, *felt
                    found[frame.doc, frame.type, frame.place][key] += 1
            sides.append(found)
        gold, own = sides
        rates: dict[str, list[float]] = {"f1": [], "precision": [], "recall": []}
        for target in {*gold, *own}:
            right = (gold[target] & own[target]).total()
            sizes = own[target].total(), gold[target].total()
            rates["f1"].append(2 * right / sum(sizes))
            for rate, size in zip(("precision", "recall"), sizes, strict=True):
                rates[rate] += [right / size] if size else []
        values |= {f"sec_{rate}.{name}": _mean(each) for rate, each in rates.items()}
    return values


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
