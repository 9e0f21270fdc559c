"""Odd characters in texts survive in every format, or the loss is listed; offsets are right."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import convert, read
from hlteval.converters import known, load
from hlteval.representation import Corpus
from hlteval.workflows.convert.conversion import NotConverted
from tests.effort import tries

ODD = ("\r", "\n", "\r\n", "\u2028", "\u2029", "\x85", "\ufeff", "\0", "\x0b", "\x0c", "\x1c", "\t")
WORDS = ("Osh", "met", "\U0001d49f", "e\u0301", " ")
FORMATS = [
    name
    for name in known()
    if load(name).reads and load(name).write and "documents.text" in load(name).carries
]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Words between which there may be anything, also at both ends."""
    parts = draw(st.lists(st.sampled_from((*ODD, *WORDS, *WORDS)), min_size=1, max_size=9))
    return "".join(parts)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Two documents with a mention of each word."""
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    documents, mentions = [], []
    for row in range(2):
        text = draw(texts())
        documents.append({"row": row, "name": f"d{row}", "text": text, "origin": 0})
        for word in re.finditer("Osh|met", text):
            at = len(mentions)
            span = {"start": word.start(), "end": word.end(), "mention": f"T{at + 1}"}
            place = {"row": at, "document": row, "origin": 0, "record": at + 1}
            mentions.append({**place, **span, "label": "City"})
    return Corpus(sources=[source], documents=documents, mentions=mentions)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FORMATS)
def test_texts_survive_or_the_loss_is_listed(name: str) -> None:
    form = load(name)

    @given(corpora())
    @settings(max_examples=tries(10), deadline=None)
    def hold(corpus: Corpus) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"out{form.suffixes[0] if form.suffixes else ''}.d")
            try:
                found = convert(corpus, path, to_format=name)
            except NotConverted:
                return
            again, findings = read(path, name)
        assert [f.message for f in findings if f.severity == "error"] == []
        lost = [f.message for f in found if f.code in {"CNV101", "CNV103"}]
        before = dict(corpus.documents.select("name", "text").iter_rows())
        after = dict(again.documents.select("name", "text").iter_rows())
        assert lost or before == after
        if "mentions" in form.tables:
            rows = again.mentions.join(again.documents, left_on="document", right_on="row")
            for document, start, end in rows.select("name", "start", "end").iter_rows():
                assert after[document] is None or after[document][start:end] in {"Osh", "met"}

    hold()


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
def test_offsets_follow_the_line_ends_of_brat(ends: str, tmp_path: Path) -> None:
    text = f"in{ends}Osh{ends}{ends}and in Kara{ends}"
    start = text.index("Kara")
    parts = [{"start": text.index("Osh"), "end": text.index("Osh") + 3}]
    parts.append({"start": start, "end": start + 4})
    span = {"mention": "T1", "label": "City", "start": parts[0]["start"], "end": start + 4}
    place = {"row": 0, "document": 0, "origin": 0, "record": 1}
    source = {"row": 0, "path": "x", "member": "x", "format": "rsd", "sha256": ""}
    corpus = Corpus(
        sources=[source],
        documents=[{"row": 0, "name": "d", "text": text, "origin": 0}],
        mentions=[{**place, **span, "fragments": parts}],
    )
    found = convert(corpus, tmp_path / "out", to_format="brat")
    listed = [f.message for f in found if "carriage returns" in f.message]
    expected = "brat cannot represent 1 text with carriage returns, written as line feeds"
    assert listed == ([expected] if "\r" in ends else [])
    again, findings = read(tmp_path / "out")
    assert findings == []
    (written,) = again.documents["text"]
    assert written == text.replace(ends, "\n")
    (fragments,) = again.mentions["fragments"].to_list()
    assert [written[part["start"] : part["end"]] for part in fragments] == ["Osh", "Kara"]


def test_identifiers_and_types_without_null_characters(tmp_path: Path) -> None:
    place = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 0, "end": 3}
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    corpus = Corpus(
        sources=[source],
        documents=[{"row": 0, "name": "d", "text": "Osh", "origin": 0}],
        mentions=[{**place, "mention": "T\0", "label": "Ci\0ty", "text": "Osh", "entity": "a\0"}],
    )
    for name in ("brat", "standoff"):
        convert(corpus, tmp_path / name, to_format=name)
        again, findings = read(tmp_path / name)
        assert [f.code for f in findings if f.severity == "error"] == []
        assert again.mentions["label"].to_list() == ["Ci_ty"]
