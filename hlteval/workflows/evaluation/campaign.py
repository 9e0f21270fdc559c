"""The work of a campaign, in parts that any process can do: each takes and returns values.

A cell begins with `begin`, which opens its inputs. What is one batch is scored at once. Otherwise
`count` counts some batches, `merge` joins what was counted, a few parts at a time, and `finish`
judges and scores all of it. So no process reads more than one batch and its reference at a time,
and only counts and findings are moved. Each of these lists the inputs again, which for many files
takes longer than to count a batch: a cell has no more parts than keep all workers busy.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from hlteval.findings import Finding, Findings
from hlteval.results.evaluation import CampaignResult, Cell, CellResult, CellRow, Group
from hlteval.results.evaluation import CellStatus as Status
from hlteval.results.systems import Leaderboard, RefusedSystem
from hlteval.results.verdict import Verdict
from hlteval.scoring.metric import Replicates
from hlteval.sources import Unreadable, open_source, sha256
from hlteval.tasks import load
from hlteval.tasks.task import WrongOption
from hlteval.workflows.compare.comparison import Criteria, assembled, usual_metrics
from hlteval.workflows.evaluation.campaign_files import Cache, Input, inputs_of, key, placed
from hlteval.workflows.evaluation.manifests import CampaignManifest
from hlteval.workflows.processes.batches import Step, silent
from hlteval.workflows.processes.graph import Failed, InProcess, Node, Workers
from hlteval.workflows.run.batches import NothingGiven
from hlteval.workflows.run.engine import Run, conclude, opened_run
from hlteval.workflows.run.reference import Checked
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import File, Refused

FAN_IN = 8
"""How many parts are merged at a time."""


@dataclass(frozen=True)
class NotOpened:
    """Why a cell cannot be opened.

    Attributes:
        kind: `absent` for a path that does not exist, `unusable` for anything else.
        reason: the path, or the reason in words.
    """

    kind: Literal["absent", "unusable"]
    reason: str


@dataclass(frozen=True)
class Part:
    """What was found and counted in some batches of a cell.

    Attributes:
        checked: of each batch, in order.
        counts: of each batch; all as one table after a merge.
        files: that were read, by side.
        uncounted: whether there are batches that were only checked.
        failure: why nothing can be counted.
    """

    checked: tuple[Checked, ...] = ()
    counts: tuple[pl.DataFrame, ...] = ()
    files: Mapping[str, list[File]] = field(default_factory=dict)
    uncounted: bool = False
    failure: Finding | None = None


def digest(path: str, encoding: str = "utf-8", reference_of: str = "") -> str | None:
    """The digest of all that is read at a path; None where there is nothing.

    The name of a single file or archive is part of it, because it can be that of a document.

    Args:
        path: path or URL.
        encoding: of the files.
        reference_of: the task whose reference it is, if that reads some of the files only.
    """
    try:
        source = open_source(path, encoding=encoding)
    except (FileNotFoundError, PermissionError):
        return None
    whole = hashlib.sha256(source.kind.encode())
    if source.kind != "folder":
        whole.update(path.rstrip("/").rpartition("/")[2].encode("utf-8", "surrogateescape"))
    reads = load(reference_of).hooks.reference_files if reference_of else None
    for member in reads(source) if reads else source.members:
        try:
            own = sha256(member.fetch())
        except Unreadable as error:
            own = error.finding.code
        whole.update(f"\n{own} {member.name}".encode("utf-8", "surrogateescape"))
    for finding in source.findings:
        whole.update(f"\n{finding.code} {finding.message}".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def begin(cell: Cell, size: int | None) -> CellResult | NotOpened | int:
    """Open a cell, and score it if it is one batch.

    Args:
        cell: the cell.
        size: documents in a batch.

    Returns:
        The result of a single batch, the number of batches where there are more, or why the cell
        cannot be opened.
    """
    try:
        run = opened(cell)
        batches = sum(1 for _ in run.results(size))
        return finish(cell, size, count(cell, 0, 1, size)) if batches <= 1 else batches
    except FileNotFoundError as error:
        return NotOpened("absent", str(error.filename or error))
    except (NothingGiven, OSError, WrongOption) as error:
        return NotOpened("unusable", str(error))


def count(cell: Cell, first: int, end: int, size: int | None) -> Part:
    """Check and count some batches, one after the other.

    Args:
        cell: the cell.
        first: the number of the first one, from 0.
        end: the number after that of the last one.
        size: documents in a batch.
    """
    run = opened(cell)
    found = [each for batch in islice(run.results(size), first, end) for each in batch]
    run.metric.finish()
    files: dict[str, list[File]] = {}
    for each in found:
        for side, names in each.files.items():
            files.setdefault(side, []).extend(names)
    return Part(
        tuple(each.checked for each in found),
        tuple(each.counts for each in found if each.counts is not None),
        files,
        any(each.counts is None for each in found),
        next((each.failure for each in found if each.failure), None),
    )


def merge(*parts: Part) -> Part:
    """What was found and counted in the batches of several parts, which are in order."""
    counts = [table for part in parts for table in part.counts]
    sides = dict.fromkeys(side for part in parts for side in part.files)
    return Part(
        tuple(each for part in parts for each in part.checked),
        (pl.concat(counts),) if counts else (),
        {side: [file for part in parts for file in part.files.get(side, ())] for side in sides},
        any(part.uncounted for part in parts),
        next((part.failure for part in parts if part.failure), None),
    )


def finish(cell: Cell, size: int | None, *parts: Part) -> CellResult:
    """Judge and score a cell.

    Args:
        cell: the cell.
        size: documents in a batch.
        parts: what was found and counted in its batches, in order.
    """
    run = opened(cell)
    _fill(run, merge(*parts))
    try:
        conclude(run, size)
    except Refused as refused:
        return msgspec.structs.replace(_refused(refused), lasting=run.failure is None)
    return _scored(run, cell)


def opened(cell: Cell) -> Run:
    """The run of a cell before anything is read; its errors are those of `score`."""
    return opened_run(
        Request(
            cell.task,
            cell.system,
            cell.reference,
            profile=cell.profile,
            lenient=cell.lenient,
            options=cell.options,
            alignment=False,
            encoding=cell.encoding,
        )
    )


def _fill(run: Run, part: Part) -> None:
    """Add to a run what was found and counted in all batches."""
    for checked in part.checked:
        run.check.add(checked)
    run.files.add(part.files)
    run.counts += part.counts
    run.uncounted = part.uncounted
    if part.failure is not None:
        run.failure = part.failure
        run.check.findings.append(part.failure)


def _scored(run: Run, cell: Cell) -> CellResult:
    drawn = Intervals(cell.resamples, cell.confidence, cell.seed) if cell.resamples else None
    scores, found = run.estimate(drawn)
    return CellResult(
        status="scored",
        signature=scores.signature,
        primary=scores.primary,
        metrics=scores.metrics,
        intervals=scores.intervals,
        resamples=_plain(found.replicates, scores.metrics),
        notes=(*scores.warnings, *scores.notes),
        counts=_as_bytes(run.counts) if cell.ranked else b"",
        files={side: tuple(files) for side, files in run.files.read.items()} if cell.ranked else {},
        **_judged(scores.verdict),
    )


def _as_bytes(counts: Sequence[pl.DataFrame]) -> bytes:
    """What was counted, in Arrow's format."""
    return pl.concat(counts).write_ipc(None, compression="zstd").getvalue()


