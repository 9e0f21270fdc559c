"""Validation runs: documents in batches, several submissions, and what makes one fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlteval.workflows.run.batches import NothingGiven
from tests.runs import open_sides, validate, validate_all

FIXTURES = Path(__file__).parents[3] / "fixtures"
REFERENCE = str(FIXTURES / "standoff" / "valid" / "full")


def fixture(code: str) -> str:
    (path,) = [path for path in FIXTURES.glob("*/invalid/*") if path.name.startswith(code)]
    return str(path)


@pytest.mark.parametrize(
    ("code", "fail_on", "passed"),
    [
        ("SEE205-entity", "error", False),
        ("SEE301", "error", True),
        ("SEE301", "warning", False),
        ("STD303", "warning", True),
        ("STD303", "info", False),
    ],
)
def test_severities_decide(code: str, fail_on: str, passed: bool) -> None:
    verdict = validate_all("seedev-full", [fixture(code)], against=REFERENCE, fail_on=fail_on)
    assert verdict.passed is passed


def test_several_submissions_are_one_verdict() -> None:
    verdict = validate_all("seedev-full", [fixture("SEE301"), fixture("STD303")], against=REFERENCE)
    assert verdict.by_code == {"SEE301": 1, "STD303": 1}
    both = [fixture("SEE301"), fixture("SEE401")]
    assert not validate_all("seedev-full", both, against=REFERENCE).passed


def test_without_documents_there_is_nothing_to_check() -> None:
    with pytest.raises(NothingGiven, match="--against"):
        validate("seedev-full", fixture("STD303"))


def test_a_source_that_cannot_be_opened_is_a_finding_even_so(tmp_path: Path) -> None:
    (tmp_path / "run1.zip").write_bytes(b"rubbish")
    verdict = validate("seedev-full", str(tmp_path / "run1.zip"))
    assert list(verdict.by_code) == ["SRC101"]


def names(pairs_of: str, size: int) -> list[list[str]]:
    opened = open_sides("seedev-full", pairs_of, REFERENCE)
    pairs = list(opened.pairs(size))
    for pair in pairs:
        # Both sides number their documents alike, also where one has none of a name.
        numbered = {
            side: dict(reading.corpus.documents.select("name", "row").iter_rows())
            for side, reading in (("reference", pair.reference), ("system", pair.system))
        }
        shared = numbered["reference"].keys() & numbered["system"].keys()
        assert all(numbered["reference"][n] == numbered["system"][n] for n in shared)
    return [
        sorted({*pair.reference.corpus.documents["name"], *pair.system.corpus.documents["name"]})
        for pair in pairs
    ]


def test_documents_of_both_sides_come_together() -> None:
    assert names(fixture("SEE402"), 500) == [["seed-1", "seed-2", "seed-3"]]
    assert names(fixture("SEE402"), 2) == [["seed-1", "seed-2"], ["seed-3"]]
    assert names(fixture("SEE401"), 1) == [["seed-1"], ["seed-2"]]


def test_each_batch_is_told() -> None:
    steps: list[int] = []
    validate("seedev-full", REFERENCE, step=lambda *_: steps.append(1))
    assert steps == [1]


def test_findings_come_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    for name in ("seed-2.a2", "seed-1.a2"):
        (tmp_path / name).write_text("X2\tBinding A:T1\nX1 no tab\n", "utf-8")
    verdict = validate("seedev-full", str(tmp_path), against=REFERENCE)
    places = [((f.file or "")[-9:], f.span.line if f.span else 0, f.code) for f in verdict.findings]
    assert places == [
        ("seed-1.a2", 1, "STD102"),
        ("seed-1.a2", 2, "STD101"),
        ("seed-2.a2", 1, "STD102"),
        ("seed-2.a2", 2, "STD101"),
    ]


def test_a_faulty_reference_is_reported_as_such_and_fails_no_submission(tmp_path: Path) -> None:
    system = tmp_path / "system"
    reference = tmp_path / "reference"
    shutil.copytree(REFERENCE, reference)
    with (reference / "seed-1.a2").open("a", encoding="utf-8") as stream:
        stream.write("E90 Binding\n")
    system.mkdir()
    for path in Path(REFERENCE).glob("*.a2"):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        events = "".join(line for line in lines if line[0] in "EM")
        (system / path.name).write_text(events, "utf-8")
    verdict = validate("seedev-full", str(system), against=str(reference))
    assert [(finding.code, finding.side) for finding in verdict.findings] == [
        ("STD101", "reference")
    ]
    assert verdict.passed
    assert verdict.paths == {"submission": str(system), "reference": str(reference)}
