"""Every code of machine translation has a fixture that raises it and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from hlteval import read, validate
from hlteval.findings import Finding, catalogue

FIXTURES = Path(__file__).parents[3] / "fixtures"

# What each fixture raises, and where: line, column, end column (0: the file, or the whole
# submission); then E for an error, W for a warning, I for an info, and ! where it blocks.
LOREHLT_MT = """
MTF101-system.ltf.xml                  4  18  23  W
MTF102-two-documents.ltf.xml           9   5  27  E
MTF103-copied                          5  17  25  E
MTF104-no-doctype.ltf.xml              2   1   9  W
MTF104-other-form.ltf.xml              2   1  47  W
"""
SUBMISSIONS = """
MTV101-notes                           0   0   0  E!
MTV102-readme                          0   0   0  E
MTV103-folder.tgz                      0   0   0  E
MTV104-tar-gz.tar.gz                   0   0   0  W
MTV201-one-missing                     0   0   0  E!
MTV202-small-letters                   0   0   0  E
MTV203-other-file                      0   0   0  E
MTV204-english                         0   0   0  W
MTV301-truncated                       0   0   0  E!
MTV302-one-too-many                    8  16  25  E
MTV303-copied                          8  16  25  E
MTV304-backwards                       7  16  25  W
MTV305-blank                           7  27  29  W
MTV306-line-separator                  7  27  39  I
MTV306-pipes                           7  27  43  I
MTV307-not-translated                  7  27  42  W
"""
TEXTS = FIXTURES / "mt/valid/ltf"
"""What was translated."""
MTEVAL = """
MTF201-no-system.sgm                   1   1   8  W
MTF202-no-end.sgm                      3   1   5  E
MTF203-end-twice.sgm                   3  53  57  E
"""
TMX = """
MTF301-bold.tmx                        6  31  42  I
"""
MT_TEXT = """
MTF401-space                           2   1  19  E
MTF402-one-line                        0   0   0  E
MTF403-no-list                         0   0   0  E!
"""
SACREBLEU = """
MTF501-plural                          2  13  20  E
MTF502-one-cell                        2   1  11  E
"""
ROOMS = {
    "lorehlt-mt": LOREHLT_MT,
    "mteval": MTEVAL,
    "tmx": TMX,
    "mt-text": MT_TEXT,
    "sacrebleu-tsv": SACREBLEU,
}


def cases(room: str, table: str) -> list[tuple[Path, list[str]]]:
    lines = [line.split() for line in table.strip().splitlines()]
    return [(FIXTURES / room / "invalid" / name, fields) for name, *fields in lines]


READ = [case for room, table in ROOMS.items() for case in cases(room, table)]
JUDGED = cases("lorehlt-mt", SUBMISSIONS)


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


@pytest.mark.parametrize("case", READ, ids=named)
def test_a_file_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    holds(path, fields, tuple(read(str(path), path.parts[-3])[1]))


@pytest.mark.parametrize("case", JUDGED, ids=named)
def test_a_submission_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    # Without its input files, a submission has only the names of its own.
    against = None if path.name.startswith("MTV203") else str(TEXTS)
    verdict = validate("lorehlt-mt", str(path), against=against)
    if path.name.startswith("MTV201"):
        assert verdict.findings[0].file is None
        verdict = msgspec.structs.replace(
            verdict, findings=(msgspec.structs.replace(verdict.findings[0], file=str(path)),)
        )
    holds(path, fields, verdict.findings)
    assert verdict.passed is not fields[-1].startswith("E")


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code.startswith(("MTF", "MTV"))}
    listed = {path for path, _ in (*READ, *JUDGED)}
    assert {path.name.partition("-")[0] for path in listed} == codes
    assert {path for room in ROOMS for path in FIXTURES.glob(f"{room}/invalid/*")} == listed


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_valid_is_detected_and_has_no_finding(room: str) -> None:
    valid = FIXTURES / room / "valid"
    for path in [valid] if room == "lorehlt-mt" else valid.iterdir():
        corpus, findings = read(str(path))
        assert findings == []
        assert set(corpus.sources["format"]) == {room}


def test_translations_fit_what_was_translated() -> None:
    path = str(FIXTURES / "lorehlt-mt/valid")
    assert validate("lorehlt-mt", path, against=str(TEXTS)).findings == ()
    assert validate("lorehlt-mt", path).findings == ()
