"""Files of defaults, found upwards from a submission, read and checked; the demonstration.

Defaults of a folder (`workflows/config.py`) reach only the command line, as values of options
that are not given (`cli/defaults.py`), so that most workflows know nothing of them. The search
starts above the submission. Under a manifest, they fill what it leaves open
(`workflows/evaluation/campaign_files.py`, `PipelineSettings.preset`).
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from hlteval.findings import Finding
from hlteval.findings.suggest import did_you_mean
from hlteval.results.config import Config
from hlteval.sources.decoding import check_encoding
from hlteval.sources.spooling import report_write_errors
from hlteval.sources.writing import finish, merge, unfinished_path
from hlteval.tasks import is_file, is_known, load, task_names
from hlteval.tasks.generic.declaration import WrongTask
from hlteval.tasks.options import by_name, check_values, merge_options
from hlteval.tasks.task import Option, WrongOption
from hlteval.tasks.toml_file import TomlFile, read_toml
from hlteval.workflows.run.request import Selection, UnknownCode

OWN = "hlteval.toml"
#: The file of a Python project, whose table `[tool.hlteval]` has the same keys.
SHARED = "pyproject.toml"


def start_of(submission: str) -> Path:
    """The folder from which a file of defaults is searched for upwards.

    It is the folder that holds the submission: nothing inside one changes how it is judged.

    Args:
        submission: its path; `-` or an empty path for the working directory.
    """
    named = "x" if submission in {"", "-"} else submission
    return Path(os.path.normpath(Path.cwd() / named)).parent


def find(start: Path) -> Path | None:
    """The file of defaults of a folder: its own, or that of the closest folder above with one.

    In each folder, `hlteval.toml` is before `pyproject.toml`, which counts if it has the table
    `[tool.hlteval]`.
    """
    for folder in (start, *start.parents):
        for path in (folder / OWN, folder / SHARED):
            with suppress(OSError):  # a folder that may not be looked into
                if path.is_file() and (path.name == OWN or _has_table(path)):
                    return path
    return None


def _has_table(path: Path) -> bool:
    try:
        text = path.read_text("utf-8", "replace")
        return "hlteval" in text and "hlteval" in tomllib.loads(text).get("tool", {})
    except (OSError, tomllib.TOMLDecodeError, RecursionError, AttributeError):
        return False


def read_config(path: str, task: str = "") -> Config:
    """Read and check a file of defaults.

    Args:
        path: of the file; of one that is named `pyproject.toml`, the table `[tool.hlteval]`.
        task: the task that they are used for, if it is known; else that of the file.

    Raises:
        FileNotFoundError: if the file does not exist.
        hlteval.tasks.toml_file.NotToml: if it is not one file.
    """
    if Path(path).name == SHARED:
        file: TomlFile = _Table(path, Path(path).read_text("utf-8", "replace"))
        content = tomllib.loads(file.text).get("tool", {}).get("hlteval", {})
        wrong = tuple(file.schema_findings(content, "config", "CFG"))
        file = replace(file, content=None if wrong else content, findings=wrong)
    else:
        file = read_toml(path, "config", "CFG", TomlFile)
    content = file.content
    if content is None:
        return Config(path, {}, file.findings)
    if "task" in content:
        content = {**content, "task": task_path(path, content)}
    if task and content.get("task", task) != task:
        return Config(path, content, file.findings)
    findings = (*file.findings, *_check(file, content, task or content.get("task", "")))
    failed = any(finding.severity == "error" for finding in findings)
    return Config(path, {} if failed else _resolve(path, content, task), findings)


def task_path(path: str, content: Mapping[str, Any]) -> str:
    """The task of a file of defaults: a path of a declaration is one from the working directory."""
    name = str(content["task"])
    written = str(content.get("tasks", {}).get(name, name))
    return relative_path(Path(path).parent / written) if is_file(written) else written


class _Table(TomlFile):
    """The table of defaults in the file of a Python project."""

    def finding(
        self, code: str, *path: str | int, of_key: bool = False, **values: object
    ) -> Finding:
        return super().finding(code, "tool", "hlteval", *path, of_key=of_key, **values)


def _check(file: TomlFile, content: Mapping[str, Any], task: str) -> Iterator[Finding]:
    """Check a file of defaults for a task beyond its structure, key by key."""
    at = file.finding
    for name in ("reference", "against"):
        yield from _absent(file, content.get(name), name)
    for name, written in content.get("tasks", {}).items():
        yield from _absent(file, written, "tasks", name)
    for key in ("select", "ignore", "severity"):
        for index, prefix in enumerate(content.get(key, ())):
            try:
                known = Selection.parse([prefix], (), ()).select
            except UnknownCode:
                known = ()
            if not known:
                is_key = key == "severity"
                yield at("CFG107", key, prefix if is_key else index, of_key=is_key, written=prefix)
    encoding = content.get("encoding", "utf-8")
    try:
        check_encoding(encoding)
    except LookupError:
        yield at("CFG110", "encoding", encoding=encoding)
    yield from _check_task(file, content, task)


def _absent(file: TomlFile, value: object, *key: str) -> Iterator[Finding]:
    """Report the paths of a value, which may be a list, that do not exist."""
    path = Path(file.path)
    for written in value if isinstance(value, list) else [value]:
        if isinstance(written, str) and written and not (path.parent / written).exists():
            yield file.finding("CFG108", *key, path=written, file=path.name)


def _check_task(file: TomlFile, content: Mapping[str, Any], task: str) -> Iterator[Finding]:
    """Check the task of a file of defaults, its profile, and its options."""
    at, path = file.finding, Path(file.path)
    if not is_known(task):
        hint = did_you_mean(task, task_names(), "`hlteval tasks` lists them")
        yield from [at("CFG106", "task", task=task, hint=hint)] if task else ()
        return
    try:
        declared = load(task)
    except FileNotFoundError:
        yield at("CFG108", "task", path=content.get("task", task), file=path.name)
        return
    except WrongTask as error:
        reason = str(error).partition("\n")[0]
        yield at("CFG109", "task", reason=reason, task=task)
        return
    if (profile := content.get("profile", "plan")) not in declared.profiles:
        yield at("CFG109", "profile", reason=f"{task} has no profile {profile}", task=task)
    options = by_name(declared.options)
    for name, value in content.get("options", {}).items():
        option = options.get(name.replace("-", "_"))
        try:
            values = merge_options(declared, {name.replace("-", "_"): value})
            check_values(declared, values)
            if option and option.name in values:
                option.check(values[option.name])
        except WrongOption as error:
            place = ("options", name)
            yield at("CFG109", *place, of_key=not option, reason=str(error), task=task)
            continue
        if option and _names_path(option):
            yield from _absent(file, value, "options", name)


def _names_path(option: Option) -> bool:
    """Whether the value of an option is a path."""
    return not (option.switch or option.choices) and option.metavar in {"FILE", "PATH", "JAR"}


def _resolve(path: str, content: Mapping[str, Any], task: str) -> Mapping[str, Any]:
    """Return the values with paths relative to the working directory."""

    def from_here(value: Any) -> Any:
        if isinstance(value, list):
            return [from_here(item) for item in value]
        return relative_path(Path(path).parent / value)

    name = task or content.get("task", "")
    options = by_name(load(name).options if is_known(name) else ())
    paths = {name for name, option in options.items() if _names_path(option)}
    values = {
        key: from_here(value) if key in {"reference", "against"} else value
        for key, value in content.items()
    }
    if tasks := content.get("tasks"):
        values["tasks"] = {key: from_here(value) for key, value in tasks.items()}
    if written := content.get("options"):
        by_key = {key.replace("-", "_"): value for key, value in written.items()}
        values["options"] = {
            options[key].key if key in options else key: from_here(value) if key in paths else value
            for key, value in by_key.items()
        }
    return values


def relative_path(path: Path) -> str:
    """A path relative to the working directory, if there is a way.

    Examples:
        >>> relative_path(Path("runs", "..", "reference"))
        'reference'
    """
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive of Windows
        return str(path)


def config_of(path: str) -> Config | None:
    """The file of defaults that applies to a path; None if there is none.

    Args:
        path: a submission; a file of defaults itself; empty for the working directory.

    Raises:
        FileNotFoundError: if the path does not exist.
    """
    if Path(path).name in {OWN, SHARED}:
        return read_config(path)
    if path not in {"", "-"} and not Path(path).exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    found = find(start_of(path))
    return None if found is None else read_config(relative_path(found))


def unpack(folder: Path) -> None:
    """Copy the example files into a folder, all of them or none; existing files stay.

    Raises:
        FileExistsError: if a file is in the way.
        NotWritten: if the system refuses it, as a full disk does.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    with report_write_errors(folder):
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with unfinished_path(folder) as made:
        _copy(resources.files("hlteval") / "demo", made, folder)
        if folder.is_dir():
            merge(made, folder)
        else:
            finish(made, folder)


def _copy(source: Traversable, target: Path, existing: Path) -> None:
    """Copy a folder, but for the files that exist in another one."""
    target.mkdir()
    for entry in source.iterdir():
        there = existing / entry.name
        if entry.is_dir():
            _copy(entry, target / entry.name, there)
        elif not there.exists():
            (target / entry.name).write_bytes(entry.read_bytes())


def commands(folder: str) -> list[list[str]]:
    """The commands of the demonstration as lists of words, for the example files in a folder."""
    lines = (
        "validate seedev-full {}/flawed --against {}/reference",
        "explain SEE205",
        "score seedev-full -r {}/reference -s {}/system -o {}/scores",
        "score seedev-full -r {}/reference -s {}/system --profile official",
        "validate lorehlt-edl {}/entities/flawed.tab --against {}/entities/texts",
        "score hub4 -r {}/templettes/reference.tpl -s {}/templettes/system.tpl --mode both",
        "convert {}/system {}/system.jsonl --force",
    )
    return [["hlteval", *(word.replace("{}", folder) for word in line.split())] for line in lines]
