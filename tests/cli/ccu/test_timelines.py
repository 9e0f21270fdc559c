"""Submissions of CCU in the files of annotation tools, and from these back."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.representation import Corpus

VALID = Path(__file__).parents[3] / "fixtures/ccu-submission/valid"
TOOLS = {
    "nd": ("rttm", "audacity", "webvtt", "elan", "instances-csv"),
    "ed": ("audacity",),
    "vd": ("elan", "instances-csv", "levels-parquet"),
    "cd": ("elan", "instances-csv"),
}


def said(corpus: Corpus) -> list[str]:
    """The judgments of a corpus, with the names of their documents."""
    names = dict(corpus.documents.select("row", "name").iter_rows())
    tables = (corpus.instances, corpus.ratings, corpus.changes)
    return sorted(
        repr((names[document], *cells))
        for table in tables
        for document, *cells in table.drop("row", "origin", "record").iter_rows()
    )


@pytest.mark.parametrize(
    ("task", "form"), [(task, form) for task, forms in TOOLS.items() for form in forms]
)
def test_a_submission_comes_back_from_each_format(task: str, form: str, tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    convert(str(VALID / task), str(there), to_format=form)
    convert(str(there), str(back), to_format="ccu-submission")
    assert said(read(str(back))[0]) == said(read(str(VALID / task))[0])
