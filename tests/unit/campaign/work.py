"""The work of a campaign, in which a process is killed."""

from __future__ import annotations

from pathlib import Path

from hlteval.workflows.evaluation.campaign import begin, digest, finish
from hlteval.workflows.evaluation.campaign import count as counted
from tests.unit.campaign.graph_functions import once

__all__ = ["begin", "count", "digest", "finish"]

MARK = "killed"
"""The file beside a submission that is the sign of it."""


def count(cell, first, end, size):
    """Count batches; the process that is first with the third batch ends."""
    if first <= 2 < end:
        once(str(Path(cell.system).with_name(MARK)), "")
    return counted(cell, first, end, size)
