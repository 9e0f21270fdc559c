"""Extensions: formats, tasks, rules and codes of other packages, found through entry points.

A package declares them in its pyproject.toml; docs/extending.md is a tutorial:

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
    """The extensions of a group as `module:attribute`, by name, sorted.

    Examples:
        >>> extensions("hlteval.nothing")
        mappingproxy({})
    """
    from importlib.metadata import entry_points  # otherwise a third of the time of --help

    found = sorted((point.name, point.value) for point in entry_points(group=group))
    return MappingProxyType(dict(found))


def resolve(named: str) -> Any:
    """The object that `module:attribute` names.

    Examples:
        >>> resolve("pathlib:Path").__name__
        'Path'
    """
    module, _, attribute = named.partition(":")
    return getattr(import_module(module), attribute) if attribute else import_module(module)


@dataclass(frozen=True, slots=True)
class LazyImport:
    """A function or value named by `module:attribute`, imported when the object is called.

    Examples:
        >>> LazyImport("math:gcd")(12, 18), round(LazyImport("math:pi")(), 2)
        (6, 3.14)
    """

    named: str

    def __call__(self, *arguments: Any, **named_arguments: Any) -> Any:
        """The result of the function, or the value itself."""
        found = resolve(self.named)
        return found(*arguments, **named_arguments) if callable(found) else found


def lazy(named: str) -> LazyImport:
    """A function or value that is imported when it is used; see `LazyImport`."""
    return LazyImport(named)
