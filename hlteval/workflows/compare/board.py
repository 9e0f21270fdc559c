"""The folder of a leaderboard: its page, a report of each system, and the table in all formats.

The reports need what is known only when all systems are scored, such as intervals over the same
documents. Until then the scores of each system are kept on disk: memory has one system at a time.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from hlteval.findings import SUBMISSION, Finding, Findings
from hlteval.reports.html import write
from hlteval.reports.html.systems import leaderboard_page
from hlteval.reports.scores import Refusal
from hlteval.reports.systems import LEADERBOARD_FORMATS as FORMATS
from hlteval.reports.tables import ALL
from hlteval.reports.terminal import rendered
from hlteval.results.scores import Scores
from hlteval.results.systems import Leaderboard, RefusedSystem
from hlteval.results.verdict import SIGNED, Signature, Verdict
from hlteval.sources import writing
from hlteval.sources.writing import check_name
from hlteval.workflows.compare.comparison import leaderboard
from hlteval.workflows.run.engine import Run

INDEX, REPORTS, STEM = "index.html", "reports", "leaderboard"
FILES = {"json": "json", "tsv": "tsv", "markdown": "md", "latex": "tex"}
"""The suffix of the table in each format that is written."""
_INTERVALS = frozenset({"bootstrap", "jackknife", "confidence", "seed"})
"""The parts of a signature that say how intervals were computed."""
_LONGEST = 60


def leaderboard_in(
    output: str | Path | None,
    *arguments: Any,
    named: Callable[[Leaderboard], Leaderboard] | None = None,
    **settings: Any,
) -> Leaderboard:
    """Make a leaderboard and its folder, which is complete or not there.

    Args:
        output: path of the folder, in which an earlier leaderboard is replaced in one step; None
            for no folder.
        *arguments: those of `leaderboard`.
        named: makes of the leaderboard the one that is written and returned, such as one that names
            the source of its settings.
        **settings: the same.

    Raises:
        FileExistsError: if the folder contains anything but a leaderboard.
        Refused: if there is no leaderboard.
    """
    named = named or _unchanged
    if output is None:
        return named(leaderboard(*arguments, **settings))
    check_folder(Path(output))
    with writing(Path(output), replace=True) as folder, TemporaryDirectory() as spool:
        folder.mkdir()
        kept = _Kept(Path(spool))
        board = named(leaderboard(*arguments, visit=kept.keep, **settings))
        _write_reports(board, folder, kept)
        page = leaderboard_page(board, report_files(board))
        (folder / INDEX).write_text(page.html(), "utf-8", "backslashreplace", newline="")
        for form, suffix in FILES.items():
            text = rendered(FORMATS[form](board, ALL))
            path = folder / f"{STEM}.{suffix}"
            path.write_text(text, "utf-8", "backslashreplace", newline="")
    return board


def _unchanged(board: Leaderboard) -> Leaderboard:
    return board


def check_folder(output: Path) -> None:
    """Check that a folder is empty, absent or has a leaderboard, which is replaced.

    Raises:
        FileExistsError: if it contains anything else.
        FileNotFoundError: if the folder that it is to be in does not exist.
    """
    check_name(output)
    if not output.absolute().parent.is_dir():
        raise FileNotFoundError(f"no folder {output.absolute().parent}")
    names = {entry.name for entry in output.iterdir()} if output.is_dir() else set()
    own = {INDEX, REPORTS, *(f"{STEM}.{suffix}" for suffix in FILES.values())}
    if names - own or (names and f"{STEM}.json" not in names):
        raise FileExistsError(f"{output} contains files other than a leaderboard; use another one")


def report_files(board: Leaderboard) -> dict[str, str]:
    """The file of the report of each system, by name."""
    found = _distinct([row.name for row in board.rows])
    return {name: f"{REPORTS}/{stem}.html" for name, stem in found.items()}


def _distinct(names: Iterable[str]) -> dict[str, str]:
    """Names of files, which differ also where case does not matter.

    Examples:
        >>> list(_distinct(["Team A", "team/a", "大"]).values())
        ['Team-A', 'team-a-2', 'system']
    """
    taken: Counter[str] = Counter()
    found: dict[str, str] = {}
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_LONGEST] or "system"
        own = stem
        while taken[own.casefold()]:
            taken[stem.casefold()] += 1
            own = f"{stem}-{taken[stem.casefold()]}"
        taken[own.casefold()] += 1
        found[name] = own
    return found


class _Kept:
    """The scores of systems, on disk.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, Path] = {}

    def keep(self, name: str, run: Run) -> None:
        """Keep the scores of a system."""
        scores = run.scores()
        short = run.error_notes(paths=False)
        known = {note: short[side] for side, note in run.error_notes().items()}
        notes = tuple(known.get(note, note) for note in scores.notes)
        path = self.files.setdefault(name, self.folder / str(len(self.files)))
        with path.open("wb") as stream:
            pickle.dump(msgspec.structs.replace(scores, notes=notes), stream)

    def scores(self, name: str) -> Scores:
        """The scores of a system, which are not kept any longer."""
        path = self.files.pop(name)
        with path.open("rb") as stream:
            scores: Scores = pickle.load(stream)  # noqa: S301 - what `keep` wrote
        path.unlink()
        return scores


