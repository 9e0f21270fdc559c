"""TextGrid files beside the packages textgrid and praatio, on random tiers, in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.sources import open_source
from tests.effort import tries

textgrid = pytest.importorskip("textgrid")
praatio = pytest.importorskip("praatio.textgrid")
TEXT = st.sampled_from(["101", 'say "no"', "\U0001f95b \u00f6l", "4 5", "IntervalTier", "a = 1"])
#: That package leaves quotation marks of points as they are in long files.
MARK = TEXT.filter(lambda text: '"' not in text)
TIMES = st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True).map(sorted)


@st.composite
def tiers(draw):
    """Intervals, and points: kind, start, end and text, without overlaps."""
    found = []
    for kind in ("norm", "emotion"):
        bounds = [time / 16 for time in draw(TIMES)]
        spans = zip(bounds[::2], bounds[1::2], strict=False)
        found += [(kind, start, end, draw(TEXT)) for start, end in spans]
        found += [(kind, time / 16, time / 16, draw(MARK)) for time in draw(TIMES)]
    return sorted(found)


def read_again(path):
    (result,) = load("textgrid").read(open_source(str(path)))
    assert result.findings == ()
    return result.corpus


def said(corpus):
    return sorted(corpus.instances.select("kind", "start", "end", "label").rows())


@given(drawn=tiers(), long=st.booleans())
@settings(max_examples=tries(200), deadline=None)
def test_both_read_the_files_of_both(drawn, long, tmp_path_factory):
    folder = tmp_path_factory.mktemp("textgrid")
    grid = praatio.Textgrid(0, 70)
    for kind in ("norm", "emotion"):
        rows = [(a, b, text) for own, a, b, text in drawn if own == kind and a < b]
        grid.addTier(praatio.IntervalTier(kind, rows, 0, 70))
        points = [(a, text) for own, a, b, text in drawn if own == kind and a == b]
        grid.addTier(praatio.PointTier(f"{kind} points", points, 0, 70))
    form = "long_textgrid" if long else "short_textgrid"
    grid.save(str(folder / "a.TextGrid"), form, includeBlankSpaces=True)
    corpus = read_again(folder / "a.TextGrid")
    assert said(corpus) == drawn
    write = load("textgrid").write
    assert write is not None
    write([corpus], folder / "own")
    own = folder / "own" / "a.TextGrid"
    theirs = praatio.openTextgrid(str(own), includeEmptyIntervals=False)
    again = [
        (tier.name.split()[0], entry[0], entry[-2] if len(entry) > 2 else entry[0], entry[-1])
        for tier in theirs.tiers
        for entry in tier.entries
    ]
    assert sorted(again) == drawn
    other = textgrid.TextGrid.fromFile(str(own))
    marks = [
        (tier.name.split()[0], entry.minTime, entry.maxTime, entry.mark)
        if hasattr(entry, "minTime")
        else (tier.name.split()[0], entry.time, entry.time, entry.mark)
        for tier in other
        for entry in tier
        if entry.mark
    ]
    assert sorted(marks) == drawn
    other.write(str(folder / "b.TextGrid"))
    assert said(read_again(folder / "b.TextGrid")) == drawn
