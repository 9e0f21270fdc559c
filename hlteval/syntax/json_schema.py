"""JSON Schema: a quick gate for many items, and an explanation for those that it refuses.

jsonschema-rs decides; jsonschema tells why, for single items. Both read one schema from grammars/.
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
"""What values are called, by their type."""
WANTED: Mapping[str, str] = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "object": "an object",
    "array": "an array",
}
"""What types of the schema are called."""


class Violation(NamedTuple):
    """One way in which an item breaks its schema.

    `keyword` is that of the schema, `wanted` its value there, `given` what the item has at `path`.
    """

    path: Path
    keyword: str
    wanted: Any
    given: Any


@cache
def _gate(name: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft4Validator(schema(name))


@cache
def _explainer(name: str, definition: str) -> Any:
    from jsonschema import Draft4Validator

    definitions = schema(name)["definitions"]
    return Draft4Validator({**definitions[definition], "definitions": definitions})


def refused(name: str, items: Sequence[Any]) -> list[int]:
    """The items of an array that break a schema, by index.

    Args:
        name: of the schema, in grammars/.
        items: the items.

    Examples:
        >>> refused("speech-sf", [{"DocumentID": "d", "Type": "Shelter", "TypeConfidence": 1}, {}])
        [1]
    """
    listed = list(items)
    gate = _gate(name)
    if gate.is_valid(listed):
        return []
    return sorted({int(error.instance_path[0]) for error in gate.iter_errors(listed)})


def violations(name: str, definition: str, item: Any) -> Iterator[Violation]:
    """Why an item is refused, in the order of its parts; of a part of a wrong type, only that.

    Examples:
        >>> [(one.path, one.keyword) for one in violations("speech-sf", "frame", {"Type": 1})]
        [((), 'required'), (('Type',), 'type')]
    """
    told: set[tuple[Path, str]] = set()
    errors = _explainer(name, definition).iter_errors(item)
    for error in sorted(
        errors, key=lambda error: (list(map(str, error.path)), error.validator != "type")
    ):
        path = tuple(error.absolute_path)
        if (path, "type") in told or (path, error.validator) in told:
            continue
        told.add((path, error.validator))
        yield Violation(path, error.validator, error.validator_value, error.instance)
