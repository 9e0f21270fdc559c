"""The catalogue: every code has a fixture that raises it and nothing else, and tells what it is."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from string import Formatter

import msgspec
import pytest

from hlteval import convert, read, validate
from hlteval.converters import load
from hlteval.findings import Entry, Finding, catalogue
from hlteval.sources import open_source
from tests.effort import codes_by_family

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
REFERENCE = FIXTURES / "standoff" / "valid" / "full"
SOURCE_TESTS = Path(__file__).parent / "sources" / "test_fixtures.py"

# What each fixture raises, and where: file, line, column, end column (0: the file, or the whole
# submission); then E for an error, W for a warning, I for an info, and ! where it blocks.
STANDOFF = """
STD101-blank-for-tab            seed-1.a2    2   3   4  E
STD102-unknown-letter           seed-1.a2    2   1   3  E
STD103-no-end                   seed-1.a2    2  14  15  E
STD104-argument-without-role    seed-1.a2    2  42  42  E
STD104-blank-behind-colon       seed-1.a2    2  37  38  E
STD104-nothing-behind-type      seed-1.a2    2  16  16  E
STD105-no-argument              seed-1.a2    2  17  22  E!
STD110-old-mac                 seed-1.a2    1  46  47  E
STD110-inside                  seed-1.a2    2  35  36  E
STD106-form-of-2013             seed-1.a2    2  13  15  E
STD106-more-behind              seed-1.a2    2  26  27  E
STD107-bare-referent            seed-1.a2    2   9  11  E
STD108-small-letters            seed-1.a2    2   3   8  E
STD109-ten-digits               seed-1.a2    2  15  25  E!
STD201-last-part-first          seed-1.a1   11  20  32  W
STD202-end-beyond-text          seed-1.a1   10  13  20  E
STD203-parts-overlap            seed-1.a1   11  20  29  E
STD204-end-before-start         seed-1.a1    3  11  16  E!
STD205-end-is-start             seed-1.a1    3  11  16  E
STD206-one-off                  seed-1.a1    3  17  23  E
STD301-event-twice              seed-1.a2    2   1   3  E
STD302-no-such-entity           seed-1.a2    2  37  40  E
STD302-no-such-event            seed-1.a2    2  24  26  E
STD303-modifier-first           seed-1.a2    1  24  26  I
STD304-common-member            seed-1.a2    7   9  11  W
STD305-one-member               seed-1.a2    6   9  11  W
"""
REFUSED_AS_READ = {"STD104-argument-without-role", "STD104-blank-behind-colon", "STD110-inside"}
"""Malformed events of which the software reads something that it refuses."""
SEEDEV = """
SEE101-misspelt-event           seed-1.a2    2   4  16  E!
SEE101-other-modifier           seed-1.a2    2   4  15  E!
SEE102-entity-type              seed-1.a2    2   4  10  E!
SEE103-binary-names             seed-1.a2    1   4  12  E!
SEE104-trigger                  seed-1.a2    2  17  19  E!
SEE201-no-conditions            seed-1.a2    2  49  55  E!
SEE201-unknown-role             seed-1.a2    2  57  62  E!
SEE202-one-role                 seed-1.a2    2   4  26  E!
SEE203-neither-role             seed-1.a2    2   4  16  E!
SEE204-both-roles               seed-1.a2    2   4  16  E!
SEE205-entity-type              seed-1.a2    2  54  56  E!
SEE205-event-type               seed-1.a2    3  76  78  E!
SEE205-modifier                 seed-1.a2    3  37  39  E!
SEE206-role-twice               seed-1.a2    2  17  39  W
SEE207-negated-entity           seed-1.a2    2  24  26  E!
SEE207-negated-modifier         seed-1.a2    3  24  26  E!
SEE208-negated-twice            seed-1.a2    3  24  26  E!
SEE301-event-twice              seed-1.a2    2   1  46  W
SEE302-both-directions          seed-1.a2    3   1  51  W
SEE303-itself                   seed-1.a2    2  36  38  E
SEE304-each-other               seed-1.a2    2  76  78  E
SEE305-one-entity               seed-1.a2    2  32  34  W
SEE306-event-as-agent           seed-1.a2    2  32  34  E
SEE306-modifier-as-agent        seed-1.a2    3  32  34  E
SEE307-new-entity               seed-1.a2    2   1  25  E
SEE308-relation                 seed-1.a2    2   1   3  W
SEE309-equivalence              seed-1.a2    2   1  14  W
SEE401-one-file                 -            0   0   0  E!
SEE402-another-name             seed-3.a2    0   0   0  E
SEE403-nothing-in-it            seed-1.a2    0   0   0  W
SEE404-notes                    notes.txt    0   0   0  W
SEE405-sub-folder               run-2/seed-1.a2  0  0  0  W
SEE406-given-file               seed-1.a1    0   0   0  I
SEE407-changed-file             seed-1.a1    0   0   0  W
SEE408-two-files.zip            run-2/seed-1.a2  0  0  0  E!
SEE409-two-runs.zip             -            0   0   0  E!
SEE410-sub-folder               -            0   0   0  E!
"""
SENTENCES = """
SNT101-blanks.tsv               -            2   1  14  E
SNT101-end-before-start.tsv     -            3   1  12  E
"""
CORPUS = """
COR101-later-version.jsonl      -            1   0   0  E!
COR102-misspelt-column.jsonl    -            2   0   0  W
COR103-no-name.jsonl            -            2   0   0  E
COR103-unknown-table.jsonl      -            3   0   0  E
COR104-same-key.jsonl           -            3   0   0  E
COR105-no-document.jsonl        -            4  40  41  E
COR106-same-name.jsonl          -            3  37  38  E
COR107-beyond-the-text.jsonl    -            4   0   0  W
COR108-parent-folder.jsonl      -            2  37  38  W
COR109-unread-mention.jsonl     -            4   0   0  E
COR110-other-document.jsonl     -            6  77  78  E
"""
OF_CRASHES = {"PIP104", "PIP105", "PIP106", "CPN301"}
"""Codes of programs that end, which cli/test_pipeline.py and unit/campaign/test_graph.py end."""
OF_ABSENT = {"LDB201", "OPT117"}
"""Codes of what is not there, which cli/test_leaderboard.py and generic/test_annotators.py name."""
OF_SIZES = {"CNV111", "GEN409"}
"""Codes of what would be large, which tests of conversion and of generic rules make small."""
CONVERSIONS = """
CNV101-sentences.jsonl          -            0   0   0  W
CNV102-doubled-blanks           seed-1.a2    0   0   0  I
CNV103-situations.jsonl         -            0   0   0  W
"""


def rows(table: str, room: str) -> list[tuple[Path, list[str]]]:
    lines = [line.split() for line in table.strip().splitlines()]
    return [(FIXTURES / room / "invalid" / name, fields) for name, *fields in lines]


def named(case: tuple[Path, list[str]]) -> str:
    return case[0].name


def holds(path: Path, fields: list[str], findings: list[Finding] | tuple[Finding, ...]) -> None:
    """That one finding is there and that it is the expected one, down to the column."""
    file, line, column, end_column, level = fields
    found = [finding.code for finding in findings]
    assert found == [path.name.partition("-")[0]]
    only = findings[0]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    assert only.file in {str(path) if file == "-" else f"{path}/{file}", None if file == "-" else 0}
    span = only.span
    place = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    wanted = [int(line), int(column), int(end_column)]
    assert place[: 3 if wanted[1] else 1] == wanted[: 3 if wanted[1] else 1]
    if span and only.excerpt and not only.excerpt.offset:
        content = (path / file if file != "-" else path).read_bytes().decode("utf-8")
        assert only.excerpt.text == content.split("\n")[span.line - 1].removesuffix("\r")
    assert "{" not in only.message + (only.help or "")


@pytest.mark.parametrize("case", [*rows(STANDOFF, "standoff"), *rows(SEEDEV, "seedev")], ids=named)
def test_a_submission_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    against = None if (path / "seed-1.txt").exists() else str(REFERENCE)
    verdict = validate("seedev-full", str(path), against=against)
    holds(path, fields, verdict.findings)
    assert verdict.passed is not fields[-1].startswith("E")
    official = validate("seedev-full", str(path), against=against, profile="official")
    # The software reads of some events what the format refuses, and may refuse that.
    refused = path.name in REFUSED_AS_READ
    blocking = [msgspec.structs.replace(item, blocking=True) for item in verdict.findings]
    assert [*official.findings] == (blocking if refused else [*verdict.findings])
    assert official.passed is not (fields[-1].endswith("!") or refused)


@pytest.mark.parametrize("task", ["full", "binary"])
def test_the_valid_corpora_raise_nothing(task: str) -> None:
    verdict = validate(f"seedev-{task}", str(FIXTURES / "standoff" / "valid" / task))
    assert verdict.findings == ()


@pytest.mark.parametrize("case", rows(SENTENCES, "seedev-sentences"), ids=named)
def test_a_list_of_sentences_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    readings = list(load("seedev-sentences").read(open_source(str(path))))
    holds(path, fields, [finding for reading in readings for finding in reading.findings])
    assert sum(reading.corpus.segments.height for reading in readings) == 2


@pytest.mark.parametrize("case", rows(CORPUS, "jsonl"), ids=named)
def test_a_saved_corpus_raises_its_code_and_nothing_else(case: tuple[Path, list[str]]) -> None:
    path, fields = case
    holds(path, fields, read(str(path))[1])


@pytest.mark.parametrize("case", rows(CONVERSIONS, "conversion"), ids=named)
def test_a_conversion_raises_its_code_and_nothing_else(
    case: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, fields = case
    findings = convert(str(path), str(tmp_path / "out"), to_format="standoff")
    assert [finding.code for finding in findings] == [path.name.partition("-")[0]]
    assert findings[0].severity.value[0].upper() == fields[-1]
    assert findings[0].file == (None if fields[0] == "-" else fields[0])


def test_every_code_has_a_fixture() -> None:
    elsewhere = runpy.run_path(str(SOURCE_TESTS))["ELSEWHERE"]
    fixtures = {path.name.partition("-")[0] for path in FIXTURES.glob("*/invalid/*")}
    assert fixtures == catalogue().keys() - elsewhere.keys() - OF_CRASHES - OF_ABSENT - OF_SIZES
    tabled = {
        path
        for table, room in (
            (STANDOFF, "standoff"),
            (SEEDEV, "seedev"),
            (SENTENCES, "seedev-sentences"),
            (CORPUS, "jsonl"),
            (CONVERSIONS, "conversion"),
        )
        for path, _ in rows(table, room)
    }
    own = {path.parents[1].name for path in tabled}
    others = {path for path in FIXTURES.glob("*/invalid/*") if path.parents[1].name not in own}
    assert tabled == set(FIXTURES.glob("*/invalid/*")) - others
    rooms = {path.parents[1].name for path in others}
    assert not {room for room in rooms if not modules_with(room)}, "no test names these fixtures"


def modules_with(room: str) -> list[Path]:
    """The other modules of tests that name a folder of fixtures."""
    named = re.compile(rf"""["'/ ]{room}["'/]""")
    return [path for path, text in modules_with_fixtures().items() if named.search(text)]


@cache
def modules_with_fixtures() -> dict[Path, str]:
    """The texts of the other modules of tests that may name a folder of fixtures."""
    others = set(Path(__file__).parents[1].rglob("test_*.py")) - {Path(__file__)}
    texts = {path: path.read_text("utf-8") for path in others}
    return {path: text for path, text in texts.items() if "invalid" in text}


@pytest.mark.parametrize("family", codes_by_family())
def test_every_entry_tells_what_it_is(family: str) -> None:
    for code in codes_by_family()[family]:
        hold_entry(catalogue()[code])


def hold_entry(entry: Entry) -> None:
    assert re.fullmatch("[A-Z]{3}[0-9]{3}", entry.code)
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", entry.name)
    assert entry.title
    assert entry.clause or entry.code.startswith(("SRC", "REF", "AGR"))  # of no task
    for prose in (entry.why, entry.fix):
        assert prose.endswith(".")
        assert prose[0].isupper()
    for template in (entry.message, entry.help):
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        assert all(re.fullmatch(r"[a-z_]+(\|[^|]+\|[^|]+)?", name) for name in names)
    assert bool(entry.bad) == bool(entry.good)


def test_names_are_unique() -> None:
    names = [entry.name for entry in catalogue().values()]
    assert len(set(names)) == len(names)


# The examples are tried in a document of these entities; where an example needs another text to
# stand in, it has its own.
TEXT = "seed stalk"
TEXTS = {"STD201": "young dry seeds", "STD203": "young seeds"}
GIVEN = re.compile("STD103|STD109|STD2")
"""Codes whose examples are given entities, STD304 and STD305 those that are about equivalences:
they are tried as a corpus of their own, all others as a submission."""
NOT_OF_SEEDEV = {"STD107": ["SEE101"]}
"""What else the good example of a code raises: SeeDev has no type of normalisations."""
RECORDS = [entry for code, entry in catalogue().items() if re.match("STD|SEE[123]", code)]
CONTEXT = {
    "E1": "E1\tBinding Functional_Molecule:T1 Molecule:T2",
    "E2": "E2\tInteraction Agent:T1 Target:T2",
}


def found(entry: Entry, example: str, folder: Path) -> list[Finding]:
    """What is found in an example, with the events that it refers to and does not have itself."""
    missing = [
        line
        for name, line in CONTEXT.items()
        if re.search(rf"\b{name}$|\b{name}\b(?!\t)", example) and f"{name}\t" not in example
    ]
    lines = "".join(f"{line}\n" for line in [*missing, *example.split("\n")])
    given = (REFERENCE / "seed-1.a1").read_bytes().decode()
    reference, system = folder / "reference", folder / "system"
    for corpus in (reference, system):
        corpus.mkdir(parents=True)
    (reference / "seed-1.txt").write_bytes((REFERENCE / "seed-1.txt").read_bytes())
    (reference / "seed-1.a1").write_text(given, "utf-8")
    (reference / "seed-1.a2").write_text("", "utf-8")
    (system / "seed-1.a2").write_text(lines, "utf-8")
    if GIVEN.match(entry.code):
        (reference / "seed-1.txt").write_text(TEXTS.get(entry.code, TEXT), "utf-8")
        (reference / "seed-1.a1").write_text(lines, "utf-8")
    elif entry.code in {"STD304", "STD305"}:
        (reference / "seed-1.a2").write_text(lines, "utf-8")
    else:
        return list(validate("seedev-full", str(system), against=str(reference)).findings)
    return list(validate("seedev-full", str(reference)).findings)


@pytest.mark.parametrize("entry", RECORDS, ids=lambda entry: entry.code)
def test_the_bad_example_raises_the_code_and_the_good_one_is_right(
    entry: Entry, tmp_path: Path
) -> None:
    bad = [finding.code for finding in found(entry, entry.bad, tmp_path / "bad")]
    good = found(entry, entry.good, tmp_path / "good")
    assert entry.code in bad
    wrong = [f.code for f in good if f.severity == "error" or f.code == entry.code]
    assert wrong == NOT_OF_SEEDEV.get(entry.code, [])
