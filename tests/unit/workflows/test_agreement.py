"""Agreement between annotators: values against definitions, places, and wrong annotations."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hlteval
from hlteval.results.agreement import Agreement, CoefficientValue
from hlteval.scoring.agreement.units import Marked, _text, _value
from hlteval.tasks import load, task_names
from hlteval.workflows.run.request import Intervals
from hlteval.workflows.run.verdicts import Refused
from tests.runs import agreement

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "agreement" / "valid"
WRONG = sorted((FIXTURES / "agreement" / "invalid").iterdir())
SCORES, HUB4 = FIXTURES / "scores", FIXTURES / "hub4" / "valid"
CCU = str(SCORES / "ccu" / "reference")
ANNOTATIONS = {
    "seedev-binary": SCORES / "seedev-binary" / "reference",
    "seedev-full": SCORES / "seedev-full" / "reference",
    "speech-sf": FIXTURES / "appen" / "valid",
    "lorehlt-edl": SCORES / "lorehlt-edl" / "reference.tab",
    "lorehlt-sf": SCORES / "lorehlt-sf" / "reference",
    "lorehlt-mt": SCORES / "lorehlt-mt" / "reference",
    "hub4": HUB4 / "system.tpl",
}
"""An annotation for each task whose annotators have files of their own."""


def entities(*names: str, **more: object) -> Agreement:
    """The agreement of annotators of entities."""
    paths = [str(VALID / f"{name}.tab") for name in names]
    return agreement("lorehlt-edl", paths, names=names, **more)  # type: ignore[arg-type]


def overall(found: Agreement, judged: str, coefficient: str) -> list[CoefficientValue]:
    """The coefficients of all documents and labels."""
    return [
        item
        for item in found.coefficients
        if (item.judged, item.coefficient) == (judged, coefficient)
        and item.document is None
        and item.label is None
    ]


@pytest.fixture(scope="module")
def two() -> Agreement:
    """The agreement of Ada and Bo."""
    return entities("ada", "bo")


@pytest.mark.parametrize("case", WRONG, ids=lambda path: path.name)
def test_wrong_annotations_have_their_code(case: Path) -> None:
    code = case.name.partition("-")[0]
    paths = [str(path) for path in sorted(case.iterdir())]
    paths *= 2 if code == "AGR102" else 1
    try:
        found = agreement("lorehlt-edl", paths).findings
    except Refused as refused:
        found = refused.verdict.findings
    assert [item.code for item in found] == [code]
    assert "{" not in found[0].message + (found[0].help or "")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("task", ANNOTATIONS)
def test_an_annotation_agrees_with_its_copy(task: str, tmp_path: Path) -> None:
    """Whatever is defined has its greatest value; metrics take annotations for system output."""
    given, copy = ANNOTATIONS[task], tmp_path / ANNOTATIONS[task].name
    shutil.copytree(given, copy) if given.is_dir() else shutil.copy(given, copy)
    found = agreement(task, [str(given), str(copy)])
    assert {item.code for item in found.findings} >= {"AGR105"}
    assert found.differences == ()
    assert [pair.measure for pair in found.measures] == list(load(task).agreement().measures)
    for pair in found.measures:
        most = 100 if task == "lorehlt-mt" else 1
        assert pair.value is None or pair.value == pytest.approx(most), pair
    assert any(pair.value is not None for pair in found.measures)
    assert all(item.value in {None, 1.0} for item in found.coefficients)


def test_annotators_have_the_scores_of_systems(two: Agreement) -> None:
    """Forward is the second annotator against the first, as `score` gives it."""
    assert two.measures
    for pair in two.measures:
        both = [
            hlteval.score("lorehlt-edl", VALID / one, VALID / other).metrics[pair.measure]
            for one, other in (("ada.tab", "bo.tab"), ("bo.tab", "ada.tab"))
        ]
        assert [pair.forward, pair.backward] == both
        assert pair.value == pytest.approx(sum(both) / 2)


def test_coefficients_of_what_several_marked(two: Agreement) -> None:
    """Ada and Bo marked four spans alike, and gave three of them the same type."""
    (marked,) = overall(two, "type", "unit_f1")
    assert (marked.value, marked.units) == (pytest.approx(2 * 4 / (5 + 5)), 6)
    (same,) = overall(two, "type", "agreement")
    assert (same.value, same.units) == (0.75, 4)
    (entity,) = overall(two, "entity", "agreement")
    assert entity.value == 0.75  # entities of NIL are one category
    (undefined,) = overall(two, "mention_type", "kappa")
    assert (undefined.value, undefined.units) == (None, 4)
    assert "the same" in undefined.reason
    assert not overall(two, "type", "fleiss_kappa")
    assert len(overall(entities("ada", "bo", "eve"), "type", "fleiss_kappa")) == 1


def test_scopes_of_coefficients(two: Agreement) -> None:
    documents = {
        item.document: item.units
        for item in two.coefficients
        if item.coefficient == "kappa" and item.judged == "type" and item.document
    }
    assert documents == {"d1": 2, "d2": 1, "d3": 1}
    labels = {item.label for item in two.coefficients if item.judged == "type" and item.label}
    assert labels == {"GPE", "LOC", "ORG"}


def test_differences_have_places(two: Agreement) -> None:
    """What one did not mark is listed once, whatever else is judged of it."""
    rows = two.to_frame("differences")
    listed = rows.select("judged", "unit", "annotator", "category").rows()
    assert listed == [
        ("type", "10-15", "ada", "GPE"),
        ("type", "10-15", "bo", "LOC"),
        ("type", "20-23", "ada", None),
        ("type", "20-23", "bo", "PER"),
        ("type", "20-31", "ada", "PER"),
        ("type", "20-31", "bo", None),
        ("entity", "10-15", "ada", "1002"),
        ("entity", "10-15", "bo", "1003"),
    ]
    places = [place and Path(place).name for place in rows["place"]]
    assert places == [
        "ada.tab:2",
        "bo.tab:2",
        None,
        "bo.tab:4",
        "ada.tab:4",
        None,
        "ada.tab:2",
        "bo.tab:2",
    ]


def test_concordance_of_annotators_inside_a_reference() -> None:
    """Levels of the segments that both judged, with the moments of a population."""
    corpus = hlteval.read(CCU)[0]
    rows = corpus.ratings.filter(kind="arousal").drop_nulls("level")
    wide = rows.pivot("annotator", index=["document", "start", "end"], values="level")
    found = agreement("ccu-ad", [CCU])
    assert found.annotators == ("1001", "1002", "1003")
    values = {item.annotators: item.value for item in overall(found, "arousal", "ccc")}
    for pair in combinations(found.annotators, 2):
        x, y = wide.select(*pair).drop_nulls().to_numpy().T
        expected = 2 * np.cov(x, y, bias=True)[0, 1]
        expected /= (x.mean() - y.mean()) ** 2 + x.var() + y.var()
        assert values[pair] == pytest.approx(expected)
    assert all(pair.value is not None and -1 <= pair.value <= 1 for pair in found.measures)
    spreads = [
        max(levels) - min(levels)
        for item in found.differences
        if item.judged == "arousal"
        and (levels := [float(own.category) for own in item.judgments.values() if own.category])
    ]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > 0


def test_only_those_who_judge_something_are_its_annotators() -> None:
    """One annotator found norms in these segments, three found emotions."""
    assert agreement("ccu-ed", [CCU]).annotators == ("1001", "1002", "1003")
    with pytest.raises(Refused, match="AGR101") as refused:
        agreement("ccu-nd", [CCU])
    assert "1001 only" in refused.value.verdict.findings[0].message


def test_a_label_that_nobody_gives_a_segment_is_absent_from_it() -> None:
    """Segments and emotions are units, those without an emotion too; `noann` is not a judgment."""
    corpus = hlteval.read(CCU)[0]
    rows = corpus.instances.filter(pl.col("kind") == "emotion", pl.col("label") != "noann")
    segments = rows.select("document", "start", "end").n_unique()
    labels = rows.filter(pl.col("label") != "none")["label"].n_unique()
    (first, *_) = overall(agreement("ccu-ed", [CCU]), "emotion", "kappa")
    assert first.units == segments * labels


def test_provided_files_come_with_the_documents(tmp_path: Path) -> None:
    """Annotators of events need have nothing but their events."""
    given = SCORES / "seedev-binary"
    paths = [str(given / "reference"), str(given / "system")]
    (pair,) = agreement("seedev-binary", paths, against=paths[0]).measures
    assert pair.forward == pair.backward == hlteval.score("seedev-binary", *paths).metrics["f1"]
    with pytest.raises(Refused, match="REF106"):
        agreement("seedev-binary", paths)


def test_documents_without_annotations_count_where_they_are_listed(tmp_path: Path) -> None:
    """A format that names only documents with mentions does not say that others are annotated."""
    case = FIXTURES / "agreement" / "invalid" / "AGR104-lacks-a-document"
    listed = tmp_path / "documents.txt"
    listed.write_text("d1\nd2\nd3\n")
    paths = [str(path) for path in sorted(case.iterdir())]
    without = agreement("lorehlt-edl", paths)
    with_list = agreement("lorehlt-edl", paths, options={"documents": str(listed)})
    assert (without.documents, with_list.documents) == (2, 3)
    assert with_list.findings == ()
    assert with_list.measures[0].value < without.measures[0].value  # type: ignore[operator]
    assert len(with_list.differences) == len(without.differences) + 1


def test_intervals_hold_the_values() -> None:
    """Documents are resampled; with few of them there are reasons instead."""
    folder = Path(hlteval.__file__).parent / "demo" / "comparison"
    paths = [str(folder / name) for name in ("bold.tpl", "careful.tpl")]
    content = {"mode": "content"}
    found = agreement("hub4", paths, intervals=Intervals(50), options=content)
    assert [pair.measure for pair in found.measures] == ["content.f"]
    held = [item for item in (*found.measures, *found.coefficients) if item.interval]
    assert len(held) > 5
    assert all(item.interval[0] <= item.value <= item.interval[1] for item in held)  # type: ignore[operator,index]
    assert agreement("hub4", paths, intervals=Intervals(50), options=content) == found
    few = entities("ada", "bo", intervals=Intervals(50))
    assert "at least 10" in overall(few, "type", "kappa")[0].reason


@pytest.mark.parametrize("name", [name for name in task_names() if load(name).agreement])
def test_declarations_name_what_there_is(name: str) -> None:
    """Metrics and options of the task; tables and columns of the representation."""
    task = load(name)
    assert task.agreement is not None
    own = task.agreement()
    assert set(own.options) <= {option.name for option in task.options}
    assert all(task.statistic(measure) for measure in own.measures)
    assert bool(own.why) != bool(own.units)
    assert len({unit.name for unit in own.units}) == len(own.units)


def test_numbers_that_are_whole_are_written_without_decimals_and_names_as_they_are():
    rows = pl.DataFrame({"at": [1.0, 2.5, None], "version": ["1.0", "2", None]})
    texts = rows.select(*(_text(name, rows.schema[name]) for name in rows.columns))
    assert texts.rows() == [("1", "1.0"), ("2.5", "2"), ("", "")]


def test_what_is_not_judged_and_what_is_no_category_is_left_out():
    unit = Marked(
        "a", "b", "ratings", ("start",), "level", "ordinal", order=("low", "high"), unjudged=("x",)
    )
    rows = pl.DataFrame({"value": ["low", "high", "x", "other", None]})
    assert rows.select(_value(unit)).to_series().to_list() == ["low", "high", None, None, None]
    named = replace(unit, order=(), otherwise="none", merged="^(NIL)[0-9]+$")
    rows = pl.DataFrame({"value": ["low", "NIL7", "x", None]})
    assert rows.select(_value(named)).to_series().to_list() == ["low", "NIL", None, "none"]
