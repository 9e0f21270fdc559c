"""The page docs/representation.md, generated from the declarations of the tables."""

from __future__ import annotations

import polars as pl

from hlteval.representation.schema import SCHEMA_VERSION, TABLES, Column, Table

_HEAD = f"""\
# The tables of a corpus

<!-- Made from hlteval/representation/tables.toml by docs.make.representation_page; do not edit. -->

A corpus is a set of tables. All formats are read into these tables, which are the input of all
rules and metrics. `hlteval convert` writes them as Parquet (format `corpus`, one file per table) or
as JSON Lines (format `jsonl`). This is schema version {SCHEMA_VERSION}.

- `row` is the key of a table. A column that refers to another table contains the `row` there.
- Identifiers as written in a file are data: they may be duplicate or dangling, and are never keys.
- Offsets are 0-based, half-open Unicode code points of the document's text.
"""


def page() -> str:
    """The page in Markdown.

    Examples:
        >>> page().splitlines()[0]
        '# The tables of a corpus'
    """
    return "\n".join([_HEAD, *map(_section, TABLES.values())])


def _section(table: Table) -> str:
    """The section of a table: the meaning of a row, and the columns."""
    references = dict(table.references)
    lines = [
        f"## {table.name}",
        "",
        f"One row is {table.row_is}.",
        "",
        "| column | type | unit | null | meaning |",
        "|---|---|---|---|---|",
        *(_row(column, references.get(column.name)) for column in table.columns),
        "",
    ]
    return "\n".join(lines)


def _row(column: Column, target: str | None) -> str:
    meaning = column.meaning
    if target and f"`{target}`" not in meaning:
        meaning += f" (row of `{target}`)"
    cells = [f"`{column.name}`", _type(column.dtype), column.unit, "yes" * column.nullable, meaning]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(dtype: object) -> str:
    """The name of a Polars type in plain words.

    Examples:
        >>> _type(pl.List(pl.Struct({"start": pl.Int64, "end": pl.Int64})))
        'list of (start: integer, end: integer)'
    """
    if isinstance(dtype, pl.List):
        return f"list of {_type(dtype.inner)}"
    if isinstance(dtype, pl.Struct):
        return f"({', '.join(f'{field.name}: {_type(field.dtype)}' for field in dtype.fields)})"
    if dtype == pl.Int64:
        return "integer"
    if dtype == pl.Float64:
        return "number"
    if dtype == pl.Boolean:
        return "yes or no"
    return "text" if dtype == pl.String else str(dtype)
