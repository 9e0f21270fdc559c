"""Batches: neither findings nor scores depend on their size, nor on how many files a side has."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from hlteval import convert, tasks
from hlteval.converters import load
from hlteval.workflows.run.batches import Submission
from tests.runs import open_sides, score, validate

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"
TRIALS = runpy.run_path(str(Path(__file__).with_name("trials.py")))
EVERYTHING = 10_000
FEW = 10


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return list(TRIALS["trials"](tmp_path_factory.mktemp("trials")))


def opened_trial(trial: Any) -> Submission:
    against = trial.against and str(trial.against)
    return open_sides(trial.task, str(trial.submission), against)


def layouts(trial: Any) -> tuple[str, str]:
    """The layouts of the submission and of what it is checked against."""
    opened = opened_trial(trial)
    return opened.format.layout, opened.reference_format.layout if trial.against else ""


def sizes(trial: Any) -> tuple[int, ...]:
    """A document per batch, and two; where there are many beside others, some per batch.

    There is one batch of a single file, whatever its size is to be: nothing can be compared.
    """
    if layouts(trial)[0] == "single_file":
        return ()
    if len(list(trial.submission.iterdir())) <= FEW:
        return (1, 2)
    return (3,) if trial.against else (1,)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("task", list(tasks.task_names()))
def test_a_task_gives_the_same_whatever_the_size_of_batches(task: str, trials: list[Any]) -> None:
    own = [trial for trial in trials if trial.task == task]
    assert own
    outcome: Callable[..., dict[str, Any]] = TRIALS["outcome"]
    for trial in own:
        if tried := sizes(trial):
            everything = outcome(trial, EVERYTHING)
            assert all(outcome(trial, size) == everything for size in tried), trial.name
        else:
            assert batch_numbers(trial) == {1}, trial.name


def batch_numbers(trial: Any) -> set[int]:
    """How many batches of any size there are."""
    opened = opened_trial(trial)
    return {len(list(map(list, opened.batches(size)))) for size in (1, EVERYTHING)}


def test_the_trials_have_every_pairing_of_layouts_and_findings_in_each(trials: list[Any]) -> None:
    pairings = {layouts(trial) for trial in trials}
    both = ("per_document", "single_file")
    assert pairings >= {(item, other) for item in both for other in (*both, "")}
    assert {trial.task for trial in trials if trial.scored} == {
        name for name in tasks.task_names() if tasks.load(name).metric
    }


LTF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LCTL_TEXT SYSTEM "ltf.v1.5.dtd">
<LCTL_TEXT>
<DOC id="{name}" lang="eng">
<TEXT>
<SEG id="segment-0" start_char="0" end_char="5">
<ORIGINAL_TEXT>Osh {word}</ORIGINAL_TEXT>
<TOKEN id="token-0-0" pos="word" morph="none" start_char="0" end_char="2">Osh</TOKEN>
<TOKEN id="token-0-1" pos="word" morph="none" start_char="4" end_char="5">{word}</TOKEN>
</SEG>
</TEXT>
</DOC>
</LCTL_TEXT>
"""


def documents(folder: Path, words: Iterable[tuple[str, str]]) -> Path:
    """LTF files of the documents of some names, each with a word of its own."""
    folder.mkdir()
    for name, word in words:
        (folder / f"{name}.ltf.xml").write_text(LTF.format(name=name, word=word), "utf-8")
    return folder


@pytest.mark.parametrize("single", [False, True], ids=["per_document", "single_file"])
def test_all_of_600_documents_are_checked(single: bool, tmp_path: Path) -> None:
    """With a reference of one file, those from the 500th on were checked against nothing."""
    names = [f"d{number:03}" for number in range(600)]
    system = documents(tmp_path / "system", ((name, "in") for name in names))
    reference = str(documents(tmp_path / "reference", ((name, "is") for name in names)))
    if single:
        convert(reference, f"{reference}.jsonl")
        reference += ".jsonl"
    verdict = validate("ltf", str(system), against=reference)
    assert verdict.by_code == {"LTF307": 600}
    assert len({finding.file for finding in verdict.findings}) == 600


