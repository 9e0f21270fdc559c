"""Layout that a conversion does not keep: line ends, empty lines, a header, a byte order mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hlteval.findings.counts import counted

_MARK = b"\xef\xbb\xbf"


def not_kept(before: Sequence[bytes], after: bytes) -> str:
    r"""How files with the same content differ, in words for a message.

    Args:
        before: files as they were read.
        after: the same content as it is written, in one file.

    Examples:
        >>> not_kept([b"d1\r\n\r\nd2\r\n"], b"d1\nd2\n")
        'without CR LF line ends, 1 empty line'
        >>> not_kept([b"name\nd1\n", b"name\nd2\n"], b"d1\nd2\n")
        'without 2 header lines'
        >>> not_kept([b"d1 x\n"], b"d1  x\n")
        'but different bytes'
    """
    listed = ", ".join(_dropped(before, after))
    return f"without {listed}" if listed else "but different bytes"


def joined_lines(files: Iterable[bytes]) -> bytes:
    """The lines of files one after the other."""
    return b"".join(data if data.endswith(b"\n") or not data else data + b"\n" for data in files)


def _dropped(before: Sequence[bytes], after: bytes) -> Iterator[str]:
    marks = sum(data.startswith(_MARK) for data in before)
    if marks and not after.startswith(_MARK):
        yield counted(marks, "byte order mark") if len(before) > 1 else "byte order mark"
    if any(b"\r\n" in data for data in before) and b"\r\n" not in after:
        yield "CR LF line ends"
    old, new = [_lines(data) for data in before], _lines(after)
    empty = sum(lines.count(b"") for lines in old) - new.count(b"")
    if empty > 0:
        yield counted(empty, "empty line")
    full, kept = [[line for line in lines if line] for lines in old], {*new}
    first = [lines[0] for lines in full if lines]
    headers = [line for line in first if not line.startswith(b"<") and line not in kept]
    if headers and sum(map(len, full)) == len(new) - new.count(b"") + len(headers):
        yield counted(len(headers), "header line")


def _lines(data: bytes) -> list[bytes]:
    """The lines without space at their ends."""
    return [line.strip() for line in data.removeprefix(_MARK).removesuffix(b"\n").split(b"\n")]
