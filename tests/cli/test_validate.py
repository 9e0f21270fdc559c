"""`hlteval validate`: verdicts, places and exit codes."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval.cli
from hlteval.workflows.run import engine

Run = Callable[..., Any]
KEYS = [
    "code",
    "name",
    "severity",
    "blocking",
    "message",
    "file",
    "line",
    "column",
    "end_line",
    "end_column",
    "record",
    "help",
    "clause",
    "side",
]


def test_a_clean_submission_passes(invoke: Run, reference: Path, system: Path) -> None:
    result = invoke("validate", "seedev-full", system, "--against", reference)
    assert result.exit_code == 0
    assert (
        result.stdout
        == "pass: no findings; 2 documents, 7 records read (seedev-full, profile plan)\n"
    )
    assert result.stderr == ""


def test_a_corpus_with_its_own_documents_needs_nothing_else(invoke: Run, reference: Path) -> None:
    assert invoke("validate", "seedev-full", reference).exit_code == 0


def test_an_error_fails_and_is_shown_in_its_line(
    invoke: Run, reference: Path, flawed: Path
) -> None:
    result = invoke("validate", "seedev-full", flawed, "--against", reference)
    assert result.exit_code == 1
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("error[SEE205]: Target_Tissue of Localization does not accept T5")
    assert lines[1].strip() == f"--> {flawed}/seed-1.a2:2:54"
    shown = "2 | E2→Localization Functional_Molecule:T1 Target_Tissue:T5"
    assert lines[3] == shown
    assert lines[4] == "  | " + " " * (len(shown) - 4 - 2) + "^^"
    assert lines[-1] == "fail: 1 error in 1 file (seedev-full, profile plan)"


def test_json_is_of_the_promised_shape(invoke: Run, reference: Path, flawed: Path) -> None:
    result = invoke("validate", "seedev-full", flawed, "--against", reference, "--format", "json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    head = ["schema", "version", "task", "profile", "verdict", "side", "documents", "records"]
    assert list(told) == [*head, "counts", "findings"]
    assert (told["task"], told["profile"], told["verdict"]) == ("seedev-full", "plan", "fail")
    assert told["counts"] == {
        "severity": {"error": 1, "warning": 0, "info": 0},
        "code": {"SEE205": 1},
        "side": {"submission": 1},
    }
    (finding,) = told["findings"]
    assert list(finding) == KEYS
    place = {key: finding[key] for key in ("line", "column", "end_line", "end_column")}
    assert place == {"line": 2, "column": 54, "end_line": 2, "end_column": 56}
    assert (finding["file"], finding["record"]) == (f"{flawed}/seed-1.a2", "E2")
    assert (finding["severity"], finding["blocking"]) == ("error", True)


def test_json_of_a_clean_submission(invoke: Run, reference: Path) -> None:
    told = json.loads(invoke("validate", "seedev-full", reference, "--format", "json").stdout)
    assert told["verdict"] == "pass"
    assert told["findings"] == []
    none = {"error": 0, "warning": 0, "info": 0}
    assert told["counts"] == {"severity": none, "code": {}, "side": {}}


def test_jsonl_and_concise_give_a_line_for_each(invoke: Run, reference: Path, flawed: Path) -> None:
    given = ("validate", "seedev-full", flawed, "--against", reference, "--format")
    (line,) = invoke(*given, "jsonl").stdout.splitlines()
    assert list(json.loads(line)) == ["schema", "version", *KEYS]
    concise = invoke(*given, "concise").stdout
    assert concise.startswith(f"{flawed}/seed-1.a2:2:54: error[SEE205] Target_Tissue of ")
    assert concise.count("\n") == 1


def test_warnings_pass_unless_they_are_to_fail(invoke: Run, reference: Path) -> None:
    path = reference.parents[2] / "seedev" / "invalid" / "SEE301-event-twice"
    given = ("validate", "seedev-full", path, "--against", reference)
    assert invoke(*given).exit_code == 0
    assert invoke(*given, "--fail-on", "warning").exit_code == 1
    assert invoke(*given, "--fail-on", "info").exit_code == 1
    # The official software has its own opinion.
    assert invoke(*given, "--profile", "official").exit_code == 0
    assert invoke(*given, "--fail-on", "warning", "--profile", "official").exit_code == 2


def test_official_fails_only_what_the_software_refuses(
    invoke: Run, reference: Path, flawed: Path
) -> None:
    missing = reference.parent.parent / "invalid" / "STD302-no-such-entity"
    for path, plan, official in ((missing, 1, 0), (flawed, 1, 1)):
        given = ("validate", "seedev-full", path, "--against", reference)
        assert invoke(*given).exit_code == plan
        result = invoke(*given, "--profile", "official")
        assert result.exit_code == official
        assert "error[" in result.stdout  # what it passes over is told all the same


def test_several_submissions_are_checked_as_one(
    invoke: Run, reference: Path, system: Path, flawed: Path
) -> None:
    result = invoke(
        "validate", "seedev-full", system, flawed, "--against", reference, "--format", "json"
    )
    assert result.exit_code == 1
    assert {f["file"] for f in json.loads(result.stdout)["findings"]} == {f"{flawed}/seed-1.a2"}


def test_findings_of_a_file_are_limited_in_text_alone_unless_a_maximum_is_given(
    invoke: Run, reference: Path, system: Path
) -> None:
    lines = "".join(f"X{number}\tBinding A:T1\n" for number in range(30))
    (system / "seed-1.a2").write_text(lines, "utf-8")
    given = ("validate", "seedev-full", system, "--against", reference)
    text = invoke(*given).stdout
    assert text.count("error[STD102]") == 5
    assert "25 more STD102 in this file" in text
    assert "STD102  error        30" in text
    assert invoke(*given, "--max-findings", "0").stdout.count("error[STD102]") == 30
    assert invoke(*given, "--format", "concise").stdout.count("\n") == 30


def test_a_maximum_of_findings_holds_in_every_format(
    invoke: Run, reference: Path, system: Path, tmp_path: Path
) -> None:
    """The findings are those of text, 2 of a code and file; one more counts the other 28."""
    lines = "".join(f"X{number}\tBinding A:T1\n" for number in range(30))
    (system / "seed-1.a2").write_text(lines, "utf-8")
    given = ("validate", "seedev-full", system, "--against", reference, "--max-findings", 8)

    def printed(form: str, *more: object) -> str:
        result = invoke(*given, "--format", form, *more)
        assert result.exit_code == 1
        return str(result.stdout)

    assert printed("text").count("error[STD102]") == 2
    verdict = json.loads(printed("json"))
    assert [each.get("count", 1) for each in verdict["findings"]] == [1, 1, 28]
    assert [each["line"] for each in verdict["findings"]] == [1, 2, 3]
    assert verdict["counts"]["code"] == {"STD102": 30}
    assert verdict["findings"][2]["help"] == "correct the others first; --max-findings 0 shows all"
    fixed = json.loads(printed("json", "--fix", tmp_path / "fixed"))
    assert [each.get("count", 1) for each in fixed["findings"]] == [1, 1, 28]
    jsonl = [json.loads(line) for line in printed("jsonl").splitlines()]
    assert [each.get("count", 1) for each in jsonl] == [1, 1, 28]
    results = json.loads(printed("sarif"))["runs"][0]["results"]
    assert [each.get("occurrenceCount", 1) for each in results] == [1, 1, 28]
    concise = printed("concise").splitlines()
    assert len(concise) == 3
    assert "error[STD102] 28 more: " in concise[2]
    assert printed("github").count("::error ") == 3
    assert 'message="30 errors"' in printed("junit")
    assert len(json.loads(invoke(*given[:-1], 0, "--format", "json").stdout)["findings"]) == 30


def test_an_archive_on_standard_input(invoke: Run, reference: Path, zipped: Path) -> None:
    given = ("validate", "seedev-full", "-", "--against", reference)
    assert invoke(*given, stdin=zipped.read_bytes()).exit_code == 0
    result = invoke(*given, "--format", "concise", stdin=b"E1\tBinding A:T1\n")
    assert result.exit_code == 1
    assert result.stdout.count("SEE401") == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("validate seedev-full nowhere", "no such file or folder: nowhere"),
        ("validate seedev-full REF --against nowhere", "no such file or folder: nowhere"),
        ("validate no-such-task REF", "no-such-task"),
        ("validate seedev-full REF --profile strict", "'strict'"),
        ("validate seedev-full REF --format xml", "'xml'"),
        ("validate seedev-full REF --max-findings -1", "--max-findings"),
        ("validate seedev-full REF --encoding no-such", "unknown encoding no-such"),
        ("validate seedev-full REF --encoding base64", "unknown encoding base64"),
        ("validate seedev-full REF --encoding idna", "idna is not an encoding of text files"),
        ("convert REF - --encoding punycode", "punycode is not an encoding of text files"),
        ("validate seedev-full REF --no-such-option", "--no-such-option"),
    ],
)
def test_usage_is_told_apart_from_findings(
    line: str, told: str, invoke: Run, reference: Path
) -> None:
    result = invoke(*[reference if part == "REF" else part for part in line.split()])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert told in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("given", [(), ("validate",), ("validate", "seedev-full")])
def test_help_is_shown_where_nothing_is_given(given: tuple[str, ...], invoke: Run) -> None:
    result = invoke(*given)
    assert result.exit_code == 2
    assert "Usage: " in result.stdout + result.stderr


def test_a_submission_alone_is_told_what_it_needs(invoke: Run, system: Path) -> None:
    result = invoke("validate", "seedev-full", system)
    assert result.exit_code == 2
    assert result.stdout == ""
    told = " ".join(result.stderr.replace("│", " ").split())
    assert "seedev-full needs the documents of the task" in told
    assert "(with .txt and .a1) with --against" in told


def test_another_encoding(invoke: Run, reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "latin"
    folder.mkdir()
    (folder / "d.txt").write_bytes("Ökotyp pale-1".encode("latin-1"))
    (folder / "d.a1").write_bytes("T1\tGenotype 0 13\tÖkotyp pale-1\n".encode("latin-1"))
    (folder / "d.a2").write_bytes(b"")
    wrong = invoke("validate", "seedev-full", folder, "--format", "concise")
    assert wrong.exit_code == 1
    assert wrong.stdout.count("SRC201") == 2
    right = invoke("validate", "seedev-full", folder, "--encoding", "latin-1")
    assert right.exit_code == 0


def test_a_wrong_byte_is_a_finding(invoke: Run, reference: Path, system: Path) -> None:
    data = (system / "seed-1.a2").read_bytes()
    (system / "seed-1.a2").write_bytes(data.replace(b"Tissue:T3", b"Tissue:\xe93"))
    given = ("validate", "seedev-full", system, "--against", reference, "--format", "concise")
    result = invoke(*given)
    assert result.exit_code == 1
    assert f"{system}/seed-1.a2:1:54: error[SRC201] byte 0xe9" in result.stdout


@pytest.mark.parametrize("name", ["../seed-1.a2", "/etc/seed-1.a2", "seed-1.a2\\x"])
def test_a_hostile_archive_is_a_finding(
    name: str, invoke: Run, reference: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run1.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "E1\tBinding A:T1\n")
    result = invoke("validate", "seedev-full", path, "--against", reference)
    assert result.exit_code == 1
    assert "error[SRC111]" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr


def test_a_damaged_archive_is_a_finding(invoke: Run, reference: Path, zipped: Path) -> None:
    given = ("validate", "seedev-full", zipped, "--against", reference)
    data = zipped.read_bytes()
    for damaged in (data[: len(data) // 2], b"", b"PK\x03\x04", data[100:] + data[:100]):
        zipped.write_bytes(damaged)
        result = invoke(*given)
        assert result.exit_code == 1
        assert "error[SRC" in result.stdout


LONG = {
    "a line of 2 MB": "x" * 2_000_000,
    "2 MB of text": "T99\tTissue 0 3\t" + "The " * 500_000,
    "2 MB of spaces": "E1\tBinding" + " " * 2_000_000 + "Molecule:T2",
    "40,000 lines": "no tab here\n" * 40_000,
}


@pytest.mark.parametrize("name", LONG)
def test_reports_of_long_rubbish_are_short(
    name: str, invoke: Run, reference: Path, system: Path
) -> None:
    (system / "seed-1.a2").write_text(LONG[name], "utf-8")
    result = invoke("validate", "seedev-full", system, "--against", reference)
    assert result.exit_code == 1
    assert len(result.stdout) < 20_000
    if name == "40,000 lines":
        assert "in 40,000 of 40,000 lines" in result.stdout


def test_a_closed_pipe_is_no_error(program: Run, reference: Path, system: Path) -> None:
    (system / "seed-1.a2").write_text("no tab here\n" * 20_000, "utf-8")
    line = f"hlteval validate seedev-full {system} --against {reference} --format jsonl | head -1"
    done = program(line, system)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_an_error_of_the_program_is_told_as_one(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    reference: Path,
    tmp_path: Path,
) -> None:
    """A KeyError too, which looks like one of usage: code 3, and a report instead of a trace."""

    def fail(*_: object, **__: object) -> None:
        raise KeyError("no such column")

    # The first call imports this module, which would keep the function of this test.
    monkeypatch.setattr("hlteval.workflows.fixing.validate_all", fail)
    monkeypatch.setattr(engine, "validate_all", fail)
    monkeypatch.setattr(sys, "argv", ["hlteval", "validate", "seedev-full", str(reference)])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        hlteval.cli.main()
    assert ended.value.code == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert "internal error: KeyError: 'no such column'" in output.err
    assert "Traceback" not in output.err
    (report,) = tmp_path.glob("hlteval-*.txt")
    assert str(report) in output.err
    assert "in fail\n" in report.read_text("utf-8")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to the superuser")
def test_a_file_that_may_not_be_read_is_a_finding(
    invoke: Run, reference: Path, system: Path
) -> None:
    (system / "seed-1.a2").chmod(0)
    result = invoke("validate", "seedev-full", system, "--against", reference)
    assert result.exit_code == 1
    assert "SRC108" in result.stdout


def test_findings_can_be_chosen_and_weighed_otherwise(
    invoke: Run, reference: Path, tmp_path: Path
) -> None:
    (tmp_path / "seed-1.a2").write_text("E1\tNo_Such_Type Agent:T1\nE2 no tab\n")
    given = ("validate", "seedev-full", tmp_path, "--against", reference, "--format", "concise")
    codes = {line.partition("[")[2][:6] for line in invoke(*given).stdout.splitlines()}
    chosen = "STD101"
    assert chosen in codes
    assert len(codes) > 1
    only = invoke(*given, "--select", chosen).stdout.splitlines()
    assert [f"[{chosen}]" in line for line in only] == [True]
    others = invoke(*given, "--ignore", chosen).stdout
    assert others
    assert f"[{chosen}]" not in others
    weights = ",".join(f"{code}=info" for code in sorted(codes))
    weighed = invoke(*given, "--severity", weights)
    assert weighed.exit_code == 0
    assert all(" info[" in line for line in weighed.stdout.splitlines())
    official = invoke(*given, "--severity", weights, "--profile", "official")
    assert official.exit_code == 1


def test_a_code_that_is_none_is_an_error_of_usage(invoke: Run, reference: Path) -> None:
    unknown = invoke("validate", "seedev-full", reference, "--select", "NOPE")
    assert unknown.exit_code == 2
    assert "no code starts with NOPE" in unknown.stderr