@pytest.mark.parametrize("single", [False, True], ids=["per_document", "single_file"])
@pytest.mark.parametrize("size", [1, 2, EVERYTHING])
def test_a_document_is_found_where_its_file_has_another_name(
    size: int, single: bool, tmp_path: Path
) -> None:
    system = documents(tmp_path / "system", [("d1", "in"), ("d2", "is"), ("d3", "is")])
    (system / "d1.ltf.xml").rename(system / "d9.ltf.xml")
    against = str(documents(tmp_path / "reference", [(f"d{n}", "is") for n in range(1, 9)]))
    if single:
        convert(against, f"{against}.jsonl")
        against += ".jsonl"
    verdict = validate("ltf", str(system), against=against, batch=size)
    assert verdict.by_code == {"LTF201": 1, "LTF307": 1}


@pytest.mark.parametrize("size", [1, 2, EVERYTHING])
def test_documents_without_a_file_of_the_submission_are_in_some_batch(
    size: int, tmp_path: Path
) -> None:
    system = documents(tmp_path / "system", [("d3", "is")])
    reference = str(documents(tmp_path / "reference", [(f"d{n}", "is") for n in range(1, 6)]))
    convert(reference, f"{reference}.jsonl")
    for path in (reference, f"{reference}.jsonl"):
        opened = open_sides("ltf", str(system), path)
        pairs = [
            (pair.reference.corpus.documents["name"], pair.system.corpus.documents["name"])
            for pair in opened.pairs(size)
        ]
        assert [name for names, _ in pairs for name in names] == ["d1", "d2", "d3", "d4", "d5"]
        assert [name for _, names in pairs for name in names] == ["d3"]
        assert len(pairs) == -(-5 // size)


@pytest.mark.parametrize("size", [1, EVERYTHING])
def test_what_is_wrong_with_a_reference_of_one_file_is_reported_once(
    size: int, tmp_path: Path
) -> None:
    system = documents(tmp_path / "system", [("d1", "is"), ("d2", "is"), ("d3", "is")])
    reference = tmp_path / "texts.jsonl"
    reference.write_text('{"format":"hlteval-corpus","version":1}\n{}\n', "utf-8")
    verdict = validate("ltf", str(system), against=str(reference), batch=size)
    assert verdict.by_code == {"COR103": 1}
    (tmp_path / "empty").mkdir()
    verdict = validate("ltf", str(tmp_path / "empty"), against=str(reference), batch=size)
    assert verdict.by_code == {"COR103": 1, "SRC104": 1}


def test_a_submission_to_the_other_task_is_reported_once_in_all_batches(tmp_path: Path) -> None:
    full = FIXTURES / "standoff" / "valid" / "full"
    path = FIXTURES / "seedev" / "invalid" / "SEE103-binary-names"
    for size in (1, 2):
        verdict = validate("seedev-full", str(path), against=str(full), batch=size)
        assert verdict.by_code == {"SEE103": 1}


@pytest.mark.parametrize("reference", ["appen", "jsonl"])
def test_a_submission_of_one_file_is_scored_alike_against_both_layouts(
    reference: str, tmp_path: Path
) -> None:
    submitted = str(FIXTURES / "speech-sf" / "valid" / "submission.json")
    against = str(FIXTURES / "appen" / "valid")
    expected = score("speech-sf", against, submitted, lenient=True)
    if reference == "jsonl":
        against = str(tmp_path / "frames.jsonl")
        convert(str(FIXTURES / "appen" / "valid"), against)
    for size in (1, 2, EVERYTHING):
        found = score("speech-sf", against, submitted, lenient=True, batch=size)
        assert found.metrics == expected.metrics


def test_every_format_declares_how_it_keeps_documents() -> None:
    from hlteval.converters import BUILTIN

    declared = {name: load(name).layout for name in BUILTIN}
    assert {name for name, layout in declared.items() if layout == "per_document"} == {
        *("standoff", "brat", "ltf", "rsd", "laf", "text", "appen", "lorehlt-sf-reference"),
        *(
            "audacity",
            "elan",
            "webvtt",
            "lorehlt-mt",
            "textgrid",
            "gate-xml",
            "cas-xmi",
            "cas-json",
        ),
        "webanno-tsv",
    }
