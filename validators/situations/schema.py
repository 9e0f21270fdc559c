"""The schema of Speech Situation Frames: its types of situations."""

from __future__ import annotations

from hlteval.grammars import schema


def types() -> tuple[str, ...]:
    """The types of situations, in the order of the specification.

    Examples:
        >>> len(types()), types()[6]
        (11, 'Shelter')
    """
    return tuple(schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"])
