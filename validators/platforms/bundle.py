"""Bundles: files by their paths, archives and folders in them, and configurations in YAML.

The platforms read YAML with a parser that gives no places. Here its nodes are composed, so that
each key and value has a place, and dates stay as they are written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar

import msgspec

from hlteval.findings import Finding, Problem, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.sources import Member, Source, Unreadable
from hlteval.sources.names import is_junk, normalize, unsafe_reason
from hlteval.sources.opening import open_stream
from hlteval.sources.source import Limits
from hlteval.syntax.json_text import KINDS, WANTED, format_path, schema_errors
from hlteval.syntax.places import Extent, KeyPlaces, Path, Places

#: The limits of bundles, which have archives of libraries in them.
LIMITS = Limits(nested=True, member_bytes=1 << 30, total_bytes=1 << 32)
#: The most nodes of a configuration, those of aliases each time, and of names in a message.
_MOST, _NAMES = 10_000, 20
_DATES, _MERGE = "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:merge"
_PROBLEMS = {
    "minLength": ("is empty", "write a text, or remove the key"),
    "minItems": ("is empty", "add at least one"),
    "maxItems": ("has more than {}", "remove some"),
    "minimum": ("is less than {}", "use a number from {}"),
    "uniqueItems": ("has the same twice", "write each one once"),
}
#: The versions of Python in names of images: python:3.12-slim, codalab/codalab-legacy:py37.
_PYTHON = re.compile(r"python:?-?(\d)(?:\.(\d{1,3}))?|[:\-_]py(\d)(\d{0,3})\b")
#: The first version of Python that hlteval runs on.
OLDEST = (3, 11)


@dataclass(frozen=True)
class Bundle:
    """The files of a bundle, or of an archive or a folder in it."""

    source: Source

    @cached_property
    def files(self) -> Mapping[str, Member]:
        """The files by their paths; what operating systems add is left out."""
        named = {normalize(each.name): each for each in self.source.members}
        return {name: each for name, each in named.items() if name and not is_junk(name)}

    @property
    def is_whole(self) -> bool:
        """Whether all its files can be read."""
        return not any(each.severity == "error" for each in self.source.findings)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file; None if there is none, or it cannot be read."""
        member = self.files.get(normalize(path))
        try:
            return None if member is None else member.fetch()
        except Unreadable:
            return None

    def display(self, path: str) -> str:
        """Return the name of a file in findings."""
        member = self.files.get(normalize(path))
        return f"{self.source.path}/{path}" if member is None else member.display

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders of its files."""
        return frozenset(
            str(folder) for name in self.files for folder in PurePosixPath(name).parents
        )

    def part(self, path: str) -> Bundle | None:
        """Return an archive or a folder as a bundle; None if there is none."""
        name = normalize(path)
        data = self.read(name)
        if data is not None:
            return Bundle(open_stream(iter([data]), self.display(name), LIMITS))
        if name not in self.folders:
            return None
        inside = [
            msgspec.structs.replace(member, name=other.removeprefix(f"{name}/"))
            for other, member in self.files.items()
            if other.startswith(f"{name}/")
        ]
        folder = replace(self.source, path=self.display(name), members=tuple(inside), findings=())
        return Bundle(folder)


class Configuration:
    """A configuration in YAML as it was read.

    Attributes:
        bundle: the bundle that it is in.
        content: its content, with dates as text; None if it cannot be read.
        places: the places of keys and values.
        dates: the paths of dates without quotes.
        problems: of its syntax, and keys that are twice in a table.
    """

    #: The first versions of Python that the parser knows.
    oldest: ClassVar[tuple[int, int]] = (3, 7)

    def __init__(self, bundle: Bundle, name: str) -> None:
        self.bundle, self.name = bundle, name
        self.text = (bundle.read(name) or b"").decode("utf-8", "replace").removeprefix("\ufeff")
        self.content: Any = None
        self.places: dict[Path, KeyPlaces] = {}
        self.dates: set[Path] = set()
        self.problems: list[Problem] = []
        self.nodes = 0
        self.sizes: dict[str, int | None] = {}
        self.parse()

    def parse(self) -> None:
        """Parse the text."""
        import yaml  # type: ignore[import-untyped]

        try:
            root = yaml.compose(self.text, Loader=yaml.SafeLoader)
            self.content = {} if root is None else self.value(root, (), Extent(0, 0))
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            at = min(mark.index, len(self.text)) if mark else 0
            reason = getattr(error, "problem", "") or "too deeply nested, or too large"
            self.problems.append(Problem("BDL201", 0, at, at, {"reason": reason}))

    def value(self, node: Any, path: Path, key: Extent) -> Any:
        """Return the value of a node, and keep the places of all that is in it."""
        import yaml

        self.nodes += 1
        if self.nodes > _MOST:
            raise ValueError
        start, end = node.start_mark.index, node.end_mark.index
        self.places[path] = KeyPlaces(key, Extent(start, end if node.id == "scalar" else start))
        if node.id == "sequence":
            return [self.value(item, (*path, at), key) for at, item in enumerate(node.value)]
        if node.id == "mapping":
            table: dict[str, object] = {}
            for given, item, is_merged in self.entries(node):
                place = Extent(given.start_mark.index, given.end_mark.index)
                name = given.value if given.id == "scalar" else self.text[place.start : place.end]
                if name in table and is_merged:
                    continue
                if name in table:
                    self.problems.append(Problem("BDL206", 0, *place, {"key": name}))
                table[name] = self.value(item, (*path, name), place)
            return table
        if node.tag == _DATES:
            self.dates.add(path)
            return node.value
        return yaml.constructor.SafeConstructor().construct_object(node)

    def entries(self, node: Any, *, is_merged: bool = False) -> Iterator[tuple[Any, Any, bool]]:
        """Yield keys and values of a mapping, then those that `<<` merges into it.

        As the parsers of platforms merge: own keys come first, then mappings in their order.
        """
        import yaml

        self.nodes += 1
        if self.nodes > _MOST:
            raise ValueError
        if node.id != "mapping":
            problem = "`<<` merges mappings only"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        merged = [item for given, item in node.value if given.tag == _MERGE]
        for given, item in node.value:
            if given.tag != _MERGE:
                yield given, item, is_merged
        for item in merged:
            for each in item.value if item.id == "sequence" else [item]:
                yield from self.entries(each, is_merged=True)

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """Return a finding at a value, or at the closest part around it that is there."""
        while path and path not in self.places:
            path = path[:-1]
        place = self.places.get(path, KeyPlaces(Extent(0, 0), Extent(0, 0)))
        start, end = place.key if of_key else place.value
        return self.at_problem(Problem(code, 0, start, end, values))

    def at_problem(self, problem: Problem) -> Finding:
        """Return the finding of a problem at offsets of the text."""
        return Places(self.text).finding(problem, self.bundle.display(self.name))

    def check_schema(self, schema: str) -> Iterator[Finding]:
        """Yield the problems of its syntax, then the ways in which it breaks a schema."""
        yield from map(self.at_problem, self.problems)
        if self.content is None:
            return
        for error in schema_errors(schema, "bundle", self.content):
            path, given, wanted = error.path, error.given, error.wanted
            where = format_path(path).removeprefix("$").removeprefix(".") or "the configuration"
            if error.keyword == "required":
                for name in wanted:
                    if name not in given:
                        yield self.finding("BDL203", *path, of_key=True, key=name, where=where)
            elif error.keyword == "additionalProperties":
                keys = list(error.schema["properties"])
                for name in given:
                    if name not in keys:
                        hint = did_you_mean(name, keys, f"use {', '.join(keys)}")
                        values = {"key": name, "where": where, "hint": hint}
                        yield self.finding("BDL205", *path, name, of_key=True, **values)
            else:
                problem, hint = schema_problem(error.keyword, given, wanted)
                yield self.finding("BDL204", *path, key=where, problem=problem, hint=hint)

    def check_unique(self, path: Path, key: str) -> Iterator[Finding]:
        """Yield findings about values of a key that several tables of a list have."""
        seen: set[str] = set()
        for place, table in tables_of(self.content, *path):
            value = table.get(key)
            if value is not None and repr(value) in seen:
                yield self.finding("BDL207", *place, key, key=key, value=value)
            seen.add(repr(value))

    def check_defined(
        self, given: Iterable[tuple[Path, object]], known: Iterable[object], kind: str
    ) -> Iterator[Finding]:
        """Yield findings about values that name nothing that is declared.

        Args:
            given: the paths of values, and these.
            known: what is declared.
            kind: what they name, in a word.
        """
        every = list(known)
        listed = ", ".join(map(str, every[:_NAMES])) or "none"
        listed += ", …" * (len(every) > _NAMES)
        for path, value in given:
            if value not in every:
                yield self.finding("BDL208", *path, kind=kind, value=value, known=listed)

    def check_file(self, path: Path, ends: tuple[str, ...] = ()) -> Iterator[Finding]:
        """Yield what is wrong with the file, archive or folder that a value names.

        Args:
            path: of the value; nothing is wrong if it is not there.
            ends: the suffixes that it may have; any if there are none.
        """
        written = at(self.content, path)
        if not isinstance(written, str):
            return
        key = str(path[-1])
        if reason := unsafe_reason(written):
            yield self.finding("BDL303", *path, path=written, reason=reason)
            return
        if written not in self.sizes:
            data = self.bundle.read(written)
            self.sizes[written] = None if data is None else len(data.strip())
        size = self.sizes[written]
        if size is None and normalize(written) not in self.bundle.folders:
            names = list(self.bundle.files)
            hint = did_you_mean(written, names, "add it, or correct the path")
            yield self.finding("BDL301", *path, path=written, hint=hint)
        elif ends and not written.lower().endswith(ends):
            yield self.finding("BDL304", *path, key=key, path=written, wanted=" or ".join(ends))
        elif size == 0:
            yield self.finding("BDL302", *path, path=written)

    def check_archive(self, path: Path) -> Iterator[Finding]:
        """Yield what is wrong with the archive or folder that a value names, and inside it."""
        yield from (problems := list(self.check_file(path)))
        written = at(self.content, path)
        part = self.bundle.part(written) if isinstance(written, str) and not problems else None
        if part is not None:
            yield from part.source.findings
            if part.source.kind not in {"zip", "folder"}:
                yield self.finding("BDL304", *path, key=path[-1], path=written, wanted=".zip")


def schema_problem(keyword: str, given: Any, wanted: Any) -> tuple[str, str]:
    """Return what is wrong with a value that breaks a keyword of a schema, and what to do."""
    if keyword == "type":
        kinds = {**KINDS, type(None): "empty"}
        right = WANTED.get(str(wanted), str(wanted))
        kind = kinds.get(type(given), "of another type")
        return f"is {kind}, not {right}", f"write {right}"
    if keyword == "enum":
        known = list(dict.fromkeys(map(str, wanted)))
        hint = did_you_mean(str(given), known, f"use {' or '.join(known)}")
        return f"cannot be {given}", hint
    if keyword == "maxLength":
        return f"has {len(given)} characters, and the platform takes {wanted}", "shorten it"
    problem, hint = _PROBLEMS.get(keyword, ("is wrong", "correct it"))
    return problem.format(wanted), hint.format(wanted)


def at(content: Any, path: Path) -> Any:
    """Return a part of a configuration; None if it is not there.

    Examples:
        >>> at({"pages": [{"file": "a.md"}]}, ("pages", 0, "file")), at({}, ("pages", 0))
        ('a.md', None)
    """
    for step in path:
        if isinstance(content, list) and isinstance(step, int) and step < len(content):
            content = content[step]
        elif isinstance(content, dict):
            content = content.get(step)
        else:
            return None
    return content


def items_of(content: Any, *path: str | int) -> list[tuple[Path, Any]]:
    """Return the items of a list with their paths; none if it is not a list.

    Examples:
        >>> items_of({"tasks": [0]}, "tasks"), items_of({"tasks": 0}, "tasks")
        ([(('tasks', 0), 0)], [])
    """
    items = at(content, path)
    return [((*path, at), item) for at, item in enumerate(items if isinstance(items, list) else ())]


def tables_of(content: Any, *path: str | int) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return the tables of a list with their paths.

    Examples:
        >>> tables_of({"pages": [{"file": "a.md"}, 3]}, "pages")
        [(('pages', 0), {'file': 'a.md'})]
    """
    return [(place, item) for place, item in items_of(content, *path) if isinstance(item, dict)]


