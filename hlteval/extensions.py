"""Extensions: formats, tasks, rules and codes of other packages, found through entry points.

A package declares them in its pyproject.toml; docs/extending.md is a tutorial:

    [project.entry-points."hlteval.formats"]
    colon-tab = "colons.colon_tab:FORMAT"

`hlteval/extensions.py` belongs to no room: each room finds there what other packages add to it.

Tasks and formats are files of declarations in TOML. `extends` lists files whose tables a file
completes, or overrides key by key. A function is written as `module:name`, and imported when it is
called; with arguments it is a table: `{call = "module:name", task = "nd"}`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial, reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

Tables = Mapping[str, Any]

FORMATS = "hlteval.formats"
TASKS = "hlteval.tasks"
RULES = "hlteval.rules"
CODES = "hlteval.codes"
#: The class of the objects of a group.
_KINDS = {FORMATS: "hlteval.converters.format:Format", TASKS: "hlteval.tasks.task:Task"}


@cache
def extensions(group: str) -> Mapping[str, str]:
    """The extensions of a group as `module:attribute`, by name, sorted.

    Examples:
        >>> extensions("hlteval.nothing")
        mappingproxy({})
    """
    found = sorted((point.name, point.value) for point in _points().select(group=group))
    return MappingProxyType(dict(found))


@cache
def _points() -> Any:
    """The entry points of all packages, which are read once for all groups."""
    from importlib.metadata import entry_points  # otherwise a third of the time of --help

    return entry_points()


class BrokenExtension(ImportError):
    """A plug-in that cannot be imported; the message names it, its package and the cause."""


def load_extension(group: str, name: str) -> Any:
    """The object of an extension.

    Raises:
        KeyError: if there is none of that name.
        BrokenExtension: if it cannot be imported, or is something else.
    """
    named = extensions(group)[name]
    try:
        found = resolve(named)
        kind = resolve(_KINDS[group]) if group in _KINDS else object
        if not isinstance(getattr(found, "FORMAT", found), kind):
            raise TypeError(f"{named} is no {kind.__name__}")
        return found
    except Exception as error:
        cause = f"{type(error).__name__}: {error}".partition("\n")[0]
        (point, *_) = _points().select(group=group, name=name)
        package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        raise BrokenExtension(
            f"the plug-in {name} of {package} cannot be loaded: {cause}; correct or uninstall it"
        ) from error


def broken_extensions(group: str) -> Mapping[str, str]:
    """The extensions of a group that cannot be imported, each with the reason."""
    found = {}
    for name in extensions(group):
        try:
            load_extension(group, name)
        except BrokenExtension as error:
            found[name] = str(error)
    return found


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

    def __call__(self, *arguments: object, **named_arguments: object) -> Any:
        """The result of the function, or the value itself."""
        found = resolve(self.named)
        return found(*arguments, **named_arguments) if callable(found) else found


def lazy(named: str) -> LazyImport:
    """A function or value that is imported when it is used; see `LazyImport`."""
    return LazyImport(named)


def read_tables(package: str, name: str) -> Tables:
    """Read a file of a package, given without `.toml`, and those that it extends.

    Examples:
        >>> read_tables("hlteval.tasks", "hub4")["format"]
        'hub4'
    """
    tables = dict(_file(package, name))
    extended = tables.pop("extends", ())
    return reduce(_merge, (*(read_tables(package, other) for other in extended), tables))


@cache
def _file(package: str, name: str) -> Tables:
    spec = find_spec(package)  # which imports no library that the package does
    folder = Path(spec.origin if spec and spec.origin else package).parent
    return tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))


def _merge(first: Tables, second: Tables) -> Tables:
    """Complete a table by another one, which counts where both have a value."""
    inner = {
        key: _merge(first[key], value)
        for key, value in second.items()
        if isinstance(value, dict) and isinstance(first.get(key), dict)
    }
    return {**first, **second, **inner}


def make_function(_: type, value: Any) -> Any:
    """Make a function of a reference to it; anything else as it is: a `dec_hook` of msgspec.

    Examples:
        >>> make_function(object, {"call": "builtins:int", "base": 8})("17")
        15
    """
    match value:
        case str():
            return lazy(value)
        case {"call": str() as named, **rest}:
            arguments = {str(k): tuple(v) if isinstance(v, list) else v for k, v in rest.items()}
            return partial(lazy(named), **arguments)
    return value
