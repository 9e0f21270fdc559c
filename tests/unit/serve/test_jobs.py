"""Jobs of the page: what is uploaded, and what comes of it."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from fuzz.serving import Visitor, of_folder
from hlteval.serve.settings import ServeSettings
from hlteval.tasks import load
from tests.runs import validate
from tests.unit.serve.visiting import FIXTURES, FLAWED, FRAMES, FULL, visit


def test_findings_scores_and_a_comparison():
    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": of_folder(FULL), "reference": of_folder(FULL)}
        inputs["second"] = [file for file in of_folder(FULL) if "seed-2" not in file[0]]
        path, state = await visitor.done("seedev-full", inputs, intervals=True)
        assert (state["state"], state["error"]) == ("done", "")
        titles = [part["title"] for part in state["parts"]]
        assert titles == ["Findings", "Findings of the second", "Scores", "Comparison"]
        read = await visitor.read(path, state)
        assert json.loads(read["findings-json"])["verdict"] == "pass"
        assert json.loads(read["findings-second-json"])["verdict"] == "fail"
        scores = json.loads(read["scores-json"])
        assert scores["metrics"][scores["primary"]] == 1.0
        assert "bootstrap:1000" in scores["signature"]
        comparison = json.loads(read["comparison-json"])
        assert {each["name"] for each in comparison["systems"]} | set(comparison["refused"]) == {
            "full",
            "full (second)",
        }
        assert read["scores"].startswith(b"<!doctype html>")

    visit(steps)


def test_a_finding_has_its_place_and_the_table_has_it_too():
    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": of_folder(FLAWED), "reference": of_folder(FULL)}
        path, state = await visitor.done("seedev-full", inputs)
        assert [part["outcome"] for part in state["parts"]] == ["fail", "refused"]
        read = await visitor.read(path, state)
        assert b"SEE205-entity-type/seed-1.a2:2:54" in read["findings"]
        rows = read["findings-tsv"].decode().splitlines()
        assert rows[1].split("\t")[:5] == [
            "error",
            "SEE205",
            "SEE205-entity-type/seed-1.a2",
            "2",
            "54",
        ]

    visit(steps)


def test_archives_are_opened():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in of_folder(FULL):
            archive.writestr(name.removeprefix("full/"), data)

    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": [("run.zip", packed.getvalue())], "reference": of_folder(FULL)}
        _, state = await visitor.done("seedev-full", inputs)
        assert state["parts"][0]["outcome"] == "pass"

    visit(steps)


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["../x.a2", "seed-1.a2"], "SRC111"),
        (["/etc/passwd", "seed-1.a2"], "SRC111"),
        (["C:x.a2", "seed-1.a2"], "SRC111"),
        (["a\\b.a2", "seed-1.a2"], "SRC111"),
        (["a\0b.a2", "seed-1.a2"], "SRC111"),
        (["run/../../x.a2", "run/seed-1.a2"], "SRC111"),
        (["seed-1.a2", "seed-1.a2"], "SRC113"),
        (["SEED-1.a2", "seed-1.a2"], "SRC114"),
        (["seed-1.a2", "seed-1.a2/x"], "SRC114"),
        (["../seed-1.a2"], "SRC111"),
        (["run.zip"], "SRC101"),
    ],
)
def test_names_are_judged_as_those_of_archives(names: list[str], code: str) -> None:
    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": [(name, b"E1") for name in names], "reference": of_folder(FULL)}
        path, state = await visitor.done("seedev-full", inputs)
        read = await visitor.read(path, state)
        found = json.loads(read["findings-json"])
        assert code in found["counts"]["code"]
        assert state["parts"][0]["outcome"] == "fail"

    visit(steps)
    assert not (FIXTURES.parents[1] / "x.a2").exists()


@pytest.mark.parametrize(
    "name", ["x" * 5000, "con.json", "東京.json", "-", "<stdin>", " ", "a\u202eb"]
)
def test_a_name_may_be_anything(name: str) -> None:
    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": [(name, FRAMES.read_bytes())]}
        _, state = await visitor.done("speech-sf", inputs)
        assert len(state["parts"]) == 1
        assert state["error"] == ""

    visit(steps)


def test_a_corrected_copy_can_be_saved():
    data = (FIXTURES / "lorehlt-edl/valid/submission.tab").read_bytes()

    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": [("run.tab", b"\xef\xbb\xbf" + data)]}
        path, state = await visitor.done("lorehlt-edl", inputs)
        (file,) = [f for f in state["parts"][0]["files"] if f["key"] == "findings-fixed"]
        assert file["label"].startswith("Corrected copy (")
        read = await visitor.read(path, state)
        assert read["findings-fixed"] == data

    visit(steps)


def test_no_answer_shows_a_path_of_this_machine(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    reference = shutil.copytree(FULL, tmp_path / "secret-place" / "gold")

    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": of_folder(FLAWED), "second": of_folder(FULL)}
        path, state = await visitor.done("seedev-full", inputs, lenient=True)
        read = await visitor.read(path, state)
        assert b"gold/seed-1" in b"".join(read.values()) or b"gold" in read["findings"]
        await visitor.ask("GET", visitor.path)
        root = visitor.application.sessions.root
        secret = {str(root), root.name, str(tmp_path), "secret-place", str(Path.cwd())}
        secret.add(str(Path.home()))
        for answer in visitor.answers:
            shown = answer.text + str(answer.headers)
            assert not [each for each in secret if each in shown]

    visit(steps, ServeSettings("seedev-full", str(reference)))


def test_options_are_those_that_the_task_declares():
    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": of_folder(FRAMES), "reference": of_folder(FRAMES)}
        types = [("types.txt", b"Water Supply\n")]
        _, state = await visitor.done(
            "speech-sf", {**inputs, "option-types": types}, options={"place_match": "exact"}
        )
        assert state["error"] == ""
        path, state = await visitor.done("speech-sf", inputs, options={"place_match": "exact"})
        signature = json.loads((await visitor.read(path, state))["scores-json"])["signature"]
        assert "place_match:exact" in signature.replace("-", "_")

    visit(steps)


@pytest.mark.parametrize(
    ("task", "options", "error"),
    [
        ("hub4", {"beta": "x"}, "--beta is a number above 0, not x"),
        ("hub4", {"document_tag": "DOC"}, "--document-tag has no effect without"),
        ("speech-sf", {"place_match": "odd"}, "use soft or exact"),
    ],
)
def test_a_wrong_option_is_said_in_words(task: str, options: dict[str, str], error: str) -> None:
    data = of_folder(FIXTURES / "hub4/valid/reference.tpl" if task == "hub4" else FRAMES)

    async def steps(visitor: Visitor) -> None:
        inputs = {"submission": data, "reference": data}
        _, state = await visitor.done(task, inputs, options=options)
        assert error in state["error"]

    visit(steps)


def test_a_reference_that_cannot_be_read_is_named():
    async def steps(visitor: Visitor) -> None:
        system = of_folder(FIXTURES / "hub4/valid/system.tpl")
        inputs = {"submission": system, "reference": [("notes.txt", b"x\ny\n")]}
        _, state = await visitor.done("hub4", inputs)
        expected = "The reference cannot be used: notes.txt matches none of the formats"
        assert state["error"].startswith(expected)

    visit(steps)


def test_a_file_above_the_limit_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from hlteval.serve import jobs, work
    from hlteval.sources.source import LIMITS

    small = replace(LIMITS, member_bytes=10, file_bytes=10)
    monkeypatch.setattr(work.open_uploads, "__defaults__", (small,))
    monkeypatch.setattr(jobs.receive, "__defaults__", (small,))

    async def steps(visitor: Visitor) -> None:
        for names, code in ((["a.json"], "SRC125"), (["run/a.json", "run/b.json"], "SRC122")):
            inputs = {"submission": [(name, b"x" * 11) for name in names]}
            path, state = await visitor.done("speech-sf", inputs)
            found = json.loads((await visitor.read(path, state))["findings-json"])
            assert set(found["counts"]["code"]) == {code}

    visit(steps)


def available(task: str, options: dict[str, str]) -> dict[str, str]:
    """The options that validation has."""
    known = {o.name for o in load(task).options if o.available_in("validate")}
    return {name: value for name, value in options.items() if name in known}


@pytest.mark.thorough
def test_every_task_finds_what_validate_finds() -> None:
    from fuzz.subjects import CONTEXTS

    async def steps(visitor: Visitor) -> None:
        for task, context in CONTEXTS.items():
            inputs = {"submission": of_folder(FIXTURES / context.submission)}
            if context.against:
                inputs["reference"] = of_folder(FIXTURES / context.against)
            for name, path in context.options.items():
                inputs[f"option-{name}"] = of_folder(FIXTURES / path)
            path, state = await visitor.done(task, inputs)
            assert state["error"] == "", task
            found = (await visitor.ask("GET", f"{path}/files/findings-json")).json()
            against = str(FIXTURES / context.against) if context.against else None
            files = {name: str(FIXTURES / path) for name, path in context.options.items()}
            shown = {"against": against, "options": available(task, files)}
            expected = validate(task, str(FIXTURES / context.submission), **shown)
            assert found["verdict"] == expected.outcome, task
            assert found["counts"] == expected.counts, task

    visit(steps)
