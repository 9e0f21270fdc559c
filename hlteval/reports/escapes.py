"""Escapes: what a terminal, a Markdown page or a spreadsheet would obey is in no output."""

from __future__ import annotations

import re
from typing import Any

_UNSAFE = re.compile(
    b"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf"
)
"""DEL, C1 controls, line separators, directional marks and the byte order mark, in UTF-8."""

_MARKDOWN = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[`*|~]|(?<!\w)_|_(?!\w)|\](?=[(\[])")
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|inf|nan)|[-+]")


def escaped(encoded: bytes) -> bytes:
    r"""JSON with escapes for characters that move the cursor, reorder a line or break it.

    JSON itself escapes only the controls of ASCII below the space.

    Examples:
        >>> print(escaped('["\x9b2J"]'.encode()).decode())
        ["\u009b2J"]
    """
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return _UNSAFE.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), encoded)


def printable(value: Any) -> Any:
    r"""A value of plain types with lone surrogates as escapes, e.g. `\udcff`.

    Names of files that are not UTF-8 have such characters, and JSON cannot represent them.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {printable(name): printable(item) for name, item in value.items()}
    return [printable(item) for item in value] if isinstance(value, list | tuple) else value


def in_markdown(text: str) -> str:
    r"""A text in Markdown that is shown as it is.

    Measures, numbers and intervals have nothing to escape.

    Examples:
        >>> print(in_markdown("a|b <b>_x_ [0.1, 0.2] ceaf_m [a](b)"))
        a\|b &lt;b>\_x\_ [0.1, 0.2] ceaf_m [a\](b)
    """
    return _MARKDOWN.sub(r"\\\g<0>", text.replace("&", "&amp;").replace("<", "&lt;"))


def in_cells(text: str) -> str:
    """A cell of a table for spreadsheets, which take names that begin with `=` for formulas.

    Examples:
        >>> in_cells("=cmd|' /C calc'!A0"), in_cells("-0.5"), in_cells("@run")
        ("'=cmd|' /C calc'!A0", '-0.5', "'@run")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
