"""What a code means, in the terminal and on its page."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from docs.make.code_pages import index, pages
from docs.make.origins import Origins
from hlteval.findings import Entry, Severity, catalogue
from hlteval.reports.lists import Explanation, UnknownCodeError, explain, matching_entries

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "explain"
ENTRY = Entry(
    code="TST101",
    name="a-test",
    title="A [bold] title_with *marks*",
    severity=Severity.ERROR,
    blocking=True,
    message="{what} is wrong",
    why="Because it is.\nThis sentence goes on and on, until it is long enough to be folded.\n"
    "\nA second paragraph with `code_in_it` and a <tag>.",
    fix="Write it [right].",
    clause="the plan, 4",
    bad="T1 Gene\n```\nT2\tx\x1b",
    good="T1\tGene 0 4\tthe\n",
)
BARE = Entry(
    code="TST102",
    name="bare",
    title="Bare",
    severity=Severity.INFO,
    message="so",
    why="It is.",
    fix="Nothing.",
)
FOUND = {"TST101": Origins(("standoff",), ("hub4", "ltf")), "TST102": Origins((), ())}


def shown(entry: Entry, width: int = 100) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(Explanation(entry), soft_wrap=True)
    return stream.getvalue()


def test_snapshot(golden):
    golden(GOLDEN / "entry.txt", shown(ENTRY))
    golden(GOLDEN / "bare.txt", shown(BARE))
    golden(GOLDEN / "index.md", index([ENTRY, BARE], FOUND))
    for code, page in pages([ENTRY, BARE], FOUND).items():
        golden(GOLDEN / f"{code}.md", page)


def test_prose_is_folded_and_examples_are_not():
    lines = shown(ENTRY, width=40).splitlines()
    prose = lines[lines.index("Why") : lines.index("Wrong")]
    assert max(map(len, prose)) <= 40
    assert "  T1→Gene 0 4→the" in lines


def test_parts_that_an_entry_lacks_are_not_shown():
    assert "Wrong" not in shown(BARE)
    assert "Rule" not in shown(BARE)
    assert "blocking" not in shown(BARE)


def test_every_entry_of_the_catalogue_can_be_explained():
    assert catalogue()
    for code, entry in catalogue().items():
        stream = StringIO()
        Console(file=stream, width=80).print(explain(code), soft_wrap=True)
        output = stream.getvalue()
        assert output.startswith(f"{code}: {entry.title}\n{entry.name}, {entry.severity}")
        assert " ".join(entry.fix.split()) in " ".join(output.split())


def test_small_letters_are_as_good():
    code = next(iter(catalogue()))
    assert matching_entries(f" {code.lower()} ") == [catalogue()[code]]


@pytest.mark.parametrize(
    ("code", "suggestion"), [("TST110", "TST101"), ("tst-102", "TST102"), ("TS101", "TST101")]
)
def test_a_code_nearby_is_suggested(code, suggestion, monkeypatch):
    entries = {"TST101": ENTRY, "TST102": BARE, "XYZ900": BARE}
    monkeypatch.setattr("hlteval.reports.lists.catalogue", lambda: entries)
    with pytest.raises(UnknownCodeError, match=f"did you mean {suggestion}") as caught:
        explain(code)
    assert caught.value.suggestion == suggestion


def test_nothing_is_suggested_where_nothing_is_near():
    with pytest.raises(UnknownCodeError, match="codes start with ACF, AGR") as caught:
        explain("hello\x1b[31m")
    assert caught.value.suggestion is None
    assert "\x1b" not in str(caught.value)
