"""Readers of option values: measures by their notation, and tables in files of options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from hlteval.scoring.edl.measures import Measure, measures
from hlteval.sources import Unreadable, decode, open_source
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.task import WrongOption

_NUMBER = r"[+]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
WEIGHTS = Table(
    (
        Column("reference"),
        Column("system"),
        Column("weight", "number", pattern=f" *{_NUMBER} *", code="weight"),
    ),
    code="line",
)
ZONES = Table(
    (
        Column("docid"),
        Column("start", "integer", code="offset"),
        Column("last", "integer", code="offset"),
    ),
    code="line",
)
NAMES = Table((Column("written"), Column("name")), code="line")
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


def measure_list(names: Sequence[str], _: Mapping[str, str]) -> tuple[Measure, ...]:
    """The measures of names or expressions.

    Raises:
        WrongMeasure: for an unknown one.
    """
    return measures(names)


def type_weights(path: str, _: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """The weights of pairs of types, by the types of reference and system.

    Args:
        path: a table without a header: type of the reference, type of the system, weight. Of a pair
            that occurs several times, the greatest weight counts.

    Raises:
        WrongOption: for invalid lines, with their numbers, or an unreadable file.
    """
    messages = {
        "line": "a line is the reference's type, the system's type, a weight, separated by tabs",
        "weight": "invalid weight {given}: use a number ≥ 0",
    }
    rows = read_table(path, WEIGHTS, messages).sort("weight").iter_rows()
    return {(reference, system): weight for _, reference, system, weight in rows}


def zones(path: str, _: Mapping[str, str]) -> pl.DataFrame:
    """The zones of documents that are not scored.

    Args:
        path: a table without a header: document, first and last offset, both belonging to the zone.

    Raises:
        WrongOption: for invalid lines, with their numbers, or an unreadable file.
    """
    messages = {
        "line": "a line is document, first offset, last offset, separated by tabs",
        "offset": "invalid offset {given}: use an integer",
    }
    return read_table(path, ZONES, messages).drop("record")


def place_dictionary(path: str, _: Mapping[str, str]) -> dict[str, str]:
    """The names of places by their written forms.

    Args:
        path: a table of two columns without a header: written form, tab, name.

    Raises:
        WrongOption: for invalid lines, with their numbers, or an unreadable file.
    """
    messages = {"line": "a line is the written form, a tab, and the name to compare"}
    return dict(read_table(path, NAMES, messages).drop("record").rows())
