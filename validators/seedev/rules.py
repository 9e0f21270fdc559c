"""The rules of SeeDev (BioNLP-ST 2016), by code.

SEE1xx are about types, SEE2xx about roles and their fillers, SEE3xx about what the official
software does not check although it costs points; STD are those of the format.
"""

from __future__ import annotations

from hlteval.validators.rule import Rule
from hlteval.validators.seedev import (
    arguments,
    duplicates,
    modifiers,
    predictions,
    references,
    spans,
    types,
)

RULES = (
    Rule("STD201", "mentions", spans.fragments_unordered),
    Rule("STD202", "mentions", spans.beyond_text),
    Rule("STD203", "mentions", spans.fragments_overlap),
    Rule("STD204", "mentions", spans.span_reversed),
    Rule("STD205", "mentions", spans.span_empty),
    Rule("STD206", "mentions", spans.text_differs),
    Rule("STD301", "sources", references.duplicate_identifier),
    Rule("STD302", "sources", references.unresolved),
    Rule("STD303", "modifiers", modifiers.forward_modifier),
    Rule("STD304", "groups", duplicates.equivalence_overlaps),
    Rule("STD305", "groups", duplicates.equivalence_empty),
    Rule("SEE101", "sources", types.unknown_type),
    Rule("SEE101", "sources", types.type_of_other_task, counts_if=types.is_own_task),
    Rule("SEE102", "sources", types.wrong_kind),
    Rule("SEE103", "frames", types.other_task, once=True, counts_if=types.is_other_task),
    Rule("SEE104", "frames", types.event_with_trigger),
    Rule("SEE201", "frames", arguments.illegal_role),
    Rule("SEE202", "frames", arguments.missing_mandatory),
    Rule("SEE203", "frames", arguments.missing_alternative),
    Rule("SEE204", "frames", arguments.exclusive_roles),
    Rule("SEE205", "frames", arguments.illegal_filler),
    Rule("SEE206", "frames", arguments.duplicate_role),
    Rule("SEE207", "modifiers", modifiers.modified_mention),
    Rule("SEE208", "modifiers", modifiers.too_many_modifiers),
    Rule("SEE301", "frames", duplicates.duplicate_event),
    Rule("SEE302", "frames", duplicates.mirrored_event),
    Rule("SEE303", "frames", references.self_reference),
    Rule("SEE304", "frames", references.cyclic_events),
    Rule("SEE305", "frames", arguments.same_filler),
    Rule("SEE306", "frames", arguments.event_as_entity),
    Rule("SEE307", "mentions", predictions.predicted_mention, submission_only=True),
    Rule("SEE308", "frames", types.relation_identifier),
    Rule("SEE309", "groups", predictions.predicted_equivalence, submission_only=True),
    Rule("SEE403", "sources", predictions.empty_prediction, submission_only=True),
)
