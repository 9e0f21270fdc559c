"""What a corpus refuses to be made of."""

from __future__ import annotations

import polars as pl
import pytest

from hlteval.representation import TABLES, Corpus

MENTION = {
    "row": 0, "document": 0, "origin": 0, "record": 1,
    "mention": "T1", "label": "Gene", "start": 0, "end": 3,
}  # fmt: skip
PART = {"start": 0, "end": 3}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"frobs": []}, r"unknown tables: \['frobs'\]"),
        ({"documents": [{"row": 0, "name": "d", "colour": "red"}]}, r"no column \['colour'\]"),
        ({"documents": pl.DataFrame({"row": [0], "name": ["d"], "x": [1]})}, r"no column \['x'\]"),
        ({"documents": [{"row": 0}]}, r"documents\.name must not be null"),
        ({"documents": [{}]}, r"documents\.row must not be null"),
        (
            {"documents": [{"row": 0, "name": "d"}, {"row": 1, "name": None}]},
            "name must not be null",
        ),
        ({"documents": [{"row": "0", "name": "d"}]}, r"documents\.row"),
        ({"documents": [{"row": 0.5, "name": "d"}]}, r"documents\.row"),
        ({"documents": [{"row": 2**63, "name": "d"}]}, r"documents\.row"),
        ({"documents": [{"row": 0, "name": 7}]}, r"documents\.name"),
        ({"documents": [{"row": 0, "name": "\ud800"}]}, "surrogates not allowed"),
        (
            {
                "documents": pl.DataFrame(
                    {"row": [0], "name": ["d"]}, schema_overrides={"row": pl.Int32}
                )
            },
            r"documents\.row is Int32, not Int64",
        ),
        ({"mentions": [MENTION | {"fragments": [{"start": 0}]}]}, "fragments must have no null"),
        ({"mentions": [MENTION, MENTION | {"fragments": [PART, None]}]}, "must have no null"),
    ],
)
def test_what_is_not_declared_is_an_error(tables, message):
    with pytest.raises(ValueError, match=message):
        Corpus(**tables)


def test_columns_that_may_be_null_can_be_left_out():
    corpus = Corpus(mentions=[MENTION, MENTION | {"row": 1, "fragments": [PART]}])
    assert corpus.mentions["fragments"].to_list() == [None, [PART]]
    assert corpus.mentions["text"].to_list() == [None, None]


@pytest.mark.parametrize("nothing", [[], iter(()), pl.DataFrame()])
def test_a_table_of_nothing_is_an_empty_table(nothing):
    assert Corpus(mentions=nothing) == Corpus()
    assert dict(Corpus().mentions.schema) == TABLES["mentions"].schema


def test_no_attribute_can_be_set():
    corpus = Corpus()
    for name in ["documents", "_tables", "other"]:
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(corpus, name, {})
    with pytest.raises(AttributeError, match="no table 'frobs'"):
        corpus.frobs  # noqa: B018
    with pytest.raises(TypeError, match="unhashable"):
        hash(corpus)


def test_a_corpus_is_not_equal_to_anything_else():
    assert Corpus() != {}
    assert Corpus() != Corpus(documents=[{"row": 0, "name": "d"}])


def test_a_corpus_says_what_it_holds():
    assert repr(Corpus()) == "<Corpus: empty>"
    assert repr(Corpus(mentions=[MENTION])) == "<Corpus: 1 mentions>"


def test_the_frames_it_was_made_of_can_be_written_to():
    frame = pl.DataFrame(
        {"row": [0], "origin": [None], "name": ["d"], "text": [None], "start": [None]}
    ).cast(TABLES["documents"].schema)
    corpus = Corpus(documents=frame)
    frame[0, "name"] = "other"
    frame.insert_column(0, pl.Series("extra", [0]))
    assert corpus == Corpus(documents=[{"row": 0, "name": "d"}])
