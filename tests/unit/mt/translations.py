"""Small corpora of translations."""

from __future__ import annotations

from collections.abc import Iterable

from hlteval.representation import Corpus

Segments = Iterable[tuple[str, str, str]]
"""Document, segment and text."""


def corpus(role: str, *sets: Segments) -> Corpus:
    """A corpus of the translations of several sets."""
    rows = [(name, *row) for name, each in enumerate(sets) for row in each]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(row[1] for row in rows))}
    return Corpus(
        documents=[{"row": at, "name": name} for name, at in numbers.items()],
        translations=[
            {
                "row": at,
                "document": numbers[document],
                "origin": 0,
                "record": at + 1,
                "segment": segment,
                "role": role,
                "set": f"set{name}",
                "text": text,
            }
            for at, (name, document, segment, text) in enumerate(rows)
        ],
    )
