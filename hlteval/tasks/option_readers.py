"""Readers of option values: measures by their notation, and small tables without a header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from hlteval.scoring.edl.measures import Measure, measures
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


def measure_list(names: Sequence[str], _: Mapping[str, str]) -> tuple[Measure, ...]:
    """The measures of names or expressions.

    Raises:
        WrongMeasure: for an unknown one.
    """
    return measures(names)


def type_weights(path: str, _: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """What pairs of types count, by reference's and system's.

    Args:
        path: a table without a header: reference's type, system's type, weight. Of a pair that
            occurs several times, the greatest weight counts.

    Raises:
        WrongOption: for a malformed line, with its number, or an unreadable file.
    """
    weights: dict[tuple[str, str], float] = {}
    for number, (ours, theirs, written) in lines(
        path, "reference's type", "system's type", "weight"
    ):
        try:
            weight = float(written)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            raise WrongOption(f"{path}:{number}: invalid weight {written}: use a number ≥ 0")
        weights[ours, theirs] = max(weight, weights.get((ours, theirs), 0.0))
    return weights


def zones(path: str, _: Mapping[str, str]) -> pl.DataFrame:
    """The zones of documents that are not scored.

    Args:
        path: a table without a header: document, first and last offset, both belonging to the zone.

    Raises:
        WrongOption: for a malformed line, with its number, or an unreadable file.
    """
    rows = []
    for number, (document, start, last) in lines(path, "document", "first offset", "last offset"):
        for offset in (start, last):
            if not (offset.isascii() and offset.isdigit() and len(offset) <= 15):
                raise WrongOption(f"{path}:{number}: invalid offset {offset}: use an integer")
        rows.append((document, int(start), int(last)))
    schema = {"docid": pl.String, "start": pl.Int64, "last": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def place_dictionary(path: str, _: Mapping[str, str]) -> dict[str, str]:
    """The names of places by their written forms.

    Args:
        path: a table of two columns without a header: written form, tab, name.

    Raises:
        WrongOption: for a malformed line, with its number, or an unreadable file.
    """
    return {
        written: name
        for _, (written, name) in lines(path, "the written form", "the name to compare")
    }
