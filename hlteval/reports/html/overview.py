"""Charts of the report of scores: what ranks, what is right and wrong, the worst, and curves."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import ClassVar

import msgspec
import polars as pl

from hlteval.findings.counts import count_of
from hlteval.reports.curves import RATES, curve_points
from hlteval.reports.html import page
from hlteval.reports.html.alignment import REASON, Alignment
from hlteval.reports.scores import headline, limits_text, pivot_scorings, value_text, values_of
from hlteval.results.scores import Scores
from hlteval.results.systems import Interval
from hlteval.tasks.task import Task

#: The most numbers of the headline: what ranks, and what people cite beside it.
CITED = 5
#: The most labels or documents of the first screen.
WORST = 10


def facts(scores: Scores, task: Task) -> page.Headline:
    """The metric that ranks, then rates of the same measure, then the most important others.

    Counts are not among them: people do not cite them.
    """
    metrics, primary = scores.metrics, scores.primary
    alike = [name for name in task.beside(primary, metrics) if name in metrics][:CITED]
    others = headline(task, metrics, primary, CITED)
    ranges = {name: values_of(task, name) for name in [*alike, *others]}
    bounded = [name for name, own in ranges.items() if own.kind == "rate" or own.most < inf]
    cited = [name for name in bounded if metrics[name] is not None]
    items = []
    for name in list(dict.fromkeys([primary, *cited]))[:CITED]:
        values, main = values_of(task, name), name == primary
        limits = limits_text(scores.intervals.get(name), values, missing="")
        head, meaning = (f"{name} (primary)", metric_text(task, name)) if main else (name, "")
        items.append(page.Fact(head, value_text(metrics[name], values), limits, meaning, main))
    return page.Headline(facts=items)


def metric_text(task: Task, name: str) -> str:
    """Meaning of a metric, as declared; empty for one that is not declared."""
    measure, statistic = task.metric_parts.get(name, (None, task.statistic(name)))
    texts = [item.meaning.rstrip(".") for item in (measure, statistic) if item is not None]
    return ". ".join(texts).replace("`", "")


class Part(msgspec.Struct, frozen=True):
    """A part of a stacked bar.

    Attributes:
        title: what it is.
        kind: what the outcome means, as `OutcomeInfo.kind`; `different-2` and so on for others.
        count: how many rows it has.
        filters: the values that select these rows, by the title of what they are filtered by.
    """

    title: str
    kind: str
    count: int
    filters: Mapping[str, str | None]


class Outcomes(page.Section, frozen=True):
    """Stacked bars of outcomes, whose parts open their rows in the alignment.

    Attributes:
        bars: the name and the parts of each bar.
    """

    bars: Sequence[tuple[str, Sequence[Part]]] = ()
    kind: ClassVar[str] = "outcomes"


def outcomes(aligned: Alignment, primary: str, *, by_label: bool) -> Iterator[Outcomes]:
    """The outcomes of all rows that are scored as one bar; then, if wanted, of the worst labels.

    Where rows of several values say the same again, those of the metric that ranks count.

    Args:
        aligned: the alignment.
        primary: the metric that ranks.
        by_label: whether there are bars of labels.
    """
    rows, shown = aligned.counts, {}
    for facet in (each for each in aligned.facets if each.single):
        values = rows[facet.column].unique(maintain_order=True).to_list()
        measure = primary.partition(".")[0].casefold()
        value = next((v for v in values if str(v).casefold() == measure), values[0])
        rows = rows.filter(pl.col(facet.column).eq_missing(value))
        shown[facet.title] = value
    every = _parts(aligned, rows, shown)
    total = sum(part.count for part in every)
    if not total:
        return
    scored = {part.filters["outcome"] for part in every}
    rest = rows.filter(~pl.col("outcome").is_in(scored))["count"].sum()
    intro = count_of(total, "row") + (f", and {rest:,} not scored" if rest else "")
    yield Outcomes(
        "Right and wrong", f"{intro}. Select a part to see its rows.", bars=[("", every)]
    )
    if by_label and aligned.label:
        bars = []
        for (label,), own in rows.group_by("label", maintain_order=True):
            parts = _parts(aligned, own, {**shown, aligned.label: label})
            bars += [(str(label or "(none)"), parts)] if parts else []
        bars.sort(key=lambda bar: -sum(part.count for part in bar[1] if part.kind != "correct"))
        left = f" The {WORST} of {len(bars)} with the most errors." if len(bars) > WORST else ""
        heading = f"Right and wrong by {aligned.label}"
        yield Outcomes(heading, f"Most errors first.{left}", bars=bars[:WORST])


def _parts(aligned: Alignment, rows: pl.DataFrame, shown: Mapping[str, str | None]) -> list[Part]:
    """The parts of a bar, in the order of the outcomes; no part for what is not scored."""
    wrong = [outcome.name for outcome in aligned.outcomes if outcome.kind == "different"]
    every = aligned.counts.filter(pl.col("outcome").is_in(wrong))
    every = every.group_by("outcome", REASON, maintain_order=True).agg(pl.col("count").sum())
    ranked = sorted(every.iter_rows(), key=lambda row: (wrong.index(row[0]), -row[2]))
    numbers = {row[:2]: number for number, row in enumerate(ranked, 1)}  # the same in all bars
    parts = []
    for outcome in aligned.outcomes:
        own = rows.filter(pl.col("outcome") == outcome.name)
        if outcome.kind == "unscored":
            continue
        title, reasons = outcome.title or outcome.name, own.group_by(REASON, maintain_order=True)
        sums = sorted(reasons.agg(pl.col("count").sum()).rows(), key=lambda row: -row[1])
        for reason, count in sums:
            kind: str = outcome.kind
            if kind == "different":
                kind += f"-{min(numbers[outcome.name, reason], 3)}"
            named = {"outcome": outcome.name, **shown}
            if len(sums) > 1 or reason:
                named["differs in"] = reason
            name = f"{title}: {reason}" if reason else title
            parts.append(Part(name, kind, count, named))
    return parts


def label_scores(scores: Scores, task: Task, aligned: Alignment | None) -> page.Breakdown | None:
    """The values of labels: of an evaluation whose scorings are named like labels of the alignment.

    Of several evaluations that of the metric that ranks is taken, then one with its statistic.
    """
    if aligned is None or not aligned.label:
        return None
    labels = {label for label in aligned.counts["label"] if label is not None}
    measure, _, ranking = scores.primary.rpartition(".")
    found: list[tuple[bool, bool, page.Breakdown]] = []
    for evaluation, measures, scorings in pivot_scorings(scores.tables["scorings"]):
        known = {name: info for name in measures if (info := task.statistic(name))}
        rates = [name for name, info in known.items() if info.values.kind == "rate"]
        rates.sort(key=lambda name: known[name].name != ranking)
        if not rates:
            continue
        column, statistic = measures.index(rates[0]), known[rates[0]].name
        own = {name: row[column] for name, row in scorings if name.partition(".")[0] in labels}
        if sum(value is not None for value in own.values()) > 1:
            name = scores.primary if evaluation == measure else statistic
            # The metric that ranks may be the value of one label, not of all.
            whole = measure not in {label.lower().replace(" ", "_") for label in own}
            same = statistic == ranking
            breakdown = _worst(scores, task, aligned.label, name, own, whole=same and whole)
            found.append((evaluation != measure, not same, breakdown))
    return min(found, key=lambda each: each[:2])[2] if found else None


def document_scores(scores: Scores, task: Task) -> page.Breakdown | None:
    """The values of documents by the metric that ranks; None for a single document."""
    each = scores.by_document
    if each is None or scores.primary not in each or each[scores.primary].count() < 2:
        return None
    values = dict(zip(each["document"], each[scores.primary], strict=True))
    return _worst(scores, task, "document", scores.primary, values, whole=True)


def _worst(
    scores: Scores,
    task: Task,
    items: str,
    name: str,
    values: Mapping[str, float | None],
    *,
    whole: bool,
) -> page.Breakdown:
    """The defined values of items, the worst first, with their intervals.

    Args:
        scores: that they are of.
        task: that declares the statistics.
        items: what the items are.
        name: of their measure.
        values: by item.
        whole: whether the metric that ranks is the value of all items together.
    """
    statistic, known = task.statistic(name), values_of(task, name)
    down = statistic is not None and statistic.better == "less"
    held = {item: value for item, value in values.items() if value is not None}
    order = sorted(held, key=lambda item: -held[item] if down else held[item])
    ends: list[Interval | None] = [
        scores.intervals.get(f"{name}.{item}") or scores.intervals.get(f"{item}.{name}")
        for item in order
    ]
    overall = scores.metrics[scores.primary] if whole else None
    return page.Breakdown(
        items,
        order,
        {name: [held[item] for item in order]},
        [name] if (known.least, known.most) == (0.0, 1.0) else [],
        {name: ends} if any(ends) else {},
        {} if overall is None else {name: (overall, scores.intervals.get(scores.primary))},
    )


def worst_first(breakdown: page.Breakdown, every: int, task: Task) -> page.DotPlot:
    """The section of the worst items, which names the worst in words.

    Args:
        breakdown: the items, the worst first.
        every: how many items there are, with those without a value.
        task: that declares the statistics.
    """
    (name, values), size = next(iter(breakdown.measures.items())), len(breakdown.items)
    known, statistic = values_of(task, name), task.statistic(name)
    extreme = "highest" if statistic is not None and statistic.better == "less" else "lowest"
    worst = value_text(values[0], known)
    intro = f"{breakdown.items[0] or '(no name)'} has the {extreme} value, {worst}."
    if values[0] == values[-1]:
        intro = f"All of them have the value {worst}."
    if size > WORST:
        intro += f" The {WORST} {extreme} of {size}; all of them are under Breakdown."
    if every > size:
        intro += f" Undefined for {every - size} of {every}."
    _, limits = breakdown.overall.get(name, (None, None))
    intro += " The band is the interval of all." * (limits is not None)
    few = page.Breakdown(
        breakdown.name,
        breakdown.items[:WORST],
        {name: values[:WORST]},
        breakdown.rates,
        {measure: ends[:WORST] for measure, ends in breakdown.intervals.items()},
        breakdown.overall,
    )
    heading = f"{name} by {breakdown.name}, {extreme} first"
    return page.DotPlot(heading, intro, breakdowns=[few], ordered=True)


#: The most points of a curve that are drawn; of more, some between the first and the last are.
MOST_POINTS = 1500
#: The most points and curves of the first screen.
FEW_POINTS, FEW_CURVES = 150, 8


def curve_sections(scores: Scores, most_points: int = MOST_POINTS) -> Iterator[page.Curves]:
    """The diagrams that scores have: of the tables `curve`, `pr` and `ndcg`."""
    if "ndcg" in scores.tables:
        points = scores.tables["ndcg"].drop_nulls(["k", "standard"])
        ranked = points.rename({"standard": "nDCG"})
        yield from _curves("nDCG by rank", [("nDCG", ranked)], ("k", "nDCG"), most_points)
    for table, key in (("curve", "layer"), ("pr", "class")):
        if table in scores.tables:
            groups = scores.tables[table].group_by(key, maintain_order=True)
            lines = [(str(name), curve_points(rows, scores.profile)) for (name,), rows in groups]
            yield from _curves(f"Precision and recall by {key}", lines, RATES, most_points)


def _curves(
    title: str, lines: Sequence[tuple[str, pl.DataFrame]], axes: tuple[str, str], most_points: int
) -> Iterator[page.Curves]:
    """A section of the curves that have points, axes first; none without any.

    A curve has not more points than people can see.
    """
    drawn, most = [], max((points.height for _, points in lines), default=0)
    for name, points in lines:
        size, last = points.height, most_points - 1
        rows = [at * (size - 1) // last for at in range(most_points)]
        others = [column for column in points.columns if column not in axes]
        few = points[rows] if size > most_points else points
        drawn += [(name, few.select(*axes, *others))] if size else []
    if drawn:
        intro = "The pointer shows the values of a point."
        if most > most_points:
            intro += f" Of curves with more than {most_points:,} points, as many are drawn."
        yield page.Curves(title, intro, axes=axes, lines=drawn, rates=axes == RATES)
