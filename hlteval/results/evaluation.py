"""An evaluation: its tasks, teams, checkpoints, languages, conditions and limits, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

Part = Literal["team", "task", "language", "condition", "checkpoint"]
PARTS: tuple[Part, ...] = ("team", "task", "language", "condition", "checkpoint")
"""What distinguishes submissions, in the order of tables."""
_WRITTEN = {"run": ".+", "any": ".*", "timestamp": "[0-9]{8}_[0-9]{6}"}
"""Placeholders of names that may have underscores in them."""
_PLACEHOLDER = re.compile(r"\{([a-z]*)\}")


class Team(msgspec.Struct, frozen=True):
    """A team.

    Attributes:
        title: its name for people.
        tasks: the tasks for which a submission of it is expected.
    """

    title: str = ""
    tasks: tuple[str, ...] = ()


class TaskSettings(msgspec.Struct, frozen=True):
    """How the submissions to a task are recognised, checked and scored.

    Attributes:
        reference: path of the reference, or a path for each language.
        against: path of what submissions are checked against, in the same forms; that of the
            reference if it is empty.
        names: pattern of the names of submissions, see `name_pattern`.
        metric: the metric by which the best submission is found; that which ranks if it is empty.
        profile: `plan` or `official`.
        options: values of the options of the task.
    """

    reference: str | Mapping[str, str] = ""
    against: str | Mapping[str, str] = ""
    names: str = ""
    metric: str = ""
    profile: str = "plan"
    options: Mapping[str, object] = {}


class Limit(msgspec.Struct, frozen=True):
    """How many valid submissions there may be, and have to be.

    Attributes:
        per: the parts by which submissions are counted, such as team and task.
        tasks: the tasks that it is for; all if it is empty.
        least: how many there have to be.
        most: how many are scored; None for all.
    """

    per: tuple[Part, ...]
    tasks: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None

    def group(self, parts: Mapping[str, str]) -> tuple[str, ...] | None:
        """The group of a submission; None if it is not counted, or not all parts are known.

        Examples:
            >>> Limit(("team", "task")).group({"team": "LCC", "task": "ccu-nd"})
            ('LCC', 'ccu-nd')
            >>> Limit(("team",), tasks=("hub4",)).group({"team": "LCC", "task": "ccu-nd"})
        """
        if self.tasks and parts.get("task") not in self.tasks:
            return None
        group = tuple(parts.get(part, "") for part in self.per)
        return group if all(group) else None


class Listed(msgspec.Struct, frozen=True):
    """A submission whose parts the manifest says, rather than its name.

    Attributes:
        file: name of its archive.
        team: its team.
        task: its task.
        language: its language.
        condition: its training condition.
        checkpoint: its checkpoint.
    """

    file: str
    team: str = ""
    task: str = ""
    language: str = ""
    condition: str = ""
    checkpoint: str = ""

    @property
    def parts(self) -> dict[str, str]:
        """The parts that it says."""
        return {part: value for part in PARTS if (value := getattr(self, part))}


class Ensemble(msgspec.Struct, frozen=True):
    """Submissions that a team declares comparable over time, one at each checkpoint.

    Attributes:
        submissions: their identifiers, SUB_ID.
        name: of the ensemble.
    """

    submissions: tuple[str, ...]
    name: str = ""


class Evaluation(msgspec.Struct, frozen=True):
    """An evaluation, as its manifest declares it.

    Attributes:
        name: for people.
        tasks: how submissions to each task are handled.
        teams: the teams by the names that submissions have; any team if there are none.
        checkpoints: their names, in order.
        languages: their names.
        conditions: the training conditions.
        limits: how many submissions there may be.
        submissions: submissions whose parts do not follow from their names.
        ensembles: sets of submissions, one at each checkpoint.
        ensembles_for: conditions under which each team has to name a complete ensemble.
    """

    name: str
    tasks: Mapping[str, TaskSettings]
    teams: Mapping[str, Team] = {}
    checkpoints: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    submissions: tuple[Listed, ...] = ()
    ensembles: tuple[Ensemble, ...] = ()
    ensembles_for: tuple[str, ...] = ()

    def declared(self, part: str) -> tuple[str, ...]:
        """The names that a part of a submission may have; any if there are none."""
        of_part: Mapping[str, tuple[str, ...]] = {
            "team": tuple(self.teams),
            "task": tuple(self.tasks),
            "language": self.languages,
            "condition": self.conditions,
            "checkpoint": self.checkpoints,
        }
        return of_part[part]


def name_pattern(written: str) -> re.Pattern[str]:
    """The pattern of names of submissions, without `.tgz`, `.tar.gz` or `.zip`.

    A placeholder is a part, such as `{team}`, or any other word for what does not matter, such as
    `{phase}`: it is text without an underscore. `{run}` and `{any}` may have underscores, and
    `{timestamp}` is YYYYMMDD_HHMMSS.

    Raises:
        ValueError: for a placeholder that is repeated or has no name.

    Examples:
        >>> name_pattern("{team}_EDL_{checkpoint}_{run}").fullmatch("NIST_EDL_CP1_1.tab")["run"]
        '1.tab'

    """
    made, seen, end = "", set[str](), 0
    for found in _PLACEHOLDER.finditer(written):
        name = found[1]
        if not name or name in seen:
            raise ValueError(
                f"{found[0]} has no name" if not name else f"{found[0]} is there twice"
            )
        seen.add(name)
        made += (
            re.escape(written[end : found.start()]) + f"(?P<{name}>{_WRITTEN.get(name, '[^_]+')})"
        )
        end = found.end()
    return re.compile(made + re.escape(written[end:]))
