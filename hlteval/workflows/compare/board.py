"""The folder of a leaderboard: its page, a report of each system, and the table in all formats.

The reports need what is known only when all systems are scored, such as intervals over the same
documents. Until then the scores of each system are kept on disk: memory has one system at a time.
"""

import pickle
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import msgspec

from hlteval.findings import SUBMISSION, Finding, Findings
from hlteval.reports.html import write
from hlteval.reports.html.systems import leaderboard_page
from hlteval.reports.systems import LEADERBOARD_FORMATS as FORMATS
from hlteval.reports.tables import ALL
from hlteval.reports.terminal import render_text
from hlteval.results.scores import Scores
from hlteval.results.systems import Leaderboard
from hlteval.results.verdict import SIGNED, Refusal, Signature, Verdict
from hlteval.sources import writing
from hlteval.sources.writing import check_name
from hlteval.workflows.compare.comparison import Systems, leaderboard
from hlteval.workflows.run.engine import Run
from hlteval.workflows.run.request import Request

INDEX, REPORTS, STEM = "index.html", "reports", "leaderboard"
#: The suffix of the table in each format that is written.
FILES = {"json": "json", "tsv": "tsv", "markdown": "md", "latex": "tex"}
#: The parts of a signature that say how intervals were computed.
_INTERVALS = frozenset({"bootstrap", "jackknife", "confidence", "seed"})
_LONGEST = 60


def leaderboard_in(
    output: str | Path | None,
    request: Request,
    systems: Systems,
    *,
    names: str | None = None,
    metrics: Sequence[str] = (),
    alpha: float = 0.05,
    named: Callable[[Leaderboard], Leaderboard] = lambda board: board,
) -> Leaderboard:
    """Make a leaderboard and its folder, which is complete or not there.

    Args:
        output: path of the folder, in which an earlier leaderboard is replaced in one step; None
            for no folder.
        request: this and all others are arguments of `leaderboard`.
        systems: paths of the submissions, which may have options of their own.
        names: path of a file of names.
        metrics: names of the metrics.
        alpha: the level of significance.
        named: makes the leaderboard that is written, such as one that names its settings' source.

    Raises:
        FileExistsError: if the folder contains anything but a leaderboard.
        Refused: if there is no leaderboard.
    """
    rank = partial(leaderboard, request, systems, names=names, metrics=metrics, alpha=alpha)
    if output is None:
        return named(rank())
    check_folder(Path(output))
    with writing(Path(output), replace=True) as folder, TemporaryDirectory() as spool:
        (folder / REPORTS).mkdir(parents=True)
        kept: dict[str, Path] = {}

        def keep(name: str, run: Run) -> None:
            kept[name] = Path(spool, str(len(kept)))
            with kept[name].open("wb") as stream:
                pickle.dump(run.scores(paths=False), stream)

        board = named(rank(visit=keep))
        files, refused = report_files(board), {system.name: system for system in board.refused}
        for name, file in files.items():
            path = board.paths[name]
            result: Scores | Refusal
            if system := refused.get(name):
                verdict = _verdict(system.verdict, name, path)
                blocking = _relative(system.blocking, path)
                result = Refusal(verdict, system.reason, system.help, blocking)
            else:
                with kept[name].open("rb") as stream:
                    scores: Scores = pickle.load(stream)  # noqa: S301 - what `keep` wrote
                kept[name].unlink()
                result = _report_scores(board, name, scores)
            write(result, folder / file, (f"../{INDEX}", "Leaderboard"))
        texts = {INDEX: leaderboard_page(board, files).html()}
        for form, suffix in FILES.items():
            texts[f"{STEM}.{suffix}"] = render_text(FORMATS[form](board, ALL))
        for file, text in texts.items():
            (folder / file).write_text(text, "utf-8", "backslashreplace", newline="")
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
    """Return the file of the report of each system, by name; they differ also without case."""
    taken: Counter[str] = Counter()
    files: dict[str, str] = {}
    for name in (row.name for row in board.rows):
        file = stem = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_LONGEST] or "system"
        while taken[file.casefold()]:
            taken[stem.casefold()] += 1
            file = f"{stem}-{taken[stem.casefold()]}"
        taken[file.casefold()] += 1
        files[name] = f"{REPORTS}/{file}.html"
    return files


def _report_scores(board: Leaderboard, name: str, scores: Scores) -> Scores:
    """Return scores with the name of the system in place of its path, and with its intervals.

    Their signature has what the intervals depend on, and which settings came from a file.
    """
    limits = {
        comparison.metric: system.interval
        for comparison in board.comparisons
        for system in comparison.systems
        if system.name == name and system.interval
    }
    begins = ("[low, high]", "defaults from") if limits else ("defaults from",)
    wanted = {SIGNED, *(_INTERVALS if limits else ())}
    more = [part for part in Signature.parse(board.signature).parts if part[0] in wanted]
    return msgspec.structs.replace(
        scores,
        signature=str(Signature((*Signature.parse(scores.signature).parts, *more))),
        intervals=limits,
        notes=(*scores.notes, *(note for note in board.notes if note.startswith(begins))),
        verdict=_verdict(scores.verdict, name, board.paths[name]),
    )


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
