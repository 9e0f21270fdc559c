"""The output formats of campaigns, pipelines, and the best submissions of an evaluation."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings import Severity
from hlteval.findings.counts import count_of
from hlteval.reports.scores import UNDEFINED, limits_text, value_text, values_of
from hlteval.reports.tables import FIXED, Cell, Column, Table, Tables, fields_of
from hlteval.reports.terminal import Prose, in_cells, json_text, note, visible
from hlteval.results import evaluation
from hlteval.results.verdict import head, plain
from hlteval.tasks import is_file, load

_STYLES: Mapping[evaluation.SubmissionStatus | evaluation.CellStatus, str] = {
    **dict.fromkeys(("scored", "valid"), "green"),
    **dict.fromkeys(("refused", "invalid", "not scored", "failed"), "bold red"),
    **dict.fromkeys(("over limit", "waiting", "withdrawn"), "yellow"),
}
#: The best submissions of an evaluation.
Ranking = Sequence[evaluation.Best]
_NAMES = ("task", "language", "condition", "checkpoint", "team", "submission", "metric", "value")


def best_text(best: Ranking) -> RenderableType:
    """Return a row per team; columns of which nothing is known are left out."""
    if not best:
        return Prose("no submission is scored; run `hlteval pipeline` first")
    rows = []
    for each in best:
        value = value_text(each.value, values_of(load(each.task), each.metric))
        rows.append([*(visible(getattr(each, name)) for name in _NAMES[:-1]), value])
    kept = [index for index in range(len(_NAMES)) if any(row[index] for row in rows)]
    names = (_NAMES[index] for index in kept)
    columns = [Column(name, "number" if name == "value" else "name", FIXED) for name in names]
    return Tables([Table(columns, [[row[index] for index in kept] for row in rows])])


def best_tsv(best: Ranking) -> str:
    """Return a line per team, with a header; an undefined value is empty."""
    lines = ["\t".join(_NAMES)]
    for each in best:
        value = "" if each.value is None else repr(each.value)
        names = (in_cells(visible(getattr(each, name))) for name in _NAMES[:-1])
        lines.append("\t".join([*names, value]))
    return "\n".join(lines) + "\n"


def best_json(best: Ranking) -> str:
    """Return one object with the best submission of each team."""
    return json_text({**head("best-submissions"), "best": plain(best)})


#: The output formats of the best submissions by name.
BEST_FORMATS: Mapping[str, Callable[[Ranking], RenderableType]]
BEST_FORMATS = {"text": best_text, "json": best_json, "tsv": best_tsv}


def render(
    result: evaluation.CampaignResult | evaluation.PipelineResult, form: str
) -> str | RenderableType:
    """Return a campaign, or what came of a pipeline, as `text` or as `json`."""
    if form == "json":
        return json_text(result.to_dict())
    return _pipeline(result) if isinstance(result, evaluation.PipelineResult) else _campaign(result)


def summary(result: evaluation.CampaignResult | evaluation.PipelineResult) -> RenderableType:
    """Return how many cells or submissions there are of each status, and how many are new.

    Examples:
        >>> entry = evaluation.Entry("a", "a.tgz", "scored")
        >>> print(summary(evaluation.PipelineResult("r", (entry,))).text)
        1 submission: 1 scored; nothing new
        >>> print(summary(evaluation.CampaignResult("dry run", ())).text)
        0 cells
    """
    if isinstance(result, evaluation.PipelineResult):
        number = count_of(len(result.submissions), "submission")
        more = "" if result.done else "; nothing new"
    else:
        number, old = count_of(len(result.rows), "cell"), len(result.rows) - result.computed
        more = f"; {old:,} from the cache" if old else ""
    by_status = ", ".join(f"{count:,} {status}" for status, count in result.counts.items())
    return Prose(f"{number}{': ' if by_status else ''}{by_status}{more}", "bold")


def _campaign(result: evaluation.CampaignResult) -> RenderableType:
    """Return a table for each task, profile and condition, with the metric that ranks."""
    tables, columns = [], [field.column for field in fields_of("campaign")]
    for (task, profile, condition), rows in result.groups.items():
        cells: list[list[Cell]] = []
        for row in rows:
            name, status = row.headline, row.result.status
            values = values_of(load(task), name)
            cells.append(
                [
                    visible(row.cell.submission),
                    (status, _STYLES[status]),
                    name or UNDEFINED,
                    value_text(row.result.metrics.get(name), values),
                    limits_text(row.result.intervals.get(name), values, missing=""),
                    f"{row.count(Severity.ERROR):,}",
                    visible(row.result.reason),
                ]
            )
        suffix = f", condition {visible(condition)}" if condition else ""
        tables.append(Table(columns, cells, title=f"{task}, profile {profile}{suffix}"))
    return Group(Tables(tables), summary(result))


def _pipeline(result: evaluation.PipelineResult) -> RenderableType:
    """Return a row per submission, and how many there are of each status."""
    rows: list[list[Cell]] = []
    for entry in result.submissions:
        reason = f"{entry.reason}; {entry.help}" if entry.help else entry.reason
        task = PurePath(entry.task).name if is_file(entry.task) else entry.task
        names = map(visible, (entry.submission, task or "-", entry.team or "-"))
        rows.append([*names, (entry.status, _STYLES[entry.status]), visible(reason)])
    columns = [field.column for field in fields_of("pipeline")]
    table = [Tables([Table(columns, rows)])] if rows else []
    boards = [Prose(f"leaderboard: {PurePath(result.root, page)}") for page in result.leaderboards]
    return Group(*table, *map(note, result.notes), *boards, summary(result))


def line(entry: evaluation.Entry) -> RenderableType:
    """Return one submission, as `--watch` reports it."""
    name = Text(visible(entry.submission)).append("  ")
    status = name.append(entry.status, _STYLES[entry.status])
    return status.append(f"  {visible(entry.reason)}" if entry.reason else "")
