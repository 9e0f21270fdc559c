"""`hlteval convert`: there and back again, and what is lost on the way."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hlteval.cli
from hlteval import read
from hlteval.workflows.convert import conversion

Run = Callable[..., Any]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def losing(reference: Path) -> Path:
    """A corpus with sentences, which standoff has no place for."""
    return reference.parents[2] / "conversion" / "invalid" / "CNV101-sentences.jsonl"


@pytest.mark.parametrize("task", ["full", "binary"])
@pytest.mark.parametrize("between", ["kept.corpus", "kept.jsonl"])
def test_there_and_back_again(
    task: str, between: str, invoke: Run, reference: Path, tmp_path: Path
) -> None:
    corpus, kept, out = reference.parent / task, tmp_path / between, tmp_path / "out"
    for given in ((corpus, kept), (kept, out, "--to", "standoff")):
        result = invoke("convert", *given)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert contents(out) == contents(corpus)
    assert read(str(kept)) == read(str(corpus))


def test_between_the_two_that_keep_everything(invoke: Run, reference: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for given in ((reference, first), (first, tmp_path / "c.corpus"), (tmp_path / "c.corpus", second)):  # fmt: skip  # noqa: E501
        assert invoke("convert", *given).exit_code == 0
    assert first.read_bytes() == second.read_bytes()


def test_standard_output_and_input(invoke: Run, reference: Path, tmp_path: Path) -> None:
    result = invoke("convert", reference, "-", "--to", "jsonl")
    assert result.exit_code == 0
    lines = [json.loads(line) for line in result.stdout_bytes.decode().split("\n")[:-1]]
    assert lines[0]["format"] == "hlteval-corpus"
    assert {line["table"] for line in lines[1:]} >= {"documents", "mentions", "frames"}
    back = invoke("convert", "-", tmp_path / "out", "--to", "standoff", stdin=result.stdout_bytes)
    assert back.exit_code == 0
    assert contents(tmp_path / "out") == contents(reference)
    again = invoke("convert", "-", "-", "--to", "jsonl", stdin=result.stdout_bytes)
    assert again.stdout_bytes == result.stdout_bytes


def test_a_folder_cannot_go_to_standard_output(invoke: Run, reference: Path) -> None:
    for form in ("standoff", "corpus"):
        result = invoke("convert", reference, "-", "--to", form)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"{form} writes a folder" in result.stderr


def test_archives_are_read(invoke: Run, zipped: Path, system: Path, tmp_path: Path) -> None:
    assert invoke("convert", zipped, tmp_path / "out", "--to", "standoff").exit_code == 0
    assert contents(tmp_path / "out") == contents(system)
    piped = invoke("convert", "-", tmp_path / "two", "--to", "standoff", stdin=zipped.read_bytes())
    assert piped.exit_code == 0
    assert contents(tmp_path / "two") == contents(system)


def test_what_is_lost_is_told(invoke: Run, losing: Path, tmp_path: Path) -> None:
    result = invoke("convert", losing, tmp_path / "out", "--to", "standoff")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "warning[CNV101]: standoff cannot represent 2 rows of segments" in result.stderr
    assert "corpus, jsonl" in result.stderr
    assert (tmp_path / "out" / "seed-1.txt").read_text("utf-8") == "Seeds sleep. Seeds wake."


def test_strict_loss_writes_nothing(invoke: Run, losing: Path, tmp_path: Path) -> None:
    given = ("convert", losing, tmp_path / "out", "--to", "standoff", "--strict-loss")
    result = invoke(*given)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "CNV101" in result.stderr
    assert list(tmp_path.iterdir()) == []
    kept = invoke("convert", losing, tmp_path / "out.jsonl", "--strict-loss")
    assert kept.exit_code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == losing.read_bytes()


def test_strict_loss_leaves_what_was_there(invoke: Run, losing: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    invoke("convert", losing, tmp_path / "out", "--to", "standoff", "--strict-loss")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert list((tmp_path / "out").iterdir()) == []


def test_records_that_cannot_be_read_are_told_and_lost(
    invoke: Run, reference: Path, tmp_path: Path
) -> None:
    path = reference.parent.parent / "invalid" / "STD101-blank-for-tab"
    result = invoke("convert", path, tmp_path / "out", "--to", "standoff")
    assert result.exit_code == 1
    assert "error[STD101]" in result.stderr
    assert "1 unreadable line" in result.stderr
    assert (tmp_path / "out" / "seed-1.a2").read_bytes().count(b"\n") == 1
    kept = invoke("convert", path, tmp_path / "kept.jsonl")
    assert kept.exit_code == 1
    assert b'"table":"rejected_records"' in (tmp_path / "kept.jsonl").read_bytes()
    strict = invoke("convert", path, tmp_path / "no", "--to", "standoff", "--strict-loss")
    assert strict.exit_code == 1
    assert not (tmp_path / "no").exists()


def test_what_is_laid_out_anew_is_told(invoke: Run, reference: Path, tmp_path: Path) -> None:
    path = reference.parents[2] / "conversion" / "invalid" / "CNV102-doubled-blanks"
    result = invoke("convert", path, tmp_path / "out", "--to", "standoff")
    assert result.exit_code == 0
    assert "info[CNV102]: seed-1.a2 is written with the same content" in result.stderr
    assert b"Functional_Molecule:T1 Molecule:T2" in (tmp_path / "out" / "seed-1.a2").read_bytes()


def test_spans_that_are_wrong_are_kept(invoke: Run, reference: Path, tmp_path: Path) -> None:
    """Whether they make sense is a matter of validation."""
    for code in ("STD201", "STD202", "STD203", "STD204", "STD205", "STD206"):
        (path,) = (reference.parent.parent / "invalid").glob(f"{code}-*")
        result = invoke("convert", path, tmp_path / code, "--to", "standoff")
        assert (result.exit_code, result.stderr) == (0, "")
        assert contents(tmp_path / code) == contents(path)


def test_the_name_of_the_format_is_needed_now_and_then(
    invoke: Run, reference: Path, tmp_path: Path
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "notes.md").write_text("nothing of the kind")
    for given, told in (
        ((reference, tmp_path / "out"), "does not determine the format"),
        ((reference, tmp_path / "out", "--to", "xml"), "unknown format xml"),
        ((reference, tmp_path / "out", "--to", "seedev-sentences"), "cannot be written"),
        ((tmp_path / "x", tmp_path / "out.jsonl"), "matches no known format"),
        ((reference, tmp_path / "out.jsonl", "--from", "xml"), "unknown format xml"),
        ((tmp_path / "nowhere", tmp_path / "out.jsonl"), "no such file or folder"),
        ((reference, tmp_path / "no" / "out.jsonl"), "no folder"),
    ):
        result = invoke("convert", *given)
        assert (result.exit_code, result.stdout) == (2, "")
        assert told in " ".join(result.stderr.replace("│", " ").split())
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_folder_that_holds_something_stays(invoke: Run, reference: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    for form in ("standoff", "corpus"):
        result = invoke("convert", reference, tmp_path, "--to", form)
        assert result.exit_code == 2
        assert "not empty" in " ".join(result.stderr.replace("│", " ").split())
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_is_replaced_only_by_force(invoke: Run, reference: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    result = invoke("convert", reference, target)
    assert (result.exit_code, target.read_text()) == (2, "old")
    assert "use --force to replace it" in " ".join(result.stderr.replace("│", " ").split())
    assert invoke("convert", reference, target, "--force").exit_code == 0
    assert target.read_bytes().startswith(b'{"format"')


def test_a_saved_corpus_that_is_broken_is_a_finding(
    invoke: Run, reference: Path, tmp_path: Path
) -> None:
    path = reference.parents[2] / "jsonl" / "invalid" / "COR103-no-name.jsonl"
    result = invoke("convert", path, tmp_path / "out", "--to", "standoff")
    assert result.exit_code == 1
    assert "error[COR103]" in result.stderr
    assert f"{path}:2" in result.stderr


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{", b"E1\tBinding A:T1\n", b"\xff\xfe", b"PK\x03\x04"]
)
def test_rubbish_on_standard_input(data: bytes, invoke: Run, tmp_path: Path) -> None:
    result = invoke("convert", "-", tmp_path / "out", "--to", "standoff", stdin=data)
    assert result.exit_code in {1, 2}
    assert result.stdout == ""
    assert result.stderr


def test_no_rest_stays_where_it_fails(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    reference: Path,
    tmp_path: Path,
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("not thought of")

    monkeypatch.setattr(conversion.Losses, "count", fail)
    arguments = ["hlteval", "convert", str(reference), str(tmp_path / "out"), "--to", "standoff"]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        hlteval.cli.main()
    assert ended.value.code == 3
    assert "ValueError: not thought of" in capsys.readouterr().err
    assert [path.name.partition("-")[0] for path in tmp_path.iterdir()] == ["hlteval"]


def test_a_closed_pipe_is_no_error(program: Run, reference: Path, tmp_path: Path) -> None:
    lines = (reference / "seed-1.a2").read_text("utf-8") * 3000
    folder = tmp_path / "long"
    folder.mkdir()
    (folder / "d.a2").write_text(lines, "utf-8")
    done = program(f"hlteval convert {folder} - --to jsonl | head -1", tmp_path)
    assert done.stdout.startswith('{"format"')
    assert done.stderr == ""


def _note(invoke: Run, tmp_path: Path, data: bytes, suffix: str = ".tab") -> str:
    """What is reported as written with other bytes."""
    (tmp_path / f"in{suffix}").write_bytes(data)
    result = invoke("convert", tmp_path / f"in{suffix}", tmp_path / f"out{suffix}", "--force")
    lines = [line for line in result.stderr.splitlines() if "[CNV102]" in line]
    return lines[0].partition("content, ")[2] if lines else ""


MENTION = b"R\tm1\tOsh\tD1:3-5\t17\tGPE\tNAM\t0.5\n"
HEADING = (
    b"system_run_id\tmention_id\tmention_text\textents\t"
    b"kb_id\tentity_type\tmention_type\tconfidence"
)


def _note_of_several(invoke: Run, tmp_path: Path, *contents: bytes) -> str:
    """What is reported where several files are written to one."""
    paths = [tmp_path / f"in-{at}.tab" for at in range(len(contents))]
    for path, data in zip(paths, contents, strict=True):
        path.write_bytes(data)
    result = invoke("convert", *paths, tmp_path / "out.tab", "--force")
    found = [line for line in result.stderr.splitlines() if "[CNV102]" in line]
    return found[0].partition("]: ")[2] if found else ""


def test_layout_of_several_files_in_one_is_listed(invoke: Run, tmp_path: Path) -> None:
    second = MENTION.replace(b"D1", b"D2")
    assert _note_of_several(invoke, tmp_path, MENTION, second) == ""
    heading = HEADING + b"\n"
    found = _note_of_several(
        invoke, tmp_path, heading + MENTION, heading + second.replace(b"\n", b"\r\n") + b"\n"
    )
    assert found == (
        "each of 2 files is written with the same content, without CR LF line ends, "
        "1 empty line, 2 header lines"
    )


@pytest.mark.parametrize(
    ("data", "suffix", "note"),
    [
        pytest.param(MENTION, ".tab", "", id="canonical"),
        pytest.param(HEADING + b"\n" + MENTION, ".tab", "without 1 header line", id="header"),
        pytest.param(
            MENTION.replace(b"\n", b"\r\n"), ".tab", "without CR LF line ends", id="windows"
        ),
        pytest.param(
            b"\xef\xbb\xbf" + MENTION + b"\n\n",
            ".tab",
            "without byte order mark, 2 empty lines",
            id="mark",
        ),
        pytest.param(b"D1\t3\t5\t17\t\n", ".neleval", "but different bytes", id="trailing"),
        pytest.param(b"D2\n\nD1\r\n", ".list", "without CR LF line ends, 1 empty line", id="list"),
    ],
)
def test_layout_of_a_single_file_that_is_not_written_is_listed(
    invoke: Run, tmp_path: Path, data: bytes, suffix: str, note: str
) -> None:
    assert _note(invoke, tmp_path, data, suffix) == note
