"""A wrong argument is an error that names it: no error of our insides, whatever the value is."""

from __future__ import annotations

import inspect
import io
import shutil
import traceback
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hlteval
from hlteval import tasks
from hlteval.workflows import config as demo

FUNCTIONS = ("read", "validate", "convert", "score", "compare", "leaderboard", "pack", "inspect")
REQUIRED = {
    "read": {"source": "entities/system.tab"},
    "validate": {"task": "lorehlt-edl", "submission": "entities/system.tab"},
    "convert": {"source": "entities/system.tab"},
    "score": {
        "task": "lorehlt-edl",
        "reference": "entities/reference.tab",
        "system": "entities/system.tab",
    },
    "compare": {
        "task": "lorehlt-edl",
        "reference": "entities/reference.tab",
        "systems": ["entities/system.tab", "entities/reference.tab"],
        "bootstrap": 2,
    },
    "leaderboard": {
        "task": "lorehlt-edl",
        "reference": "entities/reference.tab",
        "systems": ["entities/system.tab"],
        "bootstrap": 2,
    },
    "pack": {"task": "lorehlt-edl", "files": "entities/system.tab"},
    "inspect": {"archive": "entities/system.tab"},
}
OUTPUTS = {"convert": "out.jsonl", "pack": "NIST_EDL_CP1_1.tab.tgz"}


class Table:
    """Something with the interface of Arrow that fails."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError("no such stream")


def closed():
    stream = io.BytesIO(b"")
    stream.close()
    return stream


WRONG = {
    "None": None,
    "3": 3,
    "-1": -1,
    "1.5": 1.5,
    "NaN": float("nan"),
    "inf": float("inf"),
    "True": True,
    "bytes": b"x",
    "list": [],
    "tuple": (3,),
    "mapping": {},
    "numbers": {3: 4},
    "object": object(),
    "class": Path,
    "function": len,
    "empty": "",
    "NUL": "a\0b",
    "name": "no-such-thing",
    "path": Path("no/such/path"),
    "folder": ".",
    "file": "entities/texts/ENG_D1.ltf.xml",
    "closed": closed(),
    "empty stream": io.BytesIO(b""),
    "columns": pl.DataFrame({"a": [1]}),
    "series": pl.Series([1]),
    "no rows": pl.DataFrame(),
    "tables": {"mentions": pl.DataFrame({"a": [1]})},
    "table": Table(),
    "corpus": hlteval.Corpus(),
    "array": np.zeros(3),
    "surrogate": "\udcff",
}
SCORED = {
    "seedev-binary": {"reference": "reference", "system": "system"},
    "speech-sf": {"reference": "speech/annotations", "system": "speech/system.json"},
    "lorehlt-edl": {"reference": "entities/reference.tab", "system": "entities/system.tab"},
    "hub4": {"reference": "templettes/reference.tpl", "system": "templettes/system.tpl"},
}
ALLOWED = (
    TypeError,
    ValueError,
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The examples that are named here: some wrong arguments are the whole folder."""
    folder = tmp_path_factory.mktemp("demo")
    demo.unpack(folder)
    for path in (
        folder / name for name in ("tutorials", "leaderboard", "comparison", "annotators")
    ):
        shutil.rmtree(path)
    return folder


@pytest.fixture(autouse=True)
def folder(examples, monkeypatch):
    monkeypatch.chdir(examples)


def parameters(function):
    signature = inspect.signature(getattr(hlteval, function)).parameters.values()
    return [p.name for p in signature if p.kind is not p.VAR_KEYWORD]


CASES = [
    (name, argument)
    for name in FUNCTIONS
    for argument in parameters(name)
    if name != "leaderboard" or argument in {"systems", "names", "metric", "metrics", "output"}
]
"""The other arguments of a leaderboard are those of a comparison."""


def tried(function, **arguments):
    """The error of a call, if it has one: an error that hlteval raises on purpose."""
    try:
        getattr(hlteval, function)(**arguments)
    except hlteval.Refused as refused:
        assert refused.verdict.findings
        return None
    except ALLOWED as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        assert last.line.startswith("raise"), (last.filename, last.lineno, last.line, error)
        return error
    return None


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("function", "argument"), CASES)
def test_no_wrong_argument_breaks_anything(function, argument, tmp_path):
    required = dict(REQUIRED[function])
    for number, (kind, value) in enumerate(WRONG.items()):
        if function in OUTPUTS:
            (tmp_path / f"{number}").mkdir()
            required["output"] = str(tmp_path / f"{number}" / OUTPUTS[function])
        error = tried(function, **{**required, argument: value})
        named = [argument, *(value if isinstance(value, dict) else ())]
        assert error is None or any(str(name) in str(error) for name in named), (kind, error)


OF_OPTIONS = ("3", "NaN", "bytes", "mapping", "object", "name", "closed")
OF_OPTIONS += ("tables", "corpus", "surrogate", "numbers", "True")
OF_FILES = ("path", "folder")
"""What differs from a name only where an option takes a file."""
OPTIONS = [
    (task, option.key, (*OF_OPTIONS, *(OF_FILES if option.is_input else ())))
    for task in SCORED
    for option in tasks.load(task).options
    if "score" in option.commands
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("task", "option", "kinds"), OPTIONS)
def test_no_wrong_option_breaks_anything(task, option, kinds):
    """For every task the same; its scores cost little here."""
    for kind in kinds:
        given = {**SCORED[task], option: WRONG[kind]}
        error = tried("score", task=task, **given, alignment=False)
        assert error is None or option in str(error), (kind, error)
