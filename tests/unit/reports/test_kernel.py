"""The notebooks of the documentation, and what results look like in a kernel: one for all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from hlteval.workflows.config import unpack

nbclient = pytest.importorskip("nbclient", reason="NOTEBOOKS NOT RUN: nbclient is not installed")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.long("a kernel is started, and figures are drawn")

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MORE = {
    "corpus": 'hlteval.read("entities/reference.tab", "edl-tab")[0]',
    "agreement": 'hlteval.agreement("lorehlt-edl", '
    '["annotators/ada.tab", "annotators/bo.tab"], bootstrap=0)',
    "plot of scores": 'hlteval.score("hub4", "comparison/reference.tpl", '
    '"comparison/bold.tpl").plot()',
    "no findings": 'hlteval.validate("lorehlt-edl", "entities/reference.tab", '
    'against="entities/texts").findings',
}
"""Cells beside those of the notebooks."""
Data = Mapping[str, str]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Data]]:
    """The data of the outputs of each cell by its source: all cells in one kernel, in the demo."""
    folder = tmp_path_factory.mktemp("notebooks") / "hlteval-demo"
    unpack(folder)
    every = nbformat.v4.new_notebook()
    for path in NOTEBOOKS:
        every.cells += nbformat.read(path, as_version=4).cells
    every.cells += map(nbformat.v4.new_code_cell, MORE.values())
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(every, timeout=120, resources=resources).execute()
    assert (folder / "compared.html").is_file() and (folder / "team-02.html").is_file()
    cells = [cell for cell in every.cells if cell.cell_type == "code"]
    assert not [out for cell in cells for out in cell.outputs if out.output_type == "stream"]
    return {cell.source: [out.get("data", {}) for out in cell.outputs] for cell in cells}


def shown(outputs: Mapping[str, list[Data]], end: str) -> Data:
    """The only output of the cell with this end."""
    ((data,),) = (found for source, found in outputs.items() if source.endswith(end))
    return data


def rows(data: Data) -> list[list[str]]:
    """The texts of the cells of all tables."""
    page = html.fragment_fromstring(data["text/html"])
    return [[cell.text_content() for cell in row] for row in page.xpath("//tbody/tr")]


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["scores.plot()", "compared.plot()", '.tpl").plot()'])
def test_a_figure_is_shown_without_a_magic_command(outputs, end):
    data = shown(outputs, end)
    assert data["image/png"].startswith("iVBORw0KGgo")


def test_findings_are_grouped_with_links_to_their_lines(outputs):
    for data in (shown(outputs, "\nverdict"), shown(outputs, "verdict.findings")):
        listed = rows(data)
        assert [row[:3] for row in listed] == [["error", "EDL309", "1"], ["error", "EDL503", "1"]]
        links = html.fragment_fromstring(data["text/html"]).xpath("//a/@href")
        assert links == ["./entities/flawed.tab#L3"] * 2
    assert rows(shown(outputs, MORE["no findings"])) == []


def test_a_comparison_has_ranks_and_p_values(outputs):
    listed = rows(shown(outputs, "\ncompared"))
    assert listed[0][:3] == ["1", "careful", "0.9268"]
    assert listed[2] == ["careful", "bold", "+0.1465", "[0.0743, 0.2241]", "0.008", "0.008"]


def test_the_sentence_for_a_paper_is_text(outputs):
    text = shown(outputs, "compared.sentence())")["text/markdown"]
    assert text.startswith("careful")
    assert "better than bold" in text


def test_a_leaderboard_agreement_and_a_corpus_are_tables(outputs):
    board = rows(shown(outputs, "teams, bootstrap=200)"))
    assert {row[1] for row in board} == {"team-02", "team-03"}
    pairs = rows(shown(outputs, MORE["agreement"]))
    assert ["strong_mention_match.fscore", "ada", "bo"] in [row[:3] for row in pairs]
    tables = [row[0] for row in rows(shown(outputs, MORE["corpus"]))]
    assert "mentions" in tables


def test_data_frames_of_errors_and_confusions_are_shown(outputs):
    assert "only_first" in shown(outputs, 'counts("label")')["text/html"]
    assert "(none)" in shown(outputs, "scores.confusion")["text/html"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert [cell["outputs"] for cell in cells] == [[]] * len(cells)
    assert {cell["execution_count"] for cell in cells} == {None}
    assert path.read_text("utf-8") == json.dumps(found, indent=1, ensure_ascii=False) + "\n"
