"""The reports of scores, verdicts and refusals: numbers, breakdowns, curves and findings."""

import os.path
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import ceil, log
from typing import ClassVar

import msgspec
import polars as pl
from msgspec.structs import replace

from hlteval.findings import Finding, Findings, entry
from hlteval.reports.html import overview, page
from hlteval.reports.html.alignment import Alignment, alignment
from hlteval.reports.scores import pivot_scorings, value_text, values_of
from hlteval.reports.tables import Field
from hlteval.reports.terminal import draw, printable, visible
from hlteval.results.scores import Scores
from hlteval.results.verdict import Refusal, Verdict
from hlteval.tasks import is_known, load
from hlteval.tasks.task import HIGH, NORMAL, Task

#: What tables break values down by; other columns of text divide them into groups.
_KEYS = ("document", "genre", "type", "slot", "class", "segment", "layer")
#: Tables that are shown as scores or curves, and are not broken down.
_DRAWN = frozenset({"scorings", "curve", "pr", "ndcg"})


def _breakdowns(scores: Scores, task: Task) -> Iterator[page.Breakdown]:
    """The breakdowns of all scorings of an evaluation, then those of tables with a row per item."""
    for evaluation, measures, rows in pivot_scorings(scores.tables["scorings"]):
        held = [row for row in rows if any(value is not None for value in row[1])]
        if len(held) > 1:
            values = {name: [row[1][at] for row in held] for at, name in enumerate(measures)}
            yield _breakdown(task, evaluation, [row[0] for row in held], values)
    each = scores.by_document
    if each is not None and each.height > 1:
        values = each.drop("document").to_dict(as_series=False)
        breakdown = _breakdown(task, "document", each["document"].to_list(), values)
        known = {name: scores.metrics.get(name) for name in breakdown.measures}
        overall = {
            name: (value, scores.intervals.get(name))
            for name, value in known.items()
            if value is not None
        }
        yield replace(breakdown, overall=overall)
    for name, frame in scores.tables.items():
        if name not in _DRAWN and name != task.hooks.alignment:
            yield from _of_table(task, name.replace("_", " "), frame)


def _of_table(task: Task, name: str, frame: pl.DataFrame) -> Iterator[page.Breakdown]:
    """The breakdowns of a table, one for each group, where a key distinguishes its rows."""
    texts = [column for column in frame.columns if frame[column].dtype == pl.String]
    key = next((column for column in _KEYS if column in texts), None)
    numbers = [column for column in frame.columns if frame[column].dtype.is_numeric()]
    declared = [column for column in numbers if task.statistic(column)]
    if key is None or not declared:
        return
    others = [column for column in texts if column != key]
    groups = frame.group_by(others, maintain_order=True) if others else [((), frame)]
    for group, rows in groups:
        if 1 < rows.height == rows[key].n_unique():
            title = " · ".join([f"{name} ({key})", *map(str, filter(None, group))])
            items = rows[key].fill_null("-").to_list()
            values = rows.select(declared).to_dict(as_series=False)
            yield _breakdown(task, title, items, values)


def _breakdown(
    task: Task, name: str, items: list[str], values: dict[str, list[float | None]]
) -> page.Breakdown:
    """A breakdown with the measures that have values, rates first."""
    known = [name for name, each in values.items() if any(value is not None for value in each)]
    ranges = {name: values_of(task, name) for name in known}
    ordered = sorted(known, key=lambda name: ranges[name].kind != "rate")
    unit = [
        name
        for name in ordered
        if ranges[name].kind == "rate" and (ranges[name].least, ranges[name].most) == (0.0, 1.0)
    ]
    return page.Breakdown(name, items, {name: values[name] for name in ordered}, unit)


#: The most columns of an excerpt.
WIDTH = 96
_FIELDS = (
    *("severity", "code", "side", "file", "place", "message"),
    *("before", "marked", "after", "record", "help", "clause"),
)
_NUMBERS = ("number", "indent", "width", "count")