def _write_reports(board: Leaderboard, folder: Path, kept: _Kept) -> None:
    (folder / REPORTS).mkdir()
    files, parent = report_files(board), (f"../{INDEX}", "Leaderboard")
    refused = {system.name: system for system in board.refused}
    for row in board.rows:
        result: Scores | Refusal
        if row.name in refused:
            result = _refusal(board, refused[row.name])
        else:
            result = _named(board, row.name, kept.scores(row.name))
        write(result, folder / files[row.name], parent)


def _refusal(board: Leaderboard, system: RefusedSystem) -> Refusal:
    path = board.paths[system.name]
    verdict = _verdict(system.verdict, system.name, path)
    return Refusal(verdict, system.reason, system.help, _relative(system.blocking, path))


def _named(board: Leaderboard, name: str, scores: Scores) -> Scores:
    """The scores of a system with its name in place of its path, and its intervals."""
    systems = {own.metric: each for own in board.comparisons for each in own.systems
               if each.name == name}  # fmt: skip
    limits = {metric: own.interval for metric, own in systems.items() if own.interval}
    begins = ("[low, high]", "defaults from") if limits else ("defaults from",)
    how = [note for note in board.notes if note.startswith(begins)]
    return msgspec.structs.replace(
        scores,
        signature=_signature(scores.signature, board.signature, _INTERVALS if limits else ()),
        intervals=limits,
        notes=(*scores.notes, *how),
        verdict=_verdict(scores.verdict, name, board.paths[name]),
    )


def _signature(own: str, board: str, names: Collection[str]) -> str:
    """The signature of scores with parts of that of the board, and what defaults gave."""
    more = [part for part in Signature.parse(board).parts if part[0] in {*names, SIGNED}]
    return str(Signature((*Signature.parse(own).parts, *more)))


def _verdict(verdict: Verdict, name: str, path: str) -> Verdict:
    """A verdict with a name in place of the path of the submission, and names of files only."""
    findings = Findings(_relative(verdict.findings, path))
    paths: Mapping[str, str] = {SUBMISSION: name}
    return msgspec.structs.replace(verdict, findings=findings, paths=paths)


def _relative(findings: Sequence[Finding], path: str) -> list[Finding]:
    """Findings with the files of a submission without the folders that it is in."""
    short = PurePath(path).name
    return [
        msgspec.structs.replace(item, file=f"{short}{item.file.removeprefix(path)}")
        if item.file is not None and item.file.startswith(path)
        else item
        for item in findings
    ]
