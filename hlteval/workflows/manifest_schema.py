"""The schema of manifests, in words: unknown and missing keys, values of other types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hlteval.findings.suggest import did_you_mean
from hlteval.grammars import schema
from hlteval.syntax.json_parser import Path
from hlteval.syntax.json_schema import KINDS, WANTED, SchemaError, schema_errors

_WORDS = {"object": "a table"}
"""What TOML calls otherwise than JSON."""


class Broken(NamedTuple):
    """One way in which a manifest breaks the schema.

    Attributes:
        code: of the catalogue.
        path: of the key or value.
        of_key: whether the key is wrong, rather than the value.
        values: of the templates of the code.
    """

    code: str
    path: Path
    of_key: bool
    values: Mapping[str, object]


def broken(
    content: Mapping[str, Any], schema: str = "manifest", prefix: str = "MAN"
) -> Iterator[Broken]:
    """How a manifest breaks its schema.

    Args:
        content: the manifest, as `tomllib` reads it.
        schema: the name of the schema, and of the definition in it.
        prefix: of the codes.

    Examples:
        >>> [(item.code, item.path) for item in broken({"name": 3, "taks": {}})]
        [('MAN102', ('taks',)), ('MAN104', ()), ('MAN103', ('name',))]
    """
    for error in schema_errors(schema, schema, content):
        for found in _explained(error, schema):
            yield found._replace(code=f"{prefix}{found.code}")


def _explained(error: SchemaError, schema_name: str) -> Iterator[Broken]:
    """The ways in which an error of the schema breaks it; their codes have no prefix yet."""
    path = error.path
    if error.keyword == "required":
        for name in error.wanted:
            if name not in error.given:
                values = {"key": name, "where": where(path)}
                yield Broken("104", path, True, values)
    elif error.keyword == "additionalProperties":
        known = list(_definition(schema_name, path).get("properties", {}))
        for name in error.given:
            if name not in known:
                hint = did_you_mean(name, known, f"use {', '.join(known)}")
                yield Broken("102", (*path, name), True, {"key": name, "hint": hint})
    elif error.keyword in {"type", "oneOf"}:
        values = {"key": where(path), "given": _kind(error.given), "wanted": _wanted(error)}
        yield Broken("103", path, False, values)
    else:
        values = {"key": where(path), "given": shown(error.given), "hint": _hint(error)}
        yield Broken("105", path, False, values)


def _wanted(error: SchemaError) -> str:
    if error.keyword == "oneOf":
        return "a path, or a table with a path for each language"
    return _WORDS.get(error.wanted, WANTED[error.wanted])


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    return KINDS.get(type(value), "a date or time")


def _hint(error: SchemaError) -> str:
    """What to write in place of a value."""
    if error.keyword == "enum":
        allowed = [str(value) for value in error.wanted]
        return did_you_mean(str(error.given), allowed, f"use one of {', '.join(allowed)}")
    return {
        "minimum": f"use a number from {error.wanted}",
        "maximum": f"use a number up to {error.wanted}",
        "minLength": "write a text, or remove the key",
        "minItems": "write at least one",
        "uniqueItems": "write each one once",
    }.get(error.keyword, "correct it")


def _definition(name: str, path: Path) -> Mapping[str, Any]:
    """The part of a schema for the value at a path."""
    definitions = schema(name)["definitions"]
    part: Mapping[str, Any] = definitions[name]
    for step in path:
        part = _inner(part, step)
        while "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
    return part


def _inner(part: Mapping[str, Any], step: int | str) -> Mapping[str, Any]:
    if isinstance(step, int):
        inner: Mapping[str, Any] = part.get("items", {})
    else:
        inner = part.get("properties", {}).get(step) or part.get("additionalProperties") or {}
    return inner


def where(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> where(("limits", 0, "most")), where(())
        ('limits[0].most', 'the manifest')
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".") or "the manifest"


def shown(value: object) -> str:
    """A value as TOML writes it, more or less.

    Examples:
        >>> shown("pln"), shown([]), shown(True)
        ('"pln"', '[]', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
