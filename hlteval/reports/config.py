"""The output formats of a file of defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
from rich.console import RenderableType
from rich.text import Text

from hlteval.findings import Item
from hlteval.reports.display import visible
from hlteval.reports.escapes import escaped, printable
from hlteval.results.config import TAKEN, Config
from hlteval.results.versions import head

_WIDTH = max(map(len, TAKEN))
NOTHING = "no file of defaults applies"


def text(config: Config | None) -> RenderableType:
    """The path of the file, and a line for each default."""
    if config is None:
        return Text(NOTHING)
    rows = [(name, _shown(value)) for name, value in config.items()]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    taken = [f"  {name:<{_WIDTH}}  {', '.join(names)}" for name, names in _taken(config).items()]
    taken = ["taken by", *taken] if taken else []
    return Text("\n".join(visible(line) for line in (config.path, *lines, *taken)))


def _taken(config: Config) -> dict[str, list[str]]:
    """The settings that each command takes, without commands that take none."""
    return {command: names for command in TAKEN if (names := config.taken_by(command))}


def _shown(value: object) -> str:
    """A value as text; the items of a list are separated by commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def json(config: Config | None) -> str:
    r"""One object with the file, its defaults and the findings about it.

    Examples:
        >>> json(None)
        '{"schema":"defaults","version":1,"file":null,"defaults":{},"commands":{},"findings":[]}\n'
    """
    built = {
        **head("defaults"),
        "file": config.path if config else None,
        "defaults": dict(config.values) if config else {},
        "commands": _taken(config) if config else {},
        "findings": list(map(Item.of, config.findings)) if config else [],
    }
    return escaped(msgspec.json.encode(printable(msgspec.to_builtins(built)))).decode() + "\n"


FORMATS: Mapping[str, Callable[[Config | None], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)
"""The output formats by name."""
