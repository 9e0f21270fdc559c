"""Reports as one HTML file that opens offline: pages of scores, verdicts and comparisons."""

from pathlib import Path

from hlteval.reports.html.page import Page
from hlteval.reports.html.scores import refusal_page, score_page, verdict_page
from hlteval.reports.html.systems import agreement_page, comparison_page, leaderboard_page
from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard
from hlteval.results.verdict import Refusal, Verdict
from hlteval.sources import writing

#: What there is a report of.
Result = Scores | Verdict | Comparison | Leaderboard | Agreement | Refusal


def make_page(result: Result) -> Page:
    """The report of a result.

    Examples:
        >>> make_page(Verdict("seedev-binary", "plan", passed=True)).outcome
        'pass'
    """
    match result:
        case Scores():
            return score_page(result)
        case Verdict():
            return verdict_page(result)
        case Comparison():
            return comparison_page(result)
        case Leaderboard():
            return leaderboard_page(result)
        case Agreement():
            return agreement_page(result)
        case Refusal():
            return refusal_page(result)


def write(result: Result | Page, path: Path, parent: tuple[str, str] | None = None) -> None:
    """Write a report as one HTML file; an existing file is replaced in one step.

    Args:
        result: the result, or its page.
        path: of the file.
        parent: a link to the page that it belongs to, and its text.

    Raises:
        NotWritten: if the system refuses it.
    """
    text = (result if isinstance(result, Page) else make_page(result)).html(parent)
    with writing(path, replace=True) as unfinished:
        unfinished.write_text(text, "utf-8", errors="backslashreplace", newline="")