class FindingList(page.Section, frozen=True):
    """Findings as a table that sorts, filters and pages.

    Attributes:
        findings: the findings, in the order in which they are shown.
    """

    findings: Sequence[Finding] = ()
    kind: ClassVar[str] = "findings"
    scripts: ClassVar[tuple[str, ...]] = (*page.TABLES, "assets/findings.js")

    def data(self) -> dict[str, object]:
        """The parts of each finding by name, and how many problems they are."""
        types = dict.fromkeys(_FIELDS, pl.String) | dict.fromkeys(_NUMBERS, pl.Int64)
        rows = [printable(_finding_row(finding)) for finding in self.findings]
        titles = {code: _code_title(code) for code in sorted({each.code for each in self.findings})}
        columns = page.pack(pl.DataFrame(rows, schema=types))
        return {"title": self.title or "Findings", "columns": columns, "titles": titles}

    def plain_tables(self) -> Iterator[page.PlainTable]:
        """The first findings."""
        names = ("severity", "code", "place", "message", "help")
        rows = [_finding_row(finding) for finding in self.findings[: page.MOST_ROWS]]
        types = dict.fromkeys(names, pl.String)
        table = page.plain_table(pl.DataFrame(printable(rows), schema=types))
        yield replace(table, height=len(self.findings))


#: The findings from which there is a heat map, and its most files and codes.
MANY, MOST_FILES, MOST_CODES = 21, 20, 10
#: The shades of a heat map.
_SHADES = 5


class HeatRow(msgspec.Struct, frozen=True):
    """A file of a heat map.

    Attributes:
        file: its path; None for findings without one.
        name: as people read it.
        cells: the number of findings of each code, and its shade from 1 to 5, 0 for no findings.
        count: how many findings it has.
    """

    file: str | None
    name: str
    cells: Sequence[tuple[int, int]]
    count: int


class HeatMap(page.Section, frozen=True):
    """Findings by file and code, whose cells select them in the list.

    Attributes:
        codes: the codes and their titles, those with most findings first.
        rows: the files, those with most findings first.
    """

    codes: Sequence[tuple[str, str]] = ()
    rows: Sequence[HeatRow] = ()
    kind: ClassVar[str] = "heat"


def _heat_map(findings: Sequence[Finding]) -> Iterator[HeatMap]:
    """Yield the heat map of more than twenty findings of several files; none of fewer."""
    counts: Counter[tuple[str | None, str]] = Counter()
    files: Counter[str | None] = Counter()
    codes: Counter[str] = Counter()
    for finding in findings:
        counts[finding.file, finding.code] += finding.count
        files[finding.file] += finding.count
        codes[finding.code] += finding.count
    if files.total() < MANY or len(files) < 2:
        return
    shared = os.path.commonprefix([file for file in files if file])  # noqa: RUF071 - cut to a folder
    folder = shared[: shared.rfind("/") + 1]
    shown = [code for code, _ in codes.most_common(MOST_CODES)]
    most, rows = log(max(counts.values()) + 1), []
    for file, count in files.most_common(MOST_FILES):
        each = [counts[file, code] for code in shown]
        cells = [(n, ceil(_SHADES * log(n + 1) / most)) for n in each]
        name = file.removeprefix(folder) if file else "(no file)"
        rows.append(HeatRow(file, name, cells, count))
    sizes = ((len(files) - len(rows), "files"), (len(codes) - len(shown), "codes"))
    left = " and ".join(f"{more:,} more {name}" for more, name in sizes if more)
    intro = f"{left} have fewer findings. " if left else ""
    intro += "Select a number, a file or a code to see its findings only."
    titles = [(code, _code_title(code)) for code in shown]
    yield HeatMap("By file and code", intro, codes=titles, rows=rows)


