"""Situation frames: what the formats that hold them, and those that do not, have no place for."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.representation import Corpus

SITUATION = "situation"
"""The kind of a situation frame in the representation."""
TEMPLETTE = "templette"
"""The kind of a template instance."""


def others(corpus: Corpus) -> Mapping[str, int]:
    """The frames other than situations, for formats of situation frames.

    Examples:
        >>> others(Corpus())
        {'frames other than situations': 0}
    """
    count = corpus.frames.filter(pl.col("kind") != SITUATION).height
    return {"frames other than situations": count}


def situations(corpus: Corpus) -> Mapping[str, int]:
    """The situation frames and template instances, for formats of other annotations.

    Examples:
        >>> situations(Corpus())
        {'situation frames': 0, 'template instances': 0}
    """
    kinds = corpus.frames["kind"]
    return {
        "situation frames": int((kinds == SITUATION).sum()),
        "template instances": int((kinds == TEMPLETTE).sum()),
    }
