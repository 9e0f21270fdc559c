"""Whether spans have the text of their documents, as Python slices it."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters.toolkit.quotes import are_quoted
from tests.effort import tries

TEXTS = st.one_of(st.none(), st.text("abé\U0001f600", max_size=6), st.text("ab", max_size=6))
SPANS = st.tuples(
    *(st.integers(0, 3), st.integers(-1, 7), st.integers(-1, 7)),
    st.one_of(st.none(), st.text("abé\U0001f600", max_size=3)),
)


@given(texts=st.lists(TEXTS, max_size=4), spans=st.lists(SPANS, max_size=12), cut=st.booleans())
@settings(max_examples=tries(100), deadline=None)
def test_spans_are_compared_with_their_documents(
    texts: list[str | None], spans: list[tuple[int, int, int, str | None]], cut: bool
) -> None:
    known = dict(enumerate(texts))
    if cut:  # most drawn texts are none of the document
        spans = [(d, s, e, (known.get(d) or "")[max(s, 0) : max(e, 0)]) for d, s, e, _ in spans]
    expected = [
        (whole := known.get(document)) is not None
        and text is not None
        and 0 <= start <= end <= len(whole)
        and whole[start:end] == text
        for document, start, end, text in spans
    ]
    schema = {"document": pl.Int64, "start": pl.Int64, "end": pl.Int64, "text": pl.String}
    documents = pl.DataFrame({"row": [*known], "text": texts}, {"row": pl.Int64, "text": pl.String})
    found = are_quoted(documents, pl.DataFrame(spans, schema, orient="row"))
    assert found.to_list() == expected
