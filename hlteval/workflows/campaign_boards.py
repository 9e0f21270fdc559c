"""Leaderboards of a campaign, from what was counted of each cell: nothing is read again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

from hlteval.findings import Findings
from hlteval.results.campaign import Cell, CellResult
from hlteval.results.comparison import RefusedSystem
from hlteval.results.leaderboard import Leaderboard
from hlteval.results.verdict import Verdict
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.workflows.campaign_work import opened
from hlteval.workflows.comparison import Criteria
from hlteval.workflows.graph import Failed
from hlteval.workflows.leaderboard import assembled, usual_metrics
from hlteval.workflows.runs import Intervals, Run

FIX = "read its findings in the table of the campaign"


def board(cells: Sequence[Cell], results: Sequence[CellResult]) -> Leaderboard | Failed:
    """The leaderboard of the cells of one task, profile and condition.

    Args:
        cells: the cells.
        results: what came of each.

    Returns:
        The leaderboard; why there is none, if a metric of the cells is not computed.
    """
    computed = {name for result in results for name in result.metrics}
    if missing := [name for name in cells[0].metrics if name not in computed]:
        return Failed("error", f"{', '.join(missing)} is not computed with these options")
    try:
        return _board(cells, results)
    except WrongOption as error:
        return Failed("error", str(error))


def _board(cells: Sequence[Cell], results: Sequence[CellResult]) -> Leaderboard:
    first = cells[0]
    drawn = Intervals(first.resamples, first.confidence, first.seed)
    by = Criteria(load(first.task), first.profile, first.options, None, drawn)
    plans = [by.plan(name) for name in first.metrics or usual_metrics(by)]
    pairs = dict(
        zip((cell.submission for cell in cells), zip(cells, results, strict=True), strict=True)
    )
    runs = {
        name: _run(cell, result)
        for name, (cell, result) in pairs.items()
        if result.status == "scored"
    }
    refused = (
        _refused(cell, result) for cell, result in pairs.values() if result.status != "scored"
    )
    made: Leaderboard = msgspec.structs.replace(
        assembled(by, plans, runs),
        refused=tuple(refused),
        paths={name: cell.system for name, (cell, _) in pairs.items()},
    )
    return made


def _run(cell: Cell, result: CellResult) -> Run:
    """The run of a cell, with what was counted in it."""
    run = opened(cell)
    run.counts = [pl.read_ipc(result.counts)]
    run.files.add({side: list(files) for side, files in result.files.items()})
    run.judged = _verdict(cell, result)
    return run


def _verdict(cell: Cell, result: CellResult) -> Verdict:
    passed = result.status == "scored"
    return Verdict(
        cell.task, cell.profile, passed, Findings(result.findings),
        documents=result.documents, records=result.records,
    )  # fmt: skip


def _refused(cell: Cell, result: CellResult) -> RefusedSystem:
    blocking = tuple(each for each in result.findings if each.blocking) or result.findings
    return RefusedSystem(
        name=cell.submission,
        reason=result.reason,
        help=FIX,
        codes=tuple(sorted({each.code for each in blocking})),
        blocking=blocking,
        verdict=_verdict(cell, result),
    )
