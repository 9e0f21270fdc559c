"""Files for other programs: the action, the container file, the citation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.make.cite_page import cite_page
from hlteval import tasks

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_the_action_is_a_composite_one_whose_inputs_are_used() -> None:
    assert set(ACTION) == {"name", "description", "inputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert ("shell" in step) == ("run" in step)
        assert "${{" not in step.get("run", ""), "inputs reach scripts by the environment only"
    used = set(
        re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", (ROOT / "action.yml").read_text("utf-8"))
    )
    assert used == set(ACTION["inputs"])
    for declared in ACTION["inputs"].values():
        assert declared["description"].endswith(".")
        assert ("default" in declared) != declared.get("required", False)
    version = ACTION["inputs"]["python-version"]["default"]
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """What the last step of the action does with some inputs."""
    step = ACTION["runs"]["steps"][-1]
    names = {
        name: re.sub(r"\W", "", str(value).partition("inputs.")[2])
        for name, value in step["env"].items()
    }
    environment = {name: inputs.get(own, "") for name, own in names.items()}
    program = f'hlteval() {{ "{sys.executable}" -m hlteval "$@"; }}\n'
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", program + step["run"]],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_annotates_a_submission(tmp_path: Path) -> None:
    demo = ROOT / "hlteval" / "demo"
    (tmp_path / "run 1").symlink_to(demo / "flawed")
    arguments = "--ignore\nSTD,SEE1\n"
    given = {"submission": "run 1", "task": "seedev-full", "against": str(demo / "reference")}
    done = run_action(tmp_path, **given, arguments=arguments)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines
    assert all(line.startswith("::error file=run 1/demo-1.a2,title=SEE2") for line in lines)


INSTRUCTION = re.compile(r"^([A-Z]+) (.*)$")


def instructions(name: str) -> list[tuple[str, str]]:
    """The instructions of a container file with their arguments; continued lines are joined."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = [INSTRUCTION.fullmatch(line) for line in lines]
    assert all(found), lines
    return [(match[1], match[2]) for match in found if match]


def test_the_lines_of_the_container_file() -> None:
    lines = instructions("Containerfile")
    kinds = [kind for kind, _ in lines]
    assert {*kinds} <= {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"}
    bases = [rest.split()[0] for kind, rest in lines if kind == "FROM"]
    assert bases == ["${BASE}"] * 2, "both stages have the same libraries"
    version = re.fullmatch(r"BASE=python:(3\.\d+)-slim", dict(lines)["ARG"])
    assert version
    assert f"Programming Language :: Python :: {version[1]}" in PROJECT["classifiers"]
    stages = [rest.split(" AS ")[1] for kind, rest in lines if kind == "FROM" and " AS " in rest]
    copied = [rest for kind, rest in lines if kind == "COPY"]
    assert [rest.split()[0] for rest in copied if rest.startswith("--")] == [
        f"--from={stage}" for stage in stages
    ]
    last = lines[max(at for at, kind in enumerate(kinds) if kind == "FROM") :]
    given = dict(last)
    assert given["USER"] == "hlteval"
    assert json.loads(given["ENTRYPOINT"]) == ["hlteval"]
    assert json.loads(given["CMD"]) == ["--help"]
    assert not any("pip" in rest for kind, rest in last if kind == "RUN")


def test_what_the_container_file_installs() -> None:
    installed = " ".join(rest for kind, rest in instructions("Containerfile") if kind == "RUN")
    for command in re.findall(r"pip install [^&]*", installed):
        assert "--no-cache-dir" in command
        assert "-c constraints.txt" in command
    (folder,) = set(re.findall(r"venv (\S+)", installed))
    assert f"{folder}/bin:$PATH" in dict(instructions("Containerfile"))["ENV"]
    ignored = (ROOT / ".containerignore").read_text("utf-8").split()
    assert {".git", ".venv*", "build"} <= set(ignored)
    for name in ("constraints.txt", "pyproject.toml", "README.md", "LICENSE"):
        assert not any(Path(name).match(pattern) for pattern in ignored)


KEYS = {
    "cff-version", "message", "type", "title", "abstract", "authors", "version", "license",
    "keywords", "date-released", "doi", "repository-code", "url", "preferred-citation",
}  # fmt: skip
"""The keys of the Citation File Format 1.2.0 that a citation of software may use here."""


def test_the_citation_is_in_the_citation_file_format() -> None:
    assert set(CITATION) <= KEYS
    assert {"authors", "cff-version", "message", "title"} <= set(CITATION)
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] in {"software", "dataset"}
    for name in ("message", "title", "abstract", "version", "license"):
        assert isinstance(CITATION[name], str)
        assert CITATION[name]
    people, entities = {"family-names", "given-names", "orcid", "affiliation"}, {"name", "website"}
    assert CITATION["authors"]
    for author in CITATION["authors"]:
        assert set(author) <= people or (set(author) <= entities and author["name"])
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"])


def test_the_citation_agrees_with_the_project() -> None:
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["title"] == PROJECT["name"]
    assert set(CITATION["keywords"]) <= set(PROJECT["keywords"])
    assert "The hlteval authors" in (ROOT / "LICENSE").read_text("utf-8")


def test_the_page_on_citing_is_up_to_date(golden: Any) -> None:
    golden(ROOT / "docs" / "cite.md", cite_page())


@pytest.mark.parametrize("name", tasks.BUILTIN)
def test_every_task_is_cited_by_its_specification(name: str) -> None:
    row = f"| [{name}](tasks.md#{name}) | {tasks.load(name).specification} |\n"
    assert row in cite_page()


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
RECIPE = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text("utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_little_and_puts_no_value_into_a_script(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job.get("timeout-minutes", 0) or job.get("needs"), "a job ends"
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert "${{" not in step.get("run", ""), "values reach scripts by the environment only"
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"] == {"persist-credentials": False}


def test_continuous_integration_has_every_python_and_system() -> None:
    (path,) = (path for path in WORKFLOWS if path.stem == "ci")
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    versions = {
        f"Programming Language :: Python :: {v}"
        for v in jobs["linux"]["strategy"]["matrix"]["python"]
    }
    declared = {line for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert versions == declared
    assert [step["run"] for step in jobs["linux"]["steps"] if "run" in step] == [
        "make demo",
        "make test",
    ]
    systems = jobs["others"]["strategy"]["matrix"]["system"]
    assert systems == ["macos-latest", "windows-latest"]


def test_only_the_job_that_publishes_can_publish() -> None:
    (path,) = (path for path in WORKFLOWS if path.stem == "release")
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    rights = {name: job.get("permissions", {}) for name, job in jobs.items()}
    assert [name for name in rights if "id-token" in rights[name]] == ["publish"]
    assert not any("checkout" in step.get("uses", "") for step in jobs["publish"]["steps"])
    assert (jobs["publish"]["needs"], jobs["page"]["needs"]) == ("build", "publish")
    made = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert made[:2] == ["make test", 'make dist DIST_ARGS="--tag $TAG --repository $REPOSITORY"']


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    assert RECIPE["context"]["version"] == PROJECT["version"]
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    needed = [re.sub(r"(?<=\w)(?=[><=])", " ", line) for line in PROJECT["dependencies"]]
    assert RECIPE["requirements"]["run"] == [f"python {PROJECT['requires-python']}", *needed]
    (command,) = RECIPE["build"]["python"]["entry_points"]
    name, _, function = command.partition(" = ")
    assert PROJECT["scripts"] == {name: function}
