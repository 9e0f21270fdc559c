"""What the options of entity discovery and linking mean: measures, and tables in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from hlteval.scoring.edl.measures import Measure, measures
from hlteval.tasks.option_tables import lines
from hlteval.tasks.task import WrongOption


def measure(names: Sequence[str], _: Mapping[str, str]) -> tuple[Measure, ...]:
    """The measures of names or expressions.

    Raises:
        WrongMeasure: for an unknown one.

    Examples:
        >>> [measure.name for measure in measure(["luo"], {})][:2]
        ['muc', 'b_cubed']
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
            raise WrongOption(f"{path}:{number}: {written} is no weight; write a number from 0")
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
                raise WrongOption(f"{path}:{number}: {offset} is no offset; write a whole number")
        rows.append((document, int(start), int(last)))
    schema = {"docid": pl.String, "start": pl.Int64, "last": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")
