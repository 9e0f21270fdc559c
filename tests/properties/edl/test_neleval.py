"""What holds of all annotation files of neleval: one grammar, two ways to read, nothing lost."""

from __future__ import annotations

import re

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.edl.neleval import explain
from hlteval.grammars import pattern
from hlteval.sources import open_source
from tests.effort import tries

FEW = settings(max_examples=tries(25), deadline=None)

cells = st.one_of(
    st.sampled_from(["D1", "d 2", "1", "5", "12", "E1", "NIL3", "0.5", "1.0", "1", "PER", ""]),
    st.sampled_from(
        ["-1", "+3", " 4 ", "1e3", "nan", ".5", "5.", "{", '{"type": "A"}', "a\r", "東京"]
    ),
)
lines = st.lists(cells, min_size=1, max_size=8).map("\t".join)


def read(path, text):
    path.write_bytes(text.encode())
    return next(iter(load("neleval").read(open_source(str(path)))))


@FEW
@given(lines)
def test_what_the_pattern_accepts_is_read_by_the_record_in_the_same_way(tmp_path_factory, line):
    plain = re.sub(r"\(\?P<[a-z_]+>", "(?:", pattern("neleval", "record"))
    accepted = re.fullmatch(plain, line) is not None
    rows, _ = explain(1, line)
    assert rows or not accepted
    if not accepted:
        return
    corpus = read(tmp_path_factory.mktemp("x") / "a", line + "\n").corpus
    mention = corpus.mentions.row(0, named=True)
    _, start, last, entity, score, label = rows[0]
    assert (mention["start"], mention["end"] - 1) == (int(start), int(last))
    assert mention["entity"] == entity
    assert mention["label"] == (label or "")
    assert mention["confidence"] == (float(score) if score else None)


@FEW
@given(st.lists(lines, max_size=5))
def test_reading_what_was_written_loses_nothing(tmp_path_factory, written):
    folder = tmp_path_factory.mktemp("x")
    corpus = read(folder / "a", "".join(f"{line}\n" for line in written)).corpus
    load("neleval").write([corpus], folder / "b")
    again = read(folder / "b", (folder / "b").read_text("utf-8")).corpus
    columns = pl.exclude("origin", "record", "row", "mention_row", "document")
    for table in ("mentions", "links"):
        one, other = (getattr(side, table).select(columns) for side in (corpus, again))
        assert one.equals(other)
    assert not again.rejected_records.height
