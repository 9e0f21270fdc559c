"""One record of standoff: why it cannot be read, and where its parts stand."""

from __future__ import annotations

import pytest

from hlteval.converters.standoff.dialects import BIONLP, explain, field_spans

REFUSED = [
    ("", "STD101", "unknown", (1, 1)),
    ("E1", "STD101", "frame", (3, 3)),
    ("E1 Binding A:T1", "STD101", "frame", (3, 4)),
    ("hello world", "STD101", "unknown", (1, 6)),
    ("#1\tAnnotatorNotes E1\tx", "STD102", "unknown", (1, 3)),
    ("e1\tBinding A:T1", "STD102", "unknown", (1, 3)),
    ("\tBinding A:T1", "STD102", "unknown", (1, 2)),
    ("T1\tTissue", "STD103", "mention", (10, 10)),
    ("T1\tTissue 0 4", "STD103", "mention", (14, 14)),
    ("T1\tTissue 0 4\t", "STD103", "mention", (15, 15)),
    ("T1\tTissue 0  4\tx", "STD103", "mention", (13, 14)),
    ("T1\tTissue -1 4\tx", "STD103", "mention", (11, 13)),
    ("T1\tTissue 0 4;\tx", "STD103", "mention", (15, 16)),
    ("T1\tTissue 0 4 x", "STD103", "mention", (14, 15)),
    ("T1\tTissue \u0663 4\tx", "STD103", "mention", (11, 12)),
    ("E1\tBinding", "STD104", "frame", (11, 11)),
    ("E1\tBinding A:", "STD104", "frame", (14, 14)),
    ("E1\tBinding :T1", "STD104", "frame", (12, 15)),
    ("E1\tBinding: A:T1", "STD104", "frame", (12, 13)),
    ("E1\tBinding A:T1 T2", "STD104", "frame", (19, 19)),
    ("E1\tBinding A: T1", "STD104", "frame", (14, 15)),
    ("E1\tBinding foo", "STD105", "frame", (12, 15)),
    ("R1\tBinding  foo bar", "STD105", "frame", (13, 20)),
    ("M1\tNegation E1", "STD106", "modifier", (13, 15)),
    ("M1\tNegation Annotation:", "STD106", "modifier", (24, 24)),
    ("M1\tNegation Annotation:E1 x", "STD106", "modifier", (26, 27)),
    ("N1\tX Annotation:T1", "STD107", "normalization", (19, 19)),
    ("N1\tX Referent:T1", "STD107", "normalization", (6, 17)),
    ("*\tEquiv", "STD108", "group", (8, 8)),
    ("*\tequiv T1", "STD108", "group", (3, 8)),
    ("*1\tEquiv T1", "STD108", "group", (2, 3)),
    ("T1\tTissue 0 1234567890\tx", "STD109", "mention", (13, 23)),
    ("T1\tTissue 1234567890123 4\tx", "STD109", "mention", (11, 24)),
    ("T1\tTissue 0 4;5 1234567890\tx", "STD109", "mention", (17, 27)),
    # Something else is wrong as well: then that is said.
    ("T1\tTissue 0 1234567890", "STD103", "mention", (22, 23)),
]


@pytest.mark.parametrize(("line", "code", "kind", "place"), REFUSED)
def test_why_and_where(line: str, code: str, kind: str, place: tuple[int, int]) -> None:
    problem = explain(line, 7, BIONLP)
    assert (problem.code, problem.record, problem.values["kind"]) == (code, 7, kind)
    assert (problem.start + 1, problem.end + 1) == place


@pytest.mark.parametrize(("line", "code", "kind", "place"), REFUSED)
def test_the_code_does_not_depend_on_being_asked_exactly(
    line: str, code: str, kind: str, place: tuple[int, int]
) -> None:
    problem = explain(line, 7, BIONLP, ask=False)
    assert (problem.code, problem.values["kind"]) == (code, kind)
    assert 0 <= problem.start <= problem.end <= len(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("E1 Binding A:T1", "a tab"),
        ("T1\tTissue", "a single space"),
        ("T1\tTissue 0 x", "an offset of at most nine digits"),
        ("E1\tBinding A:T1 T2", "`:`"),
        ("M1\tNegation E1", "`Annotation:`"),
        ("M1\tNegation Annotation:E1 x", "end of line"),
        ("*\tequiv T1", "`Equiv`"),
    ],
)
def test_what_could_have_stood_there_is_told_in_words(line: str, expected: str) -> None:
    assert explain(line, 7, BIONLP).values["expected"] == expected


@pytest.mark.parametrize("line", [line for line, *_ in REFUSED])
def test_names_of_terminals_are_not_for_people(line: str) -> None:
    told = str(explain(line, 7, BIONLP).values["expected"])
    assert "<" not in told
    assert "_" not in told
    assert not any(word.strip("`").isupper() and len(word) > 3 for word in told.split())


def shown(line: str) -> dict[str, str]:
    return {name: line[start:end] for name, (start, end) in field_spans(line, BIONLP).items()}


def test_the_parts_of_each_kind() -> None:
    assert shown("T1\tTissue 0 4;6 9\tseed x") == {
        "id": "T1",
        "label": "Tissue",
        "fragments": "0 4;6 9",
        "text": "seed x",
    }
    assert shown("E1\tBinding:T9 A:T1  B:c:d") == {
        "id": "E1",
        "label": "Binding",
        "trigger": "T9",
        "arguments": "A:T1  B:c:d",
        "argument 1": "A:T1",
        "role 1": "A",
        "target 1": "T1",
        "argument 2": "B:c:d",
        "role 2": "B",
        "target 2": "c:d",
    }
    assert shown("M1\tNegation Annotation:E1") == {"id": "M1", "label": "Negation", "target": "E1"}
    assert shown("N1\tX Annotation:T1 Referent:Y") == {
        "id": "N1",
        "label": "X",
        "target": "T1",
        "value": "Y",
    }
    assert shown("*\tEquiv T1 T2") == {
        "id": "*",
        "kind": "Equiv",
        "members": "T1 T2",
        "member 1": "T1",
        "member 2": "T2",
    }


def test_of_what_is_no_record_only_the_beginning_is_known() -> None:
    assert shown("E1\tBinding foo") == {"id": "E1", "label": "Binding"}
    assert shown("#1\tNote x") == {"id": "#1", "label": "Note"}
    assert shown("no tab") == {}
    assert shown("") == {}
