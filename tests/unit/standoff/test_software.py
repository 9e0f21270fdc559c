"""Records that the format refuses, as the evaluation software reads them."""

from __future__ import annotations

import pytest

from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.converters.standoff.software import arguments, as_software
from hlteval.representation import effective_fillers
from hlteval.sources import open_source


@pytest.fixture
def read(tmp_path):
    """Reads the bytes of an .a2 file as the software does."""

    def run(content):
        (tmp_path / "d.txt").write_bytes(b"AGL15 binds SVP.\n")
        (tmp_path / "d.a1").write_bytes(b"T1\tProtein 0 5\tAGL15\nT2\tProtein 12 15\tSVP\n")
        (tmp_path / "d.a2").write_bytes(content)
        (result,) = FORMAT.read(open_source(str(tmp_path)))
        return as_software(result, result)[0]

    return run


def events(corpus):
    """The events by identifier: the type and the arguments."""
    filled = effective_fillers(corpus, corpus)
    return {
        name: (label, *filled.filter(frame_row=row).select("role", "target").rows())
        for row, name, label in corpus.frames.select("row", "frame", "label").iter_rows()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Agent:T1 Target:T2", [("Agent", "T1"), ("Target", "T2")]),
        ("Agent:T1 T2", [("Agent", "T1")]),
        ("T1 Target:T2", [("T1 Target", "T2")]),
        ("Agent : T1 Target:T2", [("T1 Target", "T2")]),
        ("Agent :T1", [("Agent ", "T1")]),
        ("Agent:T1:T2", [("Agent", "T1:T2")]),
        ("Agent::T1", [("Agent", ":T1")]),
        (":T1 Target:T2", [("T1 Target", "T2")]),
        ("  :T1", [(" ", "T1")]),
        ("Agent:T1,Target:T2", [("Agent", "T1,Target:T2")]),
        ("Agent:\u00a0T1", [("Agent", "\u00a0T1")]),
        ("Agent: T1", []),
        ("T1 T2", []),
        (": :", []),
        ("", []),
    ],
)
def test_roles_and_fillers_are_searched(text, expected):
    assert list(arguments(text)) == expected


def test_refused_events_are_read_in_the_order_of_the_lines(read):
    corpus = read(
        b"E1\tBinding Molecule:T1 Functional_Molecule:T2\n"
        b"E2\tBinding Molecule:T1 (T2)\n"
        b"E 3\tBinding Molecule:T2\n"
        b"E4\tBinding Molecule:T2\n"
    ).corpus
    assert corpus.rejected_records.is_empty()
    assert events(corpus) == {
        "E1": ("Binding", ("Molecule", "T1"), ("Functional_Molecule", "T2")),
        "E2": ("Binding", ("Molecule", "T1")),
        "E 3": ("Binding", ("Molecule", "T2")),
        "E4": ("Binding", ("Molecule", "T2")),
    }
    corpus.check_keys()


def test_what_the_software_does_not_understand_stays_unread(read):
    corpus = read(
        b"E1\tBinding\tMolecule:T1\nE2\t Binding Molecule:T1\nX3\tBinding x\nE4 T1\n"
    ).corpus
    assert corpus.frames.is_empty()
    rows = corpus.rejected_records.select("id", "label").rows()
    assert rows == [("E1", "Binding"), ("E2", None), ("X3", "Binding"), (None, None)]


def test_an_event_in_which_no_argument_is_found_is_reported_as_such(read):
    result = read(b"E1\tBinding Molecule: T1\nE2\tBinding Molecule:T1 T2\n")
    assert [(item.code, item.span.line) for item in result.findings] == [
        ("STD105", 1),
        ("STD104", 2),
    ]


def test_carriage_returns_end_lines(read):
    content = b"E1\tBinding Molecule:T1\rM1\tNegation Annotation:E1\rE2\tBinding Molecule:T2 T1\r"
    corpus = read(content).corpus
    assert list(events(corpus)) == ["E1", "E2"]
    assert corpus.modifiers.select("modifier", "target").rows() == [("M1", "E1")]


def test_the_record_behind_a_byte_order_mark_is_of_unknown_kind(read):
    corpus = read(b"\xef\xbb\xbfE1\tBinding Molecule:T1\nE2\tBinding Molecule:T2\n").corpus
    assert list(events(corpus)) == ["E2"]
    row = corpus.rejected_records.select("kind", "id", "label", "record").row(0)
    assert row == ("unknown", "\ufeffE1", "Binding", 1)
    corpus.check_keys()


def test_without_refused_records_nothing_changes(read, tmp_path):
    result = read(b"E1\tBinding Molecule:T1\n")
    assert as_software(result, result) == (result, result)
