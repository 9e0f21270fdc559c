"""A report as one HTML file: its page, sections, columns, scripts, styles and data.

Security:
    Data are JSON in script elements, with `<`, `>` and `&` as escapes: no text can end its element.
    The policy of the page names its own scripts by their digests. A browser runs no other script,
    and loads nothing, even if some text were taken for HTML.

A report is a value, a `Page` of sections (`reports/html/`). A section has a template for what is
there without scripts, its data as JSON beside it, and a script that draws them. The policy of the
page names its own scripts by their digests, so a browser runs and loads nothing else, even if a
text were taken for HTML. Tables are Tabulator's (MIT, 450 kB): it pages and filters 100,000 rows
in a fraction of a second and has the roles of a grid. Charts are Observable Plot's on D3 (ISC,
490 kB): its SVG follows the colours of the page, prints sharply and is one labelled image to
screen readers, which canvas libraries of half the size are not; pages without charts do not have
it. The builds in `reports/html/vendor` are the published ones, each with its licence. To draw a
new kind of section: a class, a template and a script of one name.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from math import isnan
from typing import ClassVar

import msgspec
import polars as pl

from hlteval.reports.tables import Field
from hlteval.reports.terminal import escape_json, printable, visible
from hlteval.results.systems import Interval

_FILES = resources.files("hlteval.reports.html")
_MAP = re.compile(r"(?m)^(//|/\*)# sourceMappingURL=.*$")
#: The types of columns, beside numbers, that are the same in JSON.
_PLAIN = (pl.String, pl.Boolean, pl.List(pl.String))
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_json(value: object) -> str:
    r"""A value as JSON that can be the text of a script element.

    Examples:
        >>> as_json(["</script>"])
        '["\\u003c/script\\u003e"]'
    """
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate, as in a file name that is not UTF-8
        encoded = msgspec.json.encode(printable(msgspec.to_builtins(value)))
    return escape_json(encoded).decode().translate(_ESCAPES)


def asset(path: str) -> str:
    """A script or a style of this folder, without references to files that are not there.

    A library begins with its licence.

    Examples:
        >>> asset("vendor/d3.min.js").startswith("/*!")
        True
    """
    text = _MAP.sub("", _FILES.joinpath(path).read_text("utf-8"))
    folder, _, name = path.rpartition("/")
    if folder != "vendor" or not name.endswith(".js"):
        return text
    licence = _FILES.joinpath(folder, f"{name.partition('.')[0]}.LICENSE").read_text("utf-8")
    return f"/*!\n{licence.strip()}\n*/\n{text}"


def policy(scripts: Iterable[str]) -> str:
    """The content security policy of a page with some scripts."""
    own = " ".join(digests(scripts))
    return (
        f"default-src 'none'; script-src {own}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digests(scripts: Iterable[str]) -> Iterator[str]:
    """Texts of scripts or styles, as a content security policy names them."""
    for script in scripts:
        digest = hashlib.sha256(script.encode()).digest()
        yield f"'sha256-{base64.b64encode(digest).decode()}'"


#: The most rows of a table without scripts.
MOST_ROWS = 100


class PlainTable(msgspec.Struct, frozen=True):
    """A table that needs no script.

    Attributes:
        title: its caption; empty for none.
        header: the names of its columns.
        rows: the texts of its cells, of the first rows.
        height: how many rows there are.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    height: int


