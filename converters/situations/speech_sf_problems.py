"""Why an item is not a Speech Situation Frame."""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeGuard

from hlteval.converters.situations.types import type_hint
from hlteval.findings.suggest import closest
from hlteval.syntax.json_text import KINDS, WANTED, SchemaError
from hlteval.syntax.places import Path

PROPERTIES = ("DocumentID", "PlaceMention", "Status", "Type", "TypeConfidence")


def is_frame(value: Any) -> bool:
    """Whether an item can be read as a frame, even if it breaks the schema."""
    if not isinstance(value, dict):
        return False
    confidence = value.get("TypeConfidence")
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        return False
    try:
        finite = math.isfinite(float(confidence))
    except OverflowError:
        return False
    named = isinstance(value.get("DocumentID"), str) and isinstance(value.get("Type"), str)
    return finite and named and isinstance(value.get("PlaceMention", ""), str)


def code_of(path: Path, keyword: str) -> str:
    """The code of an error of the schema.

    Args:
        path: the path to the invalid value in the item.
        keyword: the keyword of the schema that it breaks.

    Examples:
        >>> code_of((), "type"), code_of(("Type",), "enum")
        ('SFJ203', 'SFJ206')
    """
    if keyword == "type":
        return "SFJ204" if path else "SFJ203"
    if keyword == "enum":
        return "SFJ206" if path[-1] == "Type" else "SFJ207"
    return _CODES[keyword]


_CODES = {"required": "SFJ202", "minimum": "SFJ205", "maximum": "SFJ205"}


def explain(error: SchemaError) -> tuple[str, dict[str, object]]:
    """The code of an error of the schema, and the values of its message."""
    return code_of(error.path, error.keyword), _values(error)


def _values(error: SchemaError) -> dict[str, object]:
    keyword, wanted, given = error.keyword, error.wanted, error.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        unknown = [name for name in given if name not in PROPERTIES]
        similar = {name: found for name in missing if (found := closest(name, unknown))}
        hints = [f"did you mean {name} by {found}?" for name, found in similar.items()]
        within = "leave out the whole Status if only half of it is known" if error.path else _NEEDED
        hint = " ".join(hints) or within
        return {"missing": ", ".join(missing), "hint": hint}
    if keyword == "type":
        hint = _type_hint(str(error.path[-1]) if error.path else "", wanted, given)
        kinds = {"given": KINDS.get(type(given), "something else"), "wanted": WANTED[wanted]}
        return {**kinds, "hint": hint}
    if keyword in {"minimum", "maximum"}:
        return {"given": given, "least": 0, "most": 1}
    if error.path[-1] == "Type":
        return {"given": str(given)[:80], "hint": type_hint(str(given))}
    return {"given": str(given)[:80], "values": ", ".join(map(str, wanted))}


_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
_AS_FRAME = "write it as a frame in curly brackets"
_NEEDED = "give each frame a DocumentID, a Type and a TypeConfidence"


def _type_hint(name: str, wanted: str, given: object) -> str:
    """What to write instead of a value of another type."""
    if name in {"Need", "Relief", "Status"}:
        return "write an object with Need and Relief, each one of its values, or leave Status out"
    if wanted == "number":
        return _number_hint(given)
    if given is None and name:
        optional = name == "PlaceMention"
        return "leave the property out" if optional else f"write the {name} of the frame"
    if isinstance(given, list):
        return _list_hint(name, given)
    if name and isinstance(given, (int, float)):
        return f'write it in quotation marks: "{json.dumps(given)}"'
    return f"write {WANTED[wanted]}" if name else _AS_FRAME


def _list_hint(name: str, given: list[object]) -> str:
    if name:
        return f"write a frame for each {name}"
    framed = any(isinstance(item, dict) for item in given)
    return "remove the square brackets around the frames inside the array" if framed else _AS_FRAME


def _number_hint(given: object) -> str:
    if isinstance(given, bool):
        return "write a number from 0 to 1; true and false are not numbers"
    number = given.strip().replace(",", ".") if isinstance(given, str) else ""
    if number == given and _NUMBER.fullmatch(number):
        return "remove the quotes"
    if _NUMBER.fullmatch(number):
        return f"write {number}, without quotes"
    if number.endswith("%") and _NUMBER.fullmatch(number[:-1].rstrip()):
        return f"write {float(number[:-1]) / 100:g}, without quotes"
    return "write a number from 0 to 1, such as 0.5"


def array_hint(value: object) -> str:
    """What to write instead of a value that is not an array of frames.

    Examples:
        >>> array_hint({"frames": [{"Type": "Shelter"}]})
        'keep only the array that is the value of frames, without the object around it'
        >>> array_hint({"DocumentID": "D1", "Type": "Shelter"})
        'put the frames in square brackets: [ … ]'
        >>> array_hint({"DocumentID": {"0": "D1"}, "Type": {"0": "Shelter"}})
        'write an array of frames, as to_json(orient="records") in pandas does'
    """
    arrays = [key for key, item in value.items() if isinstance(item, list)] if _is(value) else []
    if _is(value) and value and all(map(_is, value.values())):
        return 'write an array of frames, as to_json(orient="records") in pandas does'
    if _is(value) and not {"DocumentID", "Type"}.isdisjoint(value):
        return "put the frames in square brackets: [ … ]"
    if len(arrays) == 1:
        return f"keep only the array that is the value of {arrays[0]}, without the object around it"
    if arrays:
        return "join the arrays to one array of all frames, without the object around them"
    return "write one array of frames: [ … ], or [ ] if there are none"


def _is(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)
