"""Links: the values of a small example by hand, and what a declaration chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlteval

FIXTURES = Path(__file__).parents[3] / "fixtures"
REFERENCE, SYSTEM = (str(FIXTURES / "links" / "valid" / n) for n in ("reference", "submission"))


def test_a_declaration_chooses_measures() -> None:
    task = hlteval.task(unit="links", scores={"measures": ["strong_link_match", "b_cubed"]})
    metrics = hlteval.score(task.name, REFERENCE, SYSTEM).metrics
    assert {name.partition(".")[0] for name in metrics} == {"strong_link_match", "b_cubed"}
    assert metrics["strong_link_match.fscore"] == pytest.approx(3 / 4)
    with pytest.raises(ValueError, match="did you mean strong_link_match"):
        hlteval.task(unit="links", scores={"measures": ["strong_lnk_match"]})


def test_a_mention_that_is_there_twice_counts_once() -> None:
    twice = str(FIXTURES / "links" / "invalid" / "GEN401-mention-twice")
    (finding,) = hlteval.validate("links", twice).findings
    assert finding.code == "GEN401"
    assert finding.span
    assert (finding.span.line, finding.span.column) == (6, 1)
    first = hlteval.score("links", REFERENCE, REFERENCE).metrics
    assert first["strong_nil_match.fscore"] == 1.0


def test_annotators_agree_on_entities() -> None:
    found = hlteval.agreement("links", [REFERENCE, SYSTEM], bootstrap=0)
    assert found.measures[0].measure == "strong_typed_all_match.fscore"
