"""The rules of entity discovery and linking (EDL), by code.

The reader reports what makes a record unreadable.
"""

from hlteval.validators.edl import extents, fields
from hlteval.validators.rule import Rule

#: A column that only tables of eight fields have: other formats cannot break rules about these.
SUBMITTED = "mentions.annotator"

RULES = (
    Rule("EDL101", "sources", fields.no_mentions, submission_only=True, conclusion=fields.nowhere),
    Rule("EDL301", "mentions", fields.no_run, SUBMITTED, submission_only=True),
    Rule(
        "EDL302",
        "mentions",
        fields.another_run,
        SUBMITTED,
        submission_only=True,
        conclusion=fields.one_run,
    ),
    Rule("EDL303", "mentions", fields.no_mention_id, SUBMITTED),
    Rule("EDL304", "mentions", fields.repeated_mention_id, SUBMITTED, unique=fields.mention_ids),
    Rule("EDL305", "mentions", fields.no_string, SUBMITTED),
    Rule("EDL306", "mentions", fields.no_entity, SUBMITTED),
    Rule("EDL307", "mentions", fields.entity_form, SUBMITTED),
    Rule("EDL308", "links", fields.alternatives, SUBMITTED, submission_only=True),
    Rule("EDL309", "mentions", fields.entity_type, SUBMITTED),
    Rule("EDL310", "mentions", fields.mention_type, SUBMITTED),
    Rule("EDL311", "mentions", fields.nominal, SUBMITTED),
    Rule("EDL312", "mentions", fields.no_confidence, SUBMITTED, submission_only=True),
    Rule("EDL313", "mentions", fields.no_number, SUBMITTED),
    Rule("EDL314", "mentions", fields.out_of_range, SUBMITTED, submission_only=True),
    Rule("EDL315", "mentions", fields.confidence_form, SUBMITTED, submission_only=True),
    Rule("EDL316", "mentions", extents.end_before_start),
    Rule("EDL317", "mentions", fields.padded_entity, SUBMITTED, unique=fields.plain_entities),
    Rule("EDL318", "mentions", fields.nil_types, SUBMITTED, conclusion=fields.one_type),
    Rule("EDL319", "mentions", extents.other_length, SUBMITTED, conclusion=extents.one_length),
    Rule("EDL401", "mentions", extents.line_twice),
    Rule("EDL402", "mentions", extents.same_extent),
    Rule("EDL403", "mentions", extents.inside_another),
    Rule("EDL404", "mentions", extents.across_another),
    Rule(
        "EDL501",
        "mentions",
        fields.unknown_document,
        submission_only=True,
        conclusion=fields.among_known,
    ),
    Rule("EDL502", "mentions", extents.outside_text),
    Rule("EDL503", "mentions", extents.other_text),
    Rule("EDL504", "mentions", fields.not_in_kb),
    Rule("EDL505", "mentions", fields.implausible_link),
    Rule("EDL506", "mentions", fields.outside_list, submission_only=True),
    Rule("EDL507", "mentions", fields.nothing_listed, submission_only=True),
    Rule("EDL508", "mentions", fields.silent_documents, submission_only=True),
    Rule("EDL509", "mentions", extents.other_convention, rewrites=extents.right_offsets),
)
