"""The rules of SeeDev (BioNLP-ST 2016), by code.

SEE1xx are about types, SEE2xx about roles and their fillers, SEE3xx about what the official
software does not check although it costs points; STD are those of the format. Most documents have
nothing wrong: a quick look (`suspects`) at what a batch holds shows which rules to run.
"""

from __future__ import annotations

from hlteval.validators.rule import Rule
from hlteval.validators.seedev import events, spans, tables, types
from hlteval.validators.seedev import references as refs

RULES = (
    Rule("STD201", "mentions", spans.fragments_unordered, suspects=spans.are_broken),
    Rule("STD202", "mentions", spans.beyond_text),
    Rule("STD203", "mentions", spans.fragments_overlap, suspects=spans.are_broken),
    Rule("STD204", "mentions", spans.span_reversed, suspects=spans.have_no_length),
    Rule("STD205", "mentions", spans.span_empty, suspects=spans.have_no_length),
    Rule("STD206", "mentions", spans.text_differs, suspects=spans.any_differs),
    Rule("STD301", "sources", refs.duplicate_identifier, suspects=refs.are_repeated),
    Rule("STD302", "sources", refs.unresolved, suspects=refs.may_be_unresolved),
    Rule("STD303", "modifiers", events.forward_modifier),
    Rule("STD304", "groups", events.equivalence_overlaps),
    Rule("STD305", "groups", events.equivalence_empty),
    Rule("SEE101", "sources", types.unknown_type, suspects=types.any_is_strange),
    Rule(
        "SEE101",
        "sources",
        types.type_of_other_task,
        suspects=types.any_is_strange,
        counts_if=types.is_own_task,
    ),
    Rule("SEE102", "sources", types.wrong_kind, suspects=types.any_is_strange),
    Rule(
        "SEE103",
        "frames",
        types.other_task,
        once=True,
        suspects=types.any_is_elsewhere,
        counts_if=types.is_other_task,
    ),
    Rule("SEE104", "frames", types.event_with_trigger, suspects=types.any_has_trigger),
    Rule("SEE201", "frames", events.illegal_role, suspects=events.any_role_is_illegal),
    Rule("SEE202", "frames", events.missing_mandatory, suspects=events.are_misshapen),
    Rule("SEE203", "frames", events.missing_alternative, suspects=events.are_misshapen),
    Rule("SEE204", "frames", events.exclusive_roles, suspects=events.are_misshapen),
    Rule("SEE205", "frames", events.illegal_filler, suspects=events.any_filler_is_illegal),
    Rule("SEE206", "frames", events.duplicate_role, suspects=events.any_role_is_repeated),
    Rule("SEE207", "modifiers", events.modified_mention),
    Rule("SEE208", "modifiers", events.too_many_modifiers),
    Rule("SEE301", "frames", events.duplicate_event, suspects=events.are_alike),
    Rule("SEE302", "frames", events.mirrored_event, suspects=events.are_alike),
    Rule("SEE303", "frames", refs.self_reference, suspects=tables.are_nested),
    Rule("SEE304", "frames", refs.cyclic_events, suspects=tables.are_nested),
    Rule("SEE305", "frames", events.same_filler, suspects=events.any_filler_is_repeated),
    Rule("SEE306", "frames", events.event_as_entity, suspects=events.any_event_is_entity),
    Rule("SEE307", "mentions", types.predicted_mention, submission_only=True),
    Rule("SEE308", "frames", types.relation_identifier, suspects=types.any_is_relation),
    Rule("SEE309", "groups", types.predicted_equivalence, submission_only=True),
    Rule(
        "SEE403",
        "sources",
        types.empty_prediction,
        submission_only=True,
        suspects=types.some_are_empty,
    ),
)
