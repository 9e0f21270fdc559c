"""Converters: a module and a file of declarations for each format, which is its `FORMAT`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict

from hlteval.extensions import (
    FORMATS,
    Tables,
    broken_extensions,
    extensions,
    load_extension,
    read_tables,
)

if TYPE_CHECKING:
    from hlteval.converters.format import Format, ReadResult, Setting, WrongSetting

#: The modules of the formats that come with the package, by name.
BUILTIN: Mapping[str, str] = MappingProxyType(
    {name: f"{__name__}.{module}" for name, module in read_tables(__name__, "formats").items()}
)
_NAMES = {module: name for name, module in BUILTIN.items()}
#: What a format carries that has a place for all tables and columns.
ALL = "everything"
_SHOWN = ("name", "help", "default", "of")


class SettingSummary(NamedTuple):
    """A setting of a format in short.

    Attributes:
        name: as on the command line.
        help: one line for people.
        default: its default value.
        of: `read` or `write`.
        choices: the values that it can have, where these are few.
    """

    name: str
    help: str
    default: str
    of: str
    choices: list[str]

    @property
    def text(self) -> str:
        """The setting with its default and meaning, in one line."""
        return f"{self.name}={self.default}: {self.help}"


class Summary(NamedTuple):
    """A format in short, as `hlteval formats` lists it.

    Attributes:
        title: one line for people.
        reads: whether it is read.
        writes: whether it is written.
        everything: whether it represents all tables with all columns.
        tables: the tables that it represents.
        settings: what can be set.
        suffixes: of the files that hold it.
    """

    title: str
    reads: bool
    writes: bool
    everything: bool
    tables: list[str]
    settings: list[SettingSummary]
    suffixes: list[str]


__all__ = [
    "BUILTIN",
    "Format",
    "ReadResult",
    "Setting",
    "SettingSummary",
    "Summary",
    "WrongSetting",
    "known",
    "load",
    "read_declaration",
    "summaries",
    "summary",
]


def known() -> Mapping[str, str]:
    """The formats by name, ours and those that other packages add."""
    return {**extensions(FORMATS), **BUILTIN}


@cache
def summaries() -> Mapping[str, Summary]:
    """Each format in short; the declarations of ours are read without their modules.

    Examples:
        >>> summaries()["ltf"].writes
        True
    """
    others = [name for name in extensions(FORMATS) if name not in BUILTIN]
    broken = broken_extensions(FORMATS) if others else {}
    added = {name: summary(load(name)) for name in others if name not in broken}
    ours = {name: _summary(read_declaration(module)) for name, module in BUILTIN.items()}
    return MappingProxyType({**added, **ours})


def summary(form: Format) -> Summary:
    """A format in short."""
    settings = [asdict(setting) for setting in form.settings]
    carries = ALL if form.carries_all else form.carries
    written = {"writes": form.write is not None, "carries": carries, "settings": settings}
    return _summary({**asdict(form), **written})


def _summary(tables: Tables) -> Summary:
    """A format in short, by its declarations."""
    everything = tables["carries"] == ALL
    carried = read_tables("hlteval.representation", "tables") if everything else tables["carries"]
    settings = [
        SettingSummary(**{n: setting[n] for n in _SHOWN}, choices=[*setting.get("choices", ())])
        for setting in tables["settings"]
    ]
    return Summary(
        title=tables["title"],
        reads=tables.get("reads", True),
        writes=tables["writes"],
        everything=everything,
        tables=[name for name in carried if "." not in name],
        settings=settings,
        suffixes=[*tables["suffixes"]],
    )


def read_declaration(module: str) -> Tables:
    """The declarations of a format, in the file beside its module; see `converters.declarations`.

    Examples:
        >>> read_declaration("hlteval.converters.edl.kb_tab")["carries"]
        ['sources', 'entities', 'entities.label', 'entities.source', 'entities.name']
    """
    package, _, name = module.rpartition(".")
    own_name = _NAMES.get(module, name.replace("_", "-"))
    defaults = {"name": own_name, "carries": ["sources", "documents"], "writes": True}
    tables: Tables = {**defaults, **read_tables(package, name)}
    without = {"rejected_records", *tables.get("unwritten", ())}
    words = [item for item in tables.get("words", ()) if ":" not in item and item not in without]
    carries = ALL if tables["carries"] == ALL else [*tables["carries"], *words]
    settings = [
        {"name": name, "of": use, **setting}
        for use, settings in tables.get("settings", {}).items()
        for name, setting in settings.items()
    ]
    own = {name: value for name, value in tables.items() if name != "unwritten"}
    return {**own, "carries": carries, "settings": settings}


def load(name: str) -> Format:
    """A format by its name.

    Raises:
        KeyError: if there is none of that name.
        BrokenExtension: if it is of another package, and cannot be imported.

    Examples:
        >>> load("standoff").suffixes
        ('.txt', '.a1', '.a2')
    """
    ours = name in BUILTIN
    found: Any = import_module(BUILTIN[name]) if ours else load_extension(FORMATS, name)
    form: Format = getattr(found, "FORMAT", found)
    return form


def __getattr__(name: str) -> Any:
    """The classes of `converters.format`, imported when used: names of formats cost nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("hlteval.converters.format"), name)
