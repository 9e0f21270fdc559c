"""`hlteval score`: the official numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

from hlteval.cli.commands import Confidence, Encoding, Profile, Seed, per_task, usage


def score(
    task: str,
    reference: Annotated[
        str,
        typer.Option("-r", "--reference", metavar="PATH", help="Reference: folder, .zip or .tgz."),
    ],
    system: Annotated[
        str,
        typer.Option("-s", "--system", metavar="PATH", help="Submission; - for standard input."),
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
        typer.Option("--format", help="Output format."),
    ] = "text",
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Score the rest despite blocking findings."),
    ] = False,
    bootstrap: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Confidence intervals from N bootstrap resamples."),
    ] = 0,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    encoding: Encoding = "utf-8",
    options: dict[str, Any] | None = None,
) -> None:
    """Score a submission."""
    from hlteval.cli.output import check_folder, show_refusal, show_scores, working
    from hlteval.workflows.plotting import plotted
    from hlteval.workflows.scoring import Intervals, Refused
    from hlteval.workflows.scoring import score as run

    own = dict(options or {})
    plot, beside = own.pop("plot", None), own.pop("beside", [])
    given: dict[str, Any] = {"profile": profile, "lenient": lenient}
    given |= {"options": own, "encoding": encoding}
    try:
        with usage(), working("scoring") as step:
            if output is not None:
                check_folder(output)
            wanted = form == "json" or output is not None
            intervals = Intervals(bootstrap, confidence, seed) if bootstrap else None
            told: dict[str, Any] = {"alignment": wanted, "intervals": intervals, "step": step}
            scores = run(task, reference, system, **told, **given)
            others = {path: run(task, reference, path, alignment=False, **given) for path in beside}
            if plot:
                plotted({system: scores, **others}, Path(plot))
    except Refused as refused:
        show_refusal(refused.verdict, str(refused), refused.cure)
        raise typer.Exit(1) from refused
    with usage():
        show_scores(scores, form, output)


app = typer.Typer(
    cls=per_task(score, "score"),
    help="Score a submission against a reference.",
    no_args_is_help=True,
)
