"""The modes of comparing relations, from folders of brat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.scoring.generic.averages import RATES
from hlteval.scoring.generic.frames import Arguments
from hlteval.scoring.generic.relations import Options, Relations
from hlteval.sources import open_source

CASES = [
    *("01-perfect", "02-argument-type-wrong", "03-boundary-wrong", "04-boundary-wrong-same-end"),
    *("05-direction", "06-direction-symmetric", "07-relation-type", "08-duplicate-relation"),
    *("09-duplicate-entities", "10-missing-and-spurious", "11-undeclared-label"),
    *("12-label-never-used", "13-nothing-predicted", "14-document-missing"),
    *("15-two-gold-relations-one-overlap", "16-same-arguments-two-relations"),
    *("r1-random", "r2-random", "r3-random", "r4-random"),
]
MODES = {
    "strict": "span+label",
    "boundaries": "span",
    "head_end": "end",
    "head_end_typed": "end+label",
    "relaxed_typed_overlap": "overlap",
}


def corpus(folder: Path) -> Corpus:
    return Corpus.concat(result.corpus for result in load("brat").read(open_source(str(folder))))


def rounded(row: dict[str, Any]) -> dict[str, float]:
    """The rates; the cases have 0 where nothing is defined."""
    return {rate: row[rate] or 0.0 for rate in RATES}


def scored(sides: list[Corpus], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    metric = Relations("plan", Options(undefined=0, **options))
    counts, alignment = metric.statistics(*sides)
    assert alignment is not None
    values, tables = metric.score(metric.total([counts]))
    return values, {row["label"]: row for row in tables["labels"].to_dicts()}


def test_every_case_and_mode_is_held(shared: Path) -> None:
    assert {path.name for path in (shared / "cases/generic/relations").iterdir()} == {*CASES}
    assert {*MODES.values()} == {*get_args(Arguments)}


@pytest.mark.parametrize("case", CASES)
def test_every_mode_gives_its_numbers(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/relations" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    sides = [corpus(folder / name) for name in ("gold", "pred")]
    shared_options = {"symmetric": tuple(expected["symmetric"])}
    declared = tuple(expected["declared_labels"])
    for mode, arguments in MODES.items():
        own = expected["result"][mode]
        values, labels = scored(sides, arguments=arguments, declared=declared, **shared_options)
        seen, _ = scored(sides, arguments=arguments, macro_over="seen", **shared_options)
        found = {
            "micro": {rate: values[f"micro.{rate}"] for rate in RATES},
            "macro_over_declared": {rate: values[f"macro.{rate}"] for rate in RATES},
            "macro_over_seen": {rate: seen[f"macro.{rate}"] for rate in RATES},
        }
        for name, rates in found.items():
            assert rounded(rates) == pytest.approx(rounded(own[name]), abs=1e-9), (mode, name)
        for label, row in own["by_label"].items():
            assert rounded(labels[label]) == pytest.approx(rounded(row), abs=1e-9), (mode, label)
        entities = {rate: values[f"entities.{rate}"] for rate in RATES}
        wanted = expected["result"]["entities"]["micro"]
        assert rounded(entities) == pytest.approx(rounded(wanted), abs=1e-9)
