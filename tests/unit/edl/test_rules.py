"""Rules of entity discovery and linking in detail: hints, texts, lists, the knowledge base."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hlteval import convert, validate
from hlteval.converters.corpus.parquet import save
from hlteval.findings import Finding
from hlteval.representation import Corpus

GOOD = ("T", "m1", "Paris", "ENG_D1:10-14", "1000001", "GPE", "NAM", "1.0")
FIELDS = ("run", "mention", "text", "extent", "entity", "type", "kind", "confidence")
Check = Callable[..., list[Finding]]


def line(**fields: str) -> str:
    return "\t".join(fields.get(name, value) for name, value in zip(FIELDS, GOOD, strict=True))


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(*lines: str, texts: dict[str, str] | None = None, **options: str) -> list[Finding]:
        path = tmp_path / "run.tab"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        against = str(tmp_path / "texts") if texts else None
        if texts:
            rows = [{"row": n, "name": k, "text": v} for n, (k, v) in enumerate(texts.items())]
            save(Corpus(documents=rows), tmp_path / "texts")
        named = {}
        for name, content in options.items():
            named[name] = str(tmp_path / name)
            Path(named[name]).write_text(content, "utf-8")
        return list(validate("lorehlt-edl", str(path), against=against, options=named).findings)

    return run


@pytest.mark.parametrize(
    ("field", "value", "code", "hint"),
    [
        ("entity", "nil3", "EDL307", "write NIL3"),
        ("entity", " 77", "EDL307", "write 77"),
        ("entity", "NIL_3", "EDL307", "write NIL and digits only"),
        ("entity", "/m/06t2t", "EDL307", "looks like a Freebase identifier"),
        ("entity", "Q42", "EDL307", "a number of the knowledge base, or NIL"),
        ("type", "gpe ", "EDL309", "write GPE"),
        ("type", "FAC", "EDL309", "write LOC"),
        ("type", "PERSON", "EDL309", "write PER"),
        ("type", "Organization", "EDL309", "write ORG"),
        ("type", "WEA", "EDL309", "GPE, LOC, ORG or PER"),
        ("kind", "nam", "EDL310", "write NAM"),
        ("kind", "PRO", "EDL310", "NOM for a nominal"),
        ("confidence", "0,5", "EDL313", "with a decimal point"),
        ("confidence", "1e-3", "EDL315", "write 0.001"),
        ("confidence", "+0.5", "EDL315", "write 0.5"),
        ("confidence", "1.0 ", "EDL315", "write 1.0"),
        ("extent", "ENG_D1: 10 \u2013 14", "EDL216", "write 10-14"),
        ("extent", "ENG_D1:\u0661\u0660-\u0661\u0664", "EDL213", "write 10-14"),
        ("extent", "ENG_D1:14-10", "EDL316", "did you mean 10-14?"),
    ],
)
def test_a_finding_says_what_to_do(
    check: Check, field: str, value: str, code: str, hint: str
) -> None:
    (finding,) = check(line(**{field: value}))
    assert finding.code == code
    assert hint in (finding.help or "")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("\t".join(GOOD[:7]) + "\t", "add the confidence"),
        (f"{line()}\r{line()}", "separate"),
        ("x\ry", "end in CR alone"),
        ("a\tb", "separated by single tabs"),
        (line() + "\tNo\tNo", "set further to ignore"),
    ],
)
def test_a_wrong_number_of_fields_says_why(check: Check, text: str, hint: str) -> None:
    found = check(text)
    assert found[0].code == "EDL201"
    assert hint in (found[0].help or "") or "\r" in text


def test_spaces_in_place_of_tabs_are_one_mistake(check: Check) -> None:
    (found,) = check(" ".join(GOOD))
    assert found.code == "TAB102"
    assert "tabs" in (found.help or "")


def test_a_run_is_told_once(check: Check) -> None:
    lines = [
        line(run=run, mention=f"m{n}", text="x", extent=f"D:{n}-{n}")
        for n, run in enumerate("AABBBC")
    ]
    found = check(*lines)
    assert [(item.code, item.span and item.span.line) for item in found] == [
        ("EDL302", 3),
        ("EDL302", 6),
    ]
    assert "(mentions: 3)" in found[0].message


def test_of_a_line_that_stands_three_times_two_are_told(check: Check) -> None:
    found = check(line(), line(), line())
    assert [(item.code, item.span and item.span.line) for item in found] == [
        ("EDL401", 2),
        ("EDL401", 3),
    ]
    assert all("line 1" in item.message for item in found)


def test_one_extent_with_two_mentions_one_of_them_twice(check: Check) -> None:
    other = line(mention="m2", confidence="0.5")
    found = check(line(), other, other)
    assert [(item.code, item.span and item.span.line) for item in found] == [
        ("EDL402", 2),
        ("EDL401", 3),
    ]
    assert "the two lines differ in mention id, confidence" in found[0].message
    assert "line 2" in found[1].message


def test_the_language_of_a_document_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.tab"
    path.write_text(
        line(kind="NOM", extent="X1:0-4") + "\n" + line(kind="NOM", mention="m2") + "\n"
    )
    rows = [
        {"row": 0, "name": "X1", "text": "Paris", "language": "eng"},
        {"row": 1, "name": "ENG_D1", "text": "0123456789Paris", "language": "il9"},
    ]
    save(Corpus(documents=rows), tmp_path / "texts")
    found = validate("lorehlt-edl", str(path), against=str(tmp_path / "texts")).findings
    assert [(item.code, item.span and item.span.line) for item in found] == [("EDL311", 1)]


TEXT = "\U0001f600 Zürich, Osh and Osh again. Zürich!"


@pytest.mark.parametrize(
    ("how", "shift"),
    [
        ("1-based", lambda text, start, end: (start + 1, end)),
        ("be exclusive at the end", lambda text, start, end: (start, end)),
        ("1-based and exclusive", lambda text, start, end: (start + 1, end + 1)),
        ("UTF-16", lambda text, start, end: (start + 1, end)),
        (
            "bytes",
            lambda text, start, end: (len(text[:start].encode()), len(text[:end].encode()) - 1),
        ),
    ],
)
def test_offsets_that_are_all_counted_otherwise_are_told_once(
    check: Check, how: str, shift: Callable[[str, int, int], tuple[int, int]]
) -> None:
    lead = TEXT if how != "UTF-16" else "\U0001f600" * 2 + TEXT
    spans = [(lead.index(name), name) for name in ("Zürich", "Osh", "again")]
    spans.append((lead.rindex("Zürich"), "Zürich"))
    lines = []
    for number, (start, name) in enumerate(spans):
        first, last = shift(lead, start, start + len(name))
        if how == "UTF-16":
            first, last = start + 3, start + 3 + len(name) - 1
        lines.append(line(mention=f"m{number}", text=name, extent=f"D:{first}-{last}"))
    (finding,) = check(*lines, texts={"D": lead})
    assert finding.code == "EDL509"
    assert how in finding.message
    assert "4 of 4 mismatches" in finding.message


def test_a_few_that_are_off_are_told_one_by_one(check: Check) -> None:
    text = "ab " * 40
    lines = [
        line(mention=f"m{n}", text="ab", extent=f"D:{3 * n}-{3 * n + 1}") for n in range(1, 20)
    ]
    wrong = [
        line(mention=f"w{n}", text="ab", extent=f"D:{3 * n + 1}-{3 * n + 2}") for n in (30, 31, 32)
    ]
    found = check(*lines, *wrong, texts={"D": text})
    assert [item.code for item in found] == ["EDL503"] * 3
    assert [item.help for item in found] == [
        f"write {3 * n}-{3 * n + 1}, where the mention string occurs" for n in (30, 31, 32)
    ]


@pytest.mark.parametrize(("encoding", "how"), [("utf-16-le", "UTF-16"), ("utf-8", "bytes")])
def test_units_are_told_from_few_mentions_if_they_explain_all(
    encoding: str, how: str, check: Check
) -> None:
    """Only mentions after the first character of several units do not fit."""
    words = [f"w{number:02}" for number in range(44)]
    text = f"{' '.join(words[:40])} 😀 {' '.join(words[40:])}"
    width = 2 if encoding == "utf-16-le" else 1
    lines = []
    for number, word in enumerate(words):
        first = len(text[: text.index(word)].encode(encoding)) // width
        extent = f"D:{first}-{first + 2}"
        lines.append(line(mention=f"m{number}", text=word, extent=extent))
    (finding,) = check(*lines, texts={"D": text})
    assert finding.code == "EDL509"
    assert how in finding.message
    assert "4 of 4 mismatches" in finding.message


def test_other_capitals_are_copied_from_the_text(check: Check) -> None:
    (finding,) = check(line(text="osh", extent="D:0-2"), texts={"D": "Osh x"})
    assert finding.code == "EDL503"
    assert finding.help == "copy the mention string from the text, with its capitals"


@pytest.mark.parametrize(("given", "text"), [('"Osh"', "Osh x"), ('"a ""b"""', 'a "b" x')])
def test_quotation_marks_around_a_mention_string_are_to_be_removed(
    given: str, text: str, check: Check
) -> None:
    (finding,) = check(line(text=given, extent=f"D:0-{len(text) - 3}"), texts={"D": text})
    assert finding.code == "EDL503"
    assert finding.help == "remove the quotation marks around the mention string"


