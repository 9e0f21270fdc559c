"""Campaigns: submissions to tasks, in profiles and under conditions, scored into one table.

A cell begins with `begin`, which opens its inputs. What is one batch is scored at once. Otherwise
`count` counts some batches, and `finish` judges and scores all that was counted. So no process
reads more than one batch and its reference at a time, and only counts and findings are moved. Each
of these lists the inputs again, which for many files takes longer than to count a batch: a cell has
no more parts than keep all workers busy. Results are found by a digest of what they depend on
(`campaign_files.py`).
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from hlteval.findings import Finding, Findings
from hlteval.results.config import campaign_with_defaults
from hlteval.results.evaluation import CampaignResult, Cell, CellResult, CellRow, Group
from hlteval.results.systems import Leaderboard, RefusedSystem
from hlteval.results.verdict import Verdict
from hlteval.sources import Unreadable, open_source, sha256
from hlteval.tasks import load
from hlteval.tasks.task import WrongOption
from hlteval.workflows.compare.comparison import Criteria, assemble_leaderboard, usual_metrics
from hlteval.workflows.evaluation import campaign_files as files
from hlteval.workflows.evaluation.manifests import CampaignManifest
from hlteval.workflows.processes import graph
from hlteval.workflows.processes.graph import UNREAD, Failed, Node, Workers
from hlteval.workflows.run.batches import Batch, NothingGiven, Progress, no_progress
from hlteval.workflows.run.engine import Run, conclude, open_run
from hlteval.workflows.run.request import Intervals, Request
from hlteval.workflows.run.verdicts import Refused

#: How many parts a cell has at least, and all cells together, where so many keep all workers busy.
LEAST, BUSY = 8, 256
#: The module of the functions that count and score cells.
_WORK = __name__


def digest(path: str, encoding: str = "utf-8", reference_of: str = "") -> str | None:
    """Return the digest of all that is read at a path; None where there is nothing.

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
    name = "" if source.kind == "folder" else path.rstrip("/").rpartition("/")[2]
    parts = [f"{source.kind}{name}"]
    reads = load(reference_of).hooks.reference_files if reference_of else None
    for member in reads(source) if reads else source.members:
        try:
            content = sha256(member.fetch())
        except Unreadable as error:
            content = error.finding.code
        parts.append(f"{content} {member.name}")
    parts += [f"{finding.code} {finding.message}" for finding in source.findings]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def begin(cell: Cell, size: int | None) -> CellResult | Failed | int:
    """Open a cell, and score it if it is one batch.

    Args:
        cell: the cell.
        size: documents in a batch.

    Returns:
        The result of a single batch, the number of batches where there are more, or why the cell
        cannot be opened.
    """
    try:
        run = open_cell(cell)
        batches = sum(1 for _ in run.results(size))
        return finish(cell, size, count(cell, 0, 1, size)) if batches <= 1 else batches
    except FileNotFoundError as error:
        return Failed("absent", str(error.filename or error))
    except (NothingGiven, OSError, WrongOption) as error:
        return Failed("unusable", str(error))


def count(cell: Cell, first: int, end: int, size: int | None) -> list[Batch]:
    """Check and count some batches, one after the other.

    Args:
        cell: the cell.
        first: the number of the first one, from 0.
        end: the number after that of the last one.
        size: documents in a batch.
    """
    run = open_cell(cell)
    batches = [each for batch in islice(run.results(size), first, end) for each in batch]
    run.metric.finish()
    return batches


