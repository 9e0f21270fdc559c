"""Why an item is no Speech Situation Frame, and what may have been meant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hlteval.converters.situations.appen_blocks import names
from hlteval.syntax.json_schema import KINDS, WANTED, Violation

PROPERTIES = ("DocumentID", "PlaceMention", "Status", "Type", "TypeConfidence")


def is_frame(value: Any) -> bool:
    """Whether an item can be told as a frame, be it one of the schema or not."""
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


def explained(violation: Violation) -> tuple[str, dict[str, object]]:
    """The code of a violation and what its message says."""
    keyword, wanted, given = violation.keyword, violation.wanted, violation.given
    if keyword == "required":
        missing = [name for name in wanted if name not in given]
        strange = [name for name in given if name not in PROPERTIES]
        hints = [
            hint
            for name in missing
            if (hint := near(name, strange, f"did you mean {name} by {{}}?"))
        ]
        return "SFJ202", {"missing": ", ".join(missing), "hint": " ".join(hints) or _NEEDED}
    if keyword == "type":
        code = "SFJ204" if violation.path else "SFJ203"
        return code, {
            "given": KINDS.get(type(given), "something else"),
            "wanted": WANTED.get(wanted, str(wanted)),
            "hint": _type_hint(wanted, given),
        }
    if keyword in {"minimum", "maximum"}:
        return "SFJ205", {"given": given, "least": 0, "most": 1}
    if violation.path[-1] == "Type":
        return "SFJ206", {"given": str(given)[:80], "hint": type_hint(str(given))}
    return "SFJ207", {"given": str(given)[:80], "values": ", ".join(map(str, wanted))}


_NEEDED = "give a frame DocumentID, Type and TypeConfidence, and a Status Need and Relief"


def _type_hint(wanted: str, given: Any) -> str:
    if isinstance(given, bool) and wanted == "number":
        return "write a number from 0 to 1; true and false are not numbers"
    if isinstance(given, str) and wanted == "number":
        return "remove the quotes"
    if given is None:
        return "leave the property out if it has no value"
    return f"write {WANTED.get(wanted, wanted)}"


def type_hint(given: str) -> str:
    """What type may have been meant.

    Examples:
        >>> type_hint("water  supply")
        'did you mean Water Supply? It differs only in case or spacing'
    """
    bare = "".join(given.lower().split())
    for name in names():
        if bare == "".join(name.lower().split()):
            return f"did you mean {name}? It differs only in case or spacing"
    return near(given, names()) or f"use one of: {'; '.join(names())}"


def near(given: str, known: Iterable[str], form: str = "did you mean {}?") -> str:
    """What may have been meant, as a question; empty where nothing is near."""
    from rapidfuzz import fuzz, process, utils

    found = process.extractOne(
        given, list(known), scorer=fuzz.ratio, processor=utils.default_process, score_cutoff=75
    )
    return form.format(found[0]) if found else ""
