"""`hlteval validate --fix OUT`: a corrected copy, what was done, and what is left."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hlteval import validate
from hlteval.findings import catalogue
from hlteval.findings.fixers import FIXERS

Run = Callable[..., Any]
FIXTURES = Path(__file__).parents[2] / "fixtures"
FULL = FIXTURES / "standoff" / "valid" / "full"
EDL = FIXTURES / "lorehlt-edl" / "valid" / "submission.tab"
ROOMS = {
    "seedev-full": ("standoff", "seedev"),
    "lorehlt-edl": ("lorehlt-edl", "neleval"),
    "speech-sf": ("speech-sf-json", "speech-sf"),
    "ltf": ("ltf", "xml"),
    "hub4": ("hub4",),
    "ccu-nd": ("ccu-submission",),
    "ccu-reference": ("ccu-reference",),
    "ccu-ta2": ("ccu-ta2",),
    "lorehlt-sf": ("lorehlt-sf-json",),
    **{name: (name,) for name in ("bb16-cat", "bb19-norm-ner", "bb19-rel")},
}
"""The fixtures of the submissions of tasks."""
CASES = [
    (task, path)
    for task, rooms in ROOMS.items()
    for room in rooms
    for path in sorted((FIXTURES / room / "invalid").iterdir())
    if catalogue()[path.name[:6]].fixer
]
REVEALED = {"SFJ206": {"SSF105"}, "LSF204": {"LSF310"}, "SFJ204": {"SSF105"}}
"""Findings about a record that is read only when it has been corrected."""


def contents(path: Path) -> dict[str, bytes]:
    """The files of a folder, a file or an archive, by name."""
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file())
        return {str(file.relative_to(path)): file.read_bytes() for file in files}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    if path.suffix == ".tgz":
        with tarfile.open(path) as tar:
            read = {member.name: tar.extractfile(member) for member in tar}
            return {name: stream.read() for name, stream in read.items() if stream}
    return {"": path.read_bytes()}


def codes(task: str, path: Path, against: Path | None) -> list[str]:
    found = validate(task, str(path), against=str(against) if against else None).findings
    return sorted(finding.code for finding in found)


def context(task: str, path: Path) -> Path | None:
    """The documents that a fixture needs."""
    if task.startswith("bb"):
        return path.parents[1] / "valid" / "reference"
    own = path.is_dir() and any(path.glob("*.txt"))
    return FULL if task == "seedev-full" and not own else None


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("task", "path"), CASES, ids=lambda value: value.name if isinstance(value, Path) else value
)
def test_a_copy_has_fewer_findings_and_no_others(
    invoke: Run, task: str, path: Path, tmp_path: Path
) -> None:
    against = context(task, path)
    given = ("--against", against) if against else ()
    before = codes(task, path, against)
    out, again = tmp_path / path.name, tmp_path / f"again-{path.name}"
    result = invoke("validate", task, path, *given, "--fix", out, "--format", "json")
    shown = json.loads(result.stdout)
    fixed = {fix["code"] for fix in shown["fixes"]}
    if not fixed:
        assert shown["copy"] is None
        assert not out.exists()
        unfixed = {item["code"] for item in shown["unfixed"]}
        fixable = {code for code in before if catalogue()[code].fixer}
        assert fixable == unfixed or any(code.startswith("SRC") for code in before)
        return
    after = codes(task, out, against)
    unfixed = {item["code"] for item in shown["unfixed"]}
    named = {"EDL107", "EDL110", "EDL111"}  # findings about the name of an archive
    revealed = REVEALED.get(path.name[:6], set())
    assert set(after) <= set(before) | named | revealed
    assert not fixed - unfixed & set(after)
    fixable = {code for code in before if catalogue()[code].fixer}
    assert fixable == fixed | unfixed
    assert result.exit_code == int(shown["verdict"] != "pass")
    second = json.loads(
        invoke("validate", task, out, *given, "--fix", again, "--format", "json").stdout
    )
    assert second["fixes"] == []
    assert not again.exists()


def test_a_correction_changes_nothing_else(invoke: Run, tmp_path: Path) -> None:
    source = FIXTURES / "seedev" / "invalid" / "SEE101-misspelt-event"
    folder = tmp_path / "in"
    shutil.copytree(FULL, folder)
    text = (FULL / "seed-1.a2").read_text("utf-8").replace("Binding", "binding", 1)
    (folder / "seed-1.a2").write_text(text, "utf-8")
    result = invoke("validate", "seedev-full", folder, "--fix", tmp_path / "out")
    assert result.exit_code == 0
    assert contents(tmp_path / "out") == contents(FULL)
    assert f"fixed[SEE101]: {folder}/seed-1.a2:1: corrected upper and lower case" in result.stdout
    assert "1 fix in" in result.stdout
    assert (folder / "seed-1.a2").read_text("utf-8") == text
    assert invoke("validate", "seedev-full", source, "--against", FULL, "--fix", tmp_path / "o2")


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    """A folder with tabs as spaces, a byte order mark, wrong capitals and system files."""
    folder = tmp_path / "spoilt"
    shutil.copytree(FULL, folder)
    for name in ("seed-1.a1", "seed-1.a2"):
        text = (folder / name).read_text("utf-8").replace("\t", " ").replace("Agent:", "agent:")
        (folder / name).write_text(text, "utf-8")
    (folder / "seed-2.a2").write_bytes(b"\xef\xbb\xbf" + (folder / "seed-2.a2").read_bytes())
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "._seed-1.a2").write_text("x", "utf-8")
    (folder / ".DS_Store").write_text("x", "utf-8")
    return folder


@pytest.mark.parametrize("kind", ["folder", "zip", "tgz", "stdin"])
def test_a_copy_is_of_the_same_kind(invoke: Run, spoilt: Path, tmp_path: Path, kind: str) -> None:
    path, out = spoilt, tmp_path / "out"
    stdin = None
    if kind != "folder":
        form = "gztar" if kind == "tgz" else "zip"
        path = Path(shutil.make_archive(str(tmp_path / "packed"), form, spoilt))
        out = tmp_path / ("out.tgz" if kind == "tgz" else "out.zip")
    given: list[object] = ["validate", "seedev-full", path, "--fix", out]
    if kind == "stdin":
        stdin, given[2] = path.read_bytes(), "-"
    result = invoke(*given, stdin=stdin)
    assert result.exit_code == 0, result.stdout
    assert contents(out) == contents(FULL)
    for code in ("SRC107", "SRC202", "STD101", "SEE201"):
        assert f"fixed[{code}]" in result.stdout
    assert result.stdout.endswith(
        "pass: no findings; 2 documents, 26 records read (seedev-full, profile plan)\n"
    )


def test_what_is_not_certain_is_left_and_reported(invoke: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.tab"
    lines = EDL.read_text("utf-8").splitlines()
    file.write_bytes("\r\n".join([*(line.replace("\t", " ") for line in lines), ""]).encode())
    out = tmp_path / "y.tab"
    result = invoke("validate", "lorehlt-edl", file, "--fix", out)
    assert result.exit_code == 1
    assert f"not fixed[EDL201]: {file}: the right correction is not certain" in result.stdout
    fixed = out.read_text("utf-8").splitlines()
    for line, own in zip(lines, fixed, strict=True):
        certain = " " not in line
        assert own == (line if certain else line.replace("\t", " "))
    assert b"\r" not in out.read_bytes()


def test_json_lists_the_corrections(invoke: Run, spoilt: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = tmp_path / "report.json"
    given = ("validate", "seedev-full", spoilt, "--fix", out, "--format", "concise")
    result = invoke(*given, "--output-file", f"json={report}")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "fixed[STD101]" in result.stderr
    shown = json.loads(report.read_text("utf-8"))
    assert shown["copy"] == str(out)
    assert shown["verdict"] == "pass"
    assert {fix["code"] for fix in shown["fixes"]} == {
        *("SRC107", "SRC202", "STD101", "STD103", "TAB102", "SEE201")
    }
    first = next(fix for fix in shown["fixes"] if fix["code"] == "STD101")
    assert first["file"] == f"{spoilt}/seed-1.a1"
    assert first["line"] == 1


def test_only_selected_findings_are_corrected(invoke: Run, spoilt: Path, tmp_path: Path) -> None:
    given = ("validate", "seedev-full", spoilt, "--fix", tmp_path / "out", "--ignore", "SRC202")
    invoke(*given)
    assert (tmp_path / "out" / "seed-2.a2").read_bytes() == (spoilt / "seed-2.a2").read_bytes()


def test_no_copy_is_written_where_nothing_is_to_be_fixed(invoke: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("validate", "seedev-full", FULL, "--fix", out)
    assert (result.exit_code, out.exists()) == (0, False)
    assert "nothing to fix; no copy was written" in result.stdout


def test_utf_16_with_its_mark_becomes_utf_8(invoke: Run, tmp_path: Path) -> None:
    path, out = tmp_path / "run.tab", tmp_path / "out.tab"
    path.write_bytes(EDL.read_text("utf-8").replace("\n", "\r\n").encode("utf-16"))
    result = invoke("validate", "lorehlt-edl", path, "--fix", out)
    assert result.exit_code == 0
    assert f"fixed[SRC201]: {path}: converted the file to UTF-8" in result.stdout
    assert out.read_bytes() == EDL.read_bytes()
    path.write_bytes(EDL.read_text("utf-8").encode("utf-16-le"))  # which may be anything
    out.unlink()
    assert invoke("validate", "lorehlt-edl", path, "--fix", out).exit_code == 1
    assert not out.exists()


PERCENTAGES = FIXTURES / "lorehlt-edl" / "invalid" / "TAB107-percentages.tab"


def test_values_change_only_if_that_is_asked_for(invoke: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.tab"
    result = invoke("validate", "lorehlt-edl", PERCENTAGES, "--fix", out)
    assert (result.exit_code, out.exists()) == (1, False)
    assert "the values would change; --unsafe-fixes allows it" in result.stdout
    result = invoke("validate", "lorehlt-edl", PERCENTAGES, "--fix", out, "--unsafe-fixes")
    assert result.exit_code == 0
    assert out.read_bytes() == EDL.read_bytes()


@pytest.mark.parametrize(("start", "end"), [(1, 1), (0, 1), (1, 2)])
def test_offsets_counted_in_another_way_are_corrected(
    invoke: Run, tmp_path: Path, start: int, end: int
) -> None:
    def counted(found: re.Match[str]) -> str:
        return f":{int(found[1]) + start}-{int(found[2]) + end}\t"

    folder, out = tmp_path / "runs", tmp_path / "out"
    folder.mkdir()
    text = EDL.read_text("utf-8")
    (folder / "run.tab").write_text(re.sub(r":(\d+)-(\d+)\t", counted, text), "utf-8")
    given = ("validate", "lorehlt-edl", folder, "--against", EDL.parent / "texts.jsonl")
    result = invoke(*given, "--fix", out)
    assert (result.exit_code, out.exists()) == (1, False)
    assert "EDL509" in result.stdout
    assert "--fix --unsafe-fixes does so" in " ".join(result.stdout.split())
    result = invoke(*given, "--fix", out, "--unsafe-fixes")
    assert (result.exit_code, (out / "run.tab").read_text("utf-8")) == (0, text)
    assert "rewrote the offsets" in result.stdout


def test_offsets_are_not_corrected_if_a_mention_would_not_fit(invoke: Run, tmp_path: Path) -> None:
    lines = re.sub(
        r":(\d+)-(\d+)\t", lambda m: f":{int(m[1]) + 1}-{int(m[2]) + 1}\t", EDL.read_text("utf-8")
    ).splitlines(keepends=True)
    path, out = tmp_path / "run.tab", tmp_path / "out.tab"
    for other in (lines[0].replace("Paris", "Pariss"), "NIST_1\tm0\n" + lines[0]):
        path.write_text(other + "".join(lines[1:]), "utf-8")
        given = ("validate", "lorehlt-edl", path, "--against", EDL.parent / "texts.jsonl")
        result = invoke(*given, "--fix", out, "--unsafe-fixes")
        assert (result.exit_code, out.exists()) == (1, False)
        assert "does so" not in result.stdout


@pytest.mark.parametrize("end", ["", "\n"])
def test_json_lines_become_one_array(invoke: Run, tmp_path: Path, end: str) -> None:
    valid = FIXTURES / "speech-sf-json" / "valid" / "frames.json"
    frames = json.loads(valid.read_text("utf-8"))
    path, out = tmp_path / "run.json", tmp_path / "out.json"
    path.write_text("\n".join(map(json.dumps, frames)) + end, "utf-8")
    found = json.loads(invoke("validate", "speech-sf", path, "--format", "json").stdout)
    errors = [item["code"] for item in found["findings"] if item["severity"] == "error"]
    assert errors == ["JSN107"]
    result = invoke("validate", "speech-sf", path, "--fix", out)
    assert result.exit_code == invoke("validate", "speech-sf", valid).exit_code
    assert "fixed[JSN107]" in result.stdout
    assert json.loads(out.read_text("utf-8")) == frames


def test_a_diff_shows_the_corrections_and_writes_nothing(invoke: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.tab"
    lines = EDL.read_text("utf-8").splitlines()
    path.write_text(
        "\n".join([lines[0], "", lines[1].lower().replace("lyon", "Lyon"), ""]), "utf-8"
    )
    before = sorted(tmp_path.iterdir())
    result = invoke("validate", "lorehlt-edl", path, "--diff", "--select", "EDL1")
    start = f"--- {path}\n+++ {path}\n@@ -2,1 +2,0 @@\n-\n"
    assert result.stdout.startswith(start)
    assert "1 fix with --fix; nothing was written" in result.stdout
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "reason"),
    [(["--diff", "--fix", "out"], "with --fix"), (["--unsafe-fixes"], "without --fix or --diff")],
)
def test_options_of_fixes_without_effect_are_usage_errors(
    invoke: Run, options: list[str], reason: str
) -> None:
    result = invoke("validate", "lorehlt-edl", EDL, *options)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())


def test_what_cannot_be_read_is_not_copied(invoke: Run, tmp_path: Path) -> None:
    damaged = tmp_path / "in.zip"
    damaged.write_bytes(b"PK\x03\x04 cut off")
    given = ("validate", "seedev-full", damaged, "--against", FULL, "--fix", tmp_path / "out.zip")
    result = invoke(*given)
    assert result.exit_code == 1
    assert "no copy was written" in result.stdout
    assert "SRC105" in result.stdout
    assert not (tmp_path / "out.zip").exists()


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("in/out", "is an input"),
        ("in", "exists"),
        ("out.zip", "has no suffix of one"),
        ("absent/out", "no folder"),
    ],
)
def test_invalid_targets_are_usage_errors(
    invoke: Run, tmp_path: Path, out: str, reason: str
) -> None:
    shutil.copytree(FULL, tmp_path / "in")
    result = invoke("validate", "seedev-full", tmp_path / "in", "--fix", tmp_path / out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert contents(tmp_path / "in") == contents(FULL)


def test_several_submissions_have_no_common_copy(invoke: Run, tmp_path: Path) -> None:
    result = invoke("validate", "seedev-full", FULL, FULL, "--fix", tmp_path / "out")
    assert result.exit_code == 2
    assert "--fix and --diff take a single submission" in result.stderr


def test_an_archive_keeps_its_kind(invoke: Run, spoilt: Path, tmp_path: Path) -> None:
    path = shutil.make_archive(str(tmp_path / "packed"), "zip", spoilt)
    result = invoke("validate", "seedev-full", path, "--fix", tmp_path / "out.tgz")
    assert result.exit_code == 2
    assert "ends in .zip" in " ".join(result.stderr.split())


def test_the_catalogue_names_fixers_that_exist(invoke: Run) -> None:
    named = {entry.fixer for entry in catalogue().values()} - {""}
    assert named == FIXERS.keys()
    assert "unknown-type, error, fixable, blocking" in invoke("explain", "SEE101").stdout
    assert "fixable" not in invoke("explain", "SEE202").stdout


def test_every_fixable_code_is_fixed_in_a_fixture() -> None:
    """Codes whose fixture cannot be corrected with certainty are named here, with the test."""
    tried = {path.name.partition("-")[0] for _, path in CASES}
    fixable = {code for code, entry in catalogue().items() if entry.fixer}
    assert fixable - tried <= {"SRC107", "SRC201", "SRC202", "SRC203"}  # tested above


@pytest.mark.parametrize(
    ("task", "content", "options"),
    [
        pytest.param(
            "lorehlt-edl",
            b"R\tm1\tOsh\tD1:3-5\t17\tGPE\tNAM\t0.5\r\nR\tm2\tOsh\tD1:9-11\t17\tGPE\tNAM\t0.5\r\n",
            [],
            id="line-ends",
        ),
        pytest.param(
            "hub4",
            (FIXTURES / "hub4" / "invalid" / "HUB305-inclusive.tpl").read_bytes(),
            ["--corpus", str(FIXTURES / "hub4" / "valid" / "corpus.sgml")],
            id="extents",
        ),
    ],
)
def test_corrections_of_a_whole_file_are_counted_by_their_places(
    task: str, content: bytes, options: list[str], invoke: Run, tmp_path: Path
) -> None:
    path, out = tmp_path / "run", tmp_path / "out"
    path.write_bytes(content)
    result = invoke("validate", task, path, *options, "--fix", out)
    lines = zip(content.split(b"\n"), out.read_bytes().split(b"\n"), strict=True)
    places = sum(old != new for old, new in lines)
    assert places > 1
    assert f"({places} places)" in result.stdout
    assert f"{places} fixes in" in result.stdout


def test_an_info_that_an_error_had_hidden_withdraws_no_correction(
    invoke: Run, tmp_path: Path
) -> None:
    """Frames without Justification_ID are an info, which is shown once their errors are gone."""
    path, out = tmp_path / "run.json", tmp_path / "out.json"
    frame = '{"DocumentID": "D1", "Type": "%s", "Place_KB_ID": "", "Status": "current", '
    frame += '"Confidence": 0.5, "Urgent": true, "SEC": []}'
    path.write_text(f"[{frame % 'Terrorism'}]", "utf-8")
    result = invoke("validate", "lorehlt-sf", path, "--fix", out)
    assert "info[LSF215]" in result.stdout
    assert out.read_text("utf-8") == f"[{frame % 'terrorism'}]"
