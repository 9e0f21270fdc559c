"""What can be chosen about the detection of norms, emotions and change points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import polars as pl

from hlteval.representation.judgments import Constants
from hlteval.scoring.ccu.criteria import Criterion

Hack = Literal["ManyRef:OneHyp", "OneRef:ManyHyp", "ManyRef:ManyHyp"]
By = Literal["class", "class-status"]


class LlrFilter(NamedTuple):
    """Which system instances are scored, by their scores.

    Attributes:
        when: as they are read, or after instances were cut and merged.
        least: the least score.
    """

    when: Literal["after_read", "after_transforms"]
    least: float


@dataclass(frozen=True)
class DetectionOptions:
    """How norms and emotions are prepared and compared.

    Attributes:
        classes: the classes that are scored; all if None.
        mapping: the norms of the system, `sys_norm`, that stand for norms of the reference,
            `ref_norm`.
        overlap: how similar a correct pair is; the scores of the first have the plain names.
        collar: seconds that a correct instance may start early or end late, in scaled scores.
        collar_text: the same in characters.
        merge_reference: segments less than this apart are merged; None for that of the profile.
        merge_reference_text: the same in characters.
        merge_reference_by: whether merged instances have the same class, or the same status too.
        merge_system: the same for instances of the system; None merges none.
        merge_system_text: the same in characters.
        merge_system_llr: the score of a merged instance.
        merge_system_by: what merged instances of the system have in common.
        min_votes: how many annotators must agree on an emotion.
        llr_filter: which system instances are scored.
        file_merge: into how many parts documents are divided; 0 for instances as they are.
        align: a rule for one instance that overlaps several.
        conflicts_unscored: whether a segment with several statuses of one norm is not scored.
        index: names of the documents that are scored; None for all.
        submission_form: whether instances have places (`regular`) or name segments of the reference
            (`open`); empty: places, and where there are none, segments.
    """

    classes: frozenset[str] | None = None
    mapping: pl.DataFrame | None = None
    overlap: tuple[Criterion, ...] = (Criterion(),)
    collar: float = 15.0
    collar_text: float = 150.0
    merge_reference: float | None = None
    merge_reference_text: float | None = None
    merge_reference_by: By = "class"
    merge_system: float | None = None
    merge_system_text: float | None = None
    merge_system_llr: Literal["min_llr", "max_llr"] = "max_llr"
    merge_system_by: By = "class"
    min_votes: int = 2
    llr_filter: LlrFilter | None = None
    file_merge: int = 0
    align: Hack | Literal[""] = ""
    conflicts_unscored: bool = False
    submission_form: Literal["", "regular", "open"] = ""
    index: frozenset[str] | None = None

    def constants(self, *, official: bool) -> Constants:
        """The constants of Appendix D; the public scorer merges only if an option asks for it."""
        seconds, characters = self.merge_reference, self.merge_reference_text
        default = None if official else Constants()
        return Constants(
            seconds=seconds if seconds is not None or not default else default.seconds,
            characters=characters if characters is not None or not default else default.characters,
            by_status=self.merge_reference_by == "class-status",
            votes=self.min_votes,
            conflicts_unscored=self.conflicts_unscored,
        )


@dataclass(frozen=True)
class ChangeOptions:
    """How change points are compared.

    Attributes:
        delta: how far a correct change point may be from that of the reference, in seconds; of
            several, the scores of the first have the plain names.
        delta_text: the same in characters.
        llr_filter: which change points of the system are scored.
        index: names of the documents that are scored; None for all.
    """

    delta: tuple[float, ...] = (10.0,)
    delta_text: tuple[float, ...] = (100.0,)
    llr_filter: LlrFilter | None = None
    index: frozenset[str] | None = None
