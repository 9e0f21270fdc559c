"""Generated translations: documents of a few segments, translated better or worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from hlteval.representation import Corpus

WORDS = (
    *("the", "a", "in", "of", "and", "to", "water", "food", "teams", "need", "river", "flooded"),
    *("town", "people", "hospital", "road", "near", "north", "two", "three", "hundred", "clean"),
    *("shelter", "help", "rescue", "bridge", "school", "report", "said", "is", "are", "was"),
    *("damaged", "houses", "storm", "yesterday", "today", "urgent", "medical", "supplies"),
)
COMMON = 1 / np.arange(1, len(WORDS) + 1) ** 0.7


def translations(documents: int, seed: int, number: int = 0) -> tuple[Corpus, Corpus]:
    """A reference translation and the output of a system: words are lost, replaced and moved.

    Args:
        documents: how many there are.
        seed: of the random numbers.
        number: of the system: others make other errors against the same reference.
    """
    truth, errors = (np.random.default_rng([seed, kind]) for kind in (0, 1 + number))
    names = pl.DataFrame({"row": range(documents)}, schema={"row": pl.Int64})
    listed = names.with_columns(name=pl.format("DOC_{}", pl.col("row")))
    gold: list[dict[str, object]] = []
    said: list[dict[str, object]] = []
    for document in range(documents):
        quality = errors.beta(8, 3)
        for segment in range(truth.integers(3, 9)):
            words = _words(truth, truth.integers(4, 16))
            row = {"document": document, "origin": 0, "segment": f"segment-{segment}"}
            gold.append(row | {"role": "reference", "text": _sentence(words)})
            said.append(
                row | {"role": "system", "text": _sentence([*_output(words, quality, errors)])}
            )
    first, second = (
        [row | {"row": at, "record": at + 1} for at, row in enumerate(rows)]
        for rows in (gold, said)
    )
    return (
        Corpus(documents=listed, translations=first),
        Corpus(documents=listed, translations=second),
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
