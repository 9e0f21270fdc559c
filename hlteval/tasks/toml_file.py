"""TOML files that people write: read, and checked by the JSON Schema of grammars/ in words.

All findings have the line and column of the key or value that they are about.
"""

import re
import tomllib
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from hlteval.findings import Finding, Problem
from hlteval.findings.suggest import did_you_mean
from hlteval.sources import Unreadable, decode, open_source
from hlteval.syntax.json_text import KINDS, WANTED, format_path, schema_errors
from hlteval.syntax.places import Extent, KeyPlaces, Path, Places, locate

F = TypeVar("F", bound="TomlFile")

#: Types that TOML calls otherwise than JSON.
_WORDS = {"object": "a table"}
_DATE = "a date or time"
#: The keys of phases that are dates, as TOML or as text.
_DATES = frozenset({"start", "end"})
_PATHS = "a path, or a table with a path for each language"
#: The problem of a value by the keyword of the schema that it breaks, and the help.
_PROBLEMS = {
    "minLength": "the text is empty",
    "minItems": "nothing is in it",
    "minimum": "{} is too small",
    "maximum": "{} is too large",
}
_HINTS = {
    "minimum": "use a number from {}",
    "maximum": "use a number up to {}",
    "minLength": "write a text, or remove the key",
    "minItems": "write at least one",
    "uniqueItems": "write each one once",
}


def where(path: Path, whole: str = "the manifest") -> str:
    """Return a path as people write it; an empty one is the whole file.

    Examples:
        >>> where(("limits", 0, "most")), where(())
        ('limits[0].most', 'the manifest')
    """
    return format_path(path).removeprefix("$").removeprefix(".") or whole


#: The place in messages of `tomllib`.
_AT = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")
#: A name of a table in messages of `tomllib`.
_NAME = re.compile(r"\('[^']*',(?: '[^']*',?)*\)")


class NotToml(ValueError):
    """A path that is not a TOML file: an error of usage."""


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

    #: What the whole of it is called in messages.
    called: ClassVar[str] = "the manifest"
    #: How keys that are missing are written.
    notations: ClassVar[Mapping[str, str]] = {}

    @cached_property
    def places(self) -> Mapping[Path, KeyPlaces]:
        """The places of its keys and values."""
        return locate(self.text)

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        """Return a finding at a value, or at the closest part around it that is there.

        Args:
            code: of the catalogue.
            path: of the value.
            of_key: whether it is about the key.
            values: of the templates of the code.
        """
        while path and path not in self.places:
            path = path[:-1]
        place = self.places.get(path, KeyPlaces(Extent(0, 0), Extent(0, 0)))
        start, end = place.key if of_key else place.value
        return Places(self.text).finding(Problem(code, 0, start, end, values), self.path)

    def hint_of_key(self, name: str, keys: Sequence[str]) -> str:
        """Return the help about an unknown key, from those that its table can have."""
        return did_you_mean(name, keys, f"use {', '.join(keys)}")

    def schema_findings(
        self, content: Mapping[str, Any], schema: str, prefix: str
    ) -> Iterator[Finding]:
        """Yield the ways in which a manifest breaks its schema.

        Args:
            content: the manifest, as `tomllib` reads it.
            schema: the name of the schema, and of the definition in it.
            prefix: of the codes.

        Examples:
            >>> wrong = TomlFile("x").schema_findings({"name": 3, "taks": {}}, "manifest", "MAN")
            >>> [(item.code, item.message) for item in wrong][:2]
            [('MAN102', 'unknown key taks'), ('MAN104', 'the manifest has no tasks')]
        """
        for error in schema_errors(schema, schema, content):
            path, given, wanted = error.path, error.given, error.wanted
            key = where(path, self.called)
            if error.keyword == "required":
                for name in wanted:
                    if name not in given:
                        values = {"key": name, "where": key}
                        hint = f"add {self.notations.get(name, name)}"
                        yield self.finding(f"{prefix}104", *path, of_key=True, **values, hint=hint)
            elif error.keyword == "additionalProperties":
                keys = list(error.schema["properties"])
                for name in given:
                    if name not in keys:
                        hint = self.hint_of_key(name, keys)
                        values = {"key": name, "where": key, "hint": hint}
                        yield self.finding(f"{prefix}102", *path, name, of_key=True, **values)
            elif error.keyword in {"type", "oneOf"} or (
                isinstance(given, list | dict) and (error.keyword == "enum")
            ):
                wanted = "string" if error.keyword == "enum" else wanted
                kind = "a table" if isinstance(given, dict) else KINDS.get(type(given), _DATE)
                right = _PATHS if error.keyword == "oneOf" else {**WANTED, **_WORDS}[wanted]
                yield self.finding(f"{prefix}103", *path, key=key, given=kind, wanted=right)
            else:
                hint = _HINTS.get(error.keyword, "correct it").format(wanted)
                if error.keyword in {"enum", "pattern"}:
                    examples = error.schema.get("examples", ())
                    allowed = list(map(str, wanted if error.keyword == "enum" else examples))
                    hint = did_you_mean(str(given), allowed, f"use one of {', '.join(allowed)}")
                text = str(given).lower() if isinstance(given, bool) else str(given)
                text = f'"{text}"' if isinstance(given, str) else text
                problem = _PROBLEMS.get(error.keyword, "unknown value {}").format(text)
                if error.keyword == "uniqueItems":
                    at = next(at for at, item in enumerate(given) if item in given[:at])
                    path, problem = (*path, at), f"{given[at]} is there twice"
                values = {"key": key, "given": text, "problem": problem}
                yield self.finding(f"{prefix}105", *path, **values, hint=hint)


