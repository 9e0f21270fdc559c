"""All schemas: the class or the grammar of each, and the outputs that it describes.

What commands print as JSON is declared once: by the fields of the result
(`results.verdict.Output`), or by a class in `docs/make/schema_outputs.py` where JSON has other
members; `docs.make.schemas` makes the JSON Schemas of them, `results/schemas.toml` lists them with
their versions, and every test that prints JSON is held to them (`tests/json_outputs.py`). A version
never changes its shape (`tests/golden/schema_shapes.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import msgspec

from hlteval.findings import Severity
from hlteval.findings.suggest import did_you_mean
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.results.verdict import Profile, declared_schemas


class MetricDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of a task.

    Attributes:
        name: as in the `metrics` of scores.
        meaning: what it says.
        compared: what it compares, where the task measures several things; empty otherwise.
        formula: how it is computed, in plain text; empty if it is counted.
        values: its range, and its unit where it has one.
        least: its minimum; null without a limit.
        most: its maximum; null without a limit.
        better: which values are better, if either are.
        ranks: the profiles in which it ranks.
    """

    name: str
    meaning: str
    compared: str
    formula: str
    values: str
    least: float | None
    most: float | None
    better: Literal["more", "less", "neither"]
    ranks: tuple[Profile, ...]


class OptionDescription(msgspec.Struct, frozen=True, kw_only=True):
    """An option that a task has beside those of all tasks.

    Attributes:
        name: its name on the command line, without the two hyphens.
        help: what it does.
        placeholder: the placeholder of its value in the help; empty for a switch.
        choices: the values that it can have; empty if there are others, or for a switch.
        switch: whether it takes no value.
        repeatable: whether it can be repeated.
        commands: the commands that have it.
    """

    name: str
    help: str
    placeholder: str
    choices: tuple[str, ...]
    switch: bool
    repeatable: bool
    commands: tuple[str, ...]


class TaskDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A task.

    Attributes:
        name: as on the command line.
        title: what it is, in one line.
        specification: the document that the profile `plan` follows.
        formats: the formats of submissions, the usual one first.
        references: the formats of references.
        profiles: its profiles.
        ranking: the metric that ranks, by profile; empty if the task has no scores.
        metrics: its metrics; empty if the task has no scores.
        options: its own options.
    """

    name: str
    title: str
    specification: str
    formats: tuple[str, ...]
    references: tuple[str, ...]
    profiles: tuple[Profile, ...]
    ranking: Mapping[str, str]
    metrics: tuple[MetricDescription, ...]
    options: tuple[OptionDescription, ...]


class SettingDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of a format, for `--set NAME=VALUE`.

    Attributes:
        name: its name.
        help: what it does.
        default: its default value.
        of: whether it is a setting of reading or of writing.
        choices: the values that it can have; empty if there are others.
    """

    name: str
    help: str
    default: str
    of: Literal["read", "write"]
    choices: tuple[str, ...]


class FormatDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A format.

    Attributes:
        name: as given to `--from` and `--to`.
        title: what it is, in one line.
        suffixes: of the files that hold it.
        reads: whether it can be read.
        writes: whether it can be written.
        everything: whether it can represent all tables with all columns.
        tables: the tables of the representation that it can represent.
        settings: what can be set.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    reads: bool
    writes: bool
    everything: bool
    tables: tuple[str, ...]
    settings: tuple[SettingDescription, ...]


class CodeDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A code of findings.

    Attributes:
        code: the code.
        name: a name in words with hyphens, as stable as the code.
        title: what it means, in one line.
        severity: its severity, unless the command line or a file of defaults sets another.
        blocking: whether a submission with it cannot be scored.
        fixable: whether `hlteval validate --fix` can correct it.
        why: why it is reported.
        fix: how to fix it.
        clause: the clause of the specification; empty without one.
        wrong: an example with the problem; empty without one.
        right: the same without the problem; empty without one.
    """

    code: str
    name: str
    title: str
    severity: Severity
    blocking: bool
    fixable: bool
    why: str
    fix: str
    clause: str
    wrong: str
    right: str


class SchemaDescription(msgspec.Struct, frozen=True):
    """A schema of an output or of a file that you write.

    Attributes:
        name: its name, which is `schema` in the output.
        version: its version, which is `version` in the output.
        title: its subject, in one line.
        of: the commands that print such an output, or the files that have this form.
        file: the name of its file in the documentation.
        id: its `$id`.
    """

    name: str
    version: int
    title: str
    of: tuple[str, ...]
    file: str
    id: str


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

    every = [*SCHEMAS.values()]
    descriptions = msgspec.convert(every, list[SchemaDescription], from_attributes=True)
    return encode("schemas", schemas=descriptions)
