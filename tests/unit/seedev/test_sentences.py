"""Which events lie inside one sentence."""

from __future__ import annotations

import pytest

from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.representation import Corpus
from hlteval.scoring.seedev.events import Comparison, inside, side
from hlteval.sources import Member, Source

A1 = """\
T1\tX 0 3\taaa
T2\tX 4 7\tbbb
T3\tX 10 13\tccc
T4\tX 5 12\tacross the two
T5\tX 0 1;11 12\ta c
T6\tX 0 13\tall of it
"""


def corpus(events: str, sentences: list[tuple[int, int]]) -> Corpus:
    files = {"d.a1": A1.encode(), "d.a2": events.encode(), "d.txt": b"x" * 13}
    members = tuple(Member(n, n, len(d), lambda d=d: d) for n, d in sorted(files.items()))  # type: ignore[misc]
    (reading,) = FORMAT.read(Source("x", "folder", members))
    place = {"document": 0, "origin": 0, "record": 1}
    rows = [
        {"row": row, **place, "start": start, "end": end}
        for row, (start, end) in enumerate(sentences)
    ]
    return reading.corpus.replace(segments=rows)


def kept(events: str, sentences: list[tuple[int, int]]) -> list[str]:
    whole = corpus(events, sentences)
    one = inside(side(whole, whole, "reference", Comparison()), whole)
    assert set(one.arguments["frame_row"]) <= set(one.events["row"])
    return one.events["frame"].to_list()


@pytest.mark.parametrize(
    ("arguments", "is_kept"),
    [
        ("A:T1 B:T2", True),
        ("A:T1 B:T3", False),
        ("A:T3 B:T3", True),
        # what no sentence holds is in none
        ("A:T1 B:T4", True),
        ("A:T4 B:T6", True),
        # of a discontinuous span the outer one counts
        ("A:T3 B:T5", True),
        # what leads nowhere has no place
        ("A:T1 B:T99", True),
    ],
)
def test_an_event_is_kept_unless_it_has_entities_of_two_sentences(
    arguments: str, is_kept: bool
) -> None:
    found = kept(f"E1\tY {arguments}\n", [(0, 8), (8, 13)])
    assert found == (["E1"] if is_kept else [])


def test_entities_of_events_that_are_arguments_count() -> None:
    events = "E1\tY A:T1\nE2\tY A:T3 B:E1\nE3\tY A:E2\nE4\tY A:T2 B:E1\n"
    assert kept(events, [(0, 8), (8, 13)]) == ["E1", "E4"]


def test_events_in_a_circle_come_to_an_end() -> None:
    events = "E1\tY A:T1 B:E2\nE2\tY A:T3 B:E1\nE3\tY A:E3\n"
    assert kept(events, [(0, 8), (8, 13)]) == ["E3"]


def test_a_document_without_sentences_is_one() -> None:
    assert kept("E1\tY A:T1 B:T3\n", []) == ["E1"]
    assert kept("E1\tY A:T1 B:T3\n", [(0, 13)]) == ["E1"]
