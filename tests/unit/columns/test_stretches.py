"""Columns are read some characters at a time: wherever a stretch ends, the tokens are the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.format import ReadResult
from hlteval.sources import Member, Source
from hlteval.syntax import tsv
from tests.effort import tries

LINES = (
    *("EU B-ORG", "rejects O", "", "  ", "-DOCSTART- O", "-DOCSTART- (d;1); part 002 O", "a b O"),
    *("#begin document (x); part 000", "#end document", "é I-ORG", "a\tO", " a  O ", "-", "# O"),
    *("#1 I-PER", "-DOCSTART-", "-DOCSTART- (n)", "word"),
)
FORM = load("conll-columns")


def read(text: str, **values: str) -> ReadResult:
    member = Member("", "c.conll", None, text.encode)
    (result,) = FORM.with_settings(values).read(Source("c.conll", "file", (member,)))
    return result


@given(
    lines=st.lists(st.sampled_from(LINES), max_size=12),
    end=st.sampled_from(("\n", "\r\n")),
    document=st.sampled_from(("-DOCSTART-", "sentence", "#1")),
    blanks=st.sampled_from(("none", "word")),
)
@settings(max_examples=tries(40), deadline=None)
def test_the_size_of_a_stretch_changes_nothing(
    lines: list[str], end: str, document: str, blanks: str
) -> None:
    values = {"document": document, "blanks": blanks}
    text = end.join(lines)
    expected = read(text, **values)
    for size in (1, 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tsv, "SLICE", size)
            found = read(text, **values)
        assert found.findings == expected.findings
        assert found.corpus == expected.corpus


def test_a_document_without_a_name_has_its_number() -> None:
    found = read("-DOCSTART- O\na O\n\n-DOCSTART- (d7)\nb O\n#begin document (e); part 001\nc O\n")
    assert found.corpus.documents["name"].to_list() == ["1", "d7", "e;1"]
