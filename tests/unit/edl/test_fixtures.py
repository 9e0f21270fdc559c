"""Every code of this family has a fixture that raises it, where it says, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import validate
from hlteval.converters import load
from hlteval.findings import Finding, catalogue
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID, INVALID = FIXTURES / "lorehlt-edl/valid", FIXTURES / "lorehlt-edl/invalid"

# Line, column, end column (0: the file, or the whole submission); then E for an error, W for a
# warning, I for an info, ! where it blocks, and x where the official validator refuses it.
PLACES = """
CHR101-zero-width.tab          2   1  50  W
EDL101-empty.tab               0   0   0  E
EDL102-header.tab              1   1  88  Ex
EDL103-between.tab             2   1   1  W
EDL104-windows.tab             0   0   0  W
EDL105-two-parts               0   0   0  E
EDL106-zip                     0   0   0  E
EDL107-folder                  0   0   0  E
EDL108-text.txt                0   0   0  Wx
EDL109-notes                   0   0   0  W
EDL110-other-name              0   0   0  W
EDL111-final                   0   0   0  I
EDL201-seven-fields.tab        2   1  44  E!x
EDL202-nowhere.tab             2  16  16  E!x
EDL203-blank-for-colon.tab     2  16  28  E!x
EDL204-colon-first.tab         2  16  17  E!x
EDL205-letters.tab             2  23  29  E!x
EDL211-ninth-field.tab         2  49  50  E
EDL212-second-colon.tab        2  28  30  E
EDL213-arabic.tab              2  23  28  E
EDL214-two-words.tab           2  19  20  E
EDL215-two-colons.tab          2  16  22  Ex
EDL216-dash.tab                2  23  28  Ex
EDL301-first-field.tab         2   1   1  E
EDL302-two-runs.tab            8   1   7  E
EDL303-second-field.tab        2   8   8  Ex
EDL304-again.tab               6   8  10  E
EDL305-third-field.tab         2  11  12  Ex
EDL306-fifth-field.tab         2  29  29  Ex
EDL307-small-letters.tab       4  40  44  E
EDL308-two-entities.tab        2  29  44  E
EDL309-facility.tab            2  37  40  E
EDL310-pronoun.tab             8  40  43  E
EDL311-english.tab             2  41  44  W
EDL312-blank.tab               2  45  46  E
EDL313-comma.tab               2  45  49  E
EDL314-zero.tab                2  45  48  E
EDL315-no-point.tab            1  44  45  E
EDL316-reversed.tab            2  23  28  E
EDL317-zeros.tab               8  28  36  W
EDL318-place.tab               9  34  37  W
EDL319-one-more.tab            1  24  27  W
EDL401-line.tab               10   1  49  Ex
EDL402-two-types.tab          10  17  29  Ex
EDL403-surname.tab            10  23  28  Wx
EDL404-half.tab               10  30  35  Wx
EDL501-suffix.tab              1  17  27  E
EDL502-behind-the-end.tab      9  23  28  E
EDL503-one-off.tab             2  23  28  E
EDL504-no-entry.tab            2  29  36  E
EDL505-person.tab              2  29  34  W
EDL506-one-more.tab            0   0   0  I
EDL507-suffix.tab              0   0   0  Ex
EDL508-english-only.tab        0   0   0  I
EDL509-from-one.tab            0   0   0  E
TAB101-quotes.tab              1   1  63  E!x
TAB102-commas.tab              1   1  47  E!x
TAB105-other-names.tab         1   1  40  E!x
TAB106-decimal-commas.tab      1   1  47  E
TAB107-percentages.tab         1   1  47  E
TAB108-types.tab               1   1  47  E
TAB109-row-numbers.tab         1   1  49  E!x
TAB110-no-mention-type.tab     1   1  43  E!x
TAB111-small-letters.tab       1   1  47  E
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


def beside(code: str) -> tuple[str | None, dict[str, str]]:
    """What a fixture is checked against: everything but what would tell its fault again."""
    texts, names, base = (str(VALID / name) for name in ("texts.jsonl", "documents.list", "kb.tab"))
    if code in {"EDL317", "EDL318", "EDL319"}:
        return None, {}
    if code in {"EDL506", "EDL507", "EDL508"}:
        return None, {"documents": names}
    if code in {"EDL214", "EDL215", "EDL501"}:
        return texts, {"kb": base}
    return texts, {"documents": names, "kb": base}


def submitted(path: Path) -> Path:
    """The submission in a fixture: itself, or the archive in a folder of that name."""
    archives = [item for item in path.iterdir() if item.suffix != ".tab"] if path.is_dir() else []
    return archives[0] if archives else path


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_and_nothing_else(row: list[str]) -> None:
    name, *place, level = row
    code = name[:6]
    against, options = beside(code)
    path = str(submitted(INVALID / name))
    verdict = validate("lorehlt-edl", path, against=against, options=options)
    (finding,) = verdict.findings
    assert finding.code == code
    assert finding.severity.value[0].upper() + "!" * finding.blocking == level.rstrip("x")
    span = finding.span
    found = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert found == [int(number) for number in place]
    assert verdict.passed is not level.startswith("E")
    official = validate("lorehlt-edl", path, against=against, options=options, profile="official")
    assert official.findings == verdict.findings
    assert official.passed is not level.endswith("x")
    assert "{" not in finding.message + (finding.help or "")
    assert finding.help
    assert finding.clause


def test_every_code_has_a_fixture() -> None:
    names = {row[0] for row in ROWS}
    assert names == {path.name for path in INVALID.iterdir()}
    own = {name[:6] for name in names if name.startswith(("CHR", "EDL"))}
    assert own == {code for code in catalogue() if code.startswith(("CHR", "EDL"))}
    tables = {name[:6] for name in names if name.startswith("TAB")}
    # Without a header, there is none that is wrong: unit/ccu/test_ta2.py.
    assert tables == {code for code in catalogue() if code.startswith("TAB")} - {"TAB103", "TAB104"}


@pytest.mark.parametrize("name", ["submission.tab", "NIST_EDL_CP1_1.tab.tgz"])
def test_what_is_valid_has_no_finding(name: str) -> None:
    against, options = beside("")
    verdict = validate("lorehlt-edl", str(VALID / name), against=against, options=options)
    assert verdict.findings == ()


def read_as(form: str, path: Path) -> list[Finding]:
    readings = load(form).read(open_source(str(path)))
    return [finding for reading in readings for finding in reading.findings]


def test_a_knowledge_base_raises_its_code_and_nothing_else() -> None:
    found = {}
    for path in (FIXTURES / "kb-tab/invalid").iterdir():
        (finding,) = read_as("kb-tab", path)
        assert path.name.startswith(finding.code)
        found[finding.code] = finding.span and finding.span.line
    assert found == {"KBT101": 3, "KBT102": None}
    assert read_as("kb-tab", VALID / "kb.tab") == []


EXAMPLES = [
    entry
    for code, entry in catalogue().items()
    if code.startswith(("EDL2", "EDL3")) and "…" not in entry.bad
]


@pytest.mark.parametrize("entry", EXAMPLES, ids=lambda entry: entry.code)
def test_the_bad_example_raises_the_code_and_the_good_one_is_right(entry, tmp_path: Path) -> None:
    path = tmp_path / "example.tab"
    found = []
    for example in (entry.bad, entry.good):
        path.write_text(example + "\n", "utf-8")
        found.append(dict(validate("lorehlt-edl", str(path)).by_code))
    assert found == [{entry.code: 1}, {}]
