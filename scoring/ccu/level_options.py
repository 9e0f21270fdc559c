"""What can be chosen where levels of valence and arousal are scored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LevelOptions:
    """How levels are scored.

    Attributes:
        gaps: whether systems may leave gaps: short ones are closed, others are no-score regions.
        index: names of the documents that are scored; None for all with levels in the reference.
    """

    gaps: bool = False
    index: frozenset[str] | None = None
