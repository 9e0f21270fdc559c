"""The CCU Phase 1 plan as slow, plain Python: an oracle on small inputs.

Nothing of the project is used. Places are whole cells (half seconds or characters), half-open;
values are fractions until the end. Appendix D makes the reference, Appendix A and B count,
section C.4 computes.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import NamedTuple

GENRES = ("text", "audio", "video")
NONE, NOANN = "none", "noann"


class Document(NamedTuple):
    """A document; its length in cells."""

    genre: str
    length: int


class Judgment(NamedTuple):
    """A label that an annotator gives to a segment."""

    document: str
    start: int
    end: int
    annotator: str
    label: str


class Detection(NamedTuple):
    """An instance of a system; without a score it is the last."""

    document: str
    start: int
    end: int
    label: str
    llr: float | None


def decisions(judgments, kind):
    """The labels of each segment: `none` if it has no class, `noann` if it is not annotated."""
    by_segment = defaultdict(lambda: defaultdict(set))
    for document, start, end, annotator, label in judgments:
        by_segment[document, start, end][annotator].add(label)
    decided = {}
    for segment, by_annotator in by_segment.items():
        every = set().union(*by_annotator.values()) - {NOANN}
        if kind == "emotion":
            judges = [labels - {NOANN} for labels in by_annotator.values() if labels - {NOANN}]
            agreed = {name for name in every if sum(name in labels for labels in judges) >= 2}
            decided[segment] = {NOANN} if len(judges) < 2 else agreed or {NONE}
        else:
            decided[segment] = every or {NOANN}
    return decided


def merged(decided, documents):
    """Instance Merging: rows of document, class, start and end."""
    instances = []
    for name, document in documents.items():
        own = sorted((start, end, labels) for (d, start, end), labels in decided.items()
                     if d == name)  # fmt: skip
        most = 10 if document.genre == "text" else 2  # characters, or a second in cells
        for label in sorted(set().union(*(labels for *_, labels in own)) - {NONE, NOANN}):
            current = None
            for start, end, labels in own:
                if current and NOANN in labels and start >= current[1]:
                    instances.append((name, label, *current))
                    current = None
                if label not in labels:
                    continue
                if current and start - current[1] < most:
                    current = (current[0], max(current[1], end))
                else:
                    if current:
                        instances.append((name, label, *current))
                    current = (start, end)
            if current:
                instances.append((name, label, *current))
    return instances


def detection(documents, judgments, detections, kind, *, listed=None, mapping=None, classes=None):
    """The values of norms or emotions, `None` where they are undefined."""
    listed, pairs = listed or {}, mapping or ()
    hidden = {name for name, what in listed.items() if what == "hidden"}
    hidden |= {target for _, target in pairs if listed.get(target) != "known"}
    instances, scored = _reference(judgments, documents, kind)
    system = []
    for name, start, end, label, llr in detections:
        targets = {target for source, target in pairs if source == label} & hidden
        targets |= {label} - hidden
        cells = set(range(start, end)) & scored[name]
        score = -inf if llr is None else llr
        system += [(name, target, cells, score) for target in targets if cells]
    references = [
        (name, label, set(range(start, end)) & scored[name])
        for name, label, start, end in instances
    ]
    if classes is not None:
        system, references = (
            [row for row in side if row[1] in classes] for side in (system, references)
        )
    unscored = hidden if mapping is None else set()
    values = {"classes": 0}
    names = sorted({label for _, label, _ in references})
    for genre in (None, *GENRES):
        within = {n for n, d in documents.items() if genre in (None, d.genre)}
        own = {
            label: _measures(
                [row[:1] + row[2:] for row in system if row[1] == label and row[0] in within],
                [row[:1] + row[2:] for row in references if row[1] == label and row[0] in within],
            )
            for label in names
            if any(row[1] == label and row[0] in within for row in references)
        }
        counted = {label: found for label, found in own.items() if label not in unscored}
        values["map" if genre is None else f"map.{genre}"] = _mean(
            found["ap"] for found in counted.values()
        )
        if genre is not None:
            continue
        values["classes"] = len(counted)
        for which in ("known", "hidden"):
            values[f"map.{which}"] = _mean(
                found["ap"] for label, found in counted.items()
                if listed.get(label) == which
            )  # fmt: skip
        values["map_interpolated"] = _mean(found["ap_interpolated"] for found in counted.values())
        for rate in ("precision", "recall", "f1"):
            values[f"mean_{rate}"] = _mean(found[rate] for found in counted.values())
        tp, fp, n = (sum(found[c] for found in counted.values()) for c in ("tp", "fp", "n"))
        values |= {f"micro_{rate}": value for rate, value in _rates(tp, fp, n).items()}
        for label, found in own.items():
            for measure in ("ap", "ap_interpolated", "precision", "recall", "f1"):
                values[f"{measure}.{label}"] = found[measure] if label in counted else None
    return values


def _reference(judgments, documents, kind):
    """The instances of a reference, and the cells of each document that are scored."""
    decided = decisions(judgments, kind)
    instances = merged(decided, documents)
    scored = defaultdict(set)
    for (name, start, end), labels in decided.items():
        if labels != {NOANN}:
            scored[name] |= set(range(start, end))
    for name, _, start, end in instances:
        scored[name] |= set(range(start, end))
    return instances, scored


def _measures(system, references):
    """Appendix A for a class: the pairs, then the measures of section C.4."""
    pairs = []
    for s, (document, cells, llr) in enumerate(system):
        for r, (other, expected) in enumerate(references):
            common = len(cells & expected) if document == other else 0
            if common and Fraction(common, len(cells | expected)) >= Fraction(1, 5):
                order = (-llr, min(cells), min(expected), max(cells), max(expected))
                pairs.append((order, s, r))
    correct = _one_to_one(pairs)
    return _curve([(llr, s in correct) for s, (_, _, llr) in enumerate(system)], len(references))


def _one_to_one(pairs):
    correct, taken = set(), set()
    for _, s, r in sorted(pairs):
        if s not in correct and r not in taken:
            correct.add(s)
            taken.add(r)
    return correct


def _curve(instances, n):
    points = []
    for threshold in sorted({llr for llr, _ in instances}, reverse=True):
        above = [hit for llr, hit in instances if llr >= threshold]
        points.append((Fraction(sum(above), len(above)), Fraction(sum(above), n)))
    recalls = [Fraction(0), *(recall for _, recall in points)]
    gains = [after - before for before, after in pairwise(recalls)]
    best = [max(p for p, _ in points[at:]) for at in range(len(points))]
    tp = sum(hit for _, hit in instances)
    found = {"tp": tp, "fp": len(instances) - tp, "n": n}
    found["ap"] = sum((g * p for g, (p, _) in zip(gains, points, strict=True)), Fraction(0))
    found["ap_interpolated"] = sum((g * p for g, p in zip(gains, best, strict=True)), Fraction(0))
    return found | _rates(found["tp"], found["fp"], n)


def _rates(tp, fp, n):
    return {
        "precision": Fraction(tp, tp + fp) if tp + fp else None,
        "recall": Fraction(tp, n) if n else None,
        "f1": Fraction(2 * tp, tp + fp + n) if tp + fp + n else None,
    }


def _mean(values):
    defined = [value for value in values if value is not None]
    return sum(defined, Fraction(0)) / len(defined) if defined else None


def changes(documents, segments, expected, found, delta=20, delta_text=100):
    """The values of change points; `expected` has document and place, `found` a score, too."""
    values, areas = {}, []
    for genre in GENRES:
        within = {name for name, document in documents.items() if document.genre == genre}
        inside = [
            (name, at, -inf if llr is None else llr)
            for name, at, llr in found
            if name in within and any(d == name and s <= at <= e for d, s, e in segments)
        ]
        references = [(name, at) for name, at in expected if name in within]
        most = delta_text if genre == "text" else delta
        pairs = [
            ((-llr, at, place), s, r)
            for s, (name, at, llr) in enumerate(inside)
            for r, (other, place) in enumerate(references)
            if name == other and abs(at - place) <= most
        ]
        correct = _one_to_one(pairs)
        own = _curve([(llr, s in correct) for s, (*_, llr) in enumerate(inside)],
                     len(references)) if references else {}  # fmt: skip
        areas.append(own.get("ap"))
        for measure in ("ap", "ap_interpolated", "precision", "recall", "f1"):
            values[f"cd.{measure}.{genre}"] = own.get(measure)
    return values | {"cd.ap": _mean(areas)}


def levels(documents, judged, said, *, kind="valence", unprocessed=(), gaps=False):
    """The values of levels.

    Args:
        documents: by name.
        judged: segments as document, start, end, annotator and level (None for `noann`).
        said: the system's document, start, end and level.
        kind: `valence` or `arousal`.
        unprocessed: documents that the system could not process.
        gaps: whether the system may leave gaps.
    """
    series = {}
    for name, document in documents.items():
        if not any(row[0] == name for row in judged):
            continue
        text = document.genre == "text"
        given = defaultdict(lambda: defaultdict(list))
        for other, start, end, annotator, level in judged:
            if other == name:
                given[start, end][annotator] += [] if level is None else [level]
        pieces = []
        for place, by_annotator in sorted(given.items()):
            each = [_mean(map(Fraction, own)) for own in by_annotator.values() if own]
            pieces.append((*place, _mean(each) if len(each) > 1 else None))
        pieces = _extended(pieces, 10 if text else 2)
        end = max(document.length, pieces[-1][1]) if text else document.length
        own = sorted(row[1:] for row in said if row[0] == name and name not in unprocessed)
        missing = {"valence": 500, "arousal": 1}[kind]
        if own and gaps:
            own = _extended(own, 10 if text else 2)
        if own and text and 0 < end - own[-1][1] <= 1:
            own[-1] = (own[-1][0], end, own[-1][2])
        system = [missing if not own or not gaps else None] * end
        reference = [None] * end
        for side, rows in ((reference, pieces), (system, own)):
            for start, stop, level in rows:
                side[start : min(stop, end)] = [level] * (min(stop, end) - start)
        size = 1 if text else 4  # a character, or two seconds in cells
        units = []
        for at in range(0, end, size):
            sides = [side[at : at + size] for side in (reference, system)]
            if all(None not in side for side in sides):
                units.append(tuple(_mean(map(Fraction, side)) for side in sides))
        series[name] = units
    values = {}
    for genre in (None, *GENRES):
        names = [name for name in series if genre in (None, documents[name].genre)]
        units = [unit for name in names for unit in series[name]]
        ending = f".{genre}" if genre else ""
        values |= {f"ccc{ending}": _concordance(units), f"kappa{ending}": _kappa(units)}
    values["ccc_document_mean"] = _mean(map(_concordance, series.values()))
    return values


def _extended(pieces, limit):
    """Gaps below a limit have the level before them."""
    found = [(start, later[0] if later[0] - end < limit else end, level)
             for (start, end, level), later in pairwise(pieces)]  # fmt: skip
    return [*found, pieces[-1]]


def _concordance(units):
    """C.4.5, sample version: 2 r sx sy is twice the covariance."""
    n = len(units)
    if n < 2:
        return None
    x, y = (sum(side) / n for side in zip(*units, strict=True))
    xx = sum((a - x) ** 2 for a, _ in units) / (n - 1)
    yy = sum((b - y) ** 2 for _, b in units) / (n - 1)
    xy = sum((a - x) * (b - y) for a, b in units) / (n - 1)
    whole = xx + yy + (x - y) ** 2
    return 2 * xy / whole if whole else None


def _kappa(units):
    points = [tuple((level >= 300) + (level >= 700) for level in unit) for unit in units]
    if not points:
        return None
    n = len(points)
    observed = Fraction(sum(a == b for a, b in points), n)
    chance = sum(
        Fraction(sum(a == p for a, _ in points) * sum(b == p for _, b in points), n * n)
        for p in range(3)
    )
    return (observed - chance) / (1 - chance) if chance != 1 else None
