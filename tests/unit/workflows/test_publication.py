"""Bundles: complete, the same each time, and with a program that gives the scores of `score`."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hlteval.cli.app import app
from hlteval.findings import Finding
from hlteval.reports.packages import yaml_text
from hlteval.results.packages import PackedArchive
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.task import WrongOption
from hlteval.workflows import platforms
from hlteval.workflows.platforms import check_bundle
from hlteval.workflows.publication import make_plan, publish
from hlteval.workflows.run import engine
from hlteval.workflows.run.request import Request
from hlteval.workflows.run.verdicts import Refused
from tests.unit.workflows.trials import Trial, trials

ROOT = Path(__file__).parents[3]
DEMO, FIXTURES = ROOT / "hlteval/demo", ROOT / "fixtures"
SETTINGS = FIXTURES / "publish-toml"
SEEDEV = ("seedev-full", str(DEMO / "reference"), "codabench")
KEYS = st.from_regex("[A-Za-z_][A-Za-z0-9_]{0,5}|[0-9]{1,3}", fullmatch=True)
EXAMPLE = {"example": str(DEMO / "system")}


PACKAGE_FILES = platforms.package_files


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that do not run are without the code of hlteval, which takes time to pack."""
    monkeypatch.setattr(platforms, "package_files", lambda: {"hlteval/__init__.py": b""})


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    """Programs have the code of hlteval."""
    monkeypatch.setattr(platforms, "package_files", PACKAGE_FILES)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Trial]:
    every = trials(tmp_path_factory.mktemp("trials"))
    return {each.task: each for each in every if each.scored and not each.options}


def made(target: Path, task: str, reference: str, platform: str, **more: object) -> PackedArchive:
    given = {"settings": None, "given": {}, "options": {}, **more}
    plan, findings = make_plan(task, reference, platform, **given)
    assert plan is not None, findings
    return publish(plan, str(target))


