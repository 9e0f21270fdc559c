"""Packing of CCU: one folder named after the submission, with its tables and their index."""

import posixpath
from collections.abc import Mapping, Sequence

from hlteval.converters.ccu import submission as form
from hlteval.converters.toolkit.source_files import beginning
from hlteval.findings import Finding, finding
from hlteval.sources import Member, Source
from hlteval.validators.ccu.package import parse
from hlteval.validators.packages import Arranged, new_member, rename_files

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
    tables = [member for member in source.members if member.basename.endswith(form.SUFFIX)]
    if task == form.NDMAP:
        maps = [member for member in tables if member.basename == form.MAP_FILE] or tables
        # a single table is the mapping whatever its name
        single = form.MAP_FILE if len(maps) == 1 else ""
        return rename_files(source, {m.name: f"{name}/{single or m.basename}" for m in maps})
    tables = [member for member in tables if member.basename != form.MAP_FILE]
    indexes = [member.name for member in tables if member.basename == form.INDEX_FILE]
    root = _shared_folder(indexes[:1] or [member.name for member in tables])
    names = {m.name: f"{name}/{m.name.removeprefix(root)}" for m in tables}
    if indexes or not tables:
        return rename_files(source, names)
    index, remark = _index(tables, root, task, source.path)
    return rename_files(source, names, [new_member(f"{name}/{form.INDEX_FILE}", index)], remark)


def _shared_folder(names: Sequence[str]) -> str:
    """The folder that all files are in, with a slash at its end; empty if there is none.

    Examples:
        >>> _shared_folder(["out/nd/A1.tab", "out/nd/T1.tab"]), _shared_folder(["a/A1", "ab/T1"])
        ('out/nd/', '')
    """
    shared = posixpath.commonprefix([name.split("/")[:-1] for name in names])
    return "".join(f"{part}/" for part in shared)


def _index(tables: Sequence[Member], root: str, task: str, path: str) -> tuple[bytes, Finding]:
    """An index of tables as the plan describes it, and the warning about it."""
    lines, unprocessed = ["\t".join(("file_id", "is_processed", "message", "file_path"))], 0
    for member in tables:
        bare = task in _LEVELS and not beginning(member, _HEADER).partition("\n")[2].strip()
        unprocessed += bare
        cells = (form.stem(member), str(not bare).lower(), "", member.name.removeprefix(root))
        lines.append("\t".join(cells))
    remark = finding("PKG105", file=path, count=len(tables), unprocessed=unprocessed)
    return "".join(f"{line}\n" for line in lines).encode(), remark


def recognize(source: Source, *, task: str) -> str:
    """Say what a source has that only submissions to a task of CCU have.

    Args:
        source: the files.
        task: the task without its prefix, such as `nd`.
    """
    tables = [member for member in source.members if member.basename.endswith(form.SUFFIX)]
    if any(member.basename == form.MAP_FILE for member in tables):
        return f"has the file {form.MAP_FILE}" if task == form.NDMAP else ""
    tasks = set()
    for member in [m for m in tables if m.basename != form.INDEX_FILE][:_FIRST]:
        header = beginning(member, _HEADER).partition("\n")[0].removesuffix("\r")
        kind = form.task_of_header(header)
        if kind and kind != form.INDEX and not form.kinds()[kind].missing(header.split("\t")):
            tasks.add(kind.partition("-")[0])
    if task in tasks:
        return f"its tables have the columns of {task.upper()}"
    has_index = any(member.basename == form.INDEX_FILE for member in tables)
    return (
        f"has the file {form.INDEX_FILE}" if has_index and not tasks and task != form.NDMAP else ""
    )


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
