"""The metrics of CCU phase 1 in their profiles: by the plan, or as the public scorer computes."""

from __future__ import annotations

from typing import Literal

from hlteval.scoring.ccu.change_metric import ChangeDetection
from hlteval.scoring.ccu.detection_metric import InstanceDetection
from hlteval.scoring.ccu.detections import ChangeOptions, DetectionOptions
from hlteval.scoring.ccu.level_metric import LevelDiarization
from hlteval.scoring.ccu.level_series import LevelOptions
from hlteval.scoring.ccu.official_changes import OfficialChangeDetection
from hlteval.scoring.ccu.official_files import OfficialInstanceDetection
from hlteval.scoring.ccu.official_levels import OfficialLevelDiarization


def instance_detection(
    profile: str = "plan",
    options: DetectionOptions | None = None,
    kind: Literal["norm", "emotion"] = "norm",
) -> InstanceDetection:
    """The metric of norms or emotions."""
    metrics = {"plan": InstanceDetection, "official": OfficialInstanceDetection}
    return metrics[profile](profile, options or DetectionOptions(), kind)


def change_detection(
    profile: str = "plan", options: ChangeOptions | None = None
) -> ChangeDetection:
    """The metric of change points."""
    metrics = {"plan": ChangeDetection, "official": OfficialChangeDetection}
    return metrics[profile](profile, options or ChangeOptions())


def level_diarization(
    profile: str = "plan", options: LevelOptions | None = None, kind: str = "valence"
) -> LevelDiarization:
    """The metric of valence or arousal."""
    metrics = {"plan": LevelDiarization, "official": OfficialLevelDiarization}
    return metrics[profile](profile, options or LevelOptions(), kind)
