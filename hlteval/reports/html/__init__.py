"""Reports as one HTML file that opens offline: pages of scores, verdicts and comparisons."""

from hlteval.reports.html.writing import Result, page, write

__all__ = ["Result", "page", "write"]
