"""Types and slots that a file allows: what it says, and what is not in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import Refused
from hlteval.findings import Finding
from hlteval.results.verdict import Verdict
from tests.runs import score, validate

SLOTS = """# slots of bread
BREAD.KIND
BREAD.MADE_BY   # who made it

CAKE.ICING
BREAD
VENUE
"""
HEAD = "<TEMPLATE-D1-1> :=\nEVENT: <{0}-D1-1>\n<{0}-D1-1> :=\n"


def verdict(
    folder: Path, text: str, slots: str | bytes = SLOTS, beside: str = "", **options: str
) -> Verdict:
    files = {"system.tpl": text, "allowed.slots": slots, "reference.tpl": beside}
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    given = {"slots": str(folder / "allowed.slots"), **options}
    against = str(folder / "reference.tpl") if beside else None
    return validate("hub4", str(folder / "system.tpl"), against=against, options=given)


def found(folder: Path, text: str, **arguments: str) -> list[Finding]:
    return sorted(verdict(folder, text, **arguments).findings, key=lambda finding: finding.order)


@pytest.mark.parametrize(
    ("slot", "help_"),
    [
        ("KNID", "did you mean KIND?"),
        ("Kind", "did you mean KIND?"),
        ("MADE-BY", "did you mean MADE_BY?"),
        ("ICING", "CAKE has it"),
        ("PRICE", "slots of BREAD of the file of --slots: KIND and MADE_BY"),
    ],
)
def test_a_slot_that_is_not_allowed(slot: str, help_: str, tmp_path: Path) -> None:
    (only,) = found(tmp_path, HEAD.format("BREAD") + f'{slot}: "rye" ##5#8#\n')
    assert (only.code, only.help, only.severity) == ("HUB235", help_, "error")
    assert only.span
    assert (only.span.line, only.span.column, only.span.end_column) == (4, 1, 1 + len(slot))


@pytest.mark.parametrize(
    ("label", "help_"),
    [
        ("BRAED", "did you mean BREAD?"),
        ("Bread", "did you mean BREAD?"),
        ("ZOO", "types of the file of --slots: BREAD, CAKE and VENUE"),
    ],
)
def test_a_type_that_is_not_allowed_and_nothing_of_its_slots(
    label: str, help_: str, tmp_path: Path
) -> None:
    text = HEAD.format(label) + f'PRICE: "rye" ##5#8#\n<{label}-D1-2> :=\nKIND: "rye" ##5#8#\n'
    (only,) = (item for item in found(tmp_path, text) if item.code != "HUB209")
    assert (only.code, only.help, only.severity) == ("HUB234", help_, "error")
    assert "(such instances: 2)" in only.message
    assert only.span
    assert only.span.column == 1


def test_a_type_with_a_hyphen_asks_for_its_option(tmp_path: Path) -> None:
    text = HEAD.format("BREAD-ROLL")
    (only,) = (i for i in found(tmp_path, text, slots="BREAD-ROLL\n") if i.code == "HUB234")
    assert only.help == "for types with a hyphen, add --types BREAD-ROLL"
    assert not found(tmp_path, text, slots="BREAD-ROLL\n", types="BREAD-ROLL")


def test_a_type_without_slots_in_the_file_may_have_all(tmp_path: Path) -> None:
    assert not found(tmp_path, HEAD.format("VENUE") + 'CITY: "Osh" ##5#8#\n')


def test_the_names_of_the_task_are_always_allowed(tmp_path: Path) -> None:
    text = HEAD.format("BREAD").replace("EVENT", "DOC_NR: D1 ##5#7#\nCOMMENT: none\nEVENT")
    assert not found(tmp_path, text + 'COMMENT: none\nKIND: "rye" ##5#8#\n')
    lone = text.replace("TEMPLATE", "TOP")
    assert not found(tmp_path, lone, top="TOP")


def test_a_misspelt_name_of_the_task_is_one_finding_unless_the_file_has_it(tmp_path: Path) -> None:
    text = HEAD.format("BREAD") + "Comment: none ##1#2#\n"
    (only,) = found(tmp_path, text)
    assert (only.code, only.help) == ("HUB232", "did you mean COMMENT?")
    assert not found(tmp_path, text, slots="BREAD.Comment\n")


def test_what_the_reference_lacks_is_not_said_again(tmp_path: Path) -> None:
    beside = HEAD.format("BREAD") + 'KIND: "rye" ##5#8#\n'
    for label, slot, code in (("BREAD", "Kind", "HUB235"), ("BRAED", "KIND", "HUB234")):
        (only,) = found(tmp_path, HEAD.format(label) + f'{slot}: "rye" ##5#8#\n', beside=beside)
        assert only.code == code
    (only,) = found(tmp_path, HEAD.format("BREAD") + 'MADE_BY: "Al" ##5#7#\n', beside=beside)
    assert only.code == "HUB231"


@pytest.mark.parametrize(
    ("slots", "code"),
    [
        ("BREAD.KIND, BREAD.PRICE\n", "OPT111"),
        ("BREAD.KIND:\n", "OPT111"),
        (b"BREAD.KIND\n\xff\xfe\n", "SRC201"),
        ("", "OPT109"),
        ("# nothing\n\n", "OPT109"),
    ],
    ids=["two names", "colon", "bytes", "empty", "comments"],
)
def test_a_file_with_a_fault_is_judged_under_its_own_name(
    slots: str | bytes, code: str, tmp_path: Path
) -> None:
    text = HEAD.format("BREAD") + 'PRICE: "rye" ##5#8#\n'
    judged = verdict(tmp_path, text, slots)
    (only,) = judged.findings
    assert (only.code, only.side, only.blocking) == (code, "--slots", True)
    assert judged.outcome == "undecided"
    system = str(tmp_path / "system.tpl")
    with pytest.raises(Refused, match=code):
        score("hub4", system, system, options={"slots": str(tmp_path / "allowed.slots")})


def test_the_hint_of_a_wrong_line_is_right(tmp_path: Path) -> None:
    hints = {
        "BREAD.KIND, BREAD.PRICE": "write BREAD.KIND and BREAD.PRICE, each on its own line",
        "BREAD.KIND:": "write BREAD.KIND",
        "a.b.c": "write TYPE or TYPE.SLOT, such as BREAD.KIND",
    }
    for line, hint in hints.items():
        (only,) = found(tmp_path, HEAD.format("BREAD"), slots=f"{line}\n")
        assert only.help == hint


def test_the_file_is_read_in_the_encoding_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "allowed.slots").write_bytes("BREAD.KIND # Größe\n".encode("latin-1"))
    system = tmp_path / "system.tpl"
    system.write_text(HEAD.format("BREAD") + 'PRICE: "rye" ##5#8#\n')
    given = {"slots": str(tmp_path / "allowed.slots")}
    (only,) = validate("hub4", str(system), options=given, encoding="latin-1").findings
    assert only.code == "HUB235"


def test_score_reports_both_sides_and_changes_no_number(tmp_path: Path) -> None:
    text = HEAD.format("BREAD") + 'PRICE: "rye" ##5#8#\n'
    assert "types and slots compared with --slots" in verdict(tmp_path, text).compared
    system = str(tmp_path / "system.tpl")
    given = {"slots": str(tmp_path / "allowed.slots")}
    scores = score("hub4", system, system, options=given)
    sides = {item.side for item in scores.verdict.findings if item.code == "HUB235"}
    assert sides == {"submission", "reference"}
    assert scores.metrics == score("hub4", system, system).metrics
