"""Elements with very many children: a sample decides whether lxml is asked, and nothing changes."""

from __future__ import annotations

import pytest

from hlteval.syntax import xml_elements as xml_structure
from hlteval.syntax.xml_elements import examine

SEGMENT = '<SEG id="s"><ORIGINAL_TEXT>x</ORIGINAL_TEXT></SEG>'


def _written(segments: str) -> str:
    return f'<LCTL_TEXT lang="x"><DOC id="d"><TEXT>{segments}</TEXT></DOC></LCTL_TEXT>'


@pytest.mark.parametrize(
    ("segments", "codes"),
    [
        (SEGMENT * 9, []),
        (SEGMENT * 4 + "<SEG/>" + SEGMENT * 4, ["XML108"]),
        ("<SEG/>" * 9, ["XML108"] * 9),
        (SEGMENT * 8 + "<B/>", ["XML105"]),
    ],
)
def test_many_children_have_the_problems_of_few(
    monkeypatch: pytest.MonkeyPatch, segments: str, codes: list[str]
) -> None:
    text = _written(segments)
    few = examine(text, "ltf", "utf-8").problems
    monkeypatch.setattr(xml_structure, "WIDE", 7)
    monkeypatch.setattr(xml_structure, "_KEPT", 2)
    many = examine(text, "ltf", "utf-8").problems
    assert many == few
    assert [problem.code for problem in many if problem.code != "XML106"] == codes


def test_elements_that_lack_the_same_are_explained_in_one_walk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lxml counts the siblings before each error, so it sees only the sample."""
    asked: list[int] = []
    validator = xml_structure.validator

    class Counting:
        def __init__(self, name: str) -> None:
            self.name = name

        def validate(self, tree: object) -> bool:
            asked.append(len(tree[0][0]))  # type: ignore[index]
            return bool(validator(self.name).validate(tree))  # type: ignore[arg-type]

    monkeypatch.setattr(xml_structure, "validator", Counting)
    examine(_written("<SEG/>" * 5000), "ltf", "utf-8")
    assert len(asked) == 1
    assert asked[0] < 1000
