"""The equivalence classes of situation frames: which fields make two frames the same.

LoReHLT 2019, section 16.2.4. Frames of one class and key are one: of the system, the most confident
of them counts; of the reference, they weigh as many rows as the combined reference has of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl

STATUS = "type,place,status"
#: The fields of a frame that each class compares, besides its document.
CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "type": ("type",),
        "type,place": ("type", "place"),
        STATUS: ("type", "place", "status"),
        f"{STATUS},urgent": ("type", "place", "status", "urgent"),
        f"{STATUS},resolution": ("type", "place", "status", "unresolved"),
        f"{STATUS},urgent,resolution": ("type", "place", "status", "urgent", "unresolved"),
    }
)
FINEST = f"{STATUS},urgent,resolution"
#: The class that has only urgent and unresolved frames.
GRAVE = f"grave:{FINEST}"
#: The classes of situations, which have a place.
SITUATION_CLASSES = (*tuple(CLASSES)[1:], GRAVE)


def key(name: str) -> list[str]:
    """The columns that a class compares, with the document."""
    return ["docid", *CLASSES[name.removeprefix("grave:")]]


def of_class(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frames that a class is about: with a place if it compares places; only grave ones."""
    if name == GRAVE:
        frames = frames.filter(pl.col("urgent") & pl.col("unresolved"))
    return frames.filter(pl.col("place").is_not_null()) if "place" in key(name) else frames


def references(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The different frames of a reference, with their occurrences as `weight` (section 16.2).

    Those are the rows of all annotators that are equal in the class. A row that an annotator
    repeats, equal in the finest class, is one.

    Examples:
        >>> row = {"docid": "d", "type": "food", "place": "1", "status": "current"}
        >>> row |= {"urgent": True, "unresolved": True, "annotator": "7"}
        >>> rows = [row, row, row | {"status": "past"}, row | {"annotator": "8"}]
        >>> references(pl.DataFrame(rows), "type,place")["weight"].to_list()
        [3]
    """
    rows = of_class(frames, name).unique([*key(FINEST), "annotator"])
    return rows.group_by(key(name)).agg(weight=pl.len().cast(pl.Int64))


def most_confident(frames: pl.DataFrame, name: str) -> pl.DataFrame:
    """The different frames of a system, with the greatest `confidence` of each."""
    return of_class(frames, name).group_by(key(name)).agg(pl.col("confidence").max())


def compared(reference: pl.DataFrame, system: pl.DataFrame, name: str) -> pl.DataFrame:
    """The different frames of both sides.

    Returns:
        The key of the class, `weight` (null for false positives) and `confidence` (null for missed
        frames).
    """
    fields = key(name)
    gold, own = references(reference, name), most_confident(system, name)
    return gold.join(own, on=fields, how="full", nulls_equal=True, coalesce=True)
