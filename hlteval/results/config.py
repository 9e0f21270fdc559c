"""Files of defaults as values: what applies to a submission, and what a command took from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from hlteval.findings import Finding
from hlteval.results.agreement import Agreement
from hlteval.results.evaluation import CampaignResult, CellRow, Group
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard
from hlteval.results.verdict import Defaults, Verdict
from hlteval.tasks import load

_SCORES = ("task", "reference", "profile", "encoding", "options")
TAKEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "validate": ("task", "against", "profile", "encoding", "fail-on", "select", "ignore",
                     "severity", "options"),
        "convert": ("encoding",),
        "score": _SCORES,
        "compare": _SCORES,
        "leaderboard": _SCORES,
        "agreement": ("task", "against", "encoding", "options"),
        "pack": ("task", "against", "profile", "encoding", "options"),
        "pipeline": ("task", "reference", "against", "profile", "options"),
        "campaign": ("reference", "profile", "encoding", "options"),
        "serve": _SCORES,
    }
)  # fmt: skip
"""The settings that each command takes."""


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

    def taken_by(self, command: str) -> list[str]:
        """The names of the settings that a command takes; options begin with `options.`.

        Examples:
            >>> Config("hlteval.toml", {"task": "hub4", "ignore": ["STD"]}).taken_by("score")
            ['task']
        """
        kept = [name for name in self.values if name in TAKEN[command]]
        if "options" not in kept:
            return kept
        inner = [f"options.{name}" for name in self.options if self._has(command, name)]
        return [*(name for name in kept if name != "options"), *inner]

    def _has(self, command: str, option: str) -> bool:
        """Whether a command has an option; any may, if the file names no task."""
        known = {item.name: item for item in load(self.task).options} if self.task else {}
        home = "score" if command in {"pipeline", "campaign"} else command
        return option not in known or known[option].available_in(home)

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


def campaign_with_defaults(
    result: CampaignResult, by_group: Mapping[Group, Defaults]
) -> CampaignResult:
    """A campaign whose signatures and notes name the defaults.

    Args:
        result: the campaign.
        by_group: what was taken, by task, profile and condition.
    """
    return msgspec.structs.replace(
        result,
        rows=tuple(_named_row(row, by_group.get(row.cell.group)) for row in result.rows),
        boards={
            group: ranked_with_defaults(board, by_group.get(group))
            for group, board in result.boards.items()
        },
    )


def _named_row(row: CellRow, defaults: Defaults | None) -> CellRow:
    if defaults is None or not row.result.signature:
        return row
    own = row.result
    notes, signature = (*own.notes, defaults.note), defaults.signed(own.signature)
    named = msgspec.structs.replace(own, notes=notes, signature=signature)
    return msgspec.structs.replace(row, result=named)


def agreed_with_defaults(agreement: Agreement, defaults: Defaults | None) -> Agreement:
    """An agreement whose notes and signature name the defaults."""
    if defaults is None:
        return agreement
    notes = (*agreement.notes, defaults.note)
    signature = defaults.signed(agreement.signature)
    return msgspec.structs.replace(agreement, notes=notes, signature=signature)
