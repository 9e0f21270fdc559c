"""The rules of LTF and of LAF, by code.

No schema can check what they check. Each token is reported for one problem only; what explains a
whole document (another way to count) or a whole segment (it was moved) is reported once, and no
longer for its parts.
"""

from __future__ import annotations

from hlteval.validators.ltf import documents, laf, segments
from hlteval.validators.rule import Rule

RULES = (
    Rule("LTF201", "documents", documents.other_file_name, submission_only=True),
    Rule("LTF202", "documents", documents.repeated_identifier),
    Rule("LTF203", "documents", documents.document_name),
    Rule("LTF204", "documents", documents.element_name),
    Rule("LTF205", "segments", documents.segment_number),
    Rule("LTF206", "tokens", documents.token_number),
    Rule("LTF207", "attributes", documents.unknown_token),
    Rule("LTF208", "documents", documents.unknown_document, submission_only=True),
    Rule("LTF301", "segments", segments.end_before_start),
    Rule("LTF302", "segments", segments.segment_length),
    Rule("LTF303", "segments", segments.segment_overlap),
    Rule("LTF304", "segments", segments.adjacent_segments),
    Rule("LTF305", "segments", segments.no_text),
    Rule("LTF306", "tokens", segments.moved_segment),
    Rule("LTF307", "segments", segments.other_raw_text),
    Rule("LTF401", "tokens", segments.token_outside),
    Rule("LTF402", "tokens", segments.token_overlap),
    Rule("LTF403", "tokens", segments.token_length),
    Rule("LTF404", "tokens", segments.token_text),
    Rule("LTF405", "segments", segments.uncovered_text),
    Rule("LTF406", "tokens", segments.blank_in_token),
    Rule("LTF407", "tokens", segments.unknown_class),
    Rule("LTF501", "documents", documents.other_convention),
    Rule("LTF502", "documents", documents.bad_length),
    Rule("LTF503", "documents", documents.too_long),
    Rule("LTF504", "documents", documents.other_digest),
    Rule("LTF505", "documents", documents.far_apart),
)

LAF_RULES = (
    Rule("LAF201", "documents", laf.unknown_document),
    Rule("LAF202", "mentions", laf.end_before_start),
    Rule("LAF203", "mentions", laf.beyond_the_text),
    Rule("LAF204", "mentions", laf.other_text),
    Rule("LAF205", "mentions", laf.repeated_identifier),
    Rule("LAF206", "mentions", laf.other_units),
    Rule("LAF207", "mentions", laf.unknown_type),
)
