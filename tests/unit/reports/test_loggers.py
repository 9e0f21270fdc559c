"""Scores in the loggers of experiments, each as a stub that keeps what it gets."""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import hlteval
from hlteval.results.scores import flat_names

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "training.md"
REFERENCE, SYSTEM = "id\tlabel\n1\tyes\n2\tno\n", "id\tlabel\n1\tyes\n2\tyes\n"


def of_page(name: str) -> str:
    """The content of a file of the page."""
    (content,) = re.findall(
        rf"`{name}`:\n\n```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S
    )
    return content


@pytest.fixture(scope="module")
def scores() -> hlteval.Scores:
    return hlteval.score("labels", StringIO(REFERENCE), StringIO(SYSTEM))


class Writer:
    """A writer of TensorBoard."""

    def __init__(self, folder: str = "") -> None:
        self.folder, self.rows, self.texts, self.closed = folder, [], [], False

    def add_scalar(self, *row: object) -> None:
        self.rows.append(row)

    def add_text(self, *row: object) -> None:
        self.texts.append(row)

    def close(self) -> None:
        self.closed = True


def test_names_are_flat_and_unique_and_of_limited_length():
    names = ["a.b", "a:b", "a_b", "...", "x" * 9, "x" * 10]
    assert [*flat_names(names, 8).values()] == [
        "a_b",
        "a_b_2",
        "a_b_3",
        "metric",
        "x" * 8,
        "xxxxxx_2",
    ]


def test_numbers_are_finite_and_limits_follow_their_value(scores):
    # One of two labels is right; "no" is never predicted, so its F1 is 0 and that of "yes" 2/3.
    flat = scores.to_flat_dict()
    assert (flat["accuracy"], flat["macro_f1"]) == (0.5, 1 / 3)
    assert all(type(value) is float for value in flat.values())
    assert None in scores.metrics.values()
    assert len(flat) == sum(value is not None for value in scores.metrics.values())
    gold = "".join(f"{n}\t{'no' if n % 3 else 'yes'}\n" for n in range(40))
    guess = "".join(f"{n}\tyes\n" for n in range(40))
    files = (StringIO(f"id\tlabel\n{rows}") for rows in (gold, guess))
    with_limits = hlteval.score("labels", *files, bootstrap=20)
    names = [name for name in with_limits.to_flat_dict() if name.startswith("accuracy")]
    assert names == ["accuracy", "accuracy_low", "accuracy_high"]


def test_mlflow_gets_numbers_and_the_signature_of_the_active_run_or_of_another(scores, monkeypatch):
    calls: list[tuple[object, ...]] = []
    client = SimpleNamespace(set_tag=lambda *row: calls.append(row))
    stub = SimpleNamespace(
        log_metrics=lambda numbers, **more: calls.append((len(numbers), more)),
        set_tags=lambda tags: calls.append((tags,)),
        MlflowClient=lambda: client,
    )
    monkeypatch.setitem(sys.modules, "mlflow", stub)
    numbers = hlteval.log(scores, "mlflow", step=4)
    assert numbers == scores.to_flat_dict()
    tag = {"hlteval_signature": scores.signature}
    assert calls == [(len(numbers), {"step": 4, "run_id": None}), (tag,)]
    hlteval.log(scores, "mlflow", run="r1", prefix="dev/")
    assert calls[2:] == [
        (len(numbers), {"step": None, "run_id": "r1"}),
        ("r1", "dev/hlteval_signature", scores.signature),
    ]


def test_wandb_needs_a_run(scores, monkeypatch):
    calls: list[object] = []
    config = SimpleNamespace(update=lambda texts, **more: calls.append((texts, more)))
    run = SimpleNamespace(log=lambda *row, **more: calls.append((*row, more)), config=config)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=None))
    with pytest.raises(hlteval.WrongArgument, match=r"run: wandb has none; call wandb.init"):
        hlteval.log(scores, "wandb")
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=run))
    numbers = hlteval.log(scores, "wandb", step=1)
    texts = {"hlteval_signature": scores.signature}
    assert calls == [(numbers, {"step": 1}), (texts, {"allow_val_change": True})]


def test_a_writer_stays_open_and_one_of_a_folder_is_closed(scores, monkeypatch):
    mine, made = Writer(), list[Writer]()
    numbers = hlteval.log(scores, "tensorboard", step=2, run=mine)
    assert mine.rows == [(name, value, 2) for name, value in numbers.items()]
    assert mine.texts == [("hlteval_signature", scores.signature, 2)]
    assert not mine.closed

    def open_writer(folder: str) -> Writer:
        made.append(Writer(folder))
        return made[-1]

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.setitem(sys.modules, "tensorboardX", SimpleNamespace(SummaryWriter=open_writer))
    hlteval.log(scores, "tensorboard", run=Path("runs/a"))
    hlteval.log(scores, "tensorboard")
    assert [(writer.folder, writer.closed) for writer in made] == [("runs/a", True), ("runs", True)]


def test_wrong_arguments_say_what_is_expected(scores, monkeypatch):
    with pytest.raises(hlteval.WrongArgument, match="unknown logger csv; use mlflow, wandb, tens"):
        hlteval.log(scores, "csv")
    with pytest.raises(TypeError, match="expected what score\\(\\) returned, got dict"):
        hlteval.log({}, "mlflow")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match="pip install mlflow"):
        hlteval.log(scores, "mlflow")


def test_the_callback_of_the_page_scores_a_stub_model(monkeypatch):
    stub = ModuleType("transformers")
    stub.TrainerCallback = object
    monkeypatch.setitem(sys.modules, "transformers", stub)
    names: dict[str, object] = {}
    exec(of_page("scoring.py"), names)
    writer, metrics = Writer(), {"eval_loss": 0.1}

    def predict(model):
        return StringIO("id\tlabel\n" + "".join(f"{n}\t{model(n)}\n" for n in (1, 2)))

    callback = names["Scoring"]("labels", StringIO(REFERENCE), predict, run=writer)
    state = SimpleNamespace(global_step=30)
    callback.on_evaluate(None, state, None, model=lambda n: "yes", metrics=metrics)
    assert (metrics["eval_loss"], metrics["eval_accuracy"]) == (0.1, 0.5)
    assert ("dev/accuracy", 0.5, 30) in writer.rows


@pytest.mark.parametrize(
    ("task", "predictions", "references", "metric", "value"),
    [
        ("labels", ["a", "b"], ["a", "c"], "accuracy", 0.5),
        ("mentions", [["B-X", "O"], ["O"]], [["B-X", "O"], ["B-X"]], "micro_recall", 0.5),
        ("transcripts", ["a b", "c"], ["a b", "d"], "wer", 1 / 3),
    ],
)
def test_the_metric_of_the_page(task, predictions, references, metric, value, monkeypatch):
    base = SimpleNamespace(Metric=object)
    data = SimpleNamespace(Sequence=lambda kind: kind, Value=str)
    monkeypatch.setitem(sys.modules, "evaluate", base)
    monkeypatch.setitem(sys.modules, "datasets", data)
    names: dict[str, object] = {}
    exec(of_page("hlteval_metric.py"), names)
    computing = names["Metric"]()
    computing.config_name = task
    assert computing._compute(predictions, references)[metric] == pytest.approx(value)
