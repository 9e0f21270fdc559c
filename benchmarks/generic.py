"""The tasks that need no file: documents of a usual size, and one document with many units.

A system has another label for a tenth of the units, other ends for a tenth, and misses a tenth.
`mentions` come as a folder of brat and as one file of CoNLL columns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.measuring import Benchmark, Peer, Step, hlteval

Sides = tuple[Path, Path]
Writer = Callable[[int, int, Path], Sides]
LABELS = ("Drug", "Gene", "Person", "Place")
WORDS = ("the", "seed", "of", "ABI3", "old", "harbour", "in", "winter", "left", "Osh", "again")
EVERY = 6
"""There is a unit in so many words."""


class Unit(NamedTuple):
    """A labelled span of words, from the first to the last."""

    label: str
    first: int
    last: int


def both(each: int, draw: random.Random) -> tuple[list[Unit], list[Unit]]:
    """So many units of the reference, and those of the system."""
    first = [EVERY * at + draw.randrange(EVERY - 2) for at in range(each)]
    gold = [Unit(draw.choice(LABELS), at, at + draw.randrange(2)) for at in first]
    system = []
    for unit in gold:
        chance = draw.random()
        if chance < 0.1:
            system.append(unit._replace(label=draw.choice(LABELS)))
        elif chance < 0.9:
            system.append(unit if chance < 0.8 else unit._replace(last=unit.last + 1))
    return gold, system


def _paths(folder: Path, suffix: str) -> Sides:
    return folder / f"reference{suffix}", folder / f"system{suffix}"


# Folders of brat: a text and an annotation file for each document.


def _nothing(_units: Sequence[Unit], _draw: random.Random) -> Iterator[str]:
    return iter(())


def _relations(units: Sequence[Unit], draw: random.Random) -> Iterator[str]:
    for at in range(1, len(units)):
        other = at + 1 if draw.random() < 0.7 else draw.randrange(at, len(units)) + 1
        yield f"R{at}\t{units[at].label}Of Arg1:T{at} Arg2:T{other}\n"


def _events(units: Sequence[Unit], draw: random.Random) -> Iterator[str]:
    for at, unit in enumerate(units[1:], 1):
        filler = at + 1 if draw.random() < 0.7 else draw.randrange(1, len(units) + 1)
        yield f"E{at}\t{unit.label}:T{at + 1} Who:T{filler} Where:T1\n"


def _links(units: Sequence[Unit], draw: random.Random) -> Iterator[str]:
    for at, unit in enumerate(units, 1):
        entity = unit.first if draw.random() < 0.8 else int(draw.paretovariate(0.6)) % 5_000
        yield f"N{at}\tReference T{at} KB:{'NIL' * (entity % 3 == 0)}{entity}\tx\n"


def brat(
    records: Callable[[Sequence[Unit], random.Random], Iterable[str]],
    documents: int,
    each: int,
    folder: Path,
) -> Sides:
    """Documents with so many spans, and records about these."""
    draw, sides = random.Random(1), _paths(folder, "")
    for side in sides:
        side.mkdir()
    for document in range(documents):
        words = draw.choices(WORDS, k=EVERY * each + EVERY)
        starts = [0]
        for word in words:
            starts.append(starts[-1] + len(word) + 1)
        text = " ".join(words)
        for side, units in zip(sides, both(each, draw), strict=True):
            spans = ((unit.label, starts[unit.first], starts[unit.last + 1] - 1) for unit in units)
            rows = [
                f"T{at}\t{label} {start} {end}\t{text[start:end]}\n"
                for at, (label, start, end) in enumerate(spans, 1)
            ]
            (side / f"d{document}.txt").write_text(text, "utf-8")
            (side / f"d{document}.ann").write_text("".join((*rows, *records(units, draw))), "utf-8")
    return sides


# Single files.


def columns(documents: int, each: int, folder: Path) -> Sides:
    """A token per line; a sentence has four spans."""
    draw, sides = random.Random(2), _paths(folder, ".conll")
    with sides[0].open("w", encoding="utf-8") as gold, sides[1].open("w", encoding="utf-8") as own:
        for _ in range(documents):
            words = draw.choices(WORDS, k=EVERY * each + EVERY)
            for stream, units in zip((gold, own), both(each, draw), strict=True):
                tags = ["O"] * len(words)
                for label, first, last in units:
                    tags[first : last + 1] = [f"B-{label}", *[f"I-{label}"] * (last - first)]
                lines = [f"{word} {tag}\n" for word, tag in zip(words, tags, strict=True)]
                lines[:: 4 * EVERY] = [f"\n{line}" for line in lines[:: 4 * EVERY]]
                stream.write(f"-DOCSTART- O\n{''.join(lines)}\n")
    return sides


def clusters(documents: int, each: int, folder: Path) -> Sides:
    """Every third word is a mention of one of several entities; a fifth are another's."""
    draw, sides = random.Random(3), _paths(folder, ".conll")
    entities = max(4, each // 8)
    with sides[0].open("w", encoding="utf-8") as gold, sides[1].open("w", encoding="utf-8") as own:
        for document in range(documents):
            name = f"D{document}"
            first = [draw.randrange(entities) for _ in range(each)]
            second = [e if draw.random() < 0.8 else draw.randrange(entities) for e in first]
            for stream, chosen in ((gold, first), (own, second)):
                marks = (mark for entity in chosen for mark in (f"({entity})", "-", "-"))
                lines = (f"{name}\t0\t{at}\tAna\t{mark}\n" for at, mark in enumerate(marks))
                stream.write(f"#begin document ({name}); part 000\n{''.join(lines)}")
                stream.write("\n#end document\n")
    return sides


def labels(documents: int, each: int, folder: Path) -> Sides:
    """A table of documents with one label; or with many labels, some of which the system lacks."""
    draw, sides = random.Random(4), _paths(folder, ".tsv")
    rows = [
        (f"d{at}", label if each == 1 else f"{label}{number}")
        for at in range(documents)
        for number in range(each)
        for label in (draw.choice(LABELS),)
    ]
    kept = [row for row in rows if each == 1 or draw.random() < 0.9]
    found = [row if draw.random() < 0.8 else (row[0], draw.choice(LABELS)) for row in kept]
    found = list(dict.fromkeys(found))
    for path, own in zip(sides, (rows, found), strict=True):
        path.write_text("id\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in own), "utf-8")
    return sides


def segments(documents: int, each: int, folder: Path) -> Sides:
    """Turns of about three seconds of four speakers, some of which speak at once."""
    draw, sides = random.Random(5), _paths(folder, ".rttm")
    with sides[0].open("w", encoding="utf-8") as gold, sides[1].open("w", encoding="utf-8") as own:
        for document in range(documents):
            time = 0.0
            for _ in range(each):
                length, speaker = 0.5 + draw.random() * 5, draw.randrange(4)
                other = speaker if draw.random() < 0.9 else draw.randrange(4)
                shift = draw.random() * 0.4
                for stream, start, name in ((gold, time, speaker), (own, time + shift, other)):
                    turn = f"SPEAKER f{document} 1 {start:.3f} {length:.3f} <NA> <NA> s{name}"
                    stream.write(f"{turn} <NA> <NA>\n")
                time += length * (0.5 if draw.random() < 0.1 else 1) + draw.random()
    return sides


def transcripts(documents: int, each: int, folder: Path) -> Sides:
    """An utterance per line; a tenth of the words are others, and a few are missing."""
    draw, sides = random.Random(6), _paths(folder, ".txt")
    with sides[0].open("w", encoding="utf-8") as gold, sides[1].open("w", encoding="utf-8") as own:
        for document in range(documents):
            words = draw.choices(WORDS, k=each)
            found = [w if draw.random() < 0.9 else draw.choice(WORDS) for w in words]
            found = [word for word in found if draw.random() < 0.97]
            gold.write(f"u{document}\t{' '.join(words)}\n")
            own.write(f"u{document}\t{' '.join(found)}\n")
    return sides


class Sweep(NamedTuple):
    """The data of a task.

    Attributes:
        task: its name.
        write: writes both sides.
        documents: the numbers of documents, of which the first is for the start.
        each: the units of a document.
        most: the units of the largest single document.
        peers: the public programs that do the same.
        peer_sizes: the most documents that these get, and the most units of a single one: more
            would take them minutes.
    """

    task: str
    write: Writer
    documents: tuple[int, int]
    each: int
    most: int
    peers: tuple[str, ...] = ()
    peer_sizes: tuple[int, int] = (10_000_000, 10_000_000)


SWEEPS: Mapping[str, Sweep] = MappingProxyType(
    {
        "mentions": Sweep("mentions", partial(brat, _nothing), (10, 10_000), 100, 100_000,
                          ("nervaluate",)),
        "mentions, columns": Sweep("mentions", columns, (10, 10_000), 100, 200_000, ("seqeval",)),
        "relations": Sweep("relations", partial(brat, _relations), (10, 10_000), 30, 40_000),
        "events": Sweep("events", partial(brat, _events), (10, 10_000), 30, 40_000),
        "links": Sweep("links", partial(brat, _links), (10, 10_000), 30, 40_000),
        "coreference": Sweep("coreference", clusters, (10, 10_000), 10, 40_000),
        "labels": Sweep("labels", labels, (10, 1_000_000), 1, 200_000, ("scikit-learn",)),
        "segments": Sweep("segments", segments, (2, 1_000), 500, 200_000, ("pyannote",),
                          (250, 2_000)),
        "transcripts": Sweep("transcripts", transcripts, (10, 100_000), 15, 4_000, ("jiwer",)),
    }
)  # fmt: skip


def steps(sweep: Sweep, each: int | None, size: int, folder: Path) -> Iterator[Step]:
    """Score documents with so many units; one document of that size if there is no number."""
    documents, units = (1, size) if each is None else (size, each)
    reference, system = sides = sweep.write(documents, units, folder)
    command = hlteval("score", sweep.task, "-r", reference, "-s", system)
    paths = (str(reference), str(system))
    peers = sweep.peers if size <= sweep.peer_sizes[each is None] else ()
    (theirs, *_) = (*(Peer(name, paths) for name in peers), None)
    yield Step("score", command, sides, peer=theirs)


def _benchmarks(name: str, sweep: Sweep) -> Iterator[Benchmark]:
    first, most = sweep.documents
    sizes = (first, most // 4, most)
    yield Benchmark(name, "documents", sizes, (2, 20), partial(steps, sweep, sweep.each))
    sizes = (10, sweep.most // 4, sweep.most // 2, sweep.most)
    yield Benchmark(name, "units in one document", sizes, (10, 100), partial(steps, sweep, None))


BENCHMARKS = tuple(each for name, sweep in SWEEPS.items() for each in _benchmarks(name, sweep))
