"""The reports of comparisons, leaderboards, campaigns and agreement: ranks and differences."""

import os.path
from collections.abc import Iterator, Mapping
from functools import partial
from statistics import fmean
from typing import Literal

import msgspec
import polars as pl

from hlteval.findings import Severity
from hlteval.findings.counts import count_of
from hlteval.reports import systems as formats
from hlteval.reports.agreement import coefficient_rows, measure_rows, notes
from hlteval.reports.html import page
from hlteval.reports.html.alignment import error_cards, error_tables
from hlteval.reports.html.overview import outcomes
from hlteval.reports.html.scores import MOST_FACTS, FindingList, title
from hlteval.reports.scores import UNDEFINED, limits_text, value_text, values_of
from hlteval.reports.sentences import LATEX, statement
from hlteval.reports.systems import caption
from hlteval.reports.tables import Field, fields_of
from hlteval.results.agreement import Agreement, CoefficientValue, PairMeasure
from hlteval.results.evaluation import CampaignResult, Group
from hlteval.results.scores import Scores
from hlteval.results.systems import Comparison, Leaderboard, RankedValue, System
from hlteval.tasks import load
from hlteval.tasks.task import RATE

SHARED_RANKS = "Systems not significantly different from the best of their group share its rank."
PUBLISHED = "Everything that the numbers depend on. Publish it with them."


def comparison_page(comparison: Comparison) -> page.Page:
    """The report of a comparison."""
    task, metric = comparison.task, comparison.metric
    about = [("task", task), ("profile", comparison.profile), ("metric", metric)]
    intro = caption(comparison) or SHARED_RANKS
    overview: list[page.Section] = [
        *_headline(comparison),
        _sentence(comparison),
        *_rank_plot(comparison),
        page.DataTable("Systems", intro, *formats.ranked_systems(comparison)),
        *([page.Notes("Notes", notes=comparison.notes)] if comparison.notes else []),
        page.Copied("Signature", PUBLISHED, comparison.signature),
    ]
    refused: list[page.Section] = []
    for system in comparison.refused:
        refused.append(page.Notes(system.name, warnings=[system.reason], notes=[system.help]))
        refused += [FindingList(findings=system.blocking)] if system.blocking else []
    errors: list[page.Section] = []
    info, analysis = load(task).alignment_info, comparison.errors
    if info and analysis and analysis.items.height:
        cards = error_cards(info, analysis)
        errors = [*outcomes(cards, metric, by_label=True), cards, *error_tables(analysis)]
    tabs = [
        page.Tab("Overview", overview),
        page.Tab("Differences", _differences(comparison, "p values (Holm)", "Pairs")),
        page.Tab("Errors", errors),
        page.Tab("Refused", refused, len(comparison.refused)),
    ]
    return page.Page(title(task), [*about, ("systems", str(len(comparison.systems)))], tabs)


def _headline(comparison: Comparison) -> Iterator[page.Section]:
    """The difference of the first two systems with its p value, and their values."""
    values = values_of(load(comparison.task), comparison.metric)
    for pair in comparison.differences[:1]:
        p = formats.probability(pair.corrected)
        differs = pair.corrected is not None and pair.corrected < comparison.alpha
        note = f"p (Holm) {p}; {'significant' if differs else 'not significant'}"
        value = UNDEFINED if pair.difference is None else f"{pair.difference:+.4f}"
        limits = limits_text(pair.interval, missing="")
        facts = [page.Fact(f"{pair.first} − {pair.second}", value, limits, note, main=True)]
        for each in comparison.systems[:2]:
            shown, limits = value_text(each.value, values), limits_text(each.interval, RATE, "")
            facts.append(page.Fact(each.name, shown, limits, comparison.metric))
        yield page.Headline(f"Difference in {comparison.metric}", facts=facts)


def _sentence(result: Scores | Comparison | Leaderboard | Agreement) -> page.Cited:
    """The sentence for a paper."""
    said, latex = statement(result), statement(result, LATEX).sentence
    return page.Cited("In a paper", "You can write:", said.sentence, latex, said.unsupported)


