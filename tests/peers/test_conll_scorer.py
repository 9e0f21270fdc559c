"""The official scorer of CoNLL-2012 beside ours, on random clusters.

The variable HLTEVAL_COREF_SCORER is the path of its `scorer.pl`; without it, all is skipped.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.scoring.generic.official_conll import OfficialCoreference
from hlteval.sources import open_source
from tests.effort import tries

SCORER = os.environ.get("HLTEVAL_COREF_SCORER", "")
if not SCORER:
    pytest.skip("HLTEVAL_COREF_SCORER is not set", allow_module_level=True)
NAMES = {"muc": "muc", "bcub": "b_cubed", "ceafm": "mention_ceaf", "ceafe": "entity_ceaf"}
_COUNTS = re.compile(
    r"(?:Coreference|BLANC): Recall: \(([0-9.e-]+) / ([0-9.e-]+)\).*"
    r"Precision: \(([0-9.e-]+) / ([0-9.e-]+)\)"
)
LENGTH = 8


@st.composite
def documents(draw, repeats):
    """Spans of a document with their entities; mentions of one entity do not cross."""
    spans = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 3)).filter(
        lambda s: sum(s) <= LENGTH
    )
    found = draw(st.lists(spans, unique=True, max_size=8))
    rows = [(start, start + size, draw(st.integers(1, 4))) for start, size in found]
    if repeats and rows:
        rows += [(*draw(st.sampled_from(rows))[:2], draw(st.integers(5, 6)))]
    return rows


def text(files):
    lines = []
    for number, rows in files.items():
        lines.append(f"#begin document (d{number}); part 000")
        begins = {at: [] for at in range(LENGTH)}
        ends = {at: [] for at in range(LENGTH)}
        # the outer first: what begins last ends first
        for start, end, entity in sorted(rows, key=lambda row: (row[0], -row[1])):
            if end == start + 1:
                begins[start].append(f"({entity})")
            else:
                begins[start].append(f"({entity}")
                ends[end - 1].insert(0, f"{entity})")
        for at in range(LENGTH):
            lines.append(f"d{number}\t0\t{at}\tw{at}\t{'|'.join(begins[at] + ends[at]) or '-'}")
        lines += ["", "#end document"]
    return "\n".join(lines) + "\n"


def crosses(rows):
    """Whether mentions of one entity cross, so that which ends where is not known."""
    return any(
        one[2] == other[2] and one[0] < other[0] < one[1] < other[1]
        for one in rows
        for other in rows
    )


def run(measure, key, response):
    command = ["perl", SCORER, measure, str(key), str(response), "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def values(key, response):
    form = load("conll-coref").with_settings({"columns": "tabs"})
    sides = [next(iter(form.read(open_source(str(path))))).corpus for path in (key, response)]
    metric = OfficialCoreference("official")
    counts, _ = metric.statistics(*sides)
    return metric.score(metric.total([counts]))[0]


def compare(folder, keys, responses):
    key, response = folder / "key.conll", folder / "response.conll"
    key.write_text(text(keys), "utf-8")
    response.write_text(text(responses), "utf-8")
    found = values(key, response)
    for measure, name in NAMES.items():
        counts = [float(each) for each in _COUNTS.findall(run(measure, key, response))[-1]]
        expected = [part / whole if whole else 0.0 for part, whole in (counts[:2], counts[2:])]
        got = [found[f"{name}.recall"], found[f"{name}.precision"]]
        assert got == pytest.approx(expected, abs=1e-9), measure
    counts = [float(each) for each in _COUNTS.findall(run("blanc", key, response))[-1]]
    got = [found["blanc.recall"], found["blanc.precision"]]
    assert got == pytest.approx([counts[0] / counts[1], counts[2] / counts[3]], abs=1e-9)


@settings(
    max_examples=tries(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
@pytest.mark.parametrize("repeats", ["none", "response", "key"])
def test_values_are_those_of_the_scorer(tmp_path: Path, repeats, data):
    sides = []
    for side in ("key", "response"):
        numbers = data.draw(st.lists(st.integers(0, 2), unique=True, min_size=1))
        rows = documents(repeats=side == repeats).filter(lambda rows: not crosses(rows))
        sides.append({number: data.draw(rows) for number in numbers})
    compare(tmp_path, *sides)
