"""GATE documents beside the package gatenlp, on random annotations.

That package reads this XML, but does not write it; ours is read by both, and says the same.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

gatenlp = pytest.importorskip("gatenlp")
TEXT = st.text(st.sampled_from("ab \n<&\"'\U0001f95b\xf6"), min_size=1, max_size=12)


@st.composite
def corpora(draw):
    """A document with annotations in sets, which have features."""
    text = draw(TEXT)
    bound = st.integers(0, len(text))
    mentions, modifiers = [], []
    for row in range(draw(st.integers(0, 5))):
        start, end = sorted((draw(bound), draw(bound)))
        place = {"row": row, "document": 0, "origin": 0, "record": row + 1, "mention": str(row)}
        by = draw(st.sampled_from([None, "Key", "a & b"]))
        own = {"label": draw(TEXT), "start": start, "end": end, "annotator": by}
        mentions.append({**place, **own, "entity": draw(st.none() | TEXT)})
        for name in draw(st.sets(st.sampled_from(["x", "y<"]))):
            own = {"modifier": "", "label": name, "target": str(row), "value": draw(TEXT)}
            place = {"row": len(modifiers), "document": 0, "origin": 0, "record": 1}
            modifiers.append({**place, **own})
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    document = {"row": 0, "name": "d", "text": text, "origin": 0}
    return Corpus(sources=[source], documents=[document], mentions=mentions, modifiers=modifiers)


@given(corpus=corpora())
@settings(max_examples=tries(200), deadline=None)
def test_both_read_our_files_alike(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    form = load("gate-xml")
    assert form.losses(corpus) == {}
    assert form.write is not None
    form.write([corpus], folder)
    document = gatenlp.Document.load(str(folder / "d.xml"), fmt="gatexml")
    (result,) = form.read(open_source(str(folder)))
    assert result.findings == ()
    again = result.corpus
    assert document.text == again.documents["text"][0] == corpus.documents["text"][0]
    theirs = [
        (
            str(each.id),
            each.type,
            each.start,
            each.end,
            name or None,
            dict(sorted(each.features.items())),
        )
        for name in {"", *document.annset_names()}
        for each in document.annset(name)
    ]
    assert sorted(map(repr, theirs)) == sorted(map(repr, said(again)))
    assert sorted(map(repr, theirs)) == sorted(map(repr, said(corpus)))


def said(corpus: Corpus):
    """The annotations of a corpus with their features."""
    features: dict[str, dict[str, str]] = {}
    columns = ("mention", "label", "start", "end", "annotator", "entity")
    for name, *_, entity in corpus.mentions.select(columns).iter_rows():
        features[name] = {} if entity is None else {"entity": entity}
    for target, name, value in corpus.modifiers.select("target", "label", "value").iter_rows():
        features[target][name] = value
    rows = corpus.mentions.select(columns[:-1]).iter_rows()
    return [(*row, dict(sorted(features[row[0]].items()))) for row in rows]
