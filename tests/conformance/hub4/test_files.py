"""The files of the sixteen cases: read, written, and checked against their corpora."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.converters.hub4.global_map import read_map
from hlteval.sources import open_source
from tests.runs import validate

CASES = (
    *("00_sample", "01_optional_missing", "02_optional_present", "03_pointers"),
    *("04_alternatives", "05_minimal_strings", "06_extents", "07_premodifiers", "08_whiteout"),
    *("09_glm_alignment", "10_noisy_tokens", "11_greedy_not_optimal", "12_unsegmented"),
    *("13_zero_f_optional", "14_layout", "15_optional_slot"),
)
# What the cases hold on purpose: code and line.
REFERENCES = {"04_alternatives": [("HUB214", 8), ("HUB214", 11)]}
SYSTEMS = {
    "03_pointers": [("HUB209", 7)],
    "04_alternatives": [("HUB303", 5), ("HUB214", 7)],
    "07_premodifiers": [("HUB303", 9)],
    "08_whiteout": [("HUB303", 8)],
    "10_noisy_tokens": [("HUB303", 5), ("HUB303", 6), ("HUB303", 7)],
}
OTHER_LAYOUT = {
    *("14_layout/reference.tpl", "14_layout/hypothesis.tpl", "15_optional_slot/reference.tpl")
}
"""Files that are not laid out as the specification's samples are."""


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    return shared / "cases" / "hub4"


def test_these_are_all_cases(cases: Path) -> None:
    assert {path.name for path in cases.glob("[0-9]*")} == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_a_reference_is_clean(cases: Path, case: str) -> None:
    folder = cases / case
    options = {"corpus": str(folder / "corpus.sgml")}
    verdict = validate("hub4", str(folder / "reference.tpl"), options=options, role="reference")
    found = [(finding.code, finding.span and finding.span.line) for finding in verdict.findings]
    assert found == REFERENCES.get(case, [])
    assert verdict.passed


@pytest.mark.parametrize("case", CASES)
def test_a_system_is_clean_but_for_what_the_case_is_about(cases: Path, case: str) -> None:
    folder = cases / case
    corpus = folder / "hyp_corpus.sgml"
    options = {"corpus": str(corpus if corpus.exists() else folder / "corpus.sgml")}
    if case == "12_unsegmented":
        options["unsegmented"] = "yes"
    verdict = validate("hub4", str(folder / "hypothesis.tpl"), options=options)
    found = [(finding.code, finding.span and finding.span.line) for finding in verdict.findings]
    assert sorted(found) == sorted(SYSTEMS.get(case, []))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("side", ["reference", "hypothesis"])
@pytest.mark.parametrize("case", CASES)
def test_a_file_is_written_as_it_was(cases: Path, case: str, side: str, tmp_path: Path) -> None:
    path = cases / case / f"{side}.tpl"
    kept, again = tmp_path / "kept.jsonl", tmp_path / "again.tpl"
    assert convert(str(path), str(kept)) == []
    findings = convert(str(kept), str(again), to_format="hub4")
    if f"{case}/{side}.tpl" in OTHER_LAYOUT:
        assert [finding.code for finding in findings] in ([], ["CNV102"])
        before, after = (
            read(str(item))[0].fills.drop("record", "quoted") for item in (path, again)
        )
        assert before.equals(after)
    else:
        assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_a_corpus_is_written_as_it_was(cases: Path, case: str, tmp_path: Path) -> None:
    paths = list((cases / case).glob("*.sgml"))
    assert paths
    for path in paths:
        again = tmp_path / path.name
        assert convert(str(path), str(again)) == []
        assert again.read_bytes() == path.read_bytes()


def test_each_extent_of_the_sample_holds_its_text(cases: Path) -> None:
    folder = cases / "00_sample"
    documents, findings = read(str(folder / "corpus.sgml"))
    assert findings == []
    texts = dict(documents.documents.select("name", "text").iter_rows())
    corpus, _ = read(str(folder / "reference.tpl"))
    names = dict(corpus.documents.select("row", "name").iter_rows())
    count = 0
    for fill in corpus.fills.filter(corpus.fills["extents"].is_not_null()).iter_rows(named=True):
        parts = [{"start": 0, "end": len(fill["text"])}, *(fill["brackets"] or [])]
        for part, extent in zip(parts, fill["extents"], strict=True):
            stands = texts[names[fill["document"]]][extent["start"] : extent["end"]]
            assert stands.replace("\n", " ") == fill["text"][part["start"] : part["end"]]
            count += 1
    assert count == 13


def test_a_sample_with_line_ends_of_two_characters_is_told_once(
    cases: Path, tmp_path: Path
) -> None:
    folder = cases / "00_sample"
    corpus = tmp_path / "corpus.sgml"
    written = (folder / "corpus.sgml").read_bytes().replace(b"\n", b"\r\n")
    corpus.write_bytes(written)
    path = str(folder / "hypothesis.tpl")
    assert validate("hub4", path, options={"corpus": str(corpus)}).findings == ()
    raw = {"corpus": str(corpus), "line_ends": "as-written"}
    codes = [finding.code for finding in validate("hub4", path, options=raw).findings]
    assert codes
    assert set(codes) <= {"HUB303", "HUB305"}


@pytest.mark.parametrize("case", CASES)
def test_the_format_of_each_file_is_told_from_it(cases: Path, case: str) -> None:
    formats = {".tpl": "hub4", ".sgml": "sgml-corpus"}
    paths = [path for path in (cases / case).iterdir() if path.suffix in formats]
    assert paths
    for path in paths:
        source = open_source(str(path))
        for name in formats.values():
            assert load(name).sniff(source) == (name == formats[path.suffix])


def test_the_maps_are_read(cases: Path) -> None:
    for path in ("align/demo.glm", "09_glm_alignment/map.glm"):
        found, findings = read_map(open_source(str(cases / path)).members[0])
        assert findings == []
        assert found.rules[0].target == "THEATER"
        assert not found.case_sensitive
    demo, _ = read_map(open_source(str(cases / "align/demo.glm")).members[0])
    assert [rule.source for rule in demo.rules] == [
        *("THEATRE", "CEASEFIRE", "AIR LINES", "UH", "UM", "GONNA")
    ]
    assert {(rule.left, rule.right) for rule in demo.rules} == {(" ", " ")}