def files(path: Path | bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(path) if isinstance(path, bytes) else path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def run(bundle: Path, folder: Path, submission: Path | None = None) -> subprocess.CompletedProcess:
    """Do what a worker does, with the solution or another submission."""
    content = files(bundle)
    parts = {"program": "scoring_program.zip", "input/ref": "reference_data_1.zip"}
    parts |= {} if submission else {"input/res": "solution.zip"}
    for place, name in parts.items():
        with zipfile.ZipFile(io.BytesIO(content[name])) as archive:
            archive.extractall(folder / place)
    if submission:
        shutil.copytree(submission, folder / "input/res")
    (folder / "output").mkdir()
    words = [sys.executable, "score.py", str(folder / "input"), str(folder / "output")]
    return subprocess.run(
        words, check=False, cwd=folder / "program", capture_output=True, text=True
    )


def test_a_bundle_is_complete_and_the_same_again(tmp_path):
    path = str(SETTINGS / "valid/seedev.toml")
    packed = made(tmp_path / "one", *SEEDEV, settings=path, given=EXAMPLE)
    made(tmp_path / "two.zip", *SEEDEV, settings=path, given=EXAMPLE)
    assert packed.path == str(tmp_path / "one.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    content = files(tmp_path / "one.zip")
    assert {each.name: each.size for each in packed.members} == {
        name: len(data) for name, data in content.items()
    }
    configuration = yaml.safe_load(content["competition.yaml"])
    assert configuration["title"] == "Gene events 2026"
    first, second = configuration["phases"]
    assert (first["start"], first["end"]) == ("2026-01-01 00:00:00", "2026-06-30 23:59:59")
    assert second["start"] == "2026-07-01 10:00:00"
    assert (second["max_submissions"], "end" in second) == (3, False)
    (board,) = configuration["leaderboards"]
    keys = [(each["key"], each["sorting"], each["precision"]) for each in board["columns"]]
    assert keys == [("f1", "desc", 3), ("recall", "desc", 3)]
    assert content["logo.png"][:4] == b"\x89PNG"
    kit = files(content["starting_kit.zip"])
    names = {"README.md", "example/demo-1.a2", "documents/demo-1.a1", "documents/demo-1.txt"}
    assert kit.keys() == names
    reference = files(content["reference_data_1.zip"])
    assert reference.keys() == {"demo-1.a1", "demo-1.a2", "demo-1.txt"}
    program = files(content["scoring_program.zip"])
    assert {"score.py", "metadata.yaml", "requirements.txt"} <= program.keys()
    assert "packages/hlteval/__init__.py" in program
    assert "polars==" in program["requirements.txt"].decode()
    assert "hlteval" not in program["requirements.txt"].decode()


def test_the_code_is_whole_and_without_what_python_compiles():
    names = PACKAGE_FILES().keys()
    wanted = {"cli/commands.toml", "scoring/seedev/metric.py", "grammars/codabench.schema.json"}
    assert {f"hlteval/{name}" for name in wanted} <= names
    assert not [name for name in names if "__pycache__" in name or "/demo/" in name]


def test_packages_that_extend_hlteval_are_in_the_program(tmp_path, monkeypatch):
    """Their code, and the metadata by which they are found; their requirements are pinned."""
    info = tmp_path / "colons-1.0.dist-info"
    for path, text in {
        tmp_path / "colons/task.py": "TASK = None\n",
        info / "METADATA": "Name: colons\nVersion: 1.0\nRequires-Dist: lark\n",
        info / "entry_points.txt": "[hlteval.tasks]\ncolon-spans = colons.task:TASK\n",
        info / "RECORD": "colons/task.py,,\ncolons-1.0.dist-info/METADATA,,\n../bin/x,,\n",
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(platforms, "folder_files", lambda _: {})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [each.name for each in platforms.extension_packages()] == ["colons"]
    assert PACKAGE_FILES().keys() == {"colons/task.py", "colons-1.0.dist-info/METADATA"}
    pins = platforms.requirements(load("seedev-full"))
    assert not [pin for pin in pins if pin.startswith(("colons", "hlteval"))]
    assert "lark" in {pin.partition("==")[0] for pin in pins}


def test_pages_have_metrics_formulas_clauses_and_examples(tmp_path):
    made(tmp_path / "b.zip", *SEEDEV, given=EXAMPLE)
    content = {name: data.decode() for name, data in files(tmp_path / "b.zip").items()
               if name.endswith(".md")}  # fmt: skip
    evaluation = content["pages/evaluation.md"]
    for text in ("| `ser` | `ser` | lower |", "2 · matches / (references", "SeeDev evaluation"):
        assert text in evaluation
    assert "    E1\tLocalization Functional_Molecule:T26" in content["pages/data.md"]
    assert "hlteval validate seedev-full SUBMISSION" in content["pages/overview.md"]
    assert all(text.strip() for text in content.values())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("task", [name for name in BUILTIN if load(name).metric is not None])
def test_bundles_of_all_tasks_pass_the_check(task, scored, tmp_path, monkeypatch):
    trial = scored[task]
    given = {"example": str(trial.submission)}
    reference = "" if load(task).scored_alone else str(trial.against)
    try:
        made(tmp_path / "b.zip", task, reference, "codabench", given=given)
    except Refused:
        pytest.skip("the submission of fixtures has errors that block")
    monkeypatch.setattr("hlteval.validators.platforms.codabench.try_program", lambda *_: ([], ""))
    verdict, _ = check_bundle(str(tmp_path / "b.zip"))
    assert {each.code for each in verdict.findings} == {"BDL309"}
    configuration = yaml.safe_load(files(tmp_path / "b.zip")["competition.yaml"])
    assert len(configuration["leaderboards"][0]["columns"]) <= 8


@pytest.mark.long("Python starts with all libraries")
def test_the_program_gives_the_scores_of_score_and_refuses_what_score_refuses(tmp_path, whole):
    made(tmp_path / "b.zip", *SEEDEV, given=EXAMPLE)
    done = run(tmp_path / "b.zip", tmp_path / "good")
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "good/output/scores.json").read_text("utf-8"))
    metrics = engine.score(Request("seedev-full", EXAMPLE["example"], SEEDEV[1])).metrics
    assert scores == {name: metrics[name] for name in ("f1", "recall", "precision", "ser")}
    done = run(tmp_path / "b.zip", tmp_path / "bad", DEMO / "flawed")
    assert done.returncode == 1
    assert "error[SEE" in done.stderr
    assert [path.name for path in (tmp_path / "bad/output").iterdir()] == ["detailed_results.html"]


@pytest.mark.thorough
@pytest.mark.long("Python starts with all libraries")
def test_the_script_of_evalai_gives_the_same_scores_and_the_findings_as_an_exception(
    tmp_path, whole
):
    path = str(SETTINGS / "valid/seedev.toml")
    made(tmp_path / "b.zip", *SEEDEV[:2], "evalai", settings=path, given=EXAMPLE)
    content = files(tmp_path / "b.zip")
    configuration = yaml.safe_load(content["challenge_config.yaml"])
    (board,) = configuration["leaderboard"]
    assert board["schema"]["labels"] == ["f1", "recall"]
    assert [phase["codename"] for phase in configuration["challenge_phases"]] == [
        "phase1",
        "phase2",
    ]
    with zipfile.ZipFile(io.BytesIO(content["evaluation_script.zip"])) as archive:
        archive.extractall(tmp_path / "challenge_data" / "challenge_1")
    (tmp_path / "challenge_data" / "__init__.py").write_text("")
    (tmp_path / "gold.zip").write_bytes(content["annotations/phase2.zip"])
    (tmp_path / "run.zip").write_bytes(content["example.zip"])
    broken = {"demo-1.a2": (DEMO / "flawed/demo-1.a2").read_bytes()}
    (tmp_path / "broken.zip").write_bytes(platforms.zip_files(broken))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        module = import_module("challenge_data.challenge_1")
        gold, run = str(tmp_path / "gold.zip"), str(tmp_path / "run.zip")
        result = module.evaluate(gold, run, "phase2", submission_metadata={})
        with pytest.raises(RuntimeError, match=r"error\[SEE"):
            module.evaluate(gold, str(tmp_path / "broken.zip"), "phase2")
    metrics = engine.score(Request("seedev-full", EXAMPLE["example"], SEEDEV[1])).metrics
    scores = {"f1": metrics["f1"], "recall": metrics["recall"]}
    assert result == {"result": [{"split2": scores}], "submission_result": scores}


def test_bundles_of_evalai_pass_the_check(tmp_path, monkeypatch):
    monkeypatch.setattr("hlteval.validators.platforms.evalai.try_program", lambda *_: ([], ""))
    made(tmp_path / "b.zip", *SEEDEV[:2], "evalai", given=EXAMPLE)
    verdict, _ = check_bundle(str(tmp_path / "b.zip"))
    assert [each.code for each in verdict.findings] == ["BDL311"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    )
)
@settings(max_examples=60)
def test_yaml_is_read_as_it_was(value: object) -> None:
    assert yaml.safe_load(yaml_text({"value": value})) == {"value": value}


