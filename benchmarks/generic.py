"""The tasks that need no file: documents of a usual size, and one document with many units.

A system misses a tenth of the units, has another label for a tenth, and other ends for a tenth.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Benchmark, Peer, Step, hlteval

Sides = tuple[Path, Path]
LABELS = ("Drug", "Gene", "Person", "Place")
WORDS = ("the", "seed", "of", "ABI3", "old", "harbour", "in", "winter", "left", "Osh", "again", "é")
OTHER = WORDS[:6]


class Unit(NamedTuple):
    """A unit of a document; the words from `first` to `last`, or so many tenths of a second."""

    label: str
    first: int
    last: int


def units(number: int, draw: random.Random, words: int) -> list[Unit]:
    """So many units in order, one in so many words."""
    first = (at * words + draw.randrange(words - 3) for at in range(number))
    return [Unit(draw.choice(LABELS), at, at + draw.randrange(3)) for at in first]


def errors(gold: Iterable[Unit], draw: random.Random) -> Iterator[Unit]:
    """The units as a system has them."""
    for unit in gold:
        chance = draw.random()
        if chance < 0.2:
            yield unit._replace(label=draw.choice(LABELS))
        elif chance < 0.9:
            yield unit if chance < 0.8 else unit._replace(last=unit.last + 1)


# brat: a folder with a text and an annotation file for each document.


def _relations(spans: int, draw: random.Random, each: int) -> Iterator[str]:
    for at in range(each):
        first, second = draw.randrange(1, spans + 1), draw.randrange(1, spans + 1)
        yield f"R{at}\t{draw.choice(LABELS)}Of Arg1:T{first} Arg2:T{second}\n"


def _events(spans: int, draw: random.Random, each: int) -> Iterator[str]:
    for at in range(min(spans, each)):
        filler = draw.randrange(1, spans + 1)
        yield f"E{at}\tCall:T{at + 1} Who:T{filler}\n"


def _links(spans: int, draw: random.Random, each: int) -> Iterator[str]:
    for at in range(min(spans, each)):
        entity = int(draw.paretovariate(0.6)) % 10_000
        base = f"KB:{entity}" if entity % 3 else f"KB:NIL{entity}"
        yield f"N{at}\tReference T{at + 1} {base}\tx\n"


def brat(
    more: Callable[[int, random.Random, int], Iterable[str]],
    documents: int,
    each: int,
    folder: Path,
    share: float = 1,
) -> Sides:
    """Folders of documents with so many records of a kind, and spans for a share of them."""
    draw = random.Random(1)
    sides = (folder / "reference", folder / "system")
    for side in sides:
        side.mkdir()
    for document in range(documents):
        gold = units(int(share * each) + 1, draw, 8)
        words = draw.choices(WORDS, k=8 * len(gold) + 4)
        starts = [0]
        for word in words:
            starts.append(starts[-1] + len(word) + 1)
        text = " ".join(words)
        for side, own in zip(sides, (gold, [*errors(gold, draw)]), strict=True):
            rows = []
            for at, (label, first, last) in enumerate(own, 1):
                start, end = starts[first], starts[last + 1] - 1
                rows.append(f"T{at}\t{label} {start} {end}\t{text[start:end]}\n")
            chance = draw.getstate() if side is sides[0] else chance
            if draw.random() < 0.7:
                draw.setstate(chance)
            rows += more(len(own), draw, each)
            (side / f"d{document}.txt").write_text(text, "utf-8")
            (side / f"d{document}.ann").write_text("".join(rows), "utf-8")
    return sides
