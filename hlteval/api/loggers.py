"""Scores as the numbers of an experiment: in MLflow, Weights & Biases and TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, Literal, get_args

from hlteval.results.scores import Scores
from hlteval.sources.inputs import WrongArgument

Logger = Literal["mlflow", "wandb", "tensorboard"]
#: The key of the signature, which says all that the numbers depend on.
SIGNATURE = "hlteval_signature"


def log(
    scores: Scores, to: Logger, *, step: int | None = None, prefix: str = "", run: object = None
) -> dict[str, float]:
    r"""Write scores to the logger of an experiment, through its own functions.

    The numbers are those of `Scores.to_flat_dict`; the signature is written beside them, as a tag
    (MLflow), in the configuration (Weights & Biases) or as a text (TensorBoard).

    Args:
        scores: what `score` returned.
        to: the logger, whose package must be installed.
        step: the step or epoch of the training.
        prefix: the beginning of all names, such as `dev/`.
        run: where the numbers go. MLflow: the identifier of a run; by default the active one, which
            MLflow starts if there is none. Weights & Biases: a run; by default the one that
            `wandb.init` has started. TensorBoard: a writer with `add_scalar` or the path of a
            folder of events; by default `runs`.

    Returns:
        The numbers that were written, by their names with the prefix.

    Raises:
        ImportError: if the package is not installed.
        TypeError: if these are not scores.
        WrongArgument: for an unknown logger, and where Weights & Biases has no run.

    Examples:
        >>> from io import StringIO
        >>> from types import SimpleNamespace
        >>> from hlteval import score
        >>> labels = "id\tlabel\n1\tyes\n"
        >>> scores = score("labels", StringIO(labels), StringIO(labels))
        >>> writer = SimpleNamespace(add_scalar=lambda name, value, step: None)
        >>> log(scores, "tensorboard", step=2, prefix="dev/", run=writer)["dev/micro_f1"]
        1.0
    """
    if not isinstance(scores, Scores):
        raise TypeError(f"scores: expected what score() returned, got {type(scores).__name__}")
    if to not in _WRITERS:
        raise WrongArgument(f"to: unknown logger {to}; use {', '.join(get_args(Logger))}")
    numbers = {f"{prefix}{name}": value for name, value in scores.to_flat_dict().items()}
    _WRITERS[to](numbers, {f"{prefix}{SIGNATURE}": scores.signature}, step, run)
    return numbers


def to_mlflow(
    numbers: Mapping[str, float], texts: Mapping[str, str], step: int | None, run: Any
) -> None:
    """Write numbers to a run of MLflow, and texts as its tags."""
    mlflow = _library("mlflow", "mlflow")
    mlflow.log_metrics(numbers, step=step, run_id=run)
    if run is None:
        mlflow.set_tags(texts)
    else:
        client = mlflow.MlflowClient()
        for name, text in texts.items():
            client.set_tag(run, name, text)


def to_wandb(
    numbers: Mapping[str, float], texts: Mapping[str, str], step: int | None, run: Any
) -> None:
    """Write numbers to a run of Weights & Biases, and texts to its configuration."""
    run = _library("wandb", "wandb").run if run is None else run
    if run is None:
        raise WrongArgument("run: wandb has none; call wandb.init() first")
    run.log(dict(numbers), step=step)
    run.config.update(dict(texts), allow_val_change=True)


def to_tensorboard(
    numbers: Mapping[str, float], texts: Mapping[str, str], step: int | None, run: Any
) -> None:
    """Write numbers and texts as events of TensorBoard."""
    own, writer = run is None or isinstance(run, str | os.PathLike), run
    if own:
        folder = os.fspath(run or "runs")
        for module in ("torch.utils.tensorboard", "tensorboardX"):
            with suppress(ImportError):
                writer = import_module(module).SummaryWriter(folder)
                break
        else:
            writer = _library("tensorboard.summary", "tensorboard").Writer(folder)
    for name, value in numbers.items():
        writer.add_scalar(name, value, step or 0)
    for name, text in texts.items():
        if hasattr(writer, "add_text"):
            writer.add_text(name, text, step or 0)
    if own:
        writer.close()


def _library(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this logger needs a library: pip install {package}") from error


_WRITERS: Mapping[str, Callable[[Mapping[str, float], Mapping[str, str], int | None, Any], None]]
_WRITERS = {"mlflow": to_mlflow, "wandb": to_wandb, "tensorboard": to_tensorboard}
