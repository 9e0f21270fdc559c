"""The rules of Speech Situation Frames, by code.

The reader reports what breaks the schema of a frame; these rules check what a schema cannot.
"""

from __future__ import annotations

from hlteval.grammars import schema
from hlteval.validators.rule import Rule
from hlteval.validators.situations import frames

RULES = (
    Rule("SSF101", "frames", frames.unknown_segment),
    Rule("SSF102", "sources", frames.segment_without_frames, submission_only=True),
    Rule("SSF103", "frames", frames.duplicate_frame),
    Rule("SSF104", "frames", frames.blank_place),
    Rule("SSF105", "frames", frames.missing_types, submission_only=True),
    Rule("SSF106", "frames", frames.equal_confidences, submission_only=True),
    Rule("SSF107", "frames", frames.other_script, submission_only=True),
    Rule("SSF108", "frames", frames.other_type),
    Rule("SSF109", "frames", frames.placeholder_place),
)


# The schema of Speech Situation Frames: its types of situations.


def types() -> tuple[str, ...]:
    """The types of situations, in the order of the specification.

    Examples:
        >>> len(types()), types()[6]
        (11, 'Shelter')
    """
    return tuple(schema("speech-sf")["definitions"]["frame"]["properties"]["Type"]["enum"])
