"""The six real corpora: nothing is lost in reading, writing and converting them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from hlteval import convert, read, validate
from hlteval.findings import Finding

# documents, entities, events, negations
CORPORA = {
    "BioNLP-ST-2016_SeeDev-binary_dev": (19, 1607, 819, 0),
    "BioNLP-ST-2016_SeeDev-binary_train": (39, 3259, 1628, 0),
    "BioNLP-ST-2016_SeeDev-full_dev": (19, 1607, 594, 20),
    "BioNLP-ST-2016_SeeDev-full_train": (39, 3259, 1169, 49),
    "BioNLP-ST-2019_SeeDev-binary_test": (29, 2216, 0, 0),
    "BioNLP-ST-2019_SeeDev-full_test": (29, 2216, 0, 0),
}
# The gold does repeat itself: what is found in it, and nothing else, and no error.
FOUND = {
    "BioNLP-ST-2016_SeeDev-binary_dev": {"SEE305": 3},
    "BioNLP-ST-2016_SeeDev-binary_train": {"SEE305": 5},
    "BioNLP-ST-2016_SeeDev-full_dev": {"SEE301": 3},
    # A ninth event has the arguments of an earlier one, but only one of them is negated.
    "BioNLP-ST-2016_SeeDev-full_train": {"SEE301": 8, "SEE305": 4},
    "BioNLP-ST-2019_SeeDev-binary_test": {},
    "BioNLP-ST-2019_SeeDev-full_test": {},
}
REPEATED = {
    ("SeeDev-full-10662856-2.a2", 11, "E11"),
    ("SeeDev-full-10662856-2.a2", 12, "E12"),
    ("SeeDev-full-15708976-3.a2", 62, "E62"),
    ("SeeDev-full-15708976-3.a2", 75, "E75"),
    ("SeeDev-full-17158584-1.a2", 24, "E24"),
    ("SeeDev-full-21123653-1.a2", 5, "E5"),
    ("SeeDev-full-21123653-5.a2", 12, "E12"),
    ("SeeDev-full-21123653-5.a2", 47, "E47"),
}


def archive(shared: Path, name: str) -> Path:
    return shared / "cases" / "seedev" / "corpora" / f"{name}.zip"


def contents(path: Path) -> dict[str, bytes]:
    """The files of a corpus by name, those that are no annotation left out."""
    with zipfile.ZipFile(path) as opened:
        names = [name for name in opened.namelist() if name.endswith((".txt", ".a1", ".a2"))]
        return {name.rpartition("/")[2]: opened.read(name) for name in names}


def written(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def beside_notes(findings: list[Finding]) -> list[Finding]:
    """The findings but for the one that lists the notes of an archive, which nobody reads."""
    return [f for f in findings if f.code != "CNV104" or "README" not in f.message]


@pytest.mark.parametrize("name", CORPORA)
def test_everything_is_read(name: str, shared: Path) -> None:
    corpus, findings = read(str(archive(shared, name)))
    tables = (corpus.documents, corpus.mentions, corpus.frames, corpus.modifiers)
    assert tuple(table.height for table in tables) == CORPORA[name]
    assert (beside_notes(findings), corpus.rejected_records.height) == ([], 0)
    assert corpus.documents["text"].null_count() == 0


@pytest.mark.parametrize("name", CORPORA)
def test_every_file_is_written_back_byte_by_byte(name: str, shared: Path, tmp_path: Path) -> None:
    path = archive(shared, name)
    assert beside_notes(convert(str(path), str(tmp_path / "out"), to_format="standoff")) == []
    assert written(tmp_path / "out") == contents(path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("suffix", ["corpus", "jsonl"])
@pytest.mark.parametrize("name", CORPORA)
def test_a_round_trip_loses_nothing(name: str, suffix: str, shared: Path, tmp_path: Path) -> None:
    path, kept = archive(shared, name), tmp_path / f"kept.{suffix}"
    assert beside_notes(convert(str(path), str(kept))) == []
    assert read(str(kept))[0] == read(str(path))[0]
    assert convert(str(kept), str(tmp_path / "out"), to_format="standoff") == []
    assert written(tmp_path / "out") == contents(path)


@pytest.mark.parametrize("name", CORPORA)
def test_the_gold_has_no_error(name: str, shared: Path) -> None:
    task = "seedev-full" if "full" in name else "seedev-binary"
    verdict = validate(task, str(archive(shared, name)))
    assert verdict.passed
    assert verdict.by_severity["error"] == 0
    assert verdict.by_code == FOUND[name]


def test_the_repeated_events_are_the_right_ones(shared: Path) -> None:
    """A list made from the files themselves."""
    path = archive(shared, "BioNLP-ST-2016_SeeDev-full_train")
    findings = validate("seedev-full", str(path)).findings
    repeated = {
        ((finding.file or "").rpartition("/")[2], finding.span.line, finding.record)
        for finding in findings
        if finding.code == "SEE301" and finding.span
    }
    assert repeated == REPEATED


def test_the_sentences_are_read(shared: Path) -> None:
    path = shared / "cases" / "seedev" / "corpora" / "SeeDev-sentences.txt"
    corpus, findings = read(str(path))
    assert findings == []
    assert (corpus.documents.height, corpus.segments.height) == (87, 1368)
    assert not corpus.documents["name"].str.contains("full").any()