def with_plain_dates(content: Any) -> Any:
    """The content of a file, with dates of declared keys as text.

    Examples:
        >>> with_plain_dates({"phases": [tomllib.loads("start = 2026-12-01")]})
        {'phases': [{'start': '2026-12-01'}]}
    """
    for table in content.get("phases", ()) if isinstance(content.get("phases"), list) else ():
        for key, value in table.items() if isinstance(table, dict) else ():
            if key in _DATES and isinstance(value, date):
                table[key] = str(value)
    return content


def read_toml(path: str, schema: str, prefix: str, kind: type[F]) -> F:
    """Read a TOML file: its findings are those of its syntax and structure.

    Args:
        path: of the file.
        schema: its name in grammars/.
        prefix: of its codes.
        kind: the class of the result.

    Raises:
        FileNotFoundError: if the file does not exist.
        NotToml: if it is not one file.
    """
    source = open_source(path)
    if source.kind not in {"file", "stdin"} or len(source.members) != 1:
        raise NotToml(f"{path} is {'a folder' if source.kind == 'folder' else 'not a TOML file'}")
    member = source.members[0]
    try:
        result = decode(member.fetch(), display=member.display)
    except Unreadable as error:
        return kind(path, findings=(error.finding,))
    file = kind(path, result.text or "", findings=result.findings)
    if result.text is None:
        return file
    try:
        content = with_plain_dates(tomllib.loads(file.text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason, start = str(error), 0
        if isinstance(error, RecursionError):
            reason = "arrays or tables that are nested too deeply"
        if place := _AT.search(reason):
            line, column = int(place[1] or 0), int(place[2] or 0)
            lines = file.text.split("\n")[: line - 1]
            start = sum(map(len, lines)) + line + column - 2 if line else len(file.text)
        reason = _NAME.sub(lambda name: f"[{'.'.join(literal_eval(name[0]))}]", _AT.sub("", reason))
        values = {"reason": reason[:1].lower() + reason[1:]}
        problem = Problem(f"{prefix}101", 0, start, start, values)
        problems = [Places(file.text).finding(problem, file.path)]
    else:
        problems = [*file.schema_findings(content, schema, prefix)]
        if not problems:
            return replace(file, content=content)
    return replace(file, findings=(*file.findings, *problems))
