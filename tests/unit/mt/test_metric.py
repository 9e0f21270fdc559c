"""Scores of translations: equal to sacrebleu called directly; what is scored, and what is noted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from hlteval.scoring.mt.metric import Translation
from hlteval.scoring.mt.segments import Justifications, TranslationOptions
from hlteval.scoring.similarity import resolve_places, with_entries
from tests.unit.mt.translations import corpus

REFERENCE = [
    ("D1", "segment-0", " Who did the vaccinations first?"),
    ("D1", "segment-1", "Go to navigation"),
    ("D2", "segment-0", "Rescue teams need\r\nclean water in U.S. camps, now"),
    ("D2", "segment-1", "Three people were hurt"),
]
SECOND = [
    ("D1", "segment-0", "Who vaccinated first?"),
    ("D1", "segment-1", ""),
    ("D2", "segment-0", "The rescue teams need clean water now"),
    ("D2", "segment-1", "Three persons were hurt"),
]
SYSTEM = [
    ("D1", "segment-0", "Who did vaccinations first?"),
    ("D1", "segment-1", "Go to navigation, search"),
    ("D2", "segment-0", "Rescue teams needs ||| clean  water"),
    ("D2", "segment-1", "Three people was hurt"),
    ("D3", "segment-0", "not scored"),
]
ORACLES = {
    "bleu": (BLEU(force=True), BLEU(force=True, effective_order=True)),
    "chrf": (CHRF(), CHRF()),
    "chrf_pp": (CHRF(word_order=2), CHRF(word_order=2)),
    "ter": (TER(), TER()),
}


def clean(segments):
    return [" ".join(text.split()) for _, _, text in segments]


def scored(*references, system=SYSTEM, **options):
    metric = Translation(options=TranslationOptions(**options))
    sides = (corpus("reference", *references), corpus("system", system))
    counts, aligned = metric.statistics(*sides)
    total = metric.total([counts])
    values, tables = metric.score(total)
    return values, tables, metric.notes(total), aligned, metric, total


@pytest.mark.parametrize("name", ORACLES)
def test_values_are_those_of_sacrebleu(name):
    values, tables, *_ = scored(REFERENCE)
    whole, single = ORACLES[name]
    said, gold = clean(SYSTEM)[:4], clean(REFERENCE)
    assert values[name] == pytest.approx(whole.corpus_score(said, [gold]).score, abs=1e-10)
    parts = [whole.corpus_score(said[at : at + 2], [gold[at : at + 2]]).score for at in (0, 2)]
    assert tables["documents"][name].to_list() == pytest.approx(parts, abs=1e-10)
    each = [
        single.sentence_score(*pair).score for pair in zip(said, ([g] for g in gold), strict=True)
    ]
    assert tables["segments"][name].to_list() == pytest.approx(each, abs=1e-10)


@pytest.mark.parametrize("name", ORACLES)
def test_several_references(name):
    values, _, notes, *_ = scored(REFERENCE, SECOND)
    said, gold = clean(SYSTEM)[:4], [clean(REFERENCE), [t or None for t in clean(SECOND)]]
    whole = ORACLES[name][0]
    assert values[name] == pytest.approx(whole.corpus_score(said, gold).score, abs=1e-10)
    assert f"|{whole.get_signature()}" in " ".join(notes)


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        ({"tokenize": "intl"}, BLEU(tokenize="intl", force=True)),
        ({"tokenize": "char"}, BLEU(tokenize="char", force=True)),
        ({"lowercase": True}, BLEU(lowercase=True, force=True)),
    ],
    ids=["intl", "char", "lowercase"],
)
def test_options_of_bleu(options, metric):
    system = [(d, s, t.upper() if s == "segment-1" else t) for d, s, t in SYSTEM]
    values, _, notes, *_ = scored(REFERENCE, system=system, metrics=("bleu",), **options)
    expected = metric.corpus_score(clean(system)[:4], [clean(REFERENCE)]).score
    assert values["bleu"] == pytest.approx(expected, abs=1e-10)
    assert f"signature of bleu: BLEU|{metric.get_signature()}" in notes


def test_signatures_are_those_of_sacrebleu():
    *_, notes, _, _, _ = scored(REFERENCE)
    for whole, _ in ORACLES.values():
        whole.corpus_score(clean(SYSTEM)[:4], [clean(REFERENCE)])
        assert any(note.endswith(f"|{whole.get_signature()}") for note in notes)


def test_a_subset_is_scored_as_if_nothing_else_were_there():
    pairs = frozenset({("D1", "segment-0"), ("D2", "segment-1"), ("D9", "segment-0")})
    values, tables, notes, *_ = scored(REFERENCE, subset=pairs)
    kept = [row for row in REFERENCE if row[:2] in pairs]
    alone, own, *_ = scored(kept)
    assert values == alone
    assert values["segments"] == 2
    assert tables["segments"].equals(own["segments"])
    assert "only a subset is scored: 2 of its 3 segments are in the reference" in notes


def test_segments_with_empty_references_are_not_scored_but_counted():
    empty = [(*row[:2], "\u00a0 " if row[1] == "segment-1" else row[2]) for row in REFERENCE]
    values, _, notes, *_ = scored(empty)
    assert values == scored([row for row in REFERENCE if row[1] != "segment-1"])[0]
    assert "2 segments with empty references: not scored" in notes


def test_missing_segments_are_scored_as_empty_and_noted():
    values, _, notes, *_ = scored(REFERENCE, system=SYSTEM[:3])
    empty = [*SYSTEM[:3], ("D2", "segment-1", "")]
    assert values == scored(REFERENCE, system=empty)[0]
    assert "1 segment without a translation: scored as empty" in notes


def test_further_translations_of_a_segment_are_noted():
    values, _, notes, *_ = scored(REFERENCE, system=[*SYSTEM, ("D1", "segment-0", "again")])
    assert values == scored(REFERENCE)[0]
    assert any(note.startswith("1 further translation of segments") for note in notes)


def test_nothing_scored_has_no_values():
    values, tables, notes, *_ = scored(REFERENCE, subset=frozenset())
    assert set(values.values()) == {None, 0}
    assert tables["documents"].is_empty()
    assert "no segment is scored" in notes


def test_a_reference_in_a_form_without_roles():
    metric = Translation()
    sides = (corpus("system", REFERENCE), corpus("system", SYSTEM))
    counts, _ = metric.statistics(*sides)
    assert metric.score(metric.total([counts]))[0] == scored(REFERENCE)[0]


def test_urls_are_protected():
    gold = [("D1", "s", "Read https://example.org/a-b and act")]
    system = [("D1", "s", "Read https://example.org/a-c and act")]
    plain = scored(gold, system=system)[0]["bleu"]
    apart = scored(gold, system=system, protect_urls=True)[0]["bleu"]
    assert apart < plain
    assert scored(gold, system=gold, protect_urls=True)[0]["bleu"] == pytest.approx(100)


def test_replicates_are_scores_of_documents_that_occur_so_often():
    *_, metric, total = scored(REFERENCE, SECOND)
    weights = np.array([[1, 0], [2, 1], [0, 3]])
    found = metric.replicates(total, ["D1", "D2"], weights)
    for row, (first, second) in enumerate(weights.tolist()):
        parts = [total.filter(document="D1")] * first + [total.filter(document="D2")] * second
        values, _ = metric.score(metric.total(parts))
        for name, value in values.items() - {("meteor", None)}:
            assert found[name][row] == pytest.approx(value, abs=1e-9), name


def test_batches_do_not_matter():
    *_, metric, total = scored(REFERENCE, SECOND)
    parts = [
        metric.statistics(corpus("reference", r, s), corpus("system", t))[0]
        for r, s, t in ((x[2:], y[2:], SYSTEM[2:]) if at else (x[:2], y[:2], SYSTEM[:2])
                        for at in (1, 0) for x, y in [(REFERENCE, SECOND)])
    ]  # fmt: skip
    assert metric.total(parts).equals(total)


def test_parts_have_the_values_that_are_named():
    metric = Translation()
    (part,) = metric.decompose(("chrf",))
    assert set(part.score(part.total([]))[0]) == {"chrf", "segments"}
    (other,) = metric.decompose(("meteor",))
    assert set(other.score(other.total([]))[0]) == {"segments"}
    with pytest.raises(ValueError, match="use one of meteor, bleu"):
        metric.decompose(("rouge",))


def frames(*rows):
    names = ("document", "type", "place", "segment")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


@pytest.mark.parametrize(
    ("expected", "submitted", "right"),
    [
        ("1001|1009", "1001", True),
        ("1001|1009", "1009", True),
        ("1001|1009", "1009|1001", True),
        ("1001|1009", "1002", False),
        ("1001", "1001|1009", False),
        ("1001", "", False),
    ],
)
def test_a_frame_is_right_here_where_situation_frames_are_scored_as_right(
    expected: str, submitted: str, right: bool
) -> None:
    """The entries of a place of the reference, and the one rule of both tasks."""
    gold = frames(("D1", "food", expected, None), ("D1", "water", "1001", None))
    own = frames(("D1", "food", submitted, "segment-0"))
    assert Justifications(own, gold).correct.height == int(right)
    names = {"document": "docid"}
    system, reference = (with_entries(rows.rename(names)) for rows in (own, gold))
    system = resolve_places(system, reference, ["docid", "type"])
    assert (system["place"][0] == with_entries(gold)["place"][0]) == right


def test_only_justifications_of_correct_frames_are_scored():
    submitted = frames(
        ("D1", "food", "17", "segment-0"),
        ("D1", "food", "18", "segment-1"),
        ("D2", "crimeviolence", None, "segment-1"),
        ("D2", "water", "17", None),
        ("D7", "food", "17", "segment-0"),
    )
    gold = frames(
        ("D1", "food", "17", None),
        ("D2", "crimeviolence", None, None),
        ("D2", "water", "17", None),
        ("D7", "food", "17", None),
    )
    values, tables, notes, aligned, metric, total = scored(
        REFERENCE, sf_justifications=submitted, sf_reference=gold, neighbours=1
    )
    pairs = frozenset({("D1", "segment-0"), ("D2", "segment-1")})
    assert values == scored(REFERENCE, subset=pairs)[0]
    assert "justifications: 4 of 5 situation frames are correct" in notes
    assert "1 correct situation frame names no segment" in notes
    assert "only a subset is scored: 2 of its 3 segments are in the reference" in notes
    shown = metric.error_analysis(aligned, total)[0]["assessment"]
    assert shown.select("document", "justification", "type", "distance", "segment").rows() == [
        ("D1", "segment-0", "food", 0, "segment-0"),
        ("D1", "segment-0", "food", 1, "segment-1"),
        ("D2", "segment-1", "crimeviolence", -1, "segment-0"),
        ("D2", "segment-1", "crimeviolence", 0, "segment-1"),
    ]
    assert shown["references"][0] == "Who did the vaccinations first?"
    assert tables["segments"].height == 2


def test_correlations_of_situation_frames_with_translations():
    names = [f"D{number}" for number in range(5)]
    gold = [(name, "s", "one two three four five six") for name in names]
    said = [(name, "s", " ".join(["one two three four five six".rsplit(" ", at)[0]]))
            for at, name in enumerate(names)]  # fmt: skip
    sf = {
        "mt": {name: 0.9 - 0.1 * at for at, name in enumerate(names[:4])},
        "reference": dict.fromkeys(names, 0.9),
        "source": {"D0": 0.5, "D9": 0.1},
    }
    _, tables, *_ = scored(gold, system=said, sf_scores=sf, metrics=("ter", "chrf"))
    rows = tables["sf_correlation"].rows_by_key(["metric", "score"], unique=True)
    documents, pearson, spearman, kendall = rows["ter", "mt"]
    assert documents == 4
    assert (pearson, spearman, kendall) == pytest.approx((-1, -1, -1))
    assert rows["chrf", "mt - reference"][2] == pytest.approx(1)
    assert rows["chrf", "mt - source"] == (1, None, None, None)
    assert tables["sf_performance"].rows() == [
        ("source", 1, 0.5, pytest.approx(0.4)),
        ("reference", 5, pytest.approx(0.9), pytest.approx(-0.15)),
        ("mt", 4, pytest.approx(0.75), 0.0),
    ]
