"""The numbers of the official scorer of CoNLL-2012, and LEA of coval, from files of CoNLL."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hlteval.converters import load
from hlteval.converters.format import ReadResult
from hlteval.scoring.generic.clusters import Coreference, Options
from hlteval.scoring.generic.official_conll import OfficialCoreference
from hlteval.sources import open_source

CASES = [
    *("01-perfect", "02-split", "03-merged", "04-missing-mention", "05-spurious-mention"),
    *("06-boundary-error", "07-singletons-in-key", "08-singletons-in-response"),
    *("09-all-singletons", "10-empty-response", "11-empty-key", "12-both-empty", "13-nested"),
    *("14-crossing", "15-nested-same-cluster", "16-span-in-two-response-clusters"),
    *("17-span-in-two-key-clusters", "18-eleven-repeated", "19-two-documents"),
    *("20-document-missing-in-response", "21-document-only-in-response"),
    *("22-documents-in-other-order", "23-spaces-as-separator", "24-brackets-in-a-word"),
    *("25-mention-not-closed", "26-mention-not-opened", "27-across-sentences"),
    *("28-blanc-no-coreference-links", "29-blanc-one-cluster", "30-ceaf-optimal"),
    *("31-three-repeated", "32-two-repeated", "33-crlf", "34-empty-column-hyphen-underscore"),
    *("r1-random", "r2-random", "r3-random", "r4-random"),
]
#: At these the scorer stops, since brackets do not agree.
CRASHES = {"25-mention-not-closed": "CRF105", "26-mention-not-opened": "CRF104"}
#: In these a mention is repeated, on which coval has other opinions.
REPEATED = {case for case in CASES if case[:2] in {"16", "17", "18", "31", "32"}}
NAMES = {"muc": "muc", "b_cubed": "bcub", "mention_ceaf": "ceafm", "entity_ceaf": "ceafe"}
RATES = {"recall": "r", "precision": "p", "f1": "f"}


@cache
def opened(path: Path, columns: str = "tabs") -> ReadResult:
    form = load("conll-coref").with_settings({"columns": columns})
    (result,) = form.read(open_source(str(path)))
    return result


@cache
def case_of(folder: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))
    return expected


def values(folder: Path, metric: Coreference, columns: str = "tabs") -> dict[str, Any]:
    files = ("key.conll", "response.conll")
    counts, _ = metric.statistics(
        *(opened(folder / name, columns).corpus for name in files), alignment=False
    )
    return metric.score(metric.total([counts]))[0]


def test_every_case_is_held(shared: Path) -> None:
    assert {path.name for path in (shared / "cases/generic/coref").iterdir()} == {*CASES}


@pytest.mark.parametrize("case", [case for case in CASES if case not in CRASHES])
def test_official_gives_the_numbers_of_the_scorer(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/coref" / case
    expected = case_of(folder)["official"]
    found = values(folder, OfficialCoreference("official"))
    for ours, theirs in NAMES.items():
        if expected.get(theirs):
            numbers = {f"{ours}.{rate}": expected[theirs][key] for rate, key in RATES.items()}
        else:  # the scorer has stopped before
            numbers = {f"{ours}.{rate}": None for rate in RATES}
        assert {name: found[name] for name in numbers} == pytest.approx(numbers, abs=1e-9)
    if expected.get("blanc"):
        blanc = expected["blanc"]["blanc"]
        numbers = {f"blanc.{rate}": blanc[key] for rate, key in RATES.items()}
        assert {name: found[name] for name in numbers} == pytest.approx(numbers, abs=1e-9)
    average = expected.get("conll_average")
    assert found["conll_average.f1"] == pytest.approx(average, abs=1e-9)


@pytest.mark.parametrize(("case", "code"), CRASHES.items())
def test_where_the_scorer_stops_there_is_a_finding(shared: Path, case: str, code: str) -> None:
    folder = shared / "cases/generic/coref" / case
    assert case_of(folder)["official"]["exit"] == 25
    sides = [opened(folder / name) for name in ("key.conll", "response.conll")]
    assert {item.code for side in sides for item in side.findings} == {code}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("singletons", ["keep", "remove"])
def test_lea_is_that_of_coval(shared: Path, case: str, singletons: Any) -> None:
    folder = shared / "cases/generic/coref" / case
    tool = case_of(folder)["coval" if singletons == "keep" else "coval_without_singletons"]
    if case in REPEATED | {*CRASHES} or "lea" not in tool:
        pytest.skip("coval has no number, or that of another mention")
    metric = OfficialCoreference("official", Options(singletons=singletons, measures=("lea",)))
    numbers = {f"lea.{rate}": tool["lea"][key] for rate, key in RATES.items()}
    columns = "any" if case.startswith("24") else "tabs"  # coval splits at spaces too
    assert values(folder, metric, columns) == pytest.approx(numbers, abs=1e-9)
