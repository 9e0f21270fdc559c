"""The numbers of seqeval, from columns that the reader of CoNLL columns reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any

import pytest

from hlteval.converters import ReadResult, load
from hlteval.scoring.generic.averages import RATES
from hlteval.scoring.generic.mentions import Options
from hlteval.scoring.generic.official_seqeval import OfficialSeqeval
from hlteval.sources import open_source
from hlteval.tasks.generic.declaration import presets

CASES = [
    *("01-iob2-basic", "02-iob2-repair", "03-iob1", "04-iob1-b-after-other-type", "05-ioe2"),
    *("06-ioe1", "07-iobes", "08-bilou", "09-bilou-default-merges"),
    *("10-macro-label-only-in-pred", "11-no-entities", "12-only-pred", "13-only-gold"),
    *("14-hyphenated-types", "15-no-type", "16-lower-case-tag", "17-length-mismatch"),
    *("18-scheme-mismatch", "19-docstart", "20-strict-without-scheme", "21-weighted"),
    *("22-b-i-different-type", "23-iobes-repair", "24-iobes-e-after-e", "25-crossing-sentence"),
    *("r1-random-iob2", "r2-random-iob1", "r3-random-ioe2", "r4-random-iobes", "r5-random-bilou"),
]
#: How a report calls the rates.
NAMES = dict(zip(("precision", "recall", "f1-score"), RATES, strict=True))


def read(path: Path, options: Mapping[str, Any]) -> ReadResult:
    """What a file holds, in the scheme of a run."""
    settings = {"scheme": options.get("scheme", "auto")}
    (result,) = load("conll-columns").with_settings(settings).read(open_source(str(path)))
    return result


def options_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the preset, as a run has them."""
    options = presets()["seqeval"]["values"] | {"undefined": int(run["zero_division"] == 1)}
    names = {"mode", "scheme"} & run.keys()
    return options | {name: run[name] for name in names}


def test_every_case_is_held(shared: Path) -> None:
    assert {path.name for path in (shared / "cases/generic/seqeval").iterdir()} == {*CASES}


@pytest.mark.parametrize("case", CASES)
def test_official_gives_the_numbers_of_the_tool(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/seqeval" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    for run in expected["runs"]:
        sides = [read(folder / name, run["options"]) for name in ("gold.conll", "pred.conll")]
        refused = "error" in run["report"]
        if refused and case != "17-length-mismatch":
            codes = {finding.code for side in sides for finding in side.findings}
            assert codes & {"COL102", "COL107"}
            continue
        if refused:  # other numbers of tokens, which a rule finds
            assert sides[0].corpus.tokens.height != sides[1].corpus.tokens.height
            continue
        metric = OfficialSeqeval("official", Options(**options_of(run["options"])))
        counts, _ = metric.statistics(sides[0].corpus, sides[1].corpus)
        values, tables = metric.score(metric.total([counts]))
        for title, row in run["report"].items():
            average = title.removesuffix(" avg")
            if average == title:
                (own,) = tables["labels"].filter(label=title).to_dicts()
                assert own["support"] == row["support"]
            else:
                own = {rate: values[f"{average}.{rate}"] for rate in RATES}
            found = {name: nan if own[rate] is None else own[rate] for name, rate in NAMES.items()}
            wanted = {name: float(row[name]) for name in NAMES}
            assert found == pytest.approx(wanted, abs=1e-9, nan_ok=True)
        if "token_accuracy" in run:
            assert values["token_accuracy"] == pytest.approx(run["token_accuracy"], abs=1e-9)