TASK_FILE = """\
[task]
unit = "mentions"
name = "people"

[labels]
from = "conf/annotation.conf"
"""
CONF = "[entities]\nPER\nORG\n\n[relations]\n\n[events]\n\n[attributes]\n"


@pytest.mark.thorough
@pytest.mark.long("Python starts with all libraries")
def test_tasks_in_files_travel_with_what_they_name(tmp_path, whole):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/annotation.conf").write_text(CONF)
    file = tmp_path / "people.task.toml"
    file.write_text(TASK_FILE)
    for name in ("gold", "run"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d1.txt").write_text("Ada met Bo at IBM.\n")
        (tmp_path / name / "d1.ann").write_text("T1\tPER 0 3\tAda\nT2\tORG 14 17\tIBM\n")
    (tmp_path / "run" / "d1.ann").write_text("T1\tPER 0 3\tAda\nT2\tPER 14 17\tIBM\n")
    given = {"example": str(tmp_path / "run")}
    made(tmp_path / "b.zip", str(file), str(tmp_path / "gold"), "codabench", given=given)
    program = files(files(tmp_path / "b.zip")["scoring_program.zip"])
    assert {"task/people.task.toml", "task/conf/annotation.conf"} <= program.keys()
    kit = files(files(tmp_path / "b.zip")["starting_kit.zip"])
    assert "hlteval validate task/people.task.toml example" in kit["README.md"].decode()
    (tmp_path / "w").mkdir()
    done = run(tmp_path / "b.zip", tmp_path / "w")
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "w/output/scores.json").read_text("utf-8"))
    metrics = engine.score(Request(str(file), given["example"], str(tmp_path / "gold"))).metrics
    assert set(scores.values()) <= {value for value in metrics.values() if value is not None}


