"""Every JSON of the command line is as its schema says, and nothing else passes for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval.findings import finding
from hlteval.reports import evaluation as reports
from hlteval.reports.lists import SCHEMAS, schema_text
from hlteval.results.evaluation import (
    Best,
    CampaignResult,
    Cell,
    CellResult,
    CellRow,
    Entry,
    PipelineResult,
)
from hlteval.results.verdict import declared_schemas
from tests.json_outputs import check, validator

VERSIONS = {name: schema["version"] for name, schema in declared_schemas().items()}

Run = Callable[..., Any]
DEMO = Path(__file__).parents[2] / "hlteval" / "demo"
TASK = "seedev-full"
COMMANDS = {
    "verdict": "validate seedev-full flawed --against reference --format json",
    "finding": "validate seedev-full flawed --against reference --format jsonl",
    "fixed-copy": "validate lorehlt-edl entities/flawed.tab --fix fixed.tab --format json",
    "scores": "score seedev-full -r reference -s system --bootstrap 9 --format json",
    "refusal": "score seedev-full -r reference -s flawed --format json",
    "comparison": "compare hub4 comparison/bold.tpl comparison/careful.tpl templettes/flawed.tpl"
    " -r comparison/reference.tpl --bootstrap 9 --format json",
    "leaderboard": "leaderboard hub4 comparison/bold.tpl comparison/careful.tpl"
    " templettes/flawed.tpl -r comparison/reference.tpl --bootstrap 9 --format json",
    "agreement": "agreement lorehlt-edl annotators/ada.tab annotators/bo.tab --bootstrap 9"
    " --format json",
    "verification": "verify scores.json -r reference -s system --format json",
    "conversion": "convert reference to.json --to pubannotation --format json",
    "package": "pack seedev-full system -o run.tgz --against reference --format json",
    "inspection": "inspect run.tgz --format json",
    "defaults": "config own/hlteval.toml --format json",
    "tasks": "tasks hub4 --format json",
    "formats": "formats --format json",
    "detection": "formats system --format json",
    "codes": "explain STD1 --format json",
    "schemas": "schema --format json",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """An output of each schema, from as few runs as there are schemas."""
    folder = tmp_path_factory.mktemp("outputs") / "demo"
    shutil.copytree(DEMO, folder)
    text = 'task = "seedev-full"\nfail-on = "info"\nignore = ["STD1"]\n'
    (folder / "own").mkdir()
    (folder / "own" / "hlteval.toml").write_text(f'{text}[severity]\nSEE205 = "warning"\n', "utf-8")
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, command in COMMANDS.items():
            text = printed(command)
            found[name] = json.loads(text.splitlines()[0] if name == "finding" else text)
            (folder / "scores.json").write_text(json.dumps(found.get("scores")), "utf-8")
    return found | of_values()


def printed(command: str) -> str:
    from typer.testing import CliRunner

    from hlteval.cli.app import app

    result = CliRunner().invoke(app, command.split())
    assert result.exit_code in {0, 1}, result.output
    assert result.stdout, result.stderr
    text: str = result.stdout
    return text


def of_values() -> dict[str, Any]:
    """The outputs that take long to make, from values."""
    entry = Entry("a", "a.tgz", "scored", "hub4", "A", "why", "what to do")
    first = Best("A", "hub4", "", "", "CP1", "a", "both.f", 0.5)
    settings: dict[str, Any] = {"options": {}, "lenient": False, "encoding": "utf-8"}
    settings |= {"resamples": 1, "confidence": 0.95, "seed": 0, "ranked": True, "metrics": ()}
    cell = Cell("hub4", "plan", "", "a", "a.tpl", "r.tpl", **settings)
    scored: dict[str, Any] = {"intervals": {"f": (0.1, 0.9)}, "resamples": {"f": (0.4,)}}
    scored |= {"metrics": {"f": 0.5}, "notes": ("x",), "signature": "hlteval:1"}
    wrong = finding("SRC104", file="runs", what="folder")
    rows = (
        CellRow(cell, CellResult(status="scored", documents=1, records=2, **scored), "k", True),
        CellRow(cell, CellResult(status="refused", reason="why", findings=(wrong,)), "", False),
    )
    result, statuses = CampaignResult("dry run", rows), PipelineResult("r", (entry,), 1, ("x",))
    table = result.to_frame().filter(pl.col("status") == "refused").to_dicts()
    return {
        "pipeline": json.loads(reports.render(statuses, "json")),
        "best-submissions": json.loads(reports.best_json([first])),
        "campaign": json.loads(reports.render(result, "json")),
        "campaign-table": table[0],
    }


OUTPUTS = [name for name, schema in SCHEMAS.items() if not schema.grammar]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_as_its_schema_says(outputs: dict[str, Any], name: str) -> None:
    assert list(validator(name).iter_errors(outputs[name])) == []
    if SCHEMAS[name].headed:
        assert list(outputs[name].items())[:2] == [("schema", name), ("version", VERSIONS[name])]


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_with_a_mistake_is_refused(outputs: dict[str, Any], name: str) -> None:
    """A member that is missing, has a value of another type, or is one too many."""
    schema = json.loads(schema_text(name))
    tried = 0
    for mistake, changed in mistakes(outputs[name], schema):
        assert not validator(name).is_valid(changed), mistake
        tried += 1
    assert tried > len(schema["properties"]) + len(schema["required"])


def mistakes(output: Any, schema: Any) -> Iterator[tuple[str, Any]]:
    """Copies of an output with a mistake each, at every object that has declared members."""
    for path, declared in objects(output, schema, schema):
        for name in (*declared["properties"], None):
            for kind in ("missing", "type", "extra"):
                if (name is None) != (kind == "extra") or (
                    kind == "missing" and name not in declared["required"]
                ):
                    continue
                changed = deepcopy(output)
                place = changed
                for step in path:
                    place = place[step]
                if kind == "missing":
                    del place[name]
                else:
                    place[name or "another"] = [[{"another": "type"}]]
                yield f"{kind} {name} at {path}", changed


def objects(value: Any, own: Any, schema: Any, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The path and the declaration of each object with declared members; of a list, the first."""
    if "$ref" in own:
        own = schema["$defs"][own["$ref"].rpartition("/")[2]]
    if isinstance(value, list) and value and "items" in own and own["items"]:
        yield from objects(value[0], own["items"], schema, (*path, 0))
    if not isinstance(value, dict):
        return
    if "properties" in own:
        yield path, own
        for name, inner in value.items():
            yield from objects(inner, own["properties"][name], schema, (*path, name))
    elif value and isinstance(own.get("additionalProperties"), dict):
        name = next(iter(value))
        yield from objects(value[name], own["additionalProperties"], schema, (*path, name))


