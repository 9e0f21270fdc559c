"""Why an item is not a Speech Situation Frame."""

from __future__ import annotations

import math
from typing import Any

from hlteval.converters.situations.types import type_hint
from hlteval.findings.suggest import closest
from hlteval.syntax.json_schema import KINDS, WANTED, SchemaError

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


def explain(error: SchemaError) -> tuple[str, dict[str, object]]:
    """The code of an error of the schema, and the values of its message."""
    keyword, wanted, given = error.keyword, error.wanted, error.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        unknown = [name for name in given if name not in PROPERTIES]
        similar = [found for name in missing if (found := closest(name, unknown))]
        hint = " ".join(f"is {name} meant for it?" for name in similar) or _NEEDED
        return "SFJ202", {"missing": ", ".join(missing), "hint": hint}
    if keyword == "type":
        hint = _type_hint(wanted, given)
        kinds = {"given": KINDS.get(type(given), "something else"), "wanted": WANTED[wanted]}
        return "SFJ204" if error.path else "SFJ203", {**kinds, "hint": hint}
    if keyword in {"minimum", "maximum"}:
        return "SFJ205", {"given": given, "least": 0, "most": 1}
    if error.path[-1] == "Type":
        return "SFJ206", {"given": str(given)[:80], "hint": type_hint(str(given))}
    return "SFJ207", {"given": str(given)[:80], "values": ", ".join(map(str, wanted))}


_NEEDED = "every frame has DocumentID, Type and TypeConfidence; Status has Need and Relief"


def _type_hint(wanted: str, given: object) -> str:
    if isinstance(given, bool) and wanted == "number":
        return "true and false are not numbers; write the confidence, from 0 to 1"
    if isinstance(given, str) and wanted == "number":
        return "remove the quotes"
    if given is None:
        return "leave out properties without a value"
    return f"write {WANTED[wanted]}"
