"""References are judged like submissions: their findings, and what makes one unusable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fuzz.subjects import CONTEXTS
from hlteval import Refused, convert, tasks
from hlteval.findings import catalogue
from tests.runs import compare, score, validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
ROOM = FIXTURES / "reference" / "invalid"
SCORES = FIXTURES / "scores"
FULL = SCORES / "seedev-full"

# The task of each fixture; whether a submission is validated beside such a reference all the same;
# and a part of the help.
CASES = """
REF101-one-folder-deeper   seedev-full  no   reference/corpus, which has the gold files
REF101-empty-table         lorehlt-edl  no   use the file with the gold annotations
REF101-empty-templates     hub4         no   use the file with the gold annotations
REF101-empty-array         speech-sf    no   use the file with the gold annotations
REF102-test-data           seedev-full  yes  use a reference with gold annotations (.a2)
REF103-texts               lorehlt-edl  yes  edl-tab, neleval, corpus, jsonl
REF103-segments            speech-sf    yes  appen, speech-sf-json, corpus, jsonl
REF104-other-case          lorehlt-edl  no   in the case of the reference: ENG_D1, not eng_d1
REF104-suffix              seedev-full  no   remove .txt from the end of the names: seed-1
REF105-files               seedev-full  no   exchange them
REF105-formats             speech-sf    no   exchange them
REF105-confidences         speech-sf    no   exchange them
REF105-alternatives        hub4         no   exchange them
REF106-predictions-only    seedev-full  no   .txt or .a1 files of the documents
"""
NOT_SUBMITTED = """
REF107-one-document        lorehlt-edl  1 document of the reference is not in the submission: ENG_D2
"""
ROWS = [line.split(None, 3) for line in CASES.strip().splitlines()]


def paths(name: str) -> tuple[str, str]:
    """The reference and the system of a fixture."""
    found = {path.name.partition(".")[0]: str(path) for path in (ROOM / name).iterdir()}
    return found["reference"], found["system"]


def test_every_code_has_a_fixture() -> None:
    names = {line.split()[0] for line in (CASES + NOT_SUBMITTED).strip().splitlines() if line}
    assert names == {path.name for path in ROOM.iterdir()}
    codes = {code for code in catalogue() if code.startswith("REF")}
    assert {name[:6] for name in names} == codes


def test_a_document_that_was_not_submitted_is_no_fault() -> None:
    name, task, message = NOT_SUBMITTED.strip().split(None, 2)
    reference, system = paths(name)
    for profile in ("plan", "official"):
        verdict = validate(task, system, against=reference, profile=profile)
        (found,) = verdict.findings
        assert (found.code, found.side, found.severity) == (name[:6], "submission", "info")
        assert (found.message, found.file, found.blocking) == (message, None, False)
        assert verdict.outcome == "pass"


@pytest.mark.parametrize(("name", "task", "checked", "hint"), ROWS)
@pytest.mark.parametrize("lenient", [False, True])
def test_a_reference_that_cannot_be_used_gives_no_numbers(
    name: str, task: str, checked: str, hint: str, lenient: bool
) -> None:
    if lenient and name in {"REF105-confidences", "REF105-alternatives"}:
        assert score(task, *paths(name), lenient=True).notes
        return
    if lenient and name == "REF105-files":
        hint = "exchange them"
    with pytest.raises(Refused, match="in the reference") as refused:
        score(task, *paths(name), lenient=lenient)
    blocking = [item for item in refused.value.verdict.findings if item.blocking]
    assert [(item.code, item.side) for item in blocking] == [(name[:6], "reference")]
    assert hint in (blocking[0].help or "")
    assert blocking[0].file == paths(name)[0]
    assert refused.value.blocking == tuple(blocking)
    assert refused.value.whole is (name[:6] not in {"REF104", "REF105"})


@pytest.mark.parametrize(("name", "task", "checked", "hint"), ROWS)
def test_a_submission_fails_not_because_of_its_reference(
    name: str, task: str, checked: str, hint: str
) -> None:
    reference, system = paths(name)
    verdict = validate(task, system, against=reference)
    found = [finding.code for finding in verdict.findings if finding.side == "reference"]
    assert found == ([] if checked == "yes" else [name[:6]])
    assert verdict.decided is (checked == "yes")
    if checked == "no":
        assert verdict.outcome == "undecided"
        assert verdict.of("submission").findings == ()


def test_official_reports_the_same_and_goes_on_where_the_peer_does() -> None:
    for name in ("REF102-test-data", "REF101-empty-table"):
        task = next(row[1] for row in ROWS if row[0] == name)
        scores = score(task, *paths(name), profile="official")
        (found,) = [item for item in scores.verdict.findings if item.side == "reference"]
        assert (found.code, found.blocking) == (name[:6], False)
        assert any("in the reference (REF" in note for note in scores.notes)


@pytest.mark.sampled(3)
# Tasks that are scored alone have no reference that could be empty.
@pytest.mark.parametrize(
    ("task", "nothing"),
    [
        (name, nothing)
        for name in tasks.task_names()
        for nothing in ("folder", "file", "corpus")
        if tasks.load(name).metric and not tasks.load(name).scored_alone
        if nothing != "corpus" or "jsonl" in tasks.load(name).references
    ],
)
def test_with_an_empty_reference_there_are_no_numbers(
    task: str, nothing: str, tmp_path: Path
) -> None:
    reference = tmp_path / "reference"
    if nothing == "folder":
        reference.mkdir()
    elif nothing == "file":
        reference.write_text("\n", "utf-8")
    else:
        (tmp_path / "none.jsonl").write_text('{"format":"hlteval-corpus","version":1}\n', "utf-8")
        reference = tmp_path / "none.jsonl"
    system = {
        "speech-sf": FIXTURES / "speech-sf/valid/submission.json",
        "lorehlt-edl": SCORES / "lorehlt-edl/system.tab",
        "hub4": FIXTURES / "hub4/valid/system.tpl",
    }.get(task, SCORES / task / "system")
    if not system.exists():
        system = FIXTURES / CONTEXTS[task].submission
    codes = "REF10[14]|SRC104|LSF501|GEN301, REF104" + (
        "|CCR101" if task.startswith("ccu-") else ""
    )
    codes += "|XML101" if task == "lorehlt-mt" else ""
    for lenient in (False, True):
        with pytest.raises(Refused, match=rf"in the reference \(({codes})\)"):
            score(task, str(reference), str(system), lenient=lenient)


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """A reference with an unknown type, a dangling identifier and an event twice."""
    shutil.copytree(FULL / "reference", tmp_path / "gold")
    with (tmp_path / "gold" / "seed-1.a2").open("a", encoding="utf-8") as stream:
        stream.write("E90\tBindng Functional_Molecule:T1 Molecule:T1\n")
        stream.write("E91\tBinding Functional_Molecule:T99 Molecule:T1\n")
    return str(tmp_path / "gold")


def test_the_rules_run_on_the_reference_as_well(faulty: str) -> None:
    scores = score("seedev-full", faulty, str(FULL / "system"))
    found = scores.verdict.of("reference").findings
    assert {finding.code for finding in found} >= {"SEE101", "STD302"}
    assert not any(finding.blocking for finding in found)
    assert all(finding.span and finding.file == f"{faulty}/seed-1.a2" for finding in found)
    command = f"hlteval validate seedev-full {faulty} --as reference"
    assert any(command in note for note in scores.notes)
    assert (
        scores.verdict.of("submission").findings
        == validate("seedev-full", str(FULL / "system"), against=str(FULL / "reference")).findings
    )
    alone = validate("seedev-full", faulty, role="reference")
    assert (alone.outcome, alone.findings) == ("fail", found)


@pytest.mark.parametrize("size", [1, 500])
def test_findings_of_a_reference_do_not_depend_on_batches(size: int, faulty: str) -> None:
    for number in range(2, 5):
        for suffix in ("txt", "a1", "a2"):
            shutil.copyfile(f"{faulty}/seed-1.{suffix}", f"{faulty}/seed-{number}.{suffix}")
    verdict = validate("seedev-full", str(FULL / "system"), against=faulty, batch=size)
    codes = verdict.of("reference").by_code
    assert codes["SEE101"] == 4
    assert validate("seedev-full", faulty, role="reference").by_code == codes


def test_a_record_of_the_reference_that_cannot_be_read_blocks(tmp_path: Path) -> None:
    """It would be missing from the numbers of everybody."""
    shutil.copytree(FULL / "reference", tmp_path / "gold")
    with (tmp_path / "gold" / "seed-1.a2").open("a", encoding="utf-8") as stream:
        stream.write("E90 Binding\n")
    given = ("seedev-full", str(tmp_path / "gold"), str(FULL / "system"))
    with pytest.raises(Refused, match=r"in the reference \(STD101\)") as refused:
        score(*given)
    assert "--as reference" in refused.value.fix
    assert "--lenient" in refused.value.fix
    assert (
        score(*given, lenient=True).metrics
        == score("seedev-full", str(FULL / "reference"), given[2]).metrics
    )
    assert score(*given, profile="official").metrics["references"]


def test_systems_are_compared_with_a_faulty_reference_that_is_reported_once(faulty: str) -> None:
    other = Path(faulty).parent / "other"
    shutil.copytree(FULL / "system", other)
    comparison = compare("seedev-full", faulty, [str(FULL / "system"), str(other)])
    assert sum("in the reference" in note for note in comparison.notes) == 1
    with pytest.raises(Refused, match="in the reference"):
        compare("seedev-full", *[paths("REF102-test-data")[0]], [str(other), str(FULL / "system")])


@pytest.mark.parametrize(
    ("task", "reference", "against"),
    [
        ("seedev-binary", "scores/seedev-binary/reference", None),
        ("seedev-full", "scores/seedev-full/reference", None),
        ("speech-sf", "appen/valid", None),
        ("speech-sf", "speech-sf/valid/reference.json", "speech-sf/valid/segments.list"),
        ("lorehlt-edl", "scores/lorehlt-edl/reference.tab", "scores/lorehlt-edl/texts"),
        ("lorehlt-edl", "scores/lorehlt-edl/reference.tab", None),
        ("hub4", "hub4/valid/reference.tpl", "hub4/valid/corpus.sgml"),
        ("ltf", "ltf/valid", None),
        ("laf", "rsd/valid", None),
        ("lorehlt-mt", "lorehlt-mt/valid", None),
        ("lorehlt-mt", "lorehlt-mt/valid", "mt/valid/ltf"),
    ],
)
def test_a_valid_reference_passes_by_itself(task: str, reference: str, against: str | None) -> None:
    beside = str(FIXTURES / against) if against else None
    for profile in tasks.load(task).profiles:
        verdict = validate(
            task, str(FIXTURES / reference), against=beside, role="reference", profile=profile
        )
        assert verdict.outcome == "pass"
        assert verdict.side == "reference"
        assert not [item for item in verdict.findings if item.severity == "error"]


def test_what_a_saved_reference_lacks_is_found(tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    convert(str(SCORES / "lorehlt-edl" / "texts"), str(texts))
    with pytest.raises(Refused, match="REF102"):
        score("lorehlt-edl", str(texts), str(SCORES / "lorehlt-edl" / "system.tab"))
    verdict = validate("lorehlt-edl", str(texts), role="reference")
    assert (verdict.outcome, list(verdict.by_code)) == ("fail", ["REF102"])


def test_offsets_of_a_reference_are_held_to_the_texts_beside_it(tmp_path: Path) -> None:
    content = (SCORES / "lorehlt-edl" / "reference.tab").read_text("utf-8")
    gold = tmp_path / "gold.tab"
    gold.write_text(content.replace("ENG_D1:3-5", "ENG_D1:2-4"), "utf-8")
    texts = str(SCORES / "lorehlt-edl" / "texts")
    verdict = validate("lorehlt-edl", str(gold), against=texts, role="reference")
    assert (verdict.outcome, list(verdict.by_code)) == ("fail", ["EDL503"])
