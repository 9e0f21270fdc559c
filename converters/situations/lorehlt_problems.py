"""Why an item is not a LoReHLT situation frame, by the branch of the schema that was meant."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hlteval.converters.situations.lorehlt_types import SCHEMA, Kind, kind_of, type_hint
from hlteval.findings.suggest import closest
from hlteval.syntax.json_text import KINDS, WANTED, SchemaError, broken_keywords, schema_errors
from hlteval.syntax.places import Path

#: The properties of a frame in any version of the schema.
PROPERTIES = (
    *("DocumentID", "Type", "Place_KB_ID", "Status", "Confidence", "Justification_ID"),
    *("Justification", "Resolution", "Urgent", "SEC"),
)
EMOTIONS = ("Emotion_Fear", "Emotion_Anger", "Emotion_Joy")
#: The properties of an entry of SEC.
ENTRY = ("Sentiment", *EMOTIONS, "Source")
_TEXTS = ("DocumentID", "Type", "Place_KB_ID", "Status", "Resolution")


class Violation(NamedTuple):
    """A way in which an item breaks a version of the schema: code, path in the item, values."""

    code: str
    path: Path
    values: dict[str, object]


def is_frame(value: Any) -> bool:
    """Whether an item can be read as a frame, even if it breaks the schema."""
    if not isinstance(value, dict):
        return False
    named = isinstance(value.get("DocumentID"), str) and isinstance(value.get("Type"), str)
    strings = all(isinstance(value.get(name, ""), str) for name in _TEXTS)
    return named and strings and _is_number(value.get("Confidence"))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def violations(item: Any, version: str) -> list[Violation]:
    """How an item breaks a version of the schema, by the branch of its type: need or issue.

    Args:
        item: the item.
        version: of the schema, one of `VERSIONS`.

    Examples:
        >>> frame = {"DocumentID": "d", "Type": "food", "Place_KB_ID": "", "Status": "current"}
        >>> frame |= {"Confidence": 1, "Urgent": True, "SEC": []}
        >>> (only,) = violations(frame, "plan")
        >>> only.code, only.values["branch"], only.values["missing"]
        ('LSF202', 'need frame', 'Resolution')
    """
    errors = schema_errors(SCHEMA, _definition(item, version), item)
    return [_violation(error, f"{_kind(item)} frame".strip()) for error in errors]


def broken(item: Any, version: str) -> list[tuple[str, Path]]:
    """The code and the path of each way in which an item breaks a version of the schema.

    Examples:
        >>> broken({"Type": 1}, "plan")
        [('LSF202', ()), ('LSF204', ('Type',))]
    """
    found = broken_keywords(SCHEMA, item, _definition(item, version), ("SEC",))
    return sorted(_code(path, keyword) for path, keyword in found)


def _definition(item: Any, version: str) -> str:
    """The branch of a version of the schema that is meant by the type of an item."""
    return f"{version}-{_kind(item) or 'frame'}"


def _kind(item: Any) -> Kind:
    return kind_of(item.get("Type")) if isinstance(item, dict) else ""


_CODES = {"required": "LSF202", "minimum": "LSF205", "maximum": "LSF205"}
_OF_VALUES = {"Sentiment": "LSF209", "Type": "LSF206"}


def _code(path: Path, keyword: str) -> tuple[str, Path]:
    """The code of an error of the schema, and its path."""
    if keyword == "not":
        return "LSF208", ("Resolution",)
    if keyword == "type":
        return "LSF204" if path else "LSF203", path
    of_values = _OF_VALUES.get(str(path[-1]), "LSF207") if path else ""
    return _CODES.get(keyword, of_values), path


def _violation(error: SchemaError, branch: str) -> Violation:
    """The code of an error of the schema, its path, and the values of its message."""
    code, path = _code(error.path, error.keyword)
    return Violation(code, path, _values(error, code, branch))


def _values(error: SchemaError, code: str, branch: str) -> dict[str, object]:
    keyword, wanted, given, path = error.keyword, error.wanted, error.given, error.path
    if keyword == "required":
        part = branch if not path else "entry of SEC"
        return {"branch": part, **_missing(wanted, given, path)}
    if keyword == "not":
        return {"branch": branch}
    if keyword == "type":
        kinds = {"given": KINDS.get(type(given), "something else"), "wanted": WANTED[wanted]}
        return {**kinds, "hint": _type_hint(path, wanted, given)}
    if keyword in {"minimum", "maximum"}:
        return {"given": given}
    return _outside(code, error, branch)


def _outside(code: str, error: SchemaError, branch: str) -> dict[str, object]:
    """The values of a message about a value outside a closed list."""
    given = error.given
    if code == "LSF209":
        return {"given": given, "hint": _sentiment_hint(given)}
    shown = str(given)[:80] or "nothing"
    if code == "LSF206":
        return {"given": shown, "hint": type_hint(str(given))}
    named = {"property": str(error.path[-1]), "branch": branch}
    return {"given": shown, **named, "values": ", ".join(map(str, error.wanted))}


def _missing(wanted: Sequence[str], given: dict[str, Any], path: Path) -> dict[str, object]:
    """The properties that an object lacks, and what to do about them."""
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in (ENTRY if path else PROPERTIES)]
    similar = {name: found for name in missing if (found := closest(name, unknown))}
    hints = [f"did you mean {name} by {found}?" for name, found in similar.items()]
    if "Justification_ID" in missing and "Justification" in given:
        hints.append("rename Justification to Justification_ID: this schema has no other name")
    hint = " ".join(hints) or _WANTED.get(missing[0], "add what is missing")
    return {"missing": ", ".join(missing), "hint": hint}


_WANTED = {
    "Resolution": "add sufficient or insufficient; what is not known to be sufficient is "
    "insufficient",
    "Urgent": "add true or false; issues need it too",
    "SEC": "add an array of sentiments; an empty one, [ ], if there are none",
    "Place_KB_ID": 'add the entry of the knowledge base; an empty string, "", for no place',
    "Confidence": "add a number from 0 to 1",
    "Justification_ID": "add the identifier of one segment that justifies the frame",
}


def _sentiment_hint(given: float) -> str:
    """The closest sentiment that is allowed.

    Examples:
        >>> _sentiment_hint(0), _sentiment_hint(-2.8), _sentiment_hint(7)
        ('leave the entry out: a sentiment is not 0', 'write -3', 'write 3')
    """
    if given == 0:
        return "leave the entry out: a sentiment is not 0"
    size = min(3.0, max(0.5, round(min(abs(given), 9) * 2) / 2))
    return f"write {math.copysign(size, given):g}"


_NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", re.ASCII)


def _type_hint(path: Path, wanted: str, given: object) -> str:
    """What to write instead of a value of another type."""
    name = str(path[-1]) if path else ""
    if wanted == "number":
        return _number_hint(name, given)
    if wanted == "boolean":
        word = str(given).strip().lower()
        quoted = isinstance(given, str) and word in {"true", "false"}
        return f"write {word}, without quotes" if quoted else "write true or false"
    if wanted == "array":
        none = "write [ ] if there are no sentiments"
        return "put the entry in square brackets" if isinstance(given, dict) else none
    return _string_hint(name, given) if wanted == "string" else "write it as an object: { … }"


def _string_hint(name: str, given: object) -> str:
    """What to write instead of a value that is not a string."""
    if given is None and name == "Place_KB_ID":
        return 'write an empty string for no place: ""'
    if isinstance(given, list):
        return f"write a frame for each {name}"
    if isinstance(given, (int, float)):
        return f'write it in quotation marks: "{json.dumps(given)}"'
    return f"write the {name} as a string"


def _number_hint(name: str, given: object) -> str:
    example = "from 0 to 1" if name == "Confidence" else "from -3 to 3"
    if isinstance(given, bool):
        return f"write a number {example}; true and false are not numbers"
    number = given.strip().replace(",", ".") if isinstance(given, str) else ""
    if number == given and _NUMBER.fullmatch(number):
        return "remove the quotes"
    if _NUMBER.fullmatch(number):
        return f"write {number}, without quotes"
    if number.endswith("%") and _NUMBER.fullmatch(number[:-1].rstrip()):
        return f"write {float(number[:-1]) / 100:g}, without quotes"
    return f"write a number {example}"
