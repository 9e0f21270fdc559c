"""Campaigns: many submissions to many tasks, in profiles and conditions, as one table.

What a run has to compute is a graph (`graph`), whoever computes it. Results are in a cache, so that
a run computes only what is new. Whatever goes wrong with a cell is a row of the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from hlteval.findings import Finding
from hlteval.results.campaign import CampaignResult, Cell, CellResult, CellRow, Group, Status
from hlteval.workflows import campaign_boards, campaign_work
from hlteval.workflows.campaign_cache import Cache, Input, inputs_of, key, placed
from hlteval.workflows.campaign_manifest import CampaignManifest
from hlteval.workflows.campaign_work import FAN_IN, NotOpened
from hlteval.workflows.graph import Failed, InProcess, Node, Workers
from hlteval.workflows.steps import Step, silent

BUSY = 256
"""How many parts all cells have together, where so many keep all workers busy."""
_WORK, _BOARDS = campaign_work.__name__, campaign_boards.__name__
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
