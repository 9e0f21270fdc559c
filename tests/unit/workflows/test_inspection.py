"""Inspection: what an archive is, which task it is for and why, and what is wrong with it."""

from __future__ import annotations

import shutil
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from hlteval import inspect, pack, tasks
from hlteval.sources import Listed

FIXTURES = Path(__file__).parents[3] / "fixtures"
SUB_ID = "CCU_P1_TA1_{}_LCC_LDC2022R17-V1_20220719_110203"
ND = FIXTURES / f"ccu/valid/{SUB_ID.format('ND')}.tgz"


def test_a_name_and_tables_of_one_task_are_two_reasons() -> None:
    found = inspect(ND)
    assert found.kind == "tgz"
    assert found.size == ND.stat().st_size
    (guess,) = found.tasks
    assert guess.task == "ccu-nd"
    assert guess.reasons[1] == "its tables have the columns of ND"
    assert dict(found.name) == {
        "phase": "P1", "area": "TA1", "task": "ND", "team": "LCC",
        "dataset": "LDC2022R17-V1", "timestamp": "20220719_110203",
    }  # fmt: skip
    assert found.findings == ()
    assert found.passed
    assert found.readable
    assert repr(found) == f"<Inspection: {ND}, tgz, 4 members; ccu-nd>"


def test_a_name_of_another_task_than_the_tables_is_another_guess(tmp_path: Path) -> None:
    other = tmp_path / f"{SUB_ID.format('ED')}.tgz"
    shutil.copy(ND, other)
    found = inspect(other)
    assert found.likeliest == ("ccu-nd", "ccu-ed")
    assert [finding.code for finding in found.findings] == ["CCU203"]  # whichever task it is


BIOTOPE = tuple(name for name in tasks.BUILTIN if name.startswith("bb1"))  # .a2 files, too
FOLDERS = {
    "lorehlt-sf/valid/submission": ("lorehlt-sf",),
    "ccu/valid/ndmap": ("ccu-ndmap",),
    "ccu/valid/vd": ("ccu-vd",),
    "ccu/valid/nd-open": ("ccu-nd",),
    "ccu/valid/reference": ("ccu-reference",),
    "ltf/valid": ("ltf",),
    "laf/valid": ("laf",),
    "lorehlt-mt/valid": ("lorehlt-mt",),
    "standoff/valid/full": ("seedev-binary", "seedev-full", *BIOTOPE),
    "hub4/valid/system.tpl": ("hub4",),
    "ccu-ta2/valid/responses.tsv": ("ccu-ta2",),
    "speech-sf/valid/submission.json": ("speech-sf",),
    "kb-tab/invalid": (),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_the_task_of_a_folder_or_a_file(name: str) -> None:
    found = inspect(FIXTURES / name)
    assert found.likeliest == FOLDERS[name]
    assert (found.size is None) == (found.kind == "folder")
    assert found.unpacked > 0


def test_a_hostile_archive_is_listed_and_not_read() -> None:
    found = inspect(FIXTURES / "source/invalid/SRC111-parent.tgz")
    assert not found.readable
    assert not found.passed
    assert [finding.code for finding in found.findings] == ["SRC111"]
    assert any(member.name.startswith("../") for member in found.members)


def test_the_type_of_what_is_no_file_is_listed() -> None:
    found = inspect(FIXTURES / "source/invalid/SRC112-symlink.zip")
    assert "symbolic link" in {member.type for member in found.members}


def test_names_are_listed_without_characters_that_steer_a_terminal() -> None:
    found = inspect(FIXTURES / "source/invalid/SRC111-control.tgz")
    assert found.members
    assert all(member.name.isprintable() for member in found.members)


def test_a_name_is_judged_also_where_nothing_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20221331_256161.tgz"
    shutil.copy(FIXTURES / "source/invalid/SRC104-no-member.tgz", path)
    assert [finding.code for finding in inspect(path).findings] == ["CCU204", "SRC104"]


def test_standard_input_and_streams_have_no_name() -> None:
    found = inspect(BytesIO(ND.read_bytes()))
    assert (found.kind, found.size, found.sha256) == ("tgz", None, None)
    assert found.likeliest == ("ccu-nd",)
    assert found.name == {}
    assert len(found.members) == 4


def test_it_is_plain_data_for_programs(tmp_path: Path) -> None:
    path = tmp_path / "run.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "nothing")
    built = inspect(path).to_dict()
    assert built["members"] == [{"name": "notes.txt", "type": "file", "size": 7}]
    assert (built["tasks"], built["unpacked"], built["findings"]) == ([], 7, [])


def test_an_archive_has_the_digest_that_packing_gave(tmp_path: Path) -> None:
    packed = pack("ccu-nd", FIXTURES / "ccu/valid/nd", tmp_path / SUB_ID.format("ND"))
    found = inspect(packed.path)
    assert (found.sha256, found.size, found.members) == (packed.sha256, packed.size, packed.members)
    assert all(isinstance(member, Listed) for member in found.members)


ARCHIVES = sorted(
    path
    for path in (FIXTURES / "source/invalid").iterdir()
    if path.name.startswith("SRC1") and path.is_file()
)
BY_CONTENT = {"SRC116-nested-by-content.tgz", "SRC105-checksum.zip"}
"""What the list does not show: it is found when a member is read, and none of it is given out."""


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name)
def test_every_fault_of_an_archive_is_shown(path: Path) -> None:
    found = inspect(path)
    code = path.name.partition("-")[0]
    wanted = [] if path.name in BY_CONTENT else [code]
    assert [finding.code for finding in found.findings if finding.code.startswith("SRC")] == wanted
    assert all(member.name.isprintable() for member in found.members)


def test_inspection_is_as_hard_to_surprise_as_validation(tmp_path: Path) -> None:
    """Bytes of archives that are changed one by one: something is shown, and nothing breaks."""
    data = ND.read_bytes()
    for at in range(0, len(data), 7):
        path = tmp_path / ND.name
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        found = inspect(path)
        assert found.findings or found.members


def test_a_file_that_cannot_be_read_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "run.zip"
    shutil.copy(FIXTURES / "source/invalid/SRC107-macos.zip", path)
    monkeypatch.setattr("hlteval.sources.opening.Spool.open", refuse)
    monkeypatch.setattr("hlteval.workflows.packages.file_sha256", refuse)
    found = inspect(path)
    assert [finding.code for finding in found.findings] == ["SRC108"]
    assert (found.sha256, found.readable) == (None, False)
