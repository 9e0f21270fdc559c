"""CAS XMI, CAS JSON and WebAnno TSV: what is written is read, and what is not is counted."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.syntax.xml_places import ABSENT
from tests.effort import tries

FORMATS = ("cas-xmi", "cas-json", "webanno-tsv")
TEXT = st.text(st.sampled_from("ab \n\t\r\U0001f600\xe4_|.\\"), max_size=12)
VALUE = st.text(st.characters(exclude_categories=["Cs"]), max_size=4).filter(
    lambda text: not re.search(ABSENT, text)
)
LABEL = VALUE.filter(bool) | st.sampled_from(["*", "_", "a[1]", "->x", "\\", "true"])


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """A document with mentions, relations, events and features of these."""
    text = draw(TEXT)
    at = st.integers(0, len(text))
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("mentions", "frames", "arguments", "modifiers")
    }
    for number in range(draw(st.integers(1, 5))):
        start, end = sorted((draw(at), draw(at)))
        own = {"mention": f"T{number}", "start": start, "end": end, "text": text[start:end]}
        own |= {"label": draw(VALUE | LABEL), "entity": draw(st.none() | VALUE)}
        own |= {"annotator": draw(st.sampled_from([None, "anna"]))}
        tables["mentions"].append(own | {"confidence": draw(st.sampled_from([None, 0.25, 1.0]))})
    names = [mention["mention"] for mention in tables["mentions"]]
    one = st.sampled_from(names)
    for number in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["event", "relation"]))
        own = {"frame": f"E{number}", "kind": kind, "label": draw(LABEL)}
        tables["frames"].append(own | {"trigger": draw(one) if kind == "event" else None})
        for position in range(1, draw(st.integers(0 if kind == "event" else 1, 3)) + 1):
            filler = {"frame_row": number, "position": position, "role": draw(LABEL)}
            tables["arguments"].append({**filler, "target": draw(one)})
    targets = [*names, *(frame["frame"] for frame in tables["frames"])]
    chosen = draw(st.sets(st.tuples(st.sampled_from(targets), st.sampled_from(["A", "b_1"]))))
    for target, label in sorted(chosen):
        value = draw(st.none() | LABEL.filter(lambda value: value != "true"))
        own = {"modifier": f"{target}.{label}", "label": label, "target": target, "value": value}
        tables["modifiers"].append(own)
    place = {"document": 0, "origin": 0}
    rows = {
        name: [{"row": at, "record": at + 1, **place, **row} for at, row in enumerate(listed)]
        for name, listed in tables.items()
    }
    document = {"row": 0, "name": "d", "text": text, "origin": 0}
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(sources=[source], documents=[document], **rows)


def said(corpus: Corpus, table: str) -> Counter[tuple[object, ...]]:
    """What the rows of a table say."""
    rows = getattr(corpus, table)
    frames = dict(corpus.frames.select("row", "frame").iter_rows())
    if table == "arguments":
        owners = [frames[row] for row in rows["frame_row"]]
        values = rows.select("position", "role", "target").iter_rows()
        return Counter((owner, *row) for owner, row in zip(owners, values, strict=True))
    return Counter(rows.drop("row", "origin", "record").iter_rows())


@pytest.mark.parametrize("name", FORMATS)
@given(corpus=corpora())
@settings(max_examples=tries(80), deadline=None)
def test_what_is_written_is_read(name: str, corpus: Corpus) -> None:
    form = load(name)
    assert form.write is not None
    lost = form.count_losses(corpus)
    with tempfile.TemporaryDirectory() as folder:
        form.write([corpus], Path(folder, "out"))
        results = list(form.read(open_source(str(Path(folder, "out")))))
        form.write([Corpus.concat(each.corpus for each in results)], Path(folder, "again"))
        for path in Path(folder, "out").iterdir():
            # A relation with three arguments that has lost one is written as that of two mentions.
            assert (
                any(lost.values())
                or Path(folder, "again", path.name).read_bytes() == path.read_bytes()
            )
    assert [finding.message for result in results for finding in result.findings] == []
    again = Corpus.concat(result.corpus for result in results)
    if not lost.get("texts without words"):
        assert again.documents["text"].to_list() == corpus.documents["text"].to_list()
    for table, words in (
        ("mentions", "mentions outside of the words of the text"),
        ("frames", "frames without a mention that is there"),
        ("modifiers", "modifiers that are not features"),
    ):
        before, after = said(corpus, table), said(again, table)
        assert after - before == Counter(), table
        assert (before - after).total() == lost.get(words, 0), table
    after, before = said(again, "arguments"), said(corpus, "arguments")
    assert {row[0] for row in after - before} == set() or lost
    if not any(lost.values()):
        assert after == before