def _finding_row(finding: Finding) -> dict[str, object]:
    """The parts of a finding; its line in three pieces, the middle of which is marked."""
    names = ("code", "side", "file", "message", "help", "clause", "count")
    row = {
        **{name: getattr(finding, name) for name in names},
        "severity": finding.severity.value + (", blocking" if finding.blocking else ""),
        "place": f"{finding.file}{finding.position}" if finding.file else "",
        "record": finding.record if not finding.excerpt else None,
    }
    if not (finding.span and finding.excerpt):
        return row
    line = draw(finding.excerpt, finding.span, WIDTH)
    pieces = {"before": "", "marked": "", "after": ""}
    cells = 0
    for piece in line.pieces:
        where = "before" if cells < line.column else "marked"
        where = "after" if cells >= line.column + line.width else where
        pieces[where] += piece.text
        cells += piece.cells
    caret = {"number": finding.span.line, "indent": line.column, "width": line.width}
    return row | caret | {name: visible(text) for name, text in pieces.items()}


def _code_title(code: str) -> str:
    """The title of a code; empty for one that is not in the catalogue."""
    try:
        return entry(code).title
    except KeyError:
        return ""


def _finding_sections(verdict: Verdict, headline: bool = True) -> list[page.Section]:
    """How many findings there are, those of each code, the most severe first, and each of them."""
    facts = [page.Fact(f"{name}s", f"{count:,}") for name, count in verdict.by_severity.items()]
    sections: list[page.Section] = [page.Headline(facts=facts)] if headline else []
    if not verdict.findings:
        return sections
    counts: Counter[tuple[int, str, str, str]] = Counter()
    for finding in verdict.findings:
        severity = finding.severity
        counts[severity.rank, finding.side, finding.code, severity.value] += finding.count
    rows = [
        (severity, code, side, count, _code_title(code))
        for (_, side, code, severity), count in sorted(counts.items())
    ]
    names = ("severity", "code", "side", "count", "title")
    types = dict.fromkeys(names, pl.String) | {"count": pl.Int64}
    frame = pl.DataFrame(rows, schema=types, orient="row")
    by_code = page.DataTable("By code", frame=frame, page_size=10)
    heat_map, every = (
        _heat_map(verdict.findings),
        FindingList("Findings", findings=verdict.findings),
    )
    return [*sections, *heat_map, by_code, every]


def verdict_page(verdict: Verdict) -> page.Page:
    """The report of validation: how many findings of each code, and each with its line."""
    tabs = [page.Tab("Findings", _finding_sections(verdict))]
    return page.Page(title(verdict.task), _about(verdict), tabs, verdict.outcome)


def refusal_page(refusal: Refusal) -> page.Page:
    """The report of a submission of which nothing was scored: why, and what to do."""
    verdict = refusal.verdict
    reason: list[page.Section] = [
        page.Notes("Nothing was scored", warnings=[refusal.reason], notes=[refusal.help])
    ]
    if refusal.blocking:
        reason.append(FindingList("The reason", findings=refusal.blocking))
    if refusal.command:
        command = shlex.join(refusal.command)
        reason.append(page.Copied("Command", "It reports all findings.", command))
    every = page.Tab("All findings", _finding_sections(verdict), _count(verdict))
    return page.Page(
        title(verdict.task), _about(verdict), [page.Tab("Refusal", reason), every], "refused"
    )


def title(task: str) -> str:
    """The title of a task; its name for one that is not known."""
    return load(task).title if is_known(task) else task or "Findings"


def _about(verdict: Verdict) -> list[tuple[str, str]]:
    """Subject of the check: what, against what, and how much was read."""
    read = [("documents", verdict.documents), ("records", verdict.records)]
    return [
        ("task", verdict.task),
        ("profile", verdict.profile),
        *((side, path) for side, path in verdict.paths.items() if path),
        *((name, f"{count:,}") for name, count in read if count is not None),
    ]


def _count(verdict: Verdict) -> int:
    """The number of findings, with those that are only counted."""
    return sum(finding.count for finding in verdict.findings)


#: The numbers of findings of smaller pages.
_FEWER = (10_000, 1000, 100, 10, 0)