def test_evaluated_stretches_are_beside_the_declaration(tmp_path):
    (tmp_path / "all.uem").write_text("f0 1 0 15\n")
    file = tmp_path / "turns.task.toml"
    read = '[read]\nformat = "rttm"\nevaluated = { format = "uem", path = "all.uem" }\n'
    file.write_text(f'[task]\nunit = "segments"\n{read}')
    assert {*platforms.task_files(load(str(file)))} == {"turns.task.toml", "all.uem"}


def test_files_of_options_are_in_the_program(tmp_path):
    room = DEMO / "tutorials/lorehlt-edl"
    listed = tmp_path / "documents.list"
    names = {line.split("\t")[3].partition(":")[0] for line in
             (room / "reference.tab").read_text("utf-8").splitlines()}  # fmt: skip
    listed.write_text("\n".join(sorted(names)) + "\n", "utf-8")
    made(
        tmp_path / "b.zip", "lorehlt-edl", str(room / "reference.tab"), "codabench",
        given={"example": str(room / "system.tab")}, options={"documents": str(listed)},
    )  # fmt: skip
    program = files(files(tmp_path / "b.zip")["scoring_program.zip"])
    assert program["options/documents/documents.list"] == listed.read_bytes()
    assert "'--documents', 'options/documents/documents.list'" in program["score.py"].decode()


def only_finding(result: PackedArchive) -> Finding:
    (finding,) = result.verdict.findings
    return finding


def test_without_an_example_the_reference_is_tried_but_not_given_to_participants(tmp_path):
    """BDL111: the starting kit has nothing of the annotation."""
    path = str(SETTINGS / "invalid/BDL111-reference.toml")
    packed = made(tmp_path / "b.zip", *SEEDEV, settings=path)
    assert only_finding(packed).code == "BDL111"
    content = files(tmp_path / "b.zip")
    assert files(content["solution.zip"]).keys() == {"demo-1.a2"}
    assert not [name for name in files(content["starting_kit.zip"]) if name.endswith(".a2")]


def test_references_that_cannot_be_submitted_are_no_example(tmp_path):
    path = str(SETTINGS / "invalid/BDL112-frames.toml")
    reference = str(DEMO / "speech/annotations")
    packed = made(tmp_path / "b.zip", "speech-sf", reference, "codabench", settings=path)
    assert only_finding(packed).code == "BDL112"
    assert "solution.zip" not in files(tmp_path / "b.zip")
    verdict, _ = check_bundle(str(tmp_path / "b.zip"))
    assert [each.code for each in verdict.findings] == ["BDL407", "BDL309"]


