"""BioC and PubAnnotation: what is written is read again, whatever it says and however it is cut."""

from __future__ import annotations

import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import read
from hlteval.converters import load
from hlteval.converters.bioc import bioc_xml
from hlteval.converters.bioc.parts import parts
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Malformed, conforms, explain, parse
from hlteval.syntax.xml_places import ABSENT
from tests.effort import tries

VALID = Path(__file__).parents[2] / "fixtures/bioc-xml/valid/water.bioc.xml"
FORMATS = ("bioc-xml", "bioc-json", "pubannotation")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: not re.search(ABSENT, text)
)
NAME = TEXT.map(str.strip).filter(bool)
"""Identifiers, without blanks around them."""
TABLES = ("documents", "mentions", "links", "groups", "frames", "arguments", "modifiers")
KEYS = {"row", "origin", "record", "frame_row", "mention_row"}


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Documents of any text, with annotations that have any names and say anything."""
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for document, name in enumerate(draw(st.lists(NAME, min_size=1, max_size=2, unique=True))):
        text = draw(TEXT)
        language = draw(st.none() | TEXT)
        tables["documents"].append({"name": name, "text": text, "language": language, "origin": 0})
        names = iter(draw(st.lists(NAME, min_size=9, max_size=9, unique=True)))
        said = [_mention(draw, text, next(names)) for _ in range(draw(st.integers(0, 3)))]
        first = len(tables["mentions"])
        tables["mentions"] += [{"document": document, **item} for item in said]
        targets = st.sampled_from([item["mention"] for item in said]) if said else None
        for at, one in enumerate(said):
            for rank in range(2, draw(st.integers(2, 3)) if one["entity"] is not None else 2):
                link = {"mention_row": first + at, "rank": rank, "entity": draw(TEXT)}
                tables["links"].append({"document": document, **link})
        if targets is not None:
            _others(draw, document, names, targets, tables)
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(sources=[source], **{name: _keyed(rows) for name, rows in tables.items()})


def _keyed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with their keys; those of a document have their places."""
    placed = [
        {"origin": 0, "record": row + 1} if "document" in one else {}
        for row, one in enumerate(rows)
    ]
    return [{"row": row, **placed[row], **one} for row, one in enumerate(rows)]


def _mention(draw: st.DrawFn, text: str, name: str) -> dict[str, Any]:
    bounds = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4)))
    spans = list(zip(bounds[::2], bounds[1::2], strict=False))
    broken = [{"start": a, "end": b} for a, b in spans] if len(spans) > 1 else None
    return {
        "mention": name,
        "label": draw(TEXT),
        "start": bounds[0],
        "end": spans[-1][1],
        "fragments": broken,
        "text": " ".join(text[a:b] for a, b in spans),
        "entity": draw(st.none() | TEXT),
        "mention_type": draw(st.none() | TEXT),
        "annotator": draw(st.none() | TEXT),
        "confidence": draw(st.none() | st.floats(0, 1)),
    }


def _others(
    draw: st.DrawFn,
    document: int,
    names: Any,
    targets: st.SearchStrategy[str],
    tables: dict[str, list[dict[str, Any]]],
) -> None:
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(["event", "relation"]))
        trigger = draw(st.none() | targets)
        own = {"frame": next(names), "kind": kind, "label": draw(TEXT), "trigger": trigger}
        row = len(tables["frames"])
        tables["frames"].append({"document": document, **own})
        for position in range(1, draw(st.integers(1, 4))):
            filler = {"frame_row": row, "position": position, "role": draw(TEXT)}
            tables["arguments"].append({"document": document, **filler, "target": draw(targets)})
    for _ in range(draw(st.integers(0, 2))):
        said = {
            "label": draw(TEXT),
            "value": draw(st.none() | TEXT),
            "text": draw(st.none() | TEXT),
        }
        target = {"modifier": next(names), "target": draw(targets)}
        tables["modifiers"].append({"document": document, **said, **target})
    group = {"document": document, "group": next(names), "kind": draw(TEXT)}
    members = draw(st.lists(targets, max_size=3))
    tables["groups"] += [{**group, "member": member} for member in members if len(members) > 1]


def said(corpus: Corpus, table: str) -> list[str]:
    """What the rows of a table say, with the names of what they belong to."""
    frame = getattr(corpus, table)
    owners = {"frame_row": corpus.frames["frame"], "mention_row": corpus.mentions["mention"]}
    kept = [name for name in frame.columns if name not in KEYS]
    rows = [repr(row) for row in frame.select(kept).iter_rows()]
    for column in owners.keys() & set(frame.columns):
        named = [owners[column][key] for key in frame[column]]
        rows = [f"{row} {name}" for row, name in zip(rows, named, strict=True)]
    return sorted(rows)


@pytest.mark.parametrize("name", FORMATS)
@given(corpus=corpora())
@settings(max_examples=tries(5))
def test_what_is_written_is_read_again(name: str, corpus: Corpus) -> None:
    form = load(name)
    assert form.write is not None
    assert form.losses(corpus) == {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "written")
        form.write([corpus], path)
        again, findings = read(str(path), name)
        form.write([again], Path(folder, "again"))
        assert Path(folder, "again").read_bytes() == path.read_bytes()
    allowed = {"PUB202"}  # empty mentions
    assert {finding.code for finding in findings} <= allowed
    for table in TABLES:
        assert said(again, table) == said(corpus, table), table
    assert again.attributes.is_empty()


def damaged(draw: st.DrawFn) -> bytes:
    data = VALID.read_bytes()
    pieces = (
        b"",
        b"<",
        b"</passage>",
        b"<document>",
        b"\r",
        b"\n",
        b"&amp;",
        b"7",
        b"\xce\xb1",
        b"<x/>",
    )
    for _ in range(draw(st.integers(1, 2))):
        at, cut = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
        data = data[:at] + draw(st.sampled_from(pieces)) + data[at + cut :]
    return data


@given(st.composite(damaged)())
@settings(max_examples=tries(7))
def test_a_file_is_read_alike_in_parts_of_any_size(data: bytes) -> None:
    source = Source("x", "file", (Member("", "x.bioc.xml", len(data), lambda: data),))
    results = []
    for size in (1, 400, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bioc_xml, "parts", partial(parts, size=size))
            readings = list(bioc_xml.read(source))
        corpus = Corpus.concat(reading.corpus for reading in readings)
        told = {finding for reading in readings for finding in reading.findings}
        tables = [
            rows(corpus, name) for name in (*TABLES, "segments", "attributes", "rejected_records")
        ]
        results.append((told, tables))
    assert results[0] == results[1] == results[2]


def rows(corpus: Corpus, name: str) -> list[tuple[Any, ...]]:
    frame = getattr(corpus, name)
    return list(frame.drop("origin", strict=False).iter_rows())


@given(st.composite(damaged)())
@settings(max_examples=tries(12))
def test_the_schema_and_its_explanation_agree(data: bytes) -> None:
    try:
        text = data.decode()
        elements = parse(text).elements
    except (UnicodeDecodeError, Malformed):
        return
    assert conforms(text, "bioc") == (explain(elements, "bioc")[0] == [])
