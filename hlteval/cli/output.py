"""Output of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.cli.defaults import show_defaults
from hlteval.cli.output_files import Files, Output, Renderer, write_files
from hlteval.reports.prose import Prose, note, warning
from hlteval.reports.terminal import remarks, results, write

if TYPE_CHECKING:  # each command imports the renderers that it uses
    from hlteval.findings import Finding
    from hlteval.reports.tables import View
    from hlteval.results.comparison import Comparison, RefusedSystem
    from hlteval.results.conversion import Conversion
    from hlteval.results.defaults import Defaults
    from hlteval.results.fixes import FixedCopy
    from hlteval.results.leaderboard import Leaderboard
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict


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
    from hlteval.reports import findings, fixes
    from hlteval.reports import text as reports_text

    limit = reports_text.MAX_FINDINGS if max_findings is None else max_findings

    def render(name: str) -> str | RenderableType:
        if name == "json":
            return fixes.json(copy)
        rest = findings.render(copy.verdict, name, limit)
        return rest if isinstance(rest, str) else Group(fixes.text(copy), rest)

    publish(render, form, files, others)
    if form not in {"text", "json"}:
        write(remarks(), fixes.text(copy))


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
    from hlteval.cli.report_file import report_output
    from hlteval.reports.refusal import Refusal
    from hlteval.workflows.refusals import Refused

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
    from hlteval.reports.conversion import FORMATS

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
    from hlteval.reports.score_formats import MAIN
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
    from hlteval.reports import score_formats

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
    from hlteval.reports.comparison import FORMATS

    publish(lambda name: FORMATS[name](comparison, view), form, files, others)


def show_leaderboard(board: Leaderboard, form: str, view: View, files: Files = ()) -> None:
    """Print a leaderboard in one of the output formats, and write it to files."""
    from hlteval.reports.leaderboard import FORMATS

    publish(lambda name: FORMATS[name](board, view), form, files)


def show_refused(systems: Sequence[RefusedSystem], command: Callable[[str], Sequence[str]]) -> None:
    """Report to standard error why systems are refused.

    Args:
        systems: these systems.
        command: gives the command that reports all findings of a submission.
    """
    from hlteval.reports.comparison import refusal

    for system in systems:
        write(remarks(), refusal(system, command(system.name)))


def show_command(command: Sequence[str]) -> None:
    """Print a command as a user would type it."""
    results().print(Text(f"\n$ {shlex.join(command)}", style="bold green"), soft_wrap=True)
    results().print()
