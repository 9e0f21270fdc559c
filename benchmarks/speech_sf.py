"""Speech Situation Frames: segments with about twelve frames each, and one segment with many.

A type of a segment may have several places on both sides, which an assignment pairs.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval.validators.situations.rules import types

PLACES = ("Osh", "Naryn", "Talas", "Batken", "Bishkek", "Карабалта", "江苏", "አዲስ አበባ")
PARSE = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"


def situations(draw: random.Random) -> str:
    """The annotations of a segment: up to three situations, each at one to three places."""
    blocks = [
        f"TYPE: {kind}\nTIME: Current\nResolution: Sufficient\n"
        f"PLACE: {', '.join(draw.sample(PLACES, draw.choice((1, 1, 2, 3))))}\n"
        for kind in draw.sample(types(), draw.randrange(4))
    ]
    return "\n".join(blocks) or "TYPE: n/a\nTIME: n/a\nResolution: n/a\nPLACE: n/a\n"


def system_frames(draw: random.Random, name: str) -> Iterator[dict[str, Any]]:
    """The frames of a system for a segment: one or two of each type."""
    for kind in types():
        places = draw.sample((None, *PLACES), draw.choice((1, 1, 1, 2)))
        for place in places:
            frame = {"DocumentID": name, "Type": kind, "TypeConfidence": draw.random()}
            yield frame | ({"PlaceMention": place} if place else {})


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate, score, and report 1,000 errors; compared with only parsing the JSON."""
    draw, frames = random.Random(5), list[dict[str, Any]]()
    reference, system = folder / "reference", folder / "system.json"
    reference.mkdir()
    for number in range(size):
        name = f"S{number:06}"
        (reference / f"{name}.txt").write_text(situations(draw), "utf-8")
        frames += system_frames(draw, name)
    _write(system, frames)
    yield Step("json.load", (sys.executable, "-c", PARSE, str(system)), [system])
    validate = hlteval("validate", "speech-sf", system, "--against", reference)
    yield Step("validate --against", validate, [system, reference])
    score = hlteval("score", "speech-sf", "-r", reference, "-s", system)
    yield Step("score", score, [system, reference])
    flawed = folder / "flawed.json"
    for at in range(0, len(frames), max(1, len(frames) // 1000)):
        frames[at]["TypeConfidence"] = str(frames[at]["TypeConfidence"])
    _write(flawed, frames)
    command = hlteval("validate", "speech-sf", flawed)
    yield Step("validate, 1,000 errors", command, [flawed], code=1)


def steps_of_one(size: int, folder: Path) -> Iterator[Step]:
    """Score so many places of one type and segment on either side."""
    sides = folder / "reference.json", folder / "system.json"
    for seed, side in enumerate(sides):
        draw = random.Random(seed)
        names = draw.sample([_place(number) for number in range(2 * size)], size)
        frame = {"DocumentID": "S1", "Type": types()[0]}
        _write(side, [frame | {"TypeConfidence": draw.random(), "PlaceMention": x} for x in names])
    reference, system = sides
    yield Step("score", hlteval("score", "speech-sf", "-r", reference, "-s", system), sides)


def _place(number: int) -> str:
    """A random name of a place."""
    draw = random.Random(number)
    return "".join(draw.choices("abdeiklmnorstu", k=draw.randint(4, 10))) + str(number)


def _write(path: Path, frames: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(frames, ensure_ascii=False, indent=1), "utf-8")


BENCHMARKS = (
    Benchmark("speech-sf", "segments", (1, 1_000, 10_000), (1, 100), steps),
    Benchmark("speech-sf", "places in one segment", (1, 250, 500, 1_000), (1, 100), steps_of_one),
)
