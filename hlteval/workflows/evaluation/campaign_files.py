"""The cache of a campaign: the result of each cell by the digest of all that it depends on.

A file takes its name when it is complete, and a file that does not have its own digest is none: so
runs at the same time, and runs that are killed, leave nothing that another run could take wrongly.
Paths are not part of a digest: findings name files below `{submission}` and `{reference}`, which
are replaced by the paths of the cell that takes them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hlteval import __version__
from hlteval.extensions import FORMATS, RULES, TASKS
from hlteval.reports.html.systems import campaign_page
from hlteval.reports.html.writing import page, write
from hlteval.reports.systems import leaderboard_tsv as tsv
from hlteval.results.config import Config
from hlteval.results.evaluation import CampaignResult, CampaignTask, Cell, CellResult, Group
from hlteval.results.systems import Comparison, Leaderboard
from hlteval.results.verdict import Defaults
from hlteval.sources.writing import check_name, check_outputs, writing
from hlteval.tasks import load
from hlteval.tasks.task import WrongOption
from hlteval.workflows.evaluation.manifests import WHOLE, CampaignManifest
from hlteval.workflows.processes.graph import LocalProcesses, Workers
from hlteval.workflows.run.verdicts import names_file

LAYOUT = 1
"""Of the entries; another one is another digest."""
_PLACES = ("{submission}", "{reference}")
_LIBRARIES = ("numpy", "polars", "pycocoevalcap", "rapidfuzz", "sacrebleu", "scipy")
"""The libraries that numbers come from."""
_EXTENSIONS = (FORMATS, RULES, TASKS)


@cache
def versions() -> dict[str, str]:
    """The versions of all that computes: hlteval, libraries, and packages that extend it.

    Examples:
        >>> "hlteval" in versions(), "polars" in versions()
        (True, True)
    """
    found = {"hlteval": __version__}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    points = [point for group in _EXTENSIONS for point in metadata.entry_points(group=group)]
    return found | {point.dist.name: point.dist.version for point in points if point.dist}


class Input(NamedTuple):
    """What the result of a cell depends on.

    Attributes:
        path: path or URL.
        encoding: of the files.
        reference_of: the task that reads some files only of a reference; empty for all files.
    """

    path: str
    encoding: str
    reference_of: str = ""


def inputs_of(cell: Cell) -> dict[str, list[Input]]:
    """What the result of a cell depends on: its sides, and the files of its options."""
    paths = {"system": [cell.system], "reference": [cell.reference] if cell.reference else []}
    for option in load(cell.task).options:
        if option.name in cell.options and (option.is_input or names_file(option)):
            value = cell.options[option.name]
            paths[f"--{option.flag}"] = value.split() if option.repeatable else [value]
    partly = cell.task if load(cell.task).hooks.reference_files else ""
    return {
        side: [Input(path, cell.encoding, partly if side == "reference" else "") for path in each]
        for side, each in paths.items()
    }


def key(cell: Cell, digests: Mapping[Input, str | None]) -> str:
    """The digest of all that the result of a cell depends on; empty where an input is not there.

    Args:
        cell: the cell.
        digests: of all inputs.
    """
    found = {side: [digests[item] for item in each] for side, each in inputs_of(cell).items()}
    if any(own is None for each in found.values() for own in each):
        return ""
    values = {
        name: value for name, value in cell.options.items() if f"--{_flag(name)}" not in found
    }
    drawn = (cell.resamples, cell.confidence, cell.seed) if cell.resamples else None
    parts = {
        "versions": versions(), "layout": LAYOUT, "task": cell.task, "profile": cell.profile,
        "lenient": cell.lenient, "encoding": cell.encoding, "options": values, "inputs": found,
        "drawn": drawn, "ranked": cell.ranked,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _flag(name: str) -> str:
    return name.replace("_", "-")


@dataclass(frozen=True)
class Cache:
    """Results in a folder.

    Attributes:
        folder: the folder.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """The file of a result."""
        return self.folder / key[:2] / f"{key}.msgpack"

    def get(self, key: str, cell: Cell, shown: Callable[[str], str]) -> CellResult | None:
        """The result of a cell; None if there is none, or its file is damaged.

        Args:
            key: its digest.
            cell: the cell.
            shown: gives a path as findings have it.
        """
        result = self.whole(key)
        if result is None:
            return None
        shown_sides = map(shown, _sides(cell))
        return placed(result.without_counts, dict(zip(_PLACES, shown_sides, strict=True)))

    def whole(self, key: str) -> CellResult | None:
        """A result with what was counted, and without the paths of findings."""
        try:
            digest, _, content = self.path(key).read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest().encode() != digest:
            return None
        return msgspec.msgpack.decode(content, type=CellResult)

    def put(self, key: str, cell: Cell, result: CellResult) -> None:
        """Keep the result of a cell.

        Raises:
            NotWritten: if the disk refuses it.
        """
        content = msgspec.msgpack.encode(
            placed(result, dict(zip(_sides(cell), _PLACES, strict=True)))
        )
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as unfinished:
            digest = hashlib.sha256(content).hexdigest().encode()
            unfinished.write_bytes(digest + b"\n" + content)


def _sides(cell: Cell) -> tuple[str, str]:
    return cell.system, cell.reference


def placed(result: CellResult, paths: Mapping[str, str]) -> CellResult:
    """A result whose findings are in files below other paths.

    Args:
        result: the result.
        paths: the new path by the old one.
    """
    findings = tuple(
        msgspec.structs.replace(finding, file=_moved(finding.file, paths))
        for finding in result.findings
    )
    return msgspec.structs.replace(result, findings=findings)


def _moved(file: str | None, paths: Mapping[str, str]) -> str | None:
    """A path below one of some folders, below its new one.

    Examples:
        >>> _moved("/runs/a/d1.a2", {"/runs/a": "runs/b"}), _moved("/runs/ab", {"/runs/a": "b"})
        ('runs/b/d1.a2', '/runs/ab')
    """
    for old, new in sorted(paths.items(), key=lambda item: -len(item[0])) if file else ():
        if file and old and (file == old or file.startswith(f"{old.rstrip('/')}/")):
            return new.rstrip("/") + file[len(old.rstrip("/")) :]
    return file


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


@contextmanager
def workers_of(jobs: int = 1, cluster: str = "") -> Iterator[Workers]:
    """The workers of a campaign, whose work ends with the context.

    Args:
        jobs: number of processes of this machine.
        cluster: address of the scheduler of a cluster, which is used instead.

    Raises:
        WrongOption: if both are given.
        NoRemoteError: if there is no cluster at the address.
    """
    if cluster and jobs > 1:
        raise WrongOption("--jobs has no effect with --cluster")
    workers: Workers
    if cluster:
        from hlteval.workflows.processes.graph import Cluster

        workers = Cluster(cluster)
    else:
        workers = LocalProcesses(jobs)
    with closing(workers):
        yield workers


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
