"""Schemas: made of the declarations, valid, complete, and never changed without a new version."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from docs.make import manifest_grammars
from docs.make.schema_page import page
from docs.make.schemas import FOLDER, files, made
from hlteval.reports.lists import SCHEMAS
from hlteval.results.evaluation import COLUMNS, CampaignFinding, CampaignRow
from hlteval.results.verdict import declared_schemas

VERSIONS = {name: schema["version"] for name, schema in declared_schemas().items()}

ROOT = Path(__file__).parents[3]
SHAPES = ROOT / "tests" / "golden" / "schema_shapes.json"
WORDS = {"description", "title", "$id", "$comment"}


def shape(schema: Any, *, names: bool = False) -> Any:
    """A schema without the words that are for people only; names of members are kept."""
    if isinstance(schema, list):
        return [shape(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if names or name not in WORDS}
    holds_names = {"properties", "$defs", "definitions"}
    return {name: shape(value, names=name in holds_names) for name, value in kept.items()}


def digest(schema: Any) -> str:
    return sha256(json.dumps(shape(schema), sort_keys=True).encode()).hexdigest()[:16]


def test_the_committed_files_are_up_to_date(golden):
    for name, text in files().items():
        golden(FOLDER / name, text)
    assert {path.name for path in FOLDER.glob("*.json")} == files().keys()


@pytest.mark.parametrize("name", manifest_grammars.GRAMMARS)
def test_the_schemas_of_manifests_are_made_of_what_manifests_declare(name, golden):
    golden(ROOT / "grammars" / f"{name}.schema.json", manifest_grammars.text(name))


def test_the_committed_page_is_up_to_date(golden):
    golden(ROOT / "docs" / "schemas.md", page())


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_valid_and_describes_every_member(name: str) -> None:
    schema = made(SCHEMAS[name])
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:hlteval:schema:{name}:{VERSIONS[name]}"
    parts = [schema, *schema.get("$defs", {}).values()]
    parts += schema.get("definitions", {}).values()
    closed = [part for part in parts if "properties" in part]
    assert closed
    for part in closed:
        assert part["additionalProperties"] is False
        assert all(own["description"].endswith(".") for own in part["properties"].values())


def test_every_version_has_a_schema():
    assert list(VERSIONS.keys() - SCHEMAS.keys()) == []
    assert list(SCHEMAS.keys() - VERSIONS.keys()) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_version_never_changes_its_shape(name: str, request: pytest.FixtureRequest) -> None:
    """--update-golden adds new versions only: a change of shape needs one (schemas.toml)."""
    known = json.loads(SHAPES.read_text("utf-8")) if SHAPES.is_file() else {}
    version, own = f"{name}-{VERSIONS[name]}", digest(made(SCHEMAS[name]))
    if version not in known and request.config.getoption("--update-golden"):
        known[version] = own
        SHAPES.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", "utf-8")
    assert version in known, f"{version} is new; --update-golden adds it"
    assert known[version] == own, f"another shape: raise the version of {name} in schemas.toml"


def test_words_do_not_change_a_shape_and_members_do():
    schema = made(SCHEMAS["scores"])
    other = json.loads(json.dumps(schema))
    other["properties"]["notes"]["description"] = "Other words."
    assert digest(other) == digest(schema)
    other["properties"]["title"] = {"type": "string"}
    assert digest(other) != digest(schema)


def test_the_table_of_a_campaign_has_the_columns_of_its_schema():
    def members(kind: type[msgspec.Struct]) -> list[str]:
        return [field.name for field in msgspec.structs.fields(kind)]

    assert members(CampaignRow) == list(COLUMNS)
    inner: Any = COLUMNS["findings"]
    assert members(CampaignFinding) == [field.name for field in inner.inner.fields]
