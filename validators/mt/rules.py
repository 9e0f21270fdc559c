"""The rules of machine translation, by code.

They compare a submission with the documents that were translated: their LTF, or their reference
translations, whose segments are the same. Without these, only what a file shows by itself is found.
"""

from hlteval.validators.mt import segments
from hlteval.validators.rule import Rule

RULES = (
    Rule("MTV201", "documents", segments.missing_document, submission_only=True,
         finds_missing=True),
    Rule("MTV202", "documents", segments.unknown_document, submission_only=True),
    Rule("MTV203", "documents", segments.other_file_name, submission_only=True),
    Rule("MTV204", "documents", segments.english_document, submission_only=True),
    Rule("MTV301", "documents", segments.missing_segment, submission_only=True),
    Rule("MTV302", "translations", segments.unknown_segment, submission_only=True),
    Rule("MTV303", "translations", segments.repeated_segment),
    Rule("MTV304", "translations", segments.other_order, submission_only=True),
    Rule("MTV305", "translations", segments.empty_segment, submission_only=True),
    Rule("MTV306", "translations", segments.odd_space, submission_only=True),
    Rule("MTV307", "translations", segments.copied_source, submission_only=True),
)  # fmt: skip
