"""The gravity of situation frames: LoReHLT 2019, sections 16.2 to 16.2.2.

A frame is grave if it is current, urgent and unresolved. With sentiments, fear and anger make a
grave need graver, and make a current, urgent issue grave.

Conventions:
    Frames are rows as in `frame_rows`, of one side, prepared by `judged`: `status` in lower case,
    and the flags `issue`, `current`, `urgent`, `unresolved`. Gravity in the profile `plan` is
    counted in whole `PARTS` of a frame, so that sums are exact; in `official` it is a float.
"""

from __future__ import annotations

import polars as pl

from hlteval.scoring.situations.lorehlt.frame_rows import ISSUES

#: What a grave frame counts; each of fear and anger adds 1, which is 0.2 of a frame.
PARTS = 5

#: The least scope and severity of urgent frames, of 0 to 4.
_LARGE_GROUP, _INJURY = 2, 2
_LEVEL = r"^([0-4])(?:_.*)?$"
_SPEECH_STATUS = {"past only": "past"}


def judged(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames of one side with the flags on which gravity depends.

    Args:
        frames: of one side; those with an `urgency` of their own are taken at their word.

    Examples:
        >>> row = {"type": "food", "status": "current", "resolution": None, "urgency": None}
        >>> row |= {"modality": "text", "scope": "2_largegroup", "severity": "1_discomfort"}
        >>> judged(pl.DataFrame([row])).select("current", "urgent", "unresolved").row(0)
        (True, True, True)
    """
    frames = frames.cast({"urgency": pl.String, "resolution": pl.String, "status": pl.String})
    status = pl.col("status").str.to_lowercase().replace(_SPEECH_STATUS)
    sufficient = pl.col("resolution").str.to_lowercase() == "sufficient"
    return frames.with_columns(
        issue=pl.col("type").is_in(ISSUES), urgent=_urgent().fill_null(value=False), status=status
    ).with_columns(
        current=(pl.col("status") == "current").fill_null(value=False),
        unresolved=~pl.col("issue") & ~sufficient.fill_null(value=False),
    )


def _urgent() -> pl.Expr:
    """Urgency as a system gives it, or from scope and severity (section 16.2.2)."""
    scope, severity = (
        pl.col(name).str.extract(_LEVEL).cast(pl.Int64).fill_null(0) >= least
        for name, least in (("scope", _LARGE_GROUP), ("severity", _INJURY))
    )
    return pl.coalesce(pl.col("urgency").str.to_lowercase() == "true", scope | severity)


def boolean(*, official: bool) -> pl.Expr:
    """The gravity of a frame without regard to sentiments, in parts of a frame.

    Issues are not annotated for resolution, so none is grave; but the public scorer takes a system
    by its word.
    """
    grave = _current() & pl.col("urgent") & _unresolved()
    return grave.cast(pl.Int64) * (1 if official else PARTS)


def numeric(*, official: bool) -> pl.Expr:
    """The gravity of a frame with the emotions `felt_fear` and `felt_anger` (section 16.2.1)."""
    emotions = pl.col("felt_fear").cast(pl.Int64) + pl.col("felt_anger").cast(pl.Int64)
    need = _current() & pl.col("urgent") & _unresolved()
    issue = _current() & pl.col("urgent") & (emotions > 0)
    if official:  # it adds 0.2 once and again, which is not quite 0.4
        boosts = pl.when(emotions == 0).then(1.0).when(emotions == 1).then(1.2)
        graver = boosts.otherwise(1.0 + 0.2 + 0.2)
        of_issue = pl.when(emotions == 2).then(1.2).otherwise(1.0)
        nothing = 0.0
    else:
        graver, of_issue = PARTS + emotions, PARTS + emotions - 1
        nothing = 0
    own = pl.when("issue").then(pl.when(issue).then(of_issue).otherwise(nothing))
    return own.otherwise(pl.when(need).then(graver).otherwise(nothing))


def _current() -> pl.Expr:
    """Whether a frame is current; what the public scorer does not know is true for it."""
    return pl.col("current").fill_null(value=True)


def _unresolved() -> pl.Expr:
    """Whether a frame is unresolved; what the public scorer does not know is true for it."""
    return pl.col("unresolved").fill_null(value=True)


def with_emotions(frames: pl.DataFrame, sentiments: pl.DataFrame) -> pl.DataFrame:
    """Frames with the emotions of any of some sentiments, as `felt_fear` and `felt_anger`.

    Args:
        frames: of one side, with `docid` and `frame`.
        sentiments: of the same side, with those columns, `fear` and `anger`.
    """
    felt = sentiments.group_by("docid", "frame").agg(
        felt_fear=pl.col("fear").fill_null(value=False).any(),
        felt_anger=pl.col("anger").fill_null(value=False).any(),
    )
    joined = frames.join(felt, on=["docid", "frame"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("felt_fear", "felt_anger").fill_null(value=False))
