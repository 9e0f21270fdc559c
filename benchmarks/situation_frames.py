"""Situation frames of texts, with sentiments, and what a system makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hlteval.scoring.situations.lorehlt.frame_rows import ISSUES

NEEDS = ("evac", "food", "infra", "med", "search", "shelter", "utils", "water")
SCOPES = ("1_smallgroup", "2_largegroup", "3_municipality", "4_region")
SEVERITIES = ("1_discomfort", "2_injury", "3_possibledeath", "4_certaindeath")
VALUES = (-3.0, -2.0, -1.0, -0.5, 0.5, 2.0)
EMOTIONS = ("fear", "anger", "joy")
Row = dict[str, Any]


def documents(
    number: int, per_document: float, places: int, truth: np.random.Generator
) -> Iterator[list[Row]]:
    """The frames of each document; a few places have most of them, as names have frequencies.

    Args:
        number: of documents.
        per_document: frames of a document, on average.
        places: how many there are.
        truth: the random numbers.
    """
    shares = 1 / np.arange(1, places + 1)
    shares /= shares.sum()
    for _ in range(number):
        quality = truth.beta(6, 3)  # some documents are hard for every system
        size = 1 + truth.poisson(per_document - 1)
        yield [frame(truth, shares) | {"quality": quality} for _ in range(size)]


def frame(truth: np.random.Generator, shares: np.ndarray) -> Row:
    """A frame with its sentiments."""
    issue = truth.random() < 0.3
    label = str(truth.choice(ISSUES if issue else NEEDS))
    status = "current" if truth.random() < 0.7 else "not_current" if issue else "past"
    return {
        "label": label,
        "issue": issue,
        "place": str(1_000_001 + int(truth.choice(len(shares), p=shares))),
        "status": status,
        "scope": str(truth.choice(SCOPES)),
        "severity": str(truth.choice(SEVERITIES)),
        "resolution": None if issue else "insufficient" if truth.random() < 0.8 else "sufficient",
        "sec": [sentiment(truth) for _ in range(truth.integers(0, 3))],
    }


def sentiment(random: np.random.Generator) -> Row:
    """A sentiment of an author, others or an entity."""
    holder = str(random.choice(["author", "other", "2000001"]))
    feels = dict(zip(EMOTIONS, (random.random(3) < 0.3).tolist(), strict=True))
    return {"holder": holder, "value": float(random.choice(VALUES))} | feels


def found(actual: list[Row], places: int, errors: np.random.Generator) -> Iterator[Row]:
    """What a system finds in a document: most frames, some of them wrongly, and some that are none.

    It says nothing twice.
    """
    predicted = set[tuple[str, str]]()
    for own in actual:
        right = errors.random(4) < own["quality"] ** 0.5
        place = own["place"] if right[0] else str(1_000_001 + int(errors.integers(places)))
        if errors.random() > own["quality"] + 0.2 or (own["label"], place) in predicted:
            continue
        predicted.add((own["label"], place))
        urgent = own["scope"] > "2" or own["severity"] > "2"
        yield own | {
            "place": place,
            "status": own["status"] if right[1] else "current",
            "urgent": bool(urgent == right[2]),
            "confidence": round(float(errors.beta(4, 2) if right.all() else errors.beta(3, 3)), 4),
            "sec": own["sec"] if right[3] else [sentiment(errors)],
        }
