"""The schemas as they are published: their files, and lists of them."""

from __future__ import annotations

from importlib import resources

from hlteval.findings.suggest import did_you_mean
from hlteval.reports.schemas.declared import SCHEMAS, Schema
from hlteval.reports.tables import FIXED, Column, Table, Tables

_COLUMNS = (
    Column("schema", "name"),
    Column("version"),
    Column("describes", "prose", FIXED),
)


class UnknownSchemaError(ValueError):
    """There is no schema of that name: an error of usage."""


def schema_text(name: str) -> str:
    """A schema, as its file has it.

    Args:
        name: its name, without a version.

    Raises:
        UnknownSchemaError: if there is none.

    Examples:
        >>> schema_text("scores").splitlines()[2]
        ' "$id": "urn:hlteval:schema:scores:1",'
    """
    if name not in SCHEMAS:
        hint = did_you_mean(name, SCHEMAS, "`hlteval schema` lists them")
        raise UnknownSchemaError(f"unknown schema {name}; {hint}")
    file = resources.files("hlteval.reports.schemas") / SCHEMAS[name].file
    return file.read_text("utf-8")


def schema_table() -> Tables:
    """A table of the schemas: name, version, and what each describes."""
    rows = [[each.name, str(each.version), _described(each)] for each in SCHEMAS.values()]
    return Tables([Table(_COLUMNS, rows)])


def _described(schema: Schema) -> str:
    return f"{schema.title}: {'; '.join(schema.of)}"


def schemas_json() -> str:
    """The list of the schemas as one JSON object."""
    from hlteval.reports.lists import encoded
    from hlteval.reports.schemas.lists import SchemaDescription

    listed = [
        SchemaDescription(
            name=each.name,
            version=each.version,
            title=each.title,
            of=each.of,
            file=each.file,
            id=each.identifier,
        )
        for each in SCHEMAS.values()
    ]
    return encoded("schemas", schemas=listed)
