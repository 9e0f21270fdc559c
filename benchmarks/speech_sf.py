"""Speech Situation Frames: segments with about twelve frames each, also with many errors."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval.validators.situations.schema import types

PLACES = ("Osh", "Naryn", "Talas", "Batken", "Bishkek", "Карабалта", "江苏", "አዲስ አበባ")
PARSE = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"


def situations(draw: random.Random) -> str:
    """The annotations of a segment: up to three situations."""
    blocks = [
        f"TYPE: {draw.choice(types())}\nTIME: Current\nResolution: Sufficient\n"
        f"PLACE: {draw.choice(PLACES)}\n"
        for _ in range(draw.randrange(4))
    ]
    return "\n".join(blocks) or "TYPE: n/a\nTIME: n/a\nResolution: n/a\nPLACE: n/a\n"


def system_frames(draw: random.Random, name: str) -> Iterator[dict[str, Any]]:
    """The frames of a system for a segment: one of each type."""
    for kind in types():
        frame = {"DocumentID": name, "Type": kind, "TypeConfidence": draw.random()}
        yield frame | ({"PlaceMention": draw.choice(PLACES)} if draw.random() < 0.7 else {})


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate, score, and report 1,000 errors; compared with only parsing the JSON."""
    draw, frames = random.Random(5), list[dict[str, Any]]()
    reference, system = folder / "reference", folder / "system.json"
    reference.mkdir()
    for number in range(size):
        name = f"S{number:06}"
        (reference / f"{name}.txt").write_text(situations(draw), "utf-8")
        frames += system_frames(draw, name)
    system.write_text(json.dumps(frames, ensure_ascii=False, indent=1), "utf-8")
    yield Step("json.load", (sys.executable, "-c", PARSE, str(system)), [system])
    validate = hlteval("validate", "speech-sf", system, "--against", reference)
    yield Step("validate --against", validate, [system, reference])
    score = hlteval("score", "speech-sf", "-r", reference, "-s", system)
    yield Step("score", score, [system, reference])
    flawed = folder / "flawed.json"
    for at in range(0, len(frames), max(1, len(frames) // 1000)):
        frames[at]["TypeConfidence"] = str(frames[at]["TypeConfidence"])
    flawed.write_text(json.dumps(frames, ensure_ascii=False, indent=1), "utf-8")
    yield Step("validate, 1,000 errors", hlteval("validate", "speech-sf", flawed), [flawed])


BENCHMARK = Benchmark(
    name="speech-sf", unit="segments", sizes=(100, 1_000, 10_000), quick=(100,), steps=steps
)
