"""STD206: the quick looks at bytes and code points find what a slow look at each span finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from hlteval.representation import Corpus
from hlteval.tasks import load
from hlteval.validators import RuleContext, standoff

TEXTS = st.lists(st.text("ab é\n\U0001f331", max_size=12), min_size=1, max_size=3)
#: The formats have no sign before an offset, so that none is negative.
OFFSETS = st.tuples(st.integers(0, 13), st.integers(0, 14))


class Span(NamedTuple):
    """A text span of a document: its parts, and the text that it is said to have."""

    document: int
    parts: Sequence[tuple[int, int]]
    text: str | None


@st.composite
def drawn_spans(draw: st.DrawFn, texts: Sequence[str]) -> Span:
    """A span of one or more parts, often with the text that is there or nearly so."""
    document = draw(st.integers(0, len(texts) - 1))
    parts = draw(st.lists(OFFSETS, min_size=1, max_size=3))
    there = " ".join(texts[document][start:end] for start, end in parts)
    outer = texts[document][min(start for start, _ in parts) : max(end for _, end in parts)]
    near = st.sampled_from(
        [there, outer, there.replace("\n", " "), there.replace(" ", "\n"), f"{there} "]
    )
    return Span(document, parts, draw(near | st.text("ab é", max_size=4) | st.none()))


def corpus(texts: Sequence[str], drawn: Sequence[Span]) -> Corpus:
    """The texts, with a mention for each span."""
    mentions = [
        {
            "row": row,
            "document": span.document,
            "origin": 0,
            "record": row + 1,
            "mention": f"T{row}",
            "label": "Gene",
            "start": min(start for start, _ in span.parts),
            "end": max(end for _, end in span.parts),
            "fragments": [{"start": start, "end": end} for start, end in span.parts]
            if len(span.parts) > 1
            else None,
            "text": span.text,
        }
        for row, span in enumerate(drawn)
    ]
    documents = [{"row": row, "name": f"d{row}", "text": text} for row, text in enumerate(texts)]
    return Corpus(documents=documents, mentions=mentions)


def differs(text: str, span: Span) -> bool:
    """Whether a text has something else at the parts of a span that lie inside of it."""
    legal = [(start, end) for start, end in span.parts if start < end <= len(text)]
    there = " ".join(text[start:end] for start, end in legal)
    words = [re.sub(r"\s+", " ", said).strip() for said in (there, span.text or "")]
    return span.text is not None and bool(legal) and words[0] != words[1]


@given(st.data())
def test_each_span_with_another_text_is_found(data: st.DataObject) -> None:
    """Whether a text is ASCII or not, and a span is broken or not."""
    texts = data.draw(TEXTS)
    drawn = data.draw(st.lists(drawn_spans(texts), max_size=5))
    own = corpus(texts, drawn)
    context = RuleContext(own, own, load("seedev-binary").schema())
    found = standoff.text_differs(context).collect()
    expected = [row for row, span in enumerate(drawn) if differs(texts[span.document], span)]
    assert sorted(found["record"].to_list()) == [row + 1 for row in expected]