def test_the_nearest_place_is_told(check: Check) -> None:
    text = "Osh x Osh y Osh"
    (finding,) = check(line(text="Osh", extent="D:7-9"), texts={"D": text})
    assert finding.help == "write 6-8, where the mention string occurs"
    assert finding.message == 'the text at these offsets is "sh ", not "Osh"'
    (finding,) = check(line(text="Oslo", extent="D:7-9"), texts={"D": text})
    assert "does not contain this mention string" in (finding.help or "")
    (finding,) = check(line(text="Osh", extent="D:13-15"), texts={"D": text})
    assert (finding.code, finding.help) == (
        "EDL502",
        "write 12-14, where the mention string occurs",
    )


@pytest.mark.parametrize("said", ["Jean-Luc Martin", "Jean-\u00a0Luc Martin", "Jean-Luc  Martin"])
def test_blanks_are_as_the_evaluations_of_tac_have_them(check: Check, said: str) -> None:
    found = check(line(text=said, extent="D:1-17"), texts={"D": " Jean-\nLuc\n\u00a0Martin"})
    assert [item.code for item in found] == (["EDL503"] if "\u00a0" in said else [])


def test_a_mention_in_an_unknown_document_has_no_text(check: Check) -> None:
    (finding,) = check(line(extent="D.txt:0-4"), texts={"d": "Paris"})
    assert (finding.code, finding.help) == ("REF104", "did you mean d, not D.txt?")


