"""Random inputs have the values of the plan, written in plain Python (`plan_oracle`)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.scoring.ccu.changes import change_detection
from hlteval.scoring.ccu.detections import DetectionOptions
from hlteval.scoring.ccu.levels import LevelOptions
from hlteval.scoring.ccu.official_files import instance_detection
from hlteval.scoring.ccu.official_levels import level_diarization
from tests.properties.ccu import plan_oracle
from tests.properties.ccu.plan_oracle import Detection, Document, Judgment

INPUTS = 50
"""Inputs of each task."""
LISTED = {"101": "known", "102": "known", "201": "hidden", "202": "hidden"}
SCORES = (None, -2.5, -0.5, 0.0, 0.5, 0.5, 1.0, 1e-9, 1e9)
"""Detection scores, of which some are equal and one is missing."""
EMOTIONS = ("joy", "trust", "fear")


def place(document: Document, cell: int) -> float:
    """A place as written: characters, or half seconds."""
    return float(cell) if document.genre == "text" else cell / 2


def stretch(document: Document, start: int, end: int) -> dict[str, float]:
    """Bounds as written: the last character of text is its end."""
    last = end - (document.genre == "text")
    return {"start": place(document, start), "end": place(document, last)}


def corpus(
    documents: Mapping[str, Document], rows: Mapping[str, list[dict[str, Any]]], **more: Any
):
    """A corpus of rows whose documents are named."""
    numbers = {name: row for row, name in enumerate(documents)}
    skipped = more.pop("unprocessed", ())
    listed = [
        {"row": numbers[name], "name": name, "modality": document.genre,
         "length": place(document, document.length), "processed": name not in skipped}
        for name, document in documents.items()
    ]  # fmt: skip
    placed = {
        table: [
            {"row": at, "origin": 0, "record": at + 1}
            | row
            | {"document": numbers[row["document"]]}
            for at, row in enumerate(each)
        ]
        for table, each in rows.items()
    }
    return Corpus(documents=listed, **placed, **more)


def some_documents(draw: random.Random) -> dict[str, Document]:
    return {
        f"d{number}": Document(draw.choice(plan_oracle.GENRES), draw.randint(20, 90))
        for number in range(draw.randint(1, 4))
    }


def segments(draw: random.Random, document: Document) -> list[tuple[int, int]]:
    """Segments with short and long gaps between them; the last one may end after the document."""
    found, at = [], draw.choice([0, 0, 3, 15])
    while at < document.length - 1 and len(found) < 6:
        end = min(at + draw.randint(1, 18), document.length + (document.genre == "text"))
        found.append((at, end))
        at = end + draw.choice([0, 0, 0, 1, 2, 9, 10, 14])
    return found


def detections(draw: random.Random, documents: Mapping[str, Document], labels, near):
    """Detections anywhere, and near what is annotated: repeated, empty and reversed ones, too."""
    found = []
    for name, document in documents.items():
        for _ in range(draw.randint(0, 12)):
            start = draw.randint(-3, document.length)
            end = start + draw.randint(-2, 25)
            if near[name] and draw.random() < 0.6:
                start, end = draw.choice(near[name])
                start, end = start + draw.randint(-4, 4), end + draw.randint(-4, 12)
            found.append(Detection(name, start, end, draw.choice(labels), draw.choice(SCORES)))
        if found and draw.random() < 0.3:
            found.append(found[-1])
    return found


def detection_rows(documents, found, kind):
    return [
        {"document": name, "kind": kind, "label": label, "llr": llr,
         **stretch(documents[name], start, end)}
        for name, start, end, label, llr in found
    ]  # fmt: skip


def judgment_rows(documents, judged, kind):
    return [
        {"document": name, "kind": kind, "label": label, "annotator": annotator,
         **stretch(documents[name], start, end)}
        for name, start, end, annotator, label in judged
    ]  # fmt: skip


def values(metric, reference: Corpus, system: Corpus) -> dict[str, float | None]:
    """The values of a metric, the documents in batches."""
    return dict(metric.score(metric.total([metric.statistics(reference, system)[0]]))[0])


def agree(found: Mapping[str, float | None], expected: Mapping[str, Any]) -> int:
    """Hold values to those of the oracle; how many they are."""
    for name, value in expected.items():
        wanted = None if value is None else pytest.approx(float(value), abs=1e-9)
        assert found[name] == wanted, name
    return len(expected)


def norms_of(draw: random.Random):
    """An input of norm discovery, and what the plan makes of it."""
    documents = some_documents(draw)
    places = {name: segments(draw, document) for name, document in documents.items()}
    labels = ("101", "102", "201", "202", "999")
    judged = [
        Judgment(name, start, end, "a", label)
        for name, each in places.items()
        for start, end in each
        for label in draw.sample((*labels, "101", "none", "noann"), draw.choice([1, 1, 2]))
    ]
    found = detections(draw, documents, ("101", "102", "201", "A1", "A2", "zzz"), places)
    pairs = [(s, t) for s in ("A1", "A2", "101", "201", "none") for t in ("201", "202", "301")]
    twice = [("A1", "201"), ("A1", "201"), ("A2", "202")]
    mapping = draw.choice(
        [None, [], draw.sample(pairs, 2), draw.sample(pairs, 7), twice, [("A1", "101")]]
    )
    listed = draw.choice([LISTED, LISTED, {"101": "known"}, {}])
    classes = draw.choice([None, None, {"101", "201"}, {"777"}])
    unprocessed = [name for name in documents if draw.random() < 0.1]
    expected = plan_oracle.detection(
        documents, judged, [row for row in found if row.document not in unprocessed], "norm",
        listed=listed, mapping=mapping, classes=classes,
    )  # fmt: skip
    entities = [{"row": row, "entity": name, "label": what}
                for row, (name, what) in enumerate(listed.items())]  # fmt: skip
    reference = corpus(
        documents, {"instances": judgment_rows(documents, judged, "norm")}, entities=entities
    )
    rows = {"instances": detection_rows(documents, found, "norm")}
    system = corpus(documents, rows, unprocessed=unprocessed)
    schema = {"sys_norm": pl.String, "ref_norm": pl.String}
    options = DetectionOptions(
        classes=None if classes is None else frozenset(classes),
        mapping=None if mapping is None else pl.DataFrame(mapping, schema, orient="row"),
    )
    return instance_detection(options=options), reference, system, expected


def emotions_of(draw: random.Random):
    """An input of emotion detection, and what the plan makes of it."""
    documents = some_documents(draw)
    places = {name: segments(draw, document) for name, document in documents.items()}
    judged = [
        Judgment(name, start, end, annotator, label)
        for name, each in places.items()
        for start, end in each
        for annotator in "abc"[: draw.choice([1, 2, 3, 3, 3])]
        for label in draw.sample((*EMOTIONS, "joy", "none", "noann"), draw.choice([1, 1, 2]))
    ]
    found = detections(draw, documents, (*EMOTIONS, "Joy"), places)
    expected = plan_oracle.detection(documents, judged, found, "emotion")
    reference = corpus(documents, {"instances": judgment_rows(documents, judged, "emotion")})
    system = corpus(documents, {"instances": detection_rows(documents, found, "emotion")})
    return instance_detection(kind="emotion"), reference, system, expected


def changes_of(draw: random.Random):
    """An input of change detection, and what the plan makes of it."""
    documents = {name: Document(d.genre, 4 * d.length) for name, d in some_documents(draw).items()}
    own = [
        (name, start, end)
        for name, d in documents.items()
        for start, end in [(3, 40), (40, d.length // 2), (d.length // 2 + 9, d.length)]
    ]
    expected, found = [], []
    for name, document in documents.items():
        for _ in range(draw.randint(0, 5)):
            expected.append((name, draw.randint(0, document.length)))
        for _ in range(draw.randint(0, 9)):
            near = draw.choice([0, *(at for other, at in expected if other == name)])
            at = near + draw.choice([-101, -100, -21, -20, -3, 0, 0, 20, 21, 100, 101])
            found.append((name, at, draw.choice(SCORES)))
    rows = {
        "changes": [{"document": n, "at": place(documents[n], at)} for n, at in expected],
        "regions": [
            {"document": n, "region": f"{s}", "start": place(documents[n], s),
             "end": place(documents[n], e)}
            for n, s, e in own
        ],
    }  # fmt: skip
    said = [{"document": n, "at": place(documents[n], at), "llr": llr} for n, at, llr in found]
    values_ = plan_oracle.changes(documents, own, expected, found)
    return (
        change_detection(),
        corpus(documents, rows),
        corpus(documents, {"changes": said}),
        values_,
    )


def levels_of(draw: random.Random, kind: str):
    """An input of diarization, and what the plan makes of it."""
    documents = some_documents(draw)
    judged, said = [], []
    for name, document in documents.items():
        for start, end in segments(draw, document):
            for annotator in "aabcc"[: draw.randint(1, 5)]:
                level = draw.choice([None, 1, 299, 300, 699, 700, draw.randint(1, 1000)])
                judged.append((name, start, end, annotator, level))
        gap = draw.random() < 0.3
        at = draw.choice([0, 0, 0, 5])
        last = document.length + draw.choice([0, 0, 0, 1, -1, -2, -12])
        while at < last and draw.random() < 0.95:
            end = min(at + draw.randint(1, 30), last)
            said.append((name, at, end, draw.choice([300, 700, draw.randint(1, 1000)])))
            at = end + (draw.choice([1, 2, 9, 10, 12]) if gap else 0)
    unprocessed = [name for name in documents if draw.random() < 0.1]
    gaps = draw.random() < 0.3
    expected = plan_oracle.levels(
        documents, judged, said, kind=kind, unprocessed=unprocessed, gaps=gaps
    )
    rows = [
        {"document": name, "kind": kind, "annotator": annotator, "level": level,
         **stretch(documents[name], start, end)}
        for name, start, end, annotator, level in judged
    ]  # fmt: skip
    own = [
        {"document": name, "kind": kind, "level": float(level),
         **stretch(documents[name], start, end)}
        for name, start, end, level in said
    ]  # fmt: skip
    system = corpus(documents, {"ratings": own}, unprocessed=unprocessed)
    metric = level_diarization("plan", LevelOptions(gaps=gaps), kind)
    return metric, corpus(documents, {"ratings": rows}), system, expected


TASKS = {
    "nd": norms_of,
    "ed": emotions_of,
    "vd": lambda draw: levels_of(draw, "valence"),
    "ad": lambda draw: levels_of(draw, "arousal"),
    "cd": changes_of,
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("task", TASKS)
def test_random_inputs_have_the_values_of_the_plan(task: str) -> None:
    compared = defined = 0
    for seed in range(INPUTS):
        metric, reference, system, expected = TASKS[task](random.Random(f"{task} {seed}"))
        found = values(metric, reference, system)
        assert {*found} >= {*expected}, seed
        compared += agree(found, expected)
        defined += sum(value is not None for value in expected.values())
    # Most inputs have most values.
    assert compared >= 9 * INPUTS
    assert defined > compared / 4
