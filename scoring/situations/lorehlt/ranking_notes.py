"""What a reader of the scores of situation frames must know."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hlteval.scoring.situations.lorehlt.scored_frames import ScoredFrames

_CRASHES = "no official score: the public scorer crashes on a submission without frames"
_EMOTIONS = (
    "no official scores of sentiments: the public scorer crashes on a sentiment without "
    "Emotion_Fear, Emotion_Anger or Emotion_Joy"
)


def notes(scored: ScoredFrames) -> Iterator[str]:
    """The notes, in order."""
    annotations = scored.annotations
    if scored.stopped:
        yield _CRASHES
    elif scored.official and scored.lacks_emotions and not annotations.options.no_sec:
        yield _EMOTIONS
    if annotations.cropped:
        most = annotations.options.max_frames
        yield (
            f"only the {most:,} most confident frames of the submission are scored; "
            f"{annotations.cropped:,} are left out"
        )
    if annotations.several:
        yield _drawn(scored)
    if scored.official and not scored.stopped:
        yield from _ties(scored)


def _drawn(scored: ScoredFrames) -> str:
    annotations = scored.annotations
    given = annotations.options.annotators is not None
    how = "given" if given else f"drawn with seed {annotations.seed}"
    number = annotations.several
    several = "1 document has" if number == 1 else f"{number:,} documents have"
    return f"{several} several annotators; one of each is {how}: see the table annotators"


def _ties(scored: ScoredFrames) -> Iterator[str]:
    ties = scored.shown.system.filter(pl.len().over("gravity") > 1)
    if scored.shown.system.height > _STABLE and ties["gain"].n_unique() > 1:
        yield (
            f"{ties.height:,} situations share their gravity with others: the order of the public "
            "scorer, and with it ndcg.standard, is that of NumPy 1.17, and another one with newer "
            "versions; vindictive and forgiving do not depend on it"
        )


_STABLE = 16
"""The public scorer's sort is stable up to this number of situations."""
