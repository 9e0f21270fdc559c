"""Whatever a line holds and wherever the span is: one safe line, and carets where they belong."""

from __future__ import annotations

import unicodedata
from io import StringIO

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from hlteval.findings import Excerpt, Finding, Severity, Span, excerpt, spot
from hlteval.reports.findings import block
from hlteval.reports.terminal import LEFT_TO_RIGHT, draw, isolate_bidi, pieces, visible
from tests.effort import tries

CONTROL = "\t\r\n\x00\x1b\x7f\x85\u200b\u200c\u200d\u200e\u202e\u2028\u2066\ufe0f\u3000"
LETTERS = "ab 東\u0301\u05d0\u0627\u0660"
EMOJI = "\U0001f469\U0001f680\u2764\U0001f3fd\U0001f1eb[]\\"
CHARACTERS = st.one_of(st.sampled_from(CONTROL + LETTERS + EMOJI), st.characters())
LINES = st.text(CHARACTERS, max_size=400)
SETTINGS = settings(max_examples=tries(100), deadline=None)


@st.composite
def places(draw: st.DrawFn) -> tuple[str, Span]:
    line = draw(LINES)
    begin = draw(st.integers(0, len(line)))
    return line, Span(
        draw(st.integers(1, 99_999)), begin + 1, draw(st.integers(begin, len(line))) + 1
    )


def is_safe(text: str) -> bool:
    """Whether a terminal stays where it is: of what is invisible, only joiners and our marks."""
    unseen = {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    return unseen <= {LEFT_TO_RIGHT, "\u200c", "\u200d"}


@SETTINGS
@given(places(), st.integers(1, 200))
@example(("\u200e\u05d0", Span(1, 1, 2)), 80)
@example(("a\u200d\u200d\ufe0f", Span(1, 2, 4)), 80)
def test_a_drawn_line_is_safe_and_fits(place, room):
    line, span = place
    drawn = draw(excerpt(line, span), span, room)
    assert is_safe(drawn.text)
    assert cell_len(drawn.text) <= max(room, 20)
    assert drawn.column <= cell_len(drawn.text)
    assert drawn.width >= 1


@SETTINGS
@given(places())
def test_carets_cover_the_span_exactly(place):
    """Counted anew from the whole line: all that is shown before the span, and of the span."""
    line, span = place
    line, span = line[:40], Span(1, min(span.column, 41), min(span.end_column, 41))
    drawn = draw(Excerpt(line), span, 10_000)
    shown = drawn.text.replace(LEFT_TO_RIGHT, "")
    begins = [piece.begin for piece in pieces(line)]
    at = [
        sum(cell_len(piece.text) for piece in pieces(line) if piece.begin < begin)
        for begin in begins
    ]
    at.append(cell_len(shown))
    first = max((n for n, begin in enumerate(begins) if begin <= span.column - 1), default=0)
    if span.column > len(line):
        first = len(begins)
    end = sum(begin < span.end_column - 1 for begin in begins)
    assert drawn.column == at[first]
    assert drawn.width == max(1, at[max(end, first)] - at[first])


@SETTINGS
@given(st.text(st.sampled_from("ab 東京é\t"), max_size=300), st.data())
def test_carets_stand_under_the_text_that_is_marked(line, data):
    """For text without marks and joiners the marked text itself can be found under the carets."""
    begin = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(begin, min(len(line), begin + 10)))
    span = Span(1, begin + 1, end + 1)
    drawn = draw(excerpt(line, span), span, 60)
    cells = "".join(character + "\0" * (cell_len(character) - 1) for character in drawn.text)
    marked = cells[drawn.column : drawn.column + drawn.width].replace("\0", "")
    if begin < end:
        assert marked == line[begin:end].replace("\t", "→")
    else:
        assert drawn.width == 1


@SETTINGS
@given(LINES)
def test_pieces_are_the_whole_line_and_each_is_as_wide_as_it_says(line):
    parts = pieces(line)
    assert [part.begin for part in parts] == sorted({part.begin for part in parts})
    assert all(part.cells == cell_len(part.text) >= 1 for part in parts)
    assert sum(part.cells for part in parts) == cell_len("".join(part.text for part in parts))
    literal = "".join(part.text for part in parts if part.literal).replace("◌", "")
    kept = iter(line)
    assert all(character in kept for character in literal)


@SETTINGS
@given(LINES, LINES, LINES, st.none() | places(), st.integers(1, 120))
def test_any_finding_is_a_block_of_safe_lines(message, file, note, place, width):
    line, span = place or ("", None)
    finding = Finding(
        code="TST101",
        name="a-test",
        severity=Severity.ERROR,
        blocking=False,
        message=message,
        file=file or None,
        span=span,
        excerpt=excerpt(line, span) if span else None,
        record=note or None,
        help=note or None,
    )
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(
        block(finding, width), soft_wrap=True
    )
    lines = stream.getvalue().split("\n")
    notes = bool(note) + (bool(note) and span is None)
    assert len(lines) == 3 + bool(file) + notes + 3 * (span is not None)
    assert all(map(is_safe, lines))


@SETTINGS
@given(LINES)
def test_a_visible_text_is_one_safe_line(text):
    assert is_safe(visible(text))
    assert is_safe(isolate_bidi(text))
    assert visible(visible(text)) == visible(text)
    assert len(visible(text)) >= len(text)


@SETTINGS
@given(places())
def test_an_excerpt_is_a_part_of_the_line_that_holds_the_span(place):
    line, span = place
    window = excerpt(line, span)
    assert line[window.offset : window.offset + len(window.text)] == window.text
    assert window.cut == (window.offset + len(window.text) < len(line))
    assert len(window.text) == min(len(line), 160)
    assert window.offset <= span.column - 1 <= window.offset + len(window.text)


@SETTINGS
@given(st.text(st.sampled_from("ab\n\r\u2028東"), min_size=1, max_size=40), st.data())
def test_a_spot_is_the_place_of_its_character(text, data):
    index = data.draw(st.integers(0, len(text) - 1))
    place = spot(text, index)
    assert (text + "\n").split("\n")[place.line - 1][place.column - 1 : place.end_column - 1] == (
        text[index].replace("\n", "")
    )
