"""Every code of LTF and its neighbours has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import read, validate
from hlteval.findings import Finding, catalogue

FIXTURES = Path(__file__).parents[3] / "fixtures"
RAW = FIXTURES / "rsd/valid"
"""What annotations, and one document, are checked against."""

# What each fixture raises, and where: line, column, end column (0: the file, or the whole
# submission); then E for an error, W for a warning, I for an info, and ! where it blocks.
XML = """
XML101-bare-ampersand.ltf.xml         14  21  22  E!
XML101-cut-off.ltf.xml                11  79  80  E!
XML101-other-end-tag.ltf.xml          10  84  85  E!
XML102-billion-laughs.ltf.xml          2  43  44  E!
XML102-external-entity.ltf.xml         2  43  44  E!
XML103-declared-latin-1.ltf.xml        1   1  44  E
XML104-hundred-deep.ltf.xml            5 298 301  E!
XML105-word-in-segment.ltf.xml        18   1   4  E
XML106-empty-paragraph.ltf.xml        19   1   4  E
XML107-misspelt-attribute.ltf.xml     13  27  29  E
XML108-no-id.ltf.xml                  16   1  65  E
XML109-text-in-segment.ltf.xml        13   1  51  E
XML110-translation.ltf.xml             2   1   9  E!
XML111-name-of-html.ltf.xml           14  20  26  E!
XML112-small-letters.ltf.xml          11  31  35  E
"""
LTF = """
LTF101-no-doctype.ltf.xml              2   1  23  W
LTF102-older-version.ltf.xml           2   1  43  W
LTF103-no-end.ltf.xml                 16   1  67  E
LTF104-hexadecimal.ltf.xml            13  33  37  E
LTF104-sign.ltf.xml                   15  73  76  E
LTF105-two-folders                     0   0   0  E
LTF106-only-xml                        0   0   0  E!
LTF107-capitals                        0   0   0  E
LTF201-another-document.ltf.xml        4  10  17  W
LTF202-copied-token.ltf.xml           16  12  21  E
LTF202-like-its-document.ltf.xml      13  10  34  E
LTF203-digit-first                     4  10  16  W
LTF204-blanks.ltf.xml                 16  12  23  E
LTF205-left-out.ltf.xml               13  10  19  W
LTF206-left-out.ltf.xml               16  12  21  W
LTF207-no-such-token.ltf.xml          13  56  65  E
LTF208-other-document                  5  86  93  E
LTF301-segment.ltf.xml                13  47  48  E
LTF301-token.ltf.xml                  16  76  78  E
LTF302-one-too-long.ltf.xml           13  47  49  E
LTF303-order.ltf.xml                  13  33  34  E
LTF303-overlap.ltf.xml                13  33  35  E
LTF304-same-line.ltf.xml              13  33  35  W
LTF305-tokens-only.ltf.xml            13   1  51  W
LTF306-two-off.ltf.xml                13  33  35  E
LTF307-scant                           6  33  34  E
LTF401-in-no-segment.ltf.xml          17  59  62  E
LTF401-other-segment.ltf.xml           8  59  60  E
LTF402-shared-character.ltf.xml       10  59  60  E
LTF403-one-too-short.ltf.xml          10  73  75  E
LTF404-one-off.ltf.xml                17  77  81  E
LTF404-other-case.ltf.xml             15  77  81  E
LTF405-no-full-stop.ltf.xml            7  16  31  W
LTF406-two-words.ltf.xml               9  76  84  W
LTF407-tagged.ltf.xml                  8  28  32  I
LTF501-bytes.ltf.xml                   4  10  22  E
LTF501-exclusive-ends.ltf.xml          4  10  31  E
LTF501-from-one.ltf.xml                4  10  25  E
LTF501-tokens-in-utf-16.ltf.xml        4  10  33  E
LTF501-utf-16-units.ltf.xml            4  10  29  E
LTF502-too-many-digits.ltf.xml         4 105 125  E
LTF502-with-comma.ltf.xml              4 100 105  E
LTF503-too-short.ltf.xml               4  99 101  E
LTF504-blank-between.ltf.xml           4 121 153  E
LTF504-other-text.ltf.xml              4 118 150  E
LTF505-far-away.ltf.xml                4  10  25  E
"""
RSD = """
RSD101-carriage-return.rsd.txt         1  16  17  W
RSD101-form-feed.rsd.txt               2   1   2  W
"""
LAF = """
LAF101-sign.laf.xml                    9  21  24  E
LAF102-no-type.laf.xml                 8   1  34  E
LAF103-only-ltf                        0   0   0  E!
LAF104-packed                          0   0   0  E
LAF201-other-document                  0   0   0  E
LAF202-empty                           9  35  37  E
LAF203-far-behind                      9  35  37  E
LAF204-one-off                         6  37  42  E
LAF204-other-case                      6  37  42  E
LAF205-copied                          8  17  22  E
LAF206-utf-16                          0   0   0  E
LAF207-letters                         5  40  43  W
"""
CONLLU = """
CNU101-blanks.conllu                   7   1  61  E
CNU102-no-range.conllu                15   1  48  E
CNU103-no-document.conllu              2   1  39  E
"""
ROOMS = {"xml": XML, "ltf": LTF, "rsd": RSD, "laf": LAF, "conllu": CONLLU}


def cases(*rooms: str) -> list[tuple[Path, list[str]]]:
    lines = [(room, line.split()) for room in rooms for line in ROOMS[room].strip().splitlines()]
    return [(FIXTURES / room / "invalid" / name, fields) for room, (name, *fields) in lines]


def named(case: tuple[Path, list[str]]) -> str:
    return case[0].name


def holds(path: Path, fields: list[str], findings: tuple[Finding, ...]) -> None:
    """That one finding is there and that it is the expected one, down to the column."""
    line, column, end_column, level = fields
    assert [finding.code for finding in findings] == [path.name.partition("-")[0]]
    only = findings[0]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    assert (only.file or "").startswith(str(path))
    span = only.span
    place = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert place == [int(line), int(column), int(end_column)]
    assert only.help
    assert "{" not in only.message + only.help


@pytest.mark.parametrize("case", cases("xml", "ltf"), ids=named)
def test_a_submission_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    beside = path.name.startswith(("LTF208", "LTF307"))
    verdict = validate("ltf", str(path), against=str(RAW) if beside else None)
    holds(path, fields, verdict.findings)
    assert verdict.passed is not fields[-1].startswith("E")


@pytest.mark.parametrize("case", cases("rsd", "laf", "conllu"), ids=named)
def test_a_file_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    if path.is_dir():
        holds(path, fields, validate("laf", str(path), against=str(RAW)).findings)
    else:
        holds(path, fields, tuple(read(str(path))[1]))


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code[:3] in {"XML", "LTF", "RSD", "LAF", "CNU"}}
    listed = {path for path, _ in cases(*ROOMS)}
    assert {path.name.partition("-")[0] for path in listed} == codes
    assert {path for room in ROOMS for path in FIXTURES.glob(f"{room}/invalid/*")} == listed


@pytest.mark.parametrize("room", ["ltf", "rsd", "laf", "conllu"])
def test_what_is_valid_has_no_finding(room: str) -> None:
    for path in (FIXTURES / room / "valid").iterdir():
        assert read(str(path))[1] == []
    if room == "ltf":
        assert validate("ltf", str(FIXTURES / room / "valid")).findings == ()


@pytest.mark.parametrize(("task", "against"), [("ltf", "rsd"), ("laf", "rsd"), ("laf", "ltf")])
def test_what_is_valid_fits_its_texts(task: str, against: str) -> None:
    name = "water-1.ltf.xml" if task == "ltf" else ""  # the other document has no raw text
    path = str(FIXTURES / task / "valid" / name)
    assert validate(task, path, against=str(FIXTURES / against / "valid")).findings == ()
