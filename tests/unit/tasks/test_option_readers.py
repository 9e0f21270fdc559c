"""Tables that options name are input: they are read as far as they can be, and judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlteval import Refused, score
from hlteval.findings import Finding
from hlteval.sources import open_source
from hlteval.syntax.tsv import Column, Table
from hlteval.tasks import load
from hlteval.tasks.edl import type_weights, zones
from hlteval.tasks.hub4 import lexicon
from hlteval.tasks.option_files import FileValue, files, read_files, read_table
from hlteval.tasks.situations import place_dictionary

TABLE = Table((Column("name"), Column("weight", "number", code="OPT102")), code="OPT101")


def source(path: Path, content: str | bytes) -> Any:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return open_source(str(path))


def shown(found: FileValue) -> list[tuple[str, int, int]]:
    """Code, line and column of findings."""
    return [
        (item.code, item.span.line if item.span else 0, item.span.column if item.span else 0)
        for item in found.findings
    ]


def test_rows_of_all_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"x\t1\r\n\r\n")
    (tmp_path / "b.tsv").write_bytes(b"y\t.5")
    rows, findings = read_table(open_source(str(tmp_path)), TABLE)
    assert rows.rows() == [(1, "x", 1.0), (1, "y", 0.5)]
    assert findings == []
    assert [file.text for file in files(open_source(str(tmp_path)))] == ["x\t1\r\n\r\n", "y\t.5"]


def test_every_invalid_line_is_a_finding_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("x\ny\t1\n")
    (tmp_path / "b.tsv").write_text("\nz\thigh\n")
    rows, findings = read_table(open_source(str(tmp_path)), TABLE)
    assert rows.rows() == [(2, "y", 1.0)]
    first, second = findings
    assert (first.code, first.file, first.position) == ("OPT101", f"{tmp_path}/a.tsv", ":1:1")
    assert first.message == "expected 2 tab-separated fields, found 1"
    assert first.help == "write name, weight, separated by single tabs"
    assert (second.code, second.file, second.position) == ("OPT102", f"{tmp_path}/b.tsv", ":2:3")
    assert second.message == "the weight high is not a number"


@pytest.mark.parametrize(("data", "code"), [(b"x\t\xff\n", "SRC201"), (b"x\t\0\n", "SRC203")])
def test_a_file_that_is_not_text_has_only_that_finding(
    data: bytes, code: str, tmp_path: Path
) -> None:
    rows, findings = read_table(source(tmp_path / "a.tsv", data), TABLE)
    assert rows.is_empty()
    assert [finding.code for finding in findings] == [code]


def test_the_tables_of_tasks(tmp_path: Path) -> None:
    path = tmp_path / "table"
    found = type_weights(source(path, "PER\tORG\t .5 \nPER\tORG\t1\nPER\tPER\t+.25\n"), {})
    assert found.value == {("PER", "ORG"): 1.0, ("PER", "PER"): 0.25}
    assert shown(found) == [("OPT106", 2, 1)]
    assert found.findings[0].help == "delete one of the lines; the largest weight counts"
    found = zones(source(path, "D1\t007\t9\nD1\t9\t9\n"), {})
    assert found.value.rows() == [("D1", 7, 9), ("D1", 9, 9)]
    assert shown(found) == []
    found = place_dictionary(source(path, "OSH\tOsh\nOSH\tosh\n\tx\nOSH\tOsh\n"), {})
    assert found.value == {"OSH": "Osh", "": "x"}
    assert shown(found) == [("OPT106", 2, 1)]


@pytest.mark.parametrize("weight", ["inf", "nan", "", "1,5", "half"])
def test_a_weight_is_a_number(weight: str, tmp_path: Path) -> None:
    found = type_weights(source(tmp_path / "weights", f"PER\tORG\t{weight}\n"), {})
    assert (found.value, shown(found)) == ({}, [("OPT102", 1, 9)])


@pytest.mark.parametrize("weight", ["-1", "2", "1.0000001", "1e99"])
def test_a_weight_is_between_0_and_1(weight: str, tmp_path: Path) -> None:
    """A larger one gave F above 1."""
    found = type_weights(source(tmp_path / "weights", f"PER\tORG\t{weight}\nA\tB\t0\n"), {})
    assert found.value["PER", "ORG"] == float(weight)  # what the official software takes
    assert shown(found) == [("OPT103", 1, 9)]
    assert found.findings[0].message == f"the weight {weight} is not between 0 and 1"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("D1\t20\t10", ("OPT105", 1, 4)),
        ("D1\t-1\t10", ("OPT104", 1, 4)),
        ("D1\t1\t1.5", ("OPT104", 1, 6)),
        ("D1:1-2", ("OPT101", 1, 1)),
    ],
)
def test_a_zone_has_offsets_in_order(
    line: str, place: tuple[str, int, int], tmp_path: Path
) -> None:
    assert shown(zones(source(tmp_path / "zones", line), {})) == [place]


def test_a_lexicon_has_phones(tmp_path: Path) -> None:
    found = lexicon(source(tmp_path / "lexicon", ";;; x\nosh AA SH\nOSH\r\n\nb(2) B\n"), {})
    assert set(found.value.phones) == {"osh", "b"}
    assert shown(found) == [("OPT108", 3, 1)]


@pytest.mark.parametrize(
    ("task", "option"),
    [
        ("lorehlt-edl", "type_weights"),
        ("lorehlt-edl", "exclude"),
        ("speech-sf", "place_dictionary"),
        ("hub4", "lexicon"),
        ("hub4", "glm"),
    ],
)
def test_an_empty_table_is_a_warning(task: str, option: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("\n", "utf-8")
    found = read_files(load(task), {option: str(path)}).findings
    assert [(item.code, item.blocking) for item in found] == [("OPT107", False)]
    assert found[0].file == str(path)


def test_files_are_read_in_the_encoding_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "names"
    path.write_bytes("Köln\tCologne\n".encode("latin-1"))
    given = {"place_dictionary": str(path)}
    assert read_files(load("speech-sf"), given, "latin-1").values["place_dictionary"] == {
        "Köln": "Cologne"
    }
    findings = read_files(load("speech-sf"), given).findings
    assert [(item.code, item.side) for item in findings] == [("SRC201", "--place-dictionary")]


@pytest.mark.parametrize(
    ("option", "content", "codes"),
    [
        ("kb", "NIST_1\tm1\tParis\n", ["KBT102"]),
        ("kb", "90001\nx\n", []),
        ("kb", "", ["OPT109"]),
        ("documents", "\n", ["OPT109"]),
    ],
)
def test_a_file_of_the_wrong_kind_blocks(
    option: str, content: str, codes: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text(content, "utf-8")
    read = read_files(load("lorehlt-edl"), {option: str(path)})
    found: list[Finding] = list(read.findings)
    assert [item.code for item in found] == codes
    assert all(item.blocking and item.side == f"--{option}" for item in found)
    assert (option in read.usable) is (codes == [])


FIXTURES = Path(__file__).parents[3] / "fixtures" / "options" / "invalid"
PLACES = """
MTS201-human.sf-scores           1  10  15  E
MTS202-no-number.sf-scores       1  13  16  E
OPT101-spaces.type-weights       2   1  12  E
OPT102-word.type-weights         1   9  13  E
OPT103-two.type-weights          1   9  10  E
OPT104-negative.exclude          1   8  10  E
OPT105-reversed.exclude          1   8  13  E
OPT106-two-weights.type-weights  2   1  13  W
OPT107-blank.exclude             0   0   0  W
OPT108-no-phones.lexicon         2   1   7  E
OPT109-blank.documents           0   0   0  E
OPT110-small-letters.types       2   1  11  E
OPT111-two-names.slots           2   1  28  E
OPT112-plural.annotators         2   8  14  E
OPT113-no-number.config          0   0   0  E
OPT115-each-other.ontology       3   1  22  E
OPT116-a-name.taxa               2   1  19  E
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]
UNKNOWN = FIXTURES / "OPT114-unknown.exclude"
"""A finding that depends on what is scored."""


