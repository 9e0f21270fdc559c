"""What `hlteval campaign` runs, writes and prints."""

from __future__ import annotations

from pathlib import Path

import typer

from hlteval.cli.defaults import config_of_call, show_defaults, sound, without_effect
from hlteval.cli.output import publish, show_findings
from hlteval.reports import campaign as reports
from hlteval.reports.terminal import progress, remarks
from hlteval.results.config import Config, campaign_with_defaults
from hlteval.tasks import known
from hlteval.workflows.campaign import campaign
from hlteval.workflows.campaign_defaults import defaults_of, with_configs
from hlteval.workflows.campaign_files import CACHE, default_folder, prepared, write_campaign
from hlteval.workflows.campaign_manifest import CampaignManifest, read_campaign
from hlteval.workflows.campaign_workers import workers_of
from hlteval.workflows.config import read_config


def _configs(manifest: CampaignManifest, given: str | None) -> dict[str, Config]:
    """The file of defaults for each task of a campaign that it is for."""
    config = config_of_call(given, [manifest.file.path])
    if config is None or manifest.campaign is None:
        return {}
    names = [name for name in manifest.campaign.tasks if name in known()]
    kept = [name for name in names if config.task in {"", name}]
    if names and not kept:
        without_effect(config, ", ".join(names))
    return {name: sound(read_config(config.path, name)) for name in kept}


def run(
    path: str,
    output: Path | None,
    cache: Path | None,
    workers: tuple[int, str],
    form: str,
    defaults_file: str | None = None,
) -> bool:
    """Run a campaign, write its files and print it; whether all cells have numbers.

    Raises:
        Exit: with status 1, if the manifest has errors.
    """
    manifest = read_campaign(path)
    configs = _configs(manifest, defaults_file)
    taken = defaults_of(manifest, configs)
    manifest = with_configs(manifest, configs)
    for defaults in dict.fromkeys(taken.values()):
        show_defaults(defaults)
    show_findings(manifest.findings)
    if not manifest.usable:
        raise typer.Exit(1)
    with workers_of(*workers) as each, progress(remarks(), "cells") as step:
        folder = prepared(output or default_folder(path), cache, manifest.inputs)
        result = campaign(manifest, cache or folder / CACHE, workers=each, step=step)
    result = campaign_with_defaults(result, taken)
    write_campaign(result, folder)
    show_findings(result.findings)
    publish(lambda name: reports.FORMATS[name](result), form)
    return result.complete
