"""`hlteval score`: the official numbers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

from hlteval.cli.commands import Profile, per_task, usage

app = typer.Typer(help="Score a submission against a reference.", no_args_is_help=True)


def score(
    task: str,
    reference: Annotated[
        str, typer.Option("-r", "--reference", metavar="PATH", help="Folder, .zip or .tgz.")
    ],
    system: Annotated[
        str,
        typer.Option("-s", "--system", metavar="PATH", help="The submission; - is standard input."),
    ],
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o", "--output", metavar="DIR", help="Write scores.json and all tables there."
        ),
    ] = None,
    profile: Profile = "plan",
    form: Annotated[
        Literal["text", "json", "tsv", "markdown", "latex"],
        typer.Option("--format", help="How scores are shown."),
    ] = "text",
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Score what can be scored in spite of blocking findings."),
    ] = False,
    options: dict[str, Any] | None = None,
) -> None:
    """Score a submission."""
    from hlteval.cli.output import show_refusal, show_scores
    from hlteval.runs.plotting import plotted
    from hlteval.runs.scoring import Refused
    from hlteval.runs.scoring import score as run

    given = dict(options or {})
    plot, beside = given.pop("plot", None), given.pop("beside", [])
    try:
        with usage():
            scored = partial(run, task, reference, profile=profile, lenient=lenient, options=given)
            scores = scored(system)
            others = {path: scored(path) for path in beside}
            if plot:
                plotted({system: scores, **others}, Path(plot))
    except Refused as refused:
        show_refusal(refused.verdict, str(refused), refused.cure)
        raise typer.Exit(1) from refused
    with usage():
        show_scores(scores, form, output)


per_task(app, score, command="score")
