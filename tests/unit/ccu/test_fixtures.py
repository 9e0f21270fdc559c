"""Fixtures of the formats of CCU: each raises its code and nothing else, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.converters import load
from hlteval.findings import Finding, catalogue
from hlteval.representation import Corpus
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures"
PLACES = {
    "ccu-reference": """
CCR101-no-index                -                                       0   0   0  E!
CCR101-no-segments             -                                       0   0   0  E!
CCR102-misspelt                data/norms.tab                          1   1  40  E!
CCR103-note                    data/norms.tab                          1  40  44  W
CCR104-norm-twice              data/norms.tab                          1  40  44  E!
CCR105-no-status               data/norms.tab                          2   1  18  E!
CCR106-between-rows            data/norms.tab                          3   1   1  E
CCR107-decimal-comma           docs/segments.tab                       4  15  19  E!
CCR108-quotes                  data/norms.tab                          2  15  20  E!
CCR109-carriage-return         data/norms.tab                          2  19  26  E!
CCR110-yes                     data/emotions.tab                       2  19  22  E
CCR111-space-after-end         docs/segments.tab                       2  14  17  W
CCR120-two-folders             copy/data/norms.tab                     0   0   0  E!
CCR121-other-segment           data/norms.tab                          2   7  14  E
CCR122-to-do                   data/norms.tab                          3   1  34  W
CCR123-row-twice               data/norms.tab                          3   1  25  W
CCR124-unknown-document        index_files/LC1.ND.scoring.index.tab    3   1   3  W
CCR125-two-commas              data/emotions.tab                       2  15  24  E
CCR126-two-ends                docs/segments.tab                       3   4  11  E
""",
    "ccu-submission": """
CCS101-misnamed-index          system_index.tab                        0   0   0  E!
CCS101-no-index                -                                       0   0   0  E!
CCS102-capitals                D1.tab                                  1   1  34  E!
CCS102-commas                  D1.tab                                  1   1  34  E!
CCS102-index                   system_output.index.tab                 1   1  36  E!
CCS102-misspelt                D1.tab                                  1   1  35  E!
CCS102-no-llr                  D1.tab                                  1   1  30  E!
CCS103-note                    D1.tab                                  1  35  39  E
CCS103-trailing-tab            D1.tab                                  1  35  35  E
CCS104-llr-twice               D1.tab                                  1  35  38  E!
CCS105-one-less                D1.tab                                  2   1  20  E!
CCS105-one-more                D1.tab                                  2   1  27  E!
CCS106-between-rows            D1.tab                                  2   1   1  E
CCS107-decimal-comma           D1.tab                                  2  21  25  E!
CCS107-empty                   D1.tab                                  2  21  21  E!
CCS107-infinite                D1.tab                                  2  21  25  E!
CCS107-missing                 D1.tab                                  2  21  23  E!
CCS107-nan                     D1.tab                                  2  21  24  E!
CCS107-too-large               D1.tab                                  2  21  26  E!
CCS107-underscore              D1.tab                                  2  21  24  E!
CCS108-no-norm                 D1.tab                                  2   4   4  E!
CCS108-quotes                  D1.tab                                  2   4   9  E!
CCS109-carriage-return         D1.tab                                  2  14  21  E!
CCS110-fraction                D1.tab                                  2   9  14  E!
CCS111-crlf                    D1.tab                                  0   0   0  W
CCS112-arabic-name             D1.tab                                  2   4   5  W
CCS120-two-runs                run2/system_output.index.tab            0   0   0  E!
CCS121-yes                     system_output.index.tab                 3   4   7  E!
CCS122-twice                   system_output.index.tab                 3   1   3  E!
CCS123-other-suffix            system_output.index.tab                 3  10  16  E!
CCS124-absolute                system_output.index.tab                 3  10  25  E!
CCS124-parent                  system_output.index.tab                 3  10  19  E!
CCS125-test                    test.tab                                0   0   0  E
CCS126-other-document          D1.tab                                  3   1   3  E!
CCS127-false                   D1.tab                                  2   1  25  E!
CCS128-emotions                D2.tab                                  1   1  30  E!
CCS129-no-header               D1.tab                                  1   1  25  E!
CCS130-no-path                 system_output.index.tab                 3   1  10  E!
CCS131-shared                  system_output.index.tab                 3  10  16  E!
CCS132-from-above              system_output.index.tab                 2  10  41  W
CCS133-lower-case              system_output.index.tab                 2   1   3  E!
""",
    "ccu-index": """
CCS102-no-header.index.tab     -                                       1   1   3  E!
CCS104-twice.index.tab         -                                       1   9  16  E!
CCS105-spaces.index.tab        -                                       3   1   8  E!
CCS106-between.index.tab       -                                       3   1   1  E
CCS107-comma.index.tab         -                                       2  10  14  E!
CCS108-space.index.tab         -                                       2   1   4  E!
CCS109-carriage-return.index.tab -                                       2   4  10  E!
CCS141-twice.index.tab         -                                       3   1   3  W
""",
}
"""The file, the line, the columns and the severity (! blocks) of what each fixture raises."""
CASES = [
    (form, line.split()) for form, table in PLACES.items() for line in table.strip().split("\n")
]
VALID = [(form, path) for form in PLACES for path in sorted(FIXTURES.glob(f"{form}/valid/*"))]


def read(form: str, path: Path, **settings: str) -> tuple[Corpus, list[Finding]]:
    results = list(load(form).with_settings(settings).read(open_source(str(path))))
    found = [finding for result in results for finding in result.findings]
    return Corpus.concat(result.corpus for result in results), found


@pytest.mark.parametrize(
    ("form", "fields"), CASES, ids=lambda value: value[0] if isinstance(value, list) else value
)
def test_a_fixture_raises_its_code_at_its_place(form: str, fields: list[str]) -> None:
    name, file, *place, level = fields
    path = FIXTURES / form / "invalid" / name
    (found,) = read(form, path)[1]
    assert found.code == name.partition("-")[0]
    assert found.file == (str(path) if file == "-" else f"{path}/{file}")
    span = found.span
    shown = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert shown == [*map(int, place)]
    assert found.severity.value[0].upper() + "!" * found.blocking == level
    assert found.help
    assert found.clause
    assert "{" not in found.message + found.help


@pytest.mark.parametrize(("form", "path"), VALID, ids=lambda value: getattr(value, "name", value))
def test_a_valid_fixture_raises_nothing(form: str, path: Path) -> None:
    assert read(form, path)[1] == []


def test_each_code_of_the_formats_has_a_fixture() -> None:
    fixtures = {fields[0][:6] for _, fields in CASES}
    assert fixtures == {code for code in catalogue() if code.startswith(("CCR1", "CCS1"))}
    listed = {(form, fields[0]) for form, fields in CASES}
    assert listed == {
        (form, path.name) for form in PLACES for path in FIXTURES.glob(f"{form}/invalid/*")
    }
