"""What entity discovery and linking compare: the metric of each profile, with its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.scoring.edl.measures import DEFAULT, WrongMeasure, measures
from hlteval.scoring.edl.metric import LinkMatch
from hlteval.tasks.option_tables import lines
from hlteval.tasks.task import WrongOption


def metric(profile: str, options: Mapping[str, str]) -> LinkMatch:
    """The metric of a profile.

    Raises:
        WrongOption: for a measure that there is not, or a file that cannot be read.

    Examples:
        >>> [one.name for one in metric("plan", {"measure": "luo"}).wanted][:2]
        ['muc', 'b_cubed']
    """
    options = {name: value for name, value in options.items() if value}
    try:
        wanted = measures(options["measure"].split() if "measure" in options else DEFAULT)
    except WrongMeasure as reason:
        raise WrongOption(str(reason)) from reason
    return LinkMatch(
        profile,
        wanted,
        by=options.get("by", ""),
        with_mention_type=options.get("conversion") == "tac15",
        alternatives=options.get("alternatives", ""),
        weights=type_weights(options["type_weights"]) if "type_weights" in options else {},
        excluded=zones(options["exclude"]) if "exclude" in options else None,
    )


def type_weights(path: str) -> dict[tuple[str, str], float]:
    """What pairs of types count, by reference's and system's.

    Args:
        path: a table without a header: reference's type, system's type, weight. Of a pair that
            stands several times, the greatest weight counts.

    Raises:
        WrongOption: for a line that is none, with its number; or for what cannot be read.
    """
    weights: dict[tuple[str, str], float] = {}
    for number, (ours, theirs, written) in _table(path, "reference's type, system's type, weight"):
        try:
            weight = float(written)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            raise WrongOption(f"{path}:{number}: invalid weight {written}: use a number ≥ 0")
        weights[ours, theirs] = max(weight, weights.get((ours, theirs), 0.0))
    return weights


def zones(path: str) -> pl.DataFrame:
    """The zones of documents that are not scored.

    Args:
        path: a table without a header: document, first and last offset, both belonging to the zone.

    Raises:
        WrongOption: for a line that is none, with its number; or for what cannot be read.
    """
    rows = []
    for number, (document, start, last) in _table(path, "document, first offset, last offset"):
        for offset in (start, last):
            if not (offset.isascii() and offset.isdigit() and len(offset) <= 15):
                raise WrongOption(f"{path}:{number}: invalid offset {offset}: use an integer")
        rows.append((document, int(start), int(last)))
    schema = {"docid": pl.String, "start": pl.Int64, "last": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _table(path: str, columns: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table of three columns, with their numbers."""
    return lines(path, 3, f"{columns}, with tabs between")
