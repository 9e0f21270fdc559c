"""What is written in slices of documents is what is written at once: files, findings and losses."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from fuzz import corpora
from hlteval import convert
from hlteval.converters import known, load
from hlteval.converters.toolkit.rows import slices
from hlteval.representation import Corpus
from hlteval.representation.corpus import are_apart
from hlteval.sources import open_source
from hlteval.sources.inputs import as_path
from hlteval.workflows.convert.conversion import NotConverted
from tests.runs import validate

TRIALS = 6
SEPARABLE = [name for name in known() if load(name).separable]
SOURCE = {"row": 0, "path": "x", "member": "a.ltf.xml", "format": "ltf", "sha256": ""}


def damaged(draw: Random, folder: Path) -> Corpus:
    """Some damaged corpora as one; most documents have names of their own."""
    parts = []
    for number in range(draw.randint(2, 4)):
        (files,) = corpora.mutate("jsonl", draw)
        path = folder / f"{number}.jsonl"
        (content,) = files.files.values()
        path.write_bytes(content or b"")
        (result,) = load("jsonl").read(open_source(str(path)))
        parts.append(result.corpus)
    corpus = Corpus.concat(parts)
    if draw.random() < 0.8:
        names = [f"{row}-{name}" for row, name in corpus.documents.select("row", "name").rows()]
        corpus = corpus.replace(documents=corpus.documents.with_columns(name=pl.Series(names)))
    return corpus


def converted(corpus: Corpus, form: str, folder: Path) -> tuple[Any, ...]:
    """The findings and files of a conversion."""
    try:
        findings = convert(as_path("source", corpus), folder, to_format=form)
    except NotConverted as reason:
        findings = reason.findings
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return findings, {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("form", SEPARABLE)
def test_slices_are_written_like_the_whole(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided = 0
    for number in range(TRIALS):
        folder = tmp_path / str(number)
        folder.mkdir()
        corpus = damaged(Random(f"slices {number}"), folder)
        expected = converted(corpus, form, folder / "whole")
        with monkeypatch.context() as patch:
            patch.setattr("hlteval.workflows.convert.losses.slices", partial(slices, rows=1))
            found = converted(corpus, form, folder / "sliced")
        assert found == expected
        divided += len([*slices(corpus, form, 1)]) > 1
    assert divided >= TRIALS / 3


DOCUMENTS = {
    "a file for each": (["a", "b", "x/c"], [0, 1, None], 3),
    "one file for two": (["a", "b", "c"], [0, 0, 0], 1),
    "a name twice": (["a", "a", "c"], [None, None, None], 1),
    "a folder that may be a file": (["a", "a.ltf.xml/b", "c"], [None, None, None], 1),
}


@pytest.mark.parametrize("what", DOCUMENTS)
def test_documents_that_may_share_a_file_stay_together(what: str) -> None:
    names, origins, expected = DOCUMENTS[what]
    own = any(origin is not None for origin in origins) and None in origins
    rows = [
        {"row": row, "name": name, "origin": None if own else origin}
        for row, (name, origin) in enumerate(zip(names, origins, strict=True))
    ]
    corpus = Corpus(sources=[SOURCE], documents=rows)
    assert len([*slices(corpus, "ltf", 1)]) == expected


def test_rows_without_a_document_are_in_the_first_slice() -> None:
    record = {"row": 0, "origin": 0, "record": 1, "code": "x", "kind": "x", "text": "x"}
    record |= {"column": 1, "end_column": 1, "expected": "x"}
    documents = [{"row": row, "name": f"d{row}"} for row in range(3)]
    records = [record, {**record, "row": 1, "document": 2}]
    corpus = Corpus(sources=[SOURCE], documents=documents, rejected_records=records)
    parts = [*slices(corpus, "ltf", 1)]
    assert [part.rejected_records["row"].to_list() for part in parts] == [[0], [], [1]]
    assert Corpus.concat(parts).documents.height == 3


def by_file(draw: Random) -> Corpus:
    """Documents from files of their own, in the order of their names, with some values changed."""
    corpora_of_one = [corpus for corpus in corpora.corpora() if corpus.documents.height == 1]
    corpus = Corpus.concat(draw.choices(corpora_of_one, k=6))
    names = [f"{row:02}-{name}" for row, name in corpus.documents.select("row", "name").rows()]
    tables = {"documents": corpus.documents.with_columns(name=pl.Series(names))}
    for name in ("segments", "tokens", "mentions"):
        rows: pl.DataFrame = getattr(corpus, name)
        for column in draw.sample(("start", "end", "text", "pos", "label"), 2):
            if column in rows.columns:
                rows = rows.with_columns(changed(rows[column], draw))
        tables[name] = rows
    return corpus.replace(**tables)


def changed(values: pl.Series, draw: Random) -> pl.Series:
    if values.dtype == pl.Int64:
        return values + pl.Series([draw.choice((0, 0, 1, -1)) for _ in values], dtype=pl.Int64)
    other = [draw.choice((value, value, "", "x y")) for value in values]
    return pl.Series(values.name, other, pl.String)


def test_slices_are_checked_like_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    divided, codes = 0, set[str]()
    for number in range(TRIALS):
        draw = Random(f"checked {number}")
        corpus = by_file(draw)
        for most in (1, 100):
            verdicts = []
            for rows in (1, 10**9):
                monkeypatch.setattr("hlteval.workflows.run.batches.ROWS", rows)
                verdicts.append(validate("ltf", as_path("source", corpus), max_per_code=most))
            assert verdicts[0] == verdicts[1]
        divided += are_apart(corpus)
        codes |= {found.code for found in verdicts[0].findings}
    assert divided >= TRIALS / 3
    assert len(codes) > 3
