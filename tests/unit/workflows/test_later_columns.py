"""A later version may add a column that may be null: nothing breaks, whatever it is called.

Every table gets a column of each name that rules, metrics and resolution use for columns of their
own. Every task must then give what it gave, and both versions must read what the other saves. That
runs on the engine that Polars takes in programs; all other tests have that of the command line.
"""

from __future__ import annotations

import ast
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.representation import TABLES, Corpus
from hlteval.sources import open_source
from tests.effort import share

pytestmark = pytest.mark.long("every task runs twice, once in a process with the other engine")

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("trials.py")
ROOMS = ("validators", "scoring", "hlteval/representation", "hlteval/workflows")
ODD = {"COR107", "COR109"}
"""What is odd about the corpus of all tables: a rejected record, and offsets that no text has."""
NAMING = {"with_columns", "select", "agg", "group_by", "struct", "rename", "alias"}


def names_in(tree: ast.Module) -> Iterator[str]:
    """The names that expressions of a module give to columns."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in NAMING:
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)
        if node.func.attr in {"rename", "alias"}:
            named = [value for arg in node.args for value in getattr(arg, "values", [arg])]
            yield from (value.value for value in named if isinstance(value, ast.Constant))


@cache
def scratch_names() -> list[str]:
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    found = {name for path in paths for name in names_in(ast.parse(path.read_text("utf-8")))}
    # others are headings of files that are written: a row of JSON Lines is read by attributes
    names = (name for name in found - {"maintain_order"} if name.isidentifier())
    return sorted(name for name in names if name[0] != "_")


def run(*given: object) -> str:
    """What the script prints where there are later columns, with the other engine of Polars."""
    command = [sys.executable, str(SCRIPT), *map(str, given), *scratch_names()]
    env = os.environ | {"POLARS_ENGINE_AFFINITY": "auto", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_names_are_found() -> None:
    names = scratch_names()
    assert {"segment", "number", "hint", "filler_row", "ordinal", "content"} <= set(names)
    assert len(names) > 200


def test_no_column_begins_like_a_scratch_column() -> None:
    assert not [name for table in TABLES.values() for name in table.schema if name[0] == "_"]
    assert all(name.isidentifier() for table in TABLES.values() for name in table.schema)


@pytest.mark.thorough
def test_every_task_gives_what_it_gave(tmp_path: Path) -> None:
    trials = runpy.run_path(str(SCRIPT))
    (tmp_path / "now").mkdir()
    (tmp_path / "later").mkdir()
    now = json.dumps(trials["outcomes"](tmp_path / "now")).replace(str(tmp_path / "now"), "")
    later = run("outcomes", tmp_path / "later").replace(str(tmp_path / "later"), "")
    expected, found = json.loads(now), json.loads(later)
    assert len(expected) == len(share(trials["trials"](tmp_path / "again"), 12))
    assert expected.keys() == found.keys()
    for name, outcome in expected.items():
        assert found[name] == outcome, name


@pytest.mark.thorough
@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["corpus", "jsonl"])
def test_either_version_reads_what_the_other_saves(form: str, tmp_path: Path) -> None:
    corpus = runpy.run_path(str(SCRIPT))["everything"]()
    assert all(frame.height for _, frame in corpus.tables())
    now, later = tmp_path / f"now.{form}", tmp_path / f"later.{form}"
    write = load(form).write
    assert write
    write([corpus], now)
    assert run("exchange", now, later) == "same"
    (result,) = load(form).read(open_source(str(later)).with_max_per_code(0))
    assert result.corpus == corpus
    added = sum(name not in table.schema for table in TABLES.values() for name in scratch_names())
    codes = [finding.code for finding in result.findings]
    assert codes.count("COR102") == added
    assert {*codes} <= {"COR102", *ODD}
    messages = {finding.message for finding in result.findings}
    assert "the table frames has an unknown column segment, which is ignored" in messages
    (again,) = load(form).read(open_source(str(now)))
    assert {finding.code for finding in again.findings} <= ODD
    assert isinstance(again.corpus, Corpus)
