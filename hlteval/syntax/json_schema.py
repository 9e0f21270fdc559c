"""JSON Schema: a fast check of many items, and an explanation of those that break the schema.

jsonschema-rs checks; jsonschema explains single items. Both use the same schema from grammars/.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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


def broken_keywords(
    name: str, item: Any, definition: str = "", lists: Collection[str] = ()
) -> list[tuple[Path, str]]:
    """The path and the keyword of each error of an item, as `schema_errors` gives them.

    Args:
        name: the name of the schema, in grammars/.
        item: the item.
        definition: of the schema that the item must follow, see `invalid`.
        lists: the names of arrays of any length; what they hold twice is looked at once.

    Examples:
        >>> sorted(broken_keywords("speech-sf", {"Type": 1}))
        [((), 'required'), (('Type',), 'type')]
    """
    groups: dict[Path, list[list[int]]] = {}
    short = _without_repetition(item, lists, (), groups) if lists else item
    found = {
        (tuple(error.instance_path[1:]), error.schema_path[-1])
        for error in _gate(name, definition).iter_errors([short])
    }
    own = [(path, word) for path, word in found if word == "type" or (path, "type") not in found]
    return [(whole, word) for path, word in own for whole in _repeated(path, groups)]


def _without_repetition(
    value: Any, lists: Collection[str], path: Path, groups: dict[Path, list[list[int]]]
) -> Any:
    """A value whose lists have each notation of an item once; `groups` gets the indices of each."""
    if isinstance(value, dict):
        return {
            name: _without_repetition(part, lists, (*path, name), groups)
            for name, part in value.items()
        }
    if not isinstance(value, list) or not path or path[-1] not in lists:
        return value
    alike: dict[str, list[int]] = {}
    for index, item in enumerate(value):
        alike.setdefault(_notation(item), []).append(index)
    kept = groups[path] = list(alike.values())
    return [
        _without_repetition(value[first], lists, (*path, number), groups)
        for number, (first, *_) in enumerate(kept)
    ]


def _notation(item: Any) -> str:
    """An item as text; identifiers are alike."""
    named = isinstance(item, dict) and isinstance(item.get("id"), str)
    return repr({**item, "id": ""} if named else item)


def _repeated(path: Path, groups: Mapping[Path, list[list[int]]]) -> list[Path]:
    """The paths in the whole value that a path without repetition stands for."""
    whole: list[Path] = [()]
    for at, step in enumerate(path):
        group = groups.get(path[:at])
        steps = group[int(step)] if group else [step]
        whole = [(*before, own) for before in whole for own in steps]
    return whole


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
