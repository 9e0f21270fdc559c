"""What scores are also given by, and what is given beside them: `by`, `also`, `measures`."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.tasks.generic.declaration import declared_task, read_declaration
from hlteval.tasks.task import WrongOption
from tests.runs import score

FIXTURES = Path(__file__).parents[3] / "fixtures"
UNITS = (
    *("mentions", "relations", "events", "clusters", "links", "labels", "segments"),
    "transcripts",
)


def sides(unit: str) -> list[str]:
    folder = FIXTURES / {"clusters": "coreference"}.get(unit, unit) / "valid"
    return [str(next(folder.glob(f"{side}*"))) for side in ("reference", "submission")]


def declare(folder: Path, unit: str, scores: str) -> str:
    path = folder / "own.task.toml"
    path.write_text(f'[task]\nunit = "{unit}"\n[scores]\n{scores}\n', "utf-8")
    return str(path)


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit != "links"])
def test_each_document_has_the_scores_that_it_has_alone(unit: str, tmp_path: Path) -> None:
    path = declare(tmp_path, unit, 'by = ["document"]')
    found = score(path, *sides(unit))
    table = found.tables["by_document"]
    assert table.columns[0] == "document"
    assert {*table.columns[1:]} >= {n for n in found.metrics if n not in {"auc", "ap", "map"}}
    own = found.tables["scorings"].filter(evaluation="by_document", measure=found.primary)
    assert own["scoring"].to_list() == table["document"].to_list()
    assert own["value"].to_list() == table[found.primary].to_list()


def test_documents_without_a_language_are_a_group() -> None:
    found = score("relations", *sides("relations"), options={"by": "language"})
    (row,) = found.tables["by_language"].to_dicts()
    assert row.pop("language") == "-"
    assert row == pytest.approx({name: found.metrics[name] for name in row})


def test_languages_are_groups_of_documents(tmp_path: Path) -> None:
    texts = {"reference": ("a", "b", "a"), "submission": ("a", "a", "b")}
    for side, labels in texts.items():
        rows = "".join(
            f'<document><id>d{n}</id><infon key="language">{language}</infon><passage>'
            f'<offset>0</offset><text>Ann</text><annotation id="T1"><infon key="type">{label}'
            '</infon><location offset="0" length="3"/><text>Ann</text></annotation></passage>'
            "</document>"
            for n, (label, language) in enumerate(zip(labels, ("de", "de", "en"), strict=True))
        )
        head = "<collection><source>x</source><date>1</date><key>k</key>"
        (tmp_path / f"{side}.xml").write_text(f"{head}{rows}</collection>", "utf-8")
    paths = (str(tmp_path / f"{side}.xml") for side in texts)
    found = score("mentions", *paths, options={"by": "language"})
    table = found.tables["by_language"].select("language", "micro.f1", "strict.correct")
    assert table.rows() == [("de", 0.5, 1), ("en", 0.0, 0)]


def test_links_are_given_by_type(tmp_path: Path) -> None:
    path = declare(tmp_path, "links", 'by = ["label"]')
    assert declared_task(path).option_defaults == {"by": "type"}
    assert score(path, *sides("links")).tables["groups"]["by"].unique().to_list() == ["type"]


@pytest.mark.parametrize(
    ("unit", "scores", "parts"),
    [
        ("relations", 'also = ["entities"]', ["entities"]),
        ("mentions", 'also = ["strict", "token_accuracy"]', ["strict", "token_accuracy"]),
        ("events", 'measures = ["trigger_classification"]', ["trigger_classification"]),
        ("labels", 'also = ["accuracy", "auc"]', ["accuracy", "auc"]),
        ("transcripts", 'measures = ["wer", "words"]', ["wer", "words"]),
        ("clusters", 'measures = ["muc"]', ["muc"]),
        ("segments", 'measures = ["jer"]', ["jer"]),
    ],
)
def test_what_is_given_beside_averages(
    unit: str, scores: str, parts: list[str], tmp_path: Path
) -> None:
    path = declare(tmp_path, unit, scores)
    metrics = score(path, *sides(unit)).metrics
    found = {name.partition(".")[0] for name in metrics}
    assert found - {"micro", "macro", "weighted", "samples"} == {*parts}
    assert [item.name for item in declared_task(path).statistics] == [
        *metrics
    ] or unit == "clusters"


@pytest.mark.parametrize(
    ("unit", "scores", "message"),
    [
        ("clusters", 'by = ["label"]', 'by "label" has no effect on clusters'),
        ("links", 'by = ["label", "document"]', 'by "document" has no effect beside'),
        ("clusters", 'also = ["muc"]', "also has no effect on clusters"),
        ("mentions", 'average = ["samples"]', "there is no average samples of mentions"),
    ],
)
def test_keys_without_effect_are_said(unit: str, scores: str, message: str, tmp_path: Path) -> None:
    (finding,) = read_declaration(declare(tmp_path, unit, scores)).findings
    assert message in finding.message
    assert finding.span


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(WrongOption, match="use some of document, language, not label"):
        score("segments", *sides("segments"), options={"by": "label"})
