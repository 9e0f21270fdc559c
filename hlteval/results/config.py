"""Files of defaults as values: what applies to a submission, and what a command took from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hlteval.findings import Finding
from hlteval.results.agreement import Agreement
from hlteval.results.comparison import Comparison
from hlteval.results.defaults import Defaults
from hlteval.results.leaderboard import Leaderboard
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict


@dataclass(frozen=True)
class Config:
    """A file of defaults.

    Attributes:
        path: of the file.
        values: by key; paths are relative to the working directory. Empty if there are errors.
        findings: what is wrong with the file.
    """

    path: str
    values: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def task(self) -> str:
        """The task that the defaults are for; empty for any."""
        return str(self.values.get("task", ""))

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the task, by name."""
        options: Mapping[str, Any] = self.values.get("options", {})
        return options

    def items(self) -> Iterator[tuple[str, Any]]:
        """Each default by its name, with `severity` and `options` apart.

        Examples:
            >>> list(Config("hlteval.toml", {"task": "hub4", "options": {"mode": "both"}}).items())
            [('task', 'hub4'), ('options.mode', 'both')]
        """
        for name, value in self.values.items():
            if isinstance(value, Mapping):
                yield from ((f"{name}.{key}", inner) for key, inner in value.items())
            else:
                yield name, value


def judged_with_defaults(verdict: Verdict, defaults: Defaults | None) -> Verdict:
    """A verdict that names the defaults."""
    return msgspec.structs.replace(verdict, defaults=defaults) if defaults else verdict


def with_defaults(scores: Scores, defaults: Defaults | None) -> Scores:
    """Scores whose notes and signature name the defaults."""
    if defaults is None:
        return scores
    notes = (*scores.notes, defaults.note)
    signature = defaults.signed(scores.signature)
    return msgspec.structs.replace(scores, notes=notes, signature=signature)


def compared_with_defaults(comparison: Comparison, defaults: Defaults | None) -> Comparison:
    """A comparison whose notes and signature name the defaults."""
    if defaults is None:
        return comparison
    notes = (*comparison.notes, defaults.note)
    signature = defaults.signed(comparison.signature)
    return msgspec.structs.replace(comparison, notes=notes, signature=signature)


def ranked_with_defaults(board: Leaderboard, defaults: Defaults | None) -> Leaderboard:
    """A leaderboard whose notes and signatures name the defaults."""
    if defaults is None:
        return board
    return msgspec.structs.replace(
        board,
        notes=(*board.notes, defaults.note),
        signature=defaults.signed(board.signature) if board.signature else "",
        comparisons=tuple(compared_with_defaults(each, defaults) for each in board.comparisons),
    )


def agreed_with_defaults(agreement: Agreement, defaults: Defaults | None) -> Agreement:
    """An agreement whose notes and signature name the defaults."""
    if defaults is None:
        return agreement
    notes = (*agreement.notes, defaults.note)
    signature = defaults.signed(agreement.signature)
    return msgspec.structs.replace(agreement, notes=notes, signature=signature)
