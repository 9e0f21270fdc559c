"""Results in a notebook: short HTML without scripts, colours or styles from elsewhere.

Jinja escapes everything. Text has the colour of the notebook, in light and dark themes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlteval.findings import SUBMISSION, Finding
from hlteval.findings.sequence import severities
from hlteval.reports.scores import headline, shown, values_of
from hlteval.reports.systems import rank_text
from hlteval.reports.terminal import visible
from hlteval.representation import Corpus
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Limits
from hlteval.results.verdict import Verdict
from hlteval.tasks import load
from hlteval.tasks.task import Range

MOST = 12
"""Most rows of a table."""

_PAGE = """\
{% set left = "text-align:left" -%}
<div class="hlteval" style="overflow-x:auto">
<table>
<caption style="caption-side:top;text-align:left"><strong>{{ head }}</strong>
{%- for each in warnings %}<br><strong>warning:</strong> {{ each }}{% endfor %}</caption>
{%- if rows %}
<thead><tr>
{%- for each in columns %}<th scope="col" style="{{ left }}">{{ each }}</th>{% endfor -%}
</tr></thead>
<tbody>
{%- for row in rows %}
<tr>{% for cell in row %}<td style="{{ left }}">{{ cell }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody>
{%- endif %}
</table>
{%- for each in notes %}
<div><small>{{ each }}</small></div>
{%- endfor %}
{%- if signature %}
<div><small><code style="overflow-wrap:anywhere">{{ signature }}</code></small></div>
{%- endif %}
</div>
"""


def scores(result: Scores) -> str:
    """The most important metrics with their intervals, notes and the signature."""
    task = load(result.task)
    names = headline(task, result.metrics, result.primary, MOST)
    rows = [
        (name, *_value(result, name), "ranks" if name == result.primary else "") for name in names
    ]
    return _html(
        f"{result.task}, profile {result.profile}",
        ("metric", "value", "interval", ""),
        rows,
        notes=[*_further(len(result.metrics), ".to_frame()"), *result.notes],
        warnings=result.warnings,
        signature=result.signature,
    )


def _value(result: Scores, name: str) -> tuple[str, str]:
    values = values_of(load(result.task), name)
    return shown(result.metrics[name], values), _limits(result.intervals.get(name), values)


def _limits(limits: Limits, values: Range) -> str:
    return f"[{', '.join(shown(limit, values) for limit in limits)}]" if limits else ""


def verdict(result: Verdict) -> str:
    """The outcome and the first findings, each with its place."""
    head = f"{result.task}, profile {result.profile}: " if result.task else ""
    rows = [(each.severity, each.code, _place(each), each.message) for each in result.findings]
    return _html(
        f"{head}{result.outcome}; {severities(result.findings) or 'no findings'}",
        ("severity", "code", "place", "message"),
        rows[:MOST],
        notes=_further(len(rows), ".findings"),
    )


def _place(finding: Finding) -> str:
    side = "" if finding.side == SUBMISSION else f"{finding.side}: "
    return f"{side}{finding.file or ''}{finding.position}"


def comparison(result: Comparison) -> str:
    """The systems by rank, those that are refused with the reason, and the notes."""
    values = values_of(load(result.task), result.metric)
    rows = [
        (
            rank_text(each.rank, result),
            each.name,
            shown(each.value, values),
            _limits(each.interval, values),
        )
        for each in result.systems
    ]
    refused = [("refused", each.name, each.reason) for each in result.refused]
    return _html(
        f"{result.task}, profile {result.profile}: {result.metric}",
        ("rank", "system", "value", "interval"),
        [*rows[:MOST], *refused[:MOST]],
        notes=[
            *_further(len(rows), ".systems"),
            *_further(len(refused), ".refused"),
            *result.notes,
        ],
        signature=result.signature,
    )


def corpus(result: Corpus) -> str:
    """The tables that have rows, with the columns that have values."""
    tables = [(name, table) for name, table in result.tables() if table.height]
    rows = [
        (name, f"{table.height:,}", ", ".join(each.name for each in table if each.count()))
        for name, table in tables
    ]
    count = result.documents.height
    documents = f"{count:,} document{'s' * (count != 1)}" if tables else "empty"
    return _html(f"Corpus: {documents}", ("table", "rows", "columns with values"), rows)


def _further(count: int, where: str) -> list[str]:
    return [f"{count - MOST:,} more in {where}"] if count > MOST else []


def _html(
    head: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    *,
    notes: Iterable[str] = (),
    warnings: Iterable[str] = (),
    signature: str = "",
) -> str:
    """A table with what stands above and below it, with all text on one line and escaped."""
    from jinja2 import Environment

    return (
        Environment(autoescape=True)
        .from_string(_PAGE)
        .render(
            head=visible(head),
            columns=columns,
            rows=[[visible(str(cell)) for cell in row] for row in rows],
            notes=[visible(each) for each in notes],
            warnings=[visible(each) for each in warnings],
            signature=visible(signature),
        )
    )
