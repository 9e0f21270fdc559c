"""Annotation files of neleval: every code with its fixture, and what is read and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert
from hlteval.converters import load
from hlteval.findings import FieldRef, catalogue
from hlteval.sources import open_source

ROOM = Path(__file__).parents[3] / "fixtures" / "neleval"

# What each fixture raises and where: line, column, end column; E for an error, W for a warning, I
# for an info, and ! where it blocks.
INVALID = """
NEL101-blank-line.tsv        2   1   1  W
NEL102-blanks.tsv            2   1  10  E!
NEL102-two-columns.tsv       2   1   5  E!
NEL103-decimal-point.tsv     2   4   7  E!
NEL103-negative.tsv          2   4   6  E!
NEL104-two-candidates.tsv    2   8  21  E!
NEL105-comma.tsv             1  11  14  E!
NEL105-empty.tsv             1  11  12  E!
NEL106-no-json.tsv           1  15  25  E!
NEL106-no-type.tsv           1  15  33  E!
NEL107-moved-column.tsv      1  14  15  E!
NEL108-first-column.tsv      1   1   2  E!
NEL201-interchanged.tsv      1   4   7  E
NEL202-mention-type.tsv      1  15  48  I
"""
CASES = [line.split() for line in INVALID.strip().splitlines()]


def reading(path):
    return next(iter(load("neleval").read(open_source(str(path)))))


def read_text(tmp_path, text):
    path = tmp_path / "a.tsv"
    path.write_bytes(text.encode())
    return reading(path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_fixture_raises_its_code_and_nothing_else(case):
    name, *place, level = case
    found = reading(ROOM / "invalid" / name).findings
    assert [finding.code for finding in found] == [name.partition("-")[0]]
    span = found[0].span
    assert [span.line, span.column, span.end_column] == list(map(int, place))
    assert found[0].severity.value[0].upper() + "!" * found[0].blocking == level
    assert "{" not in (found[0].help or "").replace("{reftype}", "")


def test_every_fixture_and_every_code_is_held():
    names = {case[0] for case in CASES}
    assert names == {path.name for path in (ROOM / "invalid").iterdir()}
    codes = {code for code in catalogue() if code.startswith("NEL")}
    assert {name.partition("-")[0] for name in names} == codes


WITH_EXAMPLES = sorted(
    code for code, entry in catalogue().items() if code.startswith("NEL") and entry.bad
)


def test_all_codes_but_that_of_a_setting_have_examples():
    codes = {code for code in catalogue() if code.startswith("NEL")}
    assert codes - {*WITH_EXAMPLES} == {"NEL107"}


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_the_examples_of_a_code_are_what_they_are_said_to_be(code, tmp_path):
    entry = catalogue()[code]
    assert code in {finding.code for finding in read_text(tmp_path, entry.bad).findings}
    assert read_text(tmp_path, entry.good).findings == ()


@pytest.mark.parametrize("path", sorted((ROOM / "valid").iterdir()), ids=lambda path: path.name)
def test_what_is_valid_is_written_as_it_was(path, tmp_path):
    assert reading(path).findings == ()
    convert(str(path), str(tmp_path / "b"), from_format="neleval", to_format="neleval")
    assert (tmp_path / "b").read_bytes() == path.read_bytes()


def test_offsets_are_inclusive_and_become_half_open(tmp_path):
    mentions = read_text(tmp_path, "D1\t1\t5\tE1\n").corpus.mentions
    assert mentions.select("start", "end").row(0) == (1, 6)


def test_the_candidate_of_the_highest_score_is_the_mention_s_own_and_ties_keep_their_order(
    tmp_path,
):
    line = "D1\t1\t5\tE1\t0.2\tA\tE2\t0.5\tB\tE3\t0.5\tC\n"
    corpus = read_text(tmp_path, line).corpus
    assert corpus.mentions.select("entity", "label", "confidence").row(0) == ("E2", "B", 0.5)
    assert corpus.links.select("rank", "entity", "label").rows() == [(2, "E3", "C"), (3, "E1", "A")]


def test_the_forms_with_fewer_columns(tmp_path):
    text = "D1\t1\t2\nD1\t1\t2\tE1\t\t\nD1\t1\t2\tE1\t1\n\tD\t1\t2\n"
    found = read_text(tmp_path, text)
    columns = ("entity", "confidence", "confidence_text", "label")
    assert found.corpus.mentions.select(columns).rows() == [
        (None, None, None, ""),
        ("E1", None, None, ""),
        ("E1", 1.0, "1", ""),
    ]
    assert [finding.code for finding in found.findings] == ["NEL108"]
    assert found.corpus.rejected_records["record"].to_list() == [4]


def test_crlf_and_tabs_at_the_end_of_lines_say_nothing(tmp_path):
    plain = read_text(tmp_path, "D1\t1\t5\tE1\t1.0\tPER\n").corpus
    other = read_text(tmp_path, "D1\t1\t5\tE1\t1.0\tPER\t\t\r\n").corpus
    assert other.mentions.equals(plain.mentions)


def test_a_type_with_a_brace_is_written_in_json(tmp_path):
    line = 'D1\t1\t5\tE1\t1.0\t{"type": "{A\\\\"}\n'
    assert read_text(tmp_path, line).corpus.mentions["label"].to_list() == ["{A\\"]
    convert(str(tmp_path / "a.tsv"), str(tmp_path / "b"), to_format="neleval")
    assert (tmp_path / "b").read_text("utf-8") == line


@pytest.mark.parametrize(
    ("field", "columns"),
    [
        ("document", (1, 3)),
        ("extent", (4, 7)),
        ("entity", (8, 10)),
        ("type", (15, 18)),
        ("", (1, 18)),
    ],
)
def test_places_are_found(tmp_path, field, columns):
    path = tmp_path / "a.tsv"
    path.write_text("D1\t1\t5\tE1\t1.0\tPER\n", "utf-8")
    member = open_source(str(path)).members[0]
    located = load("neleval").locate(member, [FieldRef(1, field)])[0]
    assert located is not None
    assert (located.span.column, located.span.end_column) == columns


@pytest.mark.parametrize(
    "hostile",
    [
        "D1\t1\t5\tE1\t1.0\t" + '{"a":' * 20_000 + "\n",
        "D1\t" + "9" * 100_000 + "\t5\n",
        "D1\t1\t5" + "\tE\t1.0\tT" * 20_000 + "\n",
        "\t" * 1_000_000 + "\n",
        "D1\t1\t5\tE1\t1e999\tPER\nD1\t1\t5\tE1\tnan\tPER\n",
        'D1\t1\t5\tE1\t1.0\t{"type": "\\ud800"}\n',
        'D1\t1\t5\tE1\t1.0\t{"type": "PER", "\\ud800": 1}\n',
    ],
)
def test_hostile_lines_give_findings_and_no_traceback(tmp_path, hostile):
    found = read_text(tmp_path, hostile)
    assert (
        found.corpus.mentions.height + found.corpus.rejected_records.height + len(found.findings)
        > 0
    )
    assert all(finding.message.encode() for finding in found.findings)
