"""The rules of HUB-4 templettes, by code.

The reader reports what breaks the grammar of a line.
"""

from hlteval.validators.hub4 import extents, instances, names
from hlteval.validators.rule import Rule

RULES = (
    Rule("HUB201", "frames", instances.duplicate_instance),
    Rule("HUB202", "fills", instances.slot_twice),
    Rule("HUB203", "frames", instances.no_top),
    Rule("HUB204", "frames", instances.several_tops),
    Rule("HUB205", "frames", instances.scattered_set),
    Rule("HUB206", "fills", instances.dangling_pointer),
    Rule("HUB207", "fills", instances.pointer_elsewhere),
    Rule("HUB208", "fills", instances.pointer_twice),
    Rule("HUB209", "frames", instances.without_pointer),
    Rule("HUB210", "fills", instances.several_alternatives, submission_only=True),
    Rule("HUB211", "fills", instances.several_extents, submission_only=True),
    Rule("HUB212", "fills", instances.no_extents),
    Rule("HUB213", "fills", instances.mixed_fills),
    Rule("HUB214", "fills", instances.several_fills),
    Rule("HUB215", "fills", instances.like_a_slot),
    Rule("HUB216", "fills", instances.text_for_pointer),
    Rule("HUB217", "fills", instances.unbalanced_brackets),
    Rule("HUB218", "fills", instances.count_of_extents),
    Rule("HUB219", "fills", instances.minimal_outside),
    Rule("HUB220", "fills", instances.reversed_extent),
    Rule("HUB221", "fills", instances.empty_text),
    Rule("HUB222", "fills", instances.unknown_status),
    Rule("HUB223", "fills", instances.optional_in_system, submission_only=True),
    Rule("HUB224", "fills", instances.other_document),
    Rule("HUB225", "sources", instances.no_instance, submission_only=True),
    Rule("HUB226", "fills", instances.two_in_a_line),
    Rule("HUB227", "rejected_records", instances.nothing_read, blocks_reference=True),
    Rule("HUB229", "frames", instances.like_a_header),
    Rule("HUB230", "frames", names.unused_type, submission_only=True),
    Rule("HUB231", "fills", names.unused_slot, submission_only=True),
    Rule("HUB232", "frames", names.misspelt),
    Rule("HUB233", "frames", names.set_elsewhere, submission_only=True),
    Rule("HUB234", "frames", names.other_type),
    Rule("HUB235", "fills", names.other_slot),
    Rule("HUB236", "fills", instances.slot_without_colon),
    Rule("HUB301", "frames", instances.unknown_document, blocks_reference=True),
    Rule("HUB302", "fills", extents.outside_document),
    Rule("HUB303", "fills", extents.text_differs),
    Rule("HUB304", "fills", extents.blanks_differ),
    Rule("HUB305", "fills", extents.off_throughout, rewrites=extents.right_extents),
    Rule("HUB306", "frames", instances.other_corpus, blocks_reference=True),
)