def test_phases_with_references_of_their_own_are_tasks(tmp_path):
    shutil.copytree(DEMO / "reference", tmp_path / "test")
    (tmp_path / "publish.toml").write_text(
        '[[phases]]\nname = "A"\nstart = 2026-01-01\nend = 2026-02-01\n'
        '[[phases]]\nname = "B"\nstart = 2026-03-01\nreference = "test"\n'
    )
    made(tmp_path / "b.zip", *SEEDEV, settings=str(tmp_path / "publish.toml"), given=EXAMPLE)
    content = files(tmp_path / "b.zip")
    configuration = yaml.safe_load(content["competition.yaml"])
    data = [task["reference_data"] for task in configuration["tasks"]]
    assert data == ["reference_data_1.zip", "reference_data_2.zip"]
    assert [phase["tasks"] for phase in configuration["phases"]] == [[0], [1]]
    assert content[data[0]] == content[data[1]]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["-r", SEEDEV[1], "--example", str(DEMO / "flawed")], 1, "nothing was scored"),
        (["-r", SEEDEV[1], "--settings", str(SETTINGS / "invalid/BDL106-misspelt.toml")], 1,
         "error[BDL106]"),
        ([], 2, "needs a reference"),
        (["-r", SEEDEV[1], "--option", "mode=both"], 2, "mode"),
        (["-r", SEEDEV[1], "--example", "absent"], 2, "absent"),
    ],
)  # fmt: skip
def test_nothing_is_written_if_something_is_wrong(words, code, text, tmp_path):
    target = tmp_path / "b.zip"
    call = ["publish", "seedev-full", "-o", str(target), "--for", "codabench", *words]
    called = CliRunner().invoke(app, call)
    assert (called.exit_code, text in called.stderr) == (code, True), called.stderr
    assert not target.exists()


def test_a_bundle_is_replaced_only_if_that_is_wanted(tmp_path):
    words = ["publish", SEEDEV[0], "-r", SEEDEV[1], "--for", "codabench", "-o"]
    words += [str(tmp_path / "b.zip"), "--example", EXAMPLE["example"]]
    assert CliRunner().invoke(app, words).exit_code == 0
    again = CliRunner().invoke(app, words)
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    called = CliRunner().invoke(app, [*words, "--force", "--format", "json"])
    assert json.loads(called.stdout)["archive"] == str(tmp_path / "b.zip")


def test_references_of_phases_are_judged_and_may_be_all(tmp_path):
    shutil.copytree(DEMO / "reference", tmp_path / "good")
    shutil.copytree(DEMO / "reference", tmp_path / "bad")
    (tmp_path / "bad/demo-1.a2").write_text("E1 no tab\n", "utf-8")
    (tmp_path / "empty").mkdir()
    phase = '[[phases]]\nname = "{0}"\nstart = {1}-01-01\nend = {1}-12-31\nreference = "{2}"\n'
    dev = phase.format("A", 2026, "good") + phase.format("B", 2027, "good")
    for last in ("bad", "empty"):
        (tmp_path / "p.toml").write_text(dev + phase.format("C", 2028, last), "utf-8")
        with pytest.raises(Refused, match=f"blocking findings in .*{last}"):
            made(tmp_path / "b.zip", "seedev-full", "", "codabench", settings=f"{tmp_path}/p.toml")
    assert not (tmp_path / "b.zip").exists()
    shutil.copytree(DEMO / "reference", tmp_path / "other")
    (tmp_path / "p.toml").write_text(dev + phase.format("C", 2028, "other"), "utf-8")
    made(tmp_path / "b.zip", "seedev-full", "", "codabench", settings=f"{tmp_path}/p.toml")
    configuration = yaml.safe_load(files(tmp_path / "b.zip")["competition.yaml"])
    assert [task["name"][-4:] for task in configuration["tasks"]] == [" (A)", " (C)"]
    assert [each["tasks"] for each in configuration["phases"]] == [[0], [0], [1]]


@pytest.mark.parametrize("reference", ["", "-"])
def test_a_bundle_needs_files_of_a_reference(reference):
    with pytest.raises(WrongOption, match=r"needs a reference; add -r|use paths instead of -"):
        make_plan("seedev-full", reference, "codabench", None, {}, {})


