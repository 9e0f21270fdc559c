"""Every code of the rules of CCU has a fixture that raises it and nothing else, at its place."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from hlteval import read, validate
from hlteval.findings import catalogue
from hlteval.representation import Corpus
from hlteval.results.verdict import Verdict
from hlteval.tasks import load

FIXTURES = Path(__file__).parents[3] / "fixtures" / "ccu"
VALID = FIXTURES / "valid"

# The task of each fixture; file, line, column and end column of its finding (-: the archive or
# folder; *: the submission as a whole; 0: the file); then E for an error, W for a warning, I for an
# info, and ! where it blocks; and P if the official validator passes it, or F.
PLACES = """
CCU201-zip                 nd        -                                          0   0   0  E  P
CCU202-flat                nd        -                                          0   0   0  E  P
CCU203-out                 nd        -                                          0   0   0  E  P
CCU204-month-13            nd        -                                          0   0   0  E  P
CCU205-nist                nd        -                                          0   0   0  W  P
CCU206-emotions            nd        -                                          0   0   0  E  P
CCU207-index               ndmap     README.txt                                 0   0   0  W  P
CCU208-map                 nd        nd.map.tab                                 0   0   0  E  F
CCU209-readme              nd        README.txt                                 0   0   0  W  P
CCU301-two-of-three        nd        system_output.index.tab                    0   0   0  E  F
CCU302-misspelt            nd        system_output.index.tab                    5   1   3  E  F
CCU308-header-only         vd        V1.tab                                     0   0   0  E  F
CCU309-emotions            nd        A1.tab                                     2   1  17  E!  F
CCU401-minus               nd        A1.tab                                     2   8  10  E  P
CCU402-exchanged           nd        A1.tab                                     2   8  10  E!  F
CCU403-one-point           ed        A1.tab                                     2   8  10  E  F
CCU404-half-a-second       nd        A1.tab                                     2  10  14  E  P
CCU404-ten-characters      cd        T1.tab                                     2   4   7  E  P
CCU405-milliseconds        nd        A1.tab                                     2  13  18  E  F
CCU406-seconds             nd        T1.tab                                     2   8  12  W  F
CCU501-adhered             nd        A1.tab                                     2  13  20  E  P
CCU502-happiness           ed        A1.tab                                     2   4   7  E  F
CCU503-example             nd        A1.tab                                     2   4   6  I  F
CCU504-own                 nd        A1.tab                                     2   4   7  I  F
CCU505-twice               ed        A1.tab                                     3   1  17  W  F
CCU506-two-levels          vd        V1.tab                                     3   9  12  E  F
CCU506-two-scores          nd        A1.tab                                     3  20  23  E  F
CCU507-one-class           ed        A1.tab                                     3   8   9  W  P
CCU508-other-document      nd        A1.tab                                     2   4   9  E  F
CCU509-whole               nd        A1.tab                                     0   0   0  I  F
CCU510-none                nd        A1.tab                                     2   4   8  W  F
CCU511-one                 nd        A1.tab                                     3   1  18  E  P
CCU512-all                 nd        A1.tab                                     2   1  18  E  F
CCU513-own                 nd        A1.tab                                     2   4   7  W  P
CCU514-other-emotions      ed        *                                          0   0   0  W  P
CCU601-zero                vd        V1.tab                                     2   9  10  E  F
CCU603-text                vd        T1.tab                                     3   4   6  E  F
CCU603-video               ad        V1.tab                                     3   4   6  E  F
CCU604-video               vd        V1.tab                                     3   4   5  E  F
CCU605-late                vd        V1.tab                                     2   4   5  E  F
CCU606-early               vd        V1.tab                                     2   6   8  E  P
CCU607-example             vd        T1.tab                                     3   4   6  I  F
CCU701-table-11            cd        A1.tab                                     2   1  13  I  F
CCU702-up                  cd        A1.tab                                     2  14  16  W  F
CCU703-five                cd        A1.tab                                     2  23  24  W  F
CCU704-before              cd        V1.tab                                     2   4   5  I  P
CCU711-misspelt            ndmap     nd.map.tab                                 3   1   3  W  P
CCU712-known               ndmap     nd.map.tab                                 3   5   8  E  F
CCU713-twice               ndmap     nd.map.tab                                 3   1  56  W  P
CCU714-two                 ndmap     nd.map.tab                                 3   9  56  E  P
CCU715-no-area             ndmap     nd.map.tab                                 2   9  52  E  P
CCU716-nist                ndmap     nd.map.tab                                 2   9  57  W  P
CCU717-itself              ndmap     nd.map.tab                                 2   9  59  E  P
CCU801-adhere              reference data/norms.tab                             3  17  23  E  F
CCU802-not-applicable      reference data/norms.tab                             6  16  24  E  P
CCU803-half                reference data/norms.tab                             4  12  15  E  P
CCU804-joy-joy             reference data/emotions.tab                          2  12  20  E  F
CCU805-joy-none            reference data/emotions.tab                          2  12  21  W  P
CCU806-zero                reference data/valence_arousal.tab                   2  12  13  E  F
CCU807-half                reference data/valence_arousal.tab                   4   1  29  E  F
CCU808-late                reference data/changepoint.tab                       2   6   9  E  P
CCU809-none                reference data/changepoint.tab                       2   6  10  I  F
CCU810-true                reference data/emotions.tab                          5  17  21  E  F
CCU811-one-more            reference docs/segments.tab                          7   1   3  E  F
CCU812-picture             reference index_files/mini.system_input.index.tab    4   1   3  E  F
CCU813-no-length           reference index_files/mini.system_input.index.tab    4   1   3  E  P
CCU814-exchanged           reference docs/segments.tab                          7  10  12  E  F
CCU815-half-a-second       reference docs/segments.tab                          3  10  13  W  P
CCU816-late                reference docs/segments.tab                          7  12  14  E  P
CCU817-zero                reference index_files/mini.ED.scoring.index.tab      3   1   3  E  P
CCU818-three               reference docs/versions_per_file.tab                 2   1   3  W  P
CCU819-half                reference docs/segments.tab                          5  10  13  E  F
CCU820-point               reference docs/segments.tab                          7  10  11  W  P
"""
CASES = {line.split()[0]: line.split()[1:] for line in PLACES.strip().splitlines()}
OPTIONS = {"nd": {"classes": str(VALID / "norms.list")}, "ndmap": {"norms": str(VALID / "nd")}}


@cache
def reference() -> Corpus:
    """The valid reference, read once."""
    return read(str(VALID / "reference"), "ccu-reference")[0]


NO_NORMS = {"CCU503-example", "CCU504-own"}
"""Of norms that the valid reference lacks, too: it has none for them."""


def judged(
    task: str, path: Path, profile: str = "plan", *, annotated: bool = True, **options: str
) -> Verdict:
    """The verdict on a submission beside the valid reference, or on a reference."""
    against = None if task == "reference" else reference()
    if against and not annotated:
        emotions = against.instances.filter(pl.col("kind") != "norm")
        against = against.replace(instances=emotions, entities=against.entities.clear())
    return validate(f"ccu-{task}", str(path), against=against, profile=profile, **options)


def submission(path: Path) -> Path:
    """What a fixture submits: a folder or an archive with a name of its own, or itself."""
    return next((inner for inner in path.iterdir() if inner.name.startswith("CCU_")), path)


@pytest.mark.parametrize("name", CASES)
def test_a_fixture_raises_its_code_and_nothing_else(name: str) -> None:
    task, file, line, column, end, level, official = CASES[name]
    path = submission(FIXTURES / "invalid" / name)
    options = OPTIONS.get(task, {})
    verdict = judged(task, path, annotated=name not in NO_NORMS, **options)
    (found,) = verdict.findings
    assert found.code == name.partition("-")[0]
    assert found.file == {"-": str(path), "*": None}.get(file, f"{path}/{file}")
    span = found.span
    place = (span.line, span.column, span.end_column) if span else (0, 0, 0)
    assert place == (int(line), int(column), int(end))
    assert found.severity.value[0].upper() + "!" * found.blocking == level
    assert verdict.passed == (found.severity.value != "error")
    rejects = load(f"ccu-{task}").official_rejects
    assert rejects is not None
    assert rejects(found) == (official == "F")


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code.startswith("CCU")}
    assert {name.partition("-")[0] for name in CASES} == codes
    assert {path.name for path in FIXTURES.glob("invalid/*")} == CASES.keys()


VALID_SUBMISSIONS = {"nd-open": "nd", "nd": "nd", "ed": "ed", "vd": "vd", "ad": "ad", "cd": "cd"}


@pytest.mark.parametrize("name", [*VALID_SUBMISSIONS, "ndmap", "reference", "archive"])
def test_what_is_valid_has_no_finding(name: str) -> None:
    path = VALID / name
    if name == "archive":
        (path,) = VALID.glob("*.tgz")
    task = VALID_SUBMISSIONS.get(name, "nd" if name == "archive" else name)
    verdict = judged(task, path, **OPTIONS.get(task, {}))
    assert verdict.findings == ()
    assert verdict.passed


def test_the_profiles_judge_by_the_same_findings() -> None:
    for name, passed in (("CCU503-example", (True, False)), ("CCU401-minus", (False, True))):
        path = FIXTURES / "invalid" / name
        both = [judged("nd", path, profile, annotated=False) for profile in ("plan", "official")]
        assert tuple(verdict.passed for verdict in both) == passed
        assert both[0].findings == both[1].findings
