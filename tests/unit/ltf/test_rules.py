"""What is left unread, what is read, and one finding for one mistake."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from hlteval import score, validate
from hlteval.reports import findings as reports
from hlteval.reports import scores as score_formats
from hlteval.reports.findings import closing_line
from hlteval.results.scores import Scores

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "ltf" / "valid"
ONE = VALID / "water-1.ltf.xml"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("D1.LTF.XML", "rename it to D1.ltf.xml, with a lower-case suffix"),
        ("D1.Ltf.xml", "rename it to D1.ltf.xml, with a lower-case suffix"),
        ("D1.xml", "rename it to D1.ltf.xml if it is a document, or remove it"),
        ("D1.ltf.xml.gz", "unpack it to D1.ltf.xml"),
        ("D1.ltf.xml.bak", "rename it to D1.ltf.xml if it is a document, or remove it"),
        ("D1.laf.xml", ""),
        ("D1.psm.xml", ""),
        ("D1.rsd.txt", ""),
        ("README", ""),
    ],
)
def test_files_that_look_like_documents_are_named(name: str, hint: str, tmp_path: Path) -> None:
    shutil.copy(ONE, tmp_path)
    (tmp_path / name).write_bytes(ONE.read_bytes())
    verdict = validate("ltf", str(tmp_path))
    found = [(item.code, item.file, item.help) for item in verdict.findings]
    assert found == ([("LTF107", f"{tmp_path}/{name}", hint)] if hint else [])
    assert (verdict.outcome, verdict.documents) == ("fail" if hint else "pass", 1)


def test_a_document_without_a_text_beside_others_fails(tmp_path: Path) -> None:
    verdict = validate("ltf", str(VALID), against=str(FIXTURES / "rsd" / "valid"))
    assert [(item.code, item.side) for item in verdict.findings] == [("LTF208", "submission")]
    (tmp_path / "water-1.rsd.txt").write_bytes(b"\xff")
    verdict = validate("ltf", str(ONE), against=str(tmp_path))
    assert verdict.of("submission").findings == ()
    assert verdict.outcome == "undecided"


def test_an_empty_text_is_not_far_apart(tmp_path: Path) -> None:
    content = ONE.read_text("utf-8")
    empty = re.sub("(?s)<TEXT>.*</TEXT>", "<TEXT></TEXT>", content)
    (tmp_path / ONE.name).write_text(empty, "utf-8")
    codes = {item.code for item in validate("ltf", str(tmp_path)).findings}
    assert "LTF505" not in codes


def test_a_wrong_token_is_no_problem_of_the_next(tmp_path: Path) -> None:
    """Each token in turn has the offsets of a later place, of the same length."""
    content = ONE.read_text("utf-8")
    tokens = [*re.finditer(r'<TOKEN .*?start_char="([0-9]+)" end_char="([0-9]+)"', content)]
    for token in tokens:
        begin, last = int(token[1]) + 3, int(token[2]) + 3
        moved = (
            token[0].replace(f'"{token[1]}"', f'"{begin}"').replace(f'"{token[2]}"', f'"{last}"')
        )
        text = content[: token.start()] + moved + content[token.end() :]
        (tmp_path / ONE.name).write_text(text, "utf-8")
        found = [(item.code, item.record) for item in validate("ltf", str(tmp_path)).findings]
        assert len(found) == 1, found
        assert found[0][0] in {"LTF401", "LTF402", "LTF403", "LTF404"}
        assert f'id="{found[0][1]}"' in token[0]


TASKS = {
    "seedev-full": ("scores/seedev-full/reference", "scores/seedev-full/system"),
    "speech-sf": ("speech-sf/valid/reference.json", "speech-sf/valid/submission.json"),
    "lorehlt-edl": ("scores/lorehlt-edl/reference.tab", "scores/lorehlt-edl/system.tab"),
    "hub4": ("hub4/valid/reference.tpl", "hub4/valid/system.tpl"),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_verdict_says_how_much_was_read(task: str) -> None:
    reference, system = (str(FIXTURES / path) for path in TASKS[task])
    against = reference if task == "seedev-full" else None
    verdict = validate(task, system, against=against)
    assert verdict.documents
    assert verdict.records
    plain = json.loads(reports.json(verdict))
    assert (plain["documents"], plain["records"]) == (verdict.documents, verdict.records)
    scored = score(task, reference, system).to_dict()
    assert (scored["documents"], scored["records"]) == (verdict.documents, verdict.records)


def test_a_pass_of_nothing_is_impossible_to_miss(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]", "utf-8")
    verdict = validate("speech-sf", str(tmp_path / "none.json"))
    assert (verdict.documents, verdict.records) == (0, 0)
    assert verdict.outcome == "pass"
    assert "NOTHING WAS READ" in closing_line(verdict).plain
    reference = str(FIXTURES / TASKS["speech-sf"][0])
    scores = score("speech-sf", reference, str(tmp_path / "none.json"))
    (warning,) = scores.warnings
    assert warning == "nothing was read of the submission: 0 documents, 0 records"
    assert _printed(scores).splitlines()[1] == f"WARNING: {warning}"
    assert scores.to_dict()["warnings"] == [warning]
    whole = score("speech-sf", reference, reference)
    assert (whole.warnings, "WARNING" in _printed(whole)) == ((), False)


def _printed(scores: Scores) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(score_formats.text(scores))
    return str(console.file.getvalue())  # type: ignore[attr-defined]
