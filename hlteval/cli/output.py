"""Output of the commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from hlteval.reports.terminal import remarks, results, write

if TYPE_CHECKING:  # each command imports the renderers that it uses
    from hlteval.findings import Finding
    from hlteval.results.comparison import Comparison
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict


def show(renderable: RenderableType) -> None:
    """Print a table or a text."""
    results().print(renderable, soft_wrap=isinstance(renderable, Text))


def show_verdict(verdict: Verdict, form: str, max_findings: int | None) -> None:
    """Print a verdict, in text with a maximum number of findings per file."""
    from hlteval.reports import findings, text

    limit = text.MAX_FINDINGS if max_findings is None else max_findings
    write(results(), findings.render(verdict, form, limit))


@contextmanager
def refusals() -> Iterator[None]:
    """Report why a submission was not scored, with its findings and the fix; exit code 1."""
    from hlteval.reports import findings
    from hlteval.workflows.scoring import Refused

    try:
        yield
    except Refused as refused:
        write(remarks(), findings.render(refused.verdict))
        reason = Text(f"\n{refused}", style="bold red")
        write(remarks(), reason.append(f"\n{refused.fix}", "not bold"))
        raise typer.Exit(1) from refused


def show_findings(findings: Sequence[Finding]) -> None:
    """Print findings to standard error, if there are any."""
    from hlteval.reports.findings import render
    from hlteval.results.verdict import Verdict

    if findings:
        passed = not any(finding.severity == "error" for finding in findings)
        write(remarks(), render(Verdict("", "", passed, tuple(findings))))


def check_folder(output: Path | None) -> None:
    """Check that an output folder, if any, is empty, absent or has scores, which are replaced.

    Raises:
        FileExistsError: if the folder contains any other file.
    """
    from hlteval.reports.score_formats import MAIN

    names = {entry.name for entry in output.iterdir()} if output and output.is_dir() else set()
    foreign = any(not name.endswith((".tsv", ".tab", ".json", ".txt")) for name in names)
    if foreign or (names and MAIN not in names):
        raise FileExistsError(f"{output} contains files other than scores; use another folder")


def show_scores(scores: Scores, form: str, output: Path | None) -> None:
    """Print scores, and write them to an output folder if one is given."""
    from hlteval.reports import score_formats
    from hlteval.sources import writing

    if output is not None:
        with writing(output, replace=True) as folder:
            score_formats.write_tables(scores, folder)
    write(results(), score_formats.FORMATS[form](scores))
    if form != "text":  # which contains the notes
        for note in scores.notes:
            write(remarks(), Text(f"note: {note}", style="yellow"))


def show_comparison(comparison: Comparison, form: str) -> None:
    """Print a comparison in one of the output formats."""
    from hlteval.reports.comparison import FORMATS

    write(results(), FORMATS[form](comparison))


def show_command(command: Sequence[str]) -> None:
    """Print a command as a user would type it."""
    results().print(Text(f"\n$ {shlex.join(command)}", style="bold green"), soft_wrap=True)
    results().print()
