"""`hlteval campaign`: many submissions to many tasks, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from hlteval.cli.commands import usage
from hlteval.cli.defaults import ConfigFile

_Manifest = Annotated[
    str, typer.Argument(metavar="MANIFEST", help="Manifest of the campaign (TOML).")
]
_Output = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "-o",
        "--output",
        metavar="DIR",
        help="Folder of the table and the reports (default: the name of the manifest).",
    ),
]
_Cache = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        metavar="DIR", help="Folder of the results of earlier runs (default: DIR/cache of -o)."
    ),
]
_Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Number of processes.")
]
_Cluster = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        show_default=False,
        help="Compute on a dask cluster, e.g. tcp://host:8786, instead of this machine.",
    ),
]


def campaign(
    manifest: _Manifest,
    output: _Output = None,
    cache: _Cache = None,
    jobs: _Jobs = 1,
    cluster: _Cluster = "",
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = (
        "text"
    ),
    defaults_file: ConfigFile = None,
) -> None:
    """Score many submissions to many tasks into one table; compute only what is new."""
    from hlteval.cli.campaign_output import run

    with usage():
        complete = run(manifest, output, cache, (jobs, cluster), form, defaults_file)
    raise typer.Exit(0 if complete else 1)
