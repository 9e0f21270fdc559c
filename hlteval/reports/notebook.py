"""Results in a notebook: short HTML without scripts, colours or styles from elsewhere.

Jinja escapes everything. Text has the colour of the notebook, in light and dark themes.

Results show themselves in notebooks (`_repr_html_`, `plot`) by the renderers of `reports`, which
they name as declarations do (`lazy`): a value imports no room after its own.
"""

import os
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from hlteval.findings import SUBMISSION, Finding, Findings
from hlteval.findings.counts import count_of
from hlteval.findings.sequence import lists_by_key, severities
from hlteval.reports.scores import UNDEFINED, headline, limits_text, value_text, values_of
from hlteval.reports.systems import probability
from hlteval.reports.terminal import visible
from hlteval.representation import Corpus
from hlteval.results.agreement import Agreement
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard
from hlteval.results.verdict import Verdict
from hlteval.tasks import load
from hlteval.tasks.task import RATE

#: Most rows of a table, and most places of a row.
MOST, MOST_PLACES = 12, 3


class Places(NamedTuple):
    """Places of findings: their texts, and links to the lines, empty where there is no file."""

    links: Sequence[tuple[str, str]]
    more: int = 0


class Grid(NamedTuple):
    """A table: the names of its columns, and its rows."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def scores(result: Scores) -> str:
    """The most important metrics with their intervals, notes and the signature."""
    task = load(result.task)
    rows = []
    for name in headline(task, result.metrics, result.primary, MOST):
        values = values_of(task, name)
        limits = limits_text(result.intervals.get(name), values, missing="")
        ranks = "(primary)" if name == result.primary else ""
        rows.append((name, value_text(result.metrics[name], values), limits, ranks))
    head, columns = f"{result.task}, profile {result.profile}", ("metric", "value", "interval", "")
    notes = [*_further(len(result.metrics), ".to_frame()"), *result.notes]
    grid, warnings = Grid(columns, rows), result.warnings
    return _html(head, grid, warnings=warnings, notes=notes, signature=result.signature)


def verdict(result: Verdict) -> str:
    """The outcome and the findings, as `findings`."""
    head = f"{result.task}, profile {result.profile}: " if result.task else ""
    head += f"{result.outcome}; {severities(result.findings) or 'no findings'}"
    return _html(head, *_by_code(result.findings, ".findings"))


def findings(result: Findings) -> str:
    """The findings by code: how many there are, links to the first lines, and the first message."""
    return _html(severities(result) or "no findings", *_by_code(result, ".to_frame()"))


def _by_code(result: Findings, where: str) -> tuple[Grid, ...]:
    """The findings by severity, side and code, the most severe first; no table of none."""
    groups = lists_by_key(((each.severity.rank, each.side, each.code), each) for each in result)
    rows: list[Sequence[object]] = []
    for _, own in sorted(groups.items()):
        first, count = own[0], sum(each.count for each in own)
        side = "" if first.side == SUBMISSION else f" ({first.side})"
        places = Places([_link(each) for each in own[:MOST_PLACES]], len(own[MOST_PLACES:]))
        rows.append((first.severity, first.code + side, f"{count:,}", places, first.message))
    columns = ("severity", "code", "count", "first places", "first message")
    more = [("", "", "", f"{len(rows) - MOST:,} more codes in {where}", "")] * (len(rows) > MOST)
    return (Grid(columns, [*rows[:MOST], *more]),) if rows else ()


def _link(finding: Finding) -> tuple[str, str]:
    """The place of a finding, and the relative address of its line if its file is there."""
    text = f"{finding.file or ''}{finding.position}"
    if not finding.file or not finding.span or not Path(finding.file).is_file():
        return text, ""
    path = quote(os.fsencode(os.path.relpath(finding.file)).replace(os.sep.encode(), b"/"))
    return text, f"./{path}#L{finding.span.line}"


def comparison(result: Comparison) -> str:
    """The systems by rank, the differences with their p values, and the notes."""
    values = values_of(load(result.task), result.metric)
    alike = bool(result.significance.note)
    rows: list[Sequence[object]] = [
        (UNDEFINED if alike or each.rank is None else each.rank, each.name,
         value_text(each.value, values), limits_text(each.interval, values, missing=""))
        for each in result.systems
    ]  # fmt: skip
    refused = [("refused", each.name, each.reason) for each in result.refused]
    head = f"{result.task}, profile {result.profile}: {result.metric}"
    systems = Grid(("rank", "system", "value", "interval"), [*rows[:MOST], *refused[:MOST]])
    pairs = [
        (each.first, each.second,
         UNDEFINED if each.difference is None else f"{each.difference:+.4f}",
         limits_text(each.interval, values, missing=""),
         probability(each.probability), probability(each.corrected))
        for each in result.differences[:MOST]
    ]  # fmt: skip
    columns = ("first", "second", "difference", "interval", "p", "p (Holm)")
    differences = [Grid(columns, pairs)] if pairs else []
    where = '.to_frame("differences")'
    notes = [*_further(len(rows), ".systems"), *_further(len(refused), ".refused")]
    notes += [*_further(len(result.differences), where), *result.notes]
    return _html(head, systems, *differences, notes=notes, signature=result.signature)


def leaderboard(result: Leaderboard) -> str:
    """The systems by rank with their values by each metric, those that are refused, and notes."""
    task = load(result.task)
    ranges = {metric: values_of(task, metric) for metric in result.metrics}
    alike = any(each.significance.note for each in result.comparisons[:1])
    rows: list[Sequence[object]] = []
    for row in result.systems[:MOST]:
        cells: list[object] = [UNDEFINED if alike or row.rank is None else row.rank, row.name]
        for number, (metric, values) in enumerate(ranges.items()):
            own = row.scores[metric]
            cells.append(value_text(own.value, values))
            cells += [limits_text(own.interval, values, missing="")] * (number == 0)
        rows.append(cells)
    rows += [("refused", name, row.reason) for name, row in result.member_refused.items()][:MOST]
    first, *others = result.metrics
    head = f"{result.task}, profile {result.profile}: {', '.join(result.metrics)}"
    grid = Grid(("rank", "system", first, "interval", *others), rows)
    notes = [*_further(len(result.systems), ".systems"), *_further(len(result.refused), ".refused")]
    return _html(head, grid, notes=[*notes, *result.notes], signature=result.signature)


def agreement(result: Agreement) -> str:
    """The measures of all pairs of annotators, and the coefficients of everything."""
    task, measures = load(result.task), []
    for pair in result.measures[:MOST]:
        values = values_of(task, pair.measure)
        text = value_text(pair.value, values), limits_text(pair.interval, values, missing="")
        measures.append((pair.measure, pair.first, pair.second, *text))
    every = [each for each in result.coefficients if each.document is None and each.label is None]
    coefficients = [
        (each.judged, each.coefficient, ", ".join(each.annotators), value_text(each.value, RATE),
         limits_text(each.interval, missing=""), f"{each.units:,}")
        for each in every[:MOST]
    ]  # fmt: skip
    grids = (
        Grid(("measure", "first", "second", "mean", "interval"), measures),
        Grid(("judged", "coefficient", "annotators", "value", "interval", "units"), coefficients),
    )
    notes = [*_further(len(result.measures), '.to_frame("measures")')]
    notes += [*_further(len(every), ".to_frame()"), *result.notes]
    documents = count_of(result.documents, "document")
    head = f"{result.task}: {', '.join(result.annotators)}; {documents}"
    shown = [grid for grid in grids if grid.rows]
    return _html(head, *shown, notes=notes, signature=result.signature)


def corpus(result: Corpus) -> str:
    """The tables that have rows, with the columns that have values."""
    rows = [
        (name, f"{table.height:,}", ", ".join(each.name for each in table if each.count()))
        for name, table in result.tables()
        if table.height
    ]
    documents = count_of(result.documents.height, "document") if rows else "empty"
    grids = [Grid(("table", "rows", "columns with values"), rows)] if rows else []
    return _html(f"Corpus: {documents}", *grids)


def _further(count: int, where: str) -> list[str]:
    return [f"{count - MOST:,} more in {where}"] if count > MOST else []


def _html(
    head: str,
    *grids: Grid,
    warnings: Iterable[str] = (),
    notes: Iterable[str] = (),
    signature: str = "",
) -> str:
    """Tables with the texts above and below them; all text is on one line and escaped.

    Args:
        head: a line above the tables.
        *grids: the tables.
        warnings: lines below it.
        notes: lines below the tables.
        signature: the last line.
    """
    from jinja2 import Environment

    environment = Environment(autoescape=True)
    environment.filters["visible"] = lambda text: visible(str(text))
    source = resources.files("hlteval.reports.html").joinpath("templates/notebook.html")
    template = environment.from_string(source.read_text("utf-8"))
    texts = {"head": head, "warnings": warnings, "notes": notes, "signature": signature}
    return template.render(grids=grids, **texts)
