"""The files of a campaign: its cache, the folder of its table and reports, and its defaults.

The cache has the result of each cell by the digest of all that it depends on.

A file takes its name when it is complete, and a file that does not have its own digest is none: so
runs at the same time, and runs that are killed, leave nothing that another run could take wrongly.
Paths are not part of a digest: findings name files below `{submission}` and `{reference}`, which
are replaced by the paths of the cell that takes them.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec

from hlteval import __version__
from hlteval.extensions import FORMATS, RULES, TASKS
from hlteval.reports.html import make_page, write
from hlteval.reports.html.systems import campaign_page
from hlteval.reports.systems import leaderboard_tsv as tsv
from hlteval.results.config import Config
from hlteval.results.evaluation import CampaignResult, Cell, CellResult, Group
from hlteval.results.systems import Comparison
from hlteval.results.verdict import Defaults
from hlteval.sources.writing import check_name, check_outputs, writing
from hlteval.tasks import load
from hlteval.tasks.options import by_name
from hlteval.workflows.evaluation.manifests import WHOLE, CampaignManifest, resolve_paths
from hlteval.workflows.run.verdicts import names_file

#: Of the entries; another one is another digest.
LAYOUT = 1
#: What is in place of the paths of a cell.
PLACES = ("{submission}", "{reference}")
#: The libraries that numbers come from.
_LIBRARIES = ("numpy", "polars", "pycocoevalcap", "rapidfuzz", "sacrebleu", "scipy")


@cache
def versions() -> dict[str, str]:
    """The versions of all that computes: hlteval, libraries, and packages that extend it.

    Examples:
        >>> "hlteval" in versions(), "polars" in versions()
        (True, True)
    """
    known = {"hlteval": __version__}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            known[name] = metadata.version(name)
    groups = (FORMATS, RULES, TASKS)
    points = [point for group in groups for point in metadata.entry_points(group=group)]
    return known | {point.dist.name: point.dist.version for point in points if point.dist}


class Input(NamedTuple):
    """An input on which the result of a cell depends.

    Attributes:
        path: path or URL.
        encoding: of the files.
        reference_of: the task that reads some files only of a reference; empty for all files.
    """

    path: str
    encoding: str
    reference_of: str = ""


def inputs_of(cell: Cell) -> dict[str, list[Input]]:
    """Return the inputs of a cell: its sides, and the files of its options."""
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
    """Return the digest of all that the result of a cell depends on; empty without an input.

    Args:
        cell: the cell.
        digests: of all inputs.
    """
    inputs = {side: [digests[item] for item in each] for side, each in inputs_of(cell).items()}
    if any(digest is None for each in inputs.values() for digest in each):
        return ""
    options = {
        name: value
        for name, value in cell.options.items()
        if f"--{name.replace('_', '-')}" not in inputs
    }
    drawn = (cell.resamples, cell.confidence, cell.seed) if cell.resamples else None
    parts = {
        "versions": versions(), "layout": LAYOUT, "task": cell.task, **load(cell.task).signed,
        "profile": cell.profile, "lenient": cell.lenient, "encoding": cell.encoding,
        "options": options, "inputs": inputs, "drawn": drawn, "ranked": cell.ranked,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


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

    def get(self, key: str) -> CellResult | None:
        """The result of a cell by its key; None if there is none, or its file is damaged."""
        try:
            digest, _, content = self.path(key).read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(content).hexdigest().encode() != digest:
            return None
        return msgspec.msgpack.decode(content, type=CellResult)

    def put(self, key: str, result: CellResult) -> None:
        """Keep the result of a cell, whose findings name files below `PLACES`.

        Raises:
            NotWritten: if the disk refuses it.
        """
        content = msgspec.msgpack.encode(result)
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as unfinished:
            digest = hashlib.sha256(content).hexdigest().encode()
            unfinished.write_bytes(digest + b"\n" + content)


def move_findings(result: CellResult, paths: Mapping[str, str]) -> CellResult:
    """Return a result whose findings are in files below other paths.

    Args:
        result: the result.
        paths: the new path by the old one.

    Examples:
        >>> from hlteval.findings import finding
        >>> found = [finding("MTS107", file=path) for path in ("/runs/a/d1.a2", "/runs/ab")]
        >>> result = CellResult(status="refused", findings=found)
        >>> result = move_findings(result, {"/runs/a": "runs/b"})
        >>> [each.file for each in result.findings]
        ['runs/b/d1.a2', '/runs/ab']
    """
    longest_first = sorted(paths.items(), key=lambda item: -len(item[0]))

    def move(file: str | None) -> str | None:
        for old, new in longest_first if file else ():
            if file and old and (file == old or file.startswith(f"{old.rstrip('/')}/")):
                return new.rstrip("/") + file[len(old.rstrip("/")) :]
        return file

    replace = msgspec.structs.replace
    findings = tuple(replace(each, file=move(each.file)) for each in result.findings)
    return replace(result, findings=findings)


#: The files by which such a folder is recognised.
TABLE, CACHE = "campaign.parquet", "cache"
INDEX, BOARDS = "index.html", "leaderboards"


def default_folder(manifest: str) -> Path:
    """The folder of a manifest, in the working directory.

    Examples:
        >>> default_folder("runs/dry-run.toml").name, default_folder("-").name
        ('dry-run', 'campaign')
    """
    return Path("campaign" if manifest == "-" else Path(manifest).stem)


def prepare_folder(folder: Path, cache: Path | None = None, inputs: Iterable[str] = ()) -> None:
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


def write_campaign(result: CampaignResult, folder: Path) -> None:
    """Write the table, the leaderboards and the report; old ones are replaced, each in one step.

    Raises:
        NotWritten: if the disk refuses it.
    """
    with writing(folder / TABLE) as unfinished:
        content = BytesIO()  # Polars takes no path that is not UTF-8
        result.to_frame().write_parquet(content)
        unfinished.write_bytes(content.getvalue())
    called = [(load(task).display_name, profile, name) for task, profile, name in result.boards]
    names = dict(zip(result.boards, file_names(called), strict=True))
    with writing(folder / BOARDS, replace=True) as boards:
        boards.mkdir()
        for group, board in result.boards.items():
            # A leaderboard is a table, and the report of its first metric.
            first: Comparison = msgspec.structs.replace(board.comparisons[0], refused=board.refused)
            report = make_page(first).html((f"../{INDEX}", result.name))
            for suffix, text in (("tsv", str(tsv(board))), ("html", report)):
                file = boards / f"{names[group]}.{suffix}"
                file.write_text(text, "utf-8", errors="backslashreplace", newline="")
    pages = {group: f"{BOARDS}/{name}.html" for group, name in names.items()}
    write(campaign_page(result, pages), folder / INDEX)


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


def with_configs(manifest: CampaignManifest, configs: Mapping[str, Config]) -> CampaignManifest:
    """Return a manifest with the settings of a file of defaults that it does not have itself.

    Args:
        manifest: the manifest.
        configs: the file as it is for each task that it is for.
    """
    defaults: dict[Group, Defaults] = {}
    tasks = dict(manifest.campaign.tasks)
    for name, config in configs.items():
        settings = tasks[name]
        values, options = _open_settings(manifest, name, config)
        added = {**values, "options": {**options, **settings.options}}
        if profile := added.pop("profile", ""):
            added["profiles"] = (profile,)
        tasks[name] = msgspec.structs.replace(settings, **added)
        for condition, own in (settings.conditions or {"": WHOLE}).items():
            names = [key for key in values if key != "reference" or not own.reference]
            declared = by_name(load(name).options)
            written = {key.replace("-", "_") for key in own.options}
            known = {declared[key].key for key in written & declared.keys()}
            names += [f"options.{option}" for option in options if option not in known]
            if names:
                path = manifest.display(_complete(config.path))
                for profile in manifest.profiles(tasks[name]):
                    defaults[name, profile, condition] = Defaults(path, tuple(names))
    campaign = msgspec.structs.replace(manifest.campaign, tasks=tasks)
    return replace(manifest, campaign=campaign, defaults=defaults)


def _open_settings(
    manifest: CampaignManifest, name: str, config: Config
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the settings and options of a file that a manifest leaves open; paths are complete."""
    content, task = manifest.file.content or {}, load(name)
    declared = content["tasks"][name]
    open_ = {"reference", "encoding", "profile"} - declared.keys()
    open_ -= {"reference"} if task.scored_alone else set()
    open_ -= {"profile"} if "profiles" in {**content, **declared} else set()
    values = {key: value for key, value in config.values.items() if key in open_}
    if "reference" in values:
        values["reference"] = _complete(values["reference"])
    known = {key.replace("-", "_") for key in declared.get("options", ())}
    options = {
        option.key: resolve_paths(value, _complete) if option.is_input else value
        for option in task.options
        if (value := config.options.get(option.key)) is not None
        if known.isdisjoint({option.key, option.name}) and option.available_in("score")
    }
    return values, options


def _complete(path: str) -> str:
    """Return a path as the program opens it from anywhere."""
    return os.path.normpath(Path(path).absolute())
