"""The rules of CCU, by task and code.

The readers report what breaks the form of a file; these rules check what it says.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from hlteval.validators.ccu import classes, reference, streams
from hlteval.validators.ccu import reference as annotation
from hlteval.validators.ccu import reference as index
from hlteval.validators.rule import Rule, RuleContext


def _of_submission(
    code: str, table: str, check: Callable[[RuleContext], pl.LazyFrame], *, once: bool = False
) -> Rule:
    """A rule that is about submissions only."""
    return Rule(code, table, check, once=once, submission_only=True)


def _of_reference(code: str, table: str, check: Callable[[RuleContext], pl.LazyFrame]) -> Rule:
    """A rule that is about references only."""
    return Rule(code, table, check, suspects=_is_reference)


def _is_reference(context: RuleContext) -> bool:
    reference: bool = context.schema.reference
    return reference


_INDEX = (
    _of_submission("CCU301", "attributes", index.missing_document),
    _of_submission("CCU302", "attributes", index.unknown_document),
)


def _of_places(table: str) -> tuple[Rule, ...]:
    return (
        _of_submission("CCU401", table, streams.negative),
        _of_submission("CCU404", table, streams.beyond_end),
        _of_submission("CCU405", table, streams.far_beyond_end),
        _of_submission("CCU406", table, streams.broken_character),
        _of_submission("CCU505", table, streams.duplicate),
        _of_submission("CCU506", table, streams.other_value),
    )


def _of_stretches(table: str) -> tuple[Rule, ...]:
    return (
        *_INDEX,
        *_of_places(table),
        _of_submission("CCU402", table, streams.reversed_stretch),
        _of_submission("CCU403", table, streams.empty_stretch),
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
    _of_submission("CCU309", "documents", index.other_output, once=True),
    _of_submission("CCU504", "instances", classes.unlisted_norm),
    _of_submission("CCU507", "instances", streams.overlap),
    _of_submission("CCU511", "instances", classes.some_without_status),
    _of_submission("CCU512", "instances", classes.none_with_status),
    _of_submission("CCU508", "instances", classes.unknown_segment),
    _of_submission("CCU510", "instances", classes.no_class),
    _of_submission("CCU513", "instances", classes.not_annotated),
    _of_submission("CCU514", "instances", classes.none_in_common, once=True),
    *_SEGMENTS,
)
ED = (
    *_of_stretches("instances"),
    *_EMOTIONS,
    _of_submission("CCU507", "instances", streams.overlap),
    _of_submission("CCU514", "instances", classes.none_in_common, once=True),
    *_SEGMENTS,
)
VD = (
    *_of_stretches("ratings"),
    _of_submission("CCU308", "documents", index.no_rows),
    _of_submission("CCU601", "ratings", streams.out_of_range),
    _of_submission("CCU603", "ratings", streams.gap),
    _of_submission("CCU604", "ratings", streams.level_overlap),
    _of_submission("CCU605", "ratings", streams.late_start),
    _of_submission("CCU606", "ratings", streams.early_end),
    _of_submission("CCU607", "ratings", streams.shared_bound),
    *_RATINGS,
    *_SEGMENTS,
)
AD = VD
CD = (
    *_INDEX,
    *_of_places("changes"),
    _of_submission("CCU701", "changes", streams.three_columns, once=True),
    _of_submission("CCU702", "changes", streams.unknown_direction),
    _of_submission("CCU703", "changes", streams.unknown_strength),
    _of_submission("CCU704", "changes", streams.not_annotated),
    *_POINTS,
    *_SEGMENTS,
)
NDMAP = (
    _of_submission("CCU711", "mappings", classes.absent_norm),
    _of_submission("CCU712", "mappings", classes.unknown_norm),
    _of_submission("CCU713", "mappings", classes.duplicate),
    _of_submission("CCU714", "mappings", classes.several_submissions),
    _of_submission("CCU715", "mappings", classes.malformed_submission),
    _of_submission("CCU716", "mappings", classes.strange_submission),
    _of_submission("CCU717", "mappings", classes.other_task),
)
REFERENCE = (*_SEGMENTS, *_NORMS, *_EMOTIONS, *_RATINGS, *_POINTS)
