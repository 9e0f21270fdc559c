"""Defaults of a folder in a campaign: what its manifest leaves open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from hlteval.results.campaign import CampaignTask, Group
from hlteval.results.config import Config
from hlteval.results.defaults import Defaults
from hlteval.tasks import load
from hlteval.workflows.campaign_manifest import WHOLE, CampaignManifest


def with_configs(manifest: CampaignManifest, configs: Mapping[str, Config]) -> CampaignManifest:
    """A manifest with the settings of a file of defaults that it does not have itself.

    Args:
        manifest: the manifest.
        configs: the file as it is for each task that it is for.
    """
    if manifest.campaign is None:
        return manifest
    tasks = dict(manifest.campaign.tasks)
    for name, config in configs.items():
        tasks[name] = msgspec.structs.replace(tasks[name], **_filled(manifest, name, config))
    campaign = msgspec.structs.replace(manifest.campaign, tasks=tasks)
    return replace(manifest, campaign=campaign)


def _filled(manifest: CampaignManifest, name: str, config: Config) -> dict[str, Any]:
    """The settings of a task that come from the file."""
    settings: CampaignTask = manifest.campaign.tasks[name]  # type: ignore[union-attr]
    added: dict[str, Any] = {key: config.values[key] for key in _open(manifest, name, config)}
    if "reference" in added:
        added["reference"] = _complete(added["reference"])
    if profile := added.pop("profile", ""):
        added["profiles"] = (profile,)
    if options := dict(_options(name, config, settings.options)):
        added["options"] = {**options, **settings.options}
    return added


def _open(manifest: CampaignManifest, name: str, config: Config) -> Iterator[str]:
    """The keys of the file that the manifest leaves open."""
    content: Mapping[str, Any] = manifest.file.content or {}
    own = content["tasks"][name]
    known = {"reference": own, "encoding": own, "profile": {**content, **own}}
    for key in config.values:
        written = "profiles" if key == "profile" else key
        alone = key == "reference" and load(name).scored_alone
        if key in known and written not in known[key] and not alone:
            yield key


def _options(name: str, config: Config, own: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The options of the file that the manifest does not have; paths are complete."""
    given = {key.replace("-", "_") for key in own}
    for option in load(name).options:
        wanted = option.name in config.options and option.name not in given
        if wanted and option.available_in("score"):
            value = config.options[option.name]
            yield option.name, _complete(value) if option.is_input else value


def _complete(value: Any) -> Any:
    if isinstance(value, list):
        return [_complete(item) for item in value]
    if not isinstance(value, str) or not value:
        return value
    return os.path.normpath(Path(value).absolute())


def defaults_of(manifest: CampaignManifest, configs: Mapping[str, Config]) -> dict[Group, Defaults]:
    """What the cells of each task, profile and condition take from a file of defaults.

    Args:
        manifest: the manifest as it was read.
        configs: the file as it is for each task that it is for.
    """
    found: dict[Group, Defaults] = {}
    for name, config in configs.items():
        settings: CampaignTask = manifest.campaign.tasks[name]  # type: ignore[union-attr]
        keys = [*_open(manifest, name, config)]
        options = dict(_options(name, config, settings.options))
        profiles = _filled(manifest, name, config).get("profiles") or manifest.profiles(settings)
        for condition, own in (settings.conditions or {"": WHOLE}).items():
            names = [key for key in keys if key != "reference" or not own.reference]
            given = {key.replace("-", "_") for key in own.options}
            names += [f"options.{option}" for option in options if option not in given]
            if names:
                defaults = Defaults(manifest.shown(_complete(config.path)), tuple(names))
                found |= {(name, profile, condition): defaults for profile in profiles}
    return found
