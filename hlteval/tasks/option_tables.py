"""Tables that options name: few columns, no header, no records of their own."""

from __future__ import annotations

from collections.abc import Iterator

from hlteval.sources import Unreadable, decode, open_source
from hlteval.tasks.task import WrongOption


def lines(path: str, columns: int, told: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not empty, with the number of the line.

    Args:
        path: of the table.
        columns: how many cells a line has, with tabs between.
        told: what a line is, for people.

    Raises:
        WrongOption: for a line that is none, with its number; or for what cannot be read.
    """
    for text in texts(path):
        for number, line in enumerate(text.split("\n"), start=1):
            cells = line.removesuffix("\r").split("\t")
            if cells == [""]:
                continue
            if len(cells) != columns:
                raise WrongOption(f"{path}:{number}: malformed line, expected {told}")
            yield number, cells


def texts(path: str) -> Iterator[str]:
    """What each file says that an option names.

    Raises:
        WrongOption: if one cannot be read.
    """
    for member in open_source(path).members:
        try:
            decoded = decode(member.fetch(), display=member.display)
        except Unreadable as reason:
            raise WrongOption(f"{path}: {reason}") from reason
        if decoded.text is None:
            raise WrongOption(f"{path}: {decoded.findings[0].message}")
        yield decoded.text
