"""The rules of LoReHLT situation frames, by code.

The readers report what breaks the schema of a frame or of a table; these rules check what a schema
cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hlteval.validators.rule import Rule
from hlteval.validators.situations.lorehlt import frames
from hlteval.validators.situations.lorehlt import frames as documents
from hlteval.validators.situations.lorehlt import sentiments as sec

RULES = (
    Rule("LSF301", "frames", documents.unknown_document, submission_only=True),
    Rule("LSF302", "frames", documents.no_text, submission_only=True),
    Rule("LSF303", "frames", documents.silent_documents, submission_only=True, finds_missing=True),
    Rule("LSF304", "frames", frames.not_in_kb, submission_only=True),
    Rule("LSF305", "frames", frames.nil_place, submission_only=True),
    Rule("LSF306", "frames", frames.place_form, submission_only=True),
    Rule("LSF307", "frames", frames.duplicate_frame, submission_only=True),
    Rule("LSF308", "frames", documents.unknown_segment, submission_only=True),
    Rule("LSF309", "frames", documents.no_justification, submission_only=True),
    Rule("LSF310", "frames", frames.no_cutoff, submission_only=True),
    Rule("LSF311", "frames", documents.no_frames, submission_only=True, finds_missing=True),
    Rule("LSF312", "frames", documents.nothing_listed, submission_only=True, finds_missing=True),
    Rule("LSF401", "sentiments", sec.unknown_source, submission_only=True),
    Rule("LSF402", "sentiments", sec.absent_source, submission_only=True),
    Rule("LSF403", "sentiments", sec.unchecked_sources, submission_only=True),
    Rule("LSF404", "sentiments", sec.duplicate_entry, submission_only=True),
    Rule("LSF405", "sentiments", sec.source_not_in_kb, submission_only=True),
    Rule("LSF509", "sentiments", sec.unknown_target, "sentiments.target"),
    Rule("LSF510", "frames", sec.repeated_frame, "frames.annotator"),
    Rule("LSF511", "sentiments", sec.other_polarity, "sentiments.polarity"),
    Rule("LSF512", "sentiments", sec.odd_value, "sentiments.polarity"),
)


# What a submission of LoReHLT situation frames may have, by the options of the task.


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the options say of a submission.

    Attributes:
        cutoff: whether it has a cut-off confidence.
    """

    cutoff: bool


def allowed(options: Mapping[str, str], reference: bool = False) -> Allowed:
    """What a submission, or a reference, may have.

    Examples:
        >>> allowed({"cutoff": "0.3"})
        Allowed(cutoff=True)
    """
    return Allowed(reference or "cutoff" in options)
