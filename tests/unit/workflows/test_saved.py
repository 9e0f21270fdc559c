"""A saved corpus is judged and scored like the files that it was converted from, in every task."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from fuzz.subjects import CONTEXTS
from hlteval import tasks
from hlteval.converters.corpus.memory import SAVED
from hlteval.workflows import config as demo
from hlteval.workflows.convert.conversion import convert, read
from tests.runs import score, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
SCORED = {
    "seedev-full": [("reference", "system"), ("reference", "flawed")],
    "seedev-binary": [("reference", "system")],
    "speech-sf": [("speech/annotations", "speech/system.json")],
    "lorehlt-edl": [("entities/reference.tab", f"entities/{n}.tab") for n in ("system", "flawed")],
    "lorehlt-sf": [("lorehlt-sf/reference", "lorehlt-sf/system")],
    "hub4": [
        ("comparison/reference.tpl", "comparison/bold.tpl"),
        ("templettes/reference.tpl", "templettes/flawed.tpl"),
    ],
    "lorehlt-mt": [("lorehlt-mt/reference", "lorehlt-mt/system")],
    **{
        f"ccu-{task}": [("ccu/reference", f"ccu-{task}/system")]
        for task in ("nd", "ed", "vd", "ad", "cd")
    },
}
CHECKED = {
    "ltf": ("rsd/valid", "ltf/valid"),
    "laf": ("rsd/valid", "laf/valid"),
    "lorehlt-mt": ("mt/valid/ltf", "lorehlt-mt/valid"),
    "ccu-ndmap": ("ccu/valid/reference", "ccu/valid/ndmap"),
}
ALONE = {"ccu-reference": "ccu/valid/reference", "ccu-ta2": "scores/ccu-ta2/system/responses.tsv"}
"""What is checked without anything beside it."""
SCORED |= {
    name: [(str(FIXTURES / use.against), str(FIXTURES / use.submission))]
    for name, use in CONTEXTS.items()
    if name not in {*SCORED, *CHECKED, *ALONE}
}
CASES = [(task, *pair) for task, pairs in SCORED.items() for pair in pairs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo.unpack(folder)
    for path in FIXTURES.glob("scores/ccu*"):
        shutil.copytree(path, folder / path.name)
    for name in ("lorehlt-sf", "lorehlt-mt"):
        shutil.copytree(FIXTURES / "scores" / name, folder / name)
    return folder


def named(path: Path) -> str | None:
    """The format of a file that no content tells: any text could be a transcript."""
    return "transcript" if "transcripts" in path.parts else None


def saved(path: Path, folder: Path, form: str) -> str:
    target = folder / f"{path.name}.{form}"
    convert(str(path), str(target), from_format=named(path), to_format=form)
    return str(target)


def test_every_task_is_tried() -> None:
    assert {*SCORED, *CHECKED, *ALONE} == {*tasks.BUILTIN}


@pytest.mark.sampled(18)
@pytest.mark.parametrize(("task", "reference", "system"), CASES)
def test_numbers_and_rules_are_those_of_the_files(
    task: str, reference: str, system: str, folder: Path, tmp_path: Path
) -> None:
    """One form is beside files as the submission, the other as the reference, and each of them
    beside the other: once loaded, both are the same corpus."""
    files = (str(folder / reference), str(folder / system))
    expected = score(task, *files, lenient=True, alignment=False)
    corpus, of_reader = read(files[1], named(Path(files[1])))
    left_out = {f.code for f in of_reader} | {*corpus.rejected_records["code"]} | {"COR109"}
    wanted = counted(validate(task, files[1], against=files[0]), left_out)
    gold, own = {}, {}
    for form in SAVED:
        (tmp_path / form / "own").mkdir(parents=True)
        gold[form] = saved(folder / reference, tmp_path / form, form)
        own[form] = saved(folder / system, tmp_path / form / "own", form)
    one, other = SAVED
    for pair in ((gold[one], own[other]), (files[0], own[one]), (gold[other], files[1])):
        found = score(task, *pair, lenient=True, alignment=False)
        assert found.metrics == expected.metrics, pair
    for form in SAVED:
        verdict = validate(task, own[form], against=gold[form])
        assert counted(verdict, left_out) == wanted, form
        unread = [f for f in verdict.findings if f.code == "COR109"]
        assert len(unread) == corpus.rejected_records.height


def counted(verdict, left_out):
    findings = verdict.of("submission").findings
    return Counter((f.code, f.record) for f in findings if f.code not in left_out)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", SAVED)
@pytest.mark.parametrize("task", CHECKED)
def test_checks_are_those_of_the_files(task: str, form: str, tmp_path: Path) -> None:
    reference, system = (FIXTURES / path for path in CHECKED[task])
    (tmp_path / "gold").mkdir()
    gold, own = saved(reference, tmp_path / "gold", form), saved(system, tmp_path, form)
    expected = validate(task, str(system), against=str(reference))
    for pair in ((own, gold), (own, str(reference)), (str(system), gold)):
        verdict = validate(task, pair[0], against=pair[1])
        assert (verdict.passed, verdict.by_code) == (expected.passed, expected.by_code)


@pytest.mark.parametrize("form", SAVED)
@pytest.mark.parametrize("task", ALONE)
def test_checks_without_a_reference_are_those_of_the_files(
    task: str, form: str, tmp_path: Path
) -> None:
    system = FIXTURES / ALONE[task]
    own = saved(system, tmp_path, form)
    verdict, expected = validate(task, own), validate(task, str(system))
    assert (verdict.passed, verdict.by_code) == (expected.passed, expected.by_code)
    if tasks.load(task).scored_alone:
        assert score(task, "", own).metrics == score(task, "", str(system)).metrics


def test_a_corpus_that_is_not_read_is_not_scored(folder: Path, tmp_path: Path) -> None:
    path = FIXTURES / "jsonl/invalid/COR101-later-version.jsonl"
    verdict = validate("lorehlt-edl", str(path), against=str(folder / "entities/reference.tab"))
    assert (verdict.passed, [*verdict.by_code]) == (False, ["COR101"])


def test_the_texts_of_an_option_may_be_saved(folder: Path, tmp_path: Path) -> None:
    hub4 = FIXTURES / "hub4/valid"
    corpus = saved(hub4 / "corpus.sgml", tmp_path, "jsonl")
    pair = (str(hub4 / "reference.tpl"), str(hub4 / "system.tpl"))
    expected = score("hub4", *pair, options={"corpus": str(hub4 / "corpus.sgml")}, lenient=True)
    found = score("hub4", *pair, options={"corpus": corpus}, lenient=True)
    assert found.metrics == expected.metrics
