"""The six declarations of the page about tasks in files run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hlteval
from hlteval.tasks import load
from hlteval.tasks.generic.declaration import read_declaration
from tests.unit.generic.test_cookbook import brat, columns, coreference, spans, turns, written

CONF = "[entities]\nDrug\nDose\nComment\n[relations]\n[events]\n[attributes]\n"
PEOPLE = spans("Person Ann", "Person Bob", "Place Osh")
LABELS = "id\tlabel\n1\tagainst\n2\tfavour\n3\tnone\n4\t{}\n"
#: Both sides of an example, and values by hand in both profiles.
BY_HAND = (
    # 2 of 3 are right; LOC has F1 0, ORG 2 of 1 + 2, PER 1; MISC is on no side
    (
        columns("EU B-ORG", "met O", "Ann B-PER", "Lee I-PER", "in O", "Osh B-LOC", ""),
        columns("EU B-ORG", "met O", "Ann B-PER", "Lee I-PER", "in O", "Osh B-ORG", ""),
        {"micro.f1": 2 / 3, "macro.f1": 5 / 9, "weighted.f1": 5 / 9},
        {"micro.f1": 2 / 3, "macro.f1": 5 / 9, "weighted.f1": 5 / 9},
    ),
    # one is right, of one a half; comments are ignored
    (
        brat(spans("Drug aspirin", "Dose against pain", "Comment Osh")),
        brat(spans("Drug aspirin", "Dose pain", "Comment Ann")),
        {"partial.f1": 3 / 4, "strict.f1": 1 / 2, "ent_type.f1": 1.0, "micro.f1": 3 / 4},
        {"partial.f1": 3 / 4, "strict.f1": 1 / 2, "ent_type.f1": 1.0},
    ),
    # siblings are in either order; Bob does not live in Osh; Works and Founded are on no side
    (
        brat(PEOPLE + "R1\tSibling Arg1:T1 Arg2:T2\nR2\tLives Arg1:T1 Arg2:T3\n"),
        brat(PEOPLE + "R1\tSibling Arg1:T2 Arg2:T1\nR2\tLives Arg1:T2 Arg2:T3\n"),
        {"micro.f1": 1 / 2, "macro.f1": 1 / 2, "entities.f1": 1.0},
        None,
    ),
    # {Ann, she}, {Bob} and {Ann}, {Bob, she}: no link is right
    (
        coreference("(1)", "-", "(2)", "-", "(1)", "-"),
        coreference("(1)", "-", "(2)", "-", "(2)", "-"),
        {"muc.f1": 0.0, "b_cubed.f1": 2 / 3, "entity_ceaf.f1": 2 / 3, "conll_average.f1": 4 / 9},
        {"muc.f1": 0.0, "b_cubed.f1": 2 / 3, "entity_ceaf.f1": 2 / 3, "conll_average.f1": 4 / 9},
    ),
    # against: 1 of 2 and 1; favour: 1 of 1 and 2; the average leaves out none
    (
        {"gold.tsv": LABELS.format("against")},
        {"run.tsv": LABELS.format("favour")},
        {"macro.f1": 2 / 3, "accuracy": 3 / 4},
        {"macro.f1": 2 / 3, "accuracy": 3 / 4},
    ),
    # 9.5 s of A and 11.5 s of B without the collar; x is B
    (
        turns((0, 10, "A"), (20, 12, "B")),
        turns((0, 10, "x"), (20, 12, "x")),
        {"der": 9.5 / 21, "jer": (1 + 9.5 / 21) / 2, "purity": 11.5 / 21, "coverage": 1.0},
        {"der": 9.5 / 21, "jer": (1 + 9.5 / 21) / 2, "purity": 12 / 22, "coverage": 1.0},
    ),
)


@pytest.fixture
def declarations(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    page = (shared / "formats" / "generic-tasks.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    Path("annotation.conf").write_text(CONF)
    Path("all.uem").write_text("m 1 0 60\n")
    paths = []
    for number, text in enumerate(re.findall(r"```toml\n(.*?)```", page, re.S), 1):
        paths.append(f"{number}.task.toml")
        Path(paths[-1]).write_text(text, "utf-8")
    return paths


def test_the_examples_have_no_findings(declarations: list[str]) -> None:
    assert len(declarations) == 6
    assert [read_declaration(path).findings for path in declarations] == [()] * 6


def test_the_examples_are_tasks_with_their_metrics(declarations: list[str]) -> None:
    tasks = [load(path) for path in declarations]
    names = ["conll-2003", "drugs", "works", "ontonotes-coref", "stance", "meetings"]
    assert [task.display_name for task in tasks] == names
    primary = ["micro", "partial", "micro", "conll_average", "macro"]
    assert [task.primary["plan"] for task in tasks] == [*(f"{p}.f1" for p in primary), "der"]
    assert ["official" in task.profiles for task in tasks] == [True, True, False, True, True, True]
    for task in tasks:
        for profile in task.profiles:
            metric = task.scorer(profile)
            assert task.primary[profile] in metric.score(metric.total([]))[0]
    assert tasks[1].schema().labels == ("Drug", "Dose")


@pytest.mark.parametrize("at", range(len(BY_HAND)))
def test_the_examples_score_small_data(at: int, declarations: list[str]) -> None:
    reference, system, plan, official = BY_HAND[at]
    sides = [written("reference", reference), written("system", system)]
    assert hlteval.validate(declarations[at], sides[1], against=sides[0]).passed
    for profile, expected in (("plan", plan), ("official", official)):
        if expected is not None:
            found = hlteval.score(declarations[at], *sides, profile=profile).metrics
            assert {name: found[name] for name in expected} == pytest.approx(expected)
