"""Defaults of a folder in a pipeline: what is not given, and what its manifest leaves open."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from hlteval.results.config import Config
from hlteval.results.defaults import Defaults
from hlteval.workflows.manifests import read_manifest


def other_tasks(config: Config, manifest: str | None) -> list[str]:
    """The tasks of a manifest that a file of defaults is not for.

    Args:
        config: the file.
        manifest: path of the manifest; None for none.
    """
    if manifest is None or not config.task:
        return []
    evaluation = read_manifest(manifest).evaluation
    return [task for task in (evaluation.tasks if evaluation else ()) if task != config.task]


def taken(config: Config, given: Mapping[str, Any], missing: Collection[str]) -> Defaults | None:
    """What a pipeline takes from a file of defaults; None if that is nothing.

    Args:
        config: the file.
        given: the settings of the pipeline, with the `options` that are given.
        missing: the settings that are not given.
    """
    names = [name for name in config.values if name in _open(given) and name in missing]
    names += [f"options.{name}" for name in config.options if name not in given["options"]]
    return Defaults(config.path, tuple(names)) if names else None


def _open(given: Mapping[str, Any]) -> list[str]:
    """The settings that a file may have; with a manifest, the task is that of each submission."""
    return ["reference", "against", "profile", *([] if given["manifest"] else ["task"])]


def with_config(
    config: Config, given: Mapping[str, Any], missing: Collection[str]
) -> dict[str, Any]:
    """The settings of a pipeline with those of a file of defaults; the arguments are of `taken`."""
    defaults = taken(config, given, missing)
    names = defaults.names if defaults else ()
    own = {name: config.values[name] for name in names if name in config.values}
    preset = {name: v for name, v in config.options.items() if name not in given["options"]}
    folder = Path() if config.task or given["task"] else Path(config.path).parent
    shown = Defaults(os.path.relpath(config.path, given["root"]), names)
    return {**given, **own, "preset": preset, "preset_folder": folder, "defaults": shown}
