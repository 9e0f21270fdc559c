"""Documents of a reference that a submission does not have: one info, whatever the task."""

from __future__ import annotations

import json
import shutil
from itertools import chain
from pathlib import Path

import pytest

from hlteval import score, validate
from hlteval.workflows.run.checks import missing_documents
from tests.runs import opened_check

FIXTURES = Path(__file__).parents[3] / "fixtures"
SCORES = FIXTURES / "scores"
CODE = "REF107"


def table(path: Path, *names: str) -> str:
    """Write entity mentions, one in each document."""
    path.write_text("".join(f"R\tm{n}\tOsh\t{n}:3-5\tNIL1\tGPE\tNAM\t1.0\n" for n in names))
    return str(path)


def situations(path: Path, *names: str) -> str:
    """Write speech situation frames, one in each document."""
    frame = {"Type": "Shelter", "TypeConfidence": 1}
    path.write_text(json.dumps([{"DocumentID": name, **frame} for name in names]))
    return str(path)


def templates(path: Path, *names: str) -> str:
    """Write templates, one of each document."""
    path.write_text("".join(f"<TEMPLATE-{n}-1> :=\n    DOC_NR: {n}\n" for n in names))
    return str(path)


WRITERS = {"lorehlt-edl": table, "hub4": templates}


@pytest.mark.parametrize("task", WRITERS)
def test_the_number_and_the_first_names(task: str, tmp_path: Path) -> None:
    write = WRITERS[task]
    reference = write(tmp_path / "reference", "D5", "D4", "D1", "D2", "D3")
    expected = {
        ("D1", "D2", "D3", "D4", "D5"): [],
        ("D1", "D3", "D4", "D5"): ["1 document of the reference is not in the submission: D2"],
        ("D3", "D5"): ["3 documents of the reference are not in the submission: D1, D2, D4"],
        ("D2",): ["4 documents of the reference are not in the submission: D1, D3, D4 and 1 more"],
    }
    for names, messages in expected.items():
        system = write(tmp_path / "system", *names)
        found = validate(task, system, against=reference).findings
        assert [item.message for item in found if item.code == CODE] == messages
        found = score(task, reference, system, lenient=True).verdict.findings
        assert [item.message for item in found if item.code == CODE] == messages


def test_speech_names_each_segment_in_a_finding_of_its_own(tmp_path: Path) -> None:
    reference = situations(tmp_path / "reference.json", "D1", "D2", "D3")
    system = situations(tmp_path / "system.json", "D2")
    found = validate("speech-sf", system, against=reference).findings
    named = sorted(item.message for item in found if item.code == "SSF102")
    assert named == ["no frame for segment D1", "no frame for segment D3"]
    assert CODE not in {item.code for item in found}


def test_of_a_list_only_the_listed_documents_count(tmp_path: Path) -> None:
    reference = table(tmp_path / "reference.tab", "D1", "D2", "D3")
    system = table(tmp_path / "system.tab", "D1")
    listed = tmp_path / "listed.txt"
    for names, codes in (("D1", set()), ("D1\nD2", {"EDL508"})):
        listed.write_text(names + "\n")
        options = {"documents": str(listed)}
        verdict = validate("lorehlt-edl", system, against=reference, options=options)
        assert set(verdict.by_code) == codes
    assert set(validate("lorehlt-edl", system, against=reference).by_code) == {CODE}


def test_a_list_of_documents_is_not_a_reference(tmp_path: Path) -> None:
    system, texts = table(tmp_path / "system.tab", "D1"), tmp_path / "texts"
    texts.mkdir()
    for name in ("D1", "D2"):
        (texts / f"{name}.rsd.txt").write_text("In Osh.\n")
    assert not validate("lorehlt-edl", system, against=str(texts)).by_code.get(CODE)


def test_nothing_read_and_nothing_in_common_have_findings_of_their_own(tmp_path: Path) -> None:
    reference = table(tmp_path / "reference.tab", "D1", "D2")
    for names, code in (((), "EDL101"), (("D9",), "REF104")):
        system = table(tmp_path / "system.tab", *names)
        verdict = validate("lorehlt-edl", system, against=reference)
        assert code in verdict.by_code
        assert CODE not in verdict.by_code


@pytest.mark.parametrize(
    ("task", "reference", "code"),
    [("ccu-nd", "ccu", "CCU301"), ("lorehlt-mt", "lorehlt-mt", "MTV201")],
)
def test_a_task_with_a_code_of_its_own_says_it_once(
    task: str, reference: str, code: str, tmp_path: Path
) -> None:
    copy, against = tmp_path / "system", str(SCORES / reference / "reference")
    shutil.copytree(SCORES / task / "system", copy)
    assert not {CODE, code} & set(validate(task, str(copy), against=against).by_code)
    first = min(path for path in copy.iterdir() if "index" not in path.name)
    first.unlink()
    for index in copy.glob("*.index.tab"):
        lines = index.read_text("utf-8").splitlines(keepends=True)
        index.write_text("".join(line for line in lines if first.name not in line), "utf-8")
    found = validate(task, str(copy), against=against).by_code
    assert found[code] == 1
    assert CODE not in found


@pytest.mark.parametrize("size", [1, None])
def test_of_a_folder_all_batches_are_known(size: int | None, tmp_path: Path) -> None:
    for side, names in {"reference": "abcde", "system": "bd"}.items():
        for name in names:
            for suffix in ("txt", "a1", "a2"):
                if side == "reference" or suffix == "a2":
                    path = tmp_path / side / f"{name}.{suffix}"
                    path.parent.mkdir(exist_ok=True)
                    path.write_text("Osh.\n" if suffix == "txt" else "")
    check = opened_check(
        task="seedev-full",
        path=str(tmp_path / "system"),
        against=str(tmp_path / "reference"),
        profile="plan",
    )
    for checked in chain.from_iterable(check.results(size)):
        check.add(checked)
    (found,) = missing_documents(check.opened, check.total)
    assert found.message == "3 documents of the reference are not in the submission: a, c, e"
    verdict = check.verdict()
    assert (verdict.by_code["SEE401"], CODE in verdict.by_code) == (3, False)