def test_outputs_of_another_version_or_schema_are_refused(outputs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="1 was expected"):
        check({**outputs["scores"], "version": 2})
    assert not validator("verdict").is_valid(outputs["refusal"])


def test_files_of_people_have_schemas_too() -> None:
    assert validator("hlteval-toml").is_valid({"task": "hub4", "options": {"mode": "both"}})
    assert not validator("hlteval-toml").is_valid({"taks": "hub4"})
    task = {"reference": "r.tpl", "profiles": ["plan"]}
    assert validator("campaign-manifest").is_valid({"name": "x", "tasks": {"hub4": task}})
    assert not validator("campaign-manifest").is_valid({"name": "x"})
    assert validator("evaluation-manifest").is_valid({"name": "x", "tasks": {"hub4": {}}})
    assert not validator("evaluation-manifest").is_valid({"name": "x", "tasks": {"hub4": {"a": 1}}})


def test_a_schema_is_printed_and_all_are_listed(invoke: Run) -> None:
    assert invoke("schema", "scores").stdout == schema_text("scores")
    assert invoke("schema").stdout.splitlines()[1].startswith("verdict")
    listed = json.loads(invoke("schema", "--format", "json").stdout)["schemas"]
    assert [each["name"] for each in listed] == list(SCHEMAS)
    unknown = invoke("schema", "score")
    assert unknown.exit_code == 2
    assert "unknown schema score; did you mean scores?" in unknown.stderr
    assert invoke("schema", "scores", "--format", "json").exit_code == 2


def test_the_report_of_a_conversion(invoke: Run, tmp_path: Path) -> None:
    reference, report = DEMO / "reference", tmp_path / "report.json"
    shown = invoke("convert", reference, tmp_path / "out", "--to", "brat", "--format", "json")
    data = json.loads(shown.stdout)
    assert (data["written"], data["format"], data["documents"]) == (True, "brat", 1)
    assert data["inputs"] == [{"path": str(reference), "format": "standoff"}]
    files = {path.name: path.stat().st_size for path in (tmp_path / "out").iterdir()}
    assert {each["name"]: each["size"] for each in data["files"]} == files
    lost = invoke("convert", reference, "-", "--to", "edl-tab", "--output-file", f"json={report}")
    data = json.loads(report.read_text("utf-8"))
    assert lost.stdout
    assert (data["output"], data["files"], bool(data["losses"])) == ("-", [], True)
    words = ("--to", "edl-tab", "--strict-loss", "--format", "json")
    refused = invoke("convert", reference, tmp_path / "no.tab", *words)
    data = json.loads(refused.stdout)
    assert (refused.exit_code, data["written"], data["files"]) == (1, False, [])
    assert not (tmp_path / "no.tab").exists()
    assert {each["code"] for each in data["losses"]} <= {each["code"] for each in data["findings"]}
    assert "needs standard output" in invoke("convert", reference, "-", *words).stderr


def test_lists_of_json_have_no_columns(invoke: Run) -> None:
    for command in ("tasks", "formats"):
        refused = invoke(command, "--format", "json", "--wide")
        assert refused.exit_code == 2
        assert "--wide has no effect without --format text" in refused.stderr
    every = json.loads(invoke("tasks", "--format", "json").stdout)["tasks"]
    ranking = {each["name"]: each["ranking"] for each in every}
    assert ranking["seedev-full"] == {"plan": "f1", "official": "ser"}
    (metric,) = (each for each in every[1]["metrics"] if each["name"] == "f1")
    assert (metric["better"], metric["least"], metric["most"]) == ("more", 0, 1)
    assert metric["ranks"] == ["plan"]
