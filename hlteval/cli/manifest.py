"""`hlteval manifest`: checks of the manifest of an evaluation, and its best submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional, get_args

import typer

from hlteval.cli.commands import OutputFiles, usage
from hlteval.cli.exit_codes import HelpfulCommand, HelpfulGroup, epilog
from hlteval.cli.validate import FindingsForm, MaxFindings

_Manifest = Annotated[
    str, typer.Argument(metavar="MANIFEST", help="Manifest of the evaluation (TOML).")
]
_Root = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Argument(
        metavar="ROOT",
        help="Folder of the evaluation, with the archives in ROOT/submissions; without it, only "
        "the manifest is checked.",
    ),
]
_Scored = Annotated[
    Path,
    typer.Argument(
        metavar="ROOT", help="Folder of the evaluation, whose submissions a pipeline has scored."
    ),
]
app = typer.Typer(
    cls=HelpfulGroup,
    help="Check the manifest of an evaluation, and find the best submissions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("check", cls=HelpfulCommand, epilog=epilog("manifest check"), no_args_is_help=True)
def check(
    manifest: _Manifest,
    root: _Root = None,
    form: Annotated[FindingsForm, typer.Option("--format", help="Output format.")] = "text",
    max_findings: MaxFindings = None,
    output_file: OutputFiles = None,
) -> None:
    """Check a manifest, and whether the submissions agree with it."""
    from hlteval.cli.output import show_verdict
    from hlteval.cli.output_files import check_inputs_stay, output_files
    from hlteval.workflows.manifest_verdict import check as run

    with usage():
        check_inputs_stay({"manifest": manifest, "paths": root, "output_file": output_file})
        files = output_files(output_file, get_args(FindingsForm))
        verdict = run(manifest, root)
        show_verdict(verdict, form, max_findings, files)
    raise typer.Exit(0 if verdict.passed else 1)


@app.command("best", cls=HelpfulCommand, epilog=epilog("manifest best"), no_args_is_help=True)
def best(
    manifest: _Manifest,
    root: _Scored,
    form: Annotated[
        Literal["text", "json", "tsv"], typer.Option("--format", help="Output format.")
    ] = "text",
) -> None:
    """List the best submission of each team at each checkpoint."""
    from hlteval.cli.output import publish, show_findings
    from hlteval.reports.best import FORMATS
    from hlteval.workflows.best import best_submissions
    from hlteval.workflows.manifests import read_manifest

    with usage():
        read = read_manifest(manifest)
        found = best_submissions(read.evaluation, root) if read.evaluation else ()
    show_findings(read.findings)
    if read.evaluation is None:
        raise typer.Exit(1)
    publish(lambda name: FORMATS[name](found), form)