MANIFEST = """
name = "A small evaluation"
checkpoints = ["CP1", "CP2"]
conditions = ["constrained"]
languages = ["eng"]
[tasks.hub4]
reference = { eng = "../reference" }
[tasks.seedev-full]
reference = "../reference"
against = "../reference"
metric = "ser"
options = { regulations = "both" }
[[limits]]
per = ["team", "condition"]
most = 1
[[limits]]
per = ["team", "task", "checkpoint"]
most = 50
[[limits]]
per = ["team"]
tasks = ["hub4"]
most = 2
"""


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    """The manifest of an evaluation beside its reference."""
    shutil.copytree(DEMO / "reference", tmp_path / "reference")
    (tmp_path / "evaluation").mkdir()
    path = tmp_path / "evaluation" / "manifest.toml"
    path.write_text(MANIFEST.replace('options = { regulations = "both" }\n', ""), "utf-8")
    return path


def planned(task: str, manifest: Path, settings: Path | None = None, **given: str) -> object:
    path = None if settings is None else str(settings)
    plan, findings = make_plan(task, "", "codabench", path, given, {}, manifest=str(manifest))
    assert not findings
    assert plan is not None
    return plan


def test_the_manifest_of_an_evaluation_says_what_is_not_given(evaluation: Path) -> None:
    plan = planned("seedev-full", evaluation)
    assert plan.publication.title == "A small evaluation"
    assert plan.references == [str(evaluation.parent / "../reference")]
    assert plan.publication.documents == str(evaluation.parent / "../reference")
    assert list(plan.columns.values())[:2] == ["ser", "f1"]
    assert [phase.submissions for phase in plan.phases] == [50]  # those per condition are of many


def test_settings_and_options_come_before_a_manifest(evaluation: Path, tmp_path: Path) -> None:
    settings = tmp_path / "publish.toml"
    phases = '[[phases]]\nname = "A"\nstart = 2026-12-01\nend = 2026-12-02\n'
    phases += '[[phases]]\nname = "B"\nstart = 2026-12-03\nsubmissions = 3\n'
    settings.write_text('title = "Another"\nmetrics = ["f1"]\n' + phases, "utf-8")
    plan = planned("seedev-full", evaluation, settings, profile="official")
    assert plan.publication.title == "Another"
    assert (plan.request.profile, [*plan.columns.values()]) == ("official", ["f1"])
    assert [(phase.name, phase.submissions) for phase in plan.phases] == [("A", 50), ("B", 3)]


def test_the_reference_of_a_language_has_the_documents_of_it(evaluation: Path) -> None:
    folder = evaluation.parent
    paths = """reference = { eng = "eng", fas = "fas" }
against = { eng = "texts/eng", fas = "texts/fas" }"""
    text = evaluation.read_text("utf-8").replace('["eng"]', '["eng", "fas"]')
    text = text.replace('reference = { eng = "../reference" }', paths)
    evaluation.write_text(text, "utf-8")
    for name in ("eng", "fas", "other"):
        shutil.copytree(folder.parent / "reference", folder / name)
        shutil.copytree(folder.parent / "reference", folder / "texts" / name)

    def plan(reference: str, **given: str) -> str:
        made, findings = make_plan(
            "hub4", str(folder / reference), "codabench", None, given, {}, manifest=str(evaluation)
        )
        assert made is not None, findings
        return made.publication.documents

    assert [plan(name) for name in ("eng", "fas")] == [f"{folder}/texts/eng", f"{folder}/texts/fas"]
    own = str(folder / "texts" / "other")
    assert plan("other", documents=own) == own
    with pytest.raises(WrongOption, match=r"documents per language \(eng, fas\); add --documents"):
        plan("other")


def test_a_manifest_that_does_not_fit_gives_no_bundle(evaluation: Path) -> None:
    with pytest.raises(WrongOption, match="has no task lorehlt-edl"):
        planned("lorehlt-edl", evaluation)
    with pytest.raises(WrongOption, match=r"a reference per language \(eng\); add -r PATH"):
        planned("hub4", evaluation)
    evaluation.write_text(MANIFEST.replace("regulations", "regulation"), "utf-8")
    plan, findings = make_plan("seedev-full", "", "evalai", None, {}, {}, manifest=str(evaluation))
    assert plan is None
    assert [(each.code, each.span.line) for each in findings] == [("MAN110", 12)]
