"""Commands of tasks: `validate`, `score`, `compare`, `leaderboard`, `pack` and others."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typer import BadParameter, Exit

from hlteval.cli.defaults import show_defaults, show_unused_jobs
from hlteval.cli.output import (
    Outputs,
    check_folder,
    check_inputs_stay,
    publish,
    show_findings,
    show_scores,
    show_verdict,
    without_warnings,
)
from hlteval.cli.process import usage
from hlteval.reports.terminal import progress, remarks, results, write
from hlteval.workflows.run.request import Request, Selection

if TYPE_CHECKING:
    from collections.abc import Collection

    from hlteval.results.systems import Comparison, Leaderboard
    from hlteval.workflows.run.engine import Run


def validate(
    request: Request,
    outputs: Outputs,
    paths: list[str],
    max_findings: int | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    severity: list[str] | None = None,
    fix: str | None = None,
    unsafe_fixes: bool = False,
    diff: bool = False,
    by_folder: bool = False,
) -> None:
    """Check a submission."""
    from hlteval.workflows.fixing import fix as write_fixed
    from hlteval.workflows.run.engine import validate_all
    from hlteval.workflows.run.verdicts import submissions

    show_defaults(outputs.defaults)
    if by_folder:
        paths = submissions(request.task, paths)
        written = {"output_file": outputs.output_file, "report": outputs.report}
        with usage():
            check_inputs_stay({"paths": paths, **written})
    outputs.check()
    copy, reasons = None, list[str]()
    with usage(), progress(remarks(), "checking") as step:
        selection = Selection.parse(select or (), ignore or (), severity or ())
        request = replace(request, selection=selection, step=step, unused_jobs=reasons.append)
        if fix is not None or diff:
            if len(paths) > 1:
                raise BadParameter("--fix and --diff take a single submission")
            copy = write_fixed(replace(request, system=paths[0]), fix, unsafe=unsafe_fixes)
            verdict = copy.verdict
        else:
            verdict = outputs.with_defaults(validate_all(request, paths))
    show_unused_jobs(request, reasons, len(paths))
    with usage():
        reports = outputs.reports(verdict)
        show_verdict(verdict, outputs.form, max_findings, outputs.files, reports, copy)
    raise Exit(0 if verdict.passed else 1)


def validation_command(request: Request) -> list[str]:
    """Return the command that reports all findings of a submission and its reference.

    Examples:
        >>> options = {"segments": "s.list"}
        >>> request = Request("hub4", "a.tpl", "b.tpl", profile="official", options=options)
        >>> " ".join(validation_command(request))
        'hlteval validate hub4 a.tpl --against b.tpl --profile official'
    """
    words = ["hlteval", "validate", request.task, request.system]
    words += ["--against", request.reference] if request.reference else []
    words += ["--profile", request.profile] if request.profile != "plan" else []
    words += ["--encoding", request.encoding] if request.encoding != "utf-8" else []
    return words + request.definition.option_words("validate", request.options)


def score(
    request: Request,
    outputs: Outputs,
    output: Path | None = None,
    beside: list[str] | None = None,
    quiet: bool = False,
    confusion: bool = False,
) -> None:
    """Score a submission."""
    from hlteval.reports.curves import plot_scores
    from hlteval.reports.scores import MAIN
    from hlteval.workflows.run import engine

    outputs.check()
    json = "json" in {outputs.form, *dict(outputs.files)}
    keeps = json or confusion or bool(output or outputs.report)
    request = replace(request, evidence=bool(outputs.report), alignment=keeps)
    with usage():
        view = outputs.view(lambda: engine.measure_names(request))._replace(confusion=confusion)
    refusals, reasons = outputs.refusals(validation_command(request)), list[str]()
    with usage(), refusals, progress(remarks(), "scoring") as step, without_warnings():
        check_folder(output, MAIN, "scores")
        scores = engine.score(replace(request, step=step, unused_jobs=reasons.append))
        if confusion and scores.confusion is None:
            raise BadParameter(f"--confusion: {request.task} has no labels that can be confused")
        plain = replace(request, alignment=False, evidence=False, jobs=1, cluster="")
        others = {path: engine.score(replace(plain, system=path)) for path in beside or ()}
        plot_scores({request.system: scores} | others, outputs.plot)
    show_unused_jobs(request, reasons, 1)
    with usage():
        show_scores(outputs.with_defaults(scores), outputs, view, output, quiet=quiet)


def compare(
    request: Request,
    outputs: Outputs,
    systems: list[str],
    metric: str | None = None,
    test: Literal["permutation", "bootstrap", "jackknife"] | None = None,
    output: Path | None = None,
) -> None:
    """Compare submissions."""
    from hlteval.reports.curves import plot_comparison
    from hlteval.reports.systems import COLUMNS, COMPARISON, write_comparison
    from hlteval.reports.systems import COMPARISON_FORMATS as FORMATS
    from hlteval.workflows.compare.comparison import compare as run

    view = outputs.view(lambda: COLUMNS)
    outputs.check()
    keeps = "json" in {outputs.form, *dict(outputs.files)} or bool(output or outputs.report)
    request = replace(request, alignment=keeps)
    runs: dict[str, Run] = {}
    with usage(), outputs.refusals(), progress(remarks(), "comparing") as step, without_warnings():
        check_folder(output, COMPARISON, "a comparison")
        comparison = run(
            replace(request, step=step), systems, metric=metric, test=test, counted=runs.update
        )
        own = {name: run.scores() for name, run in runs.items()} if outputs.plot else {}
        plot_comparison(comparison, outputs.plot, own)
    comparison = outputs.with_defaults(comparison)
    _show_refused(comparison, request)
    with usage():
        folders = [] if output is None else [(output, partial(write_comparison, comparison))]
        outputs.publish(lambda name: FORMATS[name](comparison, view), comparison, *folders)
    raise Exit(1 if comparison.refused else 0)


def _show_refused(result: Comparison | Leaderboard, request: Request) -> None:
    """Report to standard error why systems are refused."""
    from hlteval.reports.systems import refusal

    for system in result.refused:
        each = replace(request, system=result.paths[system.name])
        write(remarks(), refusal(system, validation_command(each)))


def leaderboard(
    request: Request,
    outputs: Outputs,
    systems: list[str],
    names: str | None = None,
    metrics: str | None = None,
    output: Path | None = None,
) -> None:
    """Rank submissions."""
    from hlteval.reports.curves import plot_leaderboard
    from hlteval.reports.systems import LEADERBOARD_FORMATS as FORMATS
    from hlteval.reports.systems import columns_of
    from hlteval.workflows.compare.board import leaderboard_in

    outputs.check()
    reasons: list[str] = []
    with usage(), outputs.refusals(), progress(remarks(), "scoring") as step:
        board = leaderboard_in(
            output,
            replace(request, step=step, unused_jobs=reasons.append),
            systems,
            names=names,
            metrics=metric_names(metrics or "", request.definition.metrics),
            named=outputs.with_defaults,
        )
    show_unused_jobs(request, reasons, len(systems))
    view = outputs.view(lambda: columns_of(board.metrics))
    show_findings(board.findings)
    _show_refused(board, request)
    with usage(), without_warnings():
        publish(lambda name: FORMATS[name](board, view), outputs.form, outputs.files)
        plot_leaderboard(board, outputs.plot)
    raise Exit(1 if board.refused else 0)


def metric_names(written: str, known: Collection[str]) -> list[str]:
    """Return the names of a list separated by commas, which some names of metrics contain.

    Examples:
        >>> metric_names("f1, frame_f1.type,place", ["f1", "frame_f1.type,place"])
        ['f1', 'frame_f1.type,place']
    """
    parts = [part.strip() for part in written.split(",") if part.strip()]
    names = []
    while parts:
        sizes = range(len(parts), 1, -1)
        size = next((size for size in sizes if ",".join(parts[:size]) in known), 1)
        names.append(",".join(parts[:size]))
        parts = parts[size:]
    return names


def agreement(
    request: Request,
    outputs: Outputs,
    annotations: list[str],
    per: Literal["document", "label"] | None = None,
    max_differences: int = 10,
) -> None:
    """Measure the agreement between annotators."""
    from hlteval.reports.agreement import COLUMNS, FORMATS, Selection
    from hlteval.reports.curves import plot_agreement
    from hlteval.results.systems import short_names
    from hlteval.workflows.agreement import agreement as run

    view = Selection(outputs.view(lambda: COLUMNS), per or "", max_differences or None)
    outputs.check()
    names = short_names(annotations)
    with usage(), outputs.refusals(), progress(remarks(), "reading") as step, without_warnings():
        each = [names[path] for path in annotations]
        result = run(replace(request, step=step), annotations, each)
        plot_agreement(result, outputs.plot)
    result = outputs.with_defaults(result)
    with usage():
        outputs.publish(lambda name: FORMATS[name](result, view), result)


def pack(
    request: Request, outputs: Outputs, paths: list[str], archive: str, force: bool = False
) -> None:
    """Pack a submission with the names, index and layout of its task, if it validates."""
    from hlteval.reports.packages import PACKED
    from hlteval.workflows.packages import pack as run

    show_defaults(outputs.defaults)
    with usage(), progress(remarks(), "packing") as step:
        packed = run(replace(request, step=step), paths, archive, force=force)
    write(results(), PACKED[outputs.form](packed))
    raise Exit(1 if packed.path is None else 0)


def platform(
    request: Request,
    folders: Path,
    target: Path,
    columns: str | None = None,
    details: Literal["scores", "all"] = "scores",
) -> None:
    """Score a submission in the folders of a competition platform."""
    from hlteval.reports.scores import platform_text
    from hlteval.results.scores import Scores
    from hlteval.workflows.platforms import score_folders

    names = [name.strip() for name in (columns or "").split(",") if name.strip()]
    if columns and not names:
        raise BadParameter(f"invalid --columns {columns}: use names of metrics")
    with usage(), progress(remarks(), "scoring") as step:
        result = score_folders(replace(request, step=step), folders, target, names, details)
    scored = isinstance(result, Scores)
    write(results() if scored else remarks(), platform_text(result))
    raise Exit(0 if scored else 1)
