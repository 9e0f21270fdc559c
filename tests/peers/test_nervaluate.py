"""nervaluate beside ours, on random spans: nested, equal, and with other labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.scoring.generic import semeval
from hlteval.scoring.generic.mentions import Options
from hlteval.scoring.generic.official_nervaluate import OfficialNervaluate
from tests.effort import tries

nervaluate = pytest.importorskip("nervaluate")
TAGS = ["A", "B", "C"]

SPANS = st.builds(
    lambda label, start, size: {"label": label, "start": start, "end": start + size},
    st.sampled_from([*TAGS, "other"]),
    st.integers(0, 9),
    st.integers(0, 4),
)
DOCUMENTS = st.integers(1, 3).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.lists(SPANS, max_size=6), min_size=size, max_size=size) for _ in "gp")
    )
)


def corpus(documents):
    rows = []
    for number, spans in enumerate(documents):
        for span in spans:
            place = {"row": len(rows), "document": number, "origin": 0, "record": len(rows) + 1}
            end = span["end"] + 1
            rows.append({**place, "mention": "", **span, "end": end})
    names = [{"row": number, "name": f"d{number}"} for number in range(len(documents))]
    return Corpus(documents=names, mentions=rows)


@given(sides=DOCUMENTS, percent=st.sampled_from([1.0, 30.0, 50.0, 60.0, 100.0]))
@settings(max_examples=tries(1000), deadline=None)
def test_official_equals_the_tool(sides, percent):
    metric = OfficialNervaluate("official", Options(declared=tuple(TAGS), threshold=percent / 100))
    counts, _ = metric.statistics(*map(corpus, sides))
    values, tables = metric.score(metric.total([counts]))
    evaluator = nervaluate.Evaluator(
        *sides, tags=TAGS, loader="dict", min_overlap_percentage=percent
    )
    result = evaluator.evaluate()
    for measure in semeval.MEASURES:
        own = result["overall"][measure]
        wanted = {name: getattr(own, name) for name in semeval.FIGURES}
        assert {n: values[f"{measure}.{n}"] for n in wanted} == pytest.approx(wanted, abs=1e-9)
        labels = {row["label"]: row for row in tables["semeval"].filter(measure=measure).to_dicts()}
        for label, strategies in result["entities"].items():
            wanted = {name: getattr(strategies[measure], name) for name in semeval.FIGURES}
            found = labels.get(label, dict.fromkeys(semeval.FIGURES, 0))
            assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)
