"""What can be chosen where levels of valence and arousal are scored."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class LevelConstants:
    """The constants of Table 13 about levels; the public scorer has its own.

    Attributes:
        extend_reference: shorter gaps of the reference have the level before them, in seconds.
        extend_reference_text: the same in characters.
        min_judgments: segments that fewer annotators judged are no-score regions.
        window: size of a decision unit of audio and video, in seconds.
        window_text: size of a decision unit of text, in characters.
    """

    extend_reference: float = 1.0
    extend_reference_text: float = 10.0
    min_judgments: int = 2
    window: float = 2.0
    window_text: float = 1.0


@dataclass(frozen=True)
class LevelOptions(LevelConstants):
    """How levels are scored.

    Attributes:
        gaps: whether systems may leave gaps: short ones are closed, others are no-score regions.
        index: names of the documents that are scored; None for all with levels in the reference.
    """

    gaps: bool = False
    index: frozenset[str] | None = None

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the constants that are not those of the plan.

        Examples:
            >>> LevelOptions(window=1.0).changed
            ('window',)
        """
        own = fields(LevelConstants)
        return tuple(item.name for item in own if getattr(self, item.name) != item.default)
