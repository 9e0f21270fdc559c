"""Exit codes in the help of every command, and the short option of the version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from docs.make.option_page import COMMANDS, PER_TASK
from hlteval import __version__
from hlteval.cli.process import declarations, exit_codes

Run = Callable[..., Any]
GROUPS = ("", "manifest", *PER_TASK)


def listed(help_text: str) -> dict[int, str]:
    """The exit codes that a help page lists, with wrapped lines joined."""
    _, _, section = help_text.partition("\nExit codes:\n")
    found: dict[int, str] = {}
    for line in section.splitlines():
        head, _, rest = line.strip().partition("  ")
        if head.isdigit():
            found[int(head)] = rest.strip()
        elif found and line.strip():
            found[max(found)] += f" {line.strip()}"
    return found


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_printed(option: str, invoke: Run) -> None:
    result = invoke(option)
    assert (result.exit_code, result.stdout) == (0, f"hlteval {__version__}\n")


@pytest.mark.parametrize("command", [*GROUPS, *(name for name in COMMANDS if name not in PER_TASK)])
def test_help_lists_the_exit_codes(command: str, invoke: Run) -> None:
    assert listed(invoke(*command.split(), "--help").stdout) == exit_codes(command)


@pytest.mark.parametrize("command", PER_TASK)
def test_help_of_a_task_lists_the_exit_codes(command: str, invoke: Run) -> None:
    assert listed(invoke(command, "hub4", "--help").stdout) == exit_codes(command)


def test_the_exit_codes_of_every_command_are_declared() -> None:
    own = {name for name, declared in declarations().items() if "exits" in declared}
    assert {*COMMANDS, *GROUPS, "hlteval"} - {""} == own


@pytest.mark.parametrize(
    ("words", "use"),
    [
        ("score seedev-full -r gold run", "score seedev-full -r PATH -s PATH"),
        ("score seedev-full run", "score seedev-full -r PATH -s PATH"),
        ("score ccu-ta2 run", "score ccu-ta2 -s PATH"),
        ("compare hub4 run", "compare hub4 -r PATH SUBMISSION..."),
        ("pack hub4 run", "pack hub4 -o NAME PATH..."),
        ("convert run", "convert INPUT... OUTPUT"),
        ("validate hub4 --profile plan", "validate hub4 SUBMISSION"),
    ],
)
def test_what_is_missing_is_shown_with_all_that_is_required(
    words: str, use: str, invoke: Run
) -> None:
    result = invoke(*words.split())
    assert result.exit_code == 2
    assert "Missing " in result.stderr
    assert f"Use: hlteval {use}" in " ".join(result.stderr.split())
