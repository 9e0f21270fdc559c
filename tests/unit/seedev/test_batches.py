"""Findings of SeeDev that depend on all documents do not depend on the size of a batch."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from hlteval.converters.standoff.dialects import field_spans
from tests import runs as validation

REFERENCE = Path(__file__).parents[3] / "fixtures" / "standoff" / "valid" / "binary"
OWN = "E1\tBinds_To Functional_Molecule:T1 Molecule:T2\n"
OTHER = "E1\tBinding Functional_Molecule:T1 Molecule:T2\nE2\tBinding Molecule:T2 Tissue:T3\n"
NEITHER = "E1\tFoo Bar:T1\n"


@pytest.mark.parametrize(
    ("first", "second", "codes"),
    [
        pytest.param(OWN, OTHER, ["SEE101", "SEE101"], id="second"),
        pytest.param(OTHER, OWN, ["SEE101", "SEE101"], id="first"),
        pytest.param(OTHER, OTHER, ["SEE103"], id="both"),
        pytest.param(OTHER, NEITHER, ["SEE103", "SEE101"], id="neither"),
        pytest.param("M1\tNegation Annotation:E1\n", OTHER, ["SEE103"], id="modifier"),
        pytest.param("M1\tNegation Annotation:E1\n", OWN, ["SEE101"], id="own-modifier"),
        pytest.param("E1\tNegation Agent:T1\n", "", ["SEE101"], id="modifier-as-event"),
    ],
)
def test_types_of_the_other_task_are_judged_over_all_documents(
    first: str, second: str, codes: list[str], tmp_path: Path
) -> None:
    (tmp_path / "seed-1.a2").write_text(first, "utf-8")
    (tmp_path / "seed-2.a2").write_text(second, "utf-8")
    found = [
        validation.validate("seedev-binary", str(tmp_path), against=str(REFERENCE), batch=size)
        for size in (1, 2, 500)
    ]
    assert [verdict.findings for verdict in found] == [found[0].findings] * 3
    kept = [item.code for item in found[0].findings if item.code in {"SEE101", "SEE103"}]
    assert sorted(kept) == sorted(codes)


def test_a_reference_of_the_other_task_is_one_finding_in_batches_of_any_size(
    tmp_path: Path,
) -> None:
    for name in ("seed-1.a2", "seed-2.a2"):
        (tmp_path / name).write_text(OWN, "utf-8")
    gold = str(REFERENCE.parent / "full")
    found = [
        validation.validate("seedev-binary", str(tmp_path), against=gold, batch=size).findings
        for size in (1, 500)
    ]
    assert found[0] == found[1]
    assert [item.code for item in found[0] if item.side == "reference"] == ["SEE103"]


@pytest.mark.parametrize(("content", "codes"), [(OTHER, {"SEE103"}), (OWN + OTHER, {"SEE101"})])
def test_only_findings_that_count_are_looked_up(
    content: str, codes: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types of the other task are on every line, and are one finding where all are of that."""
    looked_up: list[str] = []

    def spans(record: str, *arguments: Any) -> Any:
        looked_up.append(record)
        return field_spans(record, *arguments)

    monkeypatch.setattr("hlteval.converters.standoff.reading.field_spans", spans)
    (tmp_path / "seed-1.a2").write_text(content, "utf-8")
    verdict = validation.validate("seedev-binary", str(tmp_path), against=str(REFERENCE))
    kept = [item for item in verdict.findings if item.code in {"SEE101", "SEE103"}]
    assert {item.code for item in kept} == codes
    assert all(item.span and item.excerpt for item in kept)
    placed = [item for item in verdict.findings if item.span]
    assert len(looked_up) <= len(placed)


def test_findings_of_other_processes_are_looked_up_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "seed-1.a2").write_text(OWN + OTHER, "utf-8")
    given: dict[str, Any] = {"task": "seedev-binary", "path": str(tmp_path)}
    given |= {"against": str(REFERENCE), "profile": "plan"}
    check = validation.opened_check(**given)
    for batch in validation.opened_check(**given).results(1):
        for checked in batch:
            check.add(pickle.loads(pickle.dumps(checked)))
    assert check.verdict() == validation.validate(**given)
