"""Campaigns: many submissions to many tasks, as one table."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hlteval.api.arguments import Positive, checked
from hlteval.api.configs import campaign_configs
from hlteval.api.options import python_names
from hlteval.api.pipelines import PathName
from hlteval.results.campaign import CampaignResult
from hlteval.results.config import campaign_with_defaults
from hlteval.sources.inputs import Input, WrongArgument, output_path
from hlteval.workflows import campaign as workflow
from hlteval.workflows.campaign_defaults import defaults_of, with_configs
from hlteval.workflows.campaign_files import CACHE, prepared, write_campaign
from hlteval.workflows.campaign_manifest import CampaignManifest, read_campaign
from hlteval.workflows.campaign_workers import workers_of


@checked
def campaign(
    manifest: PathName,
    output: PathName | None = None,
    *,
    cache: PathName | None = None,
    jobs: Positive = 1,
    cluster: str | None = None,
    defaults: Input | None = None,
) -> CampaignResult:
    r"""Score many submissions to many tasks, in profiles and conditions, as one table.

    Args:
        manifest: the manifest of the campaign.
        output: the folder of the table and the reports; without it none are written.
        cache: the folder of the results of earlier runs; by default `cache` in the output folder.
            Without both, everything is computed.
        jobs: number of processes.
        cluster: address of the scheduler of a dask cluster that computes instead.
        defaults: a file of defaults (`hlteval.toml`) for what the manifest leaves open; none is
            looked for.

    Returns:
        The cells with what came of them.

    Raises:
        WrongArgument: for a manifest with errors, and for any other wrong argument.
        FileNotFoundError: for a path that does not exist, and without a cluster at the address.

    Examples:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "try.toml")
        ...     text = 'name = "Try"\nsubmissions.a = "a"\ntasks.hub4.reference = "gold.tpl"'
        ...     _ = path.write_text(text)
        ...     campaign(path)
        <CampaignResult: Try; 1 refused>
    """
    paths = {"manifest": manifest, "output": output, "cache": cache}
    names = {name: output_path(name, path) for name, path in paths.items() if path is not None}
    with python_names(dict(names)):
        read = read_campaign(names["manifest"])
        configs = campaign_configs(defaults, read)
        taken, read = defaults_of(read, configs), _usable(with_configs(read, configs))
        with tempfile.TemporaryDirectory() as nowhere:
            cache = Path(names["cache"]) if "cache" in names else None
            folder = Path(names.get("output", nowhere))
            folder = prepared(folder, cache, read.inputs)
            kept = cache or folder / CACHE
            with workers_of(jobs, cluster or "") as workers:
                result = workflow.campaign(read, kept, workers=workers)
        result = campaign_with_defaults(result, taken)
        if "output" in names:
            write_campaign(result, folder)
    return result


def _usable(manifest: CampaignManifest) -> CampaignManifest:
    """A manifest without errors.

    Raises:
        WrongArgument: if it has any.
    """
    for finding in manifest.findings:
        if finding.severity == "error":
            place = f"{finding.file}{finding.position}"
            raise WrongArgument(f"manifest: {place}: {finding.message} ({finding.code})")
    return manifest