def _rank_plot(comparison: Comparison) -> Iterator[page.DotPlot]:
    """The systems with their values, best first; brackets join those that do not differ."""
    if not comparison.systems:
        return
    systems = {each.name: {comparison.metric: each} for each in comparison.systems}
    plot = _dots(comparison.task, {comparison.metric: comparison.metric}, systems)
    place = {name: at for at, name in enumerate(systems)}
    ends = [(place[group[0]], place[group[-1]]) for group in comparison.groups]
    joined = f"A bracket joins systems of which no two differ (p (Holm) ≥ {comparison.alpha:g})."
    yield msgspec.structs.replace(
        plot,
        title=f"Systems by {comparison.metric}",
        intro=joined if ends else "",
        breakdowns=[msgspec.structs.replace(plot.breakdowns[0], groups=ends)],
        ordered=True,
    )


def _dots(
    task: str, metrics: Mapping[str, str], systems: Mapping[str, Mapping[str, System | RankedValue]]
) -> page.DotPlot:
    """The values of systems as dots with their intervals.

    Args:
        task: name of the task.
        metrics: the metrics by what they are called.
        systems: the values of each system, by metric.
    """
    scores = {name: [own[metric] for own in systems.values()] for name, metric in metrics.items()}
    ranges = {name: values_of(load(task), metric) for name, metric in metrics.items()}
    values = page.Breakdown(
        "system",
        list(systems),
        {name: [own.value for own in each] for name, each in scores.items()},
        [name for name, values in ranges.items() if (values.least, values.most) == (0.0, 1.0)],
        {name: [own.interval for own in each] for name, each in scores.items()},
    )
    return page.DotPlot("Values", breakdowns=[values])


def _differences(comparison: Comparison, values: str, pairs: str) -> list[page.Section]:
    """The p values and the differences of all pairs, in tables of these names; none without pairs.

    The p values are corrected; they have a row and a column for each system.
    """
    if not comparison.differences:
        return []
    names = [system.name for system in comparison.systems]
    chances: dict[tuple[str, str], float | None] = {}
    for pair in comparison.differences:
        chances[pair.first, pair.second] = chances[pair.second, pair.first] = pair.corrected
    columns = {
        Field(f"c{at}", name, "rate"): [chances.get((other, name)) for other in names]
        for at, name in enumerate(names)
    }
    frame = pl.DataFrame({"system": names}).with_columns(
        pl.Series(field.name, rows, pl.Float64) for field, rows in columns.items()
    )
    below = "Below 0.05, two systems are significantly different."
    minus = "The first minus the second; wins, losses and ties are documents."
    return [
        page.DataTable(values, below, frame, [Field("system"), *columns]),
        page.DataTable(pairs, minus, comparison.to_frame("differences"), formats.PAIRS),
    ]


#: The file of the report of each system, by its name.
Links = Mapping[str, str]
#: Rows of the table of systems that are on one page.
_MANY = 100


def leaderboard_page(board: Leaderboard, links: Links | None = None) -> page.Page:
    """The report of a leaderboard.

    Args:
        board: the leaderboard.
        links: the files of the reports of the systems, if there are any.
    """
    refused = [("refused", f"{len(board.refused):,}")] if board.refused else []
    about = [("task", board.task), ("profile", board.profile)]
    about += [("metrics", ", ".join(board.metrics)), ("systems", f"{len(board.systems):,}")]
    named = dict(zip(formats.labels(board.metrics), board.metrics, strict=True))
    values = {row.name: row.scores for row in board.systems}
    compared = (
        _differences(own, f"p values (Holm) of {own.metric}", f"Pairs by {own.metric}")
        for own in board.comparisons
    )
    return page.Page(
        f"Leaderboard: {title(board.task)}",
        [*about, *refused],
        [
            page.Tab("Leaderboard", list(_board_sections(board, links or {}))),
            page.Tab("Values", [_dots(board.task, named, values)] if len(named) > 1 else []),
            page.Tab("Significance", [section for sections in compared for section in sections]),
        ],
    )


