"""The verdict on every archive of the shared cases, as such and as a submission to a task."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hlteval import inspect, validate
from hlteval.findings import Finding
from hlteval.sources import Unreadable, open_source

EXPECTED = {
    "ok_mt.tgz": "",
    "ok_mt.zip": "",
    "ok_mt_dotslash.tgz": "",
    "ok_sf.zip": "",
    "ok_edl/NIST_EDL_CP1_1.tab.tgz": "",
    "ok_ccu/CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220531_050236.tgz": "",
    "A01_traversal.tgz": "SRC111",
    "A02_absolute.tgz": "SRC111",
    "A03_symlink.tgz": "SRC112",
    "A04_hardlink.tgz": "SRC112",
    "A05_device.tgz": "SRC112",
    "A06_fifo.tgz": "SRC112",
    "A08_dup.zip": "SRC113",
    "A09_case.zip": "SRC114",
    "A10_macos.zip": "SRC107",
    "A11_bomb.zip": "SRC124",
    "A12_nested.zip": "SRC116",
    "A13_backslash.zip": "SRC111",
    "A14_wrong_suffix.tar": "SRC102",
    "A15_zip_named.tgz": "SRC103",
    "A16_truncated.tgz": "SRC105",
    "A17_empty.tgz": "SRC104",
    "A21_zip_symlink.zip": "SRC112",
    "A22_latin1_name.tgz": "SRC117",
    "A23_many.zip": "",
    "A24_zeropad_gz.tgz": "SRC106",
}
"""The only code that is found. The other archives of the folder are faulty for a task only."""
ND = "CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220531_050236"
OF_TASKS = {
    **dict.fromkeys(("ok_mt.tgz", "ok_mt.zip", "ok_mt_dotslash.tgz"), ("lorehlt-mt", "")),
    "A07_subdir.tgz": ("lorehlt-mt", "MTV103"),
    "ok_sf.zip": ("lorehlt-sf", ""),
    "ok_edl/NIST_EDL_CP1_1.tab.tgz": ("lorehlt-edl", ""),
    f"ok_ccu/{ND}.tgz": ("ccu-nd", ""),
    "A18_sf_missing_tab.zip": ("lorehlt-sf", "LSF102"),
    "A19_sf_wrong_name.zip": ("lorehlt-sf", "LSF106"),
    "A20_sf_two_tabs.zip": ("lorehlt-sf", "LSF103 EDL401"),
    # The index names a file that the archive does not hold: SRC104 where there is no file at all.
    "ccu_bad/CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20221331_256161.tgz": ("ccu-nd", "CCU204 SRC104"),
    "ccu_bad/CCU_P3_TA1_XX_LCC_LDC2022R17-V1_20220531_050236.tgz": ("ccu-nd", "CCU204 CCS123"),
    f"ccu_bad/{ND}_copy.tgz": ("ccu-nd", "CCU203 CCU204 CCS123"),
}
"""The archives that are about a task: the task, and all codes that its validation finds."""
INSPECTED = {
    "A07_subdir.tgz": "MTV103",
    "A18_sf_missing_tab.zip": "LSF102",
    "A19_sf_wrong_name.zip": "",  # nothing in it is known
    "A20_sf_two_tabs.zip": "LSF103",
    "ccu_bad/CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20221331_256161.tgz": "CCU204 SRC104",
    "ccu_bad/CCU_P3_TA1_XX_LCC_LDC2022R17-V1_20220531_050236.tgz": "CCU204",
    f"ccu_bad/{ND}_copy.tgz": "CCU203 CCU204",
}
"""What `inspect` finds where that is not what is found of the archive as such."""
MEMBERS = {
    "ok_mt_dotslash.tgz": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
    "ok_sf.zip": ["system_output.json", "team_edl.tab"],
    "A10_macos.zip": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
    "A15_zip_named.tgz": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
    "A23_many.zip": [f"f{number:05}.ltf.xml" for number in range(3000)],
    "A24_zeropad_gz.tgz": ["NW_ARX_UZB_164780_20140900.ltf.xml"],
}


@pytest.fixture(scope="module")
def archives(shared: Path) -> Path:
    return shared / "cases" / "ltf-mt-packaging" / "archives"


def read(path: Path) -> tuple[list[str], list[Finding]]:
    source = open_source(str(path))
    findings = list(source.findings)
    for member in source.members:
        try:
            member.fetch()
        except Unreadable as reason:
            findings.append(reason.finding)
    return [member.name for member in source.members], findings


@pytest.mark.parametrize(("name", "code"), EXPECTED.items())
def test_the_verdict_is_the_expected_one(archives: Path, name: str, code: str) -> None:
    names, findings = read(archives / name)
    assert [finding.code for finding in findings] == ([code] if code else [])
    assert not names or not any(finding.blocking for finding in findings)


def test_warnings_and_errors_are_as_the_index_says(archives: Path, shared: Path) -> None:
    """The second column of the index: valid, warning or invalid."""
    index = (shared / "cases" / "ltf-mt-packaging" / "INDEX.md").read_text()
    verdicts = dict(
        (cell.strip() for cell in line.split("|")[1:3])
        for line in index.splitlines()
        if line.startswith("| archives/")
    )
    severities = {"valid": set(), "warning": {"warning"}, "invalid": {"error"}}
    for name in EXPECTED.keys() - {"A23_many.zip"}:  # a warning only where the limit is lower
        expected = severities[verdicts[f"archives/{name}"]]
        assert {finding.severity.value for finding in read(archives / name)[1]} == expected, name


@pytest.mark.parametrize("name", MEMBERS)
def test_the_members_that_are_read(archives: Path, name: str) -> None:
    assert read(archives / name)[0] == MEMBERS[name]


@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_the_content_is_that_of_the_document(archives: Path, shared: Path, kind: str) -> None:
    (member,) = open_source(str(archives / f"ok_mt.{kind}")).members
    assert member.size == len(member.fetch()) == 303
    assert member.fetch().startswith(b"<?xml")


def files(archives: Path) -> list[Path]:
    return sorted(path for path in archives.rglob("*") if path.is_file())


def test_these_are_all_archives(archives: Path) -> None:
    names = {path.relative_to(archives).as_posix() for path in files(archives)}
    assert names == EXPECTED.keys() | OF_TASKS.keys() | INSPECTED.keys()
    assert len(names) == 33


@pytest.mark.parametrize("name", OF_TASKS)
def test_the_verdict_of_a_task_is_the_expected_one(archives: Path, name: str) -> None:
    task, codes = OF_TASKS[name]
    verdict = validate(task, archives / name)
    # mention strings are shorter than their extents, and submissions of frames have none
    content = {"EDL319", "LSF311"}
    found = [item.code for item in verdict.findings if item.severity != "info"]
    assert [code for code in found if code not in content] == codes.split()
    assert verdict.passed == (not codes)


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() | INSPECTED.keys()))
def test_inspection_finds_what_is_wrong_with_the_archive(archives: Path, name: str) -> None:
    found = inspect(archives / name)
    codes = INSPECTED.get(name, EXPECTED.get(name, ""))
    # Flat archives and names are rules of tasks that only look like these.
    assert [finding.code for finding in found.findings] == codes.split()
    blocked = any(finding.blocking for finding in found.findings)
    assert found.readable == (not blocked and name != "A12_nested.zip")


WATCHED = """
import json, os, sys
outside = []

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        writes = any(letter in (mode or "") for letter in "wax+") or flags & (
            os.O_WRONLY | os.O_RDWR | os.O_CREAT
        )
    elif event in {"os.mkdir", "os.link", "os.symlink", "os.rename", "shutil.unpack_archive"}:
        path, writes = arguments[-2] if event == "os.mkdir" else arguments[1], True
    else:
        return
    if writes and isinstance(path, (str, bytes)):
        plain = os.path.realpath(os.fsdecode(path))
        if not f"{plain}/".startswith(os.environ["TMPDIR"] + "/") and plain != os.devnull:
            outside.append([event, plain])

import hlteval
[getattr(hlteval, name) for name in dir(hlteval)]
sys.addaudithook(watch)
most = {}
for path in sys.argv[1:]:
    found = hlteval.inspect(path)
    hlteval.validate((*found.likeliest, "ccu-nd")[0], path)
    # Not ru_maxrss, which begins with that of the process that started this one.
    (peak,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    most[path] = int(peak.split()[1]) // 1024
print(json.dumps({"outside": outside, "most": most}))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="has the memory of a process")
def test_nothing_is_written_outside_and_memory_stays_small(archives: Path, tmp_path: Path) -> None:
    """All archives one after the other, in one process, inspected and validated."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    here = tmp_path / "here"
    here.mkdir()
    listed = [str(path) for path in files(archives)]
    result = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED, *listed],
        check=True,
        cwd=here,
        capture_output=True,
        env={"TMPDIR": str(temporary), "PATH": "/usr/bin:/bin", "POLARS_MAX_THREADS": "1"},
        timeout=120,
    )
    found = json.loads(result.stdout)
    assert found["outside"] == []
    assert max(found["most"].values()) < 200
    assert [*here.iterdir()] == [*temporary.iterdir()] == []
