"""The tutorials: a page for every task, of one shape, whose sentences have the numbers shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlteval import tasks

FOLDER = Path(__file__).parents[3] / "docs" / "tutorials"
DEMO = Path(__file__).parents[3] / "hlteval" / "demo" / "tutorials"
PAGES = sorted(set(FOLDER.glob("*.md")) - {FOLDER / "index.md"})
SHAPE = [
    "The data", "Validate and fix", "Convert", "Score", "Compare", "Report", "Next",
]  # fmt: skip
VALIDATION_ONLY = {"ltf.md", "ccu-reference.md"}
VERSIONS = r"(?:hlteval|sacrebleu|section|version|p <) [\d.]+|v\d[\d.]*"
"""What else has a point in such a sentence."""
MOST_LINES = 96
"""Without empty lines: two sheets of paper."""


def index() -> dict[str, str]:
    """The page of each task in the table of the index."""
    rows = re.findall(
        r"^\| (`[^|]*`) \|.*\]\(([a-z0-9-]+\.md)\) \|$",
        (FOLDER / "index.md").read_text("utf-8"),
        re.M,
    )
    return {task: page for names, page in rows for task in re.findall(r"`([^`]+)`", names)}


def test_the_index_leads_from_every_task_to_a_page() -> None:
    assert set(index()) == set(tasks.BUILTIN)
    assert set(index().values()) == {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_all_pages_have_the_same_parts(page: Path) -> None:
    parts = re.findall(r"^## (.*)$", page.read_text("utf-8"), re.M)
    scored = page.name not in VALIDATION_ONLY
    assert parts == [p for p in SHAPE if scored or p not in ("Score", "Compare", "Report")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_fits_two_sheets_of_paper(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    assert sum(bool(line) for line in lines) <= MOST_LINES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_data_of_a_page_is_in_the_demonstration(page: Path) -> None:
    text = page.read_text("utf-8")
    (folder,) = re.findall(r"^\$ cd tutorials/([a-z0-9-]+)$", text, re.M)
    table = text.partition("## The data")[2].partition("## Validate")[0]
    for cell in re.findall(r"^\| (`[^|]*) \|", table, re.M):
        for name in re.findall(r"`([^`]+)`", cell):
            assert (DEMO / folder / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_for_papers_have_the_numbers_that_commands_print(page: Path) -> None:
    text = page.read_text("utf-8")
    printed = [
        float(number)
        for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
        for number in re.findall(r"-?\d+\.\d+", block)
    ]
    quoted = " ".join(re.findall(r"^> (.*)$", text, re.M)).replace("hlteval 0.1.0", "")
    quoted = re.sub(
        r"sections? [\d.]+|sacrebleu [\d.]+|[Vv](?:ersion )?\d[\d.]*|p < 0.001", "", quoted
    )
    numbers = re.findall(r"(−?)(\d+\.(\d+))( %)?", quoted)
    assert numbers or page.name in VALIDATION_ONLY
    for minus, number, decimals, percent in numbers:
        value = float(number) / (100 if percent else 1) * (-1 if minus else 1)
        step = 10.0 ** -(len(decimals) + 2 * bool(percent))
        assert any(abs(value - other) <= 0.501 * step for other in printed), number
