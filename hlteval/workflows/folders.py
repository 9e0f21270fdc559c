"""Files of a submission that is a folder, such as those of a commit: the folder is validated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hlteval.converters import load as load_format
from hlteval.sources.names import is_junk
from hlteval.sources.open_input import OpenInput
from hlteval.sources.signatures import ARCHIVE_SUFFIXES
from hlteval.tasks import load
from hlteval.tasks.task import Task

_INDEX = ".index.tab"
"""The end of the name of the index that some submissions have."""


def submissions(task: str, paths: Iterable[str]) -> list[str]:
    """The submissions that files belong to, each once, in order.

    If submissions to the task are folders, a file stands for its folder; archives, folders and
    standard input are submissions themselves. A folder inside another one is part of it.

    Args:
        task: name of the task.
        paths: files, and anything else that is a submission.

    Examples:
        >>> submissions("seedev-full", ["runs/1/a.a2", "runs/1/b.a2", "runs/2/a.a2", "c.zip"])
        ['runs/1', 'runs/2', 'c.zip']
        >>> submissions("hub4", ["runs/a.tpl", "runs/b.tpl"])
        ['runs/a.tpl', 'runs/b.tpl']
        >>> submissions("ccu-reference", ["ann/data/norms.tab", "ann/index_files/a.tab"])
        ['ann']
    """
    declared = load(task)
    if not declared.submitted_as_folder:
        return expand_folders(task, list(dict.fromkeys(paths)))[0]
    found = dict.fromkeys(_submission(path, declared.inner_folders) for path in paths)
    return expand_folders(task, list(_outermost(found)))[0]


def expand_folders(task: str, paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Replace folders whose members are submissions by these members.

    The members are submissions if there are several, and all of them are folders or archives; or,
    where a submission is a single file, archives or files of its format.

    Args:
        task: name of the task.
        paths: folders, and anything else that is a submission.

    Returns:
        The paths of the submissions, and a note about each folder that is replaced.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a", "b"):
        ...         _ = Path(folder, f"{name}.tpl").write_text("")
        ...     found, notes = expand_folders("hub4", [folder])
        ...     [Path(path).name for path in found], notes[0].partition(" has ")[2]
        (['a.tpl', 'b.tpl'], '2 submissions; each is one of its own')
    """
    found: list[str] = []
    notes = []
    for path in paths:
        members = _members(path, load(task))
        found += members or [path]
        if members:
            notes.append(f"{path} has {len(members)} submissions; each is one of its own")
    return list(dict.fromkeys(found)), notes


def _members(path: str, task: Task) -> list[str]:
    """The members of a folder of submissions, in order; none of anything else."""
    if isinstance(path, OpenInput) or not Path(path).is_dir():
        return []
    entries = sorted(entry for entry in Path(path).iterdir() if not is_junk(entry.name))
    files = [each for each in entries if each.is_file()]
    plain = {file.suffix for file in files if not file.name.lower().endswith(ARCHIVE_SUFFIXES)}
    if task.submitted_as_folder:
        own = task.submission_suffixes or (_INDEX,)
        folders = (each for each in entries if each.is_dir())
        alike = not plain and all(any(folder.glob(f"*{end}")) for folder in folders for end in own)
    else:
        alike = len(files) == len(entries) and plain <= {*load_format(task.format).suffixes}
    return [str(Path(path, each.name)) for each in entries] if len(entries) > 1 and alike else []


def _submission(path: str, inner: Iterable[str]) -> str:
    """The folder of a file, outside of the folders that a submission has; other paths as given."""
    if path == "-" or path.lower().endswith(ARCHIVE_SUFFIXES) or Path(path).is_dir():
        return path
    folder = Path(path).parent
    return str(folder.parent if folder.name in inner else folder)


def _outermost(paths: Iterable[str]) -> Iterator[str]:
    every = {Path(path) for path in paths}
    return (path for path in paths if every.isdisjoint(Path(path).parents))
