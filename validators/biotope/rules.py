"""The rules of Bacteria Biotope, by code.

BTP1xx are about labels, BTP2xx about the arguments of relations, BTP3xx about referents; STD are
those of the format.
"""

from dataclasses import replace
from functools import partial

from hlteval.validators import standoff, vocabulary
from hlteval.validators.biotope import annotations
from hlteval.validators.rule import Rule

_OWN = (
    Rule("BTP101", "sources", annotations.unknown_label),
    Rule("BTP102", "mentions", annotations.new_entity, submission_only=True),
    Rule("BTP201", "frames", vocabulary.unknown_role),
    Rule("BTP202", "frames", annotations.missing_role),
    Rule("BTP203", "frames", vocabulary.wrong_filler),
    Rule("BTP204", "frames", annotations.duplicate_relation),
    Rule("BTP301", "modifiers", annotations.wrong_scheme),
    Rule("BTP302", "modifiers", annotations.unknown_referent),
    Rule("BTP303", "modifiers", annotations.too_many_taxa),
    Rule("BTP304", "mentions", partial(annotations.without_referent, given=False)),
    Rule(
        "BTP305", "sources", partial(annotations.without_referent, given=True), submission_only=True
    ),
)

RULES = tuple(
    replace(rule, check=partial(annotations.beside_given, check=rule.check))
    for rule in (*standoff.RULES, *_OWN)
)
