"""The tasks that anybody can declare, each through the commands that people use."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from tests.cli.conftest import FIXTURES
from tests.cli.conftest import Invoke as Run

RATES = ("precision", "recall", "f1")
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")
EDITS = ("hits", "substitutions", "insertions", "deletions")


def names(*parts: tuple[str, ...]) -> set[str]:
    return {".".join(each) for each in product(*parts)}


AVERAGES = names(("micro", "macro", "weighted"), RATES)
ACE = tuple(f"{unit}_{kind}" for unit in ("trigger", "argument")
            for kind in ("identification", "classification"))  # fmt: skip
#: The names of metrics that people rely on.
METRICS: dict[str, set[str]] = {
    "mentions": AVERAGES
    | names(("strict", "exact", "partial", "ent_type"), (*COUNTS, *RATES))
    | {"token_accuracy"},
    "relations": AVERAGES | names(("entities",), RATES),
    "events": AVERAGES | names(ACE, RATES),
    "coreference": names(
        ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "blanc", "lea"), RATES
    )
    | {"conll_average.f1"},
    "links": names(("strong_link_match", "strong_nil_match", "strong_all_match"),
                   ("precision", "recall", "fscore")),
    "labels": AVERAGES | names(("samples",), RATES) | {"accuracy", "mcc", "kappa", "auc", "ap"},
    "segments": {"der", *names(("der",), ("miss", "false_alarm", "confusion", "total"))}
    | {"jer", "purity", "coverage", "detection_error"},
    "transcripts": {"wer", "mer", "wil", "cer", *names(("words", "characters"), EDITS)},
}  # fmt: skip
#: The tables of errors, beside the alignment.
ERRORS = dict.fromkeys(METRICS, "confusion") | {"links": "errors", "transcripts": "confusions"}
OF_LABELS = ("mentions", "relations", "events", "labels")


def sides(task: str) -> list[Path]:
    folder = FIXTURES / task / "valid"
    return [next(folder.glob(f"{side}*")) for side in ("reference", "submission")]


@pytest.mark.parametrize("task", METRICS)
def test_scores_have_the_metrics_and_tables_that_people_rely_on(
    task: str, invoke: Run, tmp_path: Path
) -> None:
    reference, system = sides(task)
    report = tmp_path / "report.html"
    command = ("score", task, "-r", reference, "-s", system, "--report", report)
    result = invoke(*command, "--format", "json")
    assert result.exit_code == 0
    scores = json.loads(result.stdout)
    assert scores["metrics"].keys() >= METRICS[task]
    tables = scores["tables"]
    assert ERRORS[task] in tables
    assert tables["alignment"]
    if task in OF_LABELS:
        assert [*tables["labels"][0]] == ["label", *RATES, "support"]
    assert scores["primary"] in report.read_text("utf-8")


@pytest.mark.parametrize("task", METRICS)
def test_systems_and_annotators_are_compared(task: str, invoke: Run) -> None:
    reference, system = sides(task)
    compared = invoke("compare", task, "-r", reference, system, reference, "--format", "json")
    assert compared.exit_code == 0
    ranks = {row["name"]: row["rank"] for row in json.loads(compared.stdout)["systems"]}
    assert ranks.keys() == {"reference", "submission"}
    assert ranks["reference"] == 1
    agreed = invoke("agreement", task, reference, system, "--format", "json")
    assert agreed.exit_code == 0
    found = json.loads(agreed.stdout)
    assert found["measures"]
    judged = task in {"mentions", "labels", "links"}  # the others have no categories, and say why
    kinds = {row["coefficient"] for row in found["coefficients"]}
    assert kinds >= ({"kappa", "alpha"} if judged else set())
    assert judged or any("no coefficients" in note for note in found["notes"])


@pytest.mark.parametrize("task", ["relations", "coreference"])
def test_each_document_has_a_line_even_if_nothing_is_right(
    task: str, invoke: Run, tmp_path: Path
) -> None:
    reference, system = sides(task)
    command = ("score", task, "-r", reference, "-s", system, "--by", "document")
    result = invoke(*command, "-o", tmp_path)
    assert result.exit_code == 0
    table = (tmp_path / "by_document.tsv").read_text("utf-8").splitlines()
    lines = result.stdout[result.stdout.index("by_document") :].splitlines()
    shown = [line.split()[0] for line in lines[2 : len(table) + 1]]
    assert shown == [line.partition("\t")[0] for line in table[1:]]
