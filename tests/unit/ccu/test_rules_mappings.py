"""Rules over mappings of hidden norms, and the identifiers of submissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval import validate
from hlteval.findings import suggest
from hlteval.representation import Corpus
from hlteval.validators.ccu.package import form_problem, parse, strange
from tests.unit.ccu.ccu_rules import AUDIO, codes, context, corpus, found, instance, places, rules

SUBMISSION = "CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220719_110203"


def mapping(*rows):
    return corpus(
        "mappings",
        [
            {"doc": None, "label": label, "target": target, "submission": submission}
            for label, target, submission in rows
        ],
    )


def hidden(*names):
    entities = [
        {"row": row, "entity": name, "label": "hidden" if name[0] == "2" else "known"}
        for row, name in enumerate(names)
    ]
    return Corpus(entities=entities)


def test_many_to_many_is_right():
    rows = [("A1", "201", SUBMISSION), ("A1", "202", SUBMISSION), ("A2", "201", SUBMISSION)]
    assert codes(context("ndmap", mapping(*rows), hidden("101", "201", "202"))) == {}


def test_norms_are_looked_up_where_they_are_known():
    rows = [("A7", "301", SUBMISSION), ("A1", "101", SUBMISSION)]
    assert codes(context("ndmap", mapping(*rows), None)) == {}
    looked_at = context("ndmap", mapping(*rows), hidden("101", "201"))
    assert places(found(looked_at, "CCU712")) == [(2, "target"), (3, "target")]
    norms = corpus("instances", [instance(AUDIO, 1, 2, "A1")])
    listed = Corpus(documents=[{"row": 0, "name": "301"}])
    lists = {"norms": norms, "hidden": listed}
    looked_at = context("ndmap", mapping(*rows), hidden("101"), lists)
    assert places(found(looked_at, "CCU711")) == [(2, "label")]
    (row,) = found(looked_at, "CCU712")
    assert (row["given"], row["hint"]) == ("101", "use a hidden norm: 301")


def test_each_identifier_is_judged_once():
    other = SUBMISSION.replace("_ND_", "_ED_")
    rows = [("A1", "201", SUBMISSION), ("A1", "202", other), ("A2", "201", other)]
    looked_at = context("ndmap", mapping(*rows), None)
    assert codes(looked_at) == {"CCU714": 1, "CCU717": 1}
    assert found(looked_at, "CCU714")[0]["count"] == 2


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        (SUBMISSION, ""),
        ("CCU_P2_TA2_CD_PAR_LDC2022E11-V2.1_20240229_235959", ""),
        ("CCU_P1_TA1_ND_NIST_mini-eval1_20220531_050236", ""),
        ("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20230229_050236", "not a date and a time"),
        ("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20221331_256161", "not a date and a time"),
        ("CCU_P1_TA1_ND_LCC_LDC2022R17-V1_20220908_22222", "not a date and a time"),
        ("CCU_P3_TA1_ND_LCC_LDC2022R17-V1_20220719_110203", "P1"),
        ("CCU_P1_TA1_NORM_LCC_LDC2022R17-V1_20220719_110203", "ND"),
        ("CCU_P1_TA1_ND_LCC_mini_eval_20220719_110203", "write CCU_"),
        ("CCU_P1_TA1_ND__LDC2022R17-V1_20220719_110203", "write CCU_"),
        ("run 1", "write CCU_"),
        ("", "write CCU_"),
    ],
)
def test_identifiers_of_submissions(written, wrong):
    hint = form_problem(written)
    assert (wrong in hint) if wrong else hint == ""


def test_teams_and_datasets_of_the_plan():
    assert strange(parse(SUBMISSION)) == ""
    other = parse("CCU_P1_TA1_ND_LCC_LDC2022R17_20220719_110203")
    assert strange(other) == "the dataset LDC2022R17"


def test_a_malformed_identifier_is_no_second_submission():
    rows = [("A1", "201", "-1"), ("A1", "202", SUBMISSION)]
    assert codes(context("ndmap", mapping(*rows), None)) == {"CCU715": 1}


def test_many_unknown_norms_are_not_compared_with_all_hidden_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[str] = []
    rules(context("ndmap", mapping()))  # a module imported later would keep what replaces it here
    monkeypatch.setattr(suggest, "did_you_mean", lambda name, *_: compared.append(name) or "x")
    names = [f"2{number:05}" for number in range(300)]
    rows = [("A1", f"x{name}", SUBMISSION) for name in names]
    assert codes(context("ndmap", mapping(*rows[:50]), hidden(*names))) == {"CCU712": 50}
    assert len(compared) == 50
    assert codes(context("ndmap", mapping(*rows), hidden(*names))) == {"CCU712": 300}
    assert len(compared) == 50


@pytest.mark.parametrize(("profile", "passed"), [("plan", False), ("official", True)])
def test_a_line_without_a_norm_of_the_system_maps_nothing_in_the_software(
    profile: str, passed: bool, tmp_path: Path
) -> None:
    submission = "CCU_P1_TA1_ND_NIST_mini-eval1_20220531_050236"
    lines = ("sys_norm\tref_norm\tsub_id", f"\t101\t{submission}", f"107\t102\t{submission}")
    (tmp_path / "nd.map.tab").write_text("".join(f"{line}\n" for line in lines))
    verdict = validate("ccu-ndmap", str(tmp_path), profile=profile)
    assert "CCS108" in [finding.code for finding in verdict.findings]
    assert verdict.passed is passed
