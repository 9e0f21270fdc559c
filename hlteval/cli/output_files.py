"""Files that a command writes in addition to what it prints: `--output-file FORMAT=PATH`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType

from hlteval.reports.terminal import rendered
from hlteval.sources.writing import check_name, check_outputs, resolved
from hlteval.tasks.option import Option

Files = Sequence[tuple[str, Path]]
"""The output format and the path of each file."""
Renderer = Callable[[str], str | RenderableType]
"""Gives a result in an output format."""
INPUTS = frozenset(
    {"against", "annotations", "beside", "manifest", "names", "paths", "reference", "sources"}
    | {"system", "systems"}
)
"""Parameters of commands that are paths of inputs."""
OUTPUTS = frozenset({"output", "plot", "report"})
"""Parameters of commands that are paths of outputs, beside `--output-file`; `convert`, `pack`,
`campaign` and `--fix` check their own."""


def check_inputs_stay(
    arguments: Mapping[str, Any], options: Iterable[Option] = (), also: Iterable[str] = ()
) -> None:
    """Check, before the work begins, that no output of a command replaces what it reads.

    Args:
        arguments: the values of the parameters of the command, by name.
        options: the options of its task, some of which name files.
        also: further paths that are read, such as the file of defaults.

    Raises:
        FileExistsError: for an output that is an input, or part of one.
    """
    names = [*INPUTS, *(option.name for option in options if option.is_input)]
    read = [*also, *(path for name in names for path in _paths(arguments.get(name)))]
    assigned = [each.partition("=")[2] for each in arguments.get("output_file") or ()]
    written = [path for name in OUTPUTS for path in _paths(arguments.get(name))]
    check_outputs([*assigned, *written], read)


def _paths(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [str(each) for each in values if each is not None]


def output_files(assignments: Sequence[str] | None, forms: Collection[str]) -> Files:
    """The files of `--output-file FORMAT=PATH`.

    Args:
        assignments: the values of the option.
        forms: the names of the output formats.

    Raises:
        BadParameter: for an unknown format, a file that is named twice, a folder, or a file in a
            folder that does not exist.
    """
    seen: set[Path] = set()
    files = []
    for assignment in assignments or ():
        form, path = _parsed(assignment, forms)
        for reason in problems(path, seen):
            raise typer.BadParameter(f"invalid --output-file {assignment}: {reason}")
        seen.add(resolved(path))
        files.append((form, path))
    return files


def _parsed(assignment: str, forms: Collection[str]) -> tuple[str, Path]:
    from hlteval.findings.suggest import did_you_mean

    form, equals, path = assignment.partition("=")
    if not equals or not path or path == "-":
        raise typer.BadParameter(f"invalid --output-file {assignment}: use FORMAT=PATH")
    if form not in forms:
        hint = did_you_mean(form, forms, f"use one of {', '.join(forms)}")
        raise typer.BadParameter(f"invalid --output-file {assignment}: unknown format; {hint}")
    return form, Path(path)


def problems(path: Path, seen: Collection[Path]) -> Iterator[str]:
    """Why a file cannot be written, found before the work begins."""
    target = resolved(path)
    if target in seen:
        yield f"{path} is named twice"
    check_name(target)
    if path.is_dir():
        yield f"{path} is a folder"
    elif os.path.lexists(target) and not target.is_file():
        yield f"{path} is neither a file nor a folder"
    if not target.parent.is_dir():
        yield f"no folder {path.parent}"


Output = tuple[Path, Callable[[Path], object]]
"""The path of a file or folder, and the function that creates it at a path."""


def write_files(files: Files, render: Renderer, *others: Output) -> None:
    """Write a result to its files and other outputs: if one cannot be written, none is.

    Each takes its name, and replaces what was there, when all are complete.
    """
    from hlteval.sources import writing

    with ExitStack() as stack:
        for path, create in others:
            create(stack.enter_context(writing(path, replace=True)))
        for form, path in files:
            content = rendered(render(form))
            unfinished = stack.enter_context(writing(path, replace=True))
            unfinished.write_text(content, "utf-8", errors="backslashreplace", newline="")
