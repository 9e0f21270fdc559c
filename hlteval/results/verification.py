"""The verification of a signature as a value."""

from __future__ import annotations

from typing import Literal

import msgspec

Outcome = Literal["same", "differs", "not checked"]
"""What became of a part."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a signature, or one number, beside what was found.

    Attributes:
        name: name of the part, or of the metric.
        outcome: whether it is the same.
        expected: its value in the signature or the scores; None if they have none.
        found: the value that was found; None if there is none.
        reason: why it was not checked, or what differs if the values do not show it.
    """

    name: str
    outcome: Outcome
    expected: str | None = None
    found: str | None = None
    reason: str = ""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """A signature beside files and settings.

    Attributes:
        signature: the signature that was verified.
        parts: its parts in order, then parts that were found but are not in it.
        numbers: the numbers, if there are scores to compare with.
    """

    signature: str
    parts: tuple[Part, ...]
    numbers: tuple[Part, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether nothing differs.

        Examples:
            >>> Verification(signature="", parts=(Part(name="task", outcome="same"),)).agrees
            True
        """
        return not self.differing

    @property
    def differing(self) -> tuple[Part, ...]:
        """The parts and numbers that differ."""
        return tuple(part for part in (*self.parts, *self.numbers) if part.outcome == "differs")
