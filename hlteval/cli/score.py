"""`hlteval score`: the official scores of a submission."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

from hlteval.cli.commands import Confidence, Encoding, Profile, Seed, per_task, usage
from hlteval.tasks import load


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
    from hlteval.cli.output import check_folder, refusals, show_scores
    from hlteval.reports.terminal import progress, remarks
    from hlteval.workflows.plotting import plotted
    from hlteval.workflows.scoring import Intervals
    from hlteval.workflows.scoring import score as run

    options = dict(options or {})
    display = {o.display: options.pop(o.name, None) for o in load(task).options if o.display}
    settings: dict[str, Any] = {"profile": profile, "lenient": lenient, "encoding": encoding}
    settings |= {"options": options}
    intervals = Intervals(bootstrap, confidence, seed) if bootstrap else None
    with usage(), refusals(), progress(remarks(), "scoring") as step:
        if output is not None:
            check_folder(output)
        alignment = form == "json" or output is not None
        more: dict[str, Any] = {"alignment": alignment, "intervals": intervals, "step": step}
        scores = run(task, reference, system, **more, **settings)
        if plot := display.get("plot"):
            systems = {system: scores}
            for path in display.get("others") or ():
                systems[path] = run(task, reference, path, alignment=False, **settings)
            plotted(systems, Path(plot))
    with usage():
        show_scores(scores, form, output)


app = typer.Typer(
    cls=per_task(score, "score"),
    help="Score a submission against a reference.",
    no_args_is_help=True,
)
