"""Small evaluations for tests: archives of submissions, their reference, and what came of them."""

from __future__ import annotations

import io
import os
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlteval.workflows.evaluation.pipeline_work import RANK, BoardOrder, Order, Outcome
from hlteval.workflows.processes.graph import Failed, Node
from tests.unit.campaign.demo import InProcess as Here

FIXTURES = Path(__file__).parents[3] / "fixtures"
REFERENCE = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
STREAMS = FIXTURES / "scores" / "ccu" / "reference"


def packed(files: dict[str, bytes]) -> bytes:
    """A .tgz with these files, the same bytes for the same files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def links(team: str, run: int, label: str = "GPE", checkpoint: str = "CP1") -> tuple[str, bytes]:
    """A submission of entity mentions: its name and its bytes."""
    name = f"{team}_EDL_{checkpoint}_{run}.tab"
    table = REFERENCE.replace("GPE", label).replace("R\t", f"{team}{run}\t", 1)
    return f"{name}.tgz", packed({name: table.encode()})


def streams(task: str, team: str = "LCC", second: int = 0, **more: str) -> tuple[str, bytes]:
    """A submission of CCU with the files of the fixtures, and others: its name and its bytes."""
    name = f"CCU_P1_TA1_{task.upper()}_{team}_LDC2022R17-V1_20220531_0502{second:02}"
    folder = FIXTURES / "scores" / f"ccu-{task}" / "system"
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*"))}
    files |= {f"{key.replace('_map', '.map')}.tab": text.encode() for key, text in more.items()}
    return f"{name}.tgz", packed({f"{name}/{key}": data for key, data in files.items()})


def evaluation(folder: Path, *submissions: tuple[str, bytes]) -> Path:
    """A root with these submissions, beside `reference.tab`."""
    root = folder / "root"
    (root / "submissions").mkdir(parents=True, exist_ok=True)
    (folder / "reference.tab").write_text(REFERENCE, "utf-8")
    for name, data in submissions:
        (root / "submissions" / name).write_bytes(data)
    return root


def content(root: Path) -> dict[str, bytes]:
    """All logs, results and leaderboards by path."""
    folders = (root / "logs", root / "results", root / "leaderboards")
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def processes_in(root: Path) -> list[str]:
    """The processes that work in a root; those that have just been ended get a moment."""
    found: list[str] = []
    for _ in range(100):
        folders = (path for path in Path("/proc").glob("[0-9]*/cwd") if os.access(path, os.R_OK))
        found = [str(path) for path in folders if os.path.realpath(path) == os.path.realpath(root)]
        if not found:
            break
        time.sleep(0.05)
    return found


@dataclass(frozen=True)
class InProcess:
    """Does the work in this process, in the root of the evaluation."""

    root: Path

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The outcome of each order."""
        for number, node in enumerate(roots):
            with chdir(self.root):
                ((_, outcome),) = Here().results([node])
            yield number, outcome

    def close(self) -> None:
        """Nothing is left to end."""


class Doubles:
    """Workers that call a method with each order."""

    def outcome(self, order: Order) -> Outcome | Failed:
        """The outcome of an order."""
        raise NotImplementedError

    def rank(self, order: BoardOrder) -> Outcome | Failed:
        """Write the names of its submissions as a leaderboard."""
        folder = Path(order.output)
        folder.mkdir()
        (folder / "index.html").write_text("\n".join(order.systems), "utf-8")
        return Outcome("ranked")

    def results(self, roots: Iterable[Node]) -> Iterator[tuple[int, Any]]:
        """The outcome of each order."""
        for number, node in enumerate(roots):
            make = self.rank if node.function == RANK else self.outcome
            yield number, make(*node.arguments)

    def close(self) -> None:
        """Nothing is left to end."""
