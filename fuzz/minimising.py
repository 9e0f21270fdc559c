"""Minimise a failing input: remove files, then lines, then bytes while it still fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fuzz.mutations import Files

MOST = 300
"""Maximum number of trials."""


def minimise(subject: Files, fails: Callable[[Files], bool]) -> Files:
    """A smaller input that fails in the same way, as decided by a function."""
    trials = iter(range(MOST))

    def still(candidate: Files) -> bool:
        return next(trials, None) is not None and fails(candidate)

    for name in sorted(subject.files):
        fewer = {other: content for other, content in subject.files.items() if other != name}
        if fewer and still(subject._replace(files=fewer)):
            subject = subject._replace(files=fewer)
    for name, content in list(subject.files.items()):
        for split in (lambda data: data.splitlines(keepends=True), _blocks):
            if content:
                content = _shorten(subject, name, split(content), still)  # noqa: PLW2901
                subject = subject._replace(files=subject.files | {name: content})
    return subject


def _blocks(data: bytes) -> list[bytes]:
    size = max(1, len(data) // 400)
    return [data[at : at + size] for at in range(0, len(data), size)]


def _shorten(
    subject: Files, name: str, parts: Sequence[bytes], still: Callable[[Files], bool]
) -> bytes:
    """The parts that are needed to fail: remove halves, then quarters, and so on."""
    needed = list(parts)
    size = max(1, len(needed) // 2)
    while True:
        at = 0
        while at < len(needed):
            fewer = needed[:at] + needed[at + size :]
            if still(subject._replace(files=subject.files | {name: b"".join(fewer)})):
                needed = fewer
            else:
                at += size
        if size == 1:
            return b"".join(needed)
        size //= 2
