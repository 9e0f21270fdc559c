"""Files of a submission that is a folder, such as those of a commit: the folder is validated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from hlteval.sources.signatures import ARCHIVE_SUFFIXES
from hlteval.tasks import load


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
        return list(dict.fromkeys(paths))
    found = dict.fromkeys(_submission(path, declared.inner_folders) for path in paths)
    return list(_outermost(found))


def _submission(path: str, inner: Iterable[str]) -> str:
    """The folder of a file, outside of the folders that a submission has; other paths as given."""
    if path == "-" or path.lower().endswith(ARCHIVE_SUFFIXES) or Path(path).is_dir():
        return path
    folder = Path(path).parent
    return str(folder.parent if folder.name in inner else folder)


def _outermost(paths: Iterable[str]) -> Iterator[str]:
    every = {Path(path) for path in paths}
    return (path for path in paths if every.isdisjoint(Path(path).parents))