def smaller(result: Scores | Refusal) -> Iterator[Scores | Refusal]:
    """The result of a page, then what gives smaller and smaller pages, which say what they lack.

    First the alignment is left out, then what is less important of tables as declared, then all
    tables, then findings but for the first.

    Args:
        result: the scores, or a refusal.
    """
    yield result
    if isinstance(result, Scores):
        task = load(result.task)
        aligned = {task.hooks.alignment, "errors"}
        aligned |= {task.alignment_info.table} if task.alignment_info else set()
        tables = {name: each for name, each in result.tables.items() if name not in aligned}
        result = _leave_out(result, "the alignment", tables, result.by_document)
        yield result
        for least, name in ((NORMAL, "counts"), (HIGH, "numbers that are not rates")):
            tables = {}
            for table, frame in result.tables.items():
                infos = {column: task.statistic(column) for column in frame.columns}
                low = [column for column, info in infos.items() if info and info.weight < least]
                tables[table] = frame if table == "scorings" else frame.drop(low)
            result = _leave_out(result, f"{name} in tables", tables, result.by_document)
            yield result
        result = _leave_out(result, "tables", {"scorings": result.tables["scorings"]}, None)
        yield result
    count = len(result.verdict.findings)
    for most_findings in (number for number in _FEWER if number < count):
        note = f"The page has the first {most_findings:,} of {count:,} findings."
        findings = result.verdict.findings[:most_findings]
        verdict = replace(result.verdict, findings=Findings(findings))
        if isinstance(result, Scores):
            yield replace(result, verdict=verdict, notes=(*result.notes, note))
        else:
            blocking = result.blocking[:most_findings]
            changes = {"help": f"{result.help}. {note}", "blocking": blocking}
            yield replace(result, verdict=verdict, **changes)


def _leave_out(
    scores: Scores, name: str, tables: Mapping[str, pl.DataFrame], each: pl.DataFrame | None
) -> Scores:
    """Return scores without something, and a note that says so."""
    note = f"The page leaves out {name}: with them it would be too large."
    notes = (*scores.notes, note)
    return replace(scores, tables=tables, by_document=each, evidence=None, notes=notes)


#: The most labels of a heat map of confusions.
MOST_LABELS = 30


class ConfusionRow(msgspec.Struct, frozen=True):
    """A label of the reference in a heat map of confusions.

    Attributes:
        label: the label.
        place: which of the columns has the same label.
        cells: how often the system has each label there, and the shade from 1 to 5, 0 for never.
    """

    label: str
    place: int
    cells: Sequence[tuple[int, int]]


class Confusion(page.Section, frozen=True):
    """The confusion of labels as a heat map.

    Attributes:
        labels: the labels of the system.
        rows: those of the reference.
        column: what labels are called in the alignment, which the rows select there; empty if it
            is not on the page.
    """

    labels: Sequence[str] = ()
    rows: Sequence[ConfusionRow] = ()
    column: str = ""
    kind: ClassVar[str] = "confusion"


def _confusion(scores: Scores, column: str) -> Iterator[Confusion]:
    """Yield the confusion of labels, of many labels that of the most frequent ones."""
    matrix = scores.confusion
    if matrix is None or matrix.height < 2:
        return
    counts = matrix.drop("reference").to_numpy()
    labels, sizes = matrix["reference"].to_list(), counts.sum(0) + counts.sum(1)
    order = sorted(range(len(labels)), key=lambda at: (-sizes[at], labels[at]))[:MOST_LABELS]
    kept = sorted(order)
    most = log(int(counts.max()) + 1) or 1.0
    rows = [
        ConfusionRow(
            labels[at],
            place,
            [(int(n), ceil(_SHADES * log(int(n) + 1) / most)) for n in counts[at, kept]],
        )
        for place, at in enumerate(kept)
    ]
    intro = "How often each label of the reference (rows) has each label of the system (columns)."
    if left := len(labels) - len(kept):
        intro += f" {left:,} less frequent labels are left out."
    yield Confusion("Confusion of labels", intro, [labels[at] for at in kept], rows, column)


#: The most numbers of a headline.
MOST_FACTS = 8


