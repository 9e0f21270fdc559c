"""Names of slots, types and documents: compared with those of a reference and of the task."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.findings import Finding
from tests.runs import validate

REFERENCE = """<TEMPLATE-D1-1> :=
    EVENT: <BREAD-D1-1>
        <CAKE-D1-1>
<BREAD-D1-1> :=
    KIND: "rye" ##5#8#
    MADE_BY: "Anna" ##15#19#
<CAKE-D1-1> :=
    ICING: "white" ##25#30#
"""


def found(
    folder: Path, text: str, *, beside: bool = True, more: str = "", **options: str
) -> list[Finding]:
    reference, system = folder / "reference.tpl", folder / "system.tpl"
    reference.write_text(REFERENCE + more, "utf-8")
    system.write_text(text, "utf-8")
    against = str(reference) if beside else None
    verdict = validate("hub4", str(system), against=against, options=options)
    return sorted(verdict.findings, key=lambda finding: finding.order)


@pytest.mark.parametrize(
    ("slot", "code", "help_"),
    [
        ("Kind", "HUB231", "did you mean KIND?"),
        ("MADEBY", "HUB231", "did you mean MADE_BY?"),
        ("ICING", "HUB231", "CAKE has it"),
        ("PRICE", "HUB231", "slots of BREAD of the reference: KIND and MADE_BY"),
        ("doc_nr", "HUB232", "did you mean DOC_NR?"),
        ("Comment", "HUB232", "did you mean COMMENT?"),
    ],
)
def test_a_slot_that_the_reference_never_has(
    tmp_path: Path, slot: str, code: str, help_: str
) -> None:
    head = "<TEMPLATE-D1-1> :=\nEVENT: <BREAD-D1-1>\n<BREAD-D1-1> :=\n"
    (only,) = found(tmp_path, f'{head}{slot}: "rye" ##5#8#\n')
    assert (only.code, only.help) == (code, help_)


def test_slots_of_the_task_need_no_reference_that_has_them(tmp_path: Path) -> None:
    text = "<TEMPLATE-D1-1> :=\nDOC_NR: D1 ##5#7#\nCOMMENT: none\nEVENT: <BREAD-D1-1>\n"
    assert not found(tmp_path, text + '<BREAD-D1-1> :=\nKIND: "rye" ##5#8#\n')


def test_a_type_is_found_once_and_its_slots_are_not(tmp_path: Path) -> None:
    text = "<TEMPLATE-D1-1> :=\nEVENT: <BRAED-D1-1>\n<BRAED-D1-2>\n"
    text += '<BRAED-D1-1> :=\nKIND: "rye" ##5#8#\n<BRAED-D1-2> :=\n'
    (only,) = found(tmp_path, text)
    assert (only.code, only.help) == ("HUB230", "did you mean BREAD?")
    assert "(such instances: 2)" in only.message


def test_the_pointer_of_a_slot_in_other_case_is_not_lost_in_silence(tmp_path: Path) -> None:
    for slot in ("event", "Event", "EVNT", "EVENTS"):
        text = f'<TEMPLATE-D1-1> :=\n{slot}: <BREAD-D1-1>\n<BREAD-D1-1> :=\nKIND: "rye" ##5#8#\n'
        for beside in (True, False):
            (only,) = found(tmp_path, text, beside=beside)
            assert (only.code, only.help) == ("HUB232", "did you mean EVENT?")
        assert not found(tmp_path, text, beside=False, pointers=f"TEMPLATE.EVENT,TEMPLATE.{slot}")


def test_a_top_in_other_case_is_one_finding(tmp_path: Path) -> None:
    text = "<template-D1-1> :=\nEVENT: <BREAD-D1-1>\n<BREAD-D1-1> :=\n"
    (only,) = found(tmp_path, text, beside=False)
    assert (only.code, only.help) == ("HUB232", "did you mean TEMPLATE?")


def test_a_document_that_the_reference_lacks(tmp_path: Path) -> None:
    text, more = "<TEMPLATE-D1-1> :=\n<TEMPLATE-d2-1> :=\n", "<TEMPLATE-D2-1> :=\n"
    first, second = sorted(found(tmp_path, text, more=more), key=lambda finding: finding.code)
    assert (first.code, first.help, first.severity) == ("HUB233", "did you mean D2?", "warning")
    assert (second.code, second.severity) == ("REF107", "info")
    assert second.message == "1 document of the reference is not in the submission: D2"


def test_a_header_with_another_sign_asks_for_its_own(tmp_path: Path) -> None:
    body = "\nEVENT: <BREAD-D1-1>\n"
    for sign in (" =", "=", " :", " : ="):
        text = f'<TEMPLATE-D1-1> :={body}<BREAD-D1-1>{sign}\nKIND: "rye" ##5#8#\n'
        (only,) = found(tmp_path, text, beside=False)
        assert only.code == "HUB102"
        assert "`:=`" in only.help


@pytest.mark.parametrize(
    "header", ["<TEMPLATE D1-1> :=", "<TEMPLATE-D1-1> =", "TEMPLATE-D1-1 :=", "<TEMPLATE-1> :="]
)
def test_nothing_follows_from_an_unreadable_header(tmp_path: Path, header: str) -> None:
    text = f'{header}\nEVENT: <BREAD-D1-1>\n<BREAD-D1-1> :=\nKIND: "rye" ##5#8#\n'
    text += "<TEMPLATE-D2-1> :=\n"
    assert [finding.code for finding in found(tmp_path, text, beside=False)] == ["HUB102"]


def test_one_pointer_to_nothing_is_one_finding(tmp_path: Path) -> None:
    text = "<TEMPLATE-D1-1> :=\nEVENT: <BREAD-D1-2>\n<BREAD-D1-3>\n<BREAD-D1-1> :=\n"
    first, second = found(tmp_path, text, beside=False)
    assert (first.code, first.help) == ("HUB206", "did you mean <BREAD-D1-1>?")
    assert (second.code, second.help[:5]) == ("HUB206", "point")
    text += "<ZEBRA-D1-9> :=\n"
    assert [item.code for item in found(tmp_path, text, beside=False)][-1] == "HUB209"
