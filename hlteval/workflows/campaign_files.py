"""The folder of a campaign: its table, its reports, and the cache of its results."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import BytesIO
from itertools import count
from pathlib import Path

import msgspec

from hlteval.reports.html.campaign_page import campaign_page
from hlteval.reports.html.writing import page, write
from hlteval.reports.leaderboard import tsv
from hlteval.results.campaign import CampaignResult, Group
from hlteval.results.comparison import Comparison
from hlteval.results.leaderboard import Leaderboard
from hlteval.sources.writing import check_name, check_outputs, writing

TABLE, CACHE = "campaign.parquet", "cache"
"""The files by which such a folder is recognised."""
INDEX, BOARDS = "index.html", "leaderboards"


def default_folder(manifest: str) -> Path:
    """The folder of a manifest, in the working directory.

    Examples:
        >>> default_folder("runs/dry-run.toml").name, default_folder("-").name
        ('dry-run', 'campaign')
    """
    return Path("campaign" if manifest == "-" else Path(manifest).stem)


def prepared(folder: Path, cache: Path | None = None, inputs: Iterable[str] = ()) -> Path:
    """Make the folder of a campaign, if it does not exist.

    Args:
        folder: its path.
        cache: the folder of the cache, if it is another one.
        inputs: paths that the campaign reads, which are never replaced.

    Raises:
        FileExistsError: if it is a file, or a folder that has files but is not of a campaign, or
            if an input would be replaced.
        FileNotFoundError: if the folder that is to have it does not exist.
        NotWritten: if its name is not valid.
    """
    inputs = list(inputs)
    check_outputs([folder, cache or folder], inputs, merged=True)
    check_outputs([folder / name for name in (TABLE, INDEX, BOARDS)], inputs)
    check_name(folder)
    if not folder.exists():
        if not folder.parent.is_dir():
            raise FileNotFoundError(f"no folder {folder.parent}")
        folder.mkdir(exist_ok=True)
    if not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    names = {path.name for path in folder.iterdir()}
    if names and not names & {TABLE, CACHE}:
        raise FileExistsError(f"{folder} contains files other than a campaign; use another folder")
    return folder


def write_campaign(result: CampaignResult, folder: Path) -> None:
    """Write the table, the leaderboards and the report; old ones are replaced, each in one step.

    Raises:
        NotWritten: if the disk refuses it.
    """
    with writing(folder / TABLE) as unfinished:
        content = BytesIO()  # Polars takes no path that is not UTF-8
        result.to_frame().write_parquet(content)
        unfinished.write_bytes(content.getvalue())
    names = dict(zip(result.boards, file_names(result.boards), strict=True))
    with writing(folder / BOARDS, replace=True) as boards:
        boards.mkdir()
        for group, board in result.boards.items():
            _write_board(board, boards / names[group], result.name)
    pages = {group: f"{BOARDS}/{name}.html" for group, name in names.items()}
    write(campaign_page(result, pages), folder / INDEX)


def _write_board(board: Leaderboard, path: Path, campaign: str) -> None:
    """Write a leaderboard as a table, and the report of its first metric."""
    table, report = (path.with_name(f"{path.name}.{suffix}") for suffix in ("tsv", "html"))
    table.write_text(str(tsv(board)), "utf-8", errors="backslashreplace", newline="")
    first: Comparison = msgspec.structs.replace(board.comparisons[0], refused=board.refused)
    text = page(first, (f"../{INDEX}", campaign)).html()
    report.write_text(text, "utf-8", errors="backslashreplace", newline="")


def file_names(groups: Iterable[Group]) -> list[str]:
    """The names of the files of groups, without suffixes, each another one.

    Examples:
        >>> file_names([("hub4", "plan", ""), ("hub4", "plan", "a b"), ("hub4", "plan", "a/b")])
        ['hub4-plan', 'hub4-plan-a-b', 'hub4-plan-a-b-2']
    """
    names: list[str] = []
    for group in groups:
        name = re.sub("[^a-z0-9.]+", "-", "-".join(filter(None, group)).lower()).strip("-.")[:100]
        free = (f"{name}-{number}" if number > 1 else name for number in count(1))
        names.append(next(each for each in free if each not in names))
    return names
