"""LTF: the plan's sample, the cases, and four files as LDC releases them."""

from __future__ import annotations

import hashlib
import re

import polars as pl
import pytest

from hlteval import convert, read, validate

BASE = "cases/ltf-mt-packaging"
REAL = "cases/lorehlt-sf/SEC_test1/setE/data/monolingual_text/eng/ltf"
NO_FINDINGS = (f"{BASE}/ltf", f"{BASE}/syn_valid/ltf", REAL)

# case: code, line, what is pointed at, a word of the message or the help
CASES = {
    "L01_halfopen": ("LTF501", 4, "L01_halfopen", "one past the end"),
    "L02_md5": ("LTF504", 4, "0" * 32, "differs from the annotated text"),
    "L03_len": ("LTF503", 4, "10", "make up 62 code points"),
    "L04_filename": ("LTF201", 4, "NW_ARX_UZB_164780_20140900", "rename the file"),
    "L05_overlap": ("LTF303", 14, "30", "move the segment to 33"),
    "L07_tokentext": ("LTF404", 10, "Kim", '"kim"'),
    "L08_tokenoutside": ("LTF401", 21, "157", "its segment 33-61"),
    "L09_noorig": ("LTF305", 6, '<SEG id="segment-0" start_char="0" end_char="31">', "cannot be"),
    "L10_nonint": ("LTF104", 6, "0x0", "0x0"),
    "L12_truncated": ("XML101", 15, "", "unexpected end of file inside <ORIGINAL_TEXT> of line 15"),
    "L13_latin1": ("SRC201", 7, "\ufffd", "Latin-1"),
    "L14_entity": ("XML102", 2, "[", "contains declarations"),
    "L15_xxe": ("XML102", 2, "[", "contains declarations"),
    "L16_nodoctype": ("LTF101", 2, "<LCTL_TEXT>", "DTD"),
    "L17_gapspace": ("LTF504", 4, "4daeb9e40f9e190fb2dbf9e07bae67b0", "a space between segments"),
    "TST_SN_000001_20190716_ASTRAL001_bytes": ("LTF501", 4, None, "UTF-8 bytes"),
    "TST_SN_000001_20190716_ASTRAL001_utf16": ("LTF501", 4, None, "UTF-16 code units"),
}
TWO = {
    "L06_dupseg": [("LTF202", 14, "segment-0"), ("LTF206", 16, "token-1-0")],
    "L11_attr": [("XML107", 5, "1"), ("XML105", 14, "<FOO/>")],
}
WARNINGS = {"L04_filename", "L09_noorig", "L16_nodoctype"}


def pointed(finding) -> str:
    """What the span of a finding covers."""
    span, shown = finding.span, finding.excerpt
    return shown.text[span.column - 1 - shown.offset : span.end_column - 1 - shown.offset]


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_one_finding(shared, name):
    code, line, what, word = CASES[name]
    verdict = validate("ltf", str(shared / BASE / "ltf_bad" / f"{name}.ltf.xml"))
    assert [(finding.code, finding.span.line) for finding in verdict.findings] == [(code, line)]
    (only,) = verdict.findings
    assert pointed(only) == (name if what is None else what)
    assert word in f"{only.message} {only.help}"
    assert verdict.passed == (name in WARNINGS)


@pytest.mark.parametrize("name", TWO)
def test_a_case_has_its_two_findings(shared, name):
    verdict = validate("ltf", str(shared / BASE / "ltf_bad" / f"{name}.ltf.xml"))
    assert [
        (finding.code, finding.span.line, pointed(finding)) for finding in verdict.findings
    ] == TWO[name]
    assert not verdict.passed


def test_these_are_all_cases(shared):
    files = {path.name.removesuffix(".ltf.xml") for path in (shared / BASE / "ltf_bad").iterdir()}
    assert files == {*CASES, *TWO}


def test_the_folder_has_the_findings_of_its_files(shared):
    together = validate("ltf", str(shared / BASE / "ltf_bad"))
    alone = dict.fromkeys(together.by_code, 0)
    for code in [
        *(case[0] for case in CASES.values()),
        *(item[0] for c in TWO.values() for item in c),
    ]:
        alone[code] = alone.get(code, 0) + 1
    assert together.by_code == alone


@pytest.mark.parametrize("folder", NO_FINDINGS)
def test_valid_files_have_no_finding_and_rebuild_to_their_digest(shared, folder):
    assert validate("ltf", str(shared / folder)).findings == ()
    corpus, _ = read(str(shared / folder))
    declared = corpus.attributes.filter(name="raw_text_md5").select("document", "value")
    texts = corpus.documents["text"].to_list()
    digests = [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in texts]
    assert digests == declared.sort("document")["value"].to_list()
    assert len(digests) == len(list((shared / folder).iterdir()))


@pytest.mark.parametrize("folder", NO_FINDINGS)
@pytest.mark.parametrize("between", ["ltf", "jsonl", "corpus"])
def test_valid_files_are_written_byte_by_byte(shared, folder, between, tmp_path):
    middle = str(tmp_path / f"middle.{between}")
    assert convert(str(shared / folder), middle, to_format=between) == []
    assert convert(middle, str(tmp_path / "out"), to_format="ltf", strict_loss=True) == []
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == sorted(p.name for p in (shared / folder).iterdir())
    for file in files:
        assert file.read_bytes() == (shared / folder / file.name).read_bytes()


