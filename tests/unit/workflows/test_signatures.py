"""Signatures of scores: what changes them, and what does not."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hlteval import score
from hlteval.results.verdict import Signature

DEMO = Path(__file__).parents[3] / "hlteval" / "demo"
FIXTURES = Path(__file__).parents[3] / "fixtures"
ONE_FILE = {
    "lorehlt-edl": (DEMO / "entities" / "reference.tab", DEMO / "entities" / "system.tab"),
    "speech-sf": (DEMO / "speech" / "annotations", DEMO / "speech" / "system.json"),
    "hub4": (DEMO / "templettes" / "reference.tpl", DEMO / "templettes" / "system.tpl"),
}


def system(task: str, reference: Path, path: Path, **options: object) -> str:
    """The digest of a submission."""
    scores = score(task, str(reference), str(path), **options)
    (found,) = Signature.parse(scores.signature).values("system")
    return found


def packed(path: Path, folder: Path) -> Iterator[Path]:
    """The same file under other names: renamed, in a folder, in archives, beside junk."""
    names = (f"other{path.suffix}", f"a b/deep/x{path.suffix}")
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        yield Path(shutil.copyfile(path, folder / name))
    with zipfile.ZipFile(folder / "run.zip", "w") as archive:
        archive.write(path, f"sub/run{path.suffix}")
        archive.writestr(f"__MACOSX/sub/._run{path.suffix}", b"junk")
        archive.writestr("sub/.DS_Store", b"junk")
    yield folder / "run.zip"
    with tarfile.open(folder / "run.tgz", "w:gz") as archive:
        archive.add(path, f"named{path.suffix}")
    yield folder / "run.tgz"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", ONE_FILE)
def test_the_name_of_a_single_file_does_not_matter(task: str, tmp_path: Path) -> None:
    reference, path = ONE_FILE[task]
    first = system(task, reference, path)
    assert {system(task, reference, other) for other in packed(path, tmp_path)} == {first}
    changed = tmp_path / path.name
    changed.write_bytes(path.read_bytes() + b"\n")
    assert system(task, reference, changed) != first


def test_names_that_are_documents_matter_but_junk_and_folders_do_not(tmp_path: Path) -> None:
    reference = FIXTURES / "standoff" / "valid" / "full"
    original = tmp_path / "original"
    original.mkdir()
    for path in reference.glob("*.a2"):
        shutil.copyfile(path, original / path.name)
    first = system("seedev-full", reference, original)
    shutil.copytree(original, tmp_path / "deep" / "run")
    (tmp_path / "deep" / "run" / ".DS_Store").write_bytes(b"junk")
    assert system("seedev-full", reference, tmp_path / "deep" / "run") == first
    archive = shutil.make_archive(str(tmp_path / "run"), "zip", tmp_path / "deep")
    assert system("seedev-full", reference, Path(archive)) == first
    names = sorted(path.name for path in (tmp_path / "deep" / "run").glob("*.a2"))
    moved = tmp_path / "deep" / "run" / names[0]
    moved.rename(moved.with_name("other.a2"))
    assert system("seedev-full", reference, tmp_path / "deep" / "run", lenient=True) != first


@pytest.fixture
def zones(tmp_path: Path) -> Callable[[str, str], dict[str, str]]:
    """Makes the two kinds of files that options name: one that is read as a corpus, one not."""

    def make(name: str, document: str) -> dict[str, str]:
        listed, zone = tmp_path / f"{name}.list", tmp_path / f"{name}.zones"
        listed.write_text(f"{document}\n", "utf-8")
        zone.write_text(f"{document}\t0\t1\n", "utf-8")
        return {"documents": str(listed), "exclude": str(zone)}

    return make


def test_files_of_options_are_named_by_their_content(
    zones: Callable[[str, str], dict[str, str]],
) -> None:
    reference, path = map(str, ONE_FILE["lorehlt-edl"])
    found = [
        Signature.parse(score("lorehlt-edl", reference, path, options=options).signature)
        for options in (zones("a", "D1"), zones("b", "D1"), zones("c", "D2"))
    ]
    for name in ("documents", "exclude"):
        (first,), (renamed,), (other,) = (each.values(name) for each in found)
        assert first == renamed != other


def test_a_value_is_no_file_though_a_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--by type` means the same in a folder that has a file `type`."""
    reference, path = map(str, ONE_FILE["lorehlt-edl"])
    (tmp_path / "type").write_text("something else", "utf-8")
    monkeypatch.chdir(tmp_path)
    scores = score("lorehlt-edl", reference, path, options={"by": "type"})
    assert Signature.parse(scores.signature).values("by") == ["type"]


def test_separators_in_values_survive() -> None:
    reference, path = map(str, ONE_FILE["speech-sf"])
    scores = score("speech-sf", reference, path, options={"place_separators": "|:,%"})
    assert Signature.parse(scores.signature).values("place_separators") == ["|:,%"]


def test_the_encoding_is_a_part_unless_it_is_utf_8() -> None:
    given = ("hub4", *map(str, ONE_FILE["hub4"]))
    assert Signature.parse(score(*given).signature).values("encoding") == []
    for name in ("latin-1", "LATIN1"):
        scores = score(*given, encoding=name)
        assert Signature.parse(scores.signature).values("encoding") == ["iso8859-1"]