def _board_sections(board: Leaderboard, links: Links) -> Iterator[page.Section]:
    """The figure, the table, the sentence, systems that are refused, notes and the signature."""
    for first in board.comparisons[:1]:
        yield from _rank_plot(first)
    if board.systems:
        frame, (rank, system, value, *others) = formats.board_systems(
            board, partial(limits_text, missing="")
        )
        ends = (formats.INTERVAL, formats.RANK)
        yield page.DataTable(
            "Systems",
            caption(board.comparisons[0]) or SHARED_RANKS,
            frame,
            [system, value, rank, *others],
            _MANY,
            links={system.name: [links[name] for name in frame[system.name]]} if links else {},
            bars=[each.name for each in (value, *others) if each.kind in ("rate", "number")
                  and not each.name.endswith(ends)],
            details=[each.name for each in others if each.name.endswith(ends)],
            details_title="Intervals and ranks of each metric",
        )  # fmt: skip
        yield _sentence(board)
    if board.refused:
        refused = formats.refused_systems(board)
        files = {"system": [links[name] for name in refused["system"]]} if links else {}
        heading = "Refused submissions"
        yield page.DataTable(heading, "", refused, formats.REFUSALS, links=files)
    if board.notes:
        yield page.Notes("Notes", notes=board.notes)
    if board.signature:
        yield page.Copied("Signature", PUBLISHED, board.signature)


#: The types of values by the kinds of columns; others are text.
_TYPES = {"rate": pl.Float64(), "number": pl.Int64(), "list": pl.List(pl.String)}


def campaign_page(result: CampaignResult, pages: Mapping[Group, str]) -> page.Page:
    """Return the report of a campaign.

    Args:
        result: the campaign.
        pages: the file of each leaderboard's own report, relative to this one.
    """
    troubled = [row for row in result.rows if row.result.status != "scored"]
    reasons: list[page.Section] = []
    for row in troubled:
        heading = f"{row.cell.submission} ({_group_title(row.cell.group)})"
        reasons.append(page.Notes(heading, warnings=[row.result.reason]))
        reasons += [FindingList(findings=row.findings)] if row.findings else []
    cells, groups = f"{len(result.rows):,}", f"{len(result.groups):,}"
    facts = [page.Fact("cells", cells, main=True)]
    facts += [page.Fact(status, f"{number:,}") for status, number in result.counts.items()]
    return page.Page(
        result.name,
        [("cells", cells), ("groups", groups)],
        [
            page.Tab("Cells", [page.Headline("Cells", facts=facts), _cells(result)]),
            page.Tab("Leaderboards", list(_boards(result, pages)), len(result.boards)),
            page.Tab("Without numbers", reasons, len(troubled)),
        ],
    )


def _group_title(group: Group) -> str:
    """Return a group of cells as people read it.

    Examples:
        >>> _group_title(("hub4", "plan", "")), _group_title(("hub4", "plan", "strict"))
        ('hub4, plan', 'hub4, plan, strict')
    """
    return ", ".join(filter(None, group))


def _cells(result: CampaignResult) -> page.DataTable:
    """Return all cells; without conditions or intervals, their columns say nothing."""
    rows = []
    for row in result.rows:
        name, cell = row.headline, row.result
        value, limits = cell.metrics.get(name), cell.intervals.get(name, (None, None))
        number = None if value is None else float(value)
        codes = sorted({finding.code for finding in row.findings if finding.severity == "error"})
        names = (*row.cell.group, row.cell.submission, cell.status, name)
        rows.append((*names, number, *limits, row.count(Severity.ERROR), codes))
    every = fields_of("cells")
    schema = {field.name: _TYPES.get(field.kind, pl.String()) for field in every}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    fields = [
        field
        for field in every
        if field.name not in ("condition", "low", "high")
        or not {None, ""}.issuperset(frame[field.name].to_list())
    ]
    intro = (
        "The metric is the one that ranks; the table campaign.parquet has all of them. Codes are "
        "those of cells without numbers."
    )
    return page.DataTable("All cells", intro, frame, fields)


