"""The reports of scores, verdicts and refusals: numbers, breakdowns, curves and findings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from hlteval.findings import Finding, entry
from hlteval.reports.html.alignment import alignment
from hlteval.reports.html.page import (
    TABLES,
    Bars,
    Breakdown,
    Copied,
    Curves,
    DataTable,
    Fact,
    Headline,
    Line,
    Notes,
    Page,
    Section,
    Tab,
    field_of,
    packed,
)
from hlteval.reports.scores import pivot_scorings, value_text, values_of
from hlteval.reports.tables import Field
from hlteval.reports.terminal import draw, printable, visible
from hlteval.results.scores import Scores
from hlteval.results.verdict import Refusal, Verdict
from hlteval.tasks import load, task_modules
from hlteval.tasks.task import Task

#: What tables break values down by; other columns of text divide them into groups.
_KEYS = ("document", "genre", "type", "slot", "class", "segment", "layer")
#: Tables that are not broken down: the scores themselves, and curves.
_LISTS = frozenset({"scorings", "curve", "pr", "ndcg"})


def breakdowns(scores: Scores, task: Task) -> Iterator[Breakdown]:
    """The breakdowns of all scorings of an evaluation, then those of tables with a row per item."""
    for evaluation, measures, rows in pivot_scorings(scores.tables["scorings"]):
        held = [row for row in rows if any(value is not None for value in row[1])]
        if len(held) > 1:
            values = {name: [row[1][at] for row in held] for at, name in enumerate(measures)}
            yield _breakdown(task, evaluation, [row[0] for row in held], values)
    if scores.by_document is not None and scores.by_document.height > 1:
        each = scores.by_document
        values = each.drop("document").to_dict(as_series=False)
        yield _breakdown(task, "document", each["document"].to_list(), values)
    for name, frame in scores.tables.items():
        if name not in _LISTS and name != task.hooks.alignment:
            yield from _of_table(task, name, frame)


def _breakdown(
    task: Task, name: str, items: list[str], values: dict[str, list[float | None]]
) -> Breakdown:
    """A breakdown with the measures that have values, rates first."""
    known = {name: each for name, each in values.items() if any(v is not None for v in each)}
    rates = [name for name in known if values_of(task, name).kind == "rate"]
    ordered = {name: known[name] for name in [*rates, *(n for n in known if n not in rates)]}
    return Breakdown(name, items, ordered, [name for name in rates if _unit(task, name)])


def _unit(task: Task, name: str) -> bool:
    """Whether a rate is from 0 to 1."""
    values = values_of(task, name)
    return (values.least, values.most) == (0.0, 1.0)


def _of_table(task: Task, name: str, frame: pl.DataFrame) -> Iterator[Breakdown]:
    """The breakdowns of a table, one for each group, where a key distinguishes its rows."""
    texts = [column for column in frame.columns if frame[column].dtype == pl.String]
    key = next((column for column in _KEYS if column in texts), None)
    rates = [column for column in frame.columns if _declared_rate(task, frame, column)]
    if key is None or not rates:
        return
    others = [column for column in texts if column != key]
    groups = frame.group_by(others, maintain_order=True) if others else [((), frame)]
    for group, rows in groups:
        if 1 < rows.height == rows[key].n_unique():
            title = " · ".join(
                [f"{name.replace('_', ' ')} ({key})", *map(str, filter(None, group))]
            )
            yield _breakdown(
                task,
                title,
                rows[key].fill_null("-").to_list(),
                rows.select(rates).to_dict(as_series=False),
            )


def _declared_rate(task: Task, frame: pl.DataFrame, column: str) -> bool:
    statistic = task.statistic(column)
    return statistic is not None and frame[column].dtype.is_numeric()


#: The most points of a curve that are drawn; of more, some between the first and the last are.
MOST_POINTS = 1500


def curve_sections(scores: Scores) -> Iterator[Curves]:
    """The diagrams that scores have: of the tables `curve`, `pr` and `ndcg`."""
    if "ndcg" in scores.tables:
        points = scores.tables["ndcg"].drop_nulls(["k", "standard"])
        ranked = points.rename({"standard": "nDCG"})
        yield from _curves("nDCG by rank", [Line("nDCG", ranked)], axes=("k", "nDCG"))
    for table, key in (("curve", "layer"), ("pr", "class")):
        if table in scores.tables:
            groups = scores.tables[table].group_by(key, maintain_order=True)
            lines = [Line(str(name), _points(rows, scores.profile)) for (name,), rows in groups]
            yield from _curves(f"Precision and recall by {key}", lines)


def _points(rows: pl.DataFrame, profile: str) -> pl.DataFrame:
    """The points of a curve: in `plan` from recall 0, in `official` those of the script."""
    kept = [name for name in ("recall", "precision", "threshold", "tp", "fp", "fn") if name in rows]
    points = rows.select(kept).drop_nulls(["recall", "precision"])
    if profile == "official" or points.is_empty():
        return points.filter(pl.col("recall") > 0).sort("recall", "precision")
    first = points.head(1).select(
        pl.lit(value).cast(dtype).alias(name)
        for name, dtype in points.schema.items()
        for value in [{"recall": 0.0, "precision": points["precision"][0]}.get(name)]
    )
    return pl.concat([first, points.filter(pl.col("recall") > 0)])


def _curves(
    title: str, lines: list[Line], axes: tuple[str, str] = ("recall", "precision")
) -> Iterator[Curves]:
    """A section of the curves that have points; none without any."""
    drawn = [_thinned(line, axes) for line in lines if line.points.height]
    if drawn:
        most = max(line.points.height for line in lines)
        intro = "The pointer shows the values of a point."
        if most > MOST_POINTS:
            intro += f" Of curves with more than {MOST_POINTS:,} points, as many are drawn."
        yield Curves(title, intro, axes=axes, lines=drawn, rates=axes[0] == "recall")


def _thinned(line: Line, axes: tuple[str, str]) -> Line:
    """A curve with its axes first, and not more points than people can see."""
    others = [name for name in line.points.columns if name not in axes]
    points = line.points.select(*axes, *others)
    size = points.height
    if size > MOST_POINTS:
        chosen = [at * (size - 1) // (MOST_POINTS - 1) for at in range(MOST_POINTS)]
        points = points[chosen]
    return Line(line.name, points)


#: The most columns of an excerpt.
WIDTH = 96
_FIELDS = (
    *("severity", "code", "side", "file", "place", "message"),
    *("before", "marked", "after", "record", "help", "clause"),
)
_NUMBERS = ("number", "indent", "width", "count")


@dataclass(frozen=True)
class FindingList(Section):
    """Findings as a table that sorts, filters and pages.

    Attributes:
        findings: the findings, in the order in which they are shown.
    """

    findings: Sequence[Finding] = ()
    kind: ClassVar[str] = "findings"
    scripts: ClassVar[tuple[str, ...]] = (*TABLES, "assets/findings.js")

    def data(self) -> Any:
        """The parts of each finding by name, and how many problems they are."""
        types = dict.fromkeys(_FIELDS, pl.String) | dict.fromkeys(_NUMBERS, pl.Int64)
        rows = [printable(_row(finding)) for finding in self.findings]
        columns = packed(pl.DataFrame(rows, schema=types))
        titles = {code: _title(code) for code in sorted({item.code for item in self.findings})}
        return {"title": self.title or "Findings", "columns": columns, "titles": titles}


def finding_sections(verdict: Verdict) -> Iterator[Section]:
    """The findings of a verdict by code, then each of them; nothing without any."""
    if verdict.findings:
        yield _by_code(verdict)
        yield FindingList("Findings", findings=verdict.findings)


def _by_code(verdict: Verdict) -> DataTable:
    """How many findings of each code a side has, the most severe first."""
    counts: dict[tuple[int, str, str, str], int] = {}
    for finding in verdict.findings:
        key = (finding.severity.rank, finding.side, finding.code, finding.severity.value)
        counts[key] = counts.get(key, 0) + finding.count
    rows = [
        (severity, code, side, count, _title(code))
        for (_, side, code, severity), count in sorted(counts.items())
    ]
    types = dict.fromkeys(("severity", "code", "side"), pl.String)
    schema = {**types, "count": pl.Int64, "title": pl.String}
    return DataTable(
        "By code",
        frame=pl.DataFrame(rows, schema=schema, orient="row"),
        columns=[Field(name, kind="number" if name == "count" else "text") for name in schema],
        page_size=10,
    )


def _title(code: str) -> str:
    """The title of a code; empty for one that is not in the catalogue."""
    try:
        return entry(code).title
    except KeyError:
        return ""


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.value + (", blocking" if finding.blocking else ""),
        "code": finding.code,
        "side": finding.side,
        "file": finding.file,
        "place": f"{finding.file}{finding.position}" if finding.file else "",
        "message": finding.message,
        "record": finding.record if not finding.excerpt else None,
        "help": finding.help,
        "clause": finding.clause,
        "count": finding.count,
        **_line(finding),
    }


def _line(finding: Finding) -> dict[str, Any]:
    """The line of a finding in three pieces, the middle of which is marked, and the caret."""
    if not (finding.span and finding.excerpt):
        return {}
    line = draw(finding.excerpt, finding.span, WIDTH)
    pieces: dict[str, str] = {"before": "", "marked": "", "after": ""}
    cells = 0
    for piece in line.pieces:
        where = "before" if cells < line.column else "marked"
        where = "after" if cells >= line.column + line.width else where
        pieces[where] += piece.text
        cells += piece.cells
    caret = {"number": finding.span.line, "indent": line.column, "width": line.width}
    return {**{name: visible(text) for name, text in pieces.items()}, **caret}


def verdict_page(verdict: Verdict) -> Page:
    """The report of validation: how many findings of each code, and each with its line.

    Args:
        verdict: the verdict.
    """
    tabs = [Tab("Findings", [_counts(verdict), *finding_sections(verdict)])]
    return Page(title(verdict.task), about(verdict), tabs, verdict.outcome)


def refusal_page(refusal: Refusal) -> Page:
    """The report of a submission of which nothing was scored: why, and what to do.

    Args:
        refusal: the reason, with the verdict of validation.
    """
    verdict = refusal.verdict
    tabs = [
        Tab("Refusal", list(_refused(refusal))),
        Tab("All findings", [_counts(verdict), *finding_sections(verdict)], found(verdict)),
    ]
    return Page(title(verdict.task), about(verdict), tabs, "refused")


def title(task: str) -> str:
    """The title of a task; its name for one that is not known."""
    return load(task).title if task in task_modules() else task or "Findings"


def about(verdict: Verdict) -> list[tuple[str, str]]:
    """Subject of the check: what, against what, and how much was read."""
    read = [("documents", verdict.documents), ("records", verdict.records)]
    return [
        ("task", verdict.task),
        ("profile", verdict.profile),
        *((side, path) for side, path in verdict.paths.items() if path),
        *((name, f"{count:,}") for name, count in read if count is not None),
    ]


def found(verdict: Verdict) -> int:
    """The number of findings, with those that are only counted."""
    return sum(finding.count for finding in verdict.findings)


def _counts(verdict: Verdict) -> Headline:
    counts = verdict.by_severity.items()
    return Headline(facts=[Fact(f"{name}s", f"{count:,}") for name, count in counts])


def _refused(refusal: Refusal) -> Iterator[Section]:
    """The reason and what to do, the findings that are the reason, and the command for the rest."""
    yield Notes("Nothing was scored", warnings=[refusal.reason], notes=[refusal.help])
    if refusal.blocking:
        yield FindingList("The reason", findings=refusal.blocking)
    if refusal.command:
        yield Copied("Command", "It reports all findings.", text=shlex.join(refusal.command))


#: The most numbers of a headline.
MOST_FACTS = 8
#: Tables that are shown as scores or curves.
_DRAWN = frozenset({"scorings", "curve", "pr", "ndcg"})


def score_page(scores: Scores) -> Page:
    """The report of the scores of a submission.

    Args:
        scores: the scores, with the alignment if it is to be shown.
    """
    task = load(scores.task)
    aligned = alignment(scores)
    return Page(
        title=task.title,
        subtitle=about(scores.verdict),
        tabs=[
            Tab("Overview", list(_overview(scores, task))),
            Tab("Scores", list(_scores(scores, task))),
            Tab("Curves", list(curve_sections(scores))),
            Tab("Breakdown", _bars(scores, task)),
            Tab("Alignment", [aligned] if aligned else [], aligned.errors if aligned else None),
            Tab("Tables", list(_tables(scores, task))),
            Tab("Findings", list(finding_sections(scores.verdict)), found(scores.verdict)),
        ],
    )


def _overview(scores: Scores, task: Task) -> Iterator[Section]:
    """The numbers to read first, what to know about them, and the signature."""
    yield Headline(facts=[_fact(scores, task, name) for name in _first(scores, task)])
    if scores.warnings or scores.notes:
        title = "Notes" if scores.notes else ""
        yield Notes(title=title, warnings=scores.warnings, notes=scores.notes)
    yield Copied(
        title="Signature",
        intro="Everything that the numbers depend on. Publish it with them; "
        "hlteval verify computes them again from it.",
        text=scores.signature,
    )


def _first(scores: Scores, task: Task) -> list[str]:
    """The metric that ranks, then others of the same measure, then all others, up to a maximum."""
    beside = [
        name for name in task.beside(scores.primary, scores.metrics) if name in scores.metrics
    ]
    return list(dict.fromkeys([*beside, *scores.metrics]))[:MOST_FACTS]


def _fact(scores: Scores, task: Task, name: str) -> Fact:
    values, limits = values_of(task, name), scores.intervals.get(name)
    main = name == scores.primary
    return Fact(
        name=f"{name} (ranks)" if main else name,
        value=value_text(scores.metrics[name], values),
        interval=f"[{', '.join(value_text(limit, values) for limit in limits)}]" if limits else "",
        note=_meaning(task, name) if main else "",
        main=main,
    )


def _meaning(task: Task, name: str) -> str:
    """Meaning of a metric, as declared; empty for one that is not declared."""
    measure, statistic = task.declared.get(name, (None, task.statistic(name)))
    said = [item.meaning.rstrip(".") for item in (measure, statistic) if item is not None]
    return ". ".join(said).replace("`", "")


def _scores(scores: Scores, task: Task) -> Iterator[Section]:
    """A table of all metrics, then one for each evaluation, with a column for each measure."""
    yield _metrics(scores, task)
    for evaluation, measures, rows in pivot_scorings(scores.tables["scorings"]):
        names = pl.DataFrame({"": [name for name, _ in rows]}, schema={"": pl.String})
        values = pl.DataFrame(
            [cells for _, cells in rows], dict.fromkeys(measures, pl.Float64), orient="row"
        )
        heads = [Field("", "scoring"), *(_column(task, name) for name in measures)]
        yield DataTable(evaluation, frame=names.hstack(values), columns=heads)


def _metrics(scores: Scores, task: Task) -> DataTable:
    """All metrics with their intervals, if there are any, and what they mean."""
    ends = ("low", "high") if scores.intervals else ()
    rows = [
        {
            "metric": name,
            **{
                end: _figure(task, name, value)
                for end, value in zip(("value", *ends), each, strict=True)
            },
            "meaning": _meaning(task, name),
        }
        for name, value in scores.metrics.items()
        for each in [(value, *(scores.intervals.get(name, (None, None)) if ends else ()))]
    ]
    names = ["metric", "value", *ends, "meaning"]
    columns = [Field(name, kind="figure" if name in ("value", *ends) else "text") for name in names]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))
    return DataTable("All metrics", frame=frame, columns=columns)


def _figure(task: Task, name: str, value: float | None) -> str | None:
    return None if value is None else value_text(value, values_of(task, name))


def _column(task: Task, measure: str) -> Field:
    statistic = task.statistic(measure)
    rate = values_of(task, measure).kind == "rate"
    meaning = statistic.meaning if statistic else ""
    return Field(measure, measure, "rate" if rate else "number", meaning)


def _bars(scores: Scores, task: Task) -> list[Section]:
    found = list(breakdowns(scores, task))
    return [Bars("Breakdown", breakdowns=found)] if found else []


def _tables(scores: Scores, task: Task) -> Iterator[Section]:
    """All other tables with rows."""
    aligned = {task.hooks.alignment, *([task.alignment_info.table] if task.alignment_info else [])}
    for name, frame in scores.tables.items():
        if name not in _DRAWN | aligned and frame.height:
            yield _table(scores, task, name)


def _table(scores: Scores, task: Task, name: str) -> DataTable:
    frame = scores.tables[name]
    columns = [_typed(task, column, dtype) for column, dtype in frame.schema.items()]
    return DataTable(name.replace("_", " ").capitalize(), frame=frame, columns=columns)


def _typed(task: Task, name: str, dtype: pl.DataType) -> Field:
    """A column of a table, shown as its statistic declares."""
    statistic = task.statistic(name)
    known = field_of(name, dtype)
    if known.kind != "rate" or (statistic and statistic.values.kind == "rate"):
        return known
    return Field(name, kind="number")
