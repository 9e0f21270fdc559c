"""Making what fails small: files, then lines, then bytes are left out while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fuzz.mutations import Files

MOST = 300
"""Trials in all."""


def minimised(given: Files, fails: Callable[[Files], bool]) -> Files:
    """A smaller thing that fails alike."""
    left = [MOST]

    def still(candidate: Files) -> bool:
        left[0] -= 1
        return left[0] >= 0 and fails(candidate)

    for name in sorted(given.files):
        fewer = {other: content for other, content in given.files.items() if other != name}
        if fewer and still(given._replace(files=fewer)):
            given = given._replace(files=fewer)
    for name, content in list(given.files.items()):
        for divided in (lambda data: data.splitlines(keepends=True), _pieces):
            if content:
                content = _shorter(given, name, divided(content), still)  # noqa: PLW2901
                given = given._replace(files=given.files | {name: content})
    return given


def _pieces(data: bytes) -> list[bytes]:
    size = max(1, len(data) // 400)
    return [data[at : at + size] for at in range(0, len(data), size)]


def _shorter(
    given: Files, name: str, parts: Sequence[bytes], still: Callable[[Files], bool]
) -> bytes:
    """The parts that are needed: halves are left out, then quarters, and so on."""
    kept = list(parts)
    size = max(1, len(kept) // 2)
    while True:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + size :]
            if still(given._replace(files=given.files | {name: b"".join(fewer)})):
                kept = fewer
            else:
                at += size
        if size == 1:
            return b"".join(kept)
        size //= 2
