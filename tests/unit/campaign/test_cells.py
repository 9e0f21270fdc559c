"""Cells of a campaign: the numbers of `score`, a row for what has none, and what is computed."""

from __future__ import annotations

import shutil

import polars as pl
import pytest

import hlteval
from hlteval.findings import finding
from hlteval.results.evaluation import COLUMNS
from hlteval.scoring.metric import CannotCount
from hlteval.scoring.seedev.metric import EventMatch
from hlteval.workflows.evaluation import campaign as workflow
from hlteval.workflows.evaluation import campaign_files
from hlteval.workflows.evaluation.campaign_files import Cache
from tests.unit.campaign.demo import TEMPLETTES, run, unpacked

BOLD = "comparison/bold.tpl"


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return unpacked(tmp_path_factory.mktemp("demo"), documents=10)


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def result(examples, cached):
    return run(examples, cached)


@pytest.fixture(scope="module")
def templettes(examples, cached):
    path = examples.with_name("templettes.toml")
    text = examples.read_text().replace("[submissions]", f'[submissions]\nbold = "{BOLD}"')
    path.write_text(text.partition("[tasks")[0] + TEMPLETTES)
    return run(path, cached)


def test_a_cell_has_the_numbers_and_intervals_of_score(templettes, examples):
    folder = examples.parent
    scores = hlteval.score(
        "hub4",
        folder / "comparison" / "reference.tpl",
        folder / BOLD,
        options={"premodifiers": "none"},
        bootstrap=20,
    )
    _, row = templettes.rows
    assert row.cell.condition == "none"
    assert row.result.metrics == scores.metrics
    assert row.result.intervals == scores.intervals
    assert row.result.signature == scores.signature
    assert row.result.notes == scores.notes


def test_the_table_has_a_row_per_metric_and_resample(templettes):
    table = templettes.to_frame()
    assert table.schema == COLUMNS
    own = table.filter(pl.col("submission") == "bold", pl.col("condition") == "none")
    assert own["metric"].unique(maintain_order=True).to_list() == ["both.f", "both.rec"]
    assert own.filter(metric="both.f")["resample"].to_list() == list(range(21))
    assert own.filter(pl.col("resample") > 0)["low"].null_count() == 40
    (value,) = own.filter(metric="both.f", resample=0).rows(named=True)
    drawn = own.filter(pl.col("metric") == "both.f", pl.col("resample") > 0)["value"]
    assert value["low"] == pytest.approx(drawn.quantile(0.025, "linear"))
    assert value["low"] < value["value"] < value["high"]


def test_a_cell_without_numbers_is_a_row_with_its_findings(result):
    rows = result.to_frame().filter(pl.col("status") != "scored", pl.col("profile") == "plan")
    flawed, absent = rows.rows(named=True)
    assert (flawed["submission"], flawed["status"], flawed["metric"]) == ("flawed", "refused", None)
    assert flawed["reason"].startswith("nothing was scored because of blocking findings (SEE101")
    assert flawed["errors"] == 15
    places = [(each["code"], each["file"], each["line"]) for each in flawed["findings"]]
    assert ("SEE101", "flawed/demo-1.a2", 6) in places
    assert absent["reason"] == "no such file or folder: absent (CPN201)"
    assert result.counts == {"scored": 2, "refused": 4}
    assert not result.complete


@pytest.mark.sampled(4)
@pytest.mark.parametrize("busy", [1, 256])
def test_numbers_do_not_depend_on_batches_and_parts(result, examples, tmp_path, busy, monkeypatch):
    monkeypatch.setattr(workflow, "BUSY", busy)
    other = run(examples, tmp_path, batch=1)
    assert other.to_frame().equals(result.to_frame())


def test_a_second_run_computes_nothing_that_is_known(result, examples, cached):
    again = run(examples, cached)
    assert (result.computed, again.computed) == (6, 2)  # what is absent may be there by now
    assert again.to_frame().equals(result.to_frame())


def test_only_what_is_new_is_computed(tmp_path):
    path = unpacked(tmp_path / "demo")
    cache = tmp_path / "cache"
    run(path, cache)
    annotations = path.parent / "system" / "demo-1.a2"
    annotations.write_text(annotations.read_text() + "\n")
    again = run(path, cache)
    assert {row.cell.submission for row in again.rows if row.new} == {"system", "absent"}
    path.write_text(path.read_text().replace('["plan", "official"]', '["plan"]\nlenient = true'))
    assert run(path, cache).computed == 3
    path.write_text(path.read_text().replace("resamples = 20", "resamples = 21"))
    assert run(path, cache).computed == 3


def test_other_versions_of_what_computes_compute_again(result, examples, cached, monkeypatch):
    others = {**campaign_files.versions(), "sacrebleu": "0"}
    monkeypatch.setattr(campaign_files, "versions", lambda: others)
    again = run(examples, cached)
    assert again.computed == len(again.rows) == 6
    assert again.to_frame().drop("key").equals(result.to_frame().drop("key"))


def test_what_a_missing_library_prevented_is_tried_again(tmp_path):
    path = unpacked(tmp_path)

    def unable(*_, **__):
        raise CannotCount(finding("MTS107").of("--metric"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EventMatch, "statistics", unable)
        assert run(path, tmp_path / "cache").counts.get("scored") is None
    assert run(path, tmp_path / "cache").counts["scored"] == 2


def test_a_cache_holds_in_another_folder_and_under_other_names(tmp_path):
    first, second = unpacked(tmp_path / "first"), unpacked(tmp_path / "second")
    before = run(first, tmp_path / "cache")
    (second.parent / "flawed").rename(second.parent / "renamed")
    second.write_text(second.read_text().replace('flawed = "flawed"', 'flawed = "renamed"'))
    after = run(second, tmp_path / "cache")
    assert {row.cell.submission for row in after.rows if row.new} == {"absent"}
    files = {each["file"] for row in after.to_frame()["findings"] for each in row}
    assert files == {"renamed/demo-1.a2", str(second)}
    kept = ["submission", "metric", "resample", "value", "errors", "key"]
    assert after.to_frame().select(kept).equals(before.to_frame().select(kept))


@pytest.mark.parametrize("damage", ["", "half", "other digits"])
def test_a_damaged_result_is_computed_again(result, examples, cached, damage):
    row = result.rows[0]
    path = Cache(cached).path(row.key)
    content = path.read_bytes()
    damaged = content.replace(b"0", b"1") if damage == "other digits" else damage.encode()
    path.write_bytes(damaged)
    again = run(examples, cached)
    assert [each.key for each in again.rows if each.new and each.key] == [row.key]
    assert again.to_frame().equals(result.to_frame())
    assert Cache(cached).get(row.key).metrics == row.result.metrics


def test_cells_of_the_same_content_are_computed_once(tmp_path):
    path = unpacked(tmp_path)
    shutil.copytree(tmp_path / "system", tmp_path / "copy")
    path.write_text(path.read_text().replace('flawed = "flawed"', 'copy = "copy"'))
    result = run(path, tmp_path / "cache")
    keys = [row.key for row in result.rows if row.cell.submission != "absent"]
    assert (len(keys), len(set(keys))) == (4, 2)
    assert len(list((tmp_path / "cache").glob("*/*.msgpack"))) == 2
