"""Every code of template sets, corpora and global maps has a fixture that raises it only."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import read
from hlteval.converters.hub4.global_map import read_map
from hlteval.findings import Finding, catalogue
from hlteval.sources import Member, open_source
from tests.runs import validate

FIXTURES = Path(__file__).parents[3] / "fixtures"
CORPUS = FIXTURES / "hub4/valid/corpus.sgml"
REFERENCES = ("HUB217", "HUB218", "HUB219", "HUB222")
"""What is asked of references only."""
BESIDE = {"HUB230": "reference.tpl", "HUB231": "reference.tpl", "HUB233": "of-one-document.tpl"}
"""What is found only beside a reference, and beside which."""
LISTED = ("HUB234", "HUB235")
"""What is found only with a file of the allowed types and slots."""

# What each fixture raises first, and where: line, column, end column (0: the file); then E for an
# error, W for a warning, and ! where it blocks.
SETS = """
HUB101-slot-first.tpl                 1   5  29  E
HUB102-more-behind.tpl                1  20  28  E
HUB102-no-number.tpl                  3   1  16  E
HUB102-no-brackets.tpl                1   1  17  E
HUB102-no-colon.tpl                   3  16  17  E
HUB103-no-number.tpl                  2  12  24  E
HUB103-tag.tpl                        4  13  31  E
HUB104-more-behind.tpl                4  13  26  E
HUB104-unclosed.tpl                   4  13  28  E
HUB105-blanks.tpl                     4  19  31  E
HUB105-one-number.tpl                 4  21  26  E
HUB105-ten-digits.tpl                 4  21  45  E
HUB106-fill-first.tpl                 4   5  21  E
HUB107-hash.tpl                       4  14  21  E
HUB107-slash.tpl                      4  15  21  E
HUB108-nothing-behind.tpl             3  12  13  E
HUB109-no-hash.tpl                    4  21  28  W
HUB201-same-number.tpl                5   1  15  E
HUB202-slot-twice.tpl                 6   5  11  E
HUB203-no-template.tpl                1   1  15  E
HUB204-two-templates.tpl              3   1  16  E
HUB205-set-goes-on.tpl                4   1  15  W
HUB206-another-number.tpl             2  12  26  E
HUB206-no-instance.tpl                3  12  27  E
HUB207-other-set.tpl                  2  12  27  E
HUB208-pointer-twice.tpl              3  12  26  W
HUB209-no-pointer.tpl                 3   1  15  W
HUB210-two-alternatives.tpl           5  13  30  E
HUB211-two-extents.tpl                4  39  44  E
HUB212-no-extents.tpl                 4  13  20  E
HUB213-text-and-pointer.tpl           6  12  23  E
HUB214-two-texts.tpl                  5  13  20  W
HUB215-blank-in-name.tpl              5   5  34  W
HUB215-number-for-name.tpl            5   5   7  W
HUB216-text.tpl                       2  12  27  E
HUB217-not-closed.tpl                 5  12  24  E
HUB217-nothing-inside.tpl             5  12  25  E
HUB218-one-missing.tpl                4  35  49  E
HUB218-one-more.tpl                   4  31  45  E
HUB219-outside.tpl                    4  35  40  E
HUB220-start-is-end.tpl               4  23  28  E
HUB221-empty.tpl                      4  13  16  E
HUB222-maybe.tpl                      2  17  22  W
HUB223-slash.tpl                      4   5  31  W
HUB223-status.tpl                     2   5  25  W
HUB224-another.tpl                    2  13  16  W
HUB225-blank.tpl                      0   0   0  W
HUB226-two-texts.tpl                  4  13  38  E
HUB227-json.tpl                       0   0   0  E!
HUB228-two-runs                       0   0   0  E!
HUB229-no-sign.tpl                    4   1  15  E
HUB230-letters.tpl                    3   1  15  W
HUB231-capitals.tpl                   4   5   9  W
HUB232-slot.tpl                       2   5  10  E
HUB232-type.tpl                       1   1  16  E
HUB233-no-set.tpl                     3   1  17  W
HUB234-letters.tpl                    3   1  15  E
HUB235-capitals.tpl                   4   5   9  E
HUB236-no-colon.tpl                   5   5  20  E
HUB301-hyphen-in-type.tpl             3   1  21  E!
HUB301-unknown.tpl                    2   1  16  E!
HUB302-behind.tpl                     4  23  30  E
HUB303-another-text.tpl               4  23  28  E
HUB304-line-end.tpl                   4  38  43  W
HUB305-behind-the-tag.tpl             0   0   0  E
HUB305-bytes.tpl                      0   0   0  E
HUB305-from-one-inclusive.tpl         0   0   0  E
HUB305-from-one.tpl                   0   0   0  E
HUB305-inclusive.tpl                  0   0   0  E
HUB305-line-ends.tpl                  0   0   0  E
HUB305-through-the-corpus.tpl         0   0   0  E
HUB306-others.tpl                     0   0   0  E!
"""
CORPORA = """
SGM101-no-tag.sgml            1   1   1  E!
SGM102-cut-off.sgml           4   1   6  E!
SGM102-no-end.sgml            1   1   6  E!
SGM103-stray.sgml             4   1   7  E
SGM104-empty-element.sgml     4   1   6  E
SGM104-no-element.sgml        4   1  14  E
SGM105-same.sgml              5   8  11  E
SGM106-set.sgml               3  13  17  W
SGM107-story.sgml             4   3  16  W
"""
MAPS = """
GLM101-no-arrow.glm           2  16  16  W
GLM101-not-closed.glm         2  27  33  W
GLM102-no-quotes.glm          2  20  21  E
GLM103-other-format.glm       2   1  19  W
GLM104-header-first.glm       1   1  19  W
GLM104-rule-first.glm         1   1   9  W
GLM105-empty.glm              2   1  11  W
GLM106-twice.glm              3   1   9  W
GLM107-two.glm                4   1   9  W
GLM108-parenthesis.glm        2   1  37  E
GLM109-slash-first.glm        2   1  16  W
GLM110-beside-brackets.glm    2   1  34  W
GLM110-nested.glm             2   1  40  W
"""


def rows(table: str, room: str) -> list[tuple[Path, list[str]]]:
    lines = [line.split() for line in table.strip().splitlines()]
    return [(FIXTURES / room / "invalid" / name, fields) for name, *fields in lines]


def named(case: tuple[Path, list[str]]) -> str:
    return case[0].name


def code_of(path: Path) -> str:
    return path.name.partition("-")[0]


def checked(path: Path, side: str = "") -> list[Finding]:
    side = side or ("reference" if code_of(path) in REFERENCES else "system")
    role = "reference" if side == "reference" else "submission"
    option = "hyp_corpus" if code_of(path) == "HUB306" else "corpus"
    beside = BESIDE.get(code_of(path))
    against = str(CORPUS.with_name(beside)) if beside else None
    given = {option: str(CORPUS)}
    if code_of(path) in LISTED:
        given["slots"] = str(CORPUS.with_name("allowed.slots"))
    found = validate("hub4", str(path), against=against, options=given, role=role).findings
    return sorted(found, key=lambda finding: finding.order)


def mapped(path: Path) -> list[Finding]:
    return read_map(open_source(str(path)).members[0])[1]


def holds(path: Path, fields: list[str], findings: list[Finding]) -> None:
    """That only this code is there, at its place."""
    assert {finding.code for finding in findings} == {code_of(path)}
    first, (*place, level) = findings[0], fields
    assert first.severity.value[0].upper() + "!" * first.blocking == level
    assert first.file == str(path)
    span = first.span
    found = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert found == [int(number) for number in place]
    assert first.clause
    assert first.help
    assert "{" not in first.message + first.help
    if span and first.excerpt:
        assert first.excerpt.text == path.read_text("utf-8").split("\n")[span.line - 1]


@pytest.mark.parametrize("case", rows(SETS, "hub4"), ids=named)
def test_a_template_set_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    holds(path, fields, checked(path))


@pytest.mark.parametrize("case", rows(CORPORA, "sgml-corpus"), ids=named)
def test_a_corpus_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    holds(path, fields, read(str(path), "sgml-corpus")[1])


@pytest.mark.parametrize("case", rows(MAPS, "glm"), ids=named)
def test_a_global_map_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    holds(path, fields, mapped(path))


def test_every_code_has_a_fixture() -> None:
    tabled = [
        path
        for table, room in ((SETS, "hub4"), (CORPORA, "sgml-corpus"), (MAPS, "glm"))
        for path, _ in rows(table, room)
    ]
    files = {
        path
        for room in ("hub4", "sgml-corpus", "glm")
        for path in FIXTURES.glob(f"{room}/invalid/*")
    }
    assert set(tabled) == files
    codes = {code for code in catalogue() if code[:3] in {"HUB", "SGM", "GLM"}}
    assert {code_of(path) for path in files} == codes


def test_what_is_valid_raises_nothing() -> None:
    for side in ("reference", "system"):
        assert checked(FIXTURES / f"hub4/valid/{side}.tpl", side) == []
    assert read(str(FIXTURES / "sgml-corpus/valid/stories.sgml"), "sgml-corpus")[1] == []
    assert mapped(FIXTURES / "glm/valid/map.glm") == []


# The examples of the catalogue are tried on this document.
TEXT = "<DOC>\n<DOCNO> D1 </DOCNO>\n</DOC>\n<DOC>\n<DOCNO> D2 </DOCNO>\n</DOC>\n"
SETS_OF_D1 = """<TEMPLATE-D1-1> :=
    EVENT: <BREAD-D1-1>
