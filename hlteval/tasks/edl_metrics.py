"""What entity discovery and linking compare: the metric of each profile, with its options."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from hlteval.scoring.edl.measures import DEFAULT, WrongMeasure, measures
from hlteval.scoring.edl.metric import LinkMatch
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.option_tables import read_table
from hlteval.tasks.task import WrongOption

_NUMBER = r"[+]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
WEIGHTS = Table(
    (
        Column("reference"),
        Column("system"),
        Column("weight", "number", pattern=f" *{_NUMBER} *", code="weight"),
    ),
    code="weights",
)
ZONES = Table(
    (
        Column("docid"),
        Column("start", "integer", code="offset"),
        Column("last", "integer", code="offset"),
    ),
    code="zones",
)
_MESSAGES = {
    "weights": "a line is reference's type, system's type, weight, with tabs between",
    "weight": "{given} is no weight; write a number from 0",
    "zones": "a line is document, first offset, last offset, with tabs between",
    "offset": "{given} is no offset; write a whole number",
}


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
    rows = read_table(path, WEIGHTS, _MESSAGES).group_by("reference", "system", maintain_order=True)
    return {(ours, theirs): weight for ours, theirs, weight in rows.agg(pl.max("weight")).rows()}


def zones(path: str) -> pl.DataFrame:
    """The zones of documents that are not scored.

    Args:
        path: a table without a header: document, first and last offset, both belonging to the zone.

    Raises:
        WrongOption: for a line that is none, with its number; or for what cannot be read.
    """
    return read_table(path, ZONES, _MESSAGES).drop("record")