def test_raw_texts_are_those_of_the_cases(shared, tmp_path):
    for folder in ("syn_valid/ltf", "ltf"):
        convert(str(shared / BASE / folder), str(tmp_path / folder[:3]), to_format="rsd")
    for path in [*(shared / BASE / "syn_valid/rsd").iterdir(), *(shared / BASE / "rsd").iterdir()]:
        made = tmp_path / ("syn" if "syn_valid" in str(path) else "ltf") / path.name
        assert made.read_bytes() == path.read_bytes()


def test_raw_texts_become_valid_documents_again(shared, tmp_path):
    convert(str(shared / BASE / "syn_valid/rsd"), str(tmp_path / "ltf"), to_format="ltf")
    assert validate("ltf", str(tmp_path / "ltf")).findings == ()
    convert(str(tmp_path / "ltf"), str(tmp_path / "rsd"), to_format="rsd")
    for path in (shared / BASE / "syn_valid/rsd").iterdir():
        assert (tmp_path / "rsd" / path.name).read_bytes() == path.read_bytes()


def test_simple_tokens_of_english_news_are_those_of_ldc(shared, tmp_path):
    convert(str(shared / REAL), str(tmp_path / "rsd"), to_format="rsd")
    convert(str(tmp_path / "rsd"), str(tmp_path / "ltf"), to_format="ltf")
    columns = ("document", "start", "end", "text", "pos", "name")
    made, _ = read(str(tmp_path / "ltf"))
    released, _ = read(str(shared / REAL))
    assert made.tokens.select(columns).equals(released.tokens.select(columns))
    assert made.segments.select("name", "start").equals(released.segments.select("name", "start"))


def sample(shared) -> str:
    """The example of section 8.2.1, as it is printed."""
    plan = (shared / "specs/lorehlt-2019.txt").read_text("utf-8")
    section = plan.split("## 8.2.1 Input Text Source Format")[1]
    return section.split("```")[1].lstrip("\n")


def test_the_sample_of_the_plan_stands_for_a_longer_document(shared, tmp_path):
    """The plan breaks its own rule: `...` in TEXT is no LTF, and stands for 1,719 characters.

    Length and digest are those of the whole document, so they cannot be those of the two segments
    that are printed. Everything that can be checked is right: both segments and all eleven tokens.
    """
    path = tmp_path / "NW_ARX_UZB_164780_20140900.ltf.xml"
    path.write_text(sample(shared), "utf-8")
    found = validate("ltf", str(path)).findings
    assert [(item.code, pointed(item)) for item in found] == [
        ("LTF504", "1511bf44675b0256adc190a7b96e14bd"),
        ("XML109", "<TEXT>"),
    ]
    corpus, _ = read(str(path))
    text = corpus.documents["text"][0]
    assert len(text) == 1781
    assert text.rstrip("\n") == "Emlashni birinchi kim boshlagan?\nPereyti k: navigatsiya, poisk"
    spans = corpus.tokens.select("start", "end", "text").rows()
    assert [text[start:end] for start, end, _ in spans] == [token for *_, token in spans]
    assert corpus.segments.height == 2
    assert corpus.tokens.height == 11


def test_the_sample_is_valid_once_it_is_completed(shared, tmp_path):
    path = tmp_path / "NW_ARX_UZB_164780_20140900.ltf.xml"
    complete = sample(shared).replace("      ...\n", "")
    text = "Emlashni birinchi kim boshlagan?\nPereyti k: navigatsiya, poisk\n"
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    complete = re.sub('length="[0-9]+"', f'length="{len(text)}"', complete)
    path.write_text(re.sub('md5="[0-9a-f]+"', f'md5="{digest}"', complete), "utf-8")
    assert validate("ltf", str(path)).findings == ()
    written = tmp_path / "out"
    convert(str(path), str(written), to_format="ltf")
    assert (written / path.name).read_bytes() == (shared / BASE / "ltf" / path.name).read_bytes()


def test_counts_are_those_of_the_manifest(shared):
    import json

    manifest = json.loads((shared / BASE / "syn_valid/manifest.json").read_text("utf-8"))
    corpus, _ = read(str(shared / BASE / "syn_valid/ltf"))
    segments = corpus.segments.group_by(row="document").agg(segments=pl.len())
    documents = corpus.documents.join(segments, on="row")
    ours = {
        (name, language, count, len(text), len(text.encode()), len(text.encode("utf-16-le")) // 2)
        for name, language, count, text in documents.select(
            "name", "language", "segments", "text"
        ).iter_rows()
    }
    keys = ("doc", "lang", "segs", "chars", "utf8_bytes", "utf16_units")
    assert ours == {tuple(item[key] for key in keys) for item in manifest["docs"]}


def test_beside_the_raw_text_a_gap_may_be_anything(shared, tmp_path):
    """Without it, the blank of L17 between two segments cannot be told from a damaged text."""
    bad = shared / BASE / "ltf_bad/L17_gapspace.ltf.xml"
    folder, raw = tmp_path / "ltf", tmp_path / "rsd"
    folder.mkdir()
    raw.mkdir()
    (folder / bad.name).write_bytes(bad.read_bytes())
    text = (shared / BASE / "rsd/NW_ARX_UZB_164780_20140900.rsd.txt").read_text("utf-8")
    (raw / "L17_gapspace.rsd.txt").write_text(text.replace("\nPereyti", " Pereyti"), "utf-8")
    assert validate("ltf", str(folder), against=str(raw)).findings == ()
    assert list(validate("ltf", str(folder)).by_code) == ["LTF504"]


def test_documents_are_checked_beside_their_raw_texts(shared):
    folder = shared / BASE / "syn_valid"
    assert validate("ltf", str(folder / "ltf"), against=str(folder / "rsd")).findings == ()
