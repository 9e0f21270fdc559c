"""The rules of SeeDev (BioNLP-ST 2016), by code.

SEE1xx are about types, SEE2xx about roles and their fillers, SEE3xx about what the official
software does not check although it costs points; STD are those of the format. Most documents have
nothing wrong: rules look first at what few kinds of things a batch has.
"""

from functools import partial

from hlteval.validators import standoff
from hlteval.validators.rule import Rule
from hlteval.validators.seedev import events

RULES = (
    *standoff.RULES,
    Rule("SEE101", "sources", partial(events.unknown_type, of_other_task=False)),
    Rule(
        "SEE101",
        "sources",
        partial(events.unknown_type, of_other_task=True),
        counts_if=events.is_own_task,
    ),
    Rule("SEE102", "sources", events.wrong_kind),
    Rule("SEE103", "frames", events.other_task, once=True, counts_if=events.is_other_task),
    Rule("SEE104", "frames", events.event_with_trigger),
    Rule("SEE201", "frames", events.illegal_role),
    Rule("SEE202", "frames", partial(events.wrong_shape, problem="missing")),
    Rule("SEE203", "frames", partial(events.wrong_shape, problem="none of")),
    Rule("SEE204", "frames", partial(events.wrong_shape, problem="more than one of")),
    Rule("SEE205", "frames", events.illegal_filler),
    Rule("SEE206", "frames", events.duplicate_role),
    Rule("SEE207", "modifiers", events.modified_mention),
    Rule("SEE208", "modifiers", events.too_many_modifiers),
    Rule("SEE301", "frames", events.duplicate_event),
    Rule("SEE302", "frames", events.mirrored_event),
    Rule("SEE303", "frames", events.self_reference),
    Rule("SEE304", "frames", events.cyclic_events),
    Rule("SEE305", "frames", events.same_filler),
    Rule("SEE306", "frames", events.event_as_entity),
    Rule("SEE307", "mentions", standoff.added_mention, submission_only=True),
    Rule("SEE308", "frames", events.relation_identifier),
    Rule("SEE309", "groups", events.predicted_equivalence, submission_only=True),
    Rule("SEE403", "sources", events.empty_prediction, submission_only=True),
)
