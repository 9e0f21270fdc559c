"""What a report is made of: sections as values, each with its data and what draws it.

A kind of section is a class here or beside it, a template `templates/<kind>.html`, and a script
`assets/<kind>.js` where it needs one. The template makes what is there without scripts; the script
finds the data as JSON beside it (`embedding.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import polars as pl

TABLES = ("vendor/tabulator.min.js", "assets/values.js", "assets/table.js")
CHARTS = ("vendor/d3.min.js", "vendor/plot.umd.min.js", "assets/charts.js")
"""The scripts of tables and of charts, in the order in which they are loaded."""


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        title: its heading; empty for none.
        intro: a sentence below the heading.
        kind: of section: the name of its template.
        scripts: what draws it, as files in this folder.
    """

    title: str = ""
    intro: str = ""

    kind: ClassVar[str] = ""
    scripts: ClassVar[tuple[str, ...]] = ()

    def data(self) -> Any:
        """What its script draws, as plain values; None if it needs nothing."""
        return None


@dataclass(frozen=True)
class Fact:
    """A number of a headline.

    Attributes:
        name: what it is.
        value: the number as people read it.
        interval: its interval, empty if there is none.
        note: a few words below it.
        main: whether it is the one to look at first.
    """

    name: str
    value: str
    interval: str = ""
    note: str = ""
    main: bool = False


@dataclass(frozen=True)
class Headline(Section):
    """The numbers to read first."""

    facts: Sequence[Fact] = ()
    kind: ClassVar[str] = "headline"


@dataclass(frozen=True)
class Notes(Section):
    """Warnings and notes, a paragraph each."""

    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    kind: ClassVar[str] = "notes"


@dataclass(frozen=True)
class Copied(Section):
    """A line to copy, such as a signature."""

    text: str = ""
    kind: ClassVar[str] = "copied"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: in the data frame.
        title: as people read it; the name with spaces if it is empty.
        kind: `rate` is shown with four decimals, `number` as it is, `text` and `list` as text;
            `figure` is text that is sorted and filtered as the number that it is, `link` a link to
            the file of that name.
        meaning: shown where the pointer is.
    """

    name: str
    title: str = ""
    kind: Literal["text", "list", "rate", "number", "figure", "link"] = "text"
    meaning: str = ""

    @property
    def heading(self) -> str:
        """Its title, or its name with spaces."""
        return self.title or self.name.replace("_", " ")


@dataclass(frozen=True)
class DataTable(Section):
    """A table that sorts, filters and pages.

    Attributes:
        frame: the rows.
        columns: its columns; all of the frame if there are none.
        page_size: how many rows a page has at first.
    """

    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    columns: Sequence[Column] = ()
    page_size: int = 25
    kind: ClassVar[str] = "table"
    scripts: ClassVar[tuple[str, ...]] = TABLES

    def data(self) -> Any:
        """The columns with their values."""
        from hlteval.reports.html.columns import packed

        return {
            "title": self.title,
            "pageSize": self.page_size,
            "rows": self.frame.height,
            "columns": packed(self.frame, self.columns),
        }


@dataclass(frozen=True)
class Line:
    """A curve of a chart.

    Attributes:
        name: in the legend.
        points: x and y of each point, and what is said of it beside these, by name.
    """

    name: str
    points: pl.DataFrame


@dataclass(frozen=True)
class Curves(Section):
    """Curves in one diagram.

    Attributes:
        axes: the columns of the points that are x and y, which are also what the axes say.
        lines: the curves.
        rates: whether both axes are from 0 to 1.
    """

    axes: tuple[str, str] = ("recall", "precision")
    lines: Sequence[Line] = ()
    rates: bool = True
    kind: ClassVar[str] = "curves"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, *CHARTS)

    def data(self) -> Any:
        """The points of each curve by column."""
        from hlteval.reports.html.columns import packed

        lines = [{"name": line.name, "columns": packed(line.points)} for line in self.lines]
        return {"title": self.title, "axes": self.axes, "rates": self.rates, "lines": lines}


@dataclass(frozen=True)
class Breakdown:
    """Values of several measures for the same items, such as types or documents.

    Attributes:
        name: what the items are.
        items: their names.
        measures: a value for each item, None where undefined, by the name of the measure.
        rates: the measures that are from 0 to 1.
        intervals: the limits for each item, by the name of the measure.
    """

    name: str
    items: Sequence[str]
    measures: Mapping[str, Sequence[float | None]]
    rates: Sequence[str] = ()
    intervals: Mapping[str, Sequence[tuple[float, float] | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bars(Section):
    """Bars of one measure at a time, of one of several breakdowns."""

    breakdowns: Sequence[Breakdown] = ()
    kind: ClassVar[str] = "bars"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, *CHARTS)

    def data(self) -> Any:
        """The breakdowns as they are."""
        return {
            "title": self.title,
            "breakdowns": [
                {
                    "name": each.name,
                    "items": list(each.items),
                    "measures": {name: list(values) for name, values in each.measures.items()},
                    "rates": list(each.rates),
                    "intervals": {name: list(ends) for name, ends in each.intervals.items()},
                }
                for each in self.breakdowns
            ],
        }
