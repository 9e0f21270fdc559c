"""What the options of Speech Situation Frames mean: the names of places in a file."""

from __future__ import annotations

from collections.abc import Mapping

from hlteval.tasks.option_tables import lines


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
