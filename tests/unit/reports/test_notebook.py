"""Results in a notebook: short, escaped HTML without scripts."""

from itertools import product

import msgspec
import polars as pl
import pytest
from lxml import html

from hlteval import Corpus, score
from hlteval.findings import Findings, finding
from hlteval.reports import notebook
from hlteval.results.systems import Comparison, System
from hlteval.results.verdict import Verdict

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}",
    "a\u2028b\u202ec\x00d\udcffe",
)
ROW = {"document": "d1", "mention": "m1", "label": "PER", "start": 0, "end": 4}


@pytest.fixture(scope="module")
def scores():
    mentions = pl.DataFrame([ROW | {"entity": "NIL1", "mention_type": "NAM"}])
    return score("lorehlt-edl", mentions, mentions, measure="muc", lenient=True)


def verdict_with(text):
    found = [finding("SRC104", file=f"{text}{n}", what=text) for n in range(20)]
    return Verdict(text, text, passed=False, findings=Findings(found))


def comparison_with(text, scores):
    system = System(name=text, value=0.5, interval=(0.25, 0.75), rank=1)
    return Comparison(
        task=scores.task, profile=text, metric=text, signature=text, systems=(system,),
        differences=(), notes=(text,),
    )  # fmt: skip


def scores_with(text, scores):
    changes = {"profile": text, "signature": text, "primary": text, "notes": (text,)}
    return msgspec.structs.replace(scores, metrics={text: None}, **changes)


def texts(shown):
    """The text of HTML that has nothing but text in tables."""
    page = html.fragment_fromstring(shown)
    plain = {"div", "table", "caption", "strong", "br", "thead", "tbody", "tr", "th", "td", "small"}
    assert {each.tag for each in page.iter()} <= plain | {"code"}
    assert {name for each in page.iter() for name in each.attrib} <= {"class", "style", "scope"}
    shown.encode()
    return page.text_content()


@pytest.mark.parametrize(("text", "kind"), [*product(HOSTILE, "svc")], ids=ascii)
def test_hostile_text_is_escaped(text, kind, scores):
    made = {"s": scores_with, "c": comparison_with}
    result = made[kind](text, scores) if kind in made else verdict_with(text)
    shown = texts(result._repr_html_())
    assert text in shown or "a\\u2028b\\u202ec\\x00d\\xffe" in shown


def test_scores_have_their_first_metrics_and_the_signature(scores):
    shown = texts(scores._repr_html_())
    assert "lorehlt-edl, profile plan" in shown
    assert scores.signature in shown
    assert scores.primary in shown
    limits = msgspec.structs.replace(scores, intervals={scores.primary: (0.25, 0.5)})
    assert "[0.2500, 0.5000]" in texts(limits._repr_html_())


def test_what_is_long_is_cut_and_says_so(scores):
    many = msgspec.structs.replace(scores, metrics={f"m{n}": 0.5 for n in range(40)}, primary="m30")
    page = html.fragment_fromstring(many._repr_html_())
    assert page.xpath("//tbody/tr[1]/td[1]/text()") == ["m30"]
    assert len(page.xpath("//tbody/tr")) == notebook.MOST
    assert "28 more in .to_frame()" in texts(many._repr_html_())
    assert "8 more in .findings" in texts(verdict_with("x")._repr_html_())


def test_a_submission_that_is_refused_is_in_the_comparison(scores):
    from hlteval.results.systems import RefusedSystem

    refused = RefusedSystem(
        name="bad", reason="no number", help="", codes=(), blocking=(), verdict=scores.verdict
    )
    found = msgspec.structs.replace(comparison_with("a", scores), refused=(refused,))
    page = html.fragment_fromstring(found._repr_html_())
    cells = [row.xpath("td/text()") for row in page.xpath("//tbody/tr")]
    assert cells == [["1", "a", "0.5000", "[0.2500, 0.7500]"], ["refused", "bad", "no number"]]


def test_a_verdict_without_findings_and_an_empty_corpus_have_no_table():
    assert texts(Verdict("hub4", "plan", passed=True)._repr_html_()).split() == [
        "hub4,", "profile", "plan:", "pass;", "no", "findings",
    ]  # fmt: skip
    assert texts(Corpus()._repr_html_()).strip() == "Corpus: empty"


def test_a_corpus_lists_its_tables():
    shown = texts(Corpus(documents=[{"row": 0, "name": "d1", "text": "aba"}])._repr_html_())
    assert "Corpus: 1 document" in shown
    assert "row, name, text" in shown
