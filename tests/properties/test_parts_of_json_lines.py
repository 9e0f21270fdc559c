"""Large files of JSON Lines in parts: findings and scores are those of the whole files."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters.toolkit.json_documents import object_sections
from hlteval.sources import Member
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Request
from tests.effort import tries
from tests.properties.edl.test_parts import outcome

Item = dict[str, Any]
#: Spans are of these words.
TEXT = "Osh é𝄞 London"
WORDS = ((0, 3), (4, 6), (7, 13))
LABELS = ("PER", "PER", "LOC", "loc")


def doccano(name: object, spans: list[Item], labels: list[str]) -> Item:
    """A text with entities and relations, with spans as lists, or with categories."""
    item: Item = {"id": name, "text": TEXT}
    if labels:
        return {**item, "label": labels}
    if len(spans) % 2:
        return {**item, "label": [[*span["at"], span["label"]] for span in spans]}
    ids = range(len(spans))
    entities = [
        {"id": at, "label": span["label"], "start_offset": span["at"][0],
         "end_offset": span["at"][1]} for at, span in enumerate(spans)
    ]  # fmt: skip
    relations = [
        {"id": at, "from_id": at, "to_id": ids[at - 1], "type": span["label"]}
        for at, span in enumerate(spans)
    ]
    return {**item, "entities": entities, "relations": relations}


def prodigy(name: object, spans: list[Item], labels: list[str]) -> Item:
    """An answer with spans and relations, or with options."""
    places = [{"start": start, "end": end} for start, end in WORDS]
    tokens = [{**place, "id": at} for at, place in enumerate(places)]
    item: Item = {"text": TEXT, "_input_hash": name, "tokens": tokens, "answer": "accept"}
    own = [dict(zip(("start", "end"), each["at"], strict=True)) for each in spans]
    listed = [{**span, "label": each["label"]} for span, each in zip(own, spans, strict=True)]
    relations = [
        {"head": 0, "child": 1, "head_span": own[at - 1], "child_span": own[at],
         "label": each["label"]} for at, each in enumerate(spans)
    ]  # fmt: skip
    return {**item, **({"accept": labels} if labels else {"spans": listed, "relations": relations})}


def spacy(name: object, spans: list[Item], labels: list[str]) -> Item:
    """A document with entities and categories."""
    own = [dict(zip(("start", "end"), each["at"], strict=True)) for each in spans]
    entities = [{**span, "label": each["label"]} for span, each in zip(own, spans, strict=True)]
    return {"id": name, "text": TEXT, "ents": entities, "cats": dict.fromkeys(labels, 1.0)}


def tokens(name: object, spans: list[Item], _: list[str]) -> Item:
    """The words with their tags."""
    tags = ["O"] * len(WORDS)
    for span in spans:
        if span["at"] in WORDS:
            tags[WORDS.index(span["at"])] = f"B-{span['label']}"
    return {"id": name, "tokens": [TEXT[start:end] for start, end in WORDS], "ner_tags": tags}


Make = Callable[[object, list[Item], list[str]], Item]
#: By format, its tasks and what makes an object.
FORMATS: Mapping[str, tuple[tuple[str, ...], Make]] = {
    "doccano": (("mentions", "relations", "labels"), doccano),
    "prodigy": (("mentions", "relations", "labels"), prodigy),
    "spacy-json": (("mentions", "labels"), spacy),
    "hf-tokens": (("mentions",), tokens),
}


@st.composite
def objects(draw: st.DrawFn, form: str, task: str, names: list[object]) -> str:
    """A file, mostly without mistakes."""
    make, lines = FORMATS[form][1], list[str]()
    spans = st.fixed_dictionaries({
        "at": st.sampled_from([*WORDS * 6, (4, 13), (3, 3), (9, 40)]),
        "label": st.sampled_from(LABELS),
    })  # fmt: skip
    for name in names:
        labels = [draw(st.sampled_from(LABELS))] if task == "labels" else []
        item = make(name, [] if labels else draw(st.lists(spans, max_size=3)), labels)
        item = {member: value for member, value in item.items() if value is not None}
        lines += [json.dumps(item, ensure_ascii=draw(st.booleans()))]
    if draw(st.integers(0, 4)) == 0:
        wrong = ["", " ", "{", "[]", "[{}]", "7", '{"id": 7}', "\ufeff", "\v", *lines]
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(wrong)))
    return draw(st.sampled_from(["\n"] * 6 + ["\r\n", "\n\n"])).join(lines) + draw(
        st.sampled_from(["\n", ""])
    )


@st.composite
def sides(draw: st.DrawFn) -> tuple[str, str, str, str]:
    """A format, a task, and two files of documents of which most are on both sides."""
    form = draw(st.sampled_from([*FORMATS]))
    task = draw(st.sampled_from(FORMATS[form][0]))
    every = draw(st.sampled_from([[1, 2, 3, 4], ["d1", "d2", "e d", ""], [None] * 4, [5, None]]))
    files = []
    for _ in range(2):
        names = [name for name in every if draw(st.integers(0, 7))]
        if draw(st.integers(0, 9)) == 0:
            names.reverse()
        files.append(draw(objects(form, task, names)))
    return form, task, *files


@settings(max_examples=tries(200), deadline=None)
@given(sides(), st.integers(1, 3), st.booleans())
def test_parts_give_what_whole_files_give(tmp_path_factory, both, size, scored):
    folder = tmp_path_factory.mktemp("parts")
    _, task, *texts = both
    gold, system = folder / "gold.jsonl", folder / "run.jsonl"
    for path, text in zip((gold, system), texts, strict=True):
        path.write_bytes(text.encode())
    own = {"reference": str(gold)} if scored else {"against": str(gold)}
    request = Request(task, str(system), lenient=True, max_per_code=2, **own)
    parts = Request(task, str(system), lenient=True, max_per_code=2, batch=size, **own)
    assert outcome(parts) == outcome(request)


def readings(tmp_path: Path, monkeypatch, items: list[Item], **options: str) -> int:
    """How often files are read as a whole."""
    text = "".join(f"{json.dumps(item)}\r\n" for item in items)
    path = tmp_path / "gold.jsonl"
    path.write_text(text, "utf-8", newline="")
    read, whole = list[Submission](), Submission._whole
    monkeypatch.setattr(Submission, "_whole", lambda own: read.append(own) or whole(own))
    request = Request("mentions", str(path), against=str(path), options=options, batch=1)
    assert validate(request).passed
    return len(read)


SPANS: list[Item] = [{"at": WORDS[0], "label": "PER"}]


@pytest.mark.parametrize("form", [*FORMATS])
def test_a_valid_file_is_read_in_parts(tmp_path: Path, monkeypatch, form):
    items = [FORMATS[form][1](name, SPANS, []) for name in (1, "d2", 3)]
    assert not readings(tmp_path, monkeypatch, items)


def test_answers_of_several_annotators_are_in_one_part(tmp_path: Path, monkeypatch):
    items = [{**prodigy(name, SPANS, []), "_annotator_id": by} for name in (1, 2) for by in "ab"]
    assert not readings(tmp_path, monkeypatch, items, annotator="a")


def test_documents_of_lines():
    def names(text: bytes) -> list[str] | None:
        found = object_sections(Member("", "s", None, lambda: text), ["id", "h"], "s-{}", "parts")
        return found and found.names

    assert names(b'\n{"id": 7}\r\n \n{"h": "a"}\n{"x": {}}') == ["7", "a", "s-3"]
    assert names(b'{"id": "a"}\n{"h": "a"}\n{"id": "", "h": "b"}') == ["a", "s-3"]
    assert names(b'{"id": 1}\n{"id": 2}\n{"id": "1"}\n') is None
    assert names(b'{"id": 1}\n{"parts": null}\n') is None
    assert names(b'{"id": 1}\n[]\n') is None
    assert names(b'{"id": 1}\n{"id"\n') is None
    assert names(b'\xef\xbb\xbf{"id": 1}\n') is None
    assert names(b"\n") is None
