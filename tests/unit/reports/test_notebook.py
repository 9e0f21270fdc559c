"""Results in a notebook: short, escaped HTML without scripts."""

from io import StringIO
from itertools import product

import msgspec
import polars as pl
import pytest
from lxml import html

from hlteval import Corpus, agreement, score
from hlteval.findings import Finding, Findings, Severity, Span, catalogue, finding
from hlteval.reports import notebook
from hlteval.results.systems import Comparison, Difference, Leaderboard, RefusedSystem, System
from hlteval.results.verdict import Verdict
from tests.effort import share

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}",
    "a\u2028b\u202ec\x00d\udcffe",
)
MENTION = "R\tm1\tOsh\td1:3-5\tNIL1\tGPE\tNAM\t1.0\n"
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
    plain = {"div", "table", "a", "strong", "br", "thead", "tbody", "tr", "th", "td", "small"}
    assert {each.tag for each in page.iter()} <= plain | {"code"}
    assert {name for each in page.iter() for name in each.attrib} <= {
        "class",
        "style",
        "scope",
        "href",
    }
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


def test_findings_of_a_code_are_one_row_with_their_number_and_first_places():
    found = [finding("SRC104", file=f"x{n}", what="link") for n in range(20)]
    found.append(finding("SRC201", file="y", offset=3, byte="0xe9", guess=""))
    page = html.fragment_fromstring(Findings(found)._repr_html_())
    cells = [row.xpath("td") for row in page.xpath("//tbody/tr")]
    assert [[cell.text_content() for cell in row[:4]] for row in cells] == [
        ["error", "SRC104", "20", "x0, x1, x2 and 17 more"],
        ["error", "SRC201", "1", "y"],
    ]
    assert page.xpath("string(./div)") == "21 errors"
    assert texts(Findings()._repr_html_()).strip() == "no findings"


def test_findings_of_many_codes_are_cut_and_say_so():
    codes = list(share(catalogue(), 9))[:15]
    found = Findings(
        Finding(code=code, name="n", severity=Severity.ERROR, blocking=False, message=code)
        for code in codes
    )
    page = html.fragment_fromstring(found._repr_html_())
    assert len(page.xpath("//tbody/tr")) == notebook.MOST + 1
    assert "3 more codes in .to_frame()" in texts(found._repr_html_())


def test_a_place_is_a_link_to_its_line_if_the_file_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a run#1.tab").write_text("")
    at = {"code": "EDL503", "name": "n", "severity": Severity.ERROR, "blocking": False}
    files = ("a run#1.tab", str(tmp_path / "a run#1.tab"), "javascript:alert(1)", "gone.tab")
    found = [Finding(**at, message="m", file=file, span=Span(7, 3, 4)) for file in files[::-1]]
    page = html.fragment_fromstring(Findings(found[2:])._repr_html_())
    assert page.xpath("//a/@href") == ["./a%20run%231.tab#L7"] * 2
    assert page.xpath("//a/text()")[1] == "a run#1.tab:7:3"
    assert html.fragment_fromstring(Findings(found[:2])._repr_html_()).xpath("//a") == []


def test_a_comparison_has_the_differences_with_p_values(scores):
    pair = Difference(
        first="a", second="b", difference=0.25, interval=(0.125, 0.5), probability=0.004,
        monte_carlo_error=0.0, corrected=0.0001, wins=1, losses=0, ties=0,
    )  # fmt: skip
    found = msgspec.structs.replace(comparison_with("a", scores), differences=(pair,) * 14)
    page = html.fragment_fromstring(found._repr_html_())
    assert len(page.xpath("//table")) == 2
    assert page.xpath("//table[2]/tbody/tr[1]/td/text()") == [
        *("a", "b", "+0.2500", "[0.1250, 0.5000]", "0.004", "<0.001")
    ]
    assert '2 more in .to_frame("differences")' in texts(found._repr_html_())


def test_a_leaderboard_is_a_table_with_what_is_refused(scores):
    metric = "strong_mention_match.fscore"
    by_metric = msgspec.structs.replace(
        comparison_with("a", scores), metric=metric, task="lorehlt-edl"
    )
    verdict = Verdict("lorehlt-edl", "plan", passed=False)
    refused = RefusedSystem(name="bad", reason="no number", help="", codes=(), verdict=verdict)
    board = Leaderboard(
        task="lorehlt-edl", profile="plan", metrics=(metric,), signature="s",
        comparisons=(by_metric,), refused=(refused,),
    )  # fmt: skip
    page = html.fragment_fromstring(board._repr_html_())
    assert page.xpath("//th/text()") == ["rank", "system", metric, "interval"]
    rows = [row.xpath("td/text()") for row in page.xpath("//tbody/tr")]
    assert rows == [["1", "a", "0.5000", "[0.2500, 0.7500]"], ["refused", "bad", "no number"]]


def test_agreement_is_tables_of_pairs_and_of_coefficients():
    names = {"Ada": StringIO(MENTION), "Bo": StringIO(MENTION.replace("GPE", "LOC"))}
    found = agreement("lorehlt-edl", names, bootstrap=0)
    page = html.fragment_fromstring(found._repr_html_())
    assert page.xpath("string(./div)") == "lorehlt-edl: Ada, Bo; 1 document"
    rows = [row.xpath("td/text()") for row in page.xpath("//table[1]/tbody/tr")]
    pairs = {row[0]: row[1:4] for row in rows}
    assert pairs["strong_mention_match.fscore"] == ["Ada", "Bo", "1.0000"]
    assert "alpha" in page.xpath("string(//table[2])")


def test_a_submission_that_is_refused_is_in_the_comparison(scores):
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
