"""Entity mentions, 100 per document: validate, score all measures, score random clusters."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval

READ = "import sys, hlteval; [hlteval.read(path) for path in sys.argv[1:]]"
PER_DOCUMENT = 100
TYPES = ("GPE", "LOC", "ORG", "PER")
SETS = ("strong_mention_match", "strong_typed_all_match", "strong_typed_link_match")
OVERLAPS = tuple(f"overlap-{x}{y}::span" for x in ("max", "sum") for y in ("max", "sum"))


def mentions(size: int) -> Iterator[tuple[str, int, int, str, str]]:
    """Document, first and last character, entity and type; a few entities have most mentions."""
    draw = random.Random(7)
    for at in range(size):
        number = int(draw.paretovariate(0.6)) % (size // 2 + 1)
        entity = f"NIL{number}" if number % 3 else str(1_000_000 + number)
        start = at % PER_DOCUMENT * 20
        document = f"ENG_{at // PER_DOCUMENT:06}"
        yield document, start, start + draw.randrange(3, 12), entity, TYPES[number % 4]


def write(path: Path, rows: Sequence[tuple[str, int, int, str, str]]) -> Path:
    """Write mentions as a table."""
    with path.open("w", encoding="utf-8") as stream:
        for at, (document, start, end, entity, label) in enumerate(rows):
            extent = f"{document}:{start}-{end}"
            stream.write(f"R\tm{at}\tname {at % 97}\t{extent}\t{entity}\t{label}\tNAM\t1.0\n")
    return path


def system_output(size: int) -> list[tuple[str, int, int, str, str]]:
    """The mentions with errors: some are missing, longer, of another type or entity."""
    draw, rows = random.Random(11), []
    for document, start, end, entity, label in mentions(size):
        chance = draw.random()
        if chance > 0.1:
            longer = end + (chance < 0.2)
            other = f"NIL{draw.randrange(size)}" if 0.2 < chance < 0.35 else entity
            rows.append((document, start, longer, other, "ORG" if chance > 0.95 else label))
    return rows


def random_clusters(size: int, seed: int) -> list[tuple[str, int, int, str, str]]:
    """The spans of the mentions in random clusters."""
    draw = random.Random(seed)
    return [
        (document, start, end, f"NIL{draw.randrange(size // 4 + 1)}", "PER")
        for document, start, end, _, _ in mentions(size)
    ]


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Read, validate, score."""
    gold = write(folder / "gold.tab", list(mentions(size)))
    system = write(folder / "system.tab", system_output(size))
    both = (gold, system)
    yield Step("read both", (sys.executable, "-c", READ, str(gold), str(system)), both)
    yield Step("validate", hlteval("validate", "lorehlt-edl", system), [system])
    score = ("score", "lorehlt-edl", "-r", gold, "-s", system, "--format", "tsv")
    measures = [word for name in (*SETS, *OVERLAPS) for word in ("-m", name)]
    yield Step("score, sets and overlaps", hlteval(*score, *measures), both)
    if size > BENCHMARK.sizes[-2]:
        return
    yield Step("score, section 17.3", hlteval(*score, "-m", "plan"), both)
    yield Step("score, all measures", hlteval(*score), both)
    first, second = (
        write(folder / f"{side}.tab", random_clusters(size, seed)) for seed, side in enumerate("ab")
    )
    ceaf = hlteval("score", "lorehlt-edl", "-r", first, "-s", second, "-m", "mention_ceaf")
    yield Step("score, CEAF of random clusters", ceaf, [first, second])


BENCHMARK = Benchmark(
    name="lorehlt-edl",
    unit="mentions",
    sizes=(2_000, 20_000, 100_000, 400_000, 2_000_000),
    quick=(2_000, 20_000),
    steps=steps,
    peers={
        ("validate", 2_000): "public validator: 0.18 s",
        ("validate", 20_000): "public validator: 1.9 s",
        ("validate", 100_000): "public validator: 16.9 s",
        ("score, section 17.3", 2_000): "public scorer: 1.9 s, 73 MB",
        ("score, section 17.3", 20_000): "public scorer: 12.4 s, 227 MB",
        ("score, section 17.3", 100_000): "public scorer: CEAF alone over 200 s, 3.2 GB",
        ("score, sets and overlaps", 100_000): "public scorer: 23 s, 240 MB",
        ("score, sets and overlaps", 400_000): "public scorer: 89 s, 764 MB",
    },
)
