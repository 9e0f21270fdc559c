"""Files that a command writes in addition to what it prints: `--output-file FORMAT=PATH`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional
from warnings import catch_warnings, filterwarnings

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.cli.commands import usage
from hlteval.cli.defaults import show_defaults
from hlteval.reports.terminal import Prose, note, remarks, rendered, results, warning, write
from hlteval.sources.writing import check_name, check_outputs, resolved
from hlteval.tasks.task import Option

if TYPE_CHECKING:
    from hlteval.findings import Finding
    from hlteval.reports.html import Result
    from hlteval.reports.tables import View
    from hlteval.results.packages import Conversion
    from hlteval.results.scores import Scores
    from hlteval.results.systems import Comparison, Leaderboard, RefusedSystem
    from hlteval.results.verdict import Defaults, FixedCopy, Verdict

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


def show(renderable: RenderableType) -> None:
    """Print a table or a text."""
    write(results(), renderable)


def publish(render: Renderer, form: str, files: Files = (), others: Iterable[Output] = ()) -> None:
    """Print a result in an output format, after it is written to files and other outputs."""
    write_files(files, render, *others)
    write(results(), render(form))


def show_verdict(
    verdict: Verdict,
    form: str,
    max_findings: int | None = None,
    files: Files = (),
    others: Iterable[Output] = (),
) -> None:
    """Print a verdict and write it to files, in text with a maximum of findings per file."""
    from hlteval.reports import findings, text

    limit = text.MAX_FINDINGS if max_findings is None else max_findings
    publish(lambda name: findings.render(verdict, name, limit), form, files, others)


def show_fixes(
    copy: FixedCopy,
    form: str,
    max_findings: int | None = None,
    files: Files = (),
    others: Iterable[Output] = (),
) -> None:
    """Print what was corrected and the verdict over the copy, and write it to files.

    JSON has the corrections; beside formats that cannot show them they are on standard error.
    """
    from hlteval.reports import findings
    from hlteval.reports import packages as fixes
    from hlteval.reports import text as reports_text

    limit = reports_text.MAX_FINDINGS if max_findings is None else max_findings

    def render(name: str) -> str | RenderableType:
        if name == "json":
            return fixes.fixes_json(copy)
        rest = findings.render(copy.verdict, name, limit)
        return rest if isinstance(rest, str) else Group(fixes.fixes_text(copy), rest)

    publish(render, form, files, others)
    if form not in {"text", "json"}:
        write(remarks(), fixes.fixes_text(copy))


@contextmanager
def refusals(
    form: str,
    files: Files = (),
    command: Sequence[str] = (),
    report: Path | None = None,
    defaults: Defaults | None = None,
) -> Iterator[None]:
    """Report why a submission was not scored, with its findings and the fix; exit code 1.

    JSON goes to standard output and to files; other formats have no place for a refusal, so that
    it is printed to standard error as text.

    Args:
        form: the output format.
        files: files to write, in which formats.
        command: the command that reports all findings of the submission.
        report: the file of `--report`, which says why; None for none.
        defaults: what was taken from a file of defaults.
    """
    from hlteval.reports.scores import Refusal
    from hlteval.workflows.run.verdicts import Refused

    try:
        yield
    except Refused as refused:
        show_defaults(defaults)
        refusal = Refusal(refused.verdict, str(refused), refused.fix, refused.blocking, command)
        known: dict[str, Callable[[], str | RenderableType]]
        known = {"json": refusal.as_json, "text": refusal.as_text}
        shown = [pair for pair in files if pair[0] in known]
        write_files(shown, lambda name: known[name](), *report_output(refusal, report))
        if form == "json":
            write(results(), refusal.as_json())
        write(remarks(), refusal.summary() if form == "json" else refusal.as_text())
        for name, path in files:
            if name not in known:
                write(remarks(), Prose(f"{path} is not written: {name} cannot show a refusal"))
        raise typer.Exit(1) from refused


def show_conversion(conversion: Conversion, form: str, files: Files = ()) -> None:
    """Print what a conversion wrote and lost, and write it to files; text is on standard error."""
    from hlteval.reports.packages import CONVERSION_FORMATS as FORMATS

    write_files(files, lambda name: FORMATS[name](conversion))
    if form == "text":
        show_findings(conversion.findings)
    else:
        write(results(), FORMATS[form](conversion))


def show_findings(findings: Sequence[Finding]) -> None:
    """Print findings to standard error, if there are any."""
    from hlteval.findings import Findings
    from hlteval.reports.findings import render
    from hlteval.results.verdict import Verdict

    if findings:
        passed = not any(finding.severity == "error" for finding in findings)
        write(remarks(), render(Verdict("", "", passed, Findings(findings))))


def check_folder(output: Path | None) -> None:
    """Check that an output folder, if any, is empty, absent or has scores, which are replaced.

    Raises:
        FileExistsError: if the folder contains any other file.
    """
    from hlteval.reports.scores import MAIN
    from hlteval.sources.writing import check_name

    if output:
        check_name(output)
    names = {entry.name for entry in output.iterdir()} if output and output.is_dir() else set()
    foreign = any(not name.endswith((".tsv", ".tab", ".json", ".txt")) for name in names)
    if foreign or (names and MAIN not in names):
        raise FileExistsError(f"{output} contains files other than scores; use another folder")


def show_scores(
    scores: Scores,
    form: str,
    output: Path | None,
    view: View,
    files: Files = (),
    others: Iterable[Output] = (),
) -> None:
    """Print scores, and write them to files and to an output folder if they are wanted."""
    from hlteval.reports import scores as score_formats

    if output is not None:
        others = [(output, partial(score_formats.write_tables, scores)), *others]
    publish(lambda name: score_formats.FORMATS[name](scores, view), form, files, others)
    if form != "text":  # which contains both
        for text in scores.warnings:
            write(remarks(), warning(text))
        for text in scores.notes:
            write(remarks(), note(text))


def show_comparison(
    comparison: Comparison,
    form: str,
    view: View,
    files: Files = (),
    others: Iterable[Output] = (),
) -> None:
    """Print a comparison in one of the output formats, and write it to files."""
    from hlteval.reports.systems import COMPARISON_FORMATS as FORMATS

    publish(lambda name: FORMATS[name](comparison, view), form, files, others)


def show_leaderboard(board: Leaderboard, form: str, view: View, files: Files = ()) -> None:
    """Print a leaderboard in one of the output formats, and write it to files."""
    from hlteval.reports.systems import LEADERBOARD_FORMATS as FORMATS

    publish(lambda name: FORMATS[name](board, view), form, files)


def show_refused(systems: Sequence[RefusedSystem], command: Callable[[str], Sequence[str]]) -> None:
    """Report to standard error why systems are refused.

    Args:
        systems: these systems.
        command: gives the command that reports all findings of a submission.
    """
    from hlteval.reports.systems import refusal

    for system in systems:
        write(remarks(), refusal(system, command(system.name)))


def show_command(command: Sequence[str]) -> None:
    """Print a command as a user would type it."""
    results().print(Text(f"\n$ {shlex.join(command)}", style="bold green"), soft_wrap=True)
    results().print()


PlotFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Plot curves, or values with intervals, as FILE.png, .svg or .pdf.",
    ),
]

Beside = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(metavar="PATH", help="Another submission to include in the plot. Repeatable."),
]


def check_plot(path: Path | None, files: Files = ()) -> None:
    """Check, before the work begins, that a plot can be written.

    Args:
        path: of the plot; None for none.
        files: the other files that the command writes.

    Raises:
        BadParameter: for a file that is named twice, a folder, another suffix, or a file
            in a folder that does not exist, and without matplotlib.
    """
    from hlteval.workflows.compare import plotting

    if path is None:
        return
    for reason in problems(path, {resolved(file) for _, file in files}):
        raise typer.BadParameter(f"invalid --plot {path}: {reason}")
    with usage():
        plotting.check_plot(path)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Draw names of systems in scripts that the font lacks without a word on standard error."""
    with catch_warnings():
        filterwarnings("ignore", "Glyph", UserWarning)
        yield


ReportFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Also write a report: one HTML file that opens offline.",
    ),
]


def check_report(path: Path | None, files: Files = ()) -> None:
    """Check, before the work begins, that a report can be written.

    Args:
        path: of the report; None for none.
        files: the other files that the command writes.

    Raises:
        BadParameter: for a file that is named twice, a folder, another suffix, or a file
            in a folder that does not exist.
    """
    if path is None:
        return
    if path.suffix.lower() not in {".html", ".htm"}:
        raise typer.BadParameter(f"invalid --report {path}: the name must end in .html")
    for reason in problems(path, {resolved(file) for _, file in files}):
        raise typer.BadParameter(f"invalid --report {path}: {reason}")


def report_output(result: Result, path: Path | None) -> Iterator[Output]:
    """The report of a result as an output, if it is wanted."""
    if path is not None:
        from hlteval.reports.html import write

        yield path, partial(write, result)
