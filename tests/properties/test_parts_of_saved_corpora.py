"""Large saved corpora in parts: findings and scores are those of the whole files."""

from itertools import starmap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.corpus.jsonl import write_jsonl
from hlteval.converters.corpus.jsonl_parts import outline, sections
from hlteval.representation import Corpus
from hlteval.sources import Member, open_source
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import validate
from hlteval.workflows.run.request import Request
from tests.effort import tries
from tests.properties.edl.test_parts import outcome
from tests.properties.test_parts_of_json_lines import sides

#: Changes of a line.
EDITS = (
    lambda line: b"",
    lambda line: line + line,
    lambda line: line.replace(b":", b": ", 1),
    lambda line: line.replace(b'"document":0', b'"document":1'),
    lambda line: line.replace(b'"document":', b'"document":9'),
    lambda line: line.replace(b'"row":', b'"row":1'),
    lambda line: line.replace(b'"label":"LOC"', b'"label":"\\u004cOC"'),
    lambda line: line.replace(b'"start":4', b'"start":-4'),
    lambda line: line.replace(b"}", b',"colour":1}'),
    lambda line: b"{}\n",
    lambda line: b"\n",
)


def saved(folder: Path, name: str, form: str, text: str) -> Path:
    """A file of a format, as a saved corpus."""
    path = folder / name
    path.write_bytes(text.encode())
    corpus = Corpus.concat(own.corpus for own in load(form).read(open_source(str(path))))
    out = folder / f"{name}.saved.jsonl"
    with out.open("wb") as stream:
        write_jsonl(corpus, stream)
    return out


@settings(max_examples=tries(80), deadline=None)
@given(sides(), st.integers(1, 3), st.booleans(), st.data())
def test_parts_give_what_whole_files_give(tmp_path_factory, both, size, scored, data):
    folder = tmp_path_factory.mktemp("parts")
    form, task, *texts = both
    gold, system = starmap(
        lambda name, text: saved(folder, name, form, text),
        zip(("gold.jsonl", "run.jsonl"), texts, strict=True),
    )
    if data.draw(st.integers(0, 2)) == 0:
        path = data.draw(st.sampled_from([gold, system]))
        lines = path.read_bytes().splitlines(keepends=True)
        at, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        edit = data.draw(st.sampled_from([*EDITS, None]))
        if edit is None:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = edit(lines[at])
        path.write_bytes(b"".join(lines))
    own = {"reference": str(gold)} if scored else {"against": str(gold)}
    request = Request(task, str(system), lenient=True, max_per_code=2, **own)
    parts = Request(task, str(system), lenient=True, max_per_code=2, batch=size, **own)
    assert outcome(parts) == outcome(request)


def corpus(*names: str) -> Corpus:
    """Documents of a mention each."""
    source = {"row": 0, "path": "s.conll", "member": "s.conll", "format": "conll-columns"}
    place = {"origin": 0, "record": 1, "mention": "m", "label": "PER", "start": 0, "end": 1}
    return Corpus(
        sources=[{**source, "sha256": "0" * 64}],
        documents=[{"row": row, "origin": 0, "name": name} for row, name in enumerate(names)],
        mentions=[{"row": row, "document": row, **place} for row, _ in enumerate(names)],
    )


@pytest.mark.parametrize(
    ("names", "edit", "is_whole"),
    [
        (("a", "b", 'c "d" é'), (b"", b""), False),
        (("a", "b", "c"), (b'"label":', b'"label": '), True),
        (("a", "b", "c"), (b'"row":2,"document":2', b'"row":3,"document":2'), True),
        (("a", "b", "a"), (b"", b""), True),
    ],
)
def test_a_file_as_it_was_written_is_read_in_parts(
    tmp_path: Path, monkeypatch, names, edit, is_whole
):
    path = tmp_path / "gold.jsonl"
    with path.open("wb") as stream:
        write_jsonl(corpus(*names), stream)
    path.write_bytes(path.read_bytes().replace(*edit) if edit[0] else path.read_bytes())
    read, whole = list[Submission](), Submission._whole
    monkeypatch.setattr(Submission, "_whole", lambda own: read.append(own) or whole(own))
    validate(Request("mentions", str(path), against=str(path), batch=1))
    assert bool(read) == is_whole


def member_of(text: bytes) -> Member:
    return Member("", "s.jsonl", len(text), lambda: text)


def test_the_rows_of_a_document_are_found_in_each_table(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    with path.open("wb") as stream:
        write_jsonl(corpus(*(f"d{number}" for number in range(50))), stream)
    text = path.read_bytes()
    divided = sections(member_of(text))
    assert divided is not None
    found = divided.stretches([divided.starts[1], divided.starts[20]])
    assert found is not None
    pieces = [[text[slice(*piece)] for piece in own.pieces] for own in found[0]]
    assert [[piece.count(b"\n") for piece in own] for own in pieces] == [[1, 1], [19, 19], [30, 30]]
    assert pieces[1][1].startswith(b'{"table":"mentions","row":1,"document":1,')


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}\n",
        b'{"format":"hlteval-corpus","version":1}\n{"table":"documents","row":0}\n',
        b'{"format":"hlteval-corpus","version":1}\n{"table":"mentions","row":0}\n',
        b'{"format":"hlteval-corpus","version":1}\n{"table":"sources",\n',
    ],
)
def test_other_files_are_not_divided(text):
    assert outline(member_of(text)) is None
