"""`hlteval validate --fix OUT`: a corrected copy, what was done, and what is left."""

from __future__ import annotations

import json
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
}
"""The fixtures of the submissions of tasks."""
CASES = [
    (task, path)
    for task, rooms in ROOMS.items()
    for room in rooms
    for path in sorted((FIXTURES / room / "invalid").iterdir())
    if catalogue()[path.name[:6]].fixer
]
REVEALED = {"SFJ206": {"SSF105"}}
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
    own = path.is_dir() and any(path.glob("*.txt"))
    return FULL if task == "seedev-full" and not own else None


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
    if not out.exists():
        assert shown["copy"] is None
        assert any(code.startswith("SRC") for code in before)
        return
    after = codes(task, out, against)
    fixed = {fix["code"] for fix in shown["fixes"]}
    unfixed = {item["code"] for item in shown["unfixed"]}
    named = {"EDL107", "EDL110", "EDL111"}  # findings about the name of an archive
    revealed = REVEALED.get(path.name[:6], set())
    assert set(after) <= set(before) | named | revealed
    assert not fixed - unfixed & set(after)
    fixable = {code for code in before if catalogue()[code].fixer}
    assert fixable == fixed | unfixed
    if not fixed:
        assert contents(out) == contents(path)
    assert result.exit_code == int(shown["verdict"] != "pass")
    second = json.loads(
        invoke("validate", task, out, *given, "--fix", again, "--format", "json").stdout
    )
    assert second["fixes"] == []
    assert contents(again) == contents(out)


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
        *("SRC107", "SRC202", "STD101", "STD103", "SEE201")
    }
    first = next(fix for fix in shown["fixes"] if fix["code"] == "STD101")
    assert first["file"] == f"{spoilt}/seed-1.a1"
    assert first["line"] == 1


def test_only_selected_findings_are_corrected(invoke: Run, spoilt: Path, tmp_path: Path) -> None:
    given = ("validate", "seedev-full", spoilt, "--fix", tmp_path / "out", "--ignore", "SRC202")
    invoke(*given)
    assert (tmp_path / "out" / "seed-2.a2").read_bytes() == (spoilt / "seed-2.a2").read_bytes()


def test_a_copy_is_written_where_nothing_is_to_be_fixed(invoke: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("validate", "seedev-full", FULL, "--fix", out)
    assert (result.exit_code, contents(out)) == (0, contents(FULL))
    assert f"nothing to fix; {out} is a copy" in result.stdout


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
        ("in/out", "is inside"),
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
    assert "--fix takes a single submission" in result.stderr


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
    assert fixable - tried <= {"SRC107", "SRC202"}  # tested above


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
