"""Machine translation: documents of a few segments, translated better or worse, and long segments.

`bleu,chrf,chrf_pp` are counted together; the time of `segments` alone is that of reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval.converters.mt.lorehlt_mt import write
from hlteval.representation import Corpus

WORDS = (
    *("the", "a", "in", "of", "and", "to", "water", "food", "teams", "need", "river", "flooded"),
    *("town", "people", "hospital", "road", "near", "north", "two", "three", "hundred", "clean"),
    *("shelter", "help", "rescue", "bridge", "school", "report", "said", "is", "are", "was"),
    *("damaged", "houses", "storm", "yesterday", "today", "urgent", "medical", "supplies"),
)
COMMON = 1 / np.arange(1, len(WORDS) + 1) ** 0.7


MEASURES = ("bleu", "chrf", "chrf_pp", "ter", "bleu,chrf,chrf_pp", "bleu,chrf,chrf_pp,ter")
LONG = 20
"""How many segments of one length there are."""


def translations(
    documents: int,
    seed: int,
    number: int = 0,
    segments: tuple[int, int] = (3, 9),
    words: tuple[int, int] = (4, 16),
) -> tuple[Corpus, Corpus]:
    """A reference translation and the output of a system: words are lost, replaced and moved.

    Args:
        documents: how many there are.
        seed: of the random numbers.
        number: of the system: others make other errors against the same reference.
        segments: the least of a document, and one more than the most.
        words: the same of a segment.
    """
    truth, errors = (np.random.default_rng([seed, kind]) for kind in (0, 1 + number))
    names = pl.DataFrame({"row": range(documents)}, schema={"row": pl.Int64})
    listed = names.with_columns(name=pl.format("DOC_{}", pl.col("row")))
    source = {"row": 0, "path": "", "member": "", "format": "jsonl", "sha256": ""}
    gold: list[dict[str, object]] = []
    said: list[dict[str, object]] = []
    for document in range(documents):
        quality = errors.beta(8, 3)
        for segment in range(truth.integers(*segments)):
            of_segment = _words(truth, truth.integers(*words))
            row = {"document": document, "origin": 0, "segment": f"segment-{segment}"}
            gold.append(row | {"role": "reference", "text": _sentence(of_segment)})
            said.append(
                row | {"role": "system", "text": _sentence([*_output(of_segment, quality, errors)])}
            )
    first, second = (
        [row | {"row": at, "record": at + 1} for at, row in enumerate(rows)]
        for rows in (gold, said)
    )
    return (
        Corpus(sources=[source], documents=listed, translations=first),
        Corpus(sources=[source], documents=listed, translations=second),
    )


def _words(random: np.random.Generator, number: int) -> list[str]:
    return [str(word) for word in random.choice(WORDS, number, p=COMMON / COMMON.sum())]


def _output(words: Sequence[str], quality: float, random: np.random.Generator) -> Iterator[str]:
    """The words of a system, of which some are lost, replaced, or doubled."""
    for word in words:
        chance = random.random()
        if chance < quality:
            yield word
        elif chance < quality + (1 - quality) / 2:
            yield _words(random, 1)[0]
        elif chance > 1 - (1 - quality) / 8:
            yield from (word, word)


def _sentence(words: Sequence[str]) -> str:
    return " ".join(words).capitalize() + "."


def steps(sides: tuple[Corpus, Corpus], folder: Path) -> Iterator[Step]:
    """Score by each measure and by all, in one process and in two."""
    paths = [folder / "reference", folder / "system"]
    for corpus, path in zip(sides, paths, strict=True):
        write([corpus], path, role=path.name)
    score = ("score", "lorehlt-mt", "-r", paths[0], "-s", paths[1])
    yield Step("validate", hlteval("validate", "lorehlt-mt", *paths[1:]), paths[1:])
    for names in MEASURES:
        yield Step(f"score {names}", hlteval(*score, "--metric", names), paths)
    yield Step("score --jobs 2", hlteval(*score, "--jobs", "2"), paths)


def of_documents(size: int, folder: Path) -> Iterator[Step]:
    """Documents of five or six segments; 14,200 have 78,148 segments."""
    return steps(translations(size, 3), folder)


def of_words(size: int, folder: Path) -> Iterator[Step]:
    """Segments of one length."""
    return steps(translations(1, 3, 0, (LONG, LONG + 1), (size, size + 1)), folder)


BENCHMARKS = (
    Benchmark("lorehlt_mt", "documents", (1, 1_420, 14_200), (1, 100), of_documents),
    Benchmark("lorehlt_mt", f"words of {LONG} segments", (10, 100, 1_000), (10, 50), of_words),
)
