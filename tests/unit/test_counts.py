"""Counts in messages: the noun after a number has the number of the number."""

from __future__ import annotations

import re

import pytest

from docs.make.code_pages import plural_template
from hlteval.findings import catalogue, finding
from hlteval.findings.catalogue import values
from hlteval.findings.counts import counted_phrase, fill

NUMBERS = (
    *("all", "columns", "count", "depth", "known", "length", "lines", "listed", "limit", "most"),
    *("number", "places", "seconds", "segments", "size", "types"),
)
"""The values of templates that are numbers and may be before a noun."""
COUNTED = re.compile(rf"\{{(?:{'|'.join(NUMBERS)})(?::,)?\}} (?:[a-z]+ )?[a-z]+s\b")
AT_LEAST_TWO = {
    *(
        "BIO202",
        "EDL308",
        "EDL509",
        "GEN204",
        "GEN402",
        "GEN404",
        "GEN407",
        "GEN409",
        "GEN410",
        "HUB228",
        "JAN205",
        "JSN112",
    ),
    *("LDB104", "MAN202", "MAN210", "SEE409", "SRC123", "SRC124", "SSF105"),
}
"""Codes about several things, or about large sizes and constants."""


def test_a_noun_after_a_number_depends_on_it() -> None:
    entries = catalogue().values()
    found = {each.code for each in entries if any(map(COUNTED.search, (each.message, each.help)))}
    assert found == AT_LEAST_TWO


def test_values_are_read_back_from_both_messages() -> None:
    one, two = (finding("TLN301", given=given) for given in (1, 2))
    assert one.message == "this line has 1 cell, not start, end and label"
    assert two.message == "this line has 2 cells, not start, end and label"
    assert [values(item)["given"] for item in (one, two)] == ["1", "2"]


def test_documentation_shows_the_plural() -> None:
    assert plural_template("at most {n} {n|run|runs} {n|is|are}") == "at most {n} runs are"


def test_a_misspelt_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("{count} {cuont|line|lines}", {"count": 1})


@pytest.mark.parametrize(
    ("phrase", "one"),
    [
        ("instances whose times are rounded", "instance whose times are rounded"),
        ("attributes that are repeated, or whose", "attribute that is repeated, or whose"),
        ("segments and tokens with offsets", "segment or token with offsets"),
        ("missing segments, which become cells", "missing segment, which becomes cells"),
        ("documents, which a mapping does not name", "document, which a mapping does not name"),
        ("missing llr, written as 1", "missing llr, written as 1"),
        ("rows of documents that are not written", "row of documents that are not written"),
        ("N lines of frames of other kinds", "N line of frames of other kinds"),
        ("frames of the kind claims", "frame of the kind claims"),
        ("statuses of emotions", "status of emotions"),
        ("responses that do not fit a line", "response that does not fit a line"),
    ],
)
def test_what_is_lost_once_is_in_the_singular(phrase: str, one: str) -> None:
    assert counted_phrase(1, phrase) == f"1 {one}"
    assert counted_phrase(2, phrase) == f"2 {phrase}"
