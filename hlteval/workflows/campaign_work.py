"""The work of a campaign, in parts that any process can do: each takes and returns values.

A cell begins with `begin`, which opens its inputs. What is one batch is scored at once. Otherwise
`count` counts some batches, `merge` joins what was counted, a few parts at a time, and `finish`
judges and scores all of it. So no process reads more than one batch and its reference at a time,
and only counts and findings are moved. Each of these lists the inputs again, which for many files
takes longer than to count a batch: a cell has no more parts than keep all workers busy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from hlteval.findings import Finding
from hlteval.results.campaign import Cell, CellResult
from hlteval.results.verdict import Verdict
from hlteval.scoring.metric import Replicates
from hlteval.sources import Unreadable, open_source, sha256
from hlteval.tasks import load
from hlteval.tasks.option import WrongOption
from hlteval.workflows.batches import NothingGiven
from hlteval.workflows.checks import Checked
from hlteval.workflows.refusals import Refused
from hlteval.workflows.runs import Intervals, Run
from hlteval.workflows.scoring import conclude, opened_run
from hlteval.workflows.signatures import File

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
    reads = load(reference_of).reference_files if reference_of else None
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
        cell.task,
        cell.reference,
        cell.system,
        profile=cell.profile,
        lenient=cell.lenient,
        options=cell.options,
        alignment=False,
        encoding=cell.encoding,
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
    scores, found = run.resampled(drawn)
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
