"""Signatures: everything that scores depend on, in one line.

Format:
    Parts separated by `|`, each a name, a colon and a value: `hlteval:0.1.0|task:hub4|…`. A name
    contains no colon. In a value, `%`, `|` and control characters are percent-encoded (UTF-8), so
    any value survives.

Files are named by digests, the first 16 hexadecimal digits of a SHA-256 hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from hlteval.sources import Source, Unreadable, open_source, sha256
from hlteval.tasks.option import WrongOption

FIRST = "hlteval"
"""The name of the first part, the version."""
DIGITS = 16
"""Digits of a digest."""

_ESCAPED = re.compile(r"[%|\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PART = re.compile(r"([^:|]+):([^|]*)")


class WrongSignature(WrongOption):
    """A text that is not a signature: an error of usage."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature as names and values, in their order.

    Examples:
        >>> signature = Signature((("hlteval", "0.1.0"), ("whiteout", "a|b:c")))
        >>> str(signature)
        'hlteval:0.1.0|whiteout:a%7Cb:c'
        >>> Signature.parse(str(signature)) == signature
        True
    """

    parts: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that a text is, apart from white space around it.

        Raises:
            WrongSignature: if it does not begin with `hlteval:`, or a part has no name.
        """
        if not text.strip().startswith(f"{FIRST}:"):
            raise WrongSignature(f"a signature begins with {FIRST}:, not {text.strip()[:40]!r}")
        return cls(tuple(map(_parsed, text.strip().split("|"))))

    def __str__(self) -> str:
        return "|".join(f"{name}:{_escaped(value)}" for name, value in self.parts)

    def values(self, name: str) -> list[str]:
        """The values of the parts of a name; a comparison has several systems.

        Examples:
            >>> Signature.parse("hlteval:0.1.0|system:a|system:b").values("system")
            ['a', 'b']
        """
        return [value for own, value in self.parts if own == name]


def _parsed(part: str) -> tuple[str, str]:
    match = _PART.fullmatch(part)
    if match is None:
        raise WrongSignature(f"a part of a signature is NAME:VALUE, not {part[:40]!r}")
    return match[1], unquote(match[2], errors="surrogateescape")


def _escaped(value: str) -> str:
    return _ESCAPED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), value)


def digest(files: Iterable[tuple[str, str]], *, name_matters: bool = True) -> str:
    """One digest of files, given as (path, SHA-256 digest), independent of folder and order.

    Args:
        files: the files.
        name_matters: whether the name of a single file does, because it names a document; if
            not, the digest is that of the content. Several files are distinguished by their names.

    Examples:
        >>> digest([("run1.json", "0123456789abcdef0123")], name_matters=False)
        '0123456789abcdef'
    """
    each = list(files)
    if len(each) == 1 and not name_matters:
        return each[0][1][:DIGITS]
    lines = sorted(f"{name.rpartition('/')[2]} {own}\n" for name, own in each)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:DIGITS]


def content(path: str) -> str:
    """The digest of a file, folder or archive that an option names.

    Raises:
        FileNotFoundError: if it does not exist.
    """
    return digest(_members(open_source(path)), name_matters=False)


def _members(source: Source) -> Iterable[tuple[str, str]]:
    for member in source.members:
        try:
            yield member.name, sha256(member.fetch())
        except Unreadable as error:
            yield member.name, error.finding.code
