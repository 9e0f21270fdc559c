"""Relations of entities: their identifiers are compared, whatever mentions there are."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from hlteval import convert, score, validate
from tests import runs

TEXT = "d|t|Ann met Bob\n"
MENTIONS = "d\t0\t3\tAnn\tPerson\tQ1\nd\t8\t11\tBob\tPerson\tQ2\n"
Pairs = list[tuple[str, str, str]]


def pubtator(path: Path, pairs: Pairs, mentions: str = MENTIONS) -> str:
    lines = "".join(f"d\t{label}\t{one}\t{two}\n" for label, one, two in pairs)
    path.write_text(f"{TEXT}{mentions}{lines}\n", "utf-8")
    return str(path)


def rates(task: Any, reference: str, system: str) -> tuple[float | None, ...]:
    found = score(task, reference, system)
    return tuple(found.metrics[f"micro.{rate}"] for rate in ("precision", "recall", "f1"))


@pytest.mark.parametrize("arguments", ["span+label", "span", "end", "end+label", "overlap"])
def test_values_by_hand(tmp_path: Path, arguments: str) -> None:
    # the second relation has the arguments of the first of the reference, swapped
    gold = pubtator(tmp_path / "g.pubtator", [("Met", "Q1", "Q2"), ("Knows", "Q1", "Q2")])
    pairs = [("Met", "Q1", "Q2"), ("Met", "Q2", "Q1"), ("Knows", "Q1", "Q3"), ("Met", "Q1", "Q2")]
    system = pubtator(tmp_path / "s.pubtator", pairs, "")
    text = f'[task]\nunit = "relations"\n[relations]\narguments = "{arguments}"\n'
    (tmp_path / "own.task.toml").write_text(f'{text}[read]\nformat = "pubtator"\n', "utf-8")
    own = str(tmp_path / "own.task.toml")
    assert rates(own, gold, system) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert rates(own, gold, gold) == (1, 1, 1)


def test_arguments_of_symmetric_labels_can_be_swapped(tmp_path: Path) -> None:
    gold = pubtator(tmp_path / "g.pubtator", [("Met", "Q1", "Q2"), ("Knows", "Q1", "Q2")])
    system = pubtator(tmp_path / "s.pubtator", [("Met", "Q2", "Q1"), ("Knows", "Q2", "Q1")])
    text = '[task]\nunit = "relations"\n[relations]\nsymmetric = ["Met"]\n[read]\n'
    (tmp_path / "own.task.toml").write_text(f'{text}format = "pubtator"\n', "utf-8")
    assert rates(str(tmp_path / "own.task.toml"), gold, system) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_sets_of_identifiers(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    sides = [
        [
            (random.choice("AB"), random.choice("123"), random.choice("123"))
            for _ in range(random.randint(1, 9))
        ]
        for _ in range(2)
    ]
    paths = [pubtator(tmp_path / f"{at}.pubtator", own) for at, own in enumerate(sides)]
    gold, system = map(set, sides)
    right = len(gold & system)
    found = rates("relations", *paths)
    assert found[:2] == pytest.approx((right / len(system), right / len(gold)))


BIOC = """<?xml version="1.0" encoding="UTF-8"?>
<collection><source></source><date></date><key></key><document><id>d</id>
<passage><offset>0</offset><text>Ann met Bob</text>
<annotation id="0"><infon key="type">Person</infon><infon key="MESH">Q1</infon>
<location offset="0" length="3"/><text>Ann</text></annotation>
<annotation id="1"><infon key="type">Thing</infon><infon key="MESH">Q2|Q3</infon>
<location offset="8" length="3"/><text>Bob</text></annotation></passage>
<relation id="R0"><infon key="relation">Met</infon><infon key="Person">{}</infon>
<infon key="Thing">Q3</infon><infon key="novel">No</infon></relation></document></collection>
"""


def test_infons_of_bioc_are_entities(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.bioc.xml" for name in ("Q1", "Q9")]
    for path in paths:
        path.write_text(BIOC.format(path.name[:2]), "utf-8")
    one, other = map(str, paths)
    assert rates("relations", one, one) == (1, 1, 1)
    assert rates("relations", one, other) == (0, 0, 0)
    convert(one, str(tmp_path / "c.pubtator"))
    assert "d\tMet\tQ1\tQ3\n" in (tmp_path / "c.pubtator").read_text("utf-8")
    convert(one, str(tmp_path / "again.bioc.xml"))
    again = (tmp_path / "again.bioc.xml").read_text("utf-8")
    relation = again[again.index("<relation") :]
    keys = [part.partition('"')[0] for part in relation.split('key="')[1:]]
    assert keys == ["type", "Person", "Thing", "novel"]
    # their roles are not those of PubTator
    (found,) = validate("relations", str(tmp_path / "c.pubtator"), against=one).findings
    assert found.code == "GEN208"


def test_mentions_with_entities_become_arguments_of_pubtator(tmp_path: Path) -> None:
    (tmp_path / "brat").mkdir()
    (tmp_path / "brat" / "d.txt").write_text("Ann met Bob", "utf-8")
    lines = ["T1\tPerson 0 3\tAnn", "N1\tReference T1 KB:Q1", "T2\tPerson 8 11\tBob"]
    lines += ["N2\tReference T2 KB:Q2", "R1\tMet Arg1:T1 Arg2:T2"]
    (tmp_path / "brat" / "d.ann").write_text("\n".join([*lines, ""]), "utf-8")
    gold = pubtator(tmp_path / "g.pubtator", [("Met", "Q1", "Q2")])
    (found,) = validate("relations", str(tmp_path / "brat"), against=gold).findings
    assert (found.code, found.blocking) == ("GEN206", True)
    convert(str(tmp_path / "brat"), str(tmp_path / "s.pubtator"))
    assert rates("relations", gold, str(tmp_path / "s.pubtator")) == (1, 1, 1)


def test_roles_of_other_tools_are_those_of_brat(tmp_path: Path) -> None:
    (tmp_path / "brat").mkdir()
    (tmp_path / "brat" / "d.txt").write_text("Ann met Bob", "utf-8")
    lines = ["T1\tPerson 0 3\tAnn", "T2\tPerson 8 11\tBob", "R1\tMet Arg1:T1 Arg2:T2"]
    (tmp_path / "brat" / "d.ann").write_text("\n".join([*lines, ""]), "utf-8")
    layers = "#T_SP=custom.Entity|value\n#T_RL=custom.Rel|label|BT_custom.Entity"
    header = f"#FORMAT=WebAnno TSV 3.3\n{layers}\n\n\n"
    body = "#Text=Ann met Bob\n1-1\t0-3\tAnn\tPerson\t_\t_\t\n1-2\t4-7\tmet\t_\t_\t_\t\n"
    last = "1-3\t8-11\tBob\tPerson\tMet\t1-1\t\n"
    (tmp_path / "d.tsv").write_text(header + body + last, "utf-8")
    assert rates("relations", str(tmp_path / "brat"), str(tmp_path / "d.tsv")) == (1, 1, 1)


def test_a_role_that_is_optional_is_so_under_both_of_its_names(tmp_path: Path) -> None:
    gold = pubtator(tmp_path / "g.pubtator", [("Met", "Q1", "Q2")])
    system = pubtator(tmp_path / "s.pubtator", [("Met", "Q1", "Q3")])
    for role, right in (("Arg2", 1), ("Dependent", 1), ("Arg1", 0), ("Governor", 0)):
        text = f'[task]\nunit = "relations"\n[relations]\noptional = ["{role}"]\n[read]\n'
        (tmp_path / "own.task.toml").write_text(f'{text}format = "pubtator"\n', "utf-8")
        assert rates(str(tmp_path / "own.task.toml"), gold, system) == (right, right, right)


@pytest.mark.parametrize("infon", ["", "1"])
def test_infons_with_the_values_of_others_are_no_entities(tmp_path: Path, infon: str) -> None:
    # an annotation has a note with the value of two infons of the relation
    note = f'<infon key="note">{infon}</infon><infon key="MESH">Q1'
    relation = f'<infon key="novel">{infon}</infon><infon key="score">{infon}</infon>'
    text = BIOC.format("Q1").replace('<infon key="MESH">Q1', note)
    begin, end = text.index('<infon key="Person">'), text.index("</relation>")
    path = tmp_path / "a.bioc.xml"
    path.write_text(text[:begin] + relation + text[end:], "utf-8")
    (found,) = validate("relations", str(path), against=str(path)).findings[:1]
    assert found.code in {"GEN207", "REF101"}
    convert(str(path), str(tmp_path / "c.jsonl"))
    assert '"kind":"fact"' not in (tmp_path / "c.jsonl").read_text("utf-8")


def test_units_of_other_kinds_are_nothing_that_is_scored(tmp_path: Path) -> None:
    names = ("g", "s")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "d.txt").write_text("Ann met Bob", "utf-8")
    mentions = "T1\tPerson 0 3\tAnn\nT2\tPerson 8 11\tBob\n"
    (tmp_path / "g" / "d.ann").write_text(
        f"{mentions}N1\tReference T1 KB:Q1\nR1\tMet Arg1:T1 Arg2:T2\n", "utf-8"
    )
    event = "E1\tMet:T1 Who:T2\n"
    (tmp_path / "s" / "d.ann").write_text(mentions + event, "utf-8")
    sides = [str(tmp_path / name) for name in names]
    for unit, lacks in (("relations", True), ("links", True), ("mentions", False)):
        findings = validate(unit, sides[1], against=sides[0]).findings
        assert ("GEN304" in {found.code for found in findings}) == lacks


@pytest.mark.parametrize("batch", [1, 2, 9])
@pytest.mark.parametrize("alike", [False, True])
def test_what_one_batch_lacks_another_may_have(tmp_path: Path, batch: int, alike: bool) -> None:
    sides = []
    for name in ("g", "s"):
        (tmp_path / name).mkdir()
        for at in range(3):
            own = name == "g" or (alike and at == 2)
            entity, role = ("KB:Q", "Arg") if own else ("KB:MESH/Q", "End")
            lines = [
                f"T1\tA 0 3\tAnn\nT2\tA 8 11\tBob\nN1\tReference T1 {entity}1\tAnn",
                f"N2\tReference T2 {entity}2\tBob\nR1\tMet {role}1:T1 {role}2:T2\n",
            ]
            (tmp_path / name / f"d{at}.txt").write_text("Ann met Bob", "utf-8")
            (tmp_path / name / f"d{at}.ann").write_text("\n".join(lines), "utf-8")
        sides.append(str(tmp_path / name))
    for unit, code in (("relations", "GEN208"), ("links", "GEN209")):
        found = [
            each.code
            for each in runs.validate(unit, sides[1], against=sides[0], batch=batch).findings
        ]
        assert found.count(code) == (not alike), found
    (tmp_path / "s" / "d0.ann").write_text("", "utf-8")
    (tmp_path / "s" / "d1.ann").write_text("", "utf-8")
    for last, count in ((True, 0), (False, 1)):
        if not last:
            (tmp_path / "s" / "d2.ann").write_text("", "utf-8")
        for unit in ("mentions", "relations", "links"):
            findings = runs.validate(unit, sides[1], against=sides[0], batch=batch).findings
            assert [each.code for each in findings].count("GEN304") == count


@pytest.mark.parametrize(("candidate", "codes"), [("Q8", ["GEN209"]), ("Q1", [])])
def test_further_candidates_are_identifiers_in_common(
    tmp_path: Path, candidate: str, codes: list[str]
) -> None:
    """The first candidate is another one than that of the reference."""
    for name, entities in (("g", ["Q1"]), ("s", ["Q7", candidate])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d.txt").write_text("Ann met Bob", "utf-8")
        lines = [f"N{at}\tReference T1 KB:{q}\tAnn\n" for at, q in enumerate(entities)]
        (tmp_path / name / "d.ann").write_text("".join(["T1\tA 0 3\tAnn\n", *lines]), "utf-8")
    found = validate("links", str(tmp_path / "s"), against=str(tmp_path / "g")).findings
    assert [each.code for each in found] == codes


def test_a_relation_of_one_entity_is_refused_with_the_infons_that_count(tmp_path: Path) -> None:
    text, path = BIOC.format("Q1"), tmp_path / "a.bioc.xml"
    begin, end = text.index('<infon key="Person">'), text.index("</relation>")
    path.write_text(text[:begin] + '<infon key="Person">Q1</infon>' + text[end:], "utf-8")
    (found,) = validate("relations", str(path)).findings
    assert found.code == "GEN207"
    assert "Arg1, entity1 or role1, or the type of an annotation" in (found.help or "")
