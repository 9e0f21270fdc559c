"""Manifests: an evaluation as a TOML file, read and checked by itself."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from hlteval.findings import Finding, Problem
from hlteval.results.evaluation import Evaluation
from hlteval.sources import Unreadable, decode, open_source
from hlteval.syntax.json_parser import Path
from hlteval.syntax.places import Places
from hlteval.syntax.toml_places import Extent, Located, located
from hlteval.workflows.manifest_schema import broken

_AT = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")


@dataclass(frozen=True)
class Manifest:
    """A manifest as it was read.

    Attributes:
        path: of the file, as its user writes it.
        text: of the file; empty if it cannot be read.
        evaluation: what it declares; None if it cannot be read, or breaks the schema.
        findings: about the file by itself.
    """

    path: str
    text: str = ""
    evaluation: Evaluation | None = None
    findings: tuple[Finding, ...] = ()

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


def read_manifest(path: str) -> Manifest:
    """Read a manifest: its findings are those of its syntax and structure.

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
        return Manifest(path, findings=(error.finding,))
    if result.text is None:
        return Manifest(path, findings=result.findings)
    return _parsed(path, result.text, result.findings)


class WrongManifest(ValueError):
    """A path that is not a manifest: an error of usage."""


def _parsed(path: str, text: str, findings: tuple[Finding, ...]) -> Manifest:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Manifest(path, text, findings=(*findings, _syntax(path, text, str(error))))
    except RecursionError:
        found = _syntax(path, text, "Arrays or tables that are nested too deeply")
        return Manifest(path, text, findings=(*findings, found))
    manifest = Manifest(path, text, findings=findings)
    wrong = tuple(_structure(manifest, content))
    evaluation = None if wrong else msgspec.convert(content, Evaluation)
    return Manifest(path, text, evaluation, (*findings, *wrong))


def _syntax(path: str, text: str, message: str) -> Finding:
    r"""The finding about text that is not TOML, at the place that the message of Python names."""
    found = _AT.search(message)
    start = len(text)
    if found and found[1]:
        lines = text.split("\n")
        start = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
    elif not found:
        start = 0
    reason = _AT.sub("", message)
    values = {"reason": reason[:1].lower() + reason[1:]}
    return Places(text).finding(Problem("MAN101", 0, start, start, values), path)


def _structure(manifest: Manifest, content: Mapping[str, Any]) -> Iterator[Finding]:
    """What breaks the schema."""
    for problem in broken(content):
        yield manifest.finding(problem.code, *problem.path, of_key=problem.of_key, **problem.values)
