"""Sentences for papers: results whose sentence is written by hand, and what they cannot support."""

from __future__ import annotations

import re

import pytest

from hlteval.reports.sentences import LATEX, document, statement
from hlteval.results.agreement import Agreement, CoefficientValue, PairMeasure
from hlteval.results.scores import Scores
from hlteval.results.systems import (
    Comparison,
    Difference,
    Leaderboard,
    RefusedSystem,
    Significance,
    System,
)
from hlteval.results.verdict import Verdict

EXACT = "hlteval:0.1.0|bootstrap:10000|confidence:0.95|seed:0|test:exact|metric:f1"


def system(name: str, value: float | None, *limits: float) -> System:
    return System(name=name, value=value, interval=limits or None, rank=1)  # type: ignore[arg-type]


def pair(first: str, second: str, difference: float, p: float | None, **more: object) -> Difference:
    given = {"interval": None, "wins": 9, "losses": 0, "ties": 0, **more}
    return Difference(
        first=first, second=second, difference=difference, probability=p, corrected=p,
        monte_carlo_error=0.0, **given,  # type: ignore[arg-type]
    )  # fmt: skip


def compared(
    systems: list[System], pairs: list[Difference], documents: int = 42, **more: object
) -> Comparison:
    given = {"task": "seedev-full", "metric": "f1", "signature": EXACT, **more}
    tested = sum(each.corrected is not None for each in pairs)
    given.setdefault("significance", Significance(documents=documents, pairs=tested))
    return Comparison(
        profile="plan", systems=tuple(systems), differences=tuple(pairs), **given  # type: ignore[arg-type]
    )  # fmt: skip


def plain(result: Comparison | Scores | Agreement) -> str:
    """The sentence of a result with two hyphens for each dash between limits."""
    return statement(result).sentence.replace("\N{EN DASH}", "--")


TWO = [system("A", 0.8124, 0.79, 0.83), system("B", 0.7814, 0.76, 0.8)]


def test_a_better_system_has_the_sentence_of_the_paper():
    found = compared(TWO, [pair("A", "B", 0.031, 0.0044, interval=(0.012, 0.05))])
    assert plain(found) == (
        "A (f1 .812, 95 % CI .790--.830) is better than B (.781) by .031 (.012--.050), "
        "paired permutation test, exact, p = .004, 42 documents."
    )
    assert found.sentence("latex") == (
        r"A (f1 .812, 95\,\% CI .790--.830) is better than B (.781) by .031 (.012--.050), "
        r"paired permutation test, exact, $p = .004$, 42 documents."
    )
    with pytest.raises(ValueError, match="'markdown' or 'latex', got 'html'"):
        found.sentence("html")  # type: ignore[arg-type]


def test_it_is_not_better_in_each_document_nor_by_other_metrics():
    found = compared(TWO, [pair("A", "B", 0.031, 0.0044, losses=3)])
    assert statement(found).unsupported == (
        "that A is better in each document: it is worse in 3 of 42 documents",
        "that A is better by other metrics, for each label or on other texts: the test is about "
        "f1 in documents like these",
    )
    always = compared(TWO, [pair("A", "B", 0.031, 0.0044)])
    assert len(statement(always).unsupported) == 1


def test_a_difference_that_is_not_significant_is_neither_better_nor_equal():
    signature = "hlteval:0.1.0|jackknife:10|confidence:0.9|test:jackknife|metric:f1"
    limits = pair("A", "B", 0.281, 0.1014, interval=(-0.067, 0.628))
    found = compared(TWO, [limits], 10, signature=signature)
    assert plain(found) == (
        "A (f1 .812, 90 % CI .790--.830) does not differ significantly from B (.781; difference "
        ".281, −.067 to .628), paired jackknife test, p = .101, 10 documents."
    )
    assert statement(found).unsupported == (
        "that A is better than B",
        "that A is no better than B: 10 documents may be too few to show a difference",
    )


def test_the_best_of_several_is_compared_with_each_of_the_others():
    systems = [*TWO, system("C", 0.5), system("D", None)]
    pairs = [pair("A", "B", 0.031, 0.2), pair("A", "C", 0.312, 0.0002), pair("B", "C", 0.28, 0.01)]
    signature = EXACT.replace("exact", "permutation")
    found = compared(systems, pairs, signature=signature)
    assert plain(found) == (
        "A (f1 .812, 95 % CI .790--.830) is better than C (.500) by .312, p < .001; "
        "paired permutation test, 10,000 permutations, Holm, 3 pairs, 42 documents. "
        "It does not differ significantly from B (.781; difference .031), p = .200."
    )
    assert "anything about D, whose value is undefined" in statement(found).unsupported
    assert "that A is better than B" in statement(found).unsupported
    assert found.groups == (("A", "B"),)


