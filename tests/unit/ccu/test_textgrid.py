"""Praat TextGrid: what is read of its tiers, where problems are found, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.findings import FieldRef
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures" / "textgrid"
VALID = FIXTURES / "valid"
#: File, line, column, end column, and severity.
PLACES = """
TLN901-no-end.TextGrid     16 20 21 error
TLN901-quotes.TextGrid     18 28 36 error
TLN901-unclosed.TextGrid   20 20 21 error
TLN902-pitch.TextGrid       1  1 25 error
TLN903-comma.TextGrid      20 20 23 error
TLN903-exchanged.TextGrid  21 20 21 error
TLN904-overlap.TextGrid    20 20 21 warning
TLN904-points.TextGrid     19 22 23 warning
TLN905-size.TextGrid       14 27 28 warning
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]
HEADER = '"ooTextFile" "TextGrid" 0 9 <exists> 1 '


def grid(content: str, name: str = "m.TextGrid", encoding: str = "utf-8") -> Source:
    data = content.encode(encoding)
    return Source(name, "file", (Member(name, name, len(data), lambda: data),))


def instances(corpus: Corpus) -> list[tuple[object, ...]]:
    columns = ("record", "kind", "label", "start", "end", "annotator")
    return corpus.instances.select(columns).rows()


@pytest.mark.parametrize(("name", "line", "column", "end", "severity"), ROWS)
def test_a_file_raises_its_code_at_its_place(name, line, column, end, severity):
    (only,) = read(str(FIXTURES / "invalid" / name))[1]
    assert (only.code, only.severity.value) == (name[:6], severity)
    assert only.span is not None
    place = (only.span.line, only.span.column, only.span.end_column)
    assert place == (int(line), int(column), int(end))


def test_every_invalid_file_has_its_place():
    assert {path.name for path in (FIXTURES / "invalid").iterdir()} == {row[0] for row in ROWS}


def test_values_by_hand():
    corpus, findings = read(str(VALID))
    assert findings == ()
    assert corpus.documents["name"].to_list() == ["M01", "M02"]
    assert instances(corpus) == [
        (2, "norm", "101", 45.2, 60.2, None),
        (3, "norm", 'say "no" \U0001f95b', 60.2, 61.25, None),
        (6, "norm", "102", 50.0, 70.35, None),
        (7, "norm", "103", 12.5, 12.5, "8765"),
        (9, "emotion", "joy", 45.2, 70.35, None),
        (2, "emotion", "joy", 10.0, 20.25, None),
        (3, "emotion", 'fear "\U0001f95b"', 20.25, 30.5, None),
        (4, "norm", "104", 4.0, 4.0, None),
    ]


def test_what_is_written_is_as_it_was(tmp_path):
    path = tmp_path / "again"
    convert(str(VALID / "M01.TextGrid"), str(path), to_format="textgrid")
    assert (path / "M01.TextGrid").read_bytes() == (VALID / "M01.TextGrid").read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings_and_line_ends(encoding, end):
    source = grid((VALID / "M01.TextGrid").read_text("utf-8").replace("\n", end), "x", encoding)
    assert detect_format(source).name == "textgrid"
    (result,) = load("textgrid").read(source)
    assert {finding.code for finding in result.findings} <= {"SRC202"}
    assert result.corpus.instances.height == 5
    (found,) = load("textgrid").locate(source.members[0], [FieldRef(3, "label")])
    assert found is not None
    assert (found.span.line, found.span.column) == (26, 20)


def test_a_broken_character_of_utf_16_is_a_finding():
    data = HEADER.encode("utf-16") + b"\x00\xd8"
    source = Source("x", "file", (Member("x", "x", len(data), lambda: data),))
    (result,) = load("textgrid").read(source)
    assert [finding.code for finding in result.findings] == ["SRC204"]


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ("kind", (1, "norm", "101", 0.0, 5.0, None)),
        ("label", (1, "norm", "Ann", 0.0, 5.0, None)),
        ("annotator", (1, "norm", "101", 0.0, 5.0, "Ann")),
    ],
)
def test_names_of_tiers_have_a_use(tier, expected):
    source = grid(f'{HEADER} "IntervalTier" "Ann" 0 9 2 0 5 "101" 5 9 " "')
    (result,) = load("textgrid").with_settings({"tier": tier}).read(source)
    assert result.findings == ()
    assert instances(result.corpus) == [expected]


def test_comments_units_and_numbers_that_are_not_free_do_not_count():
    text = (
        f'{HEADER.replace("9", "9s")} ! 7 "x"\n item [1]: "TextTier" "t" 0 9 1 points [1]: 4s "a"'
    )
    (result,) = load("textgrid").read(grid(text))
    assert result.findings == ()
    assert instances(result.corpus) == [(1, "norm", "a", 4.0, 4.0, None)]


def test_what_is_incomplete_is_left_out_and_the_rest_is_read():
    text = f'{HEADER} "TextTier" "t" 0 9 4 1 "a" "b" 2 3 "c" "TextTier" "u" 0 9 1 x 4 "d" 5'
    (result,) = load("textgrid").read(grid(text))
    assert [finding.code for finding in result.findings] == ["TLN901"] * 2
    assert [row[2:4] for row in instances(result.corpus)] == [("a", 1.0), ("c", 3.0), ("d", 4.0)]
    assert result.corpus.rejected_records["text"].to_list() == ['"b"', "5"]


def test_places_of_problems_of_a_label():
    source = grid(f'{HEADER}\n"TextTier" "t" 0 9 1\n4 "a | stat=x"')
    (result,) = load("textgrid").read(source)
    (only,) = result.findings
    assert (only.code, only.position) == ("TLN102", ":3:3")


def test_a_document_without_instances_is_a_file(tmp_path):
    corpus = Corpus(documents=[{"row": 0, "name": "d"}])
    form = load("textgrid")
    assert form.write is not None
    form.write([corpus], tmp_path / "o")
    again, findings = read(str(tmp_path / "o"))
    assert (again.documents["name"].to_list(), findings) == (["d"], ())
