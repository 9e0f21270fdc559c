"""All schemas: the class or the grammar of each, and the outputs that it describes.

What commands print as JSON is declared once: by the fields of the result
(`results.verdict.Output`), or by a class in `reports/schemas` where JSON has other members;
`docs.make.schemas` makes the JSON Schemas of them, `results/schemas.toml` lists them with their
versions, and every test that prints JSON is held to them (`tests/json_outputs.py`). A version
never changes its shape (`tests/golden/schema_shapes.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import msgspec

from hlteval.findings.suggest import did_you_mean
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.results.verdict import declared_schemas


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of an output, or of a file that you write.

    Attributes:
        name: its name.
        version: its version.
        title: its subject, in one line.
        of: the commands that print such an output, or the files that have this form.
        shape: the class of the output, as `module:name` below `hlteval`; or the name of the grammar
            of a file, in grammars/.
        headed: whether the output begins with `schema` and `version`.
    """

    name: str
    version: int
    title: str
    of: tuple[str, ...]
    shape: str
    headed: bool = True

    @property
    def file(self) -> str:
        """The name of its file.

        Examples:
            >>> SCHEMAS["scores"].file
            'scores-1.schema.json'
        """
        return f"{self.name}-{self.version}.schema.json"

    @property
    def id(self) -> str:
        """Its `$id`, which names no place.

        Examples:
            >>> SCHEMAS["scores"].id
            'urn:hlteval:schema:scores:1'
        """
        return f"urn:hlteval:schema:{self.name}:{self.version}"

    @property
    def grammar(self) -> str:
        """The name of the grammar of a file; empty for an output."""
        return "" if ":" in self.shape else self.shape


#: The schemas by name, in the order of the documentation.
SCHEMAS: Mapping[str, Schema] = {
    name: msgspec.convert({"name": name, **schema}, Schema)
    for name, schema in declared_schemas().items()
}


_COLUMNS = (Column("schema", "name"), Column("version"), Column("describes", "prose", FIXED))


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
    rows = [
        [each.name, str(each.version), f"{each.title}: {'; '.join(each.of)}"]
        for each in SCHEMAS.values()
    ]
    return Tables([Table(_COLUMNS, rows)])


def schemas_json() -> str:
    """The list of the schemas as one JSON object."""
    from hlteval.reports.lists import encode
    from hlteval.reports.schemas.lists import SchemaDescription

    every = [*SCHEMAS.values()]
    descriptions = msgspec.convert(every, list[SchemaDescription], from_attributes=True)
    return encode("schemas", schemas=descriptions)
