"""Entity mentions, 100 per document or all in one; some nest or overlap, as names in names do.

A few entities have most of the mentions.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Benchmark, Peer, Step, hlteval

READ = "import sys, hlteval; [hlteval.read(path) for path in sys.argv[1:]]"
PER_DOCUMENT = 100
FEW = 20_000
"""The most mentions that are resampled."""
LARGE = 300_000
"""Tables of more mentions are read in parts."""
TYPES = ("GPE", "LOC", "ORG", "PER")
SETS = ("strong_mention_match", "strong_typed_all_match", "strong_typed_link_match")
OVERLAPS = tuple(f"overlap-{x}{y}::span" for x in ("max", "sum") for y in ("max", "sum"))


class Mention(NamedTuple):
    """A mention, with its first and last character."""

    document: str
    start: int
    end: int
    entity: str
    label: str


def mentions(size: int, per_document: int) -> Iterator[Mention]:
    """Mentions; one of twelve is longer and nests or crosses those that follow."""
    draw = random.Random(7)
    for at in range(size):
        number = int(draw.paretovariate(0.6)) % (size // 2 + 1)
        entity = f"NIL{number}" if number % 3 else str(1_000_000 + number)
        start = at % per_document * 20
        end = start + (draw.randrange(22, 45) if at % 12 == 0 else draw.randrange(3, 12))
        yield Mention(f"ENG_{at // per_document:06}", start, end, entity, TYPES[number % 4])


def write(path: Path, rows: Iterable[Mention]) -> Path:
    """Write mentions as a table."""
    with path.open("w", encoding="utf-8") as stream:
        for at, (document, start, end, entity, label) in enumerate(rows):
            extent = f"{document}:{start}-{end}"
            stream.write(f"R\tm{at}\tname {at % 97}\t{extent}\t{entity}\t{label}\tNAM\t1.0\n")
    return path


def system_output(rows: Iterable[Mention], size: int) -> Iterator[Mention]:
    """The mentions with errors: some are missing, longer, of another type or entity."""
    draw = random.Random(11)
    for row in rows:
        chance = draw.random()
        if chance > 0.1:
            longer = row.end + (chance < 0.2)
            other = f"NIL{draw.randrange(size)}" if 0.2 < chance < 0.35 else row.entity
            label = "ORG" if chance > 0.95 else row.label
            yield row._replace(end=longer, entity=other, label=label)


def random_clusters(size: int, seed: int) -> Iterator[Mention]:
    """The spans of the mentions in random clusters."""
    draw = random.Random(seed)
    for row in mentions(size, PER_DOCUMENT):
        yield row._replace(entity=f"NIL{draw.randrange(size // 4 + 1)}", label="PER")


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Read, validate, score."""
    both = gold, system = _sides(size, PER_DOCUMENT, folder)
    yield Step("read both", (sys.executable, "-c", READ, str(gold), str(system)), both)
    theirs = Peer("validate-edl", (str(system),))
    command = hlteval("validate", "lorehlt-edl", system)
    yield Step("validate", command, [system], peer=theirs)
    score = ("score", "lorehlt-edl", "-r", gold, "-s", system, "--format", "tsv")
    measures = [word for name in (*SETS, *OVERLAPS) for word in ("-m", name)]
    yield Step("score, sets and overlaps", hlteval(*score, *measures), both)
    if size > BENCHMARKS[0].sizes[-2]:
        return
    command = hlteval(*score, "-m", "plan")
    yield Step("score, section 17.3", command, both, peer=_neleval(gold, system))
    yield Step("score, all measures", hlteval(*score), both)
    if size > LARGE:
        yield Step("score, all measures, 2 processes", hlteval(*score, "--jobs", 2), both)
    first, second = (
        write(folder / f"{x}.tab", random_clusters(size, n)) for n, x in ((0, "a"), (1, "b"))
    )
    ceaf = hlteval("score", "lorehlt-edl", "-r", first, "-s", second, "-m", "mention_ceaf")
    yield Step("score, CEAF of random clusters", ceaf, [first, second])
    if size <= FEW:
        compare = hlteval("score", "lorehlt-edl", "-r", gold, "-s", system, "--bootstrap", 100)
        yield Step("score --bootstrap 100", compare, both)


def steps_of_one(size: int, folder: Path) -> Iterator[Step]:
    """Validate and score one document."""
    gold, system = _sides(size, size, folder)
    command = hlteval("validate", "lorehlt-edl", system)
    yield Step("validate", command, [system])
    command = hlteval("score", "lorehlt-edl", "-r", gold, "-s", system, "--format", "tsv")
    yield Step("score, all measures", command, [gold, system])


def _sides(size: int, per_document: int, folder: Path) -> tuple[Path, Path]:
    gold = write(folder / "gold.tab", mentions(size, per_document))
    found = system_output(mentions(size, per_document), size)
    return gold, write(folder / "system.tab", found)


def _neleval(gold: Path, system: Path) -> Peer:
    """The public scorer on the same mentions, in its own format."""
    paths = []
    for path in (gold, system):
        rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
        own = path.with_suffix(".neleval")
        with own.open("w", encoding="utf-8") as stream:
            for _, _, _, extent, entity, label, _, score in rows:
                document, _, offsets = extent.partition(":")
                start, end = offsets.split("-")
                stream.write("\t".join((document, start, end, entity, score, label)) + "\n")
        paths.append(str(own))
    return Peer("neleval", ("evaluate", "-g", *paths))


BENCHMARKS = (
    Benchmark(
        name="lorehlt-edl",
        unit="mentions",
        sizes=(100, 20_000, 100_000, 400_000, 2_000_000),
        quick=(100, 20_000),
        steps=steps,
    ),
    Benchmark(
        name="lorehlt-edl",
        unit="mentions in one document",
        sizes=(100, 20_000, 50_000, 100_000),
        quick=(100, 2_000),
        steps=steps_of_one,
    ),
)
