"""Every code of annotations in JSON has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.findings import catalogue
from hlteval.sources import open_source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures"

# What each fixture raises, and where: line, column, end column; then E for an error, W for a
# warning, I for an info, and ! where it blocks; and settings.
TABLE = """
label-studio  JAN101-empty.label-studio.json           1   1   1 E!
label-studio  JAN102-no-text.label-studio.json         2   1   2 W
label-studio  JAN103-no-type.label-studio.json         3   2   3 E
label-studio  JAN104-label.label-studio.json           3 115 121 E
label-studio  JAN106-rectangle.label-studio.json       3   2   3 W
label-studio  JAN107-cancelled.label-studio.json       3   2   3 I
label-studio  JAN203-one-off.label-studio.json         3   2   3 E
label-studio  JAN204-utf-16.label-studio.json          3   2   3 E
label-studio  JAN301-no-such-region.label-studio.json  6  48  51 E
label-studio  JAN302-same-id.label-studio.json         4   2   3 E
label-studio  JAN108-label.label-studio.json           1   2   3 W label=tone
doccano       JAN101-empty.doccano.jsonl               1   1   1 E!
doccano       JAN102-no-text.doccano.jsonl             1   1   2 W
doccano       JAN103-no-end.doccano.jsonl              1 118 119 E
doccano       JAN104-strings.doccano.jsonl             1  36  37 E
doccano       JAN104-text.doccano.jsonl                2  19  20 E
doccano       JAN105-same-id.doccano.jsonl             2   1   2 E
doccano       JAN106-sequence.doccano.jsonl            1  36  80 W
doccano       JAN201-beyond.doccano.jsonl              1  38  39 E
doccano       JAN202-empty.doccano.jsonl               1  36  37 E
doccano       JAN205-utf-16.doccano.jsonl              1  46  47 W
doccano       JAN301-no-such-entity.doccano.jsonl      1 151 152 E
doccano       JAN302-same-id.doccano.jsonl             1 106 107 E
prodigy       JAN105-same-hash.prodigy.jsonl           2   1   2 E
prodigy       JAN107-rejected.prodigy.jsonl            2   1   2 I
prodigy       JAN204-bytes.prodigy.jsonl               1  52  53 E
prodigy       JAN301-no-span.prodigy.jsonl             1 291 292 E
spacy-json    JAN104-offset.spacy.json                 1  39  41 E
spacy-json    JAN104-tag.spacy.json                    2  72  80 E
spacy-json    JAN108-group.spacy.jsonl                 1   1   2 W spans=SC
spacy-json    JAN201-beyond.spacy.json                 1  29  30 E
"""
CASES = [line.split() for line in TABLE.strip().splitlines()]
ROOMS = ("doccano", "label-studio", "prodigy", "spacy-json")
VALID = [path for room in ROOMS for path in sorted(FIXTURES.glob(f"{room}/valid/*"))]
TRAINING = "training.spacy.json"
"""Of version 2, which is not written."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1])
def test_a_file_raises_its_code_and_nothing_else(case: list[str]) -> None:
    room, name, line, column, end_column, level, *settings = case
    source = open_source(str(FIXTURES / room / "invalid" / name))
    form = load(room).with_settings(dict(setting.split("=") for setting in settings))
    (only,) = (finding for result in form.read(source) for finding in result.findings)
    assert only.code == name.partition("-")[0]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    assert only.span is not None
    span = (only.span.line, only.span.column, only.span.end_column)
    assert span == (int(line), int(column), int(end_column))
    assert "{" not in only.message.replace('{"', "")


def test_every_code_has_a_fixture() -> None:
    assert {name[:6] for _, name, *_ in CASES} == {
        code for code in catalogue() if code.startswith("JAN")
    }
    assert {f"{room}/invalid/{name}" for room, name, *_ in CASES} == {
        path.relative_to(FIXTURES).as_posix()
        for room in ROOMS
        for path in FIXTURES.glob(f"{room}/invalid/*")
    }


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_what_is_valid_comes_back_byte_by_byte(path: Path, tmp_path: Path) -> None:
    again = tmp_path / path.name
    codes = [] if path.name != TRAINING else ["CNV102"]
    assert [finding.code for finding in convert(str(path), str(again))] == codes
    assert (again.read_bytes() == path.read_bytes()) is (path.name != TRAINING)


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_file_is_told_from_those_of_other_formats(path: Path) -> None:
    assert detect_format(open_source(str(path))).name == path.parts[-3]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1])
def test_what_is_at_fault_can_be_written_and_read_again(case: list[str], tmp_path: Path) -> None:
    first, _ = read(str(FIXTURES / case[0] / "invalid" / case[1]), case[0])
    write = load(case[0]).write
    assert write is not None
    write([first], tmp_path / "again")
    second, _ = read(str(tmp_path / "again"), case[0])
    assert second.mentions.height == first.mentions.height
    assert second.documents["name"].to_list() == first.documents["name"].to_list()
