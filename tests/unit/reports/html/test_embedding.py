"""What a report has inside itself: nothing ends its element, and nothing else is run or loaded."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from lxml import html

from hlteval.reports.html.page import (
    Copied,
    DataTable,
    Fact,
    Headline,
    Notes,
    Page,
    Tab,
    as_json,
    asset,
    pack,
    policy,
)

HOSTILE = "</script><script>harm(1)</script><img src=x onerror=harm(2)>\u2028\u202e\"'\x00"


@pytest.mark.parametrize("text", [HOSTILE, "<!--<script>", "]]>", "\udcff", "&lt;"])
def test_data_cannot_end_their_element(text):
    made = as_json({"text": [text]})
    assert not re.search("[<>&\u2028\u202e]", made)
    known = text.encode("utf-8", "backslashreplace").decode()
    assert json.loads(made) == {"text": [known]}


def test_every_text_of_a_page_is_escaped():
    sections = [
        Headline(facts=[Fact(HOSTILE, "1", HOSTILE, HOSTILE, main=True)]),
        Notes(HOSTILE, HOSTILE, [HOSTILE], [HOSTILE]),
        Copied(text=HOSTILE),
        DataTable(HOSTILE, frame=pl.DataFrame({HOSTILE: [HOSTILE]})),
    ]
    text = Page(HOSTILE, [(HOSTILE, HOSTILE)], [Tab("One", sections), Tab("Two", sections)]).html()
    found = html.fromstring(text)
    assert not found.xpath("//img")
    assert all("harm(" not in (script.text or "") for script in found.xpath("//script[not(@type)]"))
    assert found.xpath("count(//script[@type])") == 2


def test_the_policy_names_the_scripts_and_no_place():
    text = Page("Scores", [], [Tab("One", [DataTable("A", frame=pl.DataFrame({"a": [1]}))])]).html()
    found = html.fromstring(text)
    scripts = [script.text for script in found.xpath("//script[not(@type)]")]
    (written,) = found.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert written == policy(scripts)
    assert "default-src 'none'" in written
    assert not found.xpath("//link | //script/@src | //img | //iframe")


def test_libraries_have_their_licences_and_no_maps():
    for name in ("tabulator", "d3", "plot.umd"):
        text = asset(f"vendor/{name}.min.js")
        assert "Copyright" in text[:200]
        assert "sourceMappingURL" not in text


def test_texts_that_repeat_are_written_once():
    (column,) = pack(pl.DataFrame({"type": ["PER", None, "PER", "PER"]}))
    assert (column["words"], column["at"]) == (["PER"], [0, None, 0, 0])


def test_what_is_not_a_number_is_undefined():
    (column,) = pack(pl.DataFrame({"f1": [float("nan"), 0.5]}))
    assert column["values"] == [None, 0.5]
