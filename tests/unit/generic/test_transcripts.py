"""Error rates of transcripts, by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from hlteval.representation import Corpus
from hlteval.scoring.generic.edits import EDITS, as_items, count_edits, edit_matrix
from hlteval.scoring.generic.official_jiwer import OfficialTranscripts
from hlteval.scoring.generic.transcripts import Options, Transcripts, readable


def corpus(**documents: dict[str | None, str] | list[str]) -> Corpus:
    """A corpus of documents with segments by name; in a list, they have none."""
    rows: list[dict[str, Any]] = []
    for document, segments in enumerate(documents.values()):
        named = segments.items() if isinstance(segments, dict) else [(None, t) for t in segments]
        for name, text in named:
            place = {"row": len(rows), "document": document, "origin": 0, "record": 1}
            rows.append({**place, "name": name, "start": 0, "end": len(text), "text": text})
    names = [{"row": at, "name": name} for at, name in enumerate(documents)]
    return Corpus(documents=names, segments=rows)


def score(reference: Corpus, system: Corpus, **options: Any) -> dict[str, float | None]:
    metric = Transcripts(options=Options(**options))
    counts, _ = metric.statistics(reference, system)
    return metric.score(metric.total([counts]))[0]


def edits(values: dict[str, Any], unit: str = "words") -> list[Any]:
    return [values[f"{unit}.{edit}"] for edit in EDITS]


def test_counts_are_summed_over_segments_before_they_are_divided() -> None:
    reference = corpus(d={"1": "a b c", "2": "d"}, e={"1": "f"})
    values = score(reference, corpus(d={"1": "a b c", "2": "x"}, e={"1": "f"}))
    assert values["wer"] == 1 / 5


def test_a_missing_segment_is_deleted_and_a_further_one_inserted() -> None:
    reference, system = corpus(d={"1": "a b", "2": "c"}), corpus(d={"1": "a b", "3": "x y"})
    metric = Transcripts()
    counts, rows = metric.statistics(reference, system)
    assert counts.select("segments", "missing", "extra").row(0) == (3, 1, 1)
    values, _ = metric.score(total := metric.total([counts]))
    assert edits(values) == [2, 0, 2, 1]
    assert metric.notes(total) == (
        "1 segment without a transcript: scored as empty",
        "1 segment of the system only: all words are inserted",
    )
    assert rows is not None
    assert readable(rows)["outcome"].to_list() == ["correct", "missing", "extra"]


@pytest.mark.parametrize(
    ("reference", "system", "counts"),
    [("A CAT", "a hat", True), ("A cat", "a cat", True), ("a cat", "a hat", False)],
)
def test_another_letter_case_is_a_note(reference: str, system: str, counts: bool) -> None:
    sides = corpus(d=[reference]), corpus(d=[system])
    for lowercase in (False, True):
        metric = Transcripts(options=Options(lowercase=lowercase))
        notes = metric.notes(metric.total([metric.statistics(*sides)[0]]))
        assert bool(notes) == (counts and not lowercase)


def test_documents_of_one_side_only_count() -> None:
    values = score(corpus(d={"1": "a"}, e={"1": "b c"}), corpus(d={"1": "a"}, f={"1": "x"}))
    assert edits(values) == [1, 0, 1, 2]


def test_segments_without_names_are_compared_as_one_document() -> None:
    reference = corpus(d=["a b", "c d"])
    assert score(reference, corpus(d=["a", "b c", "d"]))["wer"] == 0.0
    assert score(reference, corpus(d={"1": "a b c", "2": "d"}))["wer"] == 0.0


def test_segments_can_be_joined() -> None:
    reference, system = corpus(d={"1": "a b", "2": "c"}), corpus(d={"1": "a", "2": "b c"})
    assert score(reference, system)["wer"] == 2 / 3
    assert score(reference, system, contiguous=True)["wer"] == 0.0


def test_an_empty_reference_has_no_rate_but_in_the_profile_of_the_tool() -> None:
    reference, system = corpus(d={"1": ""}), corpus(d={"1": "a b c"})
    values = score(reference, system)
    assert (values["wer"], values["mer"], values["wil"]) == (None, 1.0, None)
    metric = OfficialTranscripts("official")
    counts, _ = metric.statistics(reference, system)
    found, _ = metric.score(metric.total([counts]))
    assert (found["wer"], found["mer"], found["wil"], found["cer"]) == (3.0, 1.0, 1.0, 5.0)


def test_a_system_without_words_loses_all_information() -> None:
    values = score(corpus(d={"1": "a b"}), corpus(d={"1": ""}))
    assert (values["wer"], values["wil"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("options", "reference", "system"),
    [
        ({"lowercase": True}, "Hello THERE", "hello there"),
        (
            {"punctuation": "remove"},
            "Well, (yes) - 'tis well-known: don't!",
            "Well yes tis well-known don't",
        ),
        ({"unicode": "NFC"}, "e\u0301te\u0301", "\u00e9t\u00e9"),
        ({"unicode": "NFKC"}, "\uff21", "A"),
        ({"standardize": True}, "I'm here [noise]", "i am here"),
        ({}, "a\u00a0b\tc", "a b c"),
    ],
)
def test_texts_are_normalised_as_declared(options: Any, reference: str, system: str) -> None:
    assert score(corpus(d={"1": reference}), corpus(d={"1": system}), **options)["wer"] == 0.0


def test_without_normalisation_texts_are_compared_as_written() -> None:
    assert score(corpus(d={"1": "Yes, e\u0301"}), corpus(d={"1": "yes \u00e9"}))["wer"] == 1.0


def test_words_that_are_confused_are_counted() -> None:
    reference = corpus(d={"1": "a cat sat", "2": "a cat"})
    metric = Transcripts()
    _, rows = metric.statistics(reference, corpus(d={"1": "a car sat on", "2": "a car"}))
    assert rows is not None
    tables, _ = metric.error_analysis(rows, metric.total([]))
    assert tables["confusions"].rows() == [("cat", "car", 2), (None, "on", 1)]


@pytest.mark.parametrize("pair", [("", ""), ("a", ""), ("", "ab"), ("abc", "abc"), ("ab", "ba")])
def test_the_sum_of_edits_is_the_distance(pair: tuple[str, str]) -> None:
    from rapidfuzz.distance import Levenshtein

    hits, substitutions, insertions, deletions = count_edits(*pair)
    assert substitutions + insertions + deletions == Levenshtein.distance(*pair)
    assert hits + substitutions + deletions == len(pair[0])
    assert hits + substitutions + insertions == len(pair[1])


def test_more_different_words_than_characters_are_compared_as_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lists = pl.Series([["a", "b", "c"]]), pl.Series([["a", "c"]])
    expected = edit_matrix(*as_items(*lists)).tolist()
    monkeypatch.setattr("hlteval.scoring.generic.edits._CHARACTERS", 1)
    items = as_items(*lists)
    assert isinstance(items[0][0], list)
    assert edit_matrix(*items).tolist() == expected == [[2, 0, 0, 1]]
