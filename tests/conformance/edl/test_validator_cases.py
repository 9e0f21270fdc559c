"""The public validator of LoReHLT EDL: its verdict case by case, and what the plan says instead."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from hlteval import read, validate
from hlteval.representation import Corpus, of_documents

# What the profile plan tells of each case: the line of a finding, its code, W for a warning and I
# for an info. Cases that are not named are clean.
PLAN = {
    "01_field_count_7": "3 EDL201",
    "02_field_count_9": "3 EDL201",
    "03_trailing_tab": "3 EDL211",
    "04_empty_last_field": "3 EDL201",
    "05_missing_run_id": "3 EDL301",
    "06_inconsistent_run_id": "3 EDL302",
    "06b_run_id_1_sentinel": "2 EDL302",
    "07_missing_mention_id": "3 EDL303",
    "08_duplicate_mention_id": "3 EDL304",
    "09_missing_mention_string": "3 EDL305",
    "10_missing_entity_id": "3 EDL306",
    "11_missing_entity_type": "3 EDL309",
    "12_unsupported_entity_type_FAC": "3 EDL309",
    "13_entity_type_lowercase": "3 EDL309",
    "14_missing_mention_type": "3 EDL310",
    "15_mention_type_NOM": "3 EDL311W",
    "16_confidence_blank": "3 EDL312",
    "17_confidence_word": "3 EDL313",
    "18_confidence_gt1": "3 EDL314",
    "19_confidence_negative": "3 EDL314",
    "20_confidence_exponent": "3 EDL315",
    "21_confidence_zero": "3 EDL314",
    "22_confidence_no_point": "3 EDL315",
    "23_confidence_two_points": "3 EDL313, 4 EDL313",
    "24_missing_span": "3 EDL202",
    "25_missing_colon": "3 EDL203",
    "26_missing_docid": "3 EDL204",
    "27_offset_format_letters": "3 EDL205",
    "28_offset_space_after_colon": "3 EDL216",
    "29_offset_en_dash": "3 EDL216",
    "30_offset_reversed": "3 EDL316",
    "31_second_colon_tail": "3 EDL212",
    "32_docid_with_colon": "3 EDL215",
    "33_offset_unicode_digits": "3 EDL213",
    "34_duplicate_line": "3 EDL401",
    "35_same_span_diff_fields": "3 EDL302, 3 EDL402, 3 EDL311W",
    "36_same_span_only_string_differs": "3 EDL402",
    "37_same_span_leading_zero": "3 EDL402",
    "38_nested_second_in_first": "3 EDL403W",
    "39_nested_first_in_second": "1 EDL403W",
    "40_interleaved": "3 EDL404W",
    "42_blank_line": "2 EDL103W, 3 EDL103W",
    "43_crlf": "0 EDL104W",
    "44_bom": "0 SRC202I",
    "45_invalid_utf8": "2 SRC201",
    "47_empty_file": "0 EDL101",
    "48_header_line": "1 EDL102",
    "49_nil_without_digits": "3 EDL307, 4 EDL307, 5 EDL307, 6 EDL307, 7 EDL308",
    "50_nil_and_type_case_space": "3 EDL309",
    "51_docid_with_space": "3 EDL214",
    "52_many_errors": "1 EDL305, 1 EDL309, 1 EDL313, 2 EDL404W, 2 EDL306, 3 EDL205, 4 EDL201",
    "53_space_only_trailing": "1 EDL315",
    # the plan's own sample: its identifiers are Freebase's, but field 5 says they are numeric
    "54_plan_sample_as_8_fields": "1 EDL307, 2 EDL307, 4 EDL307",
    # as the plan prints it, identifier and string of a mention share one of seven columns
    "55_plan_sample_as_7_columns": "1 EDL201",
}
WITH_LIST = {
    "63_eval_both": "evallist_both.txt",
    "64_eval_one": "evallist.txt",
    "65_eval_none": "evallist_none.txt",
    "66_eval_crlf_list": "evallist_crlf.txt",
    "67_eval_crlf_tab": "evallist_both.txt",
    "68_eval_blank_lines": "evallist_both.txt",
    "69_eval_duptype": "evallist_both.txt",
    "71_eval_conf_blank": "evallist_both.txt",
}


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "cases" / "edl" / "validator"


def peer(path: Path) -> tuple[str, bool]:
    """What the official validator wrote, and whether it passed the submission."""
    written = path.read_bytes().decode().replace("\r", "")  # it leaves CR after confidences
    (status,) = re.findall(r"^--- exit ([0-9])$", written, re.MULTILINE)
    return written, status == "0"


def notation(found: tuple) -> str:
    """Findings as the table above has them."""
    levels = {"error": "", "warning": "W", "info": "I"}
    return ", ".join(
        f"{finding.span.line if finding.span else 0} {finding.code}{levels[finding.severity]}"
        for finding in found
    )


def test_every_case_is_looked_at(cases: Path) -> None:
    names = {path.stem for path in cases.glob("*.tab")}
    assert names >= PLAN.keys()
    assert names - PLAN.keys() == {"00_good", "41_touching_spans_ok", "46_no_final_newline"}


def names() -> list[str]:
    return [*PLAN, "00_good", "41_touching_spans_ok", "46_no_final_newline"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", names())
def test_official_gives_the_verdict_of_the_validator(cases: Path, name: str) -> None:
    verdict = validate("lorehlt-edl", str(cases / f"{name}.tab"), profile="official")
    _, passed = peer(cases / f"{name}.out")
    assert verdict.passed is passed


@pytest.mark.parametrize("name", names())
def test_plan_tells_what_is_wrong_and_where(cases: Path, name: str) -> None:
    verdict = validate("lorehlt-edl", str(cases / f"{name}.tab"))
    # mention strings of these cases are longer or shorter than their extents
    others = tuple(item for item in verdict.findings if item.code != "EDL319")
    assert notation(others) == PLAN.get(name, "")
    assert verdict.passed is all(finding.severity != "error" for finding in verdict.findings)
    assert all(finding.help for finding in verdict.findings)


def test_another_extension_is_refused_by_the_official_validator(
    cases: Path, tmp_path: Path
) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes((cases / "00_good.tab").read_bytes())
    assert not peer(cases / "60_wrong_extension.out")[1]
    official = validate("lorehlt-edl", str(path), profile="official")
    assert not official.passed
    assert notation(official.findings) == "0 EDL108W"
    assert validate("lorehlt-edl", str(path)).passed


def listed(cases: Path, case: str) -> tuple[Path, Path]:
    """The submission and the list of a case."""
    written, _ = peer(cases / f"{case}.out")
    (arguments,) = re.findall(r"^args (\S+) (\S+)$", written, re.MULTILINE)
    assert arguments[1] == WITH_LIST[case]
    return cases / arguments[0], cases / arguments[1]


@pytest.mark.parametrize("case", WITH_LIST)
def test_official_gives_the_verdict_with_a_list(cases: Path, case: str) -> None:
    path, names = listed(cases, case)
    options = {"documents": str(names)}
    verdict = validate("lorehlt-edl", str(path), profile="official", options=options)
    assert verdict.passed is peer(cases / f"{case}.out")[1]


def taken(corpus: Corpus) -> set[tuple[str, ...]]:
    """The mentions as the official validator hands them on."""
    rows = corpus.mentions.join(corpus.documents.select("name", document="row"), on="document")
    written = pl.coalesce("confidence_text", pl.col("confidence").cast(pl.String))
    columns = rows.select(
        "name", pl.col("start").cast(pl.String), (pl.col("end") - 1).cast(pl.String),
        "entity", written, "label",
    )  # fmt: skip
    return set(columns.rows())


@pytest.mark.parametrize("case", WITH_LIST)
def test_the_same_mentions_are_scored_under_a_list(cases: Path, case: str) -> None:
    path, names = listed(cases, case)
    written = peer(cases / f"{case}.out")[0]
    everything = written.partition("_all_eval.tab.combined.tsv\n")[2].partition("--- file")[0]
    wanted = {tuple(line.split("\t")) for line in everything.split("\n") if line}
    corpus, _ = read(str(path))
    found = taken(of_documents(corpus, read(str(names))[0].documents["name"]))
    if case == "66_eval_crlf_list":  # the CR is part of each of its names there: nothing is scored
        assert not wanted
        assert found == {("ENG_DOC1", "10", "14", "1000001", "1.0", "GPE")}
    else:
        assert found == wanted


def test_no_list_is_an_error_of_usage(cases: Path) -> None:
    assert "cannot open nosuchlist" in peer(cases / "70_eval_nolist.out")[0]
    options = {"documents": str(cases / "nosuchlist")}
    with pytest.raises(FileNotFoundError):
        validate("lorehlt-edl", str(cases / "00_good.tab"), options=options)
    with pytest.raises(FileNotFoundError):
        validate("lorehlt-edl", str(cases / "nosuch.tab"))


@pytest.mark.parametrize("name", ["reference_with_header", "gold", "system"])
def test_the_annotations_of_ldc_are_refused_for_two_nested_mentions(
    shared: Path, name: str
) -> None:
    path = shared / "cases" / "edl" / "ldc_edl" / f"{name}.tab"
    official = validate("lorehlt-edl", str(path), profile="official")
    assert not official.passed
    assert official.by_code["EDL403"] == 2
    head = {"reference_with_header": {"EDL102"}, "system": {"EDL104"}}.get(name, set())
    assert set(official.by_code) == {"EDL403", *head}


def test_the_mentions_of_ldc_are_in_its_texts(shared: Path) -> None:
    texts = shared / "cases/lorehlt-sf/SEC_test1/setE/data/monolingual_text/eng/ltf"
    path = shared / "cases" / "edl" / "ldc_edl" / "gold.tab"
    verdict = validate("lorehlt-edl", str(path), against=str(texts))
    assert set(verdict.by_code) == {"EDL403"}


def sample(shared: Path) -> list[list[str]]:
    """The sample of section 17.4, as the plan prints it: a row of cells a mention."""
    plan = (shared / "specs" / "lorehlt-2019.txt").read_text("utf-8")
    rows = re.findall(r"^\| NIST (.*) \|$", plan, re.MULTILINE)
    return [["NIST", *(cell.strip() for cell in row.strip("| ").split("|"))] for row in rows]


def test_the_sample_of_the_plan_breaks_its_own_rules(shared: Path, tmp_path: Path) -> None:
    rows = sample(shared)
    assert [len(row) for row in rows] == [7] * 4  # mention id and string share a cell
    path = tmp_path / "sample.tab"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    assert notation(validate("lorehlt-edl", str(path)).findings) == ", ".join(
        f"{line} EDL201" for line in (1, 2, 3, 4)
    )
    mended = ["\t".join([row[0], *row[1].split(" ", 1), *row[2:]]) for row in rows]
    path.write_text("\n".join(mended) + "\n", "utf-8")
    # field 5 is "numeric" or NIL and digits; these are identifiers of Freebase
    assert notation(validate("lorehlt-edl", str(path)).findings) == "1 EDL307, 2 EDL307, 4 EDL307"
    corpus, _ = read(str(path))
    lengths = corpus.mentions["end"] - corpus.mentions["start"]
    assert lengths.to_list() == corpus.mentions["text"].str.len_chars().to_list()
