"""PubTator beside the package bioc, on random documents: each reads what the other has written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

pubtator = pytest.importorskip("bioc.pubtator")
WORD = st.sampled_from(["Nisin", "milk", "\U0001f95b", "\u00f6l", "of", "7b", "(x)"])
KEY = st.sampled_from(["D1", "672", "-1", "CHEBI:7", "p|SUB|V|6|E"])


@st.composite
def documents(draw):
    """Documents: name, title, abstract, annotations, and relations."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        words = draw(st.lists(WORD, min_size=2, max_size=8))
        cut = draw(st.integers(1, len(words)))
        title, abstract = " ".join(words[:cut]), " ".join(words[cut:])
        text = f"{title}\n{abstract}" if abstract else title
        spans = draw(st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9))))
        annotations = [
            (start, start + size, text[start : start + size], draw(st.sampled_from("XY")))
            for start, size in spans
            if start + size <= len(text) and "\n" not in text[start : start + size]
        ]
        keyed = [(*each, draw(KEY)) for each in annotations]
        relations = draw(st.lists(st.tuples(st.sampled_from(["CID", "Bind"]), KEY, KEY)))
        found.append((f"{number}7", title, abstract, keyed, relations))
    return found


@given(drawn=documents())
@settings(max_examples=tries(200), deadline=None)
def test_both_read_the_files_of_both(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bioc")
    theirs = []
    for name, title, abstract, spans, relations in drawn:
        each = pubtator.PubTator(name, title, abstract)
        each.annotations = [pubtator.PubTatorAnn(name, *one, []) for one in spans]
        each.relations = [pubtator.PubTatorRel(name, *one, "x") for one in relations]
        theirs.append(each)
    path = folder / "theirs.pubtator"
    path.write_text(pubtator.dumps(theirs), "utf-8")
    (result,) = load("pubtator").read(open_source(str(path)))
    assert {finding.code for finding in result.findings} <= {"PBT301"}
    assert said(result.corpus) == drawn
    own = folder / "own.pubtator"
    write = load("pubtator").write
    assert write is not None
    write([result.corpus], own)
    again = [
        (
            *(each.pmid, each.title, each.abstract or ""),
            [(one.start, one.end, one.text, one.type, one.id) for one in each.annotations],
            [(one.type, one.id1, one.id2) for one in each.relations],
        )
        for each in pubtator.loads(own.read_text("utf-8"))
    ]
    assert again == drawn


def said(corpus: Corpus):
    """The documents of a corpus."""
    others = dict(corpus.links.select("mention_row", "entity").iter_rows())
    assert not others
    targets = corpus.arguments.group_by("frame_row", maintain_order=True).agg("target")
    pairs = dict(targets.iter_rows())
    found = []
    for row, name, text in corpus.documents.select("row", "name", "text").iter_rows():
        title, _, abstract = text.partition("\n")
        mentions = corpus.mentions.filter(document=row)
        frames = corpus.frames.filter(document=row).select("row", "label")
        rows = mentions.select("start", "end", "text", "label", "entity").rows()
        found.append((name, title, abstract, rows, [(b, *pairs[a]) for a, b in frames.rows()]))
    return found