def score_page(scores: Scores) -> page.Page:
    """The report of the scores of a submission, with the alignment if it is there."""
    task, verdict = load(scores.task), scores.verdict
    aligned = alignment(scores)
    breakdowns = list(_breakdowns(scores, task))
    bars = [page.DotPlot("Breakdown", breakdowns=breakdowns)] if breakdowns else []
    hidden = {task.hooks.alignment, *([task.alignment_info.table] if task.alignment_info else [])}
    tables = [
        page.DataTable(
            name.replace("_", " ").capitalize(),
            frame=frame,
            columns=[_field(task, column, dtype) for column, dtype in frame.schema.items()],
        )
        for name, frame in scores.tables.items()
        if name not in _DRAWN | hidden and frame.height
    ]
    tabs = [
        page.Tab("Overview", list(_overview(scores, task, aligned)), paired=True),
        page.Tab("Scores", list(_score_tables(scores, task))),
        page.Tab("Curves", list(overview.curve_sections(scores))),
        page.Tab("Breakdown", [*bars, *_confusion(scores, aligned.label if aligned else "")]),
        page.Tab("Alignment", [aligned] if aligned else [], aligned.errors if aligned else None),
        page.Tab("Tables", tables),
        page.Tab("Findings", _finding_sections(verdict, headline=False), _count(verdict)),
    ]
    return page.Page(task.title, _about(verdict), tabs)


def _field(task: Task, name: str, dtype: pl.DataType) -> Field:
    """A column of a table, shown as its statistic declares."""
    statistic, field = task.statistic(name), page.field_of(name, dtype)
    rate = statistic is not None and statistic.values.kind == "rate"
    return field if field.kind != "rate" or rate else field._replace(kind="number")


def _overview(scores: Scores, task: Task, aligned: Alignment | None) -> Iterator[page.Section]:
    """The charts to see first, then what to know about the scores, and the signature."""
    yield overview.facts(scores, task)
    labels = overview.label_scores(scores, task, aligned)
    if aligned:
        yield from overview.outcomes(aligned, scores.primary, by_label=labels is None)
    if labels:
        yield overview.worst_first(labels, len(labels.items), task)
    for curves in islice(overview.curve_sections(scores, overview.FEW_POINTS), 1):
        every, few = len(curves.lines), overview.FEW_CURVES
        more = f" The first {few} of {every}; all of them are under Curves." * (every > few)
        yield replace(curves, intro=f"{curves.intro}{more}", lines=curves.lines[:few])
    documents = overview.document_scores(scores, task)
    if documents and scores.by_document is not None:
        yield overview.worst_first(documents, scores.by_document.height, task)
    if scores.warnings or scores.notes:
        heading = "Notes" if scores.notes else ""
        yield page.Notes(heading, warnings=scores.warnings, notes=scores.notes)
    yield page.Copied(
        "Signature",
        "Everything that the numbers depend on. Publish it with them; "
        "hlteval verify computes them again from it.",
        scores.signature,
    )


def _score_tables(scores: Scores, task: Task) -> Iterator[page.Section]:
    """All metrics with what they mean; then each evaluation, with a column for each measure."""
    ends, rows = ("low", "high") if scores.intervals else (), []
    for name, value in scores.metrics.items():
        limits = scores.intervals.get(name, (None, None)) if ends else ()
        values = values_of(task, name)
        figures = (None if each is None else value_text(each, values) for each in (value, *limits))
        rows.append([name, *figures, overview.metric_text(task, name)])
    figure_fields = [Field(name, kind="figure") for name in ("value", *ends)]
    fields = [Field("metric"), *figure_fields, Field("meaning")]
    types = {field.name: pl.String for field in fields}
    yield page.DataTable("All metrics", "", pl.DataFrame(rows, schema=types, orient="row"), fields)
    for evaluation, measures, scorings in pivot_scorings(scores.tables["scorings"]):
        numbers = dict.fromkeys(measures, pl.Float64)
        frame = pl.DataFrame(
            [[name, *values] for name, values in scorings], {"": pl.String, **numbers}, orient="row"
        )
        fields = [Field("", "scoring")]
        for name in measures:
            statistic, rate = task.statistic(name), values_of(task, name).kind == "rate"
            meaning = statistic.meaning if statistic else ""
            fields.append(Field(name, name, "rate" if rate else "number", meaning))
        yield page.DataTable(evaluation, "", frame, fields)
