"""The names of places that are compared: normalized, and looked up in a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl


def compared_places(
    frames: pl.DataFrame,
    normalize: Literal["", "NFC", "NFD", "NFKC", "NFKD"],
    dictionary: Mapping[str, str],
    *,
    official: bool,
) -> pl.DataFrame:
    """Frames with the names of their places that are compared.

    Args:
        frames: with the column `place`.
        normalize: a Unicode normalization form; empty for none.
        dictionary: names by written forms. The official script looks places up without spaces
            around them and in lower case, and compares the names in lower case.
        official: whether to do as the script; else keys and values are taken as they are, and a
            place of white space is none.

    Examples:
        >>> frames = pl.DataFrame({"place": ["OSH", " "]})
        >>> compared_places(frames, "", {"Osh": "Ош"}, official=True)["place"].to_list()
        ['ош', ' ']
        >>> compared_places(frames, "", {"Osh": "Ош"}, official=False)["place"].to_list()
        ['OSH', None]
    """
    place = pl.col("place")
    if not official:
        place = pl.when(place.str.strip_chars() != "").then(place)
    if normalize:
        place = place.str.normalize(normalize)
    frames = frames.with_columns(place=place)
    if not dictionary:
        return frames
    known = _found(frames, dictionary) if official else dict(dictionary)
    return frames.with_columns(pl.col("place").replace(known))


def crashing(frames: pl.DataFrame, dictionary: Mapping[str, str]) -> pl.DataFrame:
    """The frames at whose places the official script crashes: in its dictionary but for spaces."""
    known = [place for place in _found(frames, dictionary) if place.strip() != place]
    return frames.filter(pl.col("place").is_in(known))


def _found(frames: pl.DataFrame, dictionary: Mapping[str, str]) -> dict[str, str]:
    """The names of the places that the script finds in a dictionary."""
    names = {key.strip().lower(): name.strip().lower() for key, name in dictionary.items()}
    places = frames["place"].drop_nulls().unique()
    keys = {place: place.strip().lower() for place in places}
    return {place: names[key] for place, key in keys.items() if key in names}