def plain_table(frame: pl.DataFrame, fields: Sequence[Field] = (), title: str = "") -> PlainTable:
    """The first rows of a data frame as people read them.

    Args:
        frame: the rows.
        fields: its columns, in order; all of them if there are none.
        title: the caption of the table.

    Examples:
        >>> plain_table(pl.DataFrame({"f1": [0.5, None], "tp": [1234, 1]})).rows
        [['0.5000', '1,234'], ['–', '1']]
    """  # noqa: RUF002 - as values that are undefined are shown
    known = fields or [field_of(name, dtype) for name, dtype in frame.schema.items()]
    few = frame.select(field.name for field in known).head(MOST_ROWS)
    kinds = [field.kind for field in known]
    rows = [
        [_text(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in few.rows()
    ]
    header = [field.title or field.name.replace("_", " ") for field in known]
    return PlainTable(title, header, rows, frame.height)


def _text(value: object, kind: str) -> str:
    """A value of a column as `values.js` shows it."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and isnan(value)):
        return "–"  # noqa: RUF001
    if isinstance(value, int | float):
        return f"{value:.4f}" if kind == "rate" else f"{value:,.4f}".rstrip("0").rstrip(".")
    return str(value)


TABLES = ("vendor/tabulator.min.js", "assets/values.js", "assets/table.js")
#: The scripts of tables and of charts, in the order in which they are loaded.
CHARTS = ("vendor/d3.min.js", "vendor/plot.umd.min.js", "assets/charts.js")


class Section(msgspec.Struct, frozen=True):
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

    def data(self) -> Mapping[str, object] | None:
        """Data for its script, as plain values; None if it needs nothing."""
        return None

    def plain_tables(self) -> Iterator["PlainTable"]:
        """Tables of the data, for browsers without scripts."""
        yield from ()


class Fact(msgspec.Struct, frozen=True):
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


class Headline(Section, frozen=True):
    """The numbers to read first."""

    facts: Sequence[Fact] = ()
    kind: ClassVar[str] = "headline"


class Notes(Section, frozen=True):
    """Warnings and notes, a paragraph each."""

    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    kind: ClassVar[str] = "notes"


class Copied(Section, frozen=True):
    """A line to copy, such as a signature."""

    text: str = ""
    kind: ClassVar[str] = "copied"


class Cited(Section, frozen=True):
    """A sentence for a paper.

    Attributes:
        text: the sentence in Markdown.
        latex: the sentence in LaTeX.
        unsupported: what cannot be written.
    """

    text: str = ""
    latex: str = ""
    unsupported: Sequence[str] = ()
    kind: ClassVar[str] = "cited"


class DataTable(Section, frozen=True):
    """A table that sorts, filters and pages.

    Attributes:
        frame: the rows.
        columns: its columns; all of the frame if there are none.
        page_size: how many rows a page has at first.
        links: files that the texts of a column lead to, a file for each row, by its name.
        bars: the names of the columns whose cells have a bar beside the number.
        details: the names of the columns that are shown on demand.
        details_title: what these columns are.
    """

    frame: pl.DataFrame = msgspec.field(default_factory=pl.DataFrame)
    columns: Sequence[Field] = ()
    page_size: int = 25
    links: Mapping[str, Sequence[str]] = {}
    bars: Sequence[str] = ()
    details: Sequence[str] = ()
    details_title: str = ""
    kind: ClassVar[str] = "table"
    scripts: ClassVar[tuple[str, ...]] = TABLES

    def data(self) -> dict[str, object]:
        """The columns with their values."""
        return {
            "title": self.title,
            "pageSize": self.page_size,
            "rows": self.frame.height,
            "columns": pack(self.frame, self.columns),
            "links": self.links,
            "bars": self.bars,
            "details": self.details,
            "detailsTitle": self.details_title,
        }

    def plain_tables(self) -> Iterator[PlainTable]:
        """The first rows."""
        yield plain_table(self.frame, self.columns)


class Curves(Section, frozen=True):
    """Curves in one diagram.

    Attributes:
        axes: the columns of the points that are x and y, which are also what the axes say.
        lines: the curves: the name in the legend; x and y of each point, and what is said of it
            beside these.
        rates: whether both axes are from 0 to 1.
    """

    axes: tuple[str, str] = ("recall", "precision")
    lines: Sequence[tuple[str, pl.DataFrame]] = ()
    rates: bool = True
    kind: ClassVar[str] = "curves"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, *CHARTS)

    def data(self) -> dict[str, object]:
        """The points of each curve by column."""
        lines = [{"name": name, "columns": pack(points)} for name, points in self.lines]
        return {"title": self.title, "axes": self.axes, "rates": self.rates, "lines": lines}

    def plain_tables(self) -> Iterator[PlainTable]:
        """Eleven points of each curve, evenly spaced."""
        few = [
            points[sorted({at * (points.height - 1) // 10 for at in range(11)})].select(
                pl.lit(name).alias("curve"), pl.all()
            )
            for name, points in self.lines
            if points.height
        ]
        yield plain_table(pl.concat(few, how="diagonal_relaxed"))


class Breakdown(msgspec.Struct, frozen=True):
    """Values of several measures for the same items, such as types or documents.

    Attributes:
        name: what the items are.
        items: their names.
        measures: a value for each item, None where undefined, by the name of the measure.
        rates: the measures that are from 0 to 1.
        intervals: the limits for each item, by the name of the measure.
        overall: the value of all items together and its limits, by the name of the measure.
        groups: the first and the last item of each run of items that a bracket joins.
    """

    name: str
    items: Sequence[str]
    measures: Mapping[str, Sequence[float | None]]
    rates: Sequence[str] = ()
    intervals: Mapping[str, Sequence[Interval | None]] = {}
    overall: Mapping[str, tuple[float, Interval | None]] = {}
    groups: Sequence[tuple[int, int]] = ()


class DotPlot(Section, frozen=True):
    """Dots with intervals: the values of one measure at a time, of one of several breakdowns.

    Attributes:
        breakdowns: the breakdowns, the first of which is shown.
        ordered: whether the order of the items is that in which people read them.
    """

    breakdowns: Sequence[Breakdown] = ()
    ordered: bool = False
    kind: ClassVar[str] = "dots"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, *CHARTS)

    def data(self) -> dict[str, object]:
        """The breakdowns as they are."""
        return {"title": self.title, "breakdowns": self.breakdowns, "ordered": self.ordered}

    def plain_tables(self) -> Iterator[PlainTable]:
        """The values of all measures, and their intervals, of the first items of each breakdown."""
        for each in self.breakdowns:
            columns: dict[Field, Sequence[object]] = {Field(each.name): each.items}
            for name, values in each.measures.items():
                columns[Field(name, kind="rate" if name in each.rates else "number")] = values
                ends = each.intervals.get(name, ())
                for at, end in enumerate(("low", "high") if ends else ()):
                    columns[Field(f"{end} of {name}")] = [pair and pair[at] for pair in ends]
            frame = pl.DataFrame(
                {field.name: values for field, values in columns.items()}, strict=False
            )
            yield plain_table(frame, list(columns))


STYLES = ("vendor/tabulator.min.css", "assets/report.css", "assets/alignment.css")
#: The script before all others, and that after them.
FIRST, LAST = "assets/report.js", "assets/start.js"


class Tab(msgspec.Struct, frozen=True):
    """Sections that are seen together.

    Attributes:
        title: of the tab.
        sections: what is under it.
        count: a number beside the title, such as that of findings; None for none.
        paired: whether charts are two in a row on large screens.
    """

    title: str
    sections: Sequence[Section]
    count: int | None = None
    paired: bool = False


class Page(msgspec.Struct, frozen=True):
    """A report.

    Attributes:
        title: its heading.
        subtitle: below the heading: what was compared with what.
        tabs: its tabs, the first of which is shown; those without sections are left out.
        outcome: a word with a colour, `pass`, `fail` or `refused`; empty for none.
    """

    title: str
    subtitle: Sequence[tuple[str, str]]
    tabs: Sequence[Tab]
    outcome: str = ""

    def html(self, parent: tuple[str, str] | None = None) -> str:
        """The page as one file that loads nothing.

        Args:
            parent: a link to the page that it belongs to, and its text.

        Examples:
            >>> Page("Scores", (), [Tab("Overview", [Section()])]).html()[:15]
            '<!doctype html>'
        """
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader("hlteval.reports.html"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        # A text as people read it: nothing in it is obeyed, nothing is invisible.
        environment.filters["visible"] = lambda text: visible(printable(str(text)))
        environment.filters["embedded"] = as_json
        tabs = [tab for tab in self.tabs if tab.sections]
        sections = (section for tab in tabs for section in tab.sections)
        needed = dict.fromkeys(path for section in sections for path in section.scripts)
        scripts = [asset(path) for path in (FIRST, *needed, LAST)]
        files = {"scripts": scripts, "styles": [asset(path) for path in STYLES]}
        template = environment.get_template("page.html")
        return template.render(page=self, parent=parent, tabs=tabs, **files, policy=policy(scripts))


def pack(frame: pl.DataFrame, fields: Sequence[Field] = ()) -> list[dict[str, object]]:
    """The columns of a data frame as plain values.

    Texts that occur more than once are listed in `words`, and `at` has the number of each row's;
    other columns have their `values`.

    Args:
        frame: the rows.
        fields: its columns, in order; all of them if there are none.

    Examples:
        >>> pack(pl.DataFrame({"type": ["PER", "PER", "PER"]}))[0]["words"]
        ['PER']
    """
    columns = []
    for each in fields or [field_of(name, dtype) for name, dtype in frame.schema.items()]:
        kind = "text" if each.kind in ("prose", "limits") else each.kind
        head = {"name": each.name, "title": each.title or each.name.replace("_", " "), "kind": kind}
        meaning = {"meaning": each.meaning} if each.meaning else {}
        columns.append({**head, **meaning, **_values(frame[each.name])})
    return columns


def field_of(name: str, dtype: pl.DataType) -> Field:
    """A column of a data frame of which nothing is declared.

    Examples:
        >>> field_of("f1", pl.Float64()).kind
        'rate'
    """
    if dtype.is_numeric():
        return Field(name, kind="rate" if dtype.is_float() else "number")
    return Field(name, kind="list" if isinstance(dtype, pl.List) else "text")


def _values(values: pl.Series) -> dict[str, object]:
    if values.dtype == pl.String and len(values):
        words = values.unique(maintain_order=True).drop_nulls()
        if len(words) * 2 <= len(values):
            numbers = pl.Series(range(len(words)), dtype=pl.Int64)
            at = values.replace_strict(words, numbers, default=None)
            return {"words": words.to_list(), "at": at.to_list()}
    if values.dtype.is_float():  # what is not a number is undefined
        values = values.fill_nan(None)
    elif not values.dtype.is_integer() and values.dtype not in _PLAIN:
        return {"values": [None if value is None else str(value) for value in values]}
    return {"values": values.to_list()}
