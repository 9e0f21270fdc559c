"""Rules made from declarations: each mistake is found at its place, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import hlteval
from hlteval import validate
from hlteval.findings import Finding
from hlteval.scoring.generic import spans as spans_of
from hlteval.tasks import load
from hlteval.validators.generic.rules import RULES

FIXTURES = Path(__file__).parents[3] / "fixtures" / "generic"
SINGLE = {".conll", ".pubtator", ".xml", ".rttm", ".tsv", ".json", ".jsonl"}
PLACES = """
GEN101-misspelt        d1.ann   1  4   9 E!
GEN102-misspelt        d1.ann   1  4   9 W
GEN103-small-letters   -        0  0   0 E!
GEN104-capitals        d1.ann   1  4  10 W
GEN105-comma           s.tsv    2  3   6 E!
GEN106-percent         s.tsv    3  3   5 E
GEN107-one-row         -        0  0   0 E!
GEN108-norms           s.jsonl  0  0   0 E!
GEN201-employer        d1.ann   4 18  22 E!
GEN202-a-place         d1.ann   4 23  25 E!
GEN203-two-jobs        d1.ann   5  4   9 E!
GEN204-two             s.tsv    3  4  11 E
GEN205-no-such         d1.ann   4 23  25 E!
GEN206-mentions        d1.ann   4  1  25 E!
GEN207-no-nodes        s.bioc.xml 6  1 19 E!
GEN208-employee        d1.ann   4 10 18 E!
GEN209-prefix          s.pubtator 4 10 15 E
GEN301-another         d9.txt   0  0   0 E!
GEN302-notes           system   0  0   0 E!
GEN303-another         d9.txt   0  0   0 W
GEN304-other-files     -        0  0   0 E
GEN305-columns         s.conll  0  0   0 E
GEN401-person-twice    d1.ann   5  1  18 W
GEN401-relation-twice  d1.ann   5  1  25 W
GEN402-beyond          d1.a2    2  8  13 E!
GEN403-one-off         d1.a2    1 15  18 E
GEN404-utf-16          -        0  0   0 E!
GEN405-two-entities    s.conll  2 12  19 E!
GEN407-from-1          d1.ann   0  0   0 E!
GEN408-other-word      s.conll  2  1  12 E!
GEN410-two             s.label-studio.json 4  5  6 E!
GEN411-without-prefix  d1.ann   1  1  20 E!
GEN406-milliseconds    s.rttm   2 13  19 W
"""
ROWS = [line.split() for line in PLACES.split("\n") if line]


def found(folder: Path) -> list[Finding]:
    """The findings about the system of a fixture."""
    sides = []
    for side in ("system", "gold"):
        files = [*(folder / side).iterdir()]
        single = len(files) == 1 and files[0].suffix in SINGLE
        sides.append(str(files[0] if single else folder / side))
    task = str(folder / "own.task.toml")
    return [*validate(task, sides[0], against=sides[1]).findings]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_mistake_is_found_at_its_place(row: list[str]) -> None:
    name, file, *place, level = row
    (finding,) = found(FIXTURES / "invalid" / name)
    assert finding.code == name[:6]
    assert Path(finding.file or "-").name == file
    span = finding.span
    own = [span.line, span.column, span.end_column] if span else [0, 0, 0]
    assert own == list(map(int, place))
    assert finding.severity.value[0].upper() + "!" * finding.blocking == level
    assert finding.help
    assert "{" not in finding.message + finding.help


def test_every_fixture_and_every_rule_is_tried() -> None:
    names = {path.name for path in (FIXTURES / "invalid").iterdir()}
    assert names == {row[0] for row in ROWS}
    of_package = {"GEN302"}
    assert {rule.code for rule in RULES} | of_package == {name[:6] for name in names}


@pytest.mark.parametrize("name", ["mentions", "relations"])
def test_what_is_right_has_no_findings(name: str) -> None:
    assert found(FIXTURES / "valid" / name) == []


def test_a_misspelt_label_is_suggested() -> None:
    (finding,) = found(FIXTURES / "invalid" / "GEN101-misspelt")
    assert finding.help == "did you mean Person?"


def test_a_label_that_is_written_in_full_is_a_warning(tmp_path: Path) -> None:
    for side, label in (("gold", "Org"), ("system", "Organisation")):
        (tmp_path / side).mkdir()
        text = f"T1\tPerson 0 3\tAnn\nT2\t{label} 7 11\tAcme\n"
        (tmp_path / side / "d.ann").write_text(text)
        (tmp_path / side / "d.txt").write_text("Ann at Acme\n")
    verdict = validate("mentions", str(tmp_path / "system"), against=str(tmp_path / "gold"))
    (finding,) = verdict.findings
    assert finding.code == "GEN104"


def test_a_document_without_evaluated_stretches_is_reported_once(tmp_path: Path) -> None:
    turn = "SPEAKER {} 1 {} 1 <NA> <NA> A <NA> <NA>\n"
    (tmp_path / "all.uem").write_text("m 1 0 60\n")
    (tmp_path / "gold.rttm").write_text(turn.format("m", 1) + turn.format("n", 1))
    lines = (turn.format(name, at) for name in "mno" for at in (1, 5))
    (tmp_path / "run.rttm").write_text("".join(lines))
    paths = [str(tmp_path / name) for name in ("run.rttm", "gold.rttm", "all.uem")]
    verdict = validate("segments", paths[0], against=paths[1], options={"evaluated": paths[2]})
    helps = {item.help for item in verdict.findings if item.code == "GEN406"}
    assert helps == {"add n to the UEM file, which has nothing of it"}
    assert sum(Path(item.file).name == "run.rttm" for item in verdict.findings) == 2


def test_builtin_tasks_take_any_label() -> None:
    folder = FIXTURES / "invalid" / "GEN101-misspelt"
    verdict = validate("mentions", str(folder / "system"), against=str(folder / "gold"))
    assert verdict.findings == ()
    assert load("mentions").schema().labels == ()


def test_other_labels_can_be_ignored(tmp_path: Path) -> None:
    folder = FIXTURES / "invalid" / "GEN101-misspelt"
    path = tmp_path / "own.task.toml"
    text = (folder / "own.task.toml").read_text("utf-8")
    path.write_text(text + 'undeclared = "ignore"\n')
    verdict = validate(str(path), str(folder / "system"), against=str(folder / "gold"))
    assert verdict.findings == ()


def test_labels_that_are_texts_are_not_compared_with_each_other(tmp_path: Path) -> None:
    """Twenty thousand on both sides would be four hundred million pairs."""
    sides = []
    for side in ("gold", "system"):
        lines = [f"d{at}\t{side} says {at:05d}" for at in range(1200)]
        sides.append(tmp_path / f"{side}.tsv")
        sides[-1].write_text("\n".join(["id\tlabel", *lines]) + "\n", "utf-8")
    findings = hlteval.validate("labels", str(sides[1]), against=str(sides[0])).findings
    meant = [item.help for item in findings if item.code == "GEN104"]
    assert meant[0].startswith("the reference has gold says 00000, ")
    assert not [hint for hint in meant if hint.startswith("did you mean")]


def test_spans_around_each_other_are_counted_before_they_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side, shift in (("gold", 0), ("system", 1)):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "d.txt").write_text("x" * 30, "utf-8")
        spans = [(at, 20 - at + shift) for at in range(5)]
        lines = [f"T{start + 1}\tX {start} {end}\t{'x' * (end - start)}\n" for start, end in spans]
        (folder / "d.ann").write_text("".join(lines), "utf-8")
    sides = str(tmp_path / "gold"), str(tmp_path / "system")
    assert hlteval.score("mentions", *sides).metrics["partial.partial"] == 5
    monkeypatch.setattr(spans_of, "MOST_PAIRS", 24)  # each of five with each of five
    with pytest.raises(hlteval.Refused, match="GEN409") as refused:
        hlteval.score("mentions", *sides)
    (finding,) = refused.value.verdict.findings
    assert finding.message == "25 pairs of spans overlap, more than the 24 that can be compared"


def test_only_documents_of_the_reference_are_scored_if_that_is_declared() -> None:
    folder = FIXTURES / "invalid" / "GEN303-another"
    sides = [str(folder / side) for side in ("gold", "system")]
    scores = hlteval.score(str(folder / "own.task.toml"), reference=sides[0], system=sides[1])
    assert scores.metrics["micro.precision"] == 1  # 3 of 3; of both documents it would be 3 of 6
    both = FIXTURES / "invalid" / "GEN301-another"
    task = str(both / "own.task.toml")
    scores = hlteval.score(task, reference=sides[0], system=sides[1], lenient=True)
    assert scores.metrics["micro.precision"] == 0.5


@pytest.mark.parametrize(
    ("table", "value", "line", "reason"),
    [
        ("read", "gold", 5, 'documents: unknown value "gold"'),
        ("read.system", "reference", 6, "documents is a key of [read]"),
    ],
)
def test_a_wrong_choice_of_documents_is_found(
    tmp_path: Path, table: str, value: str, line: int, reason: str
) -> None:
    path = tmp_path / "own.task.toml"
    more = "" if table == "read" else f"[{table}]\n"
    path.write_text(
        f'[task]\nunit = "mentions"\n[read]\nformat = "brat"\n{more}documents = "{value}"\n'
    )
    with pytest.raises(ValueError, match="documents") as error:
        hlteval.task(path)
    (finding,) = error.value.findings  # type: ignore[attr-defined]
    assert (finding.code, finding.span.line) == ("TSK108", line)
    assert finding.message.startswith(reason)
    assert 'write documents = "both" or "reference"' in finding.help


@pytest.mark.parametrize("several", ["declared", "in the reference"])
def test_several_labels_are_allowed_where_the_task_has_them(tmp_path: Path, several: str) -> None:
    gold, system = tmp_path / "gold.tsv", tmp_path / "run.tsv"
    gold.write_text("id\tlabel\nd1\ta\n" + ("d1\tb\n" if several != "declared" else ""))
    system.write_text("id\tlabel\nd1\ta\nd1\tb\n")
    setting = {"separator": ";"} if several == "declared" else {}
    task = hlteval.task(unit="labels", read={"format": "label-table", **setting})
    findings = hlteval.validate(task, str(system), against=str(gold)).findings
    assert "GEN204" not in {item.code for item in findings}


@pytest.mark.parametrize(("kinds", "codes"), [("nn", ["GEN108"]), ("nl", []), ("ll", [])])
def test_instances_of_other_kinds_are_no_labels(kinds: str, codes: list[str]) -> None:
    """Without a label, accuracy would be 1."""
    names = {"n": "norm", "l": "label"}
    columns = {"document": ["a", "b"], "label": ["x", "y"]}
    frame = pl.DataFrame(columns | {"kind": [names[kind] for kind in kinds]})
    assert [item.code for item in validate("labels", frame).findings] == codes


def test_an_ontology_that_has_some_identifiers_is_the_right_one(tmp_path: Path) -> None:
    """Batches are judged together: what one lacks another may have; NIL is no identifier."""
    (tmp_path / "onto.tsv").write_text("b\ta\n")
    texts = {"1": "NIL7", "2": "x", "3": "y|b", "4": "x"}
    for name, entity in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "d.txt").write_text("Ann\n")
        normalization = f"N1\tReference T1 KB:{entity}\tAnn\n"
        (tmp_path / name / "d.ann").write_text(f"T1\tA 0 3\tAnn\n{normalization}")
    options = {"ontology": str(tmp_path / "onto.tsv")}
    codes = {
        name: [
            item.code for item in validate("links", str(tmp_path / name), options=options).findings
        ]
        for name in texts
    }
    assert codes == {"1": [], "2": ["GEN411"], "3": [], "4": ["GEN411"]}
    for name, entity in (("e", "b"), ("f", "x")):
        (tmp_path / "2" / f"{name}.txt").write_text("Ann\n")
        normalization = f"N1\tReference T1 KB:{entity}\tAnn\n"
        (tmp_path / "2" / f"{name}.ann").write_text(f"T1\tA 0 3\tAnn\n{normalization}")
    assert not validate("links", str(tmp_path / "2"), options=options).findings