def python_of(image: str) -> tuple[int, int] | None:
    """Return the version of Python that the name of an image has; None if it has none.

    Examples:
        >>> [python_of(name) for name in ("python:3.12-slim", "codalab/codalab-legacy:py37", "x")]
        [(3, 12), (3, 7), None]
    """
    match = _PYTHON.search(image)
    if match is None or not (match[2] or match[4]):
        return None
    return int(match[1] or match[3]), int(match[2] or match[4])


def check_program(program: Bundle, name: str, python: tuple[int, int] | None) -> Iterator[Finding]:
    """Yield what is wrong with the main file of a program, for the Python that runs it.

    Args:
        program: its files.
        name: the path of the file.
        python: the version of Python; None if it is not known.
    """
    text = (program.read(name) or b"").decode("utf-8", "replace")
    path = program.display(name)
    version = min(max(python or OLDEST, (3, 7)), (3, 14))
    try:
        tree = ast.parse(text, feature_version=version)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # of the parser
        lines = text.splitlines(keepends=True)
        line = min(max(getattr(error, "lineno", 1) or 1, 1), max(len(lines), 1))
        start = sum(map(len, lines[: line - 1])) + max((getattr(error, "offset", 1) or 1) - 1, 0)
        reason = getattr(error, "msg", str(error))
        problem = Problem("BDL308", 0, min(start, len(text)), min(start, len(text)), {})
        values = {"reason": reason, "python": ".".join(map(str, version))}
        yield Places(text).finding(problem._replace(values=values), path)
        return
    imports: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imports.add(str(node.module).partition(".")[0])
    vendored = any(file.startswith("packages/polars/") for file in program.files)
    if "hlteval" in imports and python is not None and python < OLDEST:
        needed, own = (".".join(map(str, each)) for each in (OLDEST, python))
        yield finding("BDL307", file=path, python=own, needed=needed)
    if "hlteval" in imports and program.files.keys() & {"requirements.txt"} and not vendored:
        yield finding("BDL309", file=path)
