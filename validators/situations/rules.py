"""The rules of Speech Situation Frames, by code.

The reader reports what breaks the schema of a frame; these rules check what a schema cannot.
"""

from __future__ import annotations

from hlteval.validators.rule import Rule
from hlteval.validators.situations import frames, segments

RULES = (
    Rule("SSF101", "frames", segments.unknown_segment),
    Rule("SSF102", "sources", segments.segment_without_frames, submission_only=True),
    Rule("SSF103", "frames", frames.duplicate_frame),
    Rule("SSF104", "frames", frames.blank_place),
    Rule("SSF105", "frames", segments.missing_types, submission_only=True),
    Rule("SSF106", "frames", frames.equal_confidences, submission_only=True),
    Rule("SSF107", "frames", frames.other_script, submission_only=True),
    Rule("SSF108", "frames", frames.other_type),
    Rule("SSF109", "frames", frames.placeholder_place),
)