def _boards(result: CampaignResult, pages: Mapping[Group, str]) -> Iterator[page.Section]:
    """Yield a table for each leaderboard, after a table of their reports."""
    if not result.boards:
        return
    titles = [_group_title(group) for group in result.boards]
    files = [pages.get(group, "") for group in result.boards]
    yield page.DataTable(
        "Reports",
        "Differences and p values of each leaderboard.",
        pl.DataFrame({"leaderboard": titles, "report": files}),
        [Field("leaderboard"), Field("report", kind="link")],
    )
    for heading, board in zip(titles, result.boards.values(), strict=True):
        frame, fields = formats.board_systems(board, limits_text)
        metrics = {field.name: field.meaning for field in fields if field.meaning}
        rates = [Field(metric, metric, "rate") for metric in metrics.values()]
        intro = caption(board.comparisons[0]) or SHARED_RANKS
        yield page.DataTable(heading, intro, frame.rename(metrics), [*fields[:2], *rates])


def agreement_page(agreement: Agreement) -> page.Page:
    """The report of the agreement between annotators."""
    about = [
        ("task", agreement.task),
        ("annotators", ", ".join(agreement.annotators)),
        ("documents", f"{agreement.documents:,}"),
    ]
    findings = [FindingList(findings=agreement.findings)] if agreement.findings else []
    tabs = [
        page.Tab("Overview", list(_agreement_numbers(agreement))),
        page.Tab("By label", list(_by(agreement, "label"))),
        page.Tab("By document", list(_by(agreement, "document"))),
        page.Tab("Differences", list(_disagreements(agreement)), len(agreement.differences)),
        page.Tab("Findings", findings, len(agreement.findings)),
    ]
    return page.Page(title(agreement.task), about, tabs)


def _agreement_numbers(agreement: Agreement) -> Iterator[page.Section]:
    """The numbers to read first, the pairs in a figure, all numbers, notes and the signature."""
    task, facts = load(agreement.task), list[page.Fact]()
    for item in agreement.overall:
        value, limits = value_text(item.value, RATE), limits_text(item.interval, missing="")
        units = f"Krippendorff's alpha of all annotators, {count_of(item.units, 'unit')}"
        facts.append(page.Fact(f"{item.judged}: alpha", value, limits, units, main=not facts))
    for measure in dict.fromkeys(pair.measure for pair in agreement.measures):
        values, pairs = values_of(task, measure), agreement.pairs_of(measure)
        if pairs:
            each = [pair.value or 0.0 for pair in pairs]
            mean, between = value_text(fmean(each), values), ""
            note = f"mean of {count_of(len(each), 'pair')}"
            if len(each) > 1:
                least, most = (value_text(end, values) for end in (min(each), max(each)))
                note += f", {least} to {most}"
            else:
                between = limits_text(pairs[0].interval, missing="")
            facts.append(page.Fact(measure, mean, between, note, main=not facts))
    yield page.Headline("Agreement", facts=facts[:MOST_FACTS])
    yield _sentence(agreement)
    yield from _pairs(agreement)
    if agreement.measures:
        titles = {"forward": "first as reference", "backward": "second as reference"}
        frame, fields = measure_rows(agreement)
        fields = [each._replace(title=titles.get(each.name, each.title)) for each in fields]
        details = [*titles, "documents", "reason"]
        yield page.DataTable(
            "Measures", "", frame, fields, details=details, details_title="Both directions"
        )
    if agreement.coefficients:
        yield _coefficients("Coefficients", agreement, "")
    yield page.Notes("Notes", notes=list(notes(agreement)))
    yield page.Copied("Signature", PUBLISHED, agreement.signature)


