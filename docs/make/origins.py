"""Who raises a code: the formats and tasks whose functions name it, told from their sources.

A format is followed from its declaration, a task from its rules, its checks of packages and its
metric, through everything of ours that these refer to. Nothing is run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from hlteval import converters, tasks
from hlteval.extensions import LazyImport
from hlteval.findings import catalogue
from hlteval.tasks.task import Task

_CODE = re.compile(r"[A-Z]{3}[0-9]{3}")
_Named = tuple[str, str]
"""A module, and what is defined at its top."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where a code comes from.

    Attributes:
        formats: whose readers or writers find it; all of them for what concerns files as such.
        tasks: whose rules find it, or which read one of the formats.

    What neither finds is told by conversions.
    """

    formats: tuple[str, ...]
    tasks: tuple[str, ...]


@cache
def origins() -> Mapping[str, Origins]:
    """The formats and tasks of every code of the catalogue.

    Examples:
        >>> origins()["EDL403"]
        Origins(formats=(), tasks=('lorehlt-edl',))
        >>> origins()["APN101"]
        Origins(formats=('appen',), tasks=('speech-sf',))
    """
    files = _reached([("hlteval.sources", "open_source"), ("hlteval.sources", "decode")])
    formats = {name: _reached([_parts(at)]) | files for name, at in converters.known().items()}
    found = {name: _of_task(tasks.load(name), at) for name, at in tasks.known().items()}
    read = {name: {code for form in _read(name) for code in formats[form]} for name in found}
    return MappingProxyType(
        {
            code: Origins(
                tuple(name for name, codes in formats.items() if code in codes),
                tuple(name for name, codes in found.items() if code in codes | read[name]),
            )
            for code in catalogue()
        }
    )


def _parts(named: str) -> _Named:
    module, _, attribute = named.partition(":")
    return module, attribute or "FORMAT"


def _read(name: str) -> set[str]:
    """The formats that a task reads."""
    task = tasks.load(name)
    named = {one for option in task.options for one in (option.format, option.reference_format)}
    return {task.format, *task.submitted, *task.references, *named} - {""}


def _of_task(task: Task, at: str) -> frozenset[str]:
    """The codes of a task itself: of its rules, and of what it does beside them."""
    codes, begins = {rule.code for rule in tasks.rules(task)}, []
    reading = (option.read for option in task.options if option.read)
    for function in (task.package, task.metric, *reading):
        inner = function.func if isinstance(function, partial) else function
        said = function.keywords.values() if isinstance(function, partial) else ()
        codes |= {value for value in said if _CODE.fullmatch(str(value))}
        named = inner.named if isinstance(inner, LazyImport) else f"{_parts(at)[0]}:{_name(inner)}"
        begins.append(_parts(named))
    return _reached(begins) | codes


def _name(function: object) -> str:
    return getattr(function, "__name__", "")


def _reached(begins: Iterable[_Named]) -> frozenset[str]:
    """The codes that stand in some definitions, and in all that these refer to."""
    waiting, seen, codes = list(begins), set[_Named](), set[str]()
    while waiting:
        if (named := waiting.pop()) in seen:
            continue
        seen.add(named)
        refers, own = _definition(*named)
        waiting += refers
        codes |= own
    return frozenset(codes)


@cache
def _definition(module: str, name: str) -> tuple[frozenset[_Named], frozenset[str]]:
    """What a definition refers to, here and elsewhere, and the codes that stand in it."""
    defined, imported = _module(module)
    if name not in defined:
        return frozenset({imported[name]} if name in imported else ()), frozenset()
    refers, codes = set[_Named](), set[str]()
    for node in ast.walk(defined[name]):
        if isinstance(node, ast.Name):
            here = node.id in defined
            refers.add((module, node.id) if here else imported.get(node.id, ("", "")))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            outer, inner = imported.get(node.value.id, ("", ""))
            refers.add((f"{outer}.{inner}", node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            codes |= {node.value} if _CODE.fullmatch(node.value) else set()
    return frozenset(refers), frozenset(codes)


@cache
def _module(name: str) -> tuple[Mapping[str, ast.stmt], Mapping[str, _Named]]:
    """What a module of ours defines, and where its imported names come from."""
    path = _spec(name)
    if path is None:
        return {}, {}
    tree = ast.parse(path.read_text("utf-8"))
    return dict(_defined(tree)), dict(_imported(tree))


def _spec(name: str) -> Path | None:
    declared = (*converters.known().values(), *tasks.known().values())
    ours = {"hlteval", *(at.partition(".")[0] for at in declared)}
    if name.partition(".")[0] not in ours:
        return None
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # an attribute of something that is no package
        return None
    return Path(spec.origin) if spec and spec.origin else None


def _defined(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (one for target in targets for one in ast.walk(target))
            yield from ((one.id, node) for one in names if isinstance(one, ast.Name))


def _imported(tree: ast.Module) -> Iterator[tuple[str, _Named]]:
    """The names that imports bring, wherever they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((one.asname or one.name, (node.module, one.name)) for one in node.names)
