"""Files that options name: tables with a few columns and no header, and other text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.sources import Unreadable, decode, open_source
from hlteval.syntax.tsv import Table
from hlteval.tasks.task import WrongOption

_SHOWN = 5


def read_table(path: str, table: Table, messages: Mapping[str, str]) -> pl.DataFrame:
    """The rows of a table, as `ParsedTable.rows`.

    Args:
        path: of a file, or of an archive or a folder of files.
        table: its declaration.
        messages: for each code of the declaration what is wrong, with the values of the problem in
            braces.

    Raises:
        WrongOption: if a file cannot be read, or has invalid lines: with the first of them, each
            with its file, number and problem.
    """
    rows, wrong = [], []
    for file, text in _files(path):
        parsed = table.read(text)
        rows.append(parsed.rows)
        for problem in parsed.problems:
            message = messages[problem.code].format(**problem.values)
            wrong.append(f"{file}:{problem.record}: {message}")
    if wrong:
        more = [f"{len(wrong) - _SHOWN} more invalid lines"] if len(wrong) > _SHOWN else []
        raise WrongOption("\n".join([*wrong[:_SHOWN], *more]))
    return pl.concat([table.read("").rows, *rows])


def texts(path: str) -> Iterator[str]:
    """The text of each file that an option names.

    Raises:
        WrongOption: if a file cannot be read.
    """
    return (text for _, text in _files(path))


def _files(path: str) -> Iterator[tuple[str, str]]:
    """The display path and the text of each file."""
    for member in open_source(path).members:
        try:
            decoded = decode(member.fetch(), display=member.display)
        except Unreadable as reason:
            raise WrongOption(f"{path}: {reason}") from reason
        if decoded.text is None:
            raise WrongOption(f"{member.display}: {decoded.findings[0].message}")
        yield member.display, decoded.text
