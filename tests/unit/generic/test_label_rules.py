"""Rules about labels: what all batches show together, and labels that are mapped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hlteval import Refused
from tests.runs import score, validate

TASK = '[task]\nunit = "mentions"\n[labels]\ndeclared = ["Person", "Place"]\n'


def folder(path: Path, *labels: str) -> str:
    """A folder of brat: a document with one entity for each label."""
    path.mkdir()
    for at, label in enumerate(labels):
        (path / f"d{at}.txt").write_text("Ann\n", "utf-8")
        (path / f"d{at}.ann").write_text(f"T1\t{label} 0 3\tAnn\n", "utf-8")
    return str(path)


@pytest.mark.parametrize("batch", [None, 1, 2])
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["person", "place", "person"], {"GEN103": 1}),
        (["person", "place", "Person"], {"GEN101": 2}),
        (["person", "person"], {"GEN101": 2}),
        (["person", "place", "thing"], {"GEN101": 3}),
    ],
)
def test_letter_case_is_that_of_all_batches(
    labels: list[str], expected: dict[str, int], batch: int | None, tmp_path: Path
) -> None:
    (tmp_path / "own.task.toml").write_text(TASK, "utf-8")
    found = validate(
        str(tmp_path / "own.task.toml"), folder(tmp_path / "s", *labels), batch=batch
    ).findings
    assert Counter(item.code for item in found) == expected
    if "GEN103" in expected:
        assert found[0].help is not None
        assert '"person" = "Person", "place" = "Place"' in found[0].help


def test_each_side_has_its_own_labels(tmp_path: Path) -> None:
    """The reference has one label in other letter case, the system several."""
    (tmp_path / "own.task.toml").write_text(TASK, "utf-8")
    reference = folder(tmp_path / "g", "Person", "place")
    system = folder(tmp_path / "s", "person", "place")
    with pytest.raises(Refused) as refused:
        score(str(tmp_path / "own.task.toml"), reference, system, batch=1)
    found = {(item.code, item.side) for item in refused.value.verdict.findings}
    assert found == {("GEN101", "reference"), ("GEN103", "submission")}


def table(path: Path, *labels: str) -> str:
    rows = "".join(f"d{at}\t{label}\n" for at, label in enumerate(labels) if label)
    path.write_text(f"id\tlabel\n{rows}", "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("gold", "system", "codes"),
    [
        (["low", "2"], ["", "2"], ["GEN107"]),  # a word that counts as a number
        (["1", "2"], ["-", "2"], ["GEN107"]),  # a label that is left out is no number
        (["na", "2"], ["", "2"], []),  # mapped to a label that is left out
        (["1", "2"], ["low", "2"], []),
        (["1", "2"], ["high", "2"], ["GEN106"]),
    ],
)
def test_numbers_are_those_that_labels_are_mapped_to(
    gold: list[str], system: list[str], codes: list[str], tmp_path: Path
) -> None:
    task = tmp_path / "own.task.toml"
    task.write_text(
        '[task]\nunit = "labels"\n[labels]\nkind = "numbers"\nrange = [0, 5]\nignore = ["-"]\n'
        'map = { low = "1", high = "9", na = "-" }\n'
    )
    sides = {
        "path": table(tmp_path / "s.tsv", *system),
        "against": table(tmp_path / "g.tsv", *gold),
    }
    found = [item for item in validate(str(task), **sides).findings if item.code.startswith("GEN")]
    assert [item.code for item in found] == codes
