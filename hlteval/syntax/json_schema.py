"""JSON Schema: a fast check of many items, and an explanation of those that break the schema.

jsonschema-rs checks; jsonschema explains single items. Both use the same schema from grammars/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from hlteval.grammars import schema
from hlteval.syntax.json_parser import Path

KINDS: Mapping[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
    list: "an array",
    dict: "an object",
}
"""The names of values in messages, by type."""
WANTED: Mapping[str, str] = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
}
"""The names of values in messages, by type in the schema."""


class SchemaError(NamedTuple):
    """One way in which an item breaks its schema, from which a format makes a `Problem`.

    Attributes:
        path: the path to the invalid value in the item.
        keyword: the keyword of the schema, such as `required`.
        wanted: the value of the keyword.
        given: the invalid value.
    """

    path: Path
    keyword: str
    wanted: Any
    given: Any


@cache
def _gate(name: str, definition: str) -> Any:
    import jsonschema_rs

    whole = schema(name)
    if definition:
        items = {"$ref": f"#/definitions/{definition}"}
        whole = {"type": "array", "items": items, "definitions": whole["definitions"]}
    return jsonschema_rs.Draft4Validator(whole)


@cache
def _explainer(name: str, definition: str) -> Any:
    from jsonschema import Draft4Validator

    definitions = schema(name)["definitions"]
    return Draft4Validator({**definitions[definition], "definitions": definitions})


def invalid(name: str, items: Sequence[Any], definition: str = "") -> list[int]:
    """The indices of the items of an array that break a schema.

    Args:
        name: the name of the schema, in grammars/.
        items: the items.
        definition: of the schema that the items must follow, if it defines several versions.

    Examples:
        >>> invalid("speech-sf", [{"DocumentID": "d", "Type": "Shelter", "TypeConfidence": 1}, {}])
        [1]
    """
    array, gate = list(items), _gate(name, definition)
    if gate.is_valid(array):
        return []
    return [index for index, item in enumerate(items) if not gate.is_valid([item])]


def broken_keywords(name: str, item: Any, definition: str = "") -> list[tuple[Path, str]]:
    """The path and the keyword of each error of an item, as `schema_errors` gives them.

    Args:
        name: the name of the schema, in grammars/.
        item: the item.
        definition: of the schema that the item must follow, see `invalid`.

    Examples:
        >>> sorted(broken_keywords("speech-sf", {"Type": 1}))
        [((), 'required'), (('Type',), 'type')]
    """
    found = {
        (tuple(error.instance_path[1:]), error.schema_path[-1])
        for error in _gate(name, definition).iter_errors([item])
    }
    return [(path, word) for path, word in found if word == "type" or (path, "type") not in found]


def schema_errors(name: str, definition: str, item: Any) -> Iterator[SchemaError]:
    """The errors of an item, in the order of its parts; a part of a wrong type has no others.

    Examples:
        >>> errors = schema_errors("speech-sf", "frame", {"Type": 1})
        >>> [(error.path, error.keyword) for error in errors]
        [((), 'required'), (('Type',), 'type')]
    """
    known: set[tuple[Path, str]] = set()
    errors = _explainer(name, definition).iter_errors(item)
    for error in sorted(
        errors, key=lambda error: (list(map(str, error.path)), error.validator != "type")
    ):
        path = tuple(error.absolute_path)
        if (path, "type") in known or (path, error.validator) in known:
            continue
        known.add((path, error.validator))
        yield SchemaError(path, error.validator, error.validator_value, error.instance)
