"""Layout that a conversion does not keep: line ends, empty lines, a header, a byte order mark."""

from __future__ import annotations

from collections.abc import Iterator

from hlteval.converters.toolkit.words import counted

_MARK = b"\xef\xbb\xbf"


def not_kept(before: bytes, after: bytes) -> str:
    r"""How two files with the same content differ, in words for a message.

    Args:
        before: a file as it was read.
        after: the same content as it is written.

    Examples:
        >>> not_kept(b"d1\r\n\r\nd2\r\n", b"d1\nd2\n")
        'without CR LF line ends, 1 empty line'
        >>> not_kept(b"d1 x\n", b"d1  x\n")
        'but different bytes'
    """
    listed = ", ".join(_dropped(before, after))
    return f"without {listed}" if listed else "but different bytes"


def _dropped(before: bytes, after: bytes) -> Iterator[str]:
    if before.startswith(_MARK) and not after.startswith(_MARK):
        yield "byte order mark"
    if b"\r\n" in before and b"\r\n" not in after:
        yield "CR LF line ends"
    old, new = _lines(before), _lines(after)
    empty = old.count(b"") - new.count(b"")
    if empty > 0:
        yield counted(empty, "empty line")
    old, new = [line for line in old if line], [line for line in new if line]
    if len(old) == len(new) + 1 and not old[0].startswith(b"<") and old[0] not in new:
        yield "1 header line"


def _lines(data: bytes) -> list[bytes]:
    """The lines without space at their ends."""
    return [line.strip() for line in data.removeprefix(_MARK).removesuffix(b"\n").split(b"\n")]
