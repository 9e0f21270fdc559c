"""`hlteval agreement`: how far annotators of the same documents agree."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional, get_args

import typer

from hlteval.cli.commands import (
    VIEWS,
    Columns,
    Condition,
    Confidence,
    Encoding,
    Form,
    OutputFiles,
    Seed,
    TableForm,
    Wide,
    forms,
    per_task,
    table_view,
    usage,
)
from hlteval.cli.defaults import ConfigFile
from hlteval.cli.report_file import ReportFile
from hlteval.results.defaults import Defaults

_CONDITIONS = (
    *VIEWS,
    Condition("seed", lambda given: given["bootstrap"], "with --bootstrap 0"),
    Condition("confidence", lambda given: given["bootstrap"], "with --bootstrap 0"),
    Condition(
        "per",
        lambda given: forms(given) & {"text", "markdown", "latex"},
        "without --format text, markdown or latex",
    ),
    Condition("max_differences", lambda given: "text" in forms(given), "without --format text"),
)


Annotations = Annotated[
    list[str],
    typer.Argument(
        metavar="ANNOTATION",
        help="An annotation of each annotator, or one that names several annotators.",
    ),
]
Documents = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="PATH", help="Documents of the annotations, if not included in them."),
]
Per = Annotated[
    Optional[Literal["document", "label"]],  # noqa: UP045
    typer.Option(help="Also show the coefficients of each document or label."),
]
Listed = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Maximum number of differences to list (0 for all)."),
]
Replicates = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Number of resamples for intervals (0 for no intervals)."
    ),
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient", help="Compare despite blocking findings, leaving out what cannot be read."
    ),
]


def agreement(
    task: str,
    annotations: Annotations,
    against: Documents = None,
    per: Per = None,
    max_differences: Listed = 10,
    bootstrap: Replicates = 1000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    form: Form = "text",
    columns: Columns = None,
    wide: Wide = False,
    lenient: Lenient = False,
    output_file: OutputFiles = None,
    report: ReportFile = None,
    encoding: Encoding = "utf-8",
    defaults_file: ConfigFile = None,  # noqa: ARG001 - read before the task is known
    options: dict[str, Any] | None = None,
    defaults: Defaults | None = None,
) -> None:
    """Measure the agreement between annotators."""
    from hlteval.cli.output import publish, refusals
    from hlteval.cli.output_files import output_files
    from hlteval.cli.report_file import check_report, report_output
    from hlteval.reports.agreement import COLUMNS, FORMATS, Shown
    from hlteval.reports.terminal import progress, remarks
    from hlteval.results.config import agreed_with_defaults
    from hlteval.results.names import short_names
    from hlteval.workflows.agreement import agreement as run
    from hlteval.workflows.runs import Intervals

    view = table_view(columns, wide, lambda: COLUMNS)
    what = Shown(view, per or "", max_differences or None)
    files = output_files(output_file, get_args(TableForm))
    check_report(report, files)
    names = short_names(annotations)
    intervals = Intervals(bootstrap, confidence, seed) if bootstrap else None
    refusing = refusals(form, files, report=report, defaults=defaults)
    with usage(), refusing, progress(remarks(), "reading") as step:
        found = run(
            task, annotations, names=[names[path] for path in annotations], against=against,
            intervals=intervals, lenient=lenient, options=options, encoding=encoding, step=step,
        )  # fmt: skip
    found = agreed_with_defaults(found, defaults)
    with usage():
        others = report_output(found, report)
        publish(lambda name: FORMATS[name](found, what), form, files, others)


app = typer.Typer(
    cls=per_task(agreement, "agreement", _CONDITIONS),
    help="Measure the agreement between annotators of the same documents.",
    no_args_is_help=True,
)
