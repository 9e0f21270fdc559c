"""Speech Situation Frames: the metric of a profile."""

from __future__ import annotations

from hlteval.scoring.situations.official import OfficialFrameMatch
from hlteval.scoring.situations.plan import FrameMatch, Options

METRICS: dict[str, type[FrameMatch]] = {"plan": FrameMatch, "official": OfficialFrameMatch}


def frame_match(profile: str = "plan", options: Options | None = None) -> FrameMatch:
    """The metric of a profile with some options."""
    return METRICS[profile](profile, options or Options())
