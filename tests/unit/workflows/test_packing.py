"""Packing: what is packed validates, equal files make equal archives, and nothing is silent."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fuzz.subjects import CONTEXTS
from hlteval import PackedArchive, pack, validate
from hlteval.tasks import BUILTIN, load
from hlteval.tasks.task import WrongOption

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"
INVALID = FIXTURES / "packing" / "invalid"
SUB_ID = "CCU_P1_TA1_{}_LCC_LDC2022R17-V1_20220719_110203"


class Case(NamedTuple):
    """A submission, the name of its archive, and what it is checked against."""

    files: str
    name: str
    members: str
    against: str | None = None


def _ccu(task: str) -> Case:
    folder = SUB_ID.format(task.upper())
    tables = f"{folder}/A1.tab {folder}/T1.tab {folder}/V1.tab {folder}/system_output.index.tab"
    return Case(f"ccu/valid/{task}", f"{folder}.tgz", tables, "ccu/valid/reference")


SEEDEV = Case("standoff/valid/full", "run.zip", "seed-1.a2 seed-2.a2", "standoff/valid/full")
CASES = {
    "seedev-binary": SEEDEV._replace(
        files="standoff/valid/binary", against="standoff/valid/binary"
    ),
    "seedev-full": SEEDEV,
    "speech-sf": Case("speech-sf/valid/submission.json", "run.zip", "submission.json"),
    "lorehlt-sf": Case("lorehlt-sf/valid/submission", "run-1.tgz", "edl.tab system_output.json"),
    "lorehlt-edl": Case(
        "lorehlt-edl/valid/submission.tab", "NIST_EDL_CP1_1.tab.tgz", "NIST_EDL_CP1_1.tab"
    ),
    "hub4": Case("hub4/valid/system.tpl", "run.tgz", "system.tpl"),
    **{f"ccu-{task}": _ccu(task) for task in ("nd", "ed", "vd", "ad", "cd")},
    "ccu-ndmap": Case(
        "ccu/valid/ndmap", f"{SUB_ID.format('NDMAP')}.tgz", f"{SUB_ID.format('NDMAP')}/nd.map.tab"
    ),
    "ccu-ta2": Case("ccu-ta2/valid/responses.tsv", "run.tgz", "responses.tsv"),
    "ccu-reference": Case("ccu/valid/reference", "run.tgz", ""),
    "ltf": Case("ltf/valid", "texts.zip", ""),
    "laf": Case("laf/valid", "names.tgz", "", "ltf/valid"),
    "lorehlt-mt": Case(
        "lorehlt-mt/valid", "run7.tgz", "EPO_NW_1.ltf.xml EPO_NW_2.ltf.xml", "mt/valid/ltf"
    ),
    **{
        name: Case(
            f"{name}/valid/submission", "run.zip", "bb-1.a2 bb-2.a2", f"{name}/valid/reference"
        )
        for name in BUILTIN
        if name.startswith("bb1")
    },
}
"""A submission to each task."""


def members_of(submission: str) -> str:
    """The files of a submission, as an archive has them."""
    path = FIXTURES / submission
    return " ".join(sorted(each.name for each in path.iterdir())) if path.is_dir() else path.name


CASES |= {
    name: Case(use.submission, "run.tgz", members_of(use.submission), use.against or None)
    for name, use in CONTEXTS.items()
    if name not in CASES
}


def packed(task: str, folder: Path, **changes: Any) -> PackedArchive:
    case = CASES[task]
    against = FIXTURES / case.against if case.against else None
    given = {"files": FIXTURES / case.files, "output": folder / case.name, "against": against}
    return pack(task, **{**given, **changes})


def names(path: Path) -> list[str]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    with tarfile.open(path, "r:gz") as archive:
        return archive.getnames()


def test_every_task_is_here() -> None:
    assert set(CASES) == set(BUILTIN)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("task", CASES)
def test_what_is_packed_validates_and_is_the_same_again(task: str, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    case, result = CASES[task], packed(task, tmp_path)
    assert result.path == str(tmp_path / case.name)
    against = FIXTURES / case.against if case.against else None
    verdict = validate(task, result.path, against=against)
    assert verdict.passed
    if case.members:
        assert names(tmp_path / case.name) == case.members.split()
    data = (tmp_path / case.name).read_bytes()
    assert len(data) == result.size
    packed(task, tmp_path / "again")
    assert (tmp_path / "again" / case.name).read_bytes() == data


@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_an_archive_is_packed_as_the_folder_is(kind: str, tmp_path: Path) -> None:
    first = packed("ccu-nd", tmp_path)
    folder = tmp_path / "work" / "my run"
    shutil.copytree(FIXTURES / CASES["ccu-nd"].files, folder)
    archive = shutil.make_archive(str(tmp_path / "other"), kind, tmp_path / "work")
    second = packed("ccu-nd", tmp_path, files=[archive], force=True)
    assert second.sha256 == first.sha256


def test_files_one_by_one_are_packed_as_their_folder_is(tmp_path: Path) -> None:
    first = packed("ccu-ed", tmp_path)
    files = sorted((FIXTURES / CASES["ccu-ed"].files).iterdir(), reverse=True)
    assert packed("ccu-ed", tmp_path, files=files, force=True).sha256 == first.sha256


FINDINGS = {
    "PKG101-notes": ("lorehlt-sf", "run.tgz", None),
    "PKG102-two-runs": ("hub4", "run.tgz", None),
    "PKG103-log": ("ccu-nd", CASES["ccu-nd"].name, 4),
    "PKG104-run.tab": ("lorehlt-edl", "NIST_EDL_CP1_1.tab.tgz", 1),
    "PKG105-no-index": ("ccu-nd", CASES["ccu-nd"].name, 4),
}


def test_every_fixture_is_here() -> None:
    assert {path.name for path in INVALID.iterdir()} == set(FINDINGS)


@pytest.mark.parametrize("name", FINDINGS)
def test_a_fixture_raises_its_code_and_no_other(name: str, tmp_path: Path) -> None:
    task, output, members = FINDINGS[name]
    result = pack(task, INVALID / name, tmp_path / output)
    assert [finding.code for finding in result.verdict.findings] == [name.partition("-")[0]]
    assert (result.path is None) == (members is None) != result.verdict.passed
    assert len(result.members) == (members or 0)
    assert [file.name for file in tmp_path.iterdir()] == ([output] if members else [])


def test_the_index_that_is_made_lists_tables_without_levels_as_not_processed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "vd"
    shutil.copytree(FIXTURES / "ccu/valid/vd", folder)
    (folder / "system_output.index.tab").unlink()
    header = (folder / "V1.tab").read_text().partition("\n")[0]
    (folder / "V1.tab").write_text(f"{header}\n")
    result = packed("ccu-vd", tmp_path, files=folder)
    (made,) = result.verdict.findings
    assert made.message == "the archive has an index of 3 documents, 1 of them as not processed"
    with tarfile.open(result.path) as archive:
        stream = archive.extractfile(f"{SUB_ID.format('VD')}/system_output.index.tab")
        assert stream is not None
        assert stream.read().decode().split("\n")[1:] == [
            *("A1\ttrue\t\tA1.tab", "T1\ttrue\t\tT1.tab", "V1\tfalse\t\tV1.tab", "")
        ]


def test_what_does_not_validate_is_not_written(tmp_path: Path) -> None:
    files = FIXTURES / "ccu/invalid/CCU501-adhered"
    result = packed("ccu-nd", tmp_path, files=files, against=None)
    assert result.path is None
    (wrong,) = result.verdict.findings
    assert (wrong.code, result.verdict.passed) == ("CCU501", False)
    assert wrong.file == f"{files}/A1.tab"  # where it is to be corrected
    assert [*tmp_path.iterdir()] == []


def test_a_name_of_another_form_is_refused(tmp_path: Path) -> None:
    result = packed("ccu-nd", tmp_path, output=tmp_path / "run-1")
    assert [finding.code for finding in result.verdict.findings] == ["CCU204"]
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("task", ["ccu-nd", "lorehlt-edl"])
def test_an_archive_of_another_kind_is_refused(task: str, tmp_path: Path) -> None:
    for name in ("run.zip", "run.tar", "run.tar.xz", "run.tbz2"):
        with pytest.raises(WrongOption, match=r"an archive of .* is named NAME\.tgz"):
            packed(task, tmp_path, output=tmp_path / name)


def test_a_name_without_a_suffix_has_the_usual_one(tmp_path: Path) -> None:
    for task in ("hub4", "lorehlt-edl"):
        result = packed(task, tmp_path, output=tmp_path / f"NIST_EDL_CP1_{task}")
        suffix = load(task).packaging.suffixes[0]
        assert result.path == str(tmp_path / f"NIST_EDL_CP1_{task}{suffix}")


def test_an_archive_that_exists_is_kept_unless_forced(tmp_path: Path) -> None:
    target = tmp_path / CASES["hub4"].name
    target.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="exists; use force to replace it"):
        packed("hub4", tmp_path)
    wrong = FIXTURES / "hub4/invalid/HUB204-two-templates.tpl"
    assert packed("hub4", tmp_path, files=wrong, force=True).path is None
    assert target.read_bytes() == b"mine"
    assert packed("hub4", tmp_path, force=True).path == str(target)


def test_a_folder_is_not_a_name(tmp_path: Path) -> None:
    with pytest.raises(WrongOption, match="is a folder; name the archive"):
        packed("hub4", tmp_path, output=tmp_path)


def test_an_input_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    damaged = FIXTURES / "source/invalid/SRC105-cut-off.tgz"
    result = packed("hub4", tmp_path, files=damaged)
    assert (result.path, [f.code for f in result.verdict.findings]) == (None, ["SRC105"])
    nested = FIXTURES / "source/invalid/SRC116-nested-by-content.tgz"
    result = packed("hub4", tmp_path, files=nested)
    assert (result.path, [f.code for f in result.verdict.findings]) == (None, ["SRC116"])
    assert [*tmp_path.iterdir()] == []


def test_a_translation_is_named_as_its_input(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    for file in (FIXTURES / CASES["lorehlt-mt"].files).glob("*.ltf.xml"):
        shutil.copy(file, folder / file.name.replace(".ltf.xml", ".xml"))
    result = packed("lorehlt-mt", tmp_path, files=folder)
    assert [finding.code for finding in result.verdict.findings] == ["PKG104", "PKG104"]
    assert names(tmp_path / CASES["lorehlt-mt"].name) == CASES["lorehlt-mt"].members.split()


def test_findings_name_files_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(FIXTURES / "hub4/invalid/HUB204-two-templates.tpl", tmp_path / "run.tpl")
    monkeypatch.chdir(tmp_path)
    result = pack("hub4", "run.tpl", "run.zip")
    assert {finding.file for finding in result.verdict.findings} == {"run.tpl"}


def test_findings_of_a_file_that_nobody_wrote_are_those_of_the_archive(tmp_path: Path) -> None:
    folder = INVALID / "PKG105-no-index"
    result = packed("ccu-nd", tmp_path, files=[folder / "A1.tab", folder / "T1.tab"])
    places = {finding.code: finding.file for finding in result.verdict.findings}
    inside = f"{SUB_ID.format('ND')}/system_output.index.tab"
    assert places == {
        "PKG105": f"{folder}/A1.tab",
        "CCU301": f"{tmp_path / CASES['ccu-nd'].name}/{inside}",
    }
