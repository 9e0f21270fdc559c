"""Annotations of brat beside the annotation.conf of their folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlteval import read, validate
from hlteval.converters.standoff.annotation_conf import parse
from hlteval.converters.standoff.conf_overlaps import Entity, _wrong_pairs
from hlteval.converters.standoff.conf_rules import FolderConf

FIXTURES = Path(__file__).parents[3] / "fixtures" / "brat-conf"
# File, line, column, end column, level, line of annotation.conf, help.
PLACES = """
ACF101-no-colon          annotation.conf  11  6 14 W  0 write it as ROLE:TYPE
ACF102-no-such-type      annotation.conf  10 28 33 E  0 did you mean Place?
ACF201-relation          texts/d.ann       7  4  9 E  8 did you mean Works?
ACF201-short-name        texts/d.ann       1  4  7 E  2 did you mean Person?
ACF202-attribute         texts/d.ann       7 13 15 E 20 use Meet or Split
ACF202-event             texts/d.ann       7 25 27 E 15 use Place
ACF202-relation          texts/d.ann       7 23 25 E  9 use Org
ACF203-whom              texts/d.ann       7 19 23 E 15 Meet has Who, Where
ACF204-nobody            texts/d.ann       7  4  8 E 15 1 of Who needed: use Person
ACF204-one-of-two        texts/d.ann       7  4  9 E 16 2 of Who needed: use Person or Org
ACF205-two-places        texts/d.ann       7 28 34 E 15 at most 1 may be there
ACF206-both-directions   texts/d.ann       8  1  3 W 11 remove one of both
ACF207-misspelt          texts/d.ann       7 18 22 E 21 use High or Low
ACF207-no-value          texts/d.ann       7  4 14 E 21 use High or Low
ACF207-with-value        texts/d.ann       8 16 19 E 20 write it without a value
ACF208-nested            texts/d.ann       7 10 15 E  9 @
"""
_OVERLAP = "correct a span, or declare <OVERLAP> Arg1:Place, Arg2:Org, <OVL-TYPE>:contain"
ROWS = [line.split(maxsplit=7) for line in PLACES.strip().splitlines()]


def test_the_table_is_complete() -> None:
    assert {row[0] for row in ROWS} == {path.name for path in (FIXTURES / "invalid").iterdir()}


def test_what_is_declared_has_no_findings() -> None:
    for task in ("mentions", "relations", "events"):
        assert validate(task, FIXTURES / "valid/meeting").findings == ()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fixture_raises_its_code_and_nothing_else(row: list[str]) -> None:
    name, file, *numbers, level, line, hint = row
    path = FIXTURES / "invalid" / name
    (only,) = validate("events", path).findings
    assert only.code == name[:6]
    assert only.severity.value[0].upper() == level
    assert not only.blocking
    assert only.file == str(path / file)
    assert only.span is not None
    assert [only.span.line, only.span.column, only.span.end_column] == [*map(int, numbers)]
    assert only.help == hint.replace("@", _OVERLAP)
    if line != "0":
        conf = (path / "annotation.conf").read_text("utf-8").split("\n")
        written = conf[int(line) - 1].strip()
        assert only.clause == f"{path / 'annotation.conf'}, line {line}: {written}"


def test_the_next_configuration_above_counts(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "invalid/ACF203-whom", tmp_path / "a")
    assert [item.code for item in read(tmp_path)[1]] == ["ACF203"]
    own = "[entities]\nPerson\nOrg\nPlace\n[events]\nMeet Whom:Person, Who:Person\nSplit\n"
    (tmp_path / "a/texts/annotation.conf").write_text(own, "utf-8")
    assert read(tmp_path)[1] == []


def test_it_can_be_left_out(tmp_path: Path) -> None:
    task = tmp_path / "own.task.toml"
    task.write_text('[task]\nunit = "events"\n[read]\nformat = "brat"\nconfiguration = "no"\n')
    assert validate(str(task), FIXTURES / "invalid/ACF203-whom").findings == ()


def test_a_declaration_that_takes_its_labels_from_the_file_says_it_once(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "invalid/ACF201-relation", tmp_path / "a")
    task = tmp_path / "a/own.task.toml"
    task.write_text('[task]\nunit = "relations"\n[labels]\nfrom = "annotation.conf"\n', "utf-8")
    codes = [item.code for item in validate(str(task), tmp_path / "a").findings]
    assert codes == ["GEN101"]


def test_types_that_name_each_other_come_to_an_end() -> None:
    conf = parse("[entities]\nP\n\tP\n<A>=<B>|P\n<B>=<A>\n[relations]\nR Arg1:<A>, Arg2:P\n")
    assert conf.roles("relations") == {"R": {"Arg1": ("P",), "Arg2": ("P",)}}
    deep = "".join(f"<M{at}>=<M{at + 1}>\n" for at in range(20_000))
    conf = parse(f"[entities]\nP\n{deep}<M20000>=P\n[relations]\nR Arg1:<M0>, Arg2:P\n")
    assert conf.roles("relations")["R"]["Arg1"] == ("P",)


TEXT = "T1\tP 0 1\ta\nT2\tQ 2 3\tb\nR1\tR Arg1:T1 Arg2:T2\nA1\tNot T1\n"


def codes(folder: Path, conf: str, text: str = TEXT) -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "d.txt").write_text("a b\n", "utf-8")
    (folder / "d.ann").write_text(text, "utf-8")
    (folder / "annotation.conf").write_text(conf, "utf-8")
    return [item.code for item in read(folder)[1]]


@pytest.mark.parametrize(
    ("conf", "found"),
    [
        ("", []),  # of another program, or of nothing
        ("[tools]\nx\n", []),
        ("[entities]\nP\nQ\n", []),
        ("[entities]\nP\n[relations]\n[attributes]\n", ["ACF201"] * 3),
        ("[entities]\nP\nQ\n[relations]\nR From:P, To:Q\nR Arg1:P, Arg2:Q\n", []),
        ("[entities]\nA\n\tQ\nB\n\tQ\nP\n[relations]\nR Arg1:P, Arg2:A\n", []),
        ("[entities]\nP\nQ\n[attributes]\nNot Arg:P\nNot Arg:Q, Value:No|Maybe\n", []),
        ("[entities]\nP\nQ\n[attributes]\nNot Arg:Q\n", ["ACF202"]),
        ("[entities]\nP\nQ\n[attributes]\nNot Arg:P, Value:No\n", ["ACF207"]),
    ],
)
def test_what_declarations_allow(conf: str, found: list[str], tmp_path: Path) -> None:
    assert codes(tmp_path, conf) == found


def test_a_configuration_above_the_source_does_not_count(tmp_path: Path) -> None:
    assert codes(tmp_path, "[entities]\nQ\n") == ["ACF201"]
    (tmp_path / "own").mkdir()
    for name in ("d.txt", "d.ann"):
        (tmp_path / name).rename(tmp_path / "own" / name)
    assert read(tmp_path / "own")[1] == []
    assert [item.code for item in read(tmp_path / "own" / "d.ann")[1]] == ["CNV202"]


def test_folders_with_copies_of_a_configuration_name_their_own(tmp_path: Path) -> None:
    for name in "ab":
        codes(tmp_path / name, "[entities]\nQ\n")
    clauses = [item.clause for item in read(tmp_path)[1]]
    assert clauses == [
        f"{tmp_path / name / 'annotation.conf'}, line 1: [entities]" for name in "ab"
    ]


def test_of_many_declarations_each_role_has_all_types(tmp_path: Path) -> None:
    names = [f"P{at}" for at in range(1000)]
    rows = enumerate(names)
    text = "".join(f"T{at}\t{name} 0 1\ta\nR{at}\tR Arg1:T{at} Arg2:T0\n" for at, name in rows)
    lines = [f"R Arg1:{name}, Arg2:{name}" for name in names]
    for least, found in ((1, []), (2, ["ACF202"])):
        conf = "\n".join(["[entities]", *names, "[relations]", *lines[: 1001 - least], ""])
        assert codes(tmp_path, conf, text) == found


def test_further_problems_of_the_file_are_at_their_lines() -> None:
    lines = ["[relations]", "R Arg1:Q|Q", "", "R no", "R Arg1:Q", "[events]", "E A:Q, B:Q, no"]
    found = [*FolderConf(parse("\n".join(lines)), {}).own_findings(most=1)]
    assert [(item.code, item.position, item.count) for item in found] == [
        ("ACF102", ":2:8", 1),
        ("ACF101", ":4:3", 1),
        ("ACF102", ":2:10", 4),
        ("ACF101", ":7:13", 1),
    ]
    assert [item.further.places for item in found if item.further] == [(2, 5, 7, 7), (7,)]


SPANS = "T1\tO 0 9\tabcdefghi\nT2\tP 0 3\tabc\nT3\tP 0 3\tabc\nT4\tO 2 5\tcde\nT5\tQ 9 10\tj\n"
SPANS += "T6\tP 0 1;2 3\ta c\nE1\tE:T7\nT7\tE 0 9\tabcdefghi\n"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", []),
        (
            "<OVERLAP> Arg1:P, Arg2:O, <OVL-TYPE>:contain",
            ["T3 have the span of P T2", "T4 cross P T6", "T6 be inside of P T2"],
        ),
        ("<OVERLAP>\tArg1:<ENTITY>, Arg2:<ANY>, <OVL-TYPE>:contain|equal", ["T4 cross P T6"]),
        ("ENTITY-NESTING Arg1:P, Arg2:<ANY>", ["T3 have the span of P T2", "T4 cross P T6"]),
        (  # in both orders, where all is allowed
            "<OVERLAP> Arg1:O, Arg2:P, <OVL-TYPE>:<ANY>",
            ["T3 have the span of P T2", "T4 be inside of O T1", "T6 be inside of P T2"],
        ),
        ("<OVERLAP> Arg1:A, Arg2:A, <OVL-TYPE>:contain|equal|cross", []),  # with all children
        (
            "<OVERLAP> Arg1:P, Arg2:A, <OVL-TYPE>:contain|equal\n"
            "<OVERLAP> Arg1:O, Arg2:O, <OVL-TYPE>:contain",
            ["T4 cross P T6"],
        ),
    ],
)
def test_overlaps_that_no_line_allows(line: str, found: list[str], tmp_path: Path) -> None:
    conf = f"[entities]\n!A\n\tP\n\tO\nQ\n[relations]\n{line}\n[events]\nE\n"
    for name, text in (("txt", "abcdefghij\n"), ("ann", SPANS), ("conf", conf)):
        file = "annotation.conf" if name == "conf" else f"d.{name}"
        (tmp_path / file).write_text(text, "utf-8")
    findings = read(tmp_path)[1]
    assert {item.code for item in findings} <= {"ACF208"}
    told = [item.message.partition(" cannot ") for item in findings]
    assert [f"{who.split(' ')[1]} {what}" for who, _, what in told] == found


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("<OVERLAP> Arg1:P, Arg2:P, <OVL-TYPE>:contian|equal", "unknown overlap contian"),
        ("<OVERLAP> Arg1:P, Arg2:P", "<OVERLAP> has no <OVL-TYPE>"),
        ("<OVERLAP> Arg1:P, <OVL-TYPE>:equal", "<OVERLAP> has no Arg1 and Arg2"),
        ("<OVERLAP>", "<OVERLAP> has no Arg1 and Arg2"),
    ],
)
def test_a_line_about_overlaps_that_brat_ignores(line: str, reason: str) -> None:
    conf = parse(f"[entities]\nP\n[relations]\n{line}\n")
    (problem,) = conf.problems
    assert (problem.code, problem.values["reason"]) == ("TSK201", reason)
    assert conf.text[problem.start : problem.end] == line
    kinds = [{*overlap.kinds} for overlap in conf.overlaps]
    assert kinds == ([{"equal"}] if "contian" in line else [])


def test_types_of_overlaps_are_declared() -> None:
    text = "[entities]\nP\n[relations]\n<OVERLAP> Arg1:P, Arg2:Q, <OVL-TYPE>:equal\n"
    conf = parse(text)
    (problem,) = conf.undeclared_types("relations")
    assert text[problem.start : problem.end] == "Q"
    assert conf.labels("relations") == ()


def test_many_entities_of_one_place_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def is_allowed(first: str, second: str, kind: str) -> bool:
        calls.append(kind)
        return True

    equal = [Entity(0, at, f"T{at}", f"L{at % 7}", ((0, 9),)) for at in range(500)]
    nested = [Entity(0, 500 + at, "T", "L", ((at, 2_000 - at),)) for at in range(500)]
    assert [*_wrong_pairs(equal + nested, is_allowed)] == []
    assert calls.count("equal") < 500 * 7 + 1
    assert len(calls) < 500 * 7 + 500 * 51
