"""The numbers of the official software of Bacteria Biotope, through the whole command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hlteval

ONTOLOGY = "OntoBiotope_BioNLP-OST-2019_parents.txt"
CASES = [
    *("01-norm-perfect", "02-norm-perturbed", "03-norm-ner-perfect", "04-norm-ner-perturbed"),
    *("05-rel-perfect", "06-rel-perturbed", "07-rel-ner-perfect", "08-rel-ner-perturbed"),
    *("09-kb-perfect", "10-kb-perturbed", "11-kb-ner-perfect", "12-kb-ner-perturbed"),
    "13-norm-extra-taxon",
]
#: Scorings that need files which the cases do not have.
NEEDING = ("(new in dev)", "(inside sentences)")


def test_every_case_is_held(shared: Path) -> None:
    folders = (path.name for path in (shared / "cases/generic/bb").iterdir() if path.is_dir())
    assert {*folders} == {*CASES}


def numbers(expected: dict[str, Any]) -> dict[tuple[str, str, str], float | None]:
    return {
        (evaluation, scoring, measure): None if value == "nan" else value
        for evaluation, scorings in expected["scores"].items()
        for scoring, measures in scorings.items()
        for measure, value in measures.items()
        if not scoring.endswith(NEEDING)
    }


@pytest.mark.parametrize("case", CASES)
def test_official_prints_the_numbers_of_the_software(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/bb" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    task = expected["task"].lower().replace("+", "-")
    options = {} if "rel" in task else {"ontology": str(folder.parent / ONTOLOGY)}
    result = hlteval.score(
        task, str(folder / "gold"), str(folder / "pred"), profile="official", **options
    )
    found = {
        tuple(row[:3]): row[3]
        for row in result.tables["scorings"].rows()
        if not row[1].endswith(NEEDING)
    }
    wanted = numbers(expected)
    assert list(found) == list(wanted)
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)
