"""Some lines of a text by their numbers, whether they are cut out or all are split."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.syntax.tsv import Lines
from tests.effort import tries

PIECES = ("a", "é", "\U0001f600", "\r", "\n", "\r\n", "", "\ufeff", "long words and more")


@given(
    text=st.lists(st.sampled_from(PIECES), max_size=80).map("".join),
    size=st.sampled_from((1, 7, 40, 1000)),
    data=st.data(),
)
@settings(max_examples=tries(60), deadline=None)
def test_lines_are_those_between_line_feeds(text: str, size: int, data: st.DataObject) -> None:
    expected = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    lines = Lines(text, size)
    if not text:
        assert len(lines) == 0
        return
    assert len(lines) == len(expected)
    wanted = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=6))
    assert lines.gather(wanted).to_list() == [expected[at] for at in wanted]
    assert list(lines) == expected


def test_few_of_many_lines_are_cut_out() -> None:
    text = "".join(f"é{at}\r\n" for at in range(1000))
    assert Lines(text).gather([999, 3, 3]).to_list() == ["é999", "é3", "é3"]
