"""A page of sections under tabs, as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hlteval.reports.display import visible
from hlteval.reports.escapes import printable
from hlteval.reports.html.embedding import as_json, asset, policy
from hlteval.reports.html.sections import Section

STYLES = ("vendor/tabulator.min.css", "assets/report.css", "assets/alignment.css")
FIRST, LAST = "assets/report.js", "assets/start.js"
"""The script before all others, and that after them."""


@dataclass(frozen=True)
class Tab:
    """Sections that are seen together.

    Attributes:
        title: of the tab.
        sections: what is under it.
        count: a number beside the title, such as that of findings; None for none.
    """

    title: str
    sections: Sequence[Section]
    count: int | None = None


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes:
        title: its heading.
        subtitle: below the heading: what was compared with what.
        tabs: its tabs, the first of which is shown; those without sections are left out.
        outcome: a word with a colour, `pass`, `fail` or `refused`; empty for none.
        parent: a link to the page that this one belongs to, and its text; None for none.
    """

    title: str
    subtitle: Sequence[tuple[str, str]]
    tabs: Sequence[Tab]
    outcome: str = ""
    parent: tuple[str, str] | None = None

    @property
    def sections(self) -> Iterator[Section]:
        """The sections of all tabs."""
        for tab in self.tabs:
            yield from tab.sections

    def html(self) -> str:
        """The page as one file that loads nothing.

        Examples:
            >>> Page("Scores", (), [Tab("Overview", [Section()])]).html()[:15]
            '<!doctype html>'
        """
        needed = dict.fromkeys(path for section in self.sections for path in section.scripts)
        scripts = [asset(path) for path in (FIRST, *needed, LAST)]
        return str(
            _environment()
            .get_template("page.html")
            .render(
                page=self,
                tabs=[tab for tab in self.tabs if tab.sections],
                scripts=scripts,
                styles=[asset(path) for path in STYLES],
                policy=policy(scripts),
            )
        )


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("hlteval.reports.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = _visible
    environment.filters["embedded"] = as_json
    return environment


def _visible(text: object) -> str:
    """A text as people read it: nothing in it is obeyed, nothing is invisible."""
    return visible(printable(str(text)))
