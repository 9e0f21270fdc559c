"""LoReHLT situation frames: many documents with a file of needs, issues and sentiments, and one.

The sizes are numbers of frames of the reference, with as many documents as evaluations have.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measuring import Benchmark, Step, hlteval
from benchmarks.situation_frames import EMOTIONS, Row, documents, found

READ = "import sys, hlteval; [hlteval.read(path) for path in sys.argv[1:]]"
SIZES: Mapping[int, int] = {1: 1, 1_000: 200, 3_000: 500, 10_000: 1_000, 50_000: 3_000}
"""How many documents have so many frames."""
_NEEDS = "need_type place_id need_status scope severity resolution_status kb_id"
_ISSUES = "issue_type place_id issue_status scope severity kb_id"
_SENTIMENTS = "sentiment_value polarity emotion_value source target kb_id"
_FIELDS = ("label", "entity", "status", "scope", "severity", "resolution", "place")


def steps(size: int, folder: Path, *, single: bool = False) -> Iterator[Step]:
    """Read, validate, score in both profiles."""
    reference, system = _sides(size, 1 if single else SIZES.get(size, max(1, size // 10)), folder)
    sides = [reference, system]
    yield Step("read both", (sys.executable, "-c", READ, str(reference), str(system)), sides)
    validate = hlteval("validate", "lorehlt-sf", system, "--against", reference)
    yield Step("validate --against", validate, sides)
    score = hlteval("score", "lorehlt-sf", "-r", reference, "-s", system)
    yield Step("score", score, sides)
    official = (*score, "--profile", "official", "--gravity", "numeric")
    yield Step("score, official", official, sides)


def _sides(size: int, number: int, folder: Path) -> tuple[Path, Path]:
    """The reference and the submission, written into a folder."""
    truth, errors = (np.random.default_rng([5, side]) for side in (0, 1))
    places = max(8, size // 60)
    reference, system = folder / "reference", folder / "system.json"
    for kind in ("needs", "issues", "sentiments"):
        (reference / kind).mkdir(parents=True)
    submitted = []
    for at, frames in enumerate(documents(number, size / number, places, truth)):
        name = f"ENG_{at:06}"
        _write(reference, name, frames)
        submitted += [_item(name, own) for own in found(frames, places, errors)]
    system.write_text(json.dumps(submitted, indent=1), "utf-8")
    return reference, system


def _item(name: str, own: Row) -> Row:
    item = {"DocumentID": name, "Type": own["label"], "Place_KB_ID": own["place"]}
    item |= {"Status": own["status"], "Confidence": own["confidence"], "Urgent": own["urgent"]}
    item |= {"Justification_ID": "segment-0"}
    item |= {} if own["issue"] else {"Resolution": own["resolution"]}
    sources = dict.fromkeys((sec["holder"], sec["value"] > 0) for sec in own["sec"])
    once = {(sec["holder"], sec["value"] > 0): sec for sec in own["sec"]}
    item["SEC"] = [
        {"Sentiment": once[key]["value"], "Source": once[key]["holder"]}
        | {f"Emotion_{emotion.title()}": once[key][emotion] for emotion in EMOTIONS}
        for key in sources
    ]
    return item


def _write(reference: Path, name: str, frames: list[Row]) -> None:
    rows: dict[str, list[list[object]]] = {"needs": [], "issues": [], "sentiments": []}
    for number, own in enumerate(frames):
        target, kind = f"Frame-{name}-{number}", "issues" if own["issue"] else "needs"
        cells = [(own | {"entity": f"Ent-{name}-{number}"})[field] for field in _FIELDS]
        cells = [cell for cell in cells if cell is not None]
        rows[kind].append([7, name, target, kind[:-1], *cells])
        for sec in own["sec"]:
            felt = ["joyhappiness" if e == "joy" else e for e in EMOTIONS if sec[e]]
            sign = "positive" if sec["value"] > 0 else "negative"
            own_felt = [sec["value"], sign, ",".join(felt) or "none", sec["holder"], target]
            rows["sentiments"].append([7, name, *own_felt, sec["holder"]])
    heads = {"needs": _NEEDS, "issues": _ISSUES, "sentiments": _SENTIMENTS}
    first = {"sentiments": "user_id doc_id"}
    for kind, lines in rows.items():
        head = f"{first.get(kind, 'user_id doc_id frame_id frame_type')} {heads[kind]}".split()
        text = "".join("\t".join(map(str, line)) + "\n" for line in [head, *lines])
        (reference / kind / f"{name}.{kind}.tab").write_text(text, "utf-8")


BENCHMARKS = (
    Benchmark("lorehlt-sf", "frames", tuple(SIZES), (1, 1_000), steps),
    Benchmark(
        "lorehlt-sf",
        "frames in one document",
        (1, 1_000, 10_000),
        (1, 100),
        partial(steps, single=True),
    ),
)
