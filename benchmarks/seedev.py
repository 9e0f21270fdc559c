"""SeeDev: documents of the size of the task's, and one document with many events.

A document of the task's data has about 84 entities, and 42 events in SeeDev-binary or 31 in
SeeDev-full, of which a third have optional arguments.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measuring import Benchmark, Peer, Step, hlteval
from hlteval.validators.seedev.schema import EventSchema, EventType, schema

ENTITIES = 84
EVENTS = {"binary": 42, "full": 31}
WORDS = ("protein", "seed", "ABI3", "embryo", "LEC1", "promoter", "At2S3", "RY", "mutant", "of")
PEER_NAMES = {"binary": "SeeDev-binary", "full": "SeeDev-full"}


def entities(number: int, labels: list[str], draw: random.Random) -> tuple[str, str, list[str]]:
    """A text, its annotation of so many entities, and the type of each entity."""
    text, rows, types = "", [], []
    for entity in range(1, number + 1):
        words = " ".join(draw.choices(WORDS, k=draw.randint(1, 3)))
        start, label = len(text), labels[entity % len(labels)]
        text += f"{words} {' '.join(draw.choices(WORDS, k=4))}. "
        rows.append(f"T{entity}\t{label} {start} {start + len(words)}\t{words}\n")
        types.append(label)
    return text, "".join(rows), types


def filler(event: EventType, role: str, types: list[str], draw: random.Random) -> str:
    """A random entity that may have a role."""
    allowed = event.roles[role]
    at = [number for number, label in enumerate(types, 1) if allowed is None or label in allowed]
    return f"{role}:T{draw.choice(at)}"


def event_line(
    rules: EventSchema, types: list[str], draw: random.Random, *, one_type: bool = False
) -> str:
    """A random event without its identifier; optional arguments as often as in the data."""
    event = draw.choice(list(rules.events.values())[: 1 if one_type else None])
    optional = [role for role in rules.conditions if role in event.roles]
    optional = [role for role in optional if role != "Prerequisite_Event"]
    some = draw.choices((0, 1, 2), (66, 28, 6))[0] if optional else 0
    one = draw.sample(event.one_of, 1) if event.one_of else []
    roles = [*event.mandatory, *one, *draw.sample(optional, some)]
    return f"{event.label} {' '.join(filler(event, role, types, draw) for role in roles)}"


def write(
    task: str, documents: int, events: int, folder: Path, *, one_type: bool = False
) -> tuple[Path, Path]:
    """Write a reference and a system's output; a third of the events of the latter are wrong."""
    draw, rules = random.Random(5), schema(task)
    line = partial(event_line, rules, draw=draw, one_type=one_type)
    sides = (folder / "reference", folder / "system")
    for side in sides:
        side.mkdir()
    for document in range(documents):
        text, rows, types = entities(max(ENTITIES, 2 * events), sorted(rules.mentions), draw)
        lines = [line(types) for _ in range(events)]
        found = [line(types) if draw.random() < 1 / 3 else right for right in lines]
        name = f"SeeDev-{task}-{document}"
        (sides[0] / f"{name}.txt").write_text(text, "utf-8")
        (sides[0] / f"{name}.a1").write_text(rows, "utf-8")
        for side, own in zip(sides, (lines, found), strict=True):
            numbered = (f"E{number}\t{event}\n" for number, event in enumerate(own, 1))
            (side / f"{name}.a2").write_text("".join(numbered), "utf-8")
    return sides


def steps(task: str, size: int, folder: Path) -> Iterator[Step]:
    """Validate and score documents."""
    yield from _steps(task, write(task, size, EVENTS[task], folder))


def steps_of_one(task: str, size: int, folder: Path, *, one_type: bool = False) -> Iterator[Step]:
    """Score one document, in both profiles."""
    sides = write(task, 1, size, folder, one_type=one_type)
    *_, score = _steps(task, sides)
    yield score
    official = ("--profile", "official")
    yield score._replace(name="score official", command=(*score.command, *official), peer=None)


def _steps(task: str, sides: tuple[Path, Path]) -> Iterator[Step]:
    reference, system = sides
    name, paths = f"seedev-{task}", ("-reference", str(reference), "-prediction", str(system))
    theirs = Peer("bionlp-st", ("-task", PEER_NAMES[task], *paths, "-alternate"))
    check = theirs._replace(arguments=(*theirs.arguments, "-check"))
    command = hlteval("validate", name, system, "--against", reference)
    yield Step("validate", command, sides, peer=check)
    command = hlteval("score", name, "-r", reference, "-s", system)
    yield Step("score", command, sides, peer=theirs)


BENCHMARKS = (
    *(
        Benchmark(f"seedev-{task}", "documents", (1, 1_000, 9_500), (1, 100), partial(steps, task))
        for task in EVENTS
    ),
    *(
        Benchmark(
            f"seedev-{task}",
            f"{of} in one document",
            (1, 500, 1_000, 2_000),
            (1, 200),
            partial(steps_of_one, task, one_type=of != "events"),
        )
        for task in EVENTS
        for of in ("events", "events of a type")
    ),
)