def finish(cell: Cell, size: int | None, *parts: Sequence[Batch]) -> CellResult:
    """Judge and score a cell.

    Args:
        cell: the cell.
        size: documents in a batch.
        parts: what was counted of its batches, in order.
    """
    run = open_cell(cell)
    for counted in chain.from_iterable(parts):
        run.add(counted)
    reason = ""
    try:
        conclude(run, size)
    except Refused as refused:
        reason = str(refused)
    result = CellResult(
        status="refused" if reason else "scored",
        reason=reason,
        documents=run.judged.documents,
        records=run.judged.records,
        findings=tuple(run.judged.findings),
        lasting=run.total.failure is None,
    )
    if reason:
        return result
    drawn = Intervals(cell.resamples, cell.confidence, cell.seed) if cell.resamples else None
    scores, intervals = run.estimate(drawn)
    if cell.ranked:
        table = pl.concat(run.counts).write_ipc(None, compression="zstd").getvalue()
        files = {side: tuple(files) for side, files in run.total.files.items()}
        result = msgspec.structs.replace(result, counts=table, files=files)
    return msgspec.structs.replace(
        result,
        **{
            name: getattr(scores, name) for name in ("signature", "primary", "metrics", "intervals")
        },
        resamples={
            name: tuple(None if np.isnan(value) else value for value in values.tolist())
            for name, values in intervals.replicates.items()
            if name in scores.metrics
        },
        notes=(*scores.warnings, *scores.notes),
    )


def open_cell(cell: Cell) -> Run:
    """Return the run of a cell before anything is read; its errors are those of `score`."""
    own = {name: getattr(cell, name) for name in ("profile", "lenient", "options", "encoding")}
    return open_run(Request(cell.task, cell.system, cell.reference, alignment=False, **own))


def board(cells: Sequence[Cell], results: Sequence[CellResult]) -> Leaderboard | Failed:
    """Return the leaderboard of the cells of one task, profile and condition.

    Args:
        cells: the cells.
        results: the result of each.

    Returns:
        The leaderboard; why there is none, if a metric of the cells is not computed.
    """
    first = cells[0]
    computed = {name for result in results for name in result.metrics}
    if missing := [name for name in first.metrics if name not in computed]:
        return Failed("unusable", f"{', '.join(missing)} is not computed with these options")
    drawn = Intervals(first.resamples, first.confidence, first.seed)
    by = Criteria(load(first.task), first.profile, first.options, None, drawn)
    runs: dict[str, Run] = {}
    refused = []
    try:
        plans = [by.plan(name) for name in first.metrics or usual_metrics(by)]
        for cell, result in zip(cells, results, strict=True):
            scored = result.status == "scored"
            verdict = Verdict(
                cell.task, cell.profile, scored, Findings(result.findings),
                documents=result.documents, records=result.records,
            )  # fmt: skip
            if scored:
                run = runs[cell.submission] = open_cell(cell)
                run.total.counts = [pl.read_ipc(result.counts)]
                run.total.files = {side: dict.fromkeys(own) for side, own in result.files.items()}
                run.judged = verdict
                continue
            blocking = tuple(each for each in result.findings if each.blocking) or result.findings
            refused.append(
                RefusedSystem(
                    name=cell.submission,
                    reason=result.reason,
                    help="read its findings in the table of the campaign",
                    codes=tuple(sorted({each.code for each in blocking})),
                    blocking=blocking,
                    verdict=verdict,
                )
            )
        ranked: Leaderboard = assemble_leaderboard(by, plans, runs)
    except WrongOption as error:
        return Failed("unusable", str(error))
    paths = {cell.submission: cell.system for cell in cells}
    return msgspec.structs.replace(ranked, refused=tuple(refused), paths=paths)


def campaign_in(
    folder: Path,
    manifest: CampaignManifest,
    *,
    cache: Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    step: Progress = no_progress,
) -> CampaignResult:
    """Run a campaign, whose results are kept in its folder, by some processes or a cluster.

    Args:
        folder: its folder, which is made if it does not exist.
        manifest: its manifest, which is usable.
        cache: the folder of results, if it is another one.
        jobs: number of processes of this machine.
        cluster: address of the scheduler of a cluster, which is used instead.
        step: see `campaign`.

    Raises:
        WrongOption: if a cluster and processes are given.
        NoRemoteError: if there is no cluster at the address.
        FileExistsError, FileNotFoundError, NotWritten: see `prepare_folder`.
    """
    if cluster and jobs > 1:
        raise WrongOption("--jobs has no effect with --cluster")
    with closing(graph.Cluster(cluster) if cluster else graph.LocalProcesses(jobs)) as workers:
        files.prepare_folder(folder, cache, manifest.inputs)
        return campaign(manifest, cache or folder / files.CACHE, workers=workers, step=step)


