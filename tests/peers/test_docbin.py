"""spaCy beside the format spacy-docbin, on random documents: each reads what the other writes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hlteval.converters import load
from hlteval.converters.annotation_tools.spacy_strings import numbers, symbols
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

spacy = pytest.importorskip("spacy")
SEEDS = range(tries(200))
WORDS = [
    "Osh",
    "lies",
    "on",
    "Ak-Buura",
    "\U0001f600",
    "\xd6zg\xf6n",
    ".",
    " ",
    "\n",
    "e\u0301t\xe9",
]
LABELS = ["City", "PERSON", "ORG", "River"]
MORPHS = ["", "Case=Nom|Number=Sing", "Number=Plur"]


def new_vocab() -> Any:
    """A vocabulary without strings of documents, which has norms."""
    return spacy.vocab.create_vocab("xx", spacy.language.BaseDefaults)


def documents(draw: random.Random, vocab: Any) -> Iterator[Any]:
    """Documents with all that a file has."""
    for number in range(draw.randint(1, 4)):
        size = draw.randint(0, 9)

        def some(values: list[Any], size: int = size) -> list[Any] | None:
            return draw.choices(values, k=size) if draw.random() < 0.5 else None

        heads = [draw.randint(max(at - 3, 0), at) for at in range(size)]
        is_parsed = draw.random() < 0.3
        doc = spacy.tokens.Doc(
            vocab,
            words=draw.choices(WORDS, k=size),
            spaces=some([True, False]),
            tags=some(["NN", "\xd6", ""]),
            pos=some(["NOUN", "X", ""]),
            morphs=some(MORPHS),
            lemmas=some(["osh", "be"]),
            heads=heads if is_parsed else None,
            deps=draw.choices(["nsubj", "ROOT"], k=size) if is_parsed else None,
            sent_starts=None if is_parsed else some([True, False, None]),
        )
        if draw.random() < 0.5:
            for token in doc:
                token.norm_ = draw.choice(["n", token.text])
        doc.set_ents([*spans(draw, doc, apart=True)], default=draw.choice(["outside", "missing"]))
        for name in draw.sample(["sc", "others", ""], k=draw.randint(0, 3)):
            doc.spans[name] = [*spans(draw, doc, apart=False)]
        if draw.random() < 0.5:
            doc.cats = {"a": round(draw.random(), 3), "b": 1.0}
        if draw.random() < 0.5:
            doc.user_data = {
                "id": f"d{number}",
                "a": [1, {"b": None}],
                ("._.", "x", None, None): "\xe9",
            }
        yield doc


def spans(draw: random.Random, doc: Any, *, apart: bool) -> Iterator[Any]:
    """Spans of tokens, which are nested or touch, or only touch."""
    at = 0
    while at < len(doc):
        end = draw.randint(at + 1, len(doc))
        if draw.random() < 0.5:
            own = {"kb_id": draw.choice(["", "Q1"]), "span_id": draw.choice(["", "e1", "e2"])}
            yield spacy.tokens.Span(doc, at, end, draw.choice(LABELS), **own)
        at = end if apart or draw.random() < 0.5 else at + 1


def said(tokens: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tokens without empty morphologies, which spaCy has in two ways."""
    return [{k: v for k, v in token.items() if k != "morph" or v} for token in tokens]


def content(doc: Any) -> dict[str, Any]:
    """All that a document says, with the columns of its tokens."""
    found: dict[str, Any] = {"text": doc.text, "cats": doc.cats, "data": dict(doc.user_data)}
    found["data"].pop("id", None)
    found["morphs"] = [str(token.morph) for token in doc]
    names = ("TAG", "POS", "LEMMA", "NORM", "DEP", "HEAD", "ENT_IOB", "SPACY", "ENT_ID")
    for name in names:
        found[name] = doc.to_array(name).tolist()
    # A start that is not known is written as none, and a document of one token always has one.
    known = doc.has_annotation("SENT_START")
    found["sents"] = [(sent.start, sent.end) for sent in doc.sents] if known else []
    groups = {"ents": doc.ents, **{name: doc.spans[name] for name in doc.spans}}
    found["spans"] = {
        name: sorted((s.start, s.end, s.label_, s.kb_id_, s.id_) for s in group)
        for name, group in groups.items()
    }
    return found


def read(path: Path) -> Corpus:
    """The corpus of a file that has nothing wrong."""
    readings = list(load("spacy-docbin").read(open_source(str(path))))
    assert [found for reading in readings for found in reading.findings] == []
    return Corpus.concat(reading.corpus for reading in readings)


@pytest.mark.parametrize("seed", SEEDS)
def test_documents_of_spacy_come_back(tmp_path: Path, seed: int) -> None:
    draw, vocab = random.Random(seed), new_vocab()
    theirs = list(documents(draw, vocab))
    path, again = tmp_path / "x.spacy", tmp_path / "again.spacy"
    spacy.tokens.DocBin(docs=theirs, store_user_data=True).to_disk(path)
    corpus = read(path)
    assert corpus.documents["text"].to_list() == [doc.text for doc in theirs]
    rows = corpus.mentions.select("document", "start", "end", "label", "entity").rows()
    assert rows == [
        (at, span.start_char, span.end_char, span.label_, span.kb_id_ or None)
        for at, doc in enumerate(theirs)
        for span in (*doc.ents, *doc.spans.get("sc", ()))
    ]
    tokens = corpus.tokens.select("document", "start", "text", "pos", "morph").rows()
    assert tokens == [
        (at, token.idx, token.text, token.pos_ or None, str(token.morph) or None)
        for at, doc in enumerate(theirs)
        for token in doc
    ]
    as_json, form = load("spacy-json"), load("spacy-docbin")
    assert as_json.write is not None
    as_json.write([corpus], tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    for line, doc in zip(lines, theirs, strict=True):
        if any(token.is_space for token in doc):  # which from_json itself cannot read
            continue
        second = spacy.tokens.Doc(vocab).from_json(json.loads(line))
        own, their = (said(each.to_json()["tokens"]) for each in (second, doc))
        assert own == their
    assert form.losses(corpus) == {}
    assert form.write is not None
    form.write([corpus], again)
    ours = list(spacy.tokens.DocBin().from_disk(again).get_docs(new_vocab()))
    first = list(spacy.tokens.DocBin().from_disk(path).get_docs(vocab))
    for own, their in zip(ours, first, strict=True):
        one, two = content(own), content(their)
        assert {name: one[name] for name in one if one[name] != two[name]} == {
            name: two[name] for name in two if one[name] != two[name]
        }


def test_numbers_of_strings() -> None:
    store = spacy.strings.StringStore()
    names = [*symbols(), *WORDS, "x" * 9, "\xe9" * 100, *map(str, range(300))]
    assert numbers(names) == {name: store.add(name) for name in names}
    assert {*symbols()} == {*spacy.symbols.IDS}
