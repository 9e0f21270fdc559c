"""Files of defaults as values: the settings for each command, and results that name them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from hlteval.extensions import read_tables
from hlteval.findings import Finding
from hlteval.results.agreement import Agreement
from hlteval.results.evaluation import CampaignResult, CellResult, Group
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard
from hlteval.results.verdict import Defaults, Verdict
from hlteval.tasks import load

#: The settings that each command takes.
TAKEN: Mapping[str, Sequence[str]] = read_tables("hlteval.results", "config")


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
    def tasks(self) -> Mapping[str, str]:
        """The paths of declarations of tasks, by the names that the file gives them."""
        tasks: Mapping[str, str] = self.values.get("tasks", {})
        return tasks

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
        names = [name for name in self.values if name in TAKEN[command] and name != "options"]
        if "options" not in TAKEN[command]:
            return names
        # Without a task in the file, any command may have any option.
        known = {item.key: item for item in load(self.task).options} if self.task else {}
        home = "score" if command in {"pipeline", "campaign"} else command
        return names + [
            f"options.{name}"
            for name in self.options
            if name not in known or known[name].available_in(home)
        ]

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


R = TypeVar("R", Verdict, Scores, Comparison, Leaderboard, Agreement, CellResult)


def with_defaults(result: R, defaults: Defaults | None) -> R:
    """A result that names the defaults: a verdict as such, others in notes and signatures."""
    if defaults is None:
        return result
    if isinstance(result, Verdict):
        return msgspec.structs.replace(result, defaults=defaults)
    named = msgspec.structs.replace(
        result, notes=(*result.notes, defaults.note), signature=defaults.sign(result.signature)
    )
    if isinstance(named, Leaderboard):
        comparisons = tuple(with_defaults(each, defaults) for each in named.comparisons)
        return msgspec.structs.replace(named, comparisons=comparisons)
    return named


def campaign_with_defaults(
    result: CampaignResult, by_group: Mapping[Group, Defaults]
) -> CampaignResult:
    """A campaign whose signatures and notes name the defaults.

    Args:
        result: the campaign.
        by_group: what was taken, by task, profile and condition.
    """
    rows = tuple(
        msgspec.structs.replace(row, result=with_defaults(row.result, by_group.get(row.cell.group)))
        if row.result.signature
        else row
        for row in result.rows
    )
    boards = {key: with_defaults(board, by_group.get(key)) for key, board in result.boards.items()}
    return msgspec.structs.replace(result, rows=rows, boards=boards)
