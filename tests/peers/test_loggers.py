"""Scores in MLflow's store of files, in events of TensorBoard, and in a callback of a Trainer."""

from __future__ import annotations

import os
import sys
from io import StringIO
from types import SimpleNamespace

import pytest

import hlteval
from tests.unit.reports.test_loggers import REFERENCE, SYSTEM, of_page

pytestmark = pytest.mark.long("the libraries of loggers take seconds to import")


@pytest.fixture(scope="module")
def scores() -> hlteval.Scores:
    return hlteval.score("labels", StringIO(REFERENCE), StringIO(SYSTEM))


def test_mlflow_keeps_the_numbers_of_each_step(scores, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    with mlflow.start_run() as run:
        numbers = hlteval.log(scores, "mlflow", step=1)
    hlteval.log(scores, "mlflow", step=2, run=run.info.run_id)
    client = mlflow.MlflowClient()
    kept = client.get_run(run.info.run_id).data
    assert kept.metrics == numbers
    assert kept.tags["hlteval_signature"] == scores.signature
    history = client.get_metric_history(run.info.run_id, "accuracy")
    assert [(metric.step, metric.value) for metric in history] == [(1, 0.5), (2, 0.5)]


def test_tensorboard_reads_the_events(scores, tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    numbers = hlteval.log(scores, "tensorboard", step=3, run=tmp_path, prefix="dev/")
    reader = events.EventAccumulator(os.fspath(tmp_path))
    reader.Reload()
    tags = reader.Tags()
    assert {*tags["scalars"], *tags["tensors"]} >= numbers.keys()


def test_a_trainer_calls_the_callback(scores, monkeypatch):
    transformers = pytest.importorskip("transformers")
    names: dict[str, object] = {}
    exec(of_page("scoring.py"), names)
    rows = list[tuple[object, ...]]()
    writer = SimpleNamespace(add_scalar=lambda *row: rows.append(row))
    callback = names["Scoring"](
        "labels", StringIO(REFERENCE), lambda _: StringIO(SYSTEM), run=writer
    )
    assert isinstance(callback, transformers.TrainerCallback)
    state, metrics = transformers.TrainerState(global_step=7), dict[str, float]()
    callback.on_evaluate(None, state, transformers.TrainerControl(), metrics=metrics)
    assert metrics["eval_accuracy"] == 0.5
    assert ("dev/accuracy", 0.5, 7) in rows


def test_evaluate_loads_the_metric(tmp_path, monkeypatch):
    evaluate = pytest.importorskip("evaluate")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    file = tmp_path / "hlteval_metric.py"
    file.write_text(of_page(file.name), "utf-8")
    metric = evaluate.load(os.fspath(file), "mentions", cache_dir=os.fspath(tmp_path / "cache"))
    values = metric.compute(predictions=[["B-X", "O"], ["O"]], references=[["B-X", "O"], ["B-X"]])
    assert values["micro_recall"] == 0.5
    sys.modules.pop("hlteval_metric", None)
