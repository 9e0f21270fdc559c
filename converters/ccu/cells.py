"""What is wrong with a cell, in words: the usual mistakes and how to correct them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_WORDS = {"nan", "na", "n/a", "null", "none"}
_LARGE = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:e\+?[0-9]{1,2})?")
_INFINITE = re.compile(r"inf|infinity|[0-9.]+e\+?[0-9]{3,}")


def describe_number(cell: str) -> Mapping[str, object]:
    """How to correct a cell that is not a number.

    Examples:
        >>> describe_number("0,75")["hint"]
        'write a decimal point: 0.75'
    """
    return {"hint": _number_hint(cell)}


def _number_hint(cell: str) -> str:
    bare = cell.strip().lstrip("+-").lower()
    digits = "".join(str(int(c)) if c.isdecimal() else c for c in cell)
    hints = (
        (not bare, "write a number"),
        (
            _COMMA.fullmatch(cell.strip()),
            f"write a decimal point: {cell.strip().replace(',', '.')}",
        ),
        (bare in _WORDS, "every line needs a number here: write one, or remove the line"),
        (
            _INFINITE.fullmatch(bare),
            "write a finite number; places are below 1e15, others at most 1e99",
        ),
        (cell != cell.strip(), "remove the spaces around the number"),
        (
            cell.isascii() and _LARGE.fullmatch(bare),
            "write a number below 1e15: no document is so long",
        ),
        (
            "_" in bare and bare.replace("_", "").isdecimal(),
            f"write the digits without underscores: {cell.replace('_', '')}",
        ),
        (digits != cell, f"write the digits 0 to 9: {digits}"),
    )
    usual = "write digits, optionally with a sign, a point and an exponent: 12, 0.75, -1e-3"
    return next((hint for applies, hint in hints if applies), usual)


def describe_whole(cell: str) -> Mapping[str, object]:
    """How to correct a cell that is not a whole number.

    Examples:
        >>> describe_whole("210.5")["hint"]
        'write a whole number: 210'
        >>> describe_whole("0.38")["hint"]
        'write a level from 1 to 1000, not a share of 1'
    """
    if re.fullmatch(r"\+?0?\.[0-9]*[1-9][0-9]*", cell):
        return {"hint": "write a level from 1 to 1000, not a share of 1"}
    if found := re.fullmatch(r"([+-]?[0-9]+)\.[0-9]*", cell):
        return {"hint": f"write a whole number: {found[1]}"}
    return describe_number(cell)


def describe_name(cell: str) -> Mapping[str, object]:
    """How to correct a cell that is not an identifier.

    Examples:
        >>> describe_name('"001"')["hint"]
        'nothing is quoted in these tables: write 001'
    """
    if not cell.strip():
        return {"hint": "write the identifier"}
    if '"' in cell:
        return {"hint": f"nothing is quoted in these tables: write {cell.replace(chr(34), '')}"}
    return describe_word(cell)


def describe_word(cell: str) -> Mapping[str, object]:
    """How to correct a cell with characters that no cell can have, or spaces around it."""
    if "\r" in cell:
        return {"hint": "remove the carriage return; lines end in LF or CRLF"}
    if cell != cell.strip():
        return {"hint": "remove the spaces around it"}
    return {"hint": "remove control characters"}
