"""The rules of CCU, by task and code.

The readers report what breaks the form of a file; these rules check what it says.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from hlteval.validators.ccu import (
    annotation,
    changes,
    classes,
    index,
    levels,
    mappings,
    places,
    reference,
    repeats,
)
from hlteval.validators.rule import Rule, RuleContext


def _of_reference(code: str, table: str, check: Callable[[RuleContext], pl.LazyFrame]) -> Rule:
    """A rule that is about references only."""
    return Rule(code, table, check, suspects=_is_reference)


def _is_reference(context: RuleContext) -> bool:
    reference: bool = context.schema.reference
    return reference


_INDEX = (
    Rule("CCU301", "attributes", index.missing_document, submission_only=True),
    Rule("CCU302", "attributes", index.unknown_document, submission_only=True),
)


def _of_places(table: str) -> tuple[Rule, ...]:
    return (
        Rule("CCU401", table, places.negative, submission_only=True),
        Rule("CCU404", table, places.beyond_end, submission_only=True),
        Rule("CCU405", table, places.far_beyond_end, submission_only=True),
        Rule("CCU406", table, places.broken_character, submission_only=True),
        Rule("CCU505", table, repeats.duplicate, submission_only=True),
        Rule("CCU506", table, repeats.other_value, submission_only=True),
    )


def _of_stretches(table: str) -> tuple[Rule, ...]:
    return (
        *_INDEX,
        *_of_places(table),
        Rule("CCU402", table, places.reversed_stretch, submission_only=True),
        Rule("CCU403", table, places.empty_stretch, submission_only=True),
    )


_SEGMENTS = (
    _of_reference("CCU811", "documents", reference.unlisted_document),
    _of_reference("CCU812", "attributes", reference.no_modality),
    _of_reference("CCU813", "attributes", reference.no_length),
    _of_reference("CCU814", "regions", reference.reversed_segment),
    _of_reference("CCU815", "regions", reference.overlapping_segment),
    _of_reference("CCU816", "regions", reference.segment_outside),
    _of_reference("CCU819", "regions", reference.broken_segment),
    _of_reference("CCU820", "regions", reference.empty_segment),
    _of_reference("CCU817", "attributes", reference.not_annotated),
    _of_reference("CCU818", "attributes", reference.other_versions),
)
_NORMS = (
    Rule("CCU501", "instances", classes.unknown_status),
    Rule("CCU503", "instances", classes.odd_norm),
    _of_reference("CCU801", "instances", annotation.status_of_nothing),
    _of_reference("CCU802", "instances", annotation.no_status),
    _of_reference("CCU803", "instances", annotation.half_unannotated_norm),
)
_EMOTIONS = (
    Rule("CCU502", "instances", classes.unknown_emotion),
    _of_reference("CCU810", "instances", annotation.speakers_of_nothing),
    _of_reference("CCU804", "instances", annotation.emotion_twice),
    _of_reference("CCU805", "instances", annotation.emotions_beside_nothing),
)
_RATINGS = (
    _of_reference("CCU806", "ratings", annotation.level_out_of_range),
    _of_reference("CCU807", "ratings", annotation.half_unannotated_level),
)
_POINTS = (
    _of_reference("CCU808", "changes", annotation.change_outside),
    _of_reference("CCU809", "changes", annotation.no_change),
)

ND = (
    *_of_stretches("instances"),
    *_NORMS,
    Rule("CCU309", "documents", index.other_output, once=True, submission_only=True),
    Rule("CCU504", "instances", classes.unlisted_norm, submission_only=True),
    Rule("CCU507", "instances", repeats.overlap, submission_only=True),
    Rule("CCU511", "instances", classes.some_without_status, submission_only=True),
    Rule("CCU512", "instances", classes.none_with_status, submission_only=True),
    Rule("CCU508", "instances", classes.unknown_segment, submission_only=True),
    Rule("CCU510", "instances", classes.no_class, submission_only=True),
    *_SEGMENTS,
)
ED = (
    *_of_stretches("instances"),
    *_EMOTIONS,
    Rule("CCU507", "instances", repeats.overlap, submission_only=True),
    *_SEGMENTS,
)
VD = (
    *_of_stretches("ratings"),
    Rule("CCU308", "documents", index.no_rows, submission_only=True),
    Rule("CCU601", "ratings", levels.out_of_range, submission_only=True),
    Rule("CCU603", "ratings", levels.gap, submission_only=True),
    Rule("CCU604", "ratings", levels.overlap, submission_only=True),
    Rule("CCU605", "ratings", levels.late_start, submission_only=True),
    Rule("CCU606", "ratings", levels.early_end, submission_only=True),
    Rule("CCU607", "ratings", levels.shared_bound, submission_only=True),
    *_RATINGS,
    *_SEGMENTS,
)
AD = VD
CD = (
    *_INDEX,
    *_of_places("changes"),
    Rule("CCU701", "changes", changes.three_columns, once=True, submission_only=True),
    Rule("CCU702", "changes", changes.unknown_direction, submission_only=True),
    Rule("CCU703", "changes", changes.unknown_strength, submission_only=True),
    Rule("CCU704", "changes", changes.not_annotated, submission_only=True),
    *_POINTS,
    *_SEGMENTS,
)
NDMAP = (
    Rule("CCU711", "mappings", mappings.absent_norm, submission_only=True),
    Rule("CCU712", "mappings", mappings.unknown_norm, submission_only=True),
    Rule("CCU713", "mappings", mappings.duplicate, submission_only=True),
    Rule("CCU714", "mappings", mappings.several_submissions, submission_only=True),
    Rule("CCU715", "mappings", mappings.malformed_submission, submission_only=True),
    Rule("CCU716", "mappings", mappings.strange_submission, submission_only=True),
    Rule("CCU717", "mappings", mappings.other_task, submission_only=True),
)
REFERENCE = (*_SEGMENTS, *_NORMS, *_EMOTIONS, *_RATINGS, *_POINTS)
