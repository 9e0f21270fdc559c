"""Charts as people see them: nothing is cut or overlaps, and they look as they did."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from playwright.sync_api import expect

from hlteval.reports.html import write
from hlteval.reports.html.overview import Outcomes, Part
from hlteval.reports.html.page import Breakdown, Curves, DotPlot, Page, Section, Tab

pytestmark = pytest.mark.long("a browser draws charts at several widths")

PICTURES = Path(__file__).parents[1] / "golden" / "charts"
#: A pixel of a picture is the mean of so many by so many of the screen, without texts: what
#: depends on fonts or on the smoothing of edges is not compared.
BLOCK = 4
#: The most that a pixel of a picture may differ, of 255. A dot that moves by its size exceeds it.
TOLERANCE = 48

LONG = "a name of a class that is much longer than a phone is wide"
NAMES = ["Relevance", "TYPE+PLACE", LONG, "災害状況の種類と場所", *(f"class {n}" for n in range(8))]


def curve(number: int) -> pl.DataFrame:
    recall = [0.0, 0.25, 0.5, 0.75, 1 - number / 20]
    return pl.DataFrame(
        {"recall": recall, "precision": [1 - number / 24 - x * number / 24 for x in recall]}
    )


def sections(*, change: float = 0.0) -> list[Section]:
    """A chart of each kind, with one value that can be changed."""
    values = {"F1 of a measure with a long name": [0.25 + change, 0.5, 0.75, None, 1.0]}
    intervals = {name: [(0.1, 0.4), (0.45, 0.52), None, None, (0.9, 1.0)] for name in values}
    items = ["PERSON", "ORG", LONG, "undefined", ""]
    overall = dict.fromkeys(values, (0.6, (0.5, 0.7)))
    labels = Breakdown("label", items, values, [*values], intervals, overall)
    groups = [(0, 1), (1, 2)]
    systems = Breakdown("system", ["a", "b", "c"], {"BLEU": [41.5, 20.25, 20]}, groups=groups)
    parts = [
        Part(title, kind, count, {"outcome": title})
        for title, kind, count in (
            ("correct", "correct", 60),
            ("wrong label", "different-1", 20),
            ("wrong boundary", "different-2", 10),
            ("missing", "missing", 7),
            ("extra", "extra", 3),
        )
    ]
    return [
        DotPlot("Labels", breakdowns=[labels]),
        DotPlot("Systems", breakdowns=[systems]),
        Curves("Few", lines=[(name, curve(n)) for n, name in enumerate(NAMES[:4])]),
        Curves("Many", lines=[(name, curve(n)) for n, name in enumerate(NAMES)]),
        Outcomes("Outcomes", bars=[("", parts)]),
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("charts") / "report.html"
    write(Page("Charts", (), [Tab("All", sections())]), path)
    return path


#: The boxes of the texts of a chart and of the chart itself, in pixels.
BOXES = """svg => {
  const box = (e) => { const {left, top, right, bottom} = e.getBoundingClientRect();
                       return {left, top, right, bottom, text: e.textContent}; };
  const texts = [...svg.querySelectorAll("text")].filter((e) => e.textContent.trim());
  return [box(svg), texts.map(box)];
}"""


def problems(chart: dict[str, float], texts: list[dict[str, Any]]) -> Iterator[str]:
    """The texts that are cut, and the pairs that overlap by more than a pixel."""
    for at, one in enumerate(texts):
        outside = (chart["left"] - one["left"], one["right"] - chart["right"])
        outside += (chart["top"] - one["top"], one["bottom"] - chart["bottom"])
        if max(outside) > 1:
            yield f"cut: {one['text']}"
        for other in texts[:at]:
            wide = min(one["right"], other["right"]) - max(one["left"], other["left"])
            high = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if wide > 1 and high > 2:
                yield f"{one['text']} overlaps {other['text']}"


@pytest.mark.parametrize("width", [360, 768, 1366])
@pytest.mark.parametrize("medium", ["screen", "print"])
def test_no_text_is_cut_or_overlaps_another(
    open_report: Any, report: Path, width: int, medium: str
) -> None:
    page = open_report(report, width=width).page
    page.emulate_media(media=medium)
    charts = page.get_by_role("img")
    expect(charts).to_have_count(4)
    for chart in charts.all():
        assert [*problems(*chart.evaluate(BOXES))] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_texts_that_are_cut_or_overlap_are_noticed() -> None:
    chart = {"left": 0, "top": 0, "right": 100, "bottom": 50}
    title = {"left": 40, "top": 40, "right": 60, "bottom": 54, "text": "F1"}
    number = {"left": 50, "top": 35, "right": 70, "bottom": 45, "text": "0.5"}
    assert [*problems(chart, [number, title])] == ["cut: F1", "F1 overlaps 0.5"]


def test_the_title_of_an_axis_is_below_its_numbers(open_report: Any, report: Path) -> None:
    page = open_report(report, width=360).page
    _, texts = page.get_by_role("img").first.evaluate(BOXES)
    title = next(text for text in texts if text["text"].startswith("F1 of"))
    numbers = [text for text in texts if text["text"] in ("0.0", "0.5", "1.0")]
    assert len(numbers) == 3
    assert all(number["bottom"] <= title["top"] + 1 for number in numbers)


def test_every_row_has_a_name_and_every_value_is_there(open_report: Any, report: Path) -> None:
    page = open_report(report).page
    shown = page.get_by_role("img").first.locator("text").all_text_contents()
    assert "PERSON" in shown
    assert "(no name)" in shown
    assert "0.2500 [0.1000, 0.4000]" in shown
    assert "all 0.6000" in shown
    assert "undefined" not in shown
    expect(page.locator(".part-dots").first).to_contain_text("Undefined for 1 of 5.")


def colours(page: Any, title: str) -> list[str]:
    """The colours of the curves of a diagram."""
    chart = page.get_by_role("img", name=f"{title}:")
    paths = chart.locator("path[stroke^=var][stroke-width], g[stroke-width='2'] path")
    found: list[str] = paths.evaluate_all("all => all.map((e) => getComputedStyle(e).stroke)")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_two_curves_have_one_colour_but_those_that_are_grey(
    open_report: Any, report: Path, scheme: str
) -> None:
    page = open_report(report, scheme=scheme).page
    context = page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--context')"
    )
    grey = f"rgb({', '.join(str(int(context.strip()[at : at + 2], 16)) for at in (1, 3, 5))})"
    few, many = colours(page, "Few"), colours(page, "Many")
    assert len(few) == len({*few}) == 4
    assert len(many) == 12
    assert many.count(grey) == 4
    assert len({*many}) == 9
    panel = page.locator("section").filter(has_text="The first 8 of 12 curves")
    panel.get_by_label("Curve").select_option("class 7")
    assert colours(page, "Many").count(grey) == 11


#: Texts are not drawn, and only a section and its chart.
HIDDEN = "svg text { visibility: hidden } svg [aria-label=tip] { display: none }"


def pictures(browser: Any, path: Path, scheme: str) -> Iterator[np.ndarray]:
    """The charts of a report, each pixel the mean of a block, without texts."""
    settings = {"viewport": {"width": 768, "height": 900}, "color_scheme": scheme}
    page = browser.new_page(**settings, reduced_motion="reduce")
    page.goto(path.as_uri())
    page.add_style_tag(content=HIDDEN)
    for chart in (*page.get_by_role("img").all(), page.locator(".stack")):
        image = Image.open(BytesIO(chart.screenshot(animations="disabled")))
        yield np.asarray(image.convert("RGB").reduce(BLOCK))
    page.close()


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of a pixel of two pictures; infinite if their sizes differ."""
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(one.astype(int) - other.astype(int)).max())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_look_as_they_did(
    browser: Any, report: Path, scheme: str, request: pytest.FixtureRequest
) -> None:
    drawn = [*pictures(browser, report, scheme)]
    files = [
        PICTURES / f"{name}-{scheme}.png" for name in ("labels", "systems", "few", "many", "parts")
    ]
    if request.config.getoption("--update-golden"):
        PICTURES.mkdir(exist_ok=True)
        for path, picture in zip(files, drawn, strict=True):
            Image.fromarray(picture).save(path, optimize=True)
    known = [np.asarray(Image.open(path).convert("RGB")) for path in files]
    found = {p.stem: difference(*pair) for p, *pair in zip(files, drawn, known, strict=True)}
    assert {name: much for name, much in found.items() if much > TOLERANCE} == {}


def test_a_dot_that_moves_is_noticed(browser: Any, report: Path, tmp_path: Path) -> None:
    write(Page("Charts", (), [Tab("All", sections(change=0.03))]), tmp_path / "changed.html")
    before, after = (
        next(pictures(browser, path, "light")) for path in (report, tmp_path / "changed.html")
    )
    assert difference(before, after) > TOLERANCE
