"""Deposited archives: what a specification says of all submissions of an evaluation together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlteval.representation import Corpus


@dataclass(frozen=True)
class Deposited:
    """The number of submissions, and the files of their scores.

    Attributes:
        most: how many valid submissions of a team are scored; None for all.
        result_files: the names that the specification gives files of scores, by table.
        companions: the names of the submissions that a submission goes with, where it changes how
            these are scored; None if submissions are scored by themselves.
    """

    most: int | None = None
    result_files: Mapping[str, str] = field(default_factory=dict)
    companions: Callable[[Corpus], tuple[str, ...]] | None = None
