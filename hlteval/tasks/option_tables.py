"""Tables that options name: few columns, no header, no records of their own."""

from __future__ import annotations

from collections.abc import Iterator

from hlteval.sources import Unreadable, decode, open_source
from hlteval.tasks.task import WrongOption


def lines(path: str, *columns: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not empty, with the number of the line.

    Args:
        path: of the table.
        columns: what a line has, with tabs between.

    Raises:
        WrongOption: for a line with more or fewer cells, with its number; or an unreadable file.
    """
    for text in texts(path):
        for number, line in enumerate(text.split("\n"), start=1):
            cells = line.removesuffix("\r").split("\t")
            if cells == [""]:
                continue
            if len(cells) != len(columns):
                wanted = ", ".join(columns)
                raise WrongOption(f"{path}:{number}: a line is {wanted}, with tabs between")
            yield number, cells


def texts(path: str) -> Iterator[str]:
    """The text of each file that an option names.

    Raises:
        WrongOption: for an unreadable file.
    """
    for member in open_source(path).members:
        try:
            decoded = decode(member.fetch(), display=member.display)
        except Unreadable as reason:
            raise WrongOption(f"{path}: {reason}") from reason
        if decoded.text is None:
            raise WrongOption(f"{path}: {decoded.findings[0].message}")
        yield decoded.text
