"""All schemas: the class or the grammar that each is made of, and which outputs it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from hlteval.extensions import resolve
from hlteval.findings.suggest import did_you_mean
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.results.verdict import VERSIONS

_ROOM = "hlteval.reports.schemas"


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of an output, or of a file that you write.

    Attributes:
        name: its name.
        title: its subject, in one line.
        of: the commands that print such an output, or the files that have this form.
        shape: the class of the output, as `module:name` in this package; or the name of the grammar
            of a file, in grammars/.
        headed: whether the output begins with `schema` and `version`.
    """

    name: str
    title: str
    of: tuple[str, ...]
    shape: str
    headed: bool = True

    @property
    def version(self) -> int:
        """Its version."""
        return VERSIONS[self.name]

    @property
    def file(self) -> str:
        """The name of its file.

        Examples:
            >>> SCHEMAS["scores"].file
            'scores-1.schema.json'
        """
        return f"{self.name}-{self.version}.schema.json"

    @property
    def identifier(self) -> str:
        """Its `$id`, which names no place.

        Examples:
            >>> SCHEMAS["scores"].identifier
            'urn:hlteval:schema:scores:1'
        """
        return f"urn:hlteval:schema:{self.name}:{self.version}"

    @property
    def grammar(self) -> str:
        """The name of the grammar of a file; empty for an output."""
        return "" if ":" in self.shape else self.shape

    def load(self) -> type:
        """The class of an output."""
        found: type = resolve(f"{_ROOM}.{self.shape}")
        return found


_EVERY = (
    Schema(
        "verdict",
        "Verdict of validation",
        ("validate --format json", "manifest check --format json"),
        "outputs:VerdictOutput",
    ),
    Schema(
        "finding",
        "Finding, one per line",
        ("validate --format jsonl", "manifest check --format jsonl"),
        "outputs:Item",
    ),
    Schema(
        "fixed-copy",
        "Corrected copy and the verdict over it",
        ("validate --fix OUT --format json",),
        "outputs:FixedCopyOutput",
    ),
    Schema(
        "scores",
        "Scores of a submission",
        ("score --format json", "scores.json of score -o and of pipeline"),
        "outputs:ScoresOutput",
    ),
    Schema(
        "refusal",
        "Why nothing was scored",
        ("score, compare, leaderboard and agreement --format json, if nothing was scored",),
        "outputs:RefusalOutput",
    ),
    Schema(
        "comparison",
        "Comparison of systems",
        ("compare --format json",),
        "outputs:ComparisonOutput",
    ),
    Schema(
        "leaderboard",
        "Leaderboard",
        ("leaderboard --format json", "leaderboard.json of leaderboard -o"),
        "outputs:LeaderboardOutput",
    ),
    Schema(
        "agreement",
        "Agreement of annotators",
        ("agreement --format json",),
        "outputs:AgreementOutput",
    ),
    Schema(
        "verification",
        "Signature beside files and settings",
        ("verify --format json",),
        "outputs:VerificationOutput",
    ),
    Schema(
        "conversion",
        "What a conversion wrote and lost",
        ("convert --format json",),
        "outputs:ConversionOutput",
    ),
    Schema("package", "Packed archive", ("pack --format json",), "outputs:PackageOutput"),
    Schema(
        "inspection",
        "Content of an archive",
        ("inspect --format json",),
        "outputs:InspectionOutput",
    ),
    Schema(
        "pipeline",
        "Status of the submissions of an evaluation",
        ("pipeline --format json; with --watch, one object per line",),
        "outputs:PipelineOutput",
    ),
    Schema(
        "best-submissions",
        "Best submission of each team",
        ("manifest best --format json",),
        "outputs:BestOutput",
    ),
    Schema("campaign", "Campaign", ("campaign --format json",), "outputs:CampaignOutput"),
    Schema(
        "campaign-table",
        "Row of the table of a campaign",
        ("campaign.parquet of campaign",),
        "outputs:CampaignRow",
        headed=False,
    ),
    Schema(
        "defaults",
        "Defaults of a folder",
        ("config --format json",),
        "outputs:DefaultsOutput",
    ),
    Schema("tasks", "Tasks", ("tasks --format json",), "lists:TasksOutput"),
    Schema("formats", "Formats", ("formats --format json",), "lists:FormatsOutput"),
    Schema("codes", "Codes of findings", ("explain --format json",), "lists:CodesOutput"),
    Schema("schemas", "Schemas", ("schema --format json",), "lists:SchemasOutput"),
    Schema(
        "hlteval-toml",
        "File of defaults",
        ("hlteval.toml", "[tool.hlteval] of pyproject.toml"),
        "config",
        headed=False,
    ),
    Schema(
        "campaign-manifest",
        "Manifest of a campaign",
        ("MANIFEST of campaign",),
        "campaign",
        headed=False,
    ),
    Schema(
        "evaluation-manifest",
        "Manifest of an evaluation",
        ("MANIFEST of manifest check", "--manifest of pipeline"),
        "manifest",
        headed=False,
    ),
)
SCHEMAS: Mapping[str, Schema] = MappingProxyType({schema.name: schema for schema in _EVERY})
"""The schemas by name, in the order of the documentation."""


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
