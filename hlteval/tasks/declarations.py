"""Declarations of the tasks that come with the package: files in TOML, read task by task.

A file has the fields of `Task`. Statistics, measures, options and the units of annotators have
names, and are tables under these: `[options.sentences]`. Functions, and the files that a file
extends, are written as `hlteval.extensions` says. Beside the fields, a file can have:

- `names`: texts by names; `{clause}` in any text stands for the one that is called so, and `{task}`
  for the last part of the task's name;
- `rows`: lists of such tables of names; an entry with `each = "genres"` stands for one entry for
  each row of that list, its own name included;
- `defaults`: of a section, what its entries have unless they have it themselves;
- `order`: the names of the entries that the task has of a section, where these are not all in the
  order of the files.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from hlteval.extensions import Tables, make_function, read_tables
from hlteval.tasks.task import HIGH, LOW, NORMAL, NUMBER, RATE, Range, Task

#: Sections whose entries have names.
_SECTIONS = ("statistics", "table_statistics", "measures", "options", "units")
#: What a statistic can be, and how important it is.
_WORDS: Mapping[str, Mapping[str, object]] = {
    "values": {
        "rate": RATE,
        "signed rate": Range("-1 to 1", least=-1.0, most=1.0),
        "ratio": Range("≥ 0", least=0.0),
        "count": Range("an integer ≥ 0", "count", least=0.0),
        "number": NUMBER,
    },
    "importance": {"low": LOW, "normal": NORMAL, "high": HIGH},
}


@cache
def read_task(name: str) -> Task:
    """Return a task that comes with the package.

    Examples:
        >>> read_task("seedev-full").primary["official"]
        'ser'
    """
    return make_task(name, read_tables("hlteval.tasks", name))


def make_task(name: str, tables: Tables) -> Task:
    """Return a task as tables declare it.

    Raises:
        msgspec.ValidationError: if a table has something that a task has not.
        KeyError: if a text or an entry uses a name that stands for nothing.
    """
    names = {"task": name.rpartition("-")[2], **tables.get("names", {})}
    sections = {section: _entries(tables, section, names) for section in _SECTIONS}
    rest = tables.keys() - {"names", "rows", "defaults", "order", *_SECTIONS}
    fields = {key: _fill(tables[key], names) for key in rest}
    units = sections.pop("units")
    if "agreement" in fields:
        call = "hlteval.tasks.agreement:make_agreement"
        fields["agreement"] = {"call": call, **fields["agreement"], "units": units}
    return msgspec.convert({"name": name, **fields, **sections}, Task, dec_hook=make_function)


def _entries(tables: Tables, section: str, names: Tables) -> list[Tables]:
    """List the entries of a section, each with its name."""
    defaults = tables.get("defaults", {}).get(section, {})
    entries = {
        entry["name"]: entry
        for name, table in tables.get(section, {}).items()
        for entry in _expand({"name": name, **defaults, **table}, tables.get("rows", {}), names)
    }
    order = tables.get("order", {}).get(section, [*entries])
    return [entries[name] for name in _fill(order, names)]


def _expand(entry: Tables, rows: Tables, names: Tables) -> Iterator[Tables]:
    """Give an entry for each of its rows, with the values that words stand for."""
    for row in rows[entry["each"]] if "each" in entry else ({},):
        named = {**names, **_fill(row, names)}
        full = _fill({key: entry[key] for key in entry if key != "each"}, named)
        words = {key: full[key] for key in _WORDS if isinstance(full.get(key), str)}
        yield {**full, **{key: _WORDS[key][word] for key, word in words.items()}}


def _fill(value: Any, names: Tables) -> Any:
    """Replace the names in all texts of a value."""
    match value:
        case str():
            return value.format_map(names) if "{" in value else value
        case list():
            return [_fill(item, names) for item in value]
        case dict():
            return {key: _fill(item, names) for key, item in value.items()}
    return value
