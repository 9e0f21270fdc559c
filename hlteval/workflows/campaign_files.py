"""The folder of a campaign: its table, its reports, and the cache of its results."""

from __future__ import annotations

from pathlib import Path

from hlteval.results.campaign import CampaignResult
from hlteval.sources.writing import check_name, writing

TABLE, CACHE = "campaign.parquet", "cache"
"""The files by which such a folder is recognised."""


def default_folder(manifest: str) -> Path:
    """The folder of a manifest, in the working directory.

    Examples:
        >>> default_folder("runs/dry-run.toml").name, default_folder("-").name
        ('dry-run', 'campaign')
    """
    return Path("campaign" if manifest == "-" else Path(manifest).stem)


def prepared(folder: Path) -> Path:
    """A folder, made if it does not exist.

    Raises:
        FileExistsError: if it is a file, or a folder that has files but is not of a campaign.
        FileNotFoundError: if the folder that is to have it does not exist.
        NotWritten: if its name is not valid.
    """
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
    """Write the table of a campaign; an old one is replaced in one step.

    Raises:
        NotWritten: if the disk refuses it.
    """
    with writing(folder / TABLE) as unfinished:
        result.to_frame().write_parquet(unfinished)
