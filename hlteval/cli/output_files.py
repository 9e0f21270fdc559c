"""Files that a command writes in addition to what it prints: `--output-file FORMAT=PATH`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import typer
from rich.console import RenderableType

from hlteval.reports.terminal import rendered
from hlteval.sources.writing import check_name, resolved

Files = Sequence[tuple[str, Path]]
"""The output format and the path of each file."""
Renderer = Callable[[str], str | RenderableType]
"""Gives a result in an output format."""


def output_files(
    assignments: Sequence[str] | None, forms: Collection[str], inputs: Iterable[str] = ()
) -> Files:
    """The files of `--output-file FORMAT=PATH`.

    Args:
        assignments: the values of the option.
        forms: the names of the output formats.
        inputs: paths that the command reads, which are never replaced; an empty one is none.

    Raises:
        BadParameter: for an unknown format, a file that is named twice or read, a folder, or a
            file in a folder that does not exist.
    """
    read = {resolved(path) for path in inputs if path not in {"", "-"}}
    seen: set[Path] = set()
    files = []
    for assignment in assignments or ():
        form, path = _parsed(assignment, forms)
        for reason in problems(path, seen, read):
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


def problems(path: Path, seen: Collection[Path], read: Collection[Path]) -> Iterator[str]:
    """Why a file cannot be written, found before the work begins."""
    target = resolved(path)
    if target in seen:
        yield f"{path} is named twice"
    if target in read:
        yield f"{path} is an input"
    check_name(target)
    if path.is_dir():
        yield f"{path} is a folder"
    elif os.path.lexists(target) and not target.is_file():
        yield f"{path} is neither a file nor a folder"
    if not target.parent.is_dir():
        yield f"no folder {path.parent}"


def write_files(files: Files, render: Renderer) -> None:
    """Write a result to each of the files; each is replaced in one step."""
    from hlteval.sources import writing

    for form, path in files:
        content = rendered(render(form))
        with writing(path, replace=True) as unfinished:
            unfinished.write_text(content, "utf-8", errors="backslashreplace", newline="")
