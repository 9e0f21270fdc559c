"""HUB-4 scores against cases whose points were worked out by hand."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval.results.scores import Scores
from tests.runs import score

MODES = ("content", "extent", "both")
CASES = [
    "00_sample",
    "01_optional_missing",
    "02_optional_present",
    "03_pointers",
    "04_alternatives",
    "05_minimal_strings",
    "06_extents",
    "07_premodifiers",
    "08_whiteout",
    "09_glm_alignment",
    "10_noisy_tokens",
    "11_greedy_not_optimal",
    "12_unsegmented",
    "13_zero_f_optional",
    "14_layout",
    "15_optional_slot",
]
FILES = {"corpus", "hyp_corpus", "glm"}


def expected(shared: Path, case: str) -> dict[str, Any]:
    return json.loads((shared / "cases/hub4" / case / "expected.json").read_text("utf-8"))


@cache
def scored(shared: Path, case: str, **more: str) -> Scores:
    """The scores of a case, with its options as they would be typed."""
    folder = shared / "cases/hub4" / case
    options = dict(more)
    for name, value in json.loads((folder / "options.json").read_text("utf-8")).items():
        if name in FILES:
            options[name] = str(folder / value)
        elif isinstance(value, list):
            options[name] = ",".join(value)
        else:
            options[name] = "yes" if value is True else value
    options.setdefault("premodifiers", "none")  # cases that name none are runs without
    reference, system = str(folder / "reference.tpl"), str(folder / "hypothesis.tpl")
    return score("hub4", reference, system, options=options)


def differences(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The measures that differ, with both values."""
    wrong = {}
    for name, value in wanted.items():
        other = found[name.lower()]
        if (other is None) != (value is None) or abs((other or 0) - (value or 0)) > 5e-7:
            wrong[name] = (value, other)
    return wrong


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES)
def test_a_case_has_its_points_in_total_and_by_slot(shared, case):
    scores = scored(shared, case)
    for mode in MODES:
        wanted = expected(shared, case)["scores"][mode]
        total = {k.partition(".")[2]: v for k, v in scores.metrics.items() if k.startswith(mode)}
        assert not differences(total, wanted["total"]), mode
        slots = scores.tables["by_slot"].filter(pl.col("mode") == mode).to_dicts()
        by_name = {f"{row['type']}.{row['slot']}": row for row in slots}
        assert by_name.keys() == wanted["slots"].keys()
        for name, measures in wanted["slots"].items():
            assert not differences(by_name[name], measures), (mode, name)


@pytest.mark.parametrize("case", CASES)
def test_a_case_maps_its_instances_and_sets(shared, case):
    mapping = scored(shared, case).tables["mapping"]
    for mode in MODES:
        wanted = expected(shared, case)["scores"][mode]
        rows = mapping.filter(pl.col("mode") == mode)
        instances = rows.filter(pl.col("level") == "instance")
        both = instances.drop_nulls(["reference", "system"]).select("reference", "system")
        assert sorted(both.rows()) == sorted(map(tuple, wanted["instance_map"]))
        removed = instances.filter(pl.col("why").str.starts_with("optional, unmapped"))
        assert removed["reference"].to_list() == wanted["removed"]
        sets = rows.filter(pl.col("level") == "set").select("reference", "system").rows()
        assert sorted(sets, key=str) == sorted(map(tuple, wanted["instance_sets"]), key=str)


@pytest.mark.parametrize("case", CASES)
def test_every_level_of_the_mapping_has_the_same_points(shared, case):
    points = ("cor", "inc", "mis", "spu", "optional", "removed")
    rows = scored(shared, case).tables["mapping"].filter(pl.col("level") != "alternative")
    sums = rows.group_by("mode", "level").agg(pl.col(*points).sum())
    assert sums["level"].n_unique() == 4
    assert sums.drop("level").unique().height == len(MODES)


@pytest.mark.parametrize("case", ["11_greedy_not_optimal", "13_zero_f_optional"])
def test_other_policies_for_pairs_without_a_correct_point(shared, case):
    for name, modes in expected(shared, case)["policies"].items():
        scores = scored(shared, case, zero_f=name.removeprefix("zero_f="))
        for mode, wanted in modes.items():
            total = {k.partition(".")[2]: v for k, v in scores.metrics.items() if mode in k}
            assert not differences(total, wanted), (name, mode)


def test_the_sample_with_its_document_numbers_scored(shared):
    metrics = scored(shared, "00_sample", unscored="COMMENT,OBJ_STATUS").metrics
    assert [metrics[f"{mode}.cor"] for mode in MODES] == [10, 10, 19]
    assert metrics["both.f"] == 1


def test_the_best_mapping_has_more_correct_points_than_the_greedy_one(shared):
    scores = scored(shared, "11_greedy_not_optimal")
    lost = scores.tables["greedy_loss"].filter(pl.col("mode") == "content")
    assert lost.select("type", "greedy", "best").rows() == [("BREAD", 4, 6)]
    assert any("greedy mapping" in note for note in scores.notes)


def test_texts_that_differ_are_compared_in_the_columns_of_their_alignment(shared):
    rows = scored(shared, "09_glm_alignment").tables["mapping"]
    row = rows.filter(pl.col("slot") == "ORG", pl.col("level") == "fill").row(0, named=True)
    assert row["compared"] == row["compared_system"] == '"general motors" ##4#5#'


def test_the_numbers_do_not_depend_on_what_is_shown(shared):
    folder = shared / "cases/hub4/03_pointers"
    paths = str(folder / "reference.tpl"), str(folder / "hypothesis.tpl")
    assert score("hub4", *paths, alignment=False).metrics == score("hub4", *paths).metrics


def test_one_mode_alone_gives_the_same_numbers_and_null_for_the_others(shared):
    every, alone = (
        scored(shared, "05_minimal_strings"),
        scored(shared, "05_minimal_strings", mode="extent"),
    )
    assert alone.metrics["extent.f"] == every.metrics["extent.f"]
    assert alone.metrics["both.f"] is None
