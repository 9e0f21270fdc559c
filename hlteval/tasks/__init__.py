"""Tasks: one module a family, each declaring its tasks as values."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlteval.tasks.task import Task

BUILTIN: Mapping[str, str] = {
    "seedev-binary": "hlteval.tasks.seedev:BINARY",
    "seedev-full": "hlteval.tasks.seedev:FULL",
    "speech-sf": "hlteval.tasks.speech_sf:SPEECH",
    "hub4": "hlteval.tasks.hub4:HUB4",
}
"""The tasks by name, each imported where it is first used."""

PROFILES = ("plan", "official")
"""`plan` follows the written specification, `official` the public software, quirks included."""

__all__ = ["BUILTIN", "PROFILES", "load"]


def load(name: str) -> Task:
    """A task by its name.

    Raises:
        KeyError: if there is none of that name.

    Examples:
        >>> load("seedev-binary").primary["plan"]
        'f1'
    """
    module, _, attribute = BUILTIN[name].partition(":")
    task: Task = getattr(import_module(module), attribute)
    return task