def test_where_less_is_better_the_difference_is_that_of_the_better_system():
    systems = [system("A", 0.136), system("B", 0.22)]
    pairs = [pair("A", "B", -0.084, 0.03, interval=(-0.136, -0.03))]
    found = compared(systems, pairs, task="hub4", metric="both.err")
    assert plain(found).startswith(
        "A (both.err .136) is better than B (.220) by .084 (.030--.136), paired permutation test"
    )


def test_where_no_way_is_better_a_value_is_higher():
    systems = [system("A", 12.0), system("B", 9.0)]
    found = compared(systems, [pair("A", "B", 3.0, 0.03)], metric="predictions")
    assert plain(found).startswith(
        "A (predictions 12) has a significantly higher value than B (9) by 3, paired"
    )


def test_without_a_test_no_significance_is_claimed():
    note = "no difference can be significant: 4 documents with counts, at least 6 are needed"
    few = Significance(documents=4, pairs=0, note=note)
    found = compared(TWO, [pair("A", "B", 0.031, None)], significance=few)
    assert plain(found) == (
        "A (f1 .812, 95 % CI .790--.830) has a better value than B (.781) by .031, 4 documents."
    )
    assert statement(found).unsupported[0] == f"that any system is better than another: {note}"


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_a_p_value_is_shown_on_its_side_of_the_level(alpha):
    found = compared(TWO, [pair("A", "B", 0.031, alpha - 0.0001)], alpha=alpha)
    assert "is better than B (.781) by .031, paired permutation test, exact" in (
        statement(found).sentence
    )
    (shown,) = re.findall(r"p = (\.\d+)", statement(found).sentence)
    assert float(shown) < alpha


def test_names_are_text_in_both_formats():
    systems = [system("a_b & {c}\u202e", 0.8), system("p = 0.", 0.7)]
    found = compared(systems, [pair("a_b & {c}\u202e", "p = 0.", 0.1, 0.5)])
    assert statement(found).sentence.startswith("a_b &amp; {c}\\u202e (f1 .800) does")
    assert statement(found, LATEX).sentence.startswith(
        r"a\_b \& \{c\}\textbackslash{}u202e (f1 .800) does not differ significantly from p = 0. ("
    )


def test_a_leaderboard_has_the_sentence_of_its_first_metric_and_names_the_refused():
    refused = RefusedSystem(
        name="broken", reason="nothing was scored", help="fix it", codes=(),
        verdict=Verdict("seedev-full", "plan", passed=False), blocking=(),
    )  # fmt: skip
    first = compared(TWO, [pair("A", "B", 0.031, 0.0044)])
    board = Leaderboard(
        task="seedev-full", profile="plan", metrics=("f1", "ser"), signature=EXACT,
        comparisons=(first, compared([], [], metric="ser")), refused=(refused,),
    )  # fmt: skip
    assert board.sentence() == first.sentence()
    assert statement(board).unsupported[-1] == "anything about broken, which could not be scored"
    nothing = Leaderboard(
        task="seedev-full", profile="plan", metrics=("f1",), signature="", comparisons=()
    )
    assert document(nothing).startswith("No submission was scored.\n\nIn LaTeX:")


def scores(profile: str = "plan", **more: object) -> Scores:
    verdict = Verdict(
        "seedev-full", profile, passed=True, paths={"submission": "runs/best.tgz"}, documents=12
    )
    given = {"metrics": {"f1": 2 / 3}, "intervals": {"f1": (0.5, 0.75)}, "verdict": verdict, **more}
    return Scores(
        task="seedev-full", profile=profile, primary="f1", tables={},
        signature="hlteval:0.1.0|bootstrap:100|confidence:0.95", **given,  # type: ignore[arg-type]
    )  # fmt: skip


