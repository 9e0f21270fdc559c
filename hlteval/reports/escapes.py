"""Escapes in JSON: what a terminal would obey is in no output, and nothing is lost."""

from __future__ import annotations

import re
from typing import Any

_UNSAFE = re.compile(
    b"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf"
)
"""DEL, C1 controls, line separators, directional marks and the byte order mark, in UTF-8."""


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
