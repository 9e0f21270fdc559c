"""Areas below curves: the order of the cuts, zeros, and the area of what is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hlteval
from hlteval.results.scores import Scores
from hlteval.scoring.situations.plan import LAYERS
from hlteval.validators.situations.rules import types
from tests.runs import score

ANNOTATED = "TYPE: {types}\nTIME: Current\nResolution: Sufficient\nPLACE: {place}\n"


def annotated(folder: Path, **segments: tuple[str, str]) -> Path:
    """A reference with a block of types and places for each segment."""
    home = folder / "gt" / "P1" / "ANNOTATION"
    home.mkdir(parents=True)
    for name, (labels, place) in segments.items():
        (home / f"{name}.txt").write_text(ANNOTATED.format(types=labels, place=place), "utf-8")
    return folder / "gt"


def frame(document: str, label: str, confidence: float, place: str = "") -> dict[str, object]:
    item = {"DocumentID": document, "Type": label, "TypeConfidence": confidence}
    return item | ({"PlaceMention": place} if place else {})


def scores(reference: Path, frames: list[dict[str, object]], profile: str = "plan") -> Scores:
    path = reference.parent / "system.json"
    path.write_text(json.dumps(frames), "utf-8")
    return score("speech-sf", str(reference), str(path), profile=profile)


@pytest.fixture
def perfect(tmp_path: Path) -> tuple[Path, list[dict[str, object]]]:
    """A perfect system that adds all other types of its segments at confidence 0 (section 2)."""
    reference = annotated(tmp_path, D1=("Shelter", "Osh"), D2=("Evacuation", "Naryn"))
    right = [frame("D1", "Shelter", 0.9, "Osh"), frame("D2", "Evacuation", 0.8, "Naryn")]
    advised = [
        frame(name, label, 0)
        for name, own in (("D1", "Shelter"), ("D2", "Evacuation"))
        for label in types()
        if label != own
    ]
    return reference, right + advised


def test_advised_types_at_confidence_0_cost_a_perfect_system_nothing(perfect):
    metrics = scores(*perfect).metrics
    for layer in ("relevance", "type", "type+place"):
        assert metrics[f"{layer}.auc"] == 1
        assert metrics[f"{layer}.max_f1"] == 1


def test_official_keeps_the_order_of_the_script(perfect):
    metrics = scores(*perfect, "official").metrics
    assert metrics["type.auc_anchored"] == pytest.approx(0.7727, abs=5e-5)


def test_the_area_is_that_of_the_curve_that_is_drawn(perfect):
    from hlteval.reports.curves import panels

    reference, frames = perfect
    wrong = [frame("D1", "Shelter", 0.95, "Talas"), frame("D3", "Shelter", 0.85)]
    for profile in ("plan", "official"):
        found = scores(reference, [*frames, *wrong], profile)
        curves = {panel.title: panel.curves[0] for panel in panels({"system": found})}
        for name, layer in LAYERS.items():
            recalls, precisions = curves[layer]
            drawn = sum(
                (recalls[at] - recalls[at - 1]) * (precisions[at] + precisions[at - 1]) / 2
                for at in range(1, len(recalls))
            )
            assert found.metrics[f"{name}.auc"] == pytest.approx(drawn, abs=1e-12)
            assert recalls == sorted(recalls)


def test_a_submission_without_frames_has_an_area_of_0_where_the_reference_has_frames(tmp_path):
    reference = annotated(tmp_path, D1=("Shelter", "n/a"))
    plan, official = (scores(reference, [], profile).metrics for profile in ("plan", "official"))
    for layer in ("relevance", "type"):
        assert (plan[f"{layer}.auc"], plan[f"{layer}.auc_anchored"]) == (0, 0)
        assert plan[f"{layer}.max_f1"] == 0
    assert plan["type+place.auc"] is None  # there is nothing to find at this layer
    assert official["relevance.auc"] == 0
    assert official["type.auc"] is None


def test_f1_is_0_where_nothing_is_right(tmp_path):
    reference = annotated(tmp_path, D1=("Shelter", "Osh"))
    metrics = scores(reference, [frame("D1", "Evacuation", 0.5, "Osh")]).metrics
    assert metrics["type.max_f1"] == metrics["type+place.max_f1"] == 0
    assert metrics["type.auc"] == 0
    assert metrics["relevance.max_f1"] == 1


def test_f1_is_undefined_where_neither_side_has_frames(tmp_path):
    metrics = scores(annotated(tmp_path, D1=("out-of-domain", "n/a")), []).metrics
    assert metrics["type.max_f1"] is None
    assert metrics["relevance.auc"] is None


@pytest.mark.parametrize("profile", ["plan", "official"])
def test_frames_of_one_record_of_a_saved_corpus_count_once(tmp_path: Path, profile: str) -> None:
    """A block of an annotation has several types; as a submission, it is several frames."""
    reference = annotated(tmp_path, D1=("Shelter, Evacuation", "Osh"), D2=("Evacuation", "Naryn"))
    saved = tmp_path / "saved.jsonl"
    hlteval.convert(reference, saved)
    found = score("speech-sf", str(reference), str(saved), profile=profile)
    best = {name: value for name, value in found.metrics.items() if name.endswith("max_f1")}
    assert best == {f"{layer}.max_f1": 1 for layer in LAYERS}
