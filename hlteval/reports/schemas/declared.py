"""All schemas: the class or the grammar that each is made of, and which outputs it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hlteval.extensions import resolve
from hlteval.results.versions import VERSIONS

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
        "validation:VerdictOutput",
    ),
    Schema(
        "finding",
        "Finding, one per line",
        ("validate --format jsonl", "manifest check --format jsonl"),
        "validation:Item",
    ),
    Schema(
        "fixed-copy",
        "Corrected copy and the verdict over it",
        ("validate --fix OUT --format json",),
        "validation:FixedCopyOutput",
    ),
    Schema(
        "scores",
        "Scores of a submission",
        ("score --format json", "scores.json of score -o and of pipeline"),
        "scoring:ScoresOutput",
    ),
    Schema(
        "refusal",
        "Why nothing was scored",
        ("score, compare, leaderboard and agreement --format json, if nothing was scored",),
        "validation:RefusalOutput",
    ),
    Schema(
        "comparison",
        "Comparison of systems",
        ("compare --format json",),
        "scoring:ComparisonOutput",
    ),
    Schema(
        "leaderboard",
        "Leaderboard",
        ("leaderboard --format json", "leaderboard.json of leaderboard -o"),
        "scoring:LeaderboardOutput",
    ),
    Schema(
        "agreement",
        "Agreement of annotators",
        ("agreement --format json",),
        "scoring:AgreementOutput",
    ),
    Schema(
        "verification",
        "Signature beside files and settings",
        ("verify --format json",),
        "scoring:VerificationOutput",
    ),
    Schema(
        "conversion",
        "What a conversion wrote and lost",
        ("convert --format json",),
        "validation:ConversionOutput",
    ),
    Schema("package", "Packed archive", ("pack --format json",), "validation:PackageOutput"),
    Schema(
        "inspection",
        "Content of an archive",
        ("inspect --format json",),
        "validation:InspectionOutput",
    ),
    Schema(
        "pipeline",
        "Status of the submissions of an evaluation",
        ("pipeline --format json; with --watch, one object per line",),
        "evaluations:PipelineOutput",
    ),
    Schema(
        "best-submissions",
        "Best submission of each team",
        ("manifest best --format json",),
        "evaluations:BestOutput",
    ),
    Schema("campaign", "Campaign", ("campaign --format json",), "evaluations:CampaignOutput"),
    Schema(
        "campaign-table",
        "Row of the table of a campaign",
        ("campaign.parquet of campaign",),
        "evaluations:CampaignRow",
        headed=False,
    ),
    Schema(
        "defaults",
        "Defaults of a folder",
        ("config --format json",),
        "validation:DefaultsOutput",
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
