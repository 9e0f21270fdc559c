"""The command that reports all findings of a submission, for messages that name it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlteval.tasks import load
from hlteval.tasks.option import Option


def validation(task: str, system: str, reference: str, settings: Mapping[str, Any]) -> list[str]:
    """The command that reports all findings of a submission and its reference.

    Args:
        task: name of the task.
        system: path of the submission.
        reference: path of the reference; empty if the task has none.
        settings: with which it is scored: `profile`, `encoding`, and the task's `options`.

    Examples:
        >>> settings = {"profile": "official", "options": {"segments": "s.list"}}
        >>> " ".join(validation("hub4", "a.tpl", "b.tpl", settings))
        'hlteval validate hub4 a.tpl --against b.tpl --profile official'
    """
    words = ["hlteval", "validate", task, system]
    words += ["--against", reference] if reference else []
    for name, default in (("profile", "plan"), ("encoding", "utf-8")):
        value = settings.get(name) or default
        words += [f"--{name}", value] if value != default else []
    values = settings.get("options") or {}
    for option in load(task).options:
        if option.name in values and option.available_in("validate"):
            words += _words(option, values[option.name])
    return words


def _words(option: Option, value: Any) -> list[str]:
    """An option with its values as words of a command line."""
    if option.switch:
        return [f"--{option.flag}"]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for item in values for word in (f"--{option.flag}", str(item))]
