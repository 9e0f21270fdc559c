"""Whatever `convert` writes of a damaged corpus, its reader reads; see `fuzz/corpora.py`."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fuzz import corpora
from fuzz.trial import write_files
from hlteval import read
from hlteval.converters import load
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import thorough

TRIALS = 5 if thorough() else 2
"""Damaged corpora per format that is written; `make fuzz` tries thousands."""


def damaged(number: int, folder: Path) -> Corpus:
    """What is kept of a damaged corpus; the same number gives the same."""
    form = corpora.SAVED[number % len(corpora.SAVED)]
    (files,) = corpora.mutate(form, Random(f"written {number}"))
    source = open_source(str(write_files(files, folder)))
    return Corpus.concat(result.corpus for result in load(form).read(source))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", corpora.writers())
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    first = TRIALS * corpora.writers().index(name)
    for number in range(first, first + TRIALS):
        folder = tmp_path / str(number)
        folder.mkdir()
        corpora.check_writing(damaged(number, folder / "in"), folder, [name])


SOURCE = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
PLACE = {"row": 0, "document": 0, "origin": 0, "record": 1, "start": 0, "end": 3}
MENTION = {**PLACE, "mention": "T1", "label": "City", "text": "Osh", "entity": "1"}
LINK = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention_row": 0, "rank": 2}
FOUND = {
    "a part of another format": ("ltf", {"segments": [{**PLACE, "part": "passage 1"}]}),
    "parts of one number": (
        "ltf",
        {
            "segments": [
                {**PLACE, "row": row, "part": part}
                for row, part in enumerate(("TEXT 1", "HEADLINE 1"))
            ]
        },
    ),
    "an offset of ten digits": ("ltf", {"segments": [{**PLACE, "end": 10**10, "text": "Osh"}]}),
    "an offset of ten digits of a mention": ("laf", {"mentions": [{**MENTION, "end": 10**10}]}),
    "an unknown attribute": (
        "ltf",
        {
            "segments": [{**PLACE, "text": "Osh"}],
            "attributes": [
                {**{k: PLACE[k] for k in ("row", "document", "origin", "record")},
                 "element": "DOC", "name": "a b", "value": "x"}
            ],
        },
    ),
    "a language with a control character": ("laf", {"language": "e\x01"}),
    "a name with a space": ("document-list", {"name": "d 1"}),
    "a text of other tags": ("sgml-corpus", {"text": "<A><DOCNO>d2</DOCNO></A>"}),
    "a score that is not a number": (
        "neleval",
        {"mentions": [{**MENTION, "confidence": 0.5, "confidence_text": "high"}]},
    ),
    "a candidate with a tab": (
        "neleval",
        {"mentions": [MENTION], "links": [{**LINK, "entity": "a\tb"}]},
    ),
    "a null character in a text": ("rsd", {"text": "O\0h"}),
    "a byte order mark at the start of a text": ("brat", {"text": "\ufeffOsh"}),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_what_was_written_broken_is_left_out_and_listed(what: str, tmp_path: Path) -> None:
    name, tables = FOUND[what]
    names = ("name", "text", "language")
    own = {key: tables[key] for key in names if key in tables}
    rest = {key: rows for key, rows in tables.items() if key not in names}
    documents = [{"row": 0, "name": "d1", "text": "Osh", "origin": 0, **own}]
    documents.append({"row": 1, "name": "d2", "text": "<DOC><DOCNO>d2</DOCNO></DOC>"})
    corpus = Corpus(sources=[SOURCE], documents=documents, **rest)
    form = load(name)
    assert sum(form.losses(corpus).values()) > 0
    corpora.check_writing(corpus, tmp_path, [name])
    assert form.write
    form.write([form.supported(corpus)], tmp_path / f"out{form.suffixes[0]}")
    _, findings = read(tmp_path / f"out{form.suffixes[0]}", name)
    assert [f.code for f in findings if f.severity == "error" and f.code != "SRC104"] == []
