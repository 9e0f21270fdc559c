"""Packages of annotation tools beside our formats, on random corpora: each reads what we write.

Label Studio's SDK makes JSON_MIN of an export, doccano-transformer CoNLL columns of the files of
doccano; spaCy and bioc read and write their own JSON.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

WORDS = ["Osh", "lies", "on", "Ak-Buura", "\U0001f600", "\xd6zg\xf6n", "is", "old", "e\u0301t\xe9"]
LABELS = ["City", "River", "Person"]
SEEDS = range(tries(200))
CONTROL = """<View><Labels name="label" toName="text"><Label value="City"/><Label value="River"/>
<Label value="Person"/></Labels><Choices name="choice" toName="text" choice="multiple">
<Choice value="a"/><Choice value="b"/></Choices><Text name="text" value="$text"/></View>"""
Span = tuple[int, int, str]


class Writer:
    """Random texts of words, with spans of words that do not overlap."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 9)))

    def spans(self, text: str) -> list[Span]:
        starts, at = [], 0
        for word in text.split(" "):
            starts.append((at, at + len(word)))
            at += len(word) + 1
        found, index = list[Span](), 0
        while index < len(starts):
            size = self.random.randint(1, 3)
            last = min(index + size, len(starts)) - 1
            if self.random.random() < 0.5:
                span = (starts[index][0], starts[last][1], self.random.choice(LABELS))
                found.append(span)
            index = last + 1
        return found

    def corpus(self) -> Corpus:
        """Documents with mentions, relations of these, and labels."""
        tables: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("documents", "mentions", "frames", "arguments", "instances")
        }

        def add(table: str, **row: Any) -> int:
            place = {} if table == "documents" else {"record": len(tables[table]) + 1}
            tables[table].append({"row": len(tables[table]), "origin": 0, **place, **row})
            return len(tables[table]) - 1

        for number in range(self.random.randint(1, 3)):
            text = self.text()
            row = add("documents", name=str(number + 1), text=text)
            spans = self.spans(text)
            for at, (start, end, label) in enumerate(spans, start=1):
                own = {"start": start, "end": end, "label": label, "text": text[start:end]}
                add("mentions", document=row, mention=f"T{at}", **own)
            if len(spans) > 1:
                own = {"frame": "R1", "kind": "relation", "label": "near"}
                frame = add("frames", document=row, **own)
                for position, target in enumerate(("T1", "T2"), start=1):
                    own = {"role": f"Arg{position}", "target": target, "frame_row": frame}
                    add("arguments", document=row, position=position, **own)
            if self.random.random() < 0.5:
                add("instances", document=row, kind="label", label="a", llr=1.0)
        source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
        return Corpus(sources=[source], **tables)


def read(path: Path, form: str, **settings: str) -> Corpus:
    """The corpus of a file that has nothing wrong."""
    readings = list(load(form).with_settings(settings).read(open_source(str(path))))
    assert [found for reading in readings for found in reading.findings] == []
    return Corpus.concat(reading.corpus for reading in readings)


def write(corpus: Corpus, path: Path, form: str) -> None:
    own = load(form)
    assert own.write is not None
    own.write([own.supported(corpus)], path)


