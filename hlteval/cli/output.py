"""What the commands print: results to standard output, everything else to standard error."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from hlteval.reports.terminal import progress, remarks, results, write

if TYPE_CHECKING:  # each command imports the renderers that it uses
    from hlteval.findings import Finding
    from hlteval.reports.comparison import Comparison
    from hlteval.results.scores import Scores
    from hlteval.results.verdict import Verdict


@contextmanager
def working(doing: str) -> Iterator[Callable[[], None]]:
    """Show on a terminal that long work goes on."""
    with progress(remarks(), doing) as step:
        yield step


def show(renderable: RenderableType) -> None:
    """Print a result for people."""
    results().print(renderable, soft_wrap=isinstance(renderable, Text))


def show_verdict(verdict: Verdict, form: str, max_findings: int | None) -> None:
    """Print a verdict in one of its formats."""
    from hlteval.reports import findings, text

    most = text.MAX_FINDINGS if max_findings is None else max_findings
    write(results(), findings.render(verdict, form, most))


def show_refusal(verdict: Verdict, reason: str, cure: str) -> None:
    """Tell why nothing was scored."""
    from hlteval.reports import findings

    write(remarks(), findings.render(verdict))
    write(remarks(), Text(f"\n{reason}", style="bold red").append(f"\n{cure}", "not bold"))


def show_findings(listed: Sequence[Finding]) -> None:
    """Print findings beside a result, if there are any."""
    from hlteval.reports import findings
    from hlteval.results.verdict import Verdict

    if listed:
        passed = not any(finding.severity == "error" for finding in listed)
        write(remarks(), findings.render(Verdict("", "", passed, tuple(listed))))


def check_folder(output: Path) -> None:
    """Refuse to replace a folder that holds anything but scores, before any work is done.

    Raises:
        FileExistsError: if it holds something else.
    """
    from hlteval.reports.score_formats import MAIN

    names = {entry.name for entry in output.iterdir()} if output.is_dir() else set()
    own = (".tsv", ".tab", ".json", ".txt")
    others = {name for name in names if not name.endswith(own)}
    if others or (names and MAIN not in names):
        raise FileExistsError(f"{output} contains files other than scores; use another folder")


def show_scores(scores: Scores, form: str, output: Path | None) -> None:
    """Print scores in one of their formats, and write them as files where that is wanted."""
    from hlteval.reports import score_formats
    from hlteval.sources import writing

    if output is not None:
        with writing(output, replace=True) as folder:
            score_formats.write_tables(scores, folder)
    write(results(), score_formats.FORMATS[form](scores))
    if form != "text":  # which has them already
        for note in scores.notes:
            write(remarks(), Text(f"note: {note}", style="yellow"))


def show_comparison(compared: Comparison, form: str) -> None:
    """Print a comparison in one of its formats."""
    from hlteval.reports.comparison import FORMATS

    write(results(), FORMATS[form](compared))


def show_command(command: Sequence[str]) -> None:
    """Print a command as a user would type it."""
    results().print(Text(f"\n$ {shlex.join(command)}", style="bold green"), soft_wrap=True)
    results().print()
