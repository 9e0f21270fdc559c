"""Columns without names: which lines of a file have them, and what its first lines show of them."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from hlteval.converters.toolkit.cells import MOST, cells

#: The beginning of a comment, and what a comment does not end with: a tag, or one with a suffix.
COMMENT, TAGGED = "^#( |$)", r"^(O|[BIESLU]-\S+|\S+-[BIESLU])$"


def is_token(line: str) -> bool:
    """Whether a line has the columns of a token, not of a document, a comment, or nothing.

    Examples:
        >>> [is_token(line) for line in ("a O", "# O", "# id 1", "", "-DOCSTART- -X- O O")]
        [True, True, False, False, False]
    """
    row = cells(line.rstrip(" \r")) or [""]
    comment = re.search(COMMENT, row[0]) and not re.search(TAGGED, row[-1])
    marker = line.startswith(("-DOCSTART-", "#begin", "#end"))
    return not (comment or marker) and bool(line.strip())


class ColumnLayout(NamedTuple):
    """The columns of most lines.

    Attributes:
        width: how many there are.
        tabs: whether tabs separate them, not spaces.
        numbered: whether the first column numbers the tokens of each sentence.
    """

    width: int
    tabs: bool
    numbered: bool

    @classmethod
    def of(cls, lines: Iterable[str]) -> "ColumnLayout":
        r"""The columns of the first lines of a file, which are those of tokens.

        Examples:
            >>> ColumnLayout.of(["1\ta\tO", "2\tb\tO", "1\tc\tO"])
            ColumnLayout(width=3, tabs=True, numbered=True)
        """
        rows = [(cells(line), "\t" in line) for line in lines]
        sizes = Counter(len(row) for row, _ in rows if len(row) <= MOST)
        width = max((*sizes.most_common(1), (2, 0))[0][0], 2)
        first = (row[0] if row[0].isdecimal() and len(row[0]) < 10 else -2 for row, _ in rows)
        numbers = [0, *map(int, first)]
        numbered = all(at in {0, 1, last + 1} for last, at in pairwise(numbers))
        return cls(width, bool(rows) and rows[0][1], numbered and width > 2 and len(rows) > 1)
