"""The rules of declared tasks, by code.

GEN1xx are about labels, GEN2xx about the arguments of relations and events, GEN3xx about documents,
GEN4xx about units and their places. What a declaration says is `validators.generic.schema.Allowed`.
"""

from functools import partial

from hlteval.validators import vocabulary
from hlteval.validators.generic import frames, identifiers, labels, units
from hlteval.validators.rule import Conclusion, Rule

RULES = (
    Rule(
        *("GEN101", "documents", partial(labels.unknown_label, severity="error")),
        suspects=labels.are_declared,
        conclusion=Conclusion(labels.labels_of_batch, labels.conclude_unknown),
    ),
    Rule(
        *("GEN102", "documents", partial(labels.unknown_label, severity="warning")),
        suspects=labels.are_declared,
        conclusion=Conclusion(labels.labels_of_batch, labels.conclude_unknown),
    ),
    Rule(
        *("GEN103", "documents", labels.other_case),
        once=True,
        suspects=labels.are_declared,
        conclusion=Conclusion(labels.labels_of_batch, labels.conclude_case),
    ),
    Rule(
        *("GEN104", "documents", labels.strange_label),
        submission_only=True,
        conclusion=Conclusion(labels.labels_of_reference, labels.conclude_strange),
    ),
    Rule(
        *("GEN105", "instances", labels.no_number),
        blocks_reference=True,
        suspects=labels.are_numbers,
    ),
    Rule("GEN106", "instances", labels.outside_range, suspects=labels.are_numbers),
    Rule(
        *("GEN107", "documents", labels.missing_number),
        submission_only=True,
        finds_missing=True,
        suspects=labels.are_numbers,
    ),
    Rule(
        *("GEN108", "instances", labels.other_kind),
        once=True,
        blocks_reference=True,
        conclusion=Conclusion(labels.kinds_of_batch, labels.conclude_kinds),
    ),
    Rule("GEN201", "arguments", vocabulary.unknown_role, suspects=vocabulary.has_roles),
    Rule("GEN202", "arguments", vocabulary.wrong_filler, suspects=vocabulary.has_roles),
    Rule("GEN203", "frames", labels.too_many, suspects=lambda own: bool(own.schema.at_most)),
    Rule(
        *("GEN205", "frames", frames.no_filler),
        blocks_reference=True,
        suspects=frames.may_lack_fillers,
    ),
    Rule(
        *("GEN209", "documents", identifiers.unlike_reference),
        once=True,
        submission_only=True,
        suspects=identifiers.may_be_unlike,
        conclusion=Conclusion(identifiers.common, identifiers.conclude_reference),
    ),
    Rule(
        *("GEN208", "arguments", frames.first_role),
        once=True,
        suspects=frames.may_differ_in_roles,
        submission_only=True,
        conclusion=Conclusion(frames.roles_of_sides, frames.conclude_roles),
    ),
    Rule(*("GEN207", "frames", frames.too_few), blocks_reference=True, suspects=frames.may_be_few),
    Rule(
        *("GEN206", "frames", frames.other_fillers),
        once=True,
        submission_only=True,
        conclusion=Conclusion(frames.kinds_of_sides, frames.conclude_fillers),
    ),
    Rule(
        *("GEN204", "instances", labels.several_labels),
        submission_only=True,
        suspects=labels.has_several_units,
    ),
    Rule(
        *("GEN301", "documents", partial(units.extra_document, scored="both")),
        submission_only=True,
        suspects=units.has_other_documents,
    ),
    Rule(
        *("GEN303", "documents", partial(units.extra_document, scored="reference")),
        submission_only=True,
        suspects=units.has_other_documents,
    ),
    Rule(
        *("GEN304", "documents", units.no_unit),
        once=True,
        submission_only=True,
        conclusion=Conclusion(units.has_units, units.conclude_units),
    ),
    Rule(
        *("GEN305", "documents", units.other_document),
        submission_only=True,
        suspects=units.may_have_other_texts,
    ),
    Rule("GEN401", "documents", units.duplicate, suspects=units.may_repeat),
    Rule("GEN402", "mentions", units.outside_text, suspects=units.may_be_outside),
    Rule("GEN403", "mentions", units.other_text, "mentions.text", suspects=units.has_misfits),
    Rule(
        *("GEN404", "mentions", units.other_unit, "mentions.text"),
        once=True,
        suspects=units.has_misfits,
    ),
    Rule(
        *("GEN405", "mentions", units.two_entities, "mentions.entity"),
        suspects=lambda own: own.schema.unit == "coreference",
    ),
    Rule(
        *("GEN407", "mentions", units.other_counting, "mentions.text"),
        once=True,
        suspects=units.has_misfits,
    ),
    Rule(
        *("GEN408", "tokens", units.other_tokens, "tokens.tag"),
        submission_only=True,
        suspects=units.has_other_tokens,
    ),
    Rule("GEN406", "instances", units.outside_stretches),
    Rule(
        *("GEN410", "documents", units.several_annotators),
        blocks_reference=True,
        of_one_annotator=True,
        suspects=units.has_annotators,
    ),
    Rule(
        *("GEN411", "mentions", identifiers.unlike_ontology),
        blocks_reference=True,
        suspects=identifiers.has_ontology,
        conclusion=Conclusion(identifiers.of_ontology, identifiers.conclude_ontology),
    ),
)