KB = """origin	entity_type	entityid
GEO	GPE	1
WLL	PER	2
APB	ORG	3
AUG	ORG	4
GEO	LOC	5
AUG	PER	5
"""


@pytest.mark.parametrize(
    ("entity", "types"),
    [("1", "GPE LOC"), ("2", "PER"), ("3", "ORG"), ("4", "PER ORG"), ("5", "GPE LOC PER ORG")],
)
def test_links_that_a_type_can_have(check: Check, entity: str, types: str) -> None:
    for kind in ("GPE", "LOC", "ORG", "PER"):
        found = check(line(entity=entity, type=kind), kb=KB)
        assert [item.code for item in found] == ([] if kind in types.split() else ["EDL505"])


def test_nil_is_in_no_knowledge_base_and_each_other_entity_is_told_once(check: Check) -> None:
    lines = [
        line(entity=e, mention=e, text="x", extent=f"D:{n}-{n}")
        for n, e in enumerate(["NIL1", "9", "1"])
    ]
    again = line(entity="9", mention="x", text="x", extent="D:7-7")
    (finding,) = check(*lines, again, kb=KB)
    assert finding.code == "EDL504"
    assert "(mentions: 2)" in finding.message
    assert check(line(entity="9"), kb="9\n10\n") == []  # identifiers alone
    assert [item.code for item in check(line(entity="8"), kb="9\n10\n")] == ["EDL504"]


def test_a_list_says_what_is_not_scored(check: Check) -> None:
    lines = [line(), line(mention="m2", extent="B:1-5"), line(mention="m3", extent="C:1-5")]
    found = check(*lines, documents="ENG_D1\nE\nF\n")
    assert [item.code for item in found] == ["EDL506", "EDL508"]
    assert found[0].message == ("unscored mentions: 2, in unlisted documents (2, such as B)")
    assert found[1].message == "listed documents without mentions: 2 of 3, such as E"


def test_annotations_with_a_header_are_no_fault_of_a_reference(tmp_path: Path) -> None:
    gold, run = tmp_path / "gold.tab", tmp_path / "run.tab"
    run.write_text(line() + "\n")
    convert(str(run), str(gold), settings={"header": "yes"})
    assert gold.read_text().startswith("system_run_id\t")
    assert validate("lorehlt-edl", str(run), against=str(gold)).findings == ()


def test_what_a_line_needs_can_be_added(tmp_path: Path) -> None:
    source = tmp_path / "two.neleval"
    source.write_text("D\t0\t4\t77\t0.5\tGPE\nD\t6\t8\tNIL1\t1.0\tPER\n")
    path = tmp_path / "run.tab"
    convert(str(source), str(path), settings={"run": "R", "number": "yes"})
    assert path.read_text() == (
        "R\tm1\t\tD:0-4\t77\tGPE\tNAM\t0.5\nR\tm2\t\tD:6-8\tNIL1\tPER\tNAM\t1.0\n"
    )


def test_a_finding_about_two_mentions_names_the_line_of_the_other(check: Check) -> None:
    again = check(*(line(text="x", extent=f"D:{n}-{n}") for n in range(3)))
    assert [item.message for item in again] == [
        "the mention identifier m1 is already used on line 1"
    ] * 2
    (inner,) = check(
        line(text="is", extent="D:3-4"), line(mention="m2", text="Paris Nord", extent="D:0-9")
    )
    assert inner.message == "3-4 is nested in the mention 0-9 on line 2"
    (crossing,) = check(line(text="is Nord", extent="D:3-9"), line(mention="m2", extent="D:0-4"))
    assert crossing.message == "3-9 crosses the mention 0-4 on line 2"
    (same,) = check(line(), line(mention="m2", text="Osaka", type="LOC"))
    assert same.message == (
        "the mention on line 1 has the same extent; "
        "the two lines differ in mention id, mention string, type"
    )
