"""Machine formats: no character that a terminal obeys, and nothing is lost."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlteval.findings import Findings, finding
from hlteval.reports import findings
from hlteval.reports import scores as score_formats
from hlteval.reports import systems as comparison
from hlteval.reports.terminal import escape_json
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, System
from hlteval.results.verdict import FixedCopy, Part, Refusal, Verdict, Verification

DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
STRANGE = "".join(map(chr, [*range(1, 32), *range(127, 160)])) + DIRECTIONS + "\u2028\u2029\ufeff東"
NAME = "runs/\x9b2Ja\udcff"
"""A name of a file with the start of a control sequence, and a byte that is not UTF-8."""
VERDICT = Verdict(
    "hub4", "plan", passed=False, findings=Findings([finding("SRC117", file=STRANGE, name=STRANGE)])
)


def scores() -> Scores:
    return Scores(
        task="hub4",
        profile="plan",
        signature=f"hlteval|{STRANGE}",
        primary="both.f",
        metrics={"both.f": 0.5},
        intervals={},
        tables={"alignment": pl.DataFrame({"fill": [STRANGE], "all": [[STRANGE]]})},
        verdict=VERDICT,
        notes=(STRANGE, NAME),
    )


def compared() -> Comparison:
    system = System(name=NAME, value=0.5, rank=1, interval=None)
    return Comparison(
        task="hub4",
        profile="plan",
        metric="both.f",
        signature=STRANGE,
        systems=(system,),
        differences=(),
        notes=(STRANGE,),
    )


OUTPUTS: dict[str, Callable[[], str]] = {
    "findings": lambda: findings.json(VERDICT),
    "lines": lambda: findings.jsonl(VERDICT),
    "sarif": lambda: str(findings.FORMATS["sarif"](VERDICT)),
    "scores": lambda: score_formats.json(scores()),
    "comparison": lambda: comparison.comparison_json(compared()),
    "verification": lambda: findings.json(
        Verification(signature=STRANGE, parts=(Part(name=STRANGE, outcome="same"),))
    ),
    "refusal": lambda: findings.json(Refusal(VERDICT, STRANGE, STRANGE)),
    "fixes": lambda: findings.json(FixedCopy(path=NAME, verdict=VERDICT)),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_json_has_no_character_that_a_terminal_obeys(name: str) -> None:
    output = OUTPUTS[name]()
    obeyed = {c for c in output if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Cs"}}
    assert obeyed <= {"\n"}
    every = json.dumps(
        [json.loads(line) for line in output.splitlines()]
        if name == "lines"
        else json.loads(output)
    )
    if name != "sarif":  # whose addresses are percent-encoded
        assert json.dumps(STRANGE)[1:-1] in every


@pytest.mark.parametrize("name", ["concise", "github", "junit"])
def test_other_formats_show_such_characters_as_escapes(name: str) -> None:
    output = str(findings.FORMATS[name](VERDICT))
    obeyed = {c for c in output if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Cs"}}
    assert obeyed <= {"\n"}
    assert "\\x9b" in output
    if name == "junit":
        ElementTree.fromstring(output)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",))))
def test_escapes_lose_nothing(text: str) -> None:
    encoded = json.dumps({text: text}, ensure_ascii=False).encode()
    assert json.loads(escape_json(encoded)) == {text: text}
    assert escape_json(escape_json(encoded)) == escape_json(encoded)
