"""What Speech Situation Frames compare: the metric of each profile, with the task's options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hlteval.scoring.situations.metric import FrameMatch
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.option_tables import read_table


def metric(profile: str, options: Mapping[str, str]) -> FrameMatch:
    """The metric of a profile.

    Raises:
        WrongOption: if the dictionary of places cannot be read.

    Examples:
        >>> metric("plan", {"place_match": "exact"}).places
        'exact'
    """
    path = options.get("place_dictionary")
    given = {
        "profile": profile,
        "places": options.get("place_match", "soft"),
        "normalize": options.get("normalize", ""),
        "dictionary": dictionary(path) if path else {},
    }
    return FrameMatch(**cast(dict[str, str], given))  # type: ignore[arg-type]


def dictionary(path: str) -> dict[str, str]:
    """The names of places by the forms that are written for them.

    Args:
        path: a table of two columns without a header: written form, tab, name.

    Raises:
        WrongOption: for a line that is none, with its number; or for what cannot be read.
    """
    table = Table((Column("written"), Column("name")), code="line")
    message = "a line is the written form, a tab, and the name to compare"
    return dict(read_table(path, table, {"line": message}).drop("record").rows())
