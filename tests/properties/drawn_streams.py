"""Corpora of streams: documents of CCU with what annotators or a system say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from hlteval.representation import TABLES, Corpus

EMOTIONS = ("joy", "fear", "anger")
NORMS = ("101", "A1", "none")
TASKS = ("nd", "nd-open", "ed", "vd", "ad", "cd", "ndmap")
PLACES = st.integers(0, 4000).map(lambda number: number / 16)
SCORES = st.sampled_from([-2.5, 0.0, 1e-7, 3.0, 12345678.5])


class Drawn:
    """The rows of a corpus while they are drawn."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        self.add("sources", path="x", member="x", format="x", sha256="")

    def add(self, table: str, **values: Any) -> None:
        rows = self.tables[table]
        place = {"origin": 0, "record": len(rows) + 1} if "record" in TABLES[table].schema else {}
        rows.append({"row": len(rows), **place, **values})

    @property
    def corpus(self) -> Corpus:
        return Corpus(**self.tables)


@st.composite
def annotated(draw: st.DrawFn) -> Corpus:
    """What annotators say of the segments of documents."""
    drawn = Drawn()
    for document in range(draw(st.integers(1, 2))):
        named = {"modality": draw(st.sampled_from(["text", "audio", "video"])), "language": "cmn"}
        drawn.add("documents", name=f"D{document}", origin=0, length=250.5, **named)
        here = {"document": document}
        for number in range(draw(st.integers(1, 2))):
            place = {"start": draw(PLACES), "end": draw(PLACES), "region": f"D{document}_{number}"}
            drawn.add("regions", **here, **place)
            for annotator in draw(st.sets(st.sampled_from(["1", "2"]))):
                _judge(draw, drawn, {**here, **place, "annotator": annotator})
        if draw(st.booleans()):
            impact = {"direction": "negative", "strength": "4", "evidence": "they \xe9 argue"}
            drawn.add("changes", **here, at=draw(st.none() | PLACES), annotator="1", **impact)
    drawn.add("entities", entity="101", label="hidden", source="LC1", name="norm_101.txt")
    return drawn.corpus


def _judge(draw: st.DrawFn, drawn: Drawn, judged: Mapping[str, Any]) -> None:
    """The judgments of an annotator of a segment."""
    for label in draw(st.sets(st.sampled_from(NORMS))):
        status = draw(st.sampled_from([None, "adhere", "adhere,violate"]))
        drawn.add("instances", **judged, kind="norm", label=label, status=status)
    several, record = draw(st.sampled_from([None, True, False])), len(drawn.tables["instances"]) + 1
    for label in draw(st.lists(st.sampled_from(EMOTIONS), unique=True)):
        drawn.add("instances", **judged, kind="emotion", label=label, several=several)
        drawn.tables["instances"][-1]["record"] = record
    if draw(st.booleans()):
        record = len(drawn.tables["ratings"]) + 1
        for kind in ("valence", "arousal"):
            level = draw(st.none() | st.integers(1, 1000).map(float))
            drawn.add(
                "ratings", **judged, kind=kind, level=level, bin=draw(st.none() | st.just("3"))
            )
            drawn.tables["ratings"][-1]["record"] = record


@st.composite
def submitted(draw: st.DrawFn, task: str = "") -> Corpus:
    """The output of a system for a task, by default any."""
    drawn, task = Drawn(), task or draw(st.sampled_from(TASKS))
    if task == "ndmap":
        for number in range(draw(st.integers(1, 3))):
            drawn.add("mappings", document=None, label=f"A{number}", target="102", submission="x_1")
        return drawn.corpus
    for document in range(draw(st.integers(1, 3))):
        # The first has a row: without any, nothing shows the task.
        processed = document == 0 or draw(st.booleans())
        message = draw(st.sampled_from([None, "failed to download"]))
        drawn.add("documents", name=f"D{document}", origin=0, processed=processed, message=message)
        for _ in range(draw(st.integers(document == 0, 3)) if processed else 0):
            _output(draw, drawn, task, document)
    return drawn.corpus


def _output(draw: st.DrawFn, drawn: Drawn, task: str, document: int) -> None:
    """A row of the output of a task."""
    here, place = {"document": document}, {"start": draw(PLACES), "end": draw(PLACES)}
    score = {"llr": draw(SCORES)}
    if task in {"vd", "ad"}:
        kind, level = ("valence" if task == "vd" else "arousal"), float(draw(st.integers(1, 1000)))
        drawn.add("ratings", **here, **place, kind=kind, level=level)
    elif task == "cd":
        impact = draw(st.sampled_from([{}, {"direction": "positive", "strength": "2"}]))
        drawn.add("changes", **here, at=draw(PLACES), **score, **impact)
    elif task == "ed":
        label = draw(st.sampled_from(EMOTIONS))
        drawn.add("instances", **here, **place, kind="emotion", label=label, **score)
    else:
        where = {"region": "D_1"} if task == "nd-open" else place
        status = draw(st.sampled_from([None, "adhere", "violate"]))
        label = draw(st.sampled_from(NORMS[:2]))
        drawn.add("instances", **here, **where, kind="norm", label=label, status=status, **score)


@st.composite
def listed(draw: st.DrawFn) -> Corpus:
    """Documents alone, with what an index says of them."""
    drawn = Drawn()
    for document in range(draw(st.integers(1, 3))):
        said = draw(st.sampled_from([{}, {"modality": "audio", "length": 306.7}]))
        drawn.add("documents", name=f"D{document}", origin=0, **said)
    return drawn.corpus
