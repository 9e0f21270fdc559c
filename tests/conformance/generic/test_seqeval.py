"""The numbers of seqeval, from columns that the reader of CoNLL columns reads."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any

import pytest

from hlteval.converters import ReadResult, load
from hlteval.scoring.generic.averages import RATES
from hlteval.scoring.generic.mentions import Options
from hlteval.scoring.generic.official_seqeval import PRESET, OfficialSeqeval
from hlteval.sources import open_source

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


def read(path: Path, options: dict[str, Any]) -> ReadResult:
    """What a file holds in a mode of the tool."""
    settings = {"repair": "seqeval"}
    if options["mode"] == "strict":
        settings = {"repair": "seqeval-strict", "scheme": options["scheme"]}
    (result,) = load("conll-columns").with_settings(settings).read(open_source(str(path)))
    return result


def entities(result: ReadResult) -> list[list[object]]:
    """Sentence, label, first and last token, counted from 0 in the sentence."""
    tokens = result.corpus.tokens
    first = tokens.group_by("segment_row").agg(pl_first="row")
    places = {
        (start, end): row for start, end, row in tokens.select("start", "end", "row").iter_rows()
    }
    starts = {start: row for (start, _), row in places.items()}
    ends = {end: row for (_, end), row in places.items()}
    begins = {segment: min(rows) for segment, rows in first.iter_rows()}
    segment = dict(tokens.select("row", "segment_row").iter_rows())
    found = []
    for label, start, end in result.corpus.mentions.select("label", "start", "end").iter_rows():
        sentence = segment[starts[start]]
        inside = [row - begins[sentence] for row in (starts[start], ends[end])]
        found.append([sentence, label, *inside])
    return sorted(found)


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
        assert [entities(side) for side in sides] == [
            sorted(run["entities"][name]) for name in ("gold", "pred")
        ]
        if refused:  # other numbers of tokens, which a rule finds
            assert sides[0].corpus.tokens.height != sides[1].corpus.tokens.height
            continue
        undefined = 1 if run["options"]["zero_division"] == 1 else 0
        options = Options(**{**PRESET, "undefined": undefined})
        metric = OfficialSeqeval("official", options)
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
