"""The rules of Bacteria Biotope: each mistake is found at its place, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import validate
from hlteval.findings import Finding
from hlteval.validators.biotope.rules import RULES

FIXTURES = Path(__file__).parents[3] / "fixtures"
ONTOLOGY, TAXA = (FIXTURES / "bb19-norm/valid" / name for name in ("ontology.tab", "taxa.list"))
PLACES = """
bb16-cat/invalid/BTP101-of-2019           4  4   8 E!
bb16-event/invalid/BTP203-a-habitat       1 22  24 E!
bb19-kb-ner/invalid/BTP202-one-argument  13  4  12 E!
bb19-kb/invalid/BTP203-a-phenotype        8 39  41 E!
bb19-norm-ner/invalid/BTP101-misspelt     1  4  18 E!
bb19-norm-ner/invalid/BTP304-no-referent 11  1   3 E!
bb19-norm/invalid/BTP301-other-kind       2 29  31 E!
bb19-norm/invalid/BTP302-other-year       2 39  49 E!
bb19-norm/invalid/BTP303-three-taxa       7 41  45 E!
bb19-norm/invalid/BTP305-four-of-five     0  0   0 E!
bb19-rel-ner/invalid/BTP204-twice         9  1  41 W
bb19-rel/invalid/BTP102-new-entity        4  1  24 W
bb19-rel/invalid/BTP201-other-role        1 30  37 E!
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]
TASKS = sorted({row[0].partition("/")[0] for row in ROWS})


def findings(folder: Path, task: str) -> list[Finding]:
    """The findings about a submission, with the lists of identifiers where the task has them."""
    reference = str(FIXTURES / task / "valid/reference")
    options = {"ontology": str(ONTOLOGY), "taxa": str(TAXA)} if task == "bb19-norm" else {}
    return [*validate(task, str(folder), against=reference, options=options).findings]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_mistake_is_found_at_its_place(row: list[str]) -> None:
    name, *place, level = row
    found = findings(FIXTURES / name, name.partition("/")[0])
    finding, *others = found
    assert others == []
    assert finding.code == name.rpartition("/")[2][:6]
    assert Path(finding.file or "").name == "bb-1.a2"
    span = finding.span
    own = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert own == list(map(int, place))
    assert finding.severity.value[0].upper() + "!" * finding.blocking == level
    assert "{" not in finding.message + (finding.help or "")


def test_every_fixture_and_every_rule_is_tried() -> None:
    fixtures = {str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("bb1*/invalid/*")}
    assert fixtures == {row[0] for row in ROWS}
    codes = {rule.code for rule in RULES if rule.code.startswith("BTP")}
    assert codes == {name.rpartition("/")[2][:6] for name in fixtures}


@pytest.mark.parametrize("task", TASKS)
def test_what_is_right_has_no_findings(task: str) -> None:
    valid = FIXTURES / task / "valid"
    assert findings(valid / "submission", task) == []
    assert validate(task, str(valid / "reference")).findings == ()


def test_entities_of_a_system_may_have_the_identifiers_of_the_reference(tmp_path: Path) -> None:
    """In tasks with +ner, the reference has entities of its own; a repeated one is still found."""
    valid = FIXTURES / "bb19-rel-ner/valid"
    for path in (valid / "submission").iterdir():
        text = path.read_text("utf-8")
        (tmp_path / path.name).write_text(text + text.splitlines(keepends=True)[0])
    assert {item.code for item in findings(tmp_path, "bb19-rel-ner")} == {"STD301"}


@pytest.mark.parametrize(
    ("written", "hint"),
    [("000002", "did you mean OBT:000002?"), ("OBT:9", "use an identifier of the file")],
)
def test_a_forgotten_prefix_is_suggested(written: str, hint: str, tmp_path: Path) -> None:
    for path in (FIXTURES / "bb19-norm/valid/submission").iterdir():
        text = path.read_text("utf-8").replace("OBT:000002", written)
        (tmp_path / path.name).write_text(text)
    assert [item.help for item in findings(tmp_path, "bb19-norm")] == [hint]
