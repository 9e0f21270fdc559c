"""Annotators of declared tasks: labels count as they do in scores, and numbers as numbers."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from hlteval import agreement

ONES = [1.5, 2.0, 3.5, 4.0, 5.0]
TWOS = [1.0, 2.0, 4.0, 4.5, 3.0]


def table(path: Path, labels: list[object]) -> str:
    """A table of labels of documents d0, d1 and so on."""
    rows = "".join(f"d{at}\t{label}\n" for at, label in enumerate(labels))
    path.write_text(f"id\tlabel\n{rows}", "utf-8")
    return str(path)


def declare(folder: Path, unit: str, labels: str) -> str:
    path = folder / "own.task.toml"
    path.write_text(f'[task]\nunit = "{unit}"\n[labels]\n{labels}\n', "utf-8")
    return str(path)


def coefficients(task: str, paths: list[str], **options: str) -> dict[tuple[str, str], float]:
    found = agreement(task, paths, bootstrap=0, options=options)
    return {
        (each.judged, each.coefficient): each.value
        for each in found.coefficients
        if each.label is None and each.document is None and each.value is not None
    }


def interval_alpha(first: list[float], second: list[float]) -> float:
    """Krippendorff's alpha of two annotators by its definition: pairs in units, and of all."""
    every = [*first, *second]
    within = 2 * sum((x - y) ** 2 for x, y in zip(first, second, strict=True))
    across = 2 * sum((x - y) ** 2 for x, y in combinations(every, 2))
    return 1 - (len(every) - 1) * within / across


@pytest.mark.parametrize("declared", [False, True])
def test_numbers_have_coefficients_of_numbers_only(declared: bool, tmp_path: Path) -> None:
    paths = [table(tmp_path / "a.tsv", [*ONES]), table(tmp_path / "b.tsv", [*TWOS])]
    task = declare(tmp_path, "labels", 'kind = "numbers"') if declared else "labels"
    found = coefficients(task, paths, **({} if declared else {"kind": "numbers"}))
    assert {name for _, name in found} == {"unit_f1", "ccc", "alpha"}
    assert found["number", "alpha"] == pytest.approx(interval_alpha(ONES, TWOS))
    x, y = np.array(ONES), np.array(TWOS)
    ccc = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert found["number", "ccc"] == pytest.approx(ccc)


def test_words_of_numbers_are_mapped_and_others_left_out(tmp_path: Path) -> None:
    paths = [
        table(tmp_path / "a.tsv", [*ONES, "low", "-", 4]),
        table(tmp_path / "b.tsv", [*TWOS, "2", "3", "-"]),
    ]
    labels = 'kind = "numbers"\nmap = { low = "1" }\nignore = ["-"]'
    found = coefficients(declare(tmp_path, "labels", labels), paths)
    assert found["number", "alpha"] == pytest.approx(interval_alpha([*ONES, 1], [*TWOS, 2]))


@pytest.mark.parametrize(
    ("labels", "agreed", "units"),
    [
        ('map = { X = "x" }', 3 / 4, 1.0),
        ('ignore = ["X"]', 2 / 2, 2 * 2 / 6),
        ("ignore = []", 2 / 4, 1.0),
        ('ignore = []\nmap = { X = "x" }\ndeclared = ["x"]\nundeclared = "ignore"', 1.0, 2 / 3),
        ('ignore = []\nmap = { X = "z", z = "x" }\ndeclared = ["x", "y"]', 3 / 4, 1.0),
        ('ignore = ["z"]\nmap = { X = "w", w = "z" }', 2 / 2, 2 * 2 / 6),
        ('declared = ["x", "y"]\nundeclared = "ignore"', 2 / 2, 2 * 2 / 6),
    ],
)
@pytest.mark.parametrize("unit", ["labels", "mentions"])
def test_labels_count_as_in_scores(
    unit: str, labels: str, agreed: float, units: float, tmp_path: Path
) -> None:
    """Of four units, X or x is in the first and third of a, and in the first of b."""
    sides = {"a": ["x", "y", "X", "y"], "b": ["X", "y", "y", "y"]}
    paths = []
    for name, own in sides.items():
        if unit == "labels":
            paths.append(table(tmp_path / f"{name}.tsv", [*own]))
            continue
        (tmp_path / name).mkdir()
        lines = [f"T{at}\t{label} {at} {at + 1}\t{at}\n" for at, label in enumerate(own)]
        (tmp_path / name / "d.ann").write_text("".join(lines), "utf-8")
        (tmp_path / name / "d.txt").write_text("0123", "utf-8")
        paths.append(str(tmp_path / name))
    found = coefficients(declare(tmp_path, unit, labels), paths)
    assert found["label", "agreement"] == agreed
    assert found["label", "unit_f1"] == pytest.approx(units)
