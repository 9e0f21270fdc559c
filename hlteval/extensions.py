"""What other packages add: formats, tasks, rules and codes, through entry points.

A package names them in its pyproject.toml; docs/extending.md shows how, step by step:

    [project.entry-points."hlteval.formats"]
    colon-tab = "colons.colon_tab:FORMAT"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

FORMATS = "hlteval.formats"
TASKS = "hlteval.tasks"
RULES = "hlteval.rules"
CODES = "hlteval.codes"


@cache
def extensions(group: str) -> Mapping[str, str]:
    """What installed packages add to a group, by name, as `module:attribute`; in order of names.

    Examples:
        >>> extensions("hlteval.nothing")
        mappingproxy({})
    """
    from importlib.metadata import entry_points  # a third of what help takes, else

    found = sorted((point.name, point.value) for point in entry_points(group=group))
    return MappingProxyType(dict(found))


def resolve(named: str) -> Any:
    """What `module:attribute` names.

    Examples:
        >>> resolve("pathlib:Path").__name__
        'Path'
    """
    module, _, attribute = named.partition(":")
    return getattr(import_module(module), attribute) if attribute else import_module(module)


@dataclass(frozen=True, slots=True)
class LazyImport:
    """What `module:attribute` names, imported when it is first called; a value is given as it is.

    Examples:
        >>> LazyImport("math:gcd")(12, 18), round(LazyImport("math:pi")(), 2)
        (6, 3.14)
    """

    named: str

    def __call__(self, *arguments: Any, **named_arguments: Any) -> Any:
        """What the function gives, or the value."""
        found = resolve(self.named)
        return found(*arguments, **named_arguments) if callable(found) else found


def lazy(named: str) -> LazyImport:
    """A function, or a value, that costs no import before it is used; see `LazyImport`."""
    return LazyImport(named)
