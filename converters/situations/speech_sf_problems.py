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
        similar = {name: found for name in missing if (found := closest(name, unknown))}
        hints = [f"did you mean {name} by {found}?" for name, found in similar.items()]
        hint = " ".join(hints) or _NEEDED
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


_NEEDED = "give a frame DocumentID, Type and TypeConfidence, and a Status Need and Relief"


def _type_hint(wanted: str, given: object) -> str:
    if isinstance(given, bool) and wanted == "number":
        return "write a number from 0 to 1; true and false are not numbers"
    if isinstance(given, str) and wanted == "number":
        return "remove the quotes"
    if given is None:
        return "leave the property out if it has no value"
    return f"write {WANTED[wanted]}"
