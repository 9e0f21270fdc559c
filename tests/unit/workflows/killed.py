"""The opening of a check in a worker of a cluster that is killed once, or that cannot open it."""

from __future__ import annotations

from hlteval.workflows.run import engine
from hlteval.workflows.run.checks import Check
from hlteval.workflows.run.request import Request
from tests.unit.campaign.graph_functions import once


def open_check(mark: str, request: Request) -> Check:
    """Open a check; the process that does it first ends."""
    once(mark, "")
    return engine.open_check(request)


def fail(request: Request) -> Check:
    """Open nothing."""
    raise FileNotFoundError(request.system)
