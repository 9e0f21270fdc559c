"""The lines of a text, split some at a time, so that memory does not grow with all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import polars as pl

SLICE = 1_000_000
"""Characters that are split at a time; more cost memory and save no time."""
MOST = 40_000
"""The most lines that are split at a time: empty lines have few characters, but as many cells."""


class Lines:
    r"""The lines of a text without their line breaks, which are LF or CRLF.

    Args:
        text: the text; it is kept, and split where lines are asked for.
        size: about how many characters are split at a time; by default `SLICE`.

    Examples:
        >>> lines = Lines("a\r\nb\n\nc", 2)
        >>> len(lines), lines[1], list(lines), lines.gather([3, 0]).to_list()
        (4, 'b', ['a', 'b', '', 'c'], ['c', 'a'])
    """

    def __init__(self, text: str, size: int | None = None) -> None:
        self._text = text
        size = limit = SLICE if size is None else size
        self._starts, self._firsts = [0], [0]
        while self._starts[-1] < len(text):
            end = text.find("\n", self._starts[-1] + size) + 1 or len(text)
            count = text.count("\n", self._starts[-1], end) + (not text.endswith("\n", 0, end))
            if count > MOST:
                size //= 2
                continue
            self._firsts.append(self._firsts[-1] + count)
            self._starts.append(end)
            size = min(2 * size + 1, limit)
        self._last: tuple[int, pl.Series] | None = None

    def __len__(self) -> int:
        return self._firsts[-1]

    def __getitem__(self, number: int) -> str:
        at = bisect_right(self._firsts, number) - 1
        line: str = self._slice(at)[number - self._firsts[at]]
        return line

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(lines for _, lines in self.slices())

    def slices(self) -> Iterator[tuple[int, pl.Series]]:
        """Some lines at a time, each time after the number of the first one, from 0."""
        for at, first in enumerate(self._firsts[:-1]):
            yield first, self._slice(at)

    def gather(self, numbers: Sequence[int] | pl.Series) -> pl.Series:
        """Some lines by their numbers, from 0."""
        wanted = pl.Series("number", numbers, dtype=pl.Int64)
        order = wanted.arg_sort()
        sought = wanted.gather(order)
        bounds = sought.search_sorted(pl.Series(self._firsts, dtype=pl.Int64))
        found = [
            self._slice(at).gather(sought[begin:end] - self._firsts[at])
            for at, (begin, end) in enumerate(pairwise(bounds))
            if begin < end
        ]
        lines = pl.concat([pl.Series("line", [], dtype=pl.String), *found])
        return lines.gather(order.arg_sort())

    def _slice(self, at: int) -> pl.Series:
        if self._last is None or self._last[0] != at:
            text = self._text[self._starts[at] : self._starts[at + 1]].removesuffix("\n")
            lines = pl.Series("line", [text], dtype=pl.String).str.split("\n").explode()
            self._last = (at, lines.str.strip_suffix("\r"))
        return self._last[1]
