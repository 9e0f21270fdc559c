"""TOML files of organisers: read, held to a schema, with the places of their keys and values.

Which file it is decides its schema, in grammars/, and the prefix of its codes: of each such file,
the codes 101 to 105 mean the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hlteval.findings import Finding, Problem
from hlteval.sources import Unreadable, decode, open_source
from hlteval.syntax.json_parser import Path
from hlteval.syntax.places import Places
from hlteval.syntax.toml_places import Extent, Located, located
from hlteval.workflows.manifest_schema import broken

_AT = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")


class WrongManifest(ValueError):
    """A path that is not a manifest: an error of usage."""


@dataclass(frozen=True)
class TomlFile:
    """A TOML file as it was read.

    Attributes:
        path: of the file, as its user writes it.
        text: of the file; empty if it cannot be read.
        content: of the file; None if it cannot be read, or breaks the schema.
        findings: about the file by itself.
    """

    path: str
    text: str = ""
    content: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = field(default=())

    @cached_property
    def places(self) -> Mapping[Path, Located]:
        """Where its keys and values are."""
        return located(self.text)

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """A finding at a value, or at the closest part around it that is there.

        Args:
            code: of the catalogue.
            path: of the value.
            of_key: whether it is about the key.
            values: of the templates of the code.
        """
        while path and path not in self.places:
            path = path[:-1]
        place = self.places.get(path, Located(Extent(0, 0), Extent(0, 0)))
        start, end = place.key if of_key else place.value
        return Places(self.text).finding(Problem(code, 0, start, end, values), self.path)


def read_toml(path: str, schema: str, prefix: str) -> TomlFile:
    """Read a TOML file: its findings are those of its syntax and structure.

    Args:
        path: of the file.
        schema: its name in grammars/.
        prefix: of its codes.

    Raises:
        FileNotFoundError: if the file does not exist.
        WrongManifest: if it is not one file.
    """
    source = open_source(path)
    if source.kind not in {"file", "stdin"} or len(source.members) != 1:
        raise WrongManifest(f"{path} is not a TOML file")
    member = source.members[0]
    try:
        result = decode(member.fetch(), display=member.display)
    except Unreadable as error:
        return TomlFile(path, findings=(error.finding,))
    read = TomlFile(path, result.text or "", findings=result.findings)
    return read if result.text is None else _parsed(read, schema, prefix)


def _parsed(read: TomlFile, schema: str, prefix: str) -> TomlFile:
    try:
        content = tomllib.loads(read.text)
    except tomllib.TOMLDecodeError as error:
        return replace(read, findings=(*read.findings, _syntax(read, f"{prefix}101", str(error))))
    except RecursionError:
        found = _syntax(read, f"{prefix}101", "Arrays or tables that are nested too deeply")
        return replace(read, findings=(*read.findings, found))
    if wrong := tuple(_structure(read, content, schema, prefix)):
        return replace(read, findings=(*read.findings, *wrong))
    return replace(read, content=content)


def _syntax(read: TomlFile, code: str, message: str) -> Finding:
    r"""The finding about text that is not TOML, at the place that the message of Python names."""
    found = _AT.search(message)
    start = len(read.text)
    if found and found[1]:
        lines = read.text.split("\n")
        start = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
    elif not found:
        start = 0
    reason = _AT.sub("", message)
    values = {"reason": reason[:1].lower() + reason[1:]}
    return Places(read.text).finding(Problem(code, 0, start, start, values), read.path)


def _structure(
    read: TomlFile, content: Mapping[str, Any], schema: str, prefix: str
) -> Iterator[Finding]:
    """What breaks the schema."""
    for problem in broken(content, schema, prefix):
        yield read.finding(problem.code, *problem.path, of_key=problem.of_key, **problem.values)
