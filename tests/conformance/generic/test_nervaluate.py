"""The numbers of nervaluate, whose inclusive ends are half-open here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlteval.representation import Corpus
from hlteval.scoring.generic import semeval
from hlteval.scoring.generic.mentions import Options
from hlteval.scoring.generic.official_nervaluate import OfficialNervaluate

CASES = [
    *("01-all-correct", "02-scenarios", "03-greedy-steals-exact", "04-greedy-order-swapped"),
    *("05-one-pred-two-golds", "06-two-preds-one-gold", "07-nested", "08-duplicates"),
    *("09-tag-not-listed", "10-empty-documents", "11-no-predictions", "12-no-gold"),
    *("13-overlap-threshold", "14-exclusive-ends-trap", "15-type-wrong-same-span"),
    *("16-number-of-documents-differs", "17-exact-label-blind-tie", "18-bad-overlap"),
    *("19-list-loader", "20-list-loader-bilou", "21-list-loader-iobes", "22-end-before-start"),
    *("r1-random", "r2-random", "r3-random"),
]
#: A tag that the tool refuses; a rule finds it.
REFUSED = "20-list-loader-bilou"
#: Without a character, or of another number of documents: the validation of ours comes first.
OTHERS = "16-number-of-documents-differs"


def corpus(documents: list[Any]) -> Corpus:
    """The mentions of documents as the tool has them, in their order."""
    rows = []
    for number, spans in enumerate(documents):
        for label, start, end in map(as_span, spans if not is_tags(spans) else tagged(spans)):
            place = {"row": len(rows), "document": number, "origin": 0, "record": len(rows) + 1}
            rows.append({**place, "mention": "", "label": label, "start": start, "end": end + 1})
    names = [{"row": number, "name": f"d{number:03}"} for number in range(len(documents))]
    return Corpus(documents=names, mentions=rows)


def is_tags(spans: list[Any]) -> bool:
    return bool(spans) and isinstance(spans[0], str)


def as_span(span: dict[str, Any]) -> tuple[str, int, int]:
    return span["label"], span["start"], span["end"]


def tagged(tags: list[str]) -> list[dict[str, Any]]:
    """The spans of tags as the loader of lists has them: other letters continue a span."""
    spans: list[dict[str, Any]] = []
    inside = False
    for at, tag in enumerate(tags):
        label = tag[2:]
        goes_on = inside and tag[0] != "B" and spans[-1]["label"] == label
        if tag == "O":
            inside = False
        elif goes_on:
            spans[-1]["end"] = at
        else:
            spans.append({"label": label, "start": at, "end": at})
            inside = True
    return spans


def test_every_case_is_held(shared: Path) -> None:
    assert {path.name for path in (shared / "cases/generic/nervaluate").iterdir()} == {*CASES}


@pytest.mark.parametrize("case", CASES)
def test_official_gives_the_numbers_of_the_tool(shared: Path, case: str) -> None:
    folder = shared / "cases/generic/nervaluate" / case
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    sides = [json.loads((folder / name).read_text("utf-8")) for name in ("gold.json", "pred.json")]
    for run in expected["runs"]:
        threshold = run["options"]["min_overlap_percentage"] / 100
        options = Options(declared=tuple(run["options"]["tags"]), threshold=threshold)
        if case == "18-bad-overlap":
            with pytest.raises(ValueError, match="threshold"):
                OfficialNervaluate("official", options)
            continue
        if "error" in run["result"]:
            assert case in {REFUSED, OTHERS}
            continue
        metric = OfficialNervaluate("official", options)
        counts, _ = metric.statistics(*map(corpus, sides))
        values, tables = metric.score(metric.total([counts]))
        names = [(m, figure) for m in semeval.MEASURES for figure in semeval.FIGURES]
        wanted = {f"{m}.{figure}": run["result"]["overall"][m][figure] for m, figure in names}
        assert {name: values[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)
        by_label = {
            (row["label"], row["measure"], figure): row[figure]
            for row in tables["semeval"].iter_rows(named=True)
            for figure in semeval.FIGURES
        }
        own = {
            (label, measure, figure): value
            for label, measures in run["result"]["by_label"].items()
            for measure, figures in measures.items()
            for figure, value in figures.items()
        }
        assert {key: by_label.get(key, 0) for key in own} == pytest.approx(own, abs=1e-9)