def test_every_fixture_has_its_place() -> None:
    names = {row[0] for row in ROWS} | {UNKNOWN.name}
    assert names == {path.name for path in FIXTURES.iterdir()}


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_a_document_that_neither_side_has_is_not_excluded_in_silence(profile: str) -> None:
    submission = str(FIXTURES.parents[1] / "lorehlt-edl/valid/submission.tab")
    options = {"exclude": str(UNKNOWN)}
    with pytest.raises(Refused) as refused:
        score("lorehlt-edl", submission, submission, profile=profile, options=options)
    (found,) = refused.value.blocking
    assert (found.code, found.side, found.file) == ("OPT114", "--exclude", str(UNKNOWN))
    assert (found.message, found.help) == ("no document is called ENG_D9", "did you mean ENG_D1?")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_file_of_an_option_raises_its_code_and_nothing_else(row: list[str]) -> None:
    name, *place, level = row
    option = name.rpartition(".")[2].replace("-", "_")
    tasks = {
        "lexicon": "hub4",
        "slots": "hub4",
        "types": "speech-sf",
        "ontology": "bb19-norm",
        "taxa": "bb19-norm",
    }
    tasks |= dict.fromkeys(("annotators", "config"), "lorehlt-sf") | {"sf_scores": "lorehlt-mt"}
    task = tasks.get(option, "lorehlt-edl")
    (found,) = read_files(load(task), {option: str(FIXTURES / name)}).findings
    assert found.code == name[:6]
    span = found.span
    where = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert where == list(map(int, place))
    assert found.severity.value[0].upper() == level
    assert found.blocking is (level == "E" and option != "sf_scores")
