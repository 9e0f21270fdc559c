"""Results in a notebook: short HTML without scripts, colours or styles from elsewhere.

Jinja escapes everything. Text has the colour of the notebook, in light and dark themes.

Results show themselves in notebooks (`_repr_html_`, `plot`) by the renderers of `reports`, which
they name as declarations do (`lazy`): a value imports no room after its own.
"""

from collections.abc import Sequence
from importlib import resources

from hlteval.findings import SUBMISSION
from hlteval.findings.counts import count_of
from hlteval.findings.sequence import severities
from hlteval.reports.scores import UNDEFINED, headline, limits_text, value_text, values_of
from hlteval.reports.terminal import visible
from hlteval.representation import Corpus
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison
from hlteval.results.verdict import Verdict
from hlteval.tasks import load

#: Most rows of a table.
MOST = 12


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
    last = {"warnings": result.warnings, "signature": result.signature}
    return _html(head, columns, rows, notes=notes, **last)


def verdict(result: Verdict) -> str:
    """The outcome and the first findings, each with its place."""
    head = f"{result.task}, profile {result.profile}: " if result.task else ""
    rows = []
    for each in result.findings:
        side = "" if each.side == SUBMISSION else f"{each.side}: "
        place = f"{side}{each.file or ''}{each.position}"
        rows.append((each.severity, each.code, place, each.message))
    head += f"{result.outcome}; {severities(result.findings) or 'no findings'}"
    columns = ("severity", "code", "place", "message")
    return _html(head, columns, rows[:MOST], notes=_further(len(rows), ".findings"))


def comparison(result: Comparison) -> str:
    """The systems by rank, those that are refused with the reason, and the notes."""
    values = values_of(load(result.task), result.metric)
    alike = bool(result.significance.note)
    rows = [
        (UNDEFINED if alike or each.rank is None else each.rank, each.name,
         value_text(each.value, values), limits_text(each.interval, values, missing=""))
        for each in result.systems
    ]  # fmt: skip
    refused = [("refused", each.name, each.reason) for each in result.refused]
    head = f"{result.task}, profile {result.profile}: {result.metric}"
    notes = [*_further(len(rows), ".systems"), *_further(len(refused), ".refused"), *result.notes]
    listed, columns = [*rows[:MOST], *refused[:MOST]], ("rank", "system", "value", "interval")
    return _html(head, columns, listed, notes=notes, signature=result.signature)


def corpus(result: Corpus) -> str:
    """The tables that have rows, with the columns that have values."""
    rows = [
        (name, f"{table.height:,}", ", ".join(each.name for each in table if each.count()))
        for name, table in result.tables()
        if table.height
    ]
    documents = count_of(result.documents.height, "document") if rows else "empty"
    return _html(f"Corpus: {documents}", ("table", "rows", "columns with values"), rows)


def _further(count: int, where: str) -> list[str]:
    return [f"{count - MOST:,} more in {where}"] if count > MOST else []


def _html(
    head: str, columns: Sequence[str], rows: Sequence[Sequence[object]], **more: object
) -> str:
    """A table with the texts above and below it; all text is on one line and escaped.

    Args:
        head: a line above the table.
        columns: their names.
        rows: their cells.
        **more: warnings, notes and the signature, as the template has them.
    """
    from jinja2 import Environment

    environment = Environment(autoescape=True)
    environment.filters["visible"] = lambda text: visible(str(text))
    source = resources.files("hlteval.reports.html").joinpath("templates/notebook.html")
    template = environment.from_string(source.read_text("utf-8"))
    return template.render(head=head, columns=columns, rows=rows, **more)