def _pairs(agreement: Agreement) -> Iterator[page.DotPlot]:
    """Each pair of annotators with its values, of the measures of the task and the coefficients."""
    task, rates = load(agreement.task), []
    values: dict[str, dict[str, PairMeasure | CoefficientValue]] = {}
    for pair in agreement.measures:
        values.setdefault(pair.measure, {})[f"{pair.first}, {pair.second}"] = pair
    for item in agreement.coefficients:
        if len(item.annotators) == 2 and item.is_whole:
            name = f"{item.judged}: {item.coefficient}"
            values.setdefault(name, {})[", ".join(item.annotators)] = item
    values = {
        name: each
        for name, each in values.items()
        if any(item.value is not None for item in each.values())
    }
    for name in values:
        limits = values_of(task, name)
        rates += [name] if ": " in name or (limits.least, limits.most) == (0.0, 1.0) else []
    if values:
        names = list(dict.fromkeys(name for each in values.values() for name in each))
        shown = {name: [each.get(pair) for pair in names] for name, each in values.items()}
        breakdown = page.Breakdown(
            "pair of annotators",
            names,
            {
                name: [None if item is None else item.value for item in each]
                for name, each in shown.items()
            },
            rates,
            {
                name: [None if item is None else item.interval for item in each]
                for name, each in shown.items()
            },
        )
        yield page.DotPlot("Pairs of annotators", "", [breakdown])


def _coefficients(
    heading: str, agreement: Agreement, scope: Literal["", "document", "label"]
) -> page.DataTable:
    """A table of coefficients, of everything or of each document or label, without intervals."""
    frame, fields = coefficient_rows(agreement, scope)
    ends = ("low", "high") if scope else ()
    meanings = (f"{name}: {agreement.meanings[name]}" for name in dict.fromkeys(frame["judged"]))
    return page.DataTable(
        heading, "; ".join(meanings), frame, [each for each in fields if each.name not in ends]
    )


def _by(agreement: Agreement, scope: Literal["document", "label"]) -> Iterator[page.Section]:
    """The coefficients of each document or label: dots of alpha by what is judged, and a table."""
    items: dict[str, list[CoefficientValue]] = {}
    for item in agreement.coefficients:
        if getattr(item, scope) is not None:
            alphas = items.setdefault(item.judged, [])
            alphas += [item] if item.coefficient == "alpha" else []
    if items:
        breakdowns = [
            page.Breakdown(
                f"{judged}, {scope}",
                [getattr(item, scope) for item in alphas],
                {"alpha": [item.value for item in alphas]},
                intervals={"alpha": [item.interval for item in alphas]},
            )
            for judged, alphas in items.items()
            if alphas
        ]
        yield page.DotPlot(f"By {scope}", breakdowns=breakdowns)
        yield _coefficients(f"Coefficients by {scope}", agreement, scope)


def _disagreements(agreement: Agreement) -> Iterator[page.Section]:
    """Differences of annotators: a row per unit, with what each of them says and where.

    The page leaves out the folder that all places of an annotator are in.
    """
    if not agreement.differences:
        return
    columns = {
        Field(name): [getattr(item, name) for item in agreement.differences]
        for name in ("judged", "document", "unit")
    }
    places = {}
    for at, name in enumerate(agreement.annotators):
        judgments = [item.judgments.get(name) for item in agreement.differences]
        said = [each and each.category for each in judgments]
        columns[Field(f"category{at}", name)] = [None if c is None else str(c) for c in said]
        where = [each and each.place for each in judgments]
        shared = os.path.commonprefix([place for place in where if place])  # noqa: RUF071 - cut back to a folder
        folder = shared[: shared.rfind("/") + 1]
        places[Field(f"place{at}", f"place, {name}")] = [
            place and place.removeprefix(folder) for place in where
        ]
    columns |= places
    frame = pl.DataFrame(
        {field.name: pl.Series(values, dtype=pl.String) for field, values in columns.items()}
    )
    yield page.DataTable(
        "Differences",
        "Units of which annotators say different things; an empty cell is a unit that the "
        "annotator did not mark.",
        frame,
        list(columns),
    )
