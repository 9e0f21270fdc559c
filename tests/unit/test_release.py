"""Releases: what is built does not depend on who builds it, and says what it is."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from house import release

ROOT = Path(__file__).parents[2]


def packed(path: Path, names: list[str], seconds: int, mode: int) -> Path:
    """A source distribution as somebody makes it."""
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.mtime, member.uname, member.uid, member.mode = seconds, "me", seconds, mode
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
    return path


def test_a_source_distribution_does_not_depend_on_who_makes_it(tmp_path: Path) -> None:
    first = packed(tmp_path / "a.tar.gz", ["x/b", "x/a"], 1, 0o664)
    second = packed(tmp_path / "b.tar.gz", ["x/a", "x/b"], 2, 0o600)
    assert first.read_bytes() != second.read_bytes()
    for path in (first, second):
        release.normalize(path, 1_700_000_000)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        members = archive.getmembers()
        assert [member.name for member in members] == ["x/a", "x/b"]
        assert {(member.mode, member.mtime, member.uname) for member in members} == {
            (0o644, 1_700_000_000, "")
        }
        assert archive.extractfile("x/b").read() == b"x/b"  # type: ignore[union-attr]


def test_builds_that_differ_are_no_release(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    one, other = tmp_path / "w", tmp_path / "a" / "w"
    one.write_bytes(b"1")
    other.write_bytes(b"2")
    assert release.check_equal([one], [one])["w"].startswith("6b86b273ff34fce1")
    with pytest.raises(release.Unfit, match="two builds differ"):
        release.check_equal([one], [other])


def test_addresses_are_those_that_are_given(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md"):
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    release.add_addresses(tmp_path, "https://example.org/us", "v1.0")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Source"] == "https://example.org/us"
    assert project["scripts"] == {"hlteval": "hlteval.cli:main"}
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert "](https://example.org/us/blob/v1.0/docs/start.md)" in readme
    assert "](docs/" not in readme


@pytest.mark.parametrize(
    ("tag", "heading", "reason"),
    [
        ("v1.0.1", "## 1.0.0, 2026-12-01", "the tag is v1.0.1, the version 1.0.0"),
        ("v1.0.0", "## 1.0.0, unreleased", "no line ## 1.0.0, YEAR-MONTH-DAY"),
        ("v1.0.0", "## 1.0.01, 2026-12-01", "no line ## 1.0.0, YEAR-MONTH-DAY"),
    ],
)
def test_a_tag_that_does_not_fit_is_refused(tag: str, heading: str, reason: str) -> None:
    with pytest.raises(release.Unfit, match=reason):
        release.check_tag(tag, f"# Changes\n\n{heading}\n", "1.0.0")


def test_the_notes_of_this_version_are_its_section() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    notes = release.notes(changelog)
    assert notes.startswith("### ")
    assert "\n## " not in notes
    assert notes in changelog
    with pytest.raises(release.Unfit, match="no section ## 9"):
        release.notes(changelog, "9")


@pytest.mark.thorough
@pytest.mark.packaging
@pytest.mark.long("both distributions are built twice")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a release is made of a commit")
def test_two_builds_of_a_commit_are_equal(tmp_path: Path) -> None:
    first = release.build("HEAD", tmp_path / "first", TZ="UTC")
    mask = os.umask(0o077)
    try:
        second = release.build("HEAD", tmp_path / "second", TZ="Asia/Tokyo")
    finally:
        os.umask(mask)
    assert len(release.check_equal(first, second)) == 2


def test_the_command_says_what_is_wrong() -> None:
    words = [sys.executable, "-m", "house.release", "build", "--tag", "v9"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("the tag is v9, the version ")
