"""The questionnaire of TA2: each finding has a fixture, and scores are those of hand counts."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import WrongArgument, compare, score, validate
from hlteval.converters import load
from hlteval.findings import Finding, catalogue
from hlteval.representation import Corpus
from hlteval.representation.judgments import CONDITIONS, IDEAL, QUESTIONS, SCORED
from hlteval.scoring.agreement.coefficients import kappas
from hlteval.scoring.resampling import bootstrap
from hlteval.sources import Member, Source, open_source
from hlteval.tasks import load as load_task
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures/ccu-ta2"
VALID = FIXTURES / "valid/responses.tsv"
INVALID = sorted(FIXTURES.glob("invalid/*"))
HEADER = "condition\tinteraction\tspeaker\tquestion\tresponse\n"


def text(*rows: tuple[str, str, str, int, str]) -> StringIO:
    return StringIO(HEADER + "".join("\t".join(map(str, row)) + "\n" for row in rows))


def marked(finding: Finding) -> str:
    assert finding.span is not None
    assert finding.excerpt is not None
    start = finding.span.column - 1 - finding.excerpt.offset
    return finding.excerpt.text[start : start + finding.span.end_column - finding.span.column]


PLACES = {
    "CCA101-missing-cell": (20, "Baseline\tI01\toperator\t3"),
    "CCA102-no-response": (1, "condition\tinteraction\tspeaker\tquestion"),
    "CCA103-letter": (20, "Q1"),
    "CCA104-no-speaker": (20, " "),
    "CCA201-misspelt": (2, "Basline"),
    "CCA202-twelve": (20, "12"),
    "CCA203-six": (20, "6"),
    "CCA204-twice": (20, "1"),
    "CCA205-no-question": (11, "speaker"),
    "CCA206-one-speaker": (2, "I01"),
    "CCA207-other-words": (3, "Fully Agree"),
    "CCA208-number": (3, "5"),
    "CCA209-two-conditions": (11, "Ceiling"),
    "TAB103-other-name": (1, "condition\tinteraction\tspeaker_role\tquestion\tresponse"),
    "TAB104-no-header": (1, "Baseline\tI01\toperator\t1\tCompletely Agree"),
}


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_a_fixture_breaks_its_rule_and_no_other(path: Path) -> None:
    verdict = validate("ccu-ta2", str(path))
    (finding,) = verdict.findings
    assert finding.code == path.name[:6]
    assert finding.span is not None
    assert (finding.span.line, marked(finding)) == PLACES[path.stem]
    assert verdict.passed == (catalogue()[finding.code].severity != "error")


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code.startswith("CCA")}
    assert {path.name[:6] for path in INVALID if path.name.startswith("CCA")} == codes


def test_the_valid_file_has_no_finding() -> None:
    verdict = validate("ccu-ta2", str(VALID))
    assert (verdict.findings, verdict.passed, verdict.records) == ((), True, 108)


def test_a_hint_names_the_condition_and_the_answer_that_are_meant() -> None:
    rows = [("Operation", "I1", speaker, q, "Completly Agree") for speaker in "ab" for q in SCORED]
    hints = {finding.code: finding.help for finding in validate("ccu-ta2", text(*rows)).findings}
    assert hints["CCA207"] == "did you mean Completely Agree?"
    assert "Operation 1" in hints["CCA201"]


def test_agreement_is_the_share_of_ideal_answers_of_scored_questions() -> None:
    answers = [IDEAL, "Somewhat Agree", "Neutral"]
    rows = [("Baseline", "I1", s, q, answers[q % 3]) for s in "ab" for q in QUESTIONS]
    rows += [("Ceiling", "I2", s, q, IDEAL) for s in "ab" for q in QUESTIONS]
    metrics = score("ccu-ta2", None, text(*rows)).metrics
    ideal = sum(q % 3 == 0 for q in SCORED)  # of nine questions, those of 3 and 9
    assert metrics["baseline.agreement"] == ideal / len(SCORED) == pytest.approx(2 / 9)
    assert metrics["baseline.kappa"] == 0
    assert (metrics["ceiling.agreement"], metrics["ceiling.kappa"]) == (1, None)
    assert metrics["ceiling.agreement_over_baseline"] == pytest.approx(7 / 9)
    assert metrics["ceiling.responses"] == 18
    assert metrics["operation_1.agreement"] is None


def test_a_scale_gives_numbers_a_meaning() -> None:
    rows = [("Baseline", "I1", s, q, "7" if q < 3 else "5") for s in "ab" for q in SCORED]
    assert validate("ccu-ta2", text(*rows), scale=7).findings == ()
    five, seven = (
        score("ccu-ta2", None, text(*rows), scale=top, lenient=True).metrics for top in (5, 7)
    )
    assert seven["baseline.agreement"] == pytest.approx(2 / 9)
    # On a scale to 5, 7 is unknown and not counted; the command refuses it without --lenient.
    assert five["baseline.responses"] == 14
    with pytest.raises(ValueError, match="CCA208"):
        score("ccu-ta2", None, text(*rows), scale=5)
    with pytest.raises(ValueError, match="from 2 to 100"):
        score("ccu-ta2", None, text(*rows), scale="many")
    with pytest.raises(ValueError, match="from 2 to 100"):
        validate("ccu-ta2", text(*rows), scale="many")


def test_case_and_spaces_do_not_matter() -> None:
    rows = [(" ceiling", "I1", s, q, "completely  agree") for s in "ab" for q in SCORED]
    assert validate("ccu-ta2", text(*rows)).findings == ()
    assert score("ccu-ta2", None, text(*rows)).metrics["ceiling.agreement"] == 1


def test_kappa_is_that_of_all_classes_against_a_constant_rater() -> None:
    """More classes of the speakers change nothing, as the perfect scenario has one class only."""
    pairs = np.zeros((4, 4), dtype=np.int64)
    pairs[:, 0] = [3, 5, 0, 1]
    assert kappas(pairs) == kappas(np.array([[3, 0], [6, 0]])) == 0


def test_there_is_no_reference() -> None:
    with pytest.raises(WrongArgument, match="has no reference; pass None"):
        score("ccu-ta2", str(VALID), str(VALID))
    with pytest.raises(WrongArgument, match="needs a reference"):
        score("hub4", None, str(VALID))
    with pytest.raises(ValueError, match="has no reference"):
        validate("ccu-ta2", str(VALID), against=str(INVALID[0]))


def test_systems_are_compared_by_interaction() -> None:
    rows = [("Operation 1", f"I{n}", s, q, IDEAL) for n in range(8) for s in "ab" for q in SCORED]
    worse = [(*row[:4], "Neutral" if row[3] > 4 else IDEAL) for row in rows]
    found = compare("ccu-ta2", None, {"a": text(*rows), "b": text(*worse)}, bootstrap=50)
    assert [system.name for system in found.systems] == ["a", "b"]
    assert found.differences[0].probability < 0.05


@settings(max_examples=tries(10))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(CONDITIONS), st.integers(0, 3), st.integers(1, 11), st.booleans()
        ),
        max_size=20,
    )
)
def test_batches_and_replicates_count_what_all_at_once_counts(
    drawn: list[tuple[str, int, int, bool]],
) -> None:
    rows = [
        (condition, f"{condition} {n}", f"speaker {at}", question, IDEAL if ideal else "Neutral")
        for at, (condition, n, question, ideal) in enumerate(drawn)
    ]
    metric = load_task("ccu-ta2").scorer("plan")
    corpora = [_corpus(rows[:7]), _corpus(rows[7:])]
    counts = [metric.statistics(corpus, corpus)[0] for corpus in corpora]
    whole = metric.score(metric.total([metric.statistics(_corpus(rows), _corpus(rows))[0]]))[0]
    assert metric.score(metric.total(counts))[0] == whole
    for condition in CONDITIONS:
        own = [
            ideal for name, _, question, ideal in drawn if name == condition and question in SCORED
        ]
        name = condition.lower().replace(" ", "_")
        assert whole[f"{name}.responses"] == len(own)
        assert whole[f"{name}.agreement"] == (sum(own) / len(own) if own else None)
    if rows:
        replicates = bootstrap(metric, metric.statistics(_corpus(rows), _corpus(rows))[0], 9, 0)
        assert set(replicates) == set(whole)


def _corpus(rows: list[tuple[str, str, str, int, str]]) -> Corpus:
    data = text(*rows).getvalue().encode()
    source = Source("f", "file", (Member("", "f", len(data), lambda: data),))
    (result,) = load("ccu-ta2").read(source)
    return result.corpus


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    form = load("ccu-ta2")
    assert form.write is not None
    (result,) = form.read(open_source(str(VALID)))
    form.write([result.corpus], tmp_path / "r.tsv")
    assert (tmp_path / "r.tsv").read_bytes() == VALID.read_bytes()


def test_agreement_has_an_interval_from_30_interactions_on() -> None:
    metric = load_task("ccu-ta2").scorer("plan")
    assert metric.fewest_documents("operation_1.agreement_over_baseline") == 30
    assert metric.fewest_documents("operation_1.responses") == 0
