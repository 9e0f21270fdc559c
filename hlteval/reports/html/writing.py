"""Reports as files."""

from __future__ import annotations

from pathlib import Path

from hlteval.reports.html.page import Page
from hlteval.reports.html.score_page import score_page
from hlteval.results.scores import Scores
from hlteval.sources import writing

Result = Scores
"""What there is a report of."""


def page(result: Result, parent: tuple[str, str] | None = None) -> Page:
    """The report of a result.

    Args:
        result: the result.
        parent: a link to the page that it belongs to, and its text.
    """
    return score_page(result, parent)


def write(result: Result, path: Path, parent: tuple[str, str] | None = None) -> None:
    """Write the report of a result as one HTML file; an existing file is replaced in one step.

    Args:
        result: the result.
        path: of the file.
        parent: a link to the page that it belongs to, and its text.

    Raises:
        NotWritten: if the system refuses it.
    """
    text = page(result, parent).html()
    with writing(path, replace=True) as unfinished:
        unfinished.write_text(text, "utf-8", errors="backslashreplace", newline="")
