"""What `hlteval campaign` runs, writes and prints."""

from __future__ import annotations

from pathlib import Path

import typer

from hlteval.cli.output import publish, show_findings
from hlteval.reports import campaign as reports
from hlteval.reports.terminal import progress, remarks
from hlteval.workflows.campaign import campaign
from hlteval.workflows.campaign_files import CACHE, default_folder, prepared, write_campaign
from hlteval.workflows.campaign_manifest import read_campaign
from hlteval.workflows.campaign_workers import workers_of


def run(
    path: str, output: Path | None, cache: Path | None, workers: tuple[int, str], form: str
) -> bool:
    """Run a campaign, write its files and print it; whether all cells have numbers.

    Raises:
        Exit: with status 1, if the manifest has errors.
    """
    manifest = read_campaign(path)
    show_findings(manifest.findings)
    if not manifest.usable:
        raise typer.Exit(1)
    with workers_of(*workers) as each, progress(remarks(), "cells") as step:
        folder = prepared(output or default_folder(path))
        result = campaign(manifest, cache or folder / CACHE, workers=each, step=step)
    write_campaign(result, folder)
    show_findings(result.findings)
    publish(lambda name: reports.FORMATS[name](result), form)
    return result.complete
