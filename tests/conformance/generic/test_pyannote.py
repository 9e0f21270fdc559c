"""The numbers of pyannote.metrics, from files of RTTM and UEM, by file and in total."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.scoring.generic.official_pyannote import OfficialSpeakerTurns
from hlteval.scoring.generic.segments import Options
from hlteval.sources import open_source

CASES = [
    *("01-basic", "02-uem", "03-uem-two-parts", "04-overlap", "05-overlap-hyp", "06-perfect"),
    *("07-empty-hyp", "08-empty-ref", "09-both-empty", "10-collar-eats-short-turns"),
    *("11-greedy-worse", "12-greedy-tie", "13-same-speaker-overlapping-turns"),
    *("14-touching-turns", "15-two-files", "16-file-missing-in-hyp", "17-tie-in-mapping"),
    *("18-zero-length-turn", "19-more-hyp-speakers", "20-speakers-named-alike"),
    *("r1-random", "r2-random", "r3-random", "r4-random"),
]
#: The options of each metric of the cases that has the parts of DER.
ERROR_RATES = {
    "der": Options(),
    "der_collar_0.5": Options(collar=0.5),
    "der_skip_overlap": Options(skip_overlap=True),
    "der_collar_0.5_skip_overlap": Options(collar=0.5, skip_overlap=True),
    "der_greedy": Options(pairing="greedy-score"),
    "ier": Options(label="equal"),
}
#: The value of each other metric of the cases.
VALUES = {
    "jer": ("jaccard error rate", "jer"),
    "purity": ("purity", "purity"),
    "coverage": ("coverage", "coverage"),
    "detection_error_rate": ("detection error rate", "detection_error"),
    "detection_precision": ("detection precision", "detection.precision"),
    "detection_recall": ("detection recall", "detection.recall"),
    "detection_f": ("F[precision|recall]", "detection.f1"),
}
PARTS = {
    "total": "der.total",
    "missed detection": "der.miss",
    "false alarm": "der.false_alarm",
    "confusion": "der.confusion",
}


def read(path: Path, form: str) -> Corpus:
    if not path.exists() or not path.read_bytes():
        return Corpus()
    results = list(load(form).read(open_source(str(path))))
    return Corpus.concat(result.corpus for result in results)


@cache
def sides(folder: Path) -> tuple[Corpus, Corpus, pl.DataFrame | None]:
    reference, system = (read(folder / name, "rttm") for name in ("ref.rttm", "hyp.rttm"))
    regions = read(folder / "all.uem", "uem")
    names = regions.documents.select("name", document="row")
    stretches = regions.regions.join(names, on="document").select("name", "start", "end")
    return reference, system, stretches if regions.regions.height else None


def counted(folder: Path, options: Options) -> tuple[OfficialSpeakerTurns, pl.DataFrame]:
    reference, system, evaluated = sides(folder)
    metric = OfficialSpeakerTurns("official", replace(options, evaluated=evaluated))
    return metric, metric.statistics(reference, system, alignment=False)[0]


def by_file(
    metric: OfficialSpeakerTurns, counts: pl.DataFrame, expected: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Our values and those of the tool, of each file alone."""
    files = list(expected["files"])
    values = metric.values_of(metric.document_sums(counts, files))
    for at, file in enumerate(files):
        yield {name: each[at] for name, each in values.items()}, expected["files"][file]


def assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_every_case_is_held(shared: Path) -> None:
    folder = shared / "cases/generic/pyannote"
    assert {path.name for path in folder.iterdir()} == {*CASES}


@pytest.mark.parametrize("case", CASES)
def test_official_gives_the_numbers_of_the_tool(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/pyannote" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    for name, options in ERROR_RATES.items():
        metric, counts = counted(folder, options)
        rate = "identification error rate" if name == "ier" else "diarization error rate"
        value, parts = (expected["total"][name][key] for key in ("value", "components"))
        numbers = {ours: parts[theirs] for theirs, ours in PARTS.items()} | {"der": value}
        assert_equal(metric.score(metric.total([counts]))[0], numbers)
        for found, values in by_file(metric, counts, expected):
            own = {ours: values[name][theirs] for theirs, ours in PARTS.items()}
            assert_equal(found, own | {"der": values[name][rate]})


@pytest.mark.parametrize("case", CASES)
def test_official_gives_all_other_numbers_of_the_tool(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/pyannote" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    metric, counts = counted(folder, Options())
    numbers = {ours: expected["total"][name]["value"] for name, (_, ours) in VALUES.items()}
    assert_equal(metric.score(metric.total([counts]))[0], numbers)
    for found, values in by_file(metric, counts, expected):
        assert_equal(found, {ours: values[name][key] for name, (key, ours) in VALUES.items()})
