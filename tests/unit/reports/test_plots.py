"""Figures of scores and comparisons: every task has one, with all systems and one legend."""

import sys
from itertools import pairwise

import msgspec
import polars as pl
import pytest

from hlteval import tasks
from hlteval.findings import SUBMISSION
from hlteval.reports import drawing as figures
from hlteval.reports import drawing as forest
from hlteval.reports.drawing import STYLES
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Difference, RefusedSystem, System
from hlteval.results.verdict import Verdict

SCORED = [name for name in tasks.BUILTIN if tasks.load(name).metric]
VERDICT = Verdict("", "", passed=True, paths={SUBMISSION: "runs/mine.json"})


def made(name, *, value=0.5, profile="plan", **changes):
    task = tasks.load(name)
    primary = task.ranking(profile, {})
    scores = Scores(
        task=name, profile=profile, signature="", primary=primary,
        metrics={primary: value, **dict.fromkeys(task.metrics, value)}, intervals={}, tables={},
        verdict=VERDICT,
    )  # fmt: skip
    return msgspec.structs.replace(scores, **changes)


def curves(name="speech-sf", **changes):
    points = {"cut": [1, 2], "recall": [0.5, 1.0], "precision": [1.0, 0.6]}
    layers = [pl.DataFrame({"layer": layer, **points}) for layer in ("Relevance", "Type")]
    return made(name, tables={"curve": pl.concat(layers)}, **changes)


def texts(place):
    return [text.get_text() for text in place.texts]


def rows(place):
    return [label.get_text() for label in place.get_yticklabels()]


@pytest.mark.parametrize("name", SCORED)
def test_every_task_has_a_forest_plot_whose_metrics_have_one_scale(name):
    task, scores = tasks.load(name), made(name)
    plots = forest.forest_of_scores({"a": scores})
    assert scores.primary in [label.removesuffix(" ↓") for plot in plots for label in plot.rows]
    assert sum(len(plot.rows) for plot in plots) <= forest.MOST_ROWS
    for plot in plots:
        of = [task.statistic(label.removesuffix(" ↓")) for label in plot.rows]
        assert {each.values for each in of if each} <= {plot.values}
        arrows = [label.endswith(" ↓") for label in plot.rows]
        assert arrows == [each is not None and each.better == "less" for each in of]


def test_several_systems_have_one_legend_and_a_style_each():
    image = figures.of_scores({"_a": curves(), "b$x$": curves(value=0.2), "c": made("speech-sf")})
    (legend,) = image.legends
    assert [text.get_text() for text in legend.get_texts()] == ["_a", r"b\$x\$", "c"]
    assert all(place.get_legend() is None for place in image.axes)
    *panels, areas = image.axes
    assert [panel.get_title() for panel in panels] == ["Relevance", "Type"]
    assert [texts(panel) for panel in panels] == [["no curve\nc"]] * 2
    assert rows(areas) == ["type.auc", "relevance.auc"]
    assert texts(areas) == ["0.5000", "0.2000", "0.5000"] * 2
    assert len({style.color for style in STYLES}) == len(STYLES) == 64
    drawn = [line.get_color() for line in panels[0].lines]
    assert drawn == [style.color for style in STYLES[:3]]


def test_one_system_has_no_legend_but_its_name_above():
    image = made("ccu-ta2").plot()
    assert image.get_suptitle().startswith("ccu-ta2, profile plan: mine")
    assert image.legends == []
    assert rows(image.axes[0])[0] == "operation_1.agreement"


def test_intervals_are_drawn_and_written():
    image = made("hub4", intervals={"both.f": (0.4, 0.7)}).plot()
    place = image.axes[0]
    assert texts(place)[0] == "0.5000 [0.4000, 0.7000]"
    assert [*place.lines[0].get_xdata()] == [0.4, 0.7]
    assert "with interval" in place.get_xlabel()


