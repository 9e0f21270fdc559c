"""dkpro-cassis beside ours, on random documents: each reads what the other writes.

Texts have characters above U+FFFF and line breaks, spans are nested, empty and equal.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.uima import layers
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

cassis = pytest.importorskip("cassis")
TEXT = st.text(st.sampled_from("ab \n\t\U0001f600\xe4\u4e2d&<\"'"), min_size=1, max_size=20)
WORD = st.text(st.sampled_from('PER_|*[]-> \U0001f600&"\n'), min_size=1, max_size=5)
STRING = "uima.cas.String"
ANNOTATION = "uima.tcas.Annotation"


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A text with spans (label, start, end, entity), relations and links between them."""
    text = draw(TEXT)
    at = st.integers(0, len(text))
    spans = [
        (draw(WORD), *sorted((draw(at), draw(at))), draw(st.none() | WORD))
        for _ in range(draw(st.integers(1, 5)))
    ]
    one = st.integers(0, len(spans) - 1)
    relations = draw(st.lists(st.tuples(WORD, one, one), max_size=2))
    links = draw(st.lists(st.tuples(WORD, one), max_size=3))
    return {"text": text, "spans": spans, "relations": relations, "links": links}


def types() -> Any:
    system = cassis.TypeSystem()
    mention = system.create_type(layers.MENTION, ANNOTATION)
    relation = system.create_type("webanno.custom.Near", ANNOTATION)
    event = system.create_type("webanno.custom.Sale", ANNOTATION)
    link = system.create_type("webanno.custom.SaleLink", "uima.cas.TOP")
    for owner, name, kind in (
        (mention, "value", STRING),
        (mention, "identifier", STRING),
        (relation, "label", STRING),
        (relation, "Governor", mention),
        (relation, "Dependent", mention),
        (event, "value", STRING),
        (link, "role", STRING),
        (link, "target", ANNOTATION),
    ):
        system.create_feature(owner, name, kind)
    system.create_feature(event, "roles", "uima.cas.FSArray", elementType=link)
    return system


def made(document: dict[str, Any]) -> Any:
    """The CAS of a document, by cassis, with an annotation that is not indexed."""
    system = types()
    cas = cassis.Cas(system)
    cas.sofa_string, cas.sofa_mime = document["text"], "text"
    mention = system.get_type(layers.MENTION)
    spans = [
        mention(begin=start, end=end, value=label, identifier=entity)
        for label, start, end, entity in document["spans"]
    ]
    relation = system.get_type("webanno.custom.Near")
    near = [
        relation(begin=spans[b].begin, end=spans[b].end, label=label,
                 Governor=spans[a], Dependent=spans[b])
        for label, a, b in document["relations"]
    ]  # fmt: skip
    cas.add_all([*spans, *near])
    if document["links"]:
        link = system.get_type("webanno.custom.SaleLink")
        roles = [link(role=role, target=spans[at]) for role, at in document["links"]]
        array = system.get_type("uima.cas.FSArray")(elements=roles)
        event = system.get_type("webanno.custom.Sale")
        cas.add(event(begin=0, end=len(document["text"]), value="sale", roles=array))
    return cas


def said(corpus: Corpus) -> dict[str, Counter[Any]]:
    """What a corpus says, in the terms of a document."""
    rows = corpus.mentions.select("mention", "label", "start", "end", "entity", "text").rows()
    spans = {name: (label, start, end, entity) for name, label, start, end, entity, _ in rows}
    (text,) = corpus.documents["text"]
    assert all(own == text[start:end] for _, _, start, end, _, own in rows)
    kinds = dict(corpus.frames.select("row", "kind").rows())
    labels = dict(corpus.frames.select("row", "label").rows())
    filled: dict[int, list[Any]] = {}
    columns = corpus.arguments.select("frame_row", "role", "target").iter_rows()
    for frame, role, target in columns:
        filled.setdefault(frame, []).append((role, spans[target]))
    relations = [
        (labels[row], *(span for _, span in own))
        for row, own in filled.items()
        if kinds[row] == "relation"
    ]
    links = [own for row, own in filled.items() if kinds[row] == "event"]
    sale = {name for name, span in spans.items() if span[0] == "sale"}
    return {
        "spans": Counter(span for name, span in spans.items() if name not in sale),
        "relations": Counter(relations),
        "links": Counter(each for own in links for each in own),
    }


def expected(document: dict[str, Any]) -> dict[str, Counter[Any]]:
    spans = document["spans"]
    return {
        "spans": Counter(spans),
        "relations": Counter((label, spans[a], spans[b]) for label, a, b in document["relations"]),
        "links": Counter((role, spans[at]) for role, at in document["links"]),
    }


def read(name: str, path: Path) -> Corpus:
    results = list(load(name).read(open_source(str(path))))
    assert [finding for result in results for finding in result.findings] == []
    return Corpus.concat(result.corpus for result in results)


@pytest.mark.parametrize("name", ["cas-xmi", "cas-json"])
@pytest.mark.parametrize("with_types", [True, False])
@given(document=documents())
@settings(max_examples=tries(200), deadline=None)
def test_what_cassis_writes_is_read(name: str, with_types: bool, document: dict[str, Any]) -> None:
    cas = made(document)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        if name == "cas-xmi":
            cas.to_xmi(path / "d.xmi")
            if with_types:
                cas.typesystem.to_xml(path / "TypeSystem.xml")
        else:
            mode = cassis.typesystem.TypeSystemMode
            chosen = mode.FULL if with_types else mode.NONE
            cas.to_json(path / "d.json", type_system_mode=chosen)
        corpus = read(name, path)
    assert corpus.documents["text"].to_list() == [document["text"]]
    assert said(corpus) == expected(document)


@pytest.mark.parametrize("name", ["cas-xmi", "cas-json"])
@given(document=documents())
@settings(max_examples=tries(200), deadline=None)
def test_what_is_written_cassis_reads(name: str, document: dict[str, Any]) -> None:
    form = load(name)
    assert form.write is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        made(document).to_xmi(path / "d.xmi")
        corpus = read("cas-xmi", path / "d.xmi")
        assert form.losses(corpus) == {}
        form.write([corpus], path / "out")
        again = read(name, path / "out")
        if name == "cas-xmi":
            system = cassis.load_typesystem(path / "out/d.TypeSystem.xml")
            cas = cassis.load_cas_from_xmi(path / "out/d.xmi", typesystem=system)
        else:
            cas = cassis.load_cas_from_json((path / "out/d.cas.json").read_text("utf-8"))
    assert cas.sofa_string == document["text"]
    found = [
        (each.value, each.begin, each.end, each.identifier) for each in cas.select(layers.MENTION)
    ]
    own = expected(document)
    assert Counter(each for each in found if each[0] != "sale") == own["spans"]
    near = Counter(
        (each.value, *((end.value, end.begin, end.end, end.identifier)
                       for end in (each.Governor, each.Dependent)))
        for each in cas.select(layers.RELATION)
    )  # fmt: skip
    assert near == own["relations"]
    links = [link for event in cas.select(layers.EVENT) for link in event.arguments.elements]
    assert Counter(
        (link.role, (link.target.value, link.target.begin, link.target.end, link.target.identifier))
        for link in links
    ) == own["links"]  # fmt: skip
    assert said(again) == own
