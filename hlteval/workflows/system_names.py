"""Names of systems on a leaderboard: their short names, or those of a file of names.

Format:
    A line per submission: its path or the name of its file, with or without suffix; a tab; and the
    name of the system. Empty lines are ignored; there is no header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

from hlteval.findings import Finding, Problem, finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.names import short_names
from hlteval.sources import open_source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.option import WrongOption
from hlteval.tasks.option_readers import files

SIDE = "--names"
"""The side of findings about the file."""
_TEXT = r"[^\t]*[^\t ][^\t]*"
NAMES = Table(
    (
        Column("submission", pattern=_TEXT, code="LDB107"),
        Column("name", pattern=_TEXT, code="LDB107"),
    ),
    code="LDB101",
)


class Named(NamedTuple):
    """The names of systems.

    Attributes:
        names: by path of the submission, no two the same; short names where there are no others.
        findings: about the file of names.
    """

    names: Mapping[str, str]
    findings: Sequence[Finding] = ()


def system_names(paths: Sequence[str], path: str | None = None, encoding: str = "utf-8") -> Named:
    """The names of the systems on a leaderboard.

    Args:
        paths: of the submissions.
        path: of the file of names, if there is one.
        encoding: of the file.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongOption: if it is a folder, or an archive of several files.
    """
    short = short_names(paths)
    if path is None:
        return Named(short)
    resolver = _Resolver(short)
    found: list[Finding] = []
    source = open_source(path, encoding=encoding)
    if source.kind == "folder" or len(source.members) > 1:
        raise WrongOption(f"--names {path} is not a file of names")
    for file in files(source):
        parsed = NAMES.read(file.text)
        problems = [*resolver.read(parsed)]
        headings = ", ".join(NAMES.headings)
        found += [*file.findings, *parsed.findings(file.member, *problems, columns=headings)]
    found += source.findings
    if not (resolver.names or found):
        found.append(finding("LDB106", file=source.path))
    return Named(resolver.all_names, [item.of(SIDE) for item in found])


@dataclass(frozen=True)
class _Line:
    """A line that names a system: its number and the name."""

    number: int
    name: str


class _Resolver:
    """Finds out which submission each line of a file of names is about.

    Args:
        short: the short names of all submissions, by path.
    """

    def __init__(self, short: Mapping[str, str]) -> None:
        self.short = short
        self.names: dict[str, _Line] = {}
        self.written: dict[str, list[str]] = {}
        for path, name in short.items():
            for key in dict.fromkeys((str(path), name, *_file_names(path))):
                self.written.setdefault(key, []).append(path)

    @property
    def all_names(self) -> dict[str, str]:
        """The name of each system."""
        own = {path: line.name for path, line in self.names.items()}
        return {path: own.get(path, short) for path, short in self.short.items()}

    def read(self, parsed: ParsedTable) -> Iterator[Problem]:
        """Read the lines, and report those that name no system, or two alike."""
        for number, given, name in parsed.rows.iter_rows():
            line = parsed.lines[number - 1]
            problem = self._line(number, given.strip(), name.strip())
            if problem is not None:
                code, field, values = problem
                yield Problem(code, number, *parsed.table.stretch(line, field), values)
        yield from self._taken(parsed)

    def _line(self, number: int, given: str, name: str) -> tuple[str, str, dict[str, Any]] | None:
        """What is wrong with a line: code, field and values; None if nothing is."""
        paths = [given] if given in self.short else self.written.get(given, [])
        if not paths:
            hint = did_you_mean(given, list(self.written), "write its path as in the command")
            return "LDB102", "submission", {"given": given, "hint": hint}
        if len(paths) > 1:
            values = {"given": given, "count": len(paths), "paths": ", ".join(map(str, paths))}
            return "LDB104", "submission", values
        (path,) = paths
        if path in self.names:
            return "LDB105", "submission", {"path": path, "first": self.names[path].number}
        same = [line for line in self.names.values() if line.name == name]
        self.names[path] = _Line(number, name)
        if same:
            return "LDB103", "name", {"name": name, "other": f"line {same[0].number}"}
        return None

    def _taken(self, parsed: ParsedTable) -> Iterator[Problem]:
        """Names that are the short names of other submissions, which have no line."""
        unnamed = {short: path for path, short in self.short.items() if path not in self.names}
        for line in self.names.values():
            if line.name in unnamed:
                values = {"name": line.name, "other": f"{unnamed[line.name]}, which has no line"}
                place = parsed.table.stretch(parsed.lines[line.number - 1], "name")
                yield Problem("LDB103", line.number, *place, values)


def _file_names(path: str) -> tuple[str, str]:
    """The name of a file with and without its last suffix."""
    name = PurePath(path)
    return name.name, name.stem