def _refused(refused: Refused) -> CellResult:
    return CellResult(status="refused", reason=str(refused), **_judged(refused.verdict))


def _judged(verdict: Verdict) -> dict[str, Any]:
    return {
        "documents": verdict.documents,
        "records": verdict.records,
        "findings": tuple(verdict.findings),
    }


def _plain(
    replicates: Replicates, values: Mapping[str, float | None]
) -> dict[str, tuple[float | None, ...]]:
    """The values of resamples as numbers; None where they are undefined."""
    return {
        name: tuple(None if np.isnan(value) else value for value in drawn.tolist())
        for name, drawn in replicates.items()
        if name in values
    }


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
        _campaign_boards_refused(cell, result)
        for cell, result in pairs.values()
        if result.status != "scored"
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


def _campaign_boards_refused(cell: Cell, result: CellResult) -> RefusedSystem:
    blocking = tuple(each for each in result.findings if each.blocking) or result.findings
    return RefusedSystem(
        name=cell.submission,
        reason=result.reason,
        help=FIX,
        codes=tuple(sorted({each.code for each in blocking})),
        blocking=blocking,
        verdict=_verdict(cell, result),
    )


BUSY = 256
"""How many parts all cells have together, where so many keep all workers busy."""
_WORK, _BOARDS = __name__, __name__
"""Where the functions of nodes are."""


