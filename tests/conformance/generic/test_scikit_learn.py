"""The numbers of scikit-learn, from tables that the reader of label tables reads."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

from hlteval.converters import load
from hlteval.representation import Corpus, of_documents
from hlteval.scoring.generic.averages import RATES
from hlteval.scoring.generic.labels import Options
from hlteval.scoring.generic.official_scikit_learn import OfficialLabels
from hlteval.sources import open_source

CASES = [
    *("01-binary", "02-three", "03-label-only-in-pred", "04-label-only-in-gold"),
    *("05-given-labels-subset", "06-given-labels-superset", "07-all-right", "08-all-wrong"),
    *("09-one-label", "10-numbers-as-text", "11-imbalanced", "12-unicode", "13-multilabel"),
    *("14-multilabel-empty-both", "15-multilabel-given-labels"),
    *("16-multilabel-label-never-right", "r1-random", "r2-random", "r3-random", "r4-random"),
]
#: How a report calls the rates.
NAMES = dict(zip(("precision", "recall", "f1-score"), RATES, strict=True))
UNDEFINED: dict[str, Literal["none", 0, 1]] = {"0": 0, "1": 1, "nan": "none"}


def corpus(path: Path, column: str, kind: str) -> Corpus:
    settings = {"document": "id", "label": column} | ({"separator": ";"} if kind == "multi" else {})
    (result,) = load("label-table").with_settings(settings).read(open_source(str(path)))
    assert result.findings == ()
    return result.corpus


def scored(sides: list[Corpus], options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    metric = OfficialLabels("official", options)
    counts, _ = metric.statistics(*sides)
    values, tables = metric.score(metric.total([counts]))
    return values, {row["label"]: row for row in tables["labels"].to_dicts()}


def listed(sides: list[Corpus], labels: tuple[str, ...]) -> list[Corpus]:
    """The documents that have listed labels on both sides."""
    pairs = zip(
        *(side.instances["label"] for side in sides), sides[0].documents["name"], strict=True
    )
    names = [name for ours, theirs, name in pairs if {ours, theirs} <= {*labels}]
    return [of_documents(side, pl.Series(names)) for side in sides]


def test_every_case_is_held(shared: Path) -> None:
    assert {path.name for path in (shared / "cases/generic/sklearn").iterdir()} == {*CASES}


@pytest.mark.parametrize("case", CASES)
def test_official_gives_the_numbers_of_the_tool(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/sklearn" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    result, kind = expected["result"], expected["kind"]
    sides = [corpus(folder / "data.tsv", column, kind) for column in ("gold", "pred")]
    given = tuple(expected["given_labels"] or ())
    # of several labels, those that are not listed are dropped
    seen = {label for side in sides for label in side.instances["label"]}
    ignore = tuple(seen - set(given)) if kind == "multi" and given else ()
    for zero, undefined in UNDEFINED.items():
        options = Options(
            average=("micro", "macro", "weighted", "samples"),
            average_labels=given,
            declared=given,
            macro_over="seen",
            undefined=undefined,
            ignore=ignore,
        )
        values, labels = scored(sides, options)
        for title, row in result[f"report_zero_division_{zero}"].items():
            if title == "accuracy":
                assert values["micro.f1"] == pytest.approx(row, abs=1e-9)
                continue
            average = title.removesuffix(" avg")
            own = {rate: values.get(f"{average}.{rate}") for rate in RATES}
            if average == title:
                own = labels[title]
                assert own["support"] == row["support"]
            found = {name: nan if own[rate] is None else own[rate] for name, rate in NAMES.items()}
            wanted = {name: float(row[name]) for name in NAMES}
            assert found == pytest.approx(wanted, abs=1e-9, nan_ok=True)
    if kind == "single" and seen - set(given or seen):  # kappa is over documents of listed labels
        values["kappa"] = scored(listed(sides, given), options)[0]["kappa"]
    names = {"accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy"}
    names |= {"cohen_kappa": "kappa", "mcc": "mcc", "subset_accuracy": "accuracy"}
    for title, name in names.items():
        if title in result:
            value = nan if values[name] is None else values[name]
            assert value == pytest.approx(float(result[title]), abs=1e-9, nan_ok=True), title
