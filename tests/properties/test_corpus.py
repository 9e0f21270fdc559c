"""A corpus is a value, and putting corpora together keeps everything that they say."""

from __future__ import annotations

import copy
import pickle

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hlteval.representation import TABLES, Corpus
from hlteval.representation.corpus import BrokenKey, of_other_document
from tests.effort import tries

FEW = settings(max_examples=tries(8), deadline=None)


def content(corpus: Corpus) -> dict[str, list[dict[str, object]]]:
    """The rows of every table, each reference followed to the content of its row; no keys."""
    resolved: dict[str, dict[int, dict[str, object]]] = {}
    for name, frame in corpus.tables():
        references = dict(TABLES[name].references)
        resolved[name] = {}
        for row in frame.rows(named=True):
            for column, target in references.items():
                key = row[column]
                row[column] = None if key is None else resolved[target][key]
            resolved[name][row.pop("row")] = row
    return {name: list(rows.values()) for name, rows in resolved.items()}


@FEW
@given(data=st.data())
def test_concat_keeps_the_content_in_order(data, corpora):
    parts = data.draw(st.lists(corpora, max_size=3))
    whole = Corpus.concat(parts)
    whole.check_keys()
    expected = {name: [row for part in parts for row in content(part)[name]] for name in TABLES}
    assert content(whole) == expected
    for _, frame in whole.tables():
        assert frame["row"].to_list() == list(range(frame.height))


@FEW
@given(data=st.data())
def test_concat_in_any_grouping_is_the_same(data, corpora):
    parts = data.draw(st.lists(corpora, min_size=2, max_size=4))
    at = data.draw(st.integers(0, len(parts)))
    grouped = Corpus.concat([Corpus.concat(parts[:at]), Corpus.concat(parts[at:])])
    assert grouped == Corpus.concat(parts) == Corpus.concat(iter(parts))
    assert Corpus.concat([grouped]) == grouped


@FEW
@given(data=st.data())
def test_valid_keys_are_taken_and_each_broken_reference_is_found(data, corpora):
    corpus = data.draw(corpora)
    corpus.check_keys()
    places = [
        (name, column)
        for name, frame in corpus.tables()
        for column, _ in TABLES[name].references
        if frame.height
    ]
    assume(places)
    name, column = data.draw(st.sampled_from(places))
    frame = getattr(corpus, name)
    index = data.draw(st.integers(0, frame.height - 1))
    keys = frame[column].to_list()
    keys[index] = -1
    broken = corpus.replace(**{name: frame.with_columns(pl.Series(column, keys, dtype=pl.Int64))})
    with pytest.raises(BrokenKey) as caught:
        broken.check_keys()
    assert (caught.value.table, caught.value.column, caught.value.index) == (name, column, index)


@FEW
@given(data=st.data())
def test_copies_are_equal_and_frames_cannot_be_written_through(data, corpora):
    corpus = data.draw(corpora)
    twin = pickle.loads(pickle.dumps(corpus))
    assert copy.copy(corpus) == twin == copy.deepcopy(corpus) == corpus
    for name, frame in corpus.tables():
        for handed_out in (frame, getattr(corpus, name)):
            if handed_out.height:
                handed_out[0, "row"] = -5
            handed_out.insert_column(0, pl.Series("extra", [0] * handed_out.height))
    assert corpus == twin
    assert [frame.columns for _, frame in corpus.tables()] == [
        list(t.schema) for t in TABLES.values()
    ]


@FEW
@given(data=st.data())
def test_rows_and_frames_make_the_same_corpus(data, corpora):
    corpus = data.draw(corpora)
    assert Corpus(**{name: frame.rows(named=True) for name, frame in corpus.tables()}) == corpus
    assert Corpus(**dict(corpus.tables())) == corpus
    assert corpus.replace() == corpus


HIGHEST = 2**63 - 1


@given(
    first=st.sampled_from([0, 3, HIGHEST - 3, -HIGHEST - 1]),
    homes=st.lists(st.integers(0, 2), min_size=1, max_size=4),
    rows=st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(-1, 5))),
    far=st.sampled_from([HIGHEST, 0, -HIGHEST - 1]),
)
def test_consecutive_keys_are_looked_up_like_any_others(first, homes, rows, far):
    keys = [first + at for at in range(len(homes))]
    targets = pl.DataFrame({"row": keys, "document": homes})
    near = [key if key is None else first + key for _, key in rows]
    keys_of = [far if key and abs(key) > HIGHEST else key for key in near]
    documents = [document for document, _ in rows]
    schema = {"document": pl.Int64, "frame_row": pl.Int64}
    referring = pl.DataFrame({"document": documents, "frame_row": keys_of}, schema=schema)
    home = dict(zip(keys, homes, strict=True))
    pairs = zip(documents, keys_of, strict=True)
    expected = [home.get(key, document) != document for document, key in pairs]
    for some in (targets, targets.reverse()):
        assert of_other_document(referring, "frame_row", some).to_list() == expected
