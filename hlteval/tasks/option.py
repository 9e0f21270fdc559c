"""What an option of a task is: a value of which the command line, the API and the docs are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

_HOMES: Mapping[str, str] = MappingProxyType(
    {"pack": "validate", "leaderboard": "compare", "agreement": "compare"}
)
"""Commands that have the options of another one."""


class WrongOption(ValueError):
    """An option has a value that it cannot have: an error of usage."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option that only some tasks have, given as --name with hyphens for underscores.

    Attributes:
        name: of the option.
        help: one line for people.
        format: the format of the file that it names, if that is read as a corpus: rules find it by
            the option's name, and a reference has its texts and segments.
        choices: the values that it can have, where these are few.
        metavar: the placeholder of its value in the help.
        is_format_setting: whether it is a setting of the formats that have it.
        repeatable: whether it can be given several times; as text, the values are joined by spaces.
        short: a letter that is short for its name.
        commands: the commands that have it.
        switch: whether it takes no value: its value is then `yes`.
        reference_format: the format of the file that it names, if a submission is checked against
            that.
        kind: how the metric takes its value: as text, as a list separated by commas, or as a
            number above 0.
        read: gives the metric something else instead, from the value and all options; of a file
            a `FileValue`, from its source and all options. A file that `validate` reads too may
            be for the rules only (`Task.schema_for`).
        needs: other options that a value needs in scoring; under the empty name, those that any
            value needs.
        adds: what it adds to the report of `score` if it changes no metric: `rows` of the scores,
            or `tables`, which only -o and JSON show; `compare` does not have it then.
        selects_measure: whether its values are measures, of which only the one given is computed;
            the primary metric follows it.
        needs_any: by command, options and arguments of which it needs one to have an effect.
        selects_documents: whether only the documents of the corpus that it names are scored; a
            metric that has the option leaves out the others itself.
        holds_options: whether the file that it names holds options of the task, in TOML.
        without_documents: whether the documents of a submission have no boundaries under it.
        submission_to: the task that the file which it names is a submission to, and the option of
            that task which names the submission that is scored; it is checked as one.
        follows_seed: whether it is the seed that all commands have, unless it is given itself.
    """

    name: str
    help: str
    format: str = ""
    choices: tuple[str, ...] = ()
    metavar: str = "FILE"
    is_format_setting: bool = False
    repeatable: bool = False
    short: str = ""
    commands: tuple[Literal["score", "validate"], ...] = ("score",)
    switch: bool = False
    reference_format: str = ""
    kind: Literal["text", "list", "number"] = "text"
    read: Callable[[Any, Mapping[str, str]], object] | None = None
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adds: Literal["", "rows", "tables"] = ""
    selects_measure: bool = False
    needs_any: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    selects_documents: bool = False
    holds_options: bool = False
    without_documents: bool = False
    follows_seed: bool = False
    submission_to: tuple[str, str] | None = None

    @property
    def flag(self) -> str:
        """The name as on the command line."""
        return self.name.replace("_", "-")

    @property
    def placeholder(self) -> str:
        """The placeholder of its value; empty for a switch."""
        return "" if self.switch else "|".join(self.choices) or self.metavar

    @property
    def is_input(self) -> bool:
        """Whether it names files or folders that are read."""
        return self.metavar in {"FILE", "PATH"} and not (self.switch or self.choices)

    @property
    def is_file(self) -> bool:
        """Whether it names files that are read for the submission, and no options."""
        return self.is_input and not self.holds_options

    def available_in(self, command: str) -> bool:
        """Whether a command has it.

        `pack` validates what it packs, and has those of `validate`; `leaderboard` and `agreement`
        compare.
        """
        home = _HOMES.get(command, command)
        if home == "compare":
            return "score" in self.commands and not self.adds
        return home in self.commands

    def elsewhere(self, task: str, command: str) -> str:
        """Why a command of a task does not have it, and which does.

        Examples:
            >>> Option("by", "Also by type.", adds="rows").elsewhere("hub4", "compare")
            '--by belongs to `hlteval score hub4`: it changes no metric that could be compared'
        """
        only_shown = _HOMES.get(command, command) == "compare" and "score" in self.commands
        reason = ": it changes no metric that could be compared" if only_shown else ""
        homes = " and ".join(f"`hlteval {home} {task}`" for home in self.commands)
        return f"--{self.flag} belongs to {homes}{reason}"

    def lacks(self, command: str, present: Collection[str]) -> str:
        """What it needs to have an effect beside what is present; empty if nothing.

        Examples:
            >>> Option("ratio", "Of it.", needs_any={"score": ("noisy",)}).lacks("score", {"ratio"})
            '--ratio has no effect without --noisy'
        """
        wanted = self.needs_any.get(_HOMES.get(command, command), ())
        if not wanted or not set(wanted).isdisjoint(present):
            return ""
        flags = " or ".join(f"--{name.replace('_', '-')}" for name in wanted)
        return f"--{self.flag} has no effect without {flags}"

    def check(self, value: str) -> None:
        """Check that the option can have a value.

        Raises:
            WrongOption: if it is not.
        """
        if self.choices and value not in self.choices:
            raise WrongOption(
                f"invalid value {value} of --{self.flag}: use {' or '.join(self.choices)}"
            )
