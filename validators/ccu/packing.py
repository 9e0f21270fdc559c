"""Packing of CCU: one folder named after the submission, with its tables and their index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlteval.converters.ccu.submission_rows import (
    INDEX,
    INDEX_FILE,
    MAP_FILE,
    SUFFIX,
    kinds,
    stem,
    task_of_header,
)
from hlteval.converters.toolkit.source_files import beginning
from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source
from hlteval.validators.ccu.package import parse
from hlteval.validators.packages import Arranged, arranged, made

_MAPPING = "ndmap"
#: Tasks whose tables have rows wherever a document was processed.
_LEVELS = {"vd", "ad"}
_HEADER = 100_000
#: The number of tables that are looked at to recognize a task.
_FIRST = 3


def arrange(name: str, source: Source, *, task: str) -> Arranged:
    """The tables in one folder, with an index if there is none.

    Args:
        name: the identifier of the submission.
        source: the files of the user.
        task: the task without its prefix, such as `nd`.
    """
    tables = [member for member in source.members if member.basename.endswith(SUFFIX)]
    if task == _MAPPING:
        maps = [member for member in tables if member.basename == MAP_FILE] or tables
        return arranged(source, {m.name: f"{name}/{_of_map(m, maps)}" for m in maps})
    tables = [member for member in tables if member.basename != MAP_FILE]
    indexes = [member for member in tables if member.basename == INDEX_FILE]
    root = _folder(indexes[0].name) if indexes else _shared_folder([m.name for m in tables])
    names = {m.name: f"{name}/{m.name.removeprefix(root)}" for m in tables}
    if indexes or not tables:
        return arranged(source, names)
    index, remark = _index(tables, root, task, source.path)
    return arranged(source, names, [made(f"{name}/{INDEX_FILE}", index)], remark)


def _of_map(member: Member, maps: Sequence[Member]) -> str:
    """The name of a mapping: a single table is one whatever its name."""
    return MAP_FILE if len(maps) == 1 else member.basename


def _folder(name: str) -> str:
    """The folder of a file with a slash at its end, empty if it is in none."""
    folder, slash, _ = name.rpartition("/")
    return folder + slash


def _shared_folder(names: Sequence[str]) -> str:
    """The folder that all files are in, with a slash at its end; empty if there is none.

    Examples:
        >>> _shared_folder(["out/nd/A1.tab", "out/nd/T1.tab"]), _shared_folder(["a/A1", "ab/T1"])
        ('out/nd/', '')
    """
    folders = [_folder(name).split("/")[:-1] for name in names]
    shared = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "".join(f"{part}/" for part in shared)


def _index(tables: Sequence[Member], root: str, task: str, path: str) -> tuple[bytes, Finding]:
    """An index of tables as the plan describes it, and the warning about it."""
    lines, unprocessed = ["\t".join(("file_id", "is_processed", "message", "file_path"))], 0
    for member in tables:
        processed = task not in _LEVELS or _has_rows(member)
        unprocessed += not processed
        cells = (stem(member), str(processed).lower(), "", member.name.removeprefix(root))
        lines.append("\t".join(cells))
    values: Mapping[str, Any] = {"count": len(tables), "unprocessed": unprocessed}
    return "".join(f"{line}\n" for line in lines).encode(), finding("PKG105", file=path, **values)


def _has_rows(member: Member) -> bool:
    return bool(beginning(member, _HEADER).partition("\n")[2].strip())


def recognize(source: Source, *, task: str) -> str:
    """What a source has that only submissions to a task of CCU have.

    Args:
        source: the files.
        task: the task without its prefix, such as `nd`.
    """
    tables = [member for member in source.members if member.basename.endswith(SUFFIX)]
    if any(member.basename == MAP_FILE for member in tables):
        return f"has the file {MAP_FILE}" if task == _MAPPING else ""
    found = set(_tasks(tables))
    if task in found:
        return f"its tables have the columns of {task.upper()}"
    if not found and any(member.basename == INDEX_FILE for member in tables):
        return "" if task == _MAPPING else f"has the file {INDEX_FILE}"
    return ""


def _tasks(tables: Sequence[Member]) -> Iterator[str]:
    """The tasks that have the columns of the first tables."""
    outputs = [member for member in tables if member.basename != INDEX_FILE]
    for member in outputs[:_FIRST]:
        header = beginning(member, _HEADER).partition("\n")[0].removesuffix("\r")
        found = task_of_header(header)
        if found and found != INDEX and not kinds()[found].missing(header.split("\t")):
            yield found.partition("-")[0]


def name_parts(name: str, *, task: str) -> Mapping[str, str]:
    """The parts of an identifier of a submission to a task, by what they are.

    Args:
        name: the name of an archive without its suffix.
        task: the task without its prefix, such as `nd`.

    Examples:
        >>> parts = name_parts("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220719_110203", task="nd")
        >>> parts["team"], parts["dataset"]
        ('LCC', 'LDC2022R17-V1')
    """
    parsed = parse(name)
    return {} if parsed is None or parsed.task != task.upper() else parsed._asdict()