def campaign(
    manifest: CampaignManifest,
    cache: Path,
    *,
    workers: Workers | None = None,
    batch: int | None = None,
    step: Step = silent,
) -> CampaignResult:
    """Run a campaign.

    Args:
        manifest: its manifest, which is usable.
        cache: the folder of results, which need not exist.
        workers: who computes; this process by default.
        batch: documents at a time, by default those of the task; the numbers do not depend on it.
        step: called after each cell with the cells that are done, and their number.
    """
    cells = tuple(manifest.cells())
    run = _Run(manifest, cells, Cache(cache), workers or InProcess(), batch)
    done: dict[int, CellRow] = {}
    for number, row in run.rows():
        done[number] = row
        step(len(done), len(cells))
    rows = tuple(done[number] for number in range(len(cells)))
    result = CampaignResult(manifest.campaign.name if manifest.campaign else "", rows)
    boards = run.boards(result.groups)
    made = {group: board for group, board in boards.items() if not isinstance(board, Failed)}
    found = (run.unranked(*item) for item in boards.items() if isinstance(item[1], Failed))
    return msgspec.structs.replace(result, boards=made, findings=tuple(found))


@dataclass(frozen=True)
class _Run:
    """One run of a campaign.

    Attributes:
        manifest: its manifest.
        cells: its cells.
        cache: the results of this and other runs.
        workers: who computes.
        batch: documents at a time.
    """

    manifest: CampaignManifest
    cells: Sequence[Cell]
    cache: Cache
    workers: Workers
    batch: int | None

    def rows(self) -> Iterator[tuple[int, CellRow]]:
        """The number of each cell with its row, as soon as it is known."""
        keys = self._keys()
        waiting = []
        for number, cell in enumerate(self.cells):
            held = self.cache.get(keys[number], cell, self.manifest.shown) if keys[number] else None
            if held is None:
                waiting.append(number)
            else:
                yield number, CellRow(cell, held, keys[number], new=False)
        # Cells of the same content are one computation.
        groups: dict[str, list[int]] = {}
        for number in waiting:
            groups.setdefault(keys[number] or str(number), []).append(number)
        for number, result in self._computed([group[0] for group in groups.values()]):
            yield from self._kept(groups[keys[number] or str(number)], keys[number], result)

    def boards(self, groups: Mapping[Group, Sequence[CellRow]]) -> dict[Group, Any]:
        """The leaderboards of groups of cells with numbers, or why there is none (`Failed`)."""
        ranked = [
            group
            for group, rows in groups.items()
            if rows[0].cell.ranked and any(row.result.status == "scored" for row in rows)
        ]
        nodes = (Node(f"{_BOARDS}:board", self._entries(groups[group])) for group in ranked)
        found = dict(self.workers.results(nodes))
        return {group: found[number] for number, group in enumerate(ranked)}

    def unranked(self, group: Group, failed: Failed) -> Finding:
        """The finding about a leaderboard that could not be made."""
        place = ("tasks", group[0], "metrics")
        title = ", ".join(filter(None, group))
        return self.manifest.file.finding("CPN302", *place, group=title, reason=failed.reason)

    def _entries(self, rows: Sequence[CellRow]) -> tuple[list[Cell], list[CellResult]]:
        """Cells, and their results with what was counted."""
        kept = [self.cache.whole(row.key) if row.key else None for row in rows]
        results = [
            own if row.result.status == "scored" and own else row.result
            for row, own in zip(rows, kept, strict=True)
        ]
        return [row.cell for row in rows], results

    def _keys(self) -> list[str]:
        """The key of each cell."""
        asked = dict.fromkeys(
            item for cell in self.cells for each in inputs_of(cell).values() for item in each
        )
        nodes = [Node(f"{_WORK}:digest", item) for item in asked]
        found = dict(self.workers.results(nodes))
        digests: dict[Input, str | None] = {
            item: value if isinstance(value := found[number], str) else None
            for number, item in enumerate(asked)
        }
        return [key(cell, digests) for cell in self.cells]

    def _computed(self, numbers: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """What comes of some cells; those of several batches are computed after the others."""
        large: dict[int, int] = {}
        nodes = (Node(f"{_WORK}:begin", (self.cells[number], self.batch)) for number in numbers)
        for place, found in self.workers.results(nodes):
            if isinstance(found, int):
                large[numbers[place]] = found
            else:
                yield numbers[place], found
        order = sorted(large)
        most = max(FAN_IN, BUSY // max(1, len(large)))
        trees = (
            self._tree(self.cells[number], large[number], min(large[number], most))
            for number in order
        )
        for place, found in self.workers.results(trees):
            yield order[place], found

    def _tree(self, cell: Cell, batches: int, parts: int) -> Node:
        """The work on a cell: parts of its batches, and what was counted merged in a tree."""
        bounds = [batches * part // parts for part in range(parts + 1)]
        level = [Node(f"{_WORK}:count", (cell, *own, self.batch)) for own in pairwise(bounds)]
        while len(level) > FAN_IN:
            groups = (level[first : first + FAN_IN] for first in range(0, len(level), FAN_IN))
            level = [Node(f"{_WORK}:merge", tuple(parts)) for parts in groups]
        return Node(f"{_WORK}:finish", (cell, self.batch, *level))

    def _kept(self, numbers: Sequence[int], key: str, found: Any) -> Iterator[tuple[int, CellRow]]:
        """The rows of cells of the same content; their result goes into the cache."""
        first = self.cells[numbers[0]]
        if not isinstance(found, CellResult):
            for number in numbers:
                cell = self.cells[number]
                yield number, CellRow(cell, self._failed(cell, found), key, new=True)
            return
        if key and found.lasting:
            self.cache.put(key, first, found)
        for number in numbers:
            cell = self.cells[number]
            moved = {
                first.system: self.manifest.shown(cell.system),
                first.reference: self.manifest.shown(cell.reference),
            }
            result = placed(found.without_counts, moved)
            yield number, CellRow(cell, result, key, new=True)

    def _failed(self, cell: Cell, found: NotOpened | Failed) -> CellResult:
        """The result of a cell without numbers, with the finding that says why."""
        finding = self._finding(cell, found)
        status: Status = "refused" if isinstance(found, NotOpened) else "failed"
        reason = f"{finding.message} ({finding.code})"
        return CellResult(status=status, reason=reason, findings=(finding,))

    def _finding(self, cell: Cell, found: NotOpened | Failed) -> Finding:
        at = self.manifest.file.finding
        place = self._place(cell)
        if isinstance(found, Failed):
            return at("CPN301", *place, submission=cell.submission, reason=found.reason)
        if found.kind == "unusable":
            reason = found.reason.replace(f"{self.manifest.base}{os.sep}", "")
            return at("CPN202", *place, reason=reason, submission=cell.submission)
        paths = {side: [item.path for item in each] for side, each in inputs_of(cell).items()}
        named = next((side for side, each in paths.items() if found.reason in each), "system")
        task = ("tasks", cell.task)
        condition = (*task, "conditions", cell.condition)
        places = {
            "system": place,
            "reference": (*condition, "reference"),
        }
        path = places.get(named, (*condition, "options", named.removeprefix("--")))
        if path not in self.manifest.file.places and named != "system":
            path = (*task, *path[len(condition) :])
        return at("CPN201", *path, path=self.manifest.shown(found.reason))

    def _place(self, cell: Cell) -> tuple[str, ...]:
        """Where the manifest names a submission."""
        place = ("submissions", cell.submission)
        return place if place in self.manifest.file.places else ("folders",)
