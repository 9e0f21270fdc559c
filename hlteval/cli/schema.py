"""`hlteval schema`: the JSON Schemas of what commands print for programs."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from hlteval.cli import completion
from hlteval.cli.describe import ListForm


def schema(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            metavar="NAME",
            autocompletion=completion.schemas,
            help="Schema to print, e.g. scores; without it, all are listed.",
        ),
    ] = None,
    form: ListForm = "text",
) -> None:
    """Print the JSON Schema of an output or a file, or list all schemas."""
    from hlteval.cli.output import publish
    from hlteval.reports.schemas.published import (
        UnknownSchemaError,
        schema_table,
        schema_text,
        schemas_json,
    )

    if name and form == "json":
        raise typer.BadParameter("--format applies to the list of all schemas: a schema is JSON")
    try:
        if name:
            publish(lambda _: schema_text(name), form)
        else:
            publish(lambda _: schemas_json() if form == "json" else schema_table(), form)
    except UnknownSchemaError as error:
        raise typer.BadParameter(str(error)) from error
