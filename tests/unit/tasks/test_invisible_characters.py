"""Invisible characters are named in the records of every task."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hlteval import validate
from hlteval.findings.finding import INVISIBLE
from hlteval.tasks import load, rules, task_names

SPEECH = {"DocumentID": "D1", "Type": "Shelter", "TypeConfidence": 0.5}
LOREHLT = {"DocumentID": "D1", "Type": "shelter", "Place_KB_ID": "1\u200b", "SEC": []}
LOREHLT |= {"Status": "current", "Confidence": 0.5, "Urgent": True, "Resolution": "sufficient"}


@pytest.mark.parametrize(
    ("task", "name", "content", "code", "message"),
    [
        (
            "hub4",
            "set.tpl",
            "<TEMPLATE-D1-1> :=\n  EVENT: <A-D\u200b1-1>\n<A-D1-1> :=\n  KIND: x ##1#2#\n",
            "CHR101",
            "invisible character U+200B in 'A-D\\u200b1-1'",
        ),
        (
            "lorehlt-edl",
            "run.tab",
            "R\tm\u00a01\tParis\tD1:10-14\t9000\tGPE\tNAM\t1.0\n",
            "CHR101",
            "invisible character U+00A0 in 'm\\xa01'",
        ),
        (
            "lorehlt-edl",
            "run.tab",
            "R\tm1\tParis\tD\u200b1:10-14\t9000\tGPE\tNAM\t1.0\n"
            "R\tm2\tParis\tD\u200b1:20-24\t9000\tGPE\tNAM\t1.0\n",
            "CHR101",
            "invisible character U+200B in 'D\\u200b1'",
        ),
        (
            "ccu-ta2",
            "answers.tsv",
            "condition\tinteraction\tspeaker\tquestion\tresponse\n"
            "Baseline\tI\u200b1\tA\t1\tMostly Agree\n",
            "CHR101",
            "invisible character U+200B in 'I\\u200b1'",
        ),
        (
            "ccu-ta2",
            "answers.tsv",
            "condition\tinteraction\tspeaker\tquestion\tresponse\n"
            "Baseline\tI1\tA\t1\tMostly\u00a0Agree\n",
            "CHR101",
            "invisible character U+00A0 in 'Mostly\\xa0Agree'",
        ),
        (
            "speech-sf",
            "run.json",
            json.dumps([{**SPEECH, "PlaceMention": "Osh\u200bcity"}]),
            "SFJ209",
            "PlaceMention: invisible character U+200B",
        ),
        ("lorehlt-sf", "run.json", json.dumps([LOREHLT]), "LSF211", "U+200B"),
    ],
)
def test_an_invisible_character_is_named(
    task: str, name: str, content: str, code: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    found = {item.code: item for item in validate(task, str(path)).findings}
    assert message in found[code].message
    assert len({"CHR101", "LSF211", "SFJ209"} & found.keys()) == 1


def test_an_event_of_seedev_has_it_named(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("AGL15 SVP")
    (tmp_path / "d.a1").write_text("T1\tProtein 0 5\tAGL15\nT2\tProtein 6 9\tSVP\n")
    event = "E1\tBinds_To\u200b Functional_Molecule:T1 Molecule:T2\n"
    (tmp_path / "d.a2").write_text(event, "utf-8")
    verdict = validate("seedev-binary", str(tmp_path))
    assert {"CHR101", "SEE101"} <= verdict.by_code.keys()


def test_all_tasks_share_the_rules() -> None:
    for name in task_names():
        assert "CHR101" in {rule.code for rule in rules(load(name))}


@pytest.mark.parametrize("character", "\u200c\u200dé카\u0301 -")
def test_letters_and_joiners_are_none(character: str) -> None:
    assert re.search(INVISIBLE, f"a{character}b") is None