def test_scores_have_the_metric_that_ranks_and_no_comparison():
    found = scores()
    assert plain(found) == (
        "best reaches f1 .667 (95 % CI .500--.750) on 12 documents (hlteval 0.1.0, profile plan)."
    )
    assert [each.partition(":")[0] for each in statement(found).unsupported] == [
        "that best is better or worse than another system",
        "that the score is official",
    ]
    assert len(statement(scores("official")).unsupported) == 1
    alone = scores(intervals={})
    assert "best reaches f1 .667 on 12 documents" in plain(alone)
    assert any("for an interval" in each for each in statement(alone).unsupported)
    undefined = scores(metrics={"f1": None})
    assert plain(undefined) == "The f1 of best is undefined, 12 documents."
    failed = Verdict("seedev-full", "plan", passed=False, documents=12)
    assert "that the submission is valid: it has 0 errors" in (
        statement(scores(verdict=failed)).unsupported
    )


def coefficient(name: str, value: float | None, judged: str = "type", **more: object):
    given = {"annotators": ("a", "b", "c"), "interval": None, "units": 46, **more}
    return CoefficientValue(judged=judged, coefficient=name, value=value, **given)  # type: ignore[arg-type]


def agreement(names: tuple[str, ...], values: list[float], *coefficients: CoefficientValue):
    measures = [
        PairMeasure(
            measure=measure, first="a", second="b", forward=value, backward=value, value=value,
            interval=(0.5, 0.9), documents=12,
        )
        for value in values
        for measure in ("strong_typed_all_match.fscore", "strong_mention_match.fscore")
    ]  # fmt: skip
    return Agreement(
        task="lorehlt-edl", signature="hlteval:0.1.0|bootstrap:1000|confidence:0.95",
        annotators=names, documents=12, measures=tuple(measures), coefficients=coefficients,
        differences=(),
    )  # fmt: skip


def test_agreement_has_alpha_of_all_and_the_mean_of_all_pairs():
    parts = (
        coefficient("alpha", 0.8358, interval=(0.7582, 0.91)),
        coefficient("alpha", 0.1, label="PER"),
        coefficient("alpha", None, "entity", reason="all judgments are the same"),
        coefficient("unit_f1", 0.9),
    )
    found = agreement(("a", "b", "c"), [0.7, 0.8, 0.75], *parts)
    assert plain(found) == (
        "a, b and c agree on type with Krippendorff's alpha .836 (95 % CI .758--.910, 46 units) "
        "and reach strong_typed_all_match.fscore .750 on average (.700--.800, 3 pairs) against "
        "each other, 12 documents."
    )
    assert statement(found).unsupported[:3] == (
        "that a system above .750 is better than the annotators: such a reference cannot show it",
        "that alpha covers what only one of them marked: `unit_f1` measures that",
        "how far they agree on entity: all judgments are the same",
    )


def test_agreement_of_two_has_their_own_interval():
    found = agreement(("a", "b"), [0.7])
    assert plain(found) == (
        "a and b reach strong_typed_all_match.fscore .700 (95 % CI .500--.900) against each other, "
        "12 documents."
    )
    assert agreement(tuple("abcde"), []).sentence() == (
        "The agreement of 5 annotators is undefined, 12 documents."
    )


def test_the_document_has_both_formats_the_limits_and_the_signature():
    text = document(compared(TWO, [pair("A", "B", 0.031, 0.0044)]))
    blocks = text.split("\n\n")
    assert blocks[0].startswith("A (f1 .812")
    assert blocks[2].startswith("```latex\nA (f1 .812, 95\\,\\% CI")
    assert blocks[3:5] == ["You cannot write:", "- " + statement(
        compared(TWO, [pair("A", "B", 0.031, 0.0044)])
    ).unsupported[0]]  # fmt: skip
    assert blocks[-1] == f"`{EXACT}`\n"


@pytest.mark.parametrize(
    ("different", "groups"),
    [
        ([], (("A", "B", "C", "D"),)),
        ([("A", "D")], (("A", "B", "C"), ("B", "C", "D"))),
        ([("A", "C"), ("A", "D"), ("B", "D")], (("A", "B"), ("B", "C"), ("C", "D"))),
        ([("A", "B"), ("A", "C"), ("A", "D"), ("C", "D"), ("B", "D")], (("B", "C"),)),
        ([(a, b) for a, b in ("AB", "AC", "AD", "BC", "BD", "CD")], ()),
    ],
)
def test_groups_are_the_longest_runs_without_a_significant_pair(different, groups):
    systems = [system(name, 0.9 - 0.1 * at) for at, name in enumerate("ABCD")]
    every = [(a, b) for a, b in ("AB", "AC", "AD", "BC", "BD", "CD")]
    pairs = [pair(a, b, 0.1, 0.01 if (a, b) in different else 0.5) for a, b in every]
    assert compared(systems, pairs).groups == groups