def campaign(
    manifest: CampaignManifest,
    cache: Path,
    *,
    workers: Workers,
    batch: int | None = None,
    step: Progress = no_progress,
) -> CampaignResult:
    """Run a campaign.

    Args:
        manifest: its manifest, which is usable.
        cache: the folder of results, which need not exist.
        workers: executor; this process by default.
        batch: documents at a time, by default those of the task; the numbers do not depend on it.
        step: called after each cell with the cells that are done, and their number.
    """
    cells = tuple(manifest.cells())
    run = _Campaign(manifest, cells, files.Cache(cache), workers, batch)
    rows: dict[int, CellRow] = {}
    for number, row in run.rows():
        rows[number] = row
        step(len(rows), len(cells))
    ordered = tuple(rows[number] for number in range(len(cells)))
    result = CampaignResult(manifest.campaign.name, ordered)
    boards, findings = run.boards(result.groups)
    result = msgspec.structs.replace(result, boards=boards, findings=findings)
    return campaign_with_defaults(result, manifest.defaults)


@dataclass(frozen=True)
class _Campaign:
    """One run of a campaign.

    Attributes:
        manifest: its manifest.
        cells: its cells.
        cache: the results of this and other runs.
        workers: executor.
        batch: documents at a time.
    """

    manifest: CampaignManifest
    cells: Sequence[Cell]
    cache: files.Cache
    workers: Workers
    batch: int | None

    def keys(self) -> list[str]:
        """Return the digest of all that each cell depends on."""
        of_cells = [files.inputs_of(cell) for cell in self.cells]
        asked = [*dict.fromkeys(i for sides in of_cells for each in sides.values() for i in each)]
        results = dict(self.workers.results(Node(f"{_WORK}:digest", item) for item in asked))
        values = (results[number] for number in range(len(asked)))
        texts = (value if isinstance(value, str) else None for value in values)
        digests = dict(zip(asked, texts, strict=True))
        return [files.key(cell, digests) for cell in self.cells]

    def rows(self) -> Iterator[tuple[int, CellRow]]:
        """Yield the number and the row of each cell, as soon as it is known."""
        keys = self.keys()
        same: dict[str, list[int]] = {}
        for number, key in enumerate(keys):
            if (result := self.cache.get(key)) is not None:
                yield number, self._row(self.cells[number], result, key, new=False)
            else:  # cells of the same content are one computation
                same.setdefault(key or str(number), []).append(number)
        groups = {numbers[0]: numbers for numbers in same.values()}
        for first, outcome in self.compute(list(groups)):
            rows = self.keep(groups[first], keys[first], outcome)
            yield from zip(groups[first], rows, strict=True)

    def _row(self, cell: Cell, result: CellResult, key: str, *, new: bool) -> CellRow:
        """Return the row of a cell, without what only leaderboards need."""
        sides = map(self.manifest.display, (cell.system, cell.reference))
        result = files.move_findings(result, dict(zip(files.PLACES, sides, strict=True)))
        return CellRow(cell, msgspec.structs.replace(result, counts=b"", files={}), key, new)

    def compute(self, numbers: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Yield the outcome of cells; those of several batches are computed after the others."""
        large: dict[int, int] = {}
        nodes = (Node(f"{_WORK}:begin", (self.cells[number], self.batch)) for number in numbers)
        for place, outcome in self.workers.results(nodes):
            if isinstance(outcome, int):
                large[numbers[place]] = outcome
            else:
                yield numbers[place], outcome
        order = sorted(large)
        most = max(LEAST, BUSY // max(1, len(large)))
        graphs = (self._graph(self.cells[number], large[number], most) for number in order)
        for place, outcome in self.workers.results(graphs):
            yield order[place], outcome

    def _graph(self, cell: Cell, batches: int, most: int) -> Node:
        """Return the work on a cell: its batches in parts, and what is made of them."""
        parts = min(batches, most)
        bounds = [batches * part // parts for part in range(parts + 1)]
        counts = [Node(f"{_WORK}:count", (cell, *ends, self.batch)) for ends in pairwise(bounds)]
        return Node(f"{_WORK}:finish", (cell, self.batch, *counts))

    def keep(
        self, numbers: Sequence[int], key: str, outcome: CellResult | Failed
    ) -> Iterator[CellRow]:
        """Yield the rows of cells of the same content; their result goes into the cache."""
        cells = [self.cells[number] for number in numbers]
        if isinstance(outcome, CellResult):
            paths = dict(zip((cells[0].system, cells[0].reference), files.PLACES, strict=True))
            outcome = files.move_findings(outcome, paths)
            if key and outcome.lasting:
                self.cache.put(key, outcome)
        for cell in cells:
            result = outcome
            if isinstance(result, Failed):
                problem = self._problem(cell, result)
                result = CellResult(
                    status="refused" if result.problem in UNREAD else "failed",
                    reason=f"{problem.message} ({problem.code})",
                    findings=(problem,),
                )
            yield self._row(cell, result, key, new=True)

    def _problem(self, cell: Cell, outcome: Failed) -> Finding:
        """Return the finding about a cell without numbers, at its place in the manifest."""
        file, name = self.manifest.file, cell.submission
        place: tuple[str, ...] = ("submissions", name)
        place = place if place in file.places else ("folders",)
        if outcome.problem not in UNREAD:
            crash = "its process ended with " if outcome.problem == "crashed" else ""
            reason = f"{crash}{outcome.reason}"
            return file.finding("CPN301", *place, submission=name, reason=reason)
        if outcome.problem == "unusable":
            reason = outcome.reason.replace(f"{self.manifest.base}{os.sep}", "")
            return file.finding("CPN202", *place, reason=reason, submission=name)
        sides = [
            side
            for side, inputs in files.inputs_of(cell).items()
            if outcome.reason in [item.path for item in inputs]
        ]
        if sides and sides[0] != "system":
            path = ("reference",) if sides[0] == "reference" else ("options", sides[0][2:])
            task = ("tasks", cell.task)
            place = (*task, "conditions", cell.condition, *path)
            place = place if place in file.places else (*task, *path)
        return file.finding("CPN201", *place, path=self.manifest.display(outcome.reason))

    def boards(
        self, groups: Mapping[Group, Sequence[CellRow]]
    ) -> tuple[dict[Group, Leaderboard], tuple[Finding, ...]]:
        """Return the leaderboard of each group of cells with numbers, or why there is none."""
        ranked = [
            group
            for group, rows in groups.items()
            if rows[0].cell.ranked and any(row.result.status == "scored" for row in rows)
        ]
        nodes = (Node(f"{__name__}:board", self._entries(groups[group])) for group in ranked)
        boards, findings = {}, []
        for number, board in sorted(self.workers.results(nodes), key=itemgetter(0)):
            group = ranked[number]
            if isinstance(board, Failed):
                name, place = ", ".join(filter(None, group)), ("tasks", group[0], "metrics")
                report = self.manifest.file.finding
                findings.append(report("CPN302", *place, group=name, reason=board.reason))
            else:
                boards[group] = board
        return boards, tuple(findings)

    def _entries(self, rows: Sequence[CellRow]) -> tuple[list[Cell], list[CellResult]]:
        """Return cells, and their results with the counts."""
        scored = (row.key if row.result.status == "scored" else "" for row in rows)
        whole = (self.cache.get(key) if key else None for key in scored)
        results = [kept or row.result for kept, row in zip(whole, rows, strict=True)]
        return [row.cell for row in rows], results