def spans_of(corpus: Corpus) -> list[tuple[Any, ...]]:
    named = dict(corpus.documents.select("row", "name").iter_rows())
    rows = corpus.mentions.select("document", "start", "end", "label", "text").rows()
    return sorted((named[document], *rest) for document, *rest in rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_label_studio(tmp_path: Path, seed: int) -> None:
    converter = pytest.importorskip("label_studio_sdk.converter").Converter
    writer = Writer(seed)
    corpus = writer.corpus()
    write(corpus, tmp_path / "own.json", "label-studio")
    tasks = json.loads((tmp_path / "own.json").read_text("utf-8"))
    for task in tasks:
        for annotator in range(writer.random.randint(0, 2)):
            task["annotations"].append({"completed_by": annotator + 1, "result": []})
    (tmp_path / "own.json").write_text(json.dumps(tasks), "utf-8")
    tool = converter(CONTROL, str(tmp_path), download_resources=False)
    tool.convert_to_json_min(str(tmp_path / "own.json"), str(tmp_path / "min"), is_dir=False)
    entries = json.loads((tmp_path / "min/result.json").read_text("utf-8"))
    theirs = [
        (str(entry["id"]), span["start"], span["end"], span["labels"][0], span["text"])
        for entry in entries
        for span in entry.get("label", ())
    ]
    assert sorted(theirs) == spans_of(corpus)
    choices = {"label": "choice"} if any("choice" in entry for entry in entries) else {}
    again = read(tmp_path / "min/result.json", "label-studio", **choices)
    assert spans_of(again) == spans_of(corpus)
    assert Counter(again.instances["label"]) == Counter(corpus.instances["label"])


@pytest.mark.parametrize("seed", SEEDS)
def test_doccano(tmp_path: Path, seed: int) -> None:
    sys.modules.setdefault("spacy.gold", ModuleType("spacy.gold"))  # of version 2
    sys.modules["spacy.gold"].__dict__.setdefault("biluo_tags_from_offsets", None)
    datasets = pytest.importorskip("doccano_transformer.datasets")
    corpus = Writer(seed).corpus()
    path = tmp_path / "own.jsonl"
    corpus = corpus.replace(frames=corpus.frames.clear(), arguments=corpus.arguments.clear())
    corpus = corpus.replace(instances=corpus.instances.clear())
    write(corpus, path, "doccano")
    assert spans_of(read(path, "doccano")) == spans_of(corpus)
    lines = path.read_text("utf-8").replace('"label": [', '"labels": [')  # the older member
    path.write_text(lines, "utf-8")
    assert spans_of(read(path, "doccano")) == spans_of(corpus)
    pieces = [
        found["data"].removeprefix("-DOCSTART- -X- -X- O\n\n")
        for found in datasets.NERDataset.from_jsonl(str(path)).to_conll2003(str.split)
    ]
    (tmp_path / "x.conll").write_text("".join(pieces), "utf-8")
    # The package finds a sign at the offset of the one before it, if that is the same.
    twice = any(text.count("\U0001f600 \U0001f600") for text in corpus.documents["text"])
    if corpus.mentions.is_empty() or twice:
        return
    conll = load("conll-columns").with_settings({"document": "sentence"})
    (result,) = conll.read(open_source(str(tmp_path / "x.conll")))
    texts = dict(result.corpus.documents.select("row", "text").iter_rows())
    theirs = [
        (texts[document][start:end], label)
        for document, start, end, label in result.corpus.mentions.select(
            "document", "start", "end", "label"
        ).rows()
    ]
    assert Counter(theirs) == Counter(corpus.mentions.select("text", "label").rows())


def documents(writer: Writer, nlp: Any) -> Iterator[Any]:
    """Random documents of spaCy."""
    for _ in range(writer.random.randint(1, 3)):
        text = writer.text()
        doc = nlp(text)
        spans = [doc.char_span(a, b, b_label) for a, b, b_label in writer.spans(text)]
        doc.ents = [span for span in spans if span is not None]
        others = [doc.char_span(a, b, b_label) for a, b, b_label in writer.spans(text)]
        doc.spans["sc"] = [span for span in others if span is not None]
        doc.cats = {"a": round(writer.random.random(), 3), "b": 1.0}
        yield doc


@pytest.mark.parametrize("seed", SEEDS)
def test_spacy(tmp_path: Path, seed: int) -> None:
    spacy = pytest.importorskip("spacy")
    tokens = pytest.importorskip("spacy.tokens")
    writer, nlp, path = Writer(seed), spacy.blank("en"), tmp_path / "x.jsonl"
    theirs = list(documents(writer, nlp))
    path.write_text("".join(json.dumps(doc.to_json()) + "\n" for doc in theirs), "utf-8")
    corpus = read(path, "spacy-json")
    rows = corpus.mentions.select("document", "start", "end", "label").rows()
    assert rows == [
        (at, span.start_char, span.end_char, span.label_)
        for at, doc in enumerate(theirs)
        for span in (*doc.ents, *doc.spans["sc"])
    ]
    counts = [sum(score >= 0.5 for score in doc.cats.values()) for doc in theirs]
    assert corpus.instances.height == sum(counts)
    write(corpus, tmp_path / "again", "spacy-json")
    for line, doc in zip((tmp_path / "again").read_text("utf-8").splitlines(), theirs, strict=True):
        again = tokens.Doc(nlp.vocab).from_json(json.loads(line), validate=True)
        assert again.to_json() == doc.to_json()


@pytest.mark.parametrize("seed", SEEDS)
def test_bioc(tmp_path: Path, seed: int) -> None:
    biocjson = pytest.importorskip("bioc.biocjson")
    corpus = Writer(seed).corpus()
    path = tmp_path / "x.bioc.json"
    corpus = corpus.replace(instances=corpus.instances.clear())
    write(corpus, path, "bioc-json")
    collection = biocjson.loads(path.read_text("utf-8"))
    theirs = [
        (document.id, location.offset, location.end, annotation.infons["type"], annotation.text)
        for document in collection.documents
        for passage in document.passages
        for annotation in passage.annotations
        for location in annotation.locations
    ]
    assert sorted(theirs) == spans_of(corpus)
    relations = sum(len(document.relations) for document in collection.documents)
    assert relations == corpus.frames.height
    (tmp_path / "again.json").write_text(biocjson.dumps(collection), "utf-8")
    again = read(tmp_path / "again.json", "bioc-json")
    assert spans_of(again) == spans_of(corpus)
    assert again.arguments.select("role", "target").equals(
        corpus.arguments.select("role", "target")
    )