<BREAD-D1-1> :=
    DATE: "today" ##5#10#
"""
"""The reference beside it."""
WITH_TEXT = ("HUB3",)
"""What is checked against the corpus; all else is checked without."""
SIDE = dict.fromkeys(REFERENCES, "reference") | {"HUB202": "reference", "HUB108": "reference"}


def found(code: str, example: str, folder: Path) -> set[str]:
    if code.startswith("GLM"):
        data = example.encode()
        findings = read_map(Member("", "x.glm", len(data), lambda: data))[1]
        return {finding.code for finding in findings}
    path, corpus = folder / "example", folder / "corpus.sgml"
    path.write_text(example, "utf-8")
    corpus.write_text(TEXT, "utf-8")
    if code.startswith("SGM"):
        return {finding.code for finding in read(str(path), "sgml-corpus")[1]}
    options = {}
    role = "reference" if SIDE.get(code) == "reference" else "submission"
    if code.startswith(WITH_TEXT):
        options["hyp_corpus" if code == "HUB306" else "corpus"] = str(corpus)
    if code in LISTED:
        options["slots"] = str(folder / "allowed.slots")
        Path(options["slots"]).write_text("BREAD.DATE\n")
    against = None
    if code in BESIDE:
        against = str(folder / "reference.tpl")
        Path(against).write_text(SETS_OF_D1, "utf-8")
    verdict = validate("hub4", str(path), against=against, options=options, role=role)
    return {finding.code for finding in verdict.findings}


UNTOLD = {"HUB203", "HUB206", "HUB209"}
"""What examples of single instances leave out."""
WITHOUT_TEXT = {"HUB225", "HUB228"}
"""Of these the bad example is an empty file, and a folder."""


def test_the_example_of_an_empty_file_is_empty(tmp_path: Path) -> None:
    assert found("HUB225", catalogue()["HUB225"].bad, tmp_path) == {"HUB225"}


@pytest.mark.parametrize(
    "code", [c for c in catalogue() if c[:3] in {"HUB", "SGM", "GLM"} and c not in WITHOUT_TEXT]
)
def test_the_bad_example_raises_the_code_and_the_good_one_does_not(
    code: str, tmp_path: Path
) -> None:
    entry = catalogue()[code]
    assert code in found(code, entry.bad, tmp_path)
    assert found(code, entry.good, tmp_path) <= UNTOLD - {code}
