"""Names of members: which are unsafe, which are rubbish, and how any of them is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hlteval.sources.signatures import ARCHIVE_SUFFIXES

_HIDDEN_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_UNSAFE = re.compile(
    r"""(?P<parent>(?:^|/)\.\.(?:/|$))
      | (?P<root>^/)
      | (?P<drive>^[A-Za-z]:)
      | (?P<backslash>\\)
      | (?P<control>[\x00-\x1f\x7f-\x9f])""",
    re.VERBOSE,
)
_REASONS = {
    "parent": "leads out of the archive with '..'",
    "root": "absolute path",
    "drive": "starts with a drive letter",
    "backslash": "contains a backslash, which separates folders on Windows only",
    "control": "contains a control character",
}
_JUNK = re.compile(
    r"(?:^|/)(?:\.(?!\.?(?:/|$))|__MACOSX(?:/|$)|PaxHeaders?(?:\.[0-9]+)?/|(?:Thumbs\.db|desktop\.ini)$)",
    re.IGNORECASE,
)

_ORDINARY = re.compile(r"(?:(?:[\w-][\w .+=,@()-]*+/)*+[\w-][\w .+=,@()-]*+\n)*+", re.ASCII)
_TELLING = (
    *("__macosx", "paxheader", "thumbs.db\n", "desktop.ini\n"),
    *(f"{suffix}\n" for suffix in ARCHIVE_SUFFIXES),
)
"""What names that look ordinary have if they are junk or archives."""


def ordinary(names: Sequence[str]) -> bool:
    """Whether nothing is to be said about any of these names, so that none must be looked at alone.

    Names are ordinary if they are safe, plain ASCII text, no junk and no archives; others may be
    in order too. All are looked at together, which takes a tenth of the time.

    Examples:
        >>> ordinary(["d1.a2", "out/d1.a2"]), ordinary(["d1.a2", ".DS_Store"])
        (True, False)
    """
    text = "\n".join([*names, ""])
    if text.count("\n") != len(names) or _ORDINARY.fullmatch(text) is None:
        return False
    lower = text.lower()
    return not any(word in lower for word in _TELLING)


def shown(name: str) -> str:
    r"""A name as it may be printed: what is invisible, or no text at all, is escaped.

    Examples:
        >>> print(shown("a\x1b[2J\u202eb\udce9.txt"), shown("東京.txt"))
        a\x1b[2J\u202eb\xe9.txt 東京.txt
    """
    if name.isascii() and name.isprintable():
        return name
    return _HIDDEN_CHARACTERS.sub(_escaped, name)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte that is no UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def is_text(name: str) -> bool:
    r"""Whether every byte of a name could be decoded.

    Examples:
        >>> is_text("d\u00e9j\u00e0"), is_text("d\udce9j")
        (True, False)
    """
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


_LONGEST = 240
"""Bytes of a name; most systems take 255, and a suffix may follow."""


def unsafe(name: str) -> str | None:
    r"""Why a member of this name must not be unpacked, or None.

    Examples:
        >>> unsafe("../d1.a2"), unsafe("C:d1.a2"), unsafe("runs..1/d1.a2")
        ("leads out of the archive with '..'", 'starts with a drive letter', None)
    """
    found = _UNSAFE.search(name)
    return _REASONS[found.lastgroup] if found and found.lastgroup else None


def junk(name: str) -> bool:
    """Whether a file is hidden or left behind by an operating system, and no data.

    Examples:
        >>> [junk(name) for name in ("__MACOSX/._d1.a2", "a/.DS_Store", "./a/d.1.a2")]
        [True, True, False]
    """
    return _JUNK.search(name) is not None


def plain(name: str) -> str:
    """A name without empty parts and without `.` parts.

    Examples:
        >>> plain("./out//d1.a2"), plain("./")
        ('out/d1.a2', '')
    """
    if "//" not in name and "./" not in name and "/." not in name and name != ".":
        return name.removesuffix("/")
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_file_name(name: str) -> bool:
    """Whether a file can have a name, also with a suffix behind it.

    Examples:
        >>> is_file_name("NW_X.1"), is_file_name("a/b"), is_file_name("..")
        (True, False, False)
    """
    return (
        name not in {"", ".", ".."}
        and not set(name) & set("/\\\0")
        and len(name.encode("utf-8", "replace")) <= _LONGEST
    )


def stays_inside(path: str) -> bool:
    """Whether a file of this path can be written in a folder, and not outside of it.

    Examples:
        >>> stays_inside("runs/d1.a2"), stays_inside("../d1.a2"), stays_inside("/d1.a2")
        (True, False, False)
    """
    return unsafe(path) is None and all(map(is_file_name, path.split("/")))