def test_what_is_undefined_is_named():
    image = figures.of_scores({"a": made("hub4"), "b": made("hub4", value=None)})
    assert texts(image.axes[0])[:2] == ["0.5000", "undefined"]
    metrics = {"bleu": 40.0, "meteor": None, "ter": 50.0}
    image = made("lorehlt-mt", metrics=metrics).plot()
    assert image.get_suptitle().endswith("undefined: meteor")
    assert [rows(place) for place in image.axes] == [["bleu"], ["ter ↓"]]
    image = made("hub4", value=None).plot()
    assert texts(image.axes[0]) == ["undefined"]
    assert "content.f and 20 more" in image.get_suptitle()


def test_legends_and_panels_do_not_overlap_however_long_the_names():
    long = {f"{'very_long_name_' * 8}{number}/system": curves() for number in range(4)}
    image = figures.of_scores(long)
    image.draw_without_rendering()
    boxes = [each.get_window_extent() for each in (*image.axes, *image.legends)]
    assert all(not one.overlaps(other) for one, other in pairwise(boxes))
    assert all(image.bbox.x0 <= box.x0 and box.x1 <= image.bbox.x1 for box in boxes)
    labels = [text.get_text() for text in image.legends[0].get_texts()]
    assert len(set(labels)) == 4


def test_the_same_numbers_give_the_same_bytes(tmp_path):
    for name in ("a.svg", "b.svg"):
        image = figures.of_scores({"übung": made("hub4"), "b": made("hub4", value=0.25)})
        figures.write(image, tmp_path / name, "svg")
    content = (tmp_path / "a.svg").read_bytes()
    assert content == (tmp_path / "b.svg").read_bytes()
    assert ">übung<".encode() in content


def test_many_systems_leave_room_for_the_metric_that_ranks():
    image = figures.of_scores({f"s{number}": made("hub4") for number in range(61)})
    assert rows(image.axes[0]) == ["both.f"]
    assert image.get_figheight() < 30


def compared(*values):
    names = "abc"
    systems = [
        System(name=name, value=value, interval=value and (value - 0.1, value + 0.1), rank=1)
        for name, value in zip(names, values, strict=False)
    ]
    pair = Difference(
        first=names[0], second=names[1], difference=0.1, interval=(-0.1, 0.3), probability=0.2,
        monte_carlo_error=0.0, corrected=0.4, wins=1, losses=0, ties=0,
    )  # fmt: skip
    refused = RefusedSystem(name="bad", reason="", help="", codes=(), blocking=(), verdict=VERDICT)
    return Comparison(
        task="hub4", profile="plan", metric="both.f", signature="", systems=tuple(systems),
        differences=(pair,), refused=(refused,),
    )  # fmt: skip


def test_a_comparison_shows_systems_and_differences():
    systems, pairs = compared(0.5, 0.4, None).plot().axes
    assert rows(systems) == ["a", "b", "c", "bad"]
    assert texts(systems)[1:] == ["0.4000 [0.3000, 0.5000]", "undefined", "refused"]
    assert rows(pairs) == ["a − b"]
    assert texts(pairs) == ["+0.1000, p 0.4000"]
    assert pairs.get_xlim()[0] < -0.1


def test_the_curves_of_compared_systems_are_above_their_values():
    found = {letter: curves() for letter in "cab"}
    image = figures.of_comparison(compared(0.5, 0.4, None), found)
    assert [place.get_title() for place in image.axes] == ["Relevance", "Type", "", ""]
    (legend,) = image.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    drawn = [[line.get_color() for line in place.lines[:2]] for place in image.axes[:3]]
    assert drawn[0] == drawn[1] == [style.color for style in STYLES[:2]]
    assert drawn[2] == [STYLES[0].color] * 2  # the interval and the point of the first


def test_others_are_of_the_same_task():
    with pytest.raises(ValueError, match="others: expected scores of hub4, got speech-sf"):
        made("hub4").plot({"b": made("speech-sf")})
    assert len(made("hub4").plot({"mine": made("hub4")}).legends[0].get_texts()) == 2


def test_without_matplotlib_an_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "hlteval.reports.drawing", None)
    for result in (made("hub4"), compared(0.5, 0.4)):
        with pytest.raises(ImportError, match=r"pip install 'hlteval\[plot\]'"):
            result.plot()
