"""The parts of what a job gives: a report each, with what can be downloaded."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from hlteval.findings import Item
from hlteval.findings.counts import counted
from hlteval.reports.escapes import printable
from hlteval.reports.html import write
from hlteval.reports.refusal import Refusal
from hlteval.results.comparison import NOT_DISTINGUISHABLE, Comparison
from hlteval.results.scores import Scores
from hlteval.results.verdict import Verdict
from hlteval.serve.orders import OUTPUT, Download, Part
from hlteval.sources import Source, open_source
from hlteval.sources.packing import pack
from hlteval.workflows.refusals import Refused

_ORDINARY = re.compile(r"[A-Za-z0-9_][\w+=,@() -]{0,80}(?:\.[A-Za-z0-9_-]{1,20}){0,3}", re.ASCII)
"""The names that a corrected copy keeps."""
_COLUMNS = ("severity", "code", "file", "line", "column", "message", "help", "record", "side")
"""The columns of the table of findings."""


def of_verdict(verdict: Verdict, key: str, second: bool, copy: Download | None) -> Part:
    """The findings of a submission.

    Args:
        verdict: with its findings.
        key: of the part.
        second: whether it is the submission that the first is compared with.
        copy: the corrected copy, if there is one.
    """
    from hlteval.reports.findings import json

    title = "Findings of the second" if second else "Findings"
    counts = tuple((f"{name}s", f"{count:,}") for name, count in verdict.by_severity.items())
    files = (
        _saved(f"{key}.json", "Findings as JSON", json(verdict)),
        _saved(f"{key}.tsv", "Findings as a table (TSV)", findings_table(verdict)),
    )
    report = _reported(verdict, key)
    downloads = (report, *files) if copy is None else (copy, report, *files)
    return Part(key, title, verdict.outcome, counts, report.file, downloads)


def findings_table(verdict: Verdict) -> str:
    r"""The findings as tab-separated values, a line each.

    Examples:
        >>> findings_table(Verdict("hub4", "plan", passed=True))[:14]
        'severity\tcode\t'
    """
    text = StringIO()
    table = csv.writer(text, "excel-tab", lineterminator="\n")
    table.writerow(_COLUMNS)
    for finding in verdict.findings:
        item = Item.of(finding)
        table.writerow(_cell(getattr(item, name)) for name in _COLUMNS)
    return text.getvalue()


def _cell(value: object) -> str:
    """A cell; no program of tables takes it for a formula."""
    text = "" if value is None else str(printable(str(value)))
    return f"'{text}" if text.startswith(("=", "+", "@")) else text


def of_scores(scores: Scores) -> Part:
    """The scores of a submission."""
    from hlteval.reports.score_formats import FORMATS, shown, values_of
    from hlteval.reports.tables import ALL
    from hlteval.tasks import load

    task = load(scores.task)
    value = shown(scores.metrics.get(scores.primary), values_of(task, scores.primary))
    report = _reported(scores, "scores")
    files = (
        _saved("scores.json", "Scores as JSON", str(FORMATS["json"](scores, ALL))),
        _saved("scores.tsv", "Scores as a table (TSV)", str(FORMATS["tsv"](scores, ALL))),
    )
    return Part("scores", "Scores", "", ((scores.primary, value),), report.file, (report, *files))


def of_comparison(comparison: Comparison) -> Part:
    """The comparison of two submissions."""
    from hlteval.reports.comparison import FORMATS
    from hlteval.reports.tables import ALL

    report = _reported(comparison, "comparison")
    names = {"json": "Comparison as JSON", "tsv": "Comparison as a table (TSV)"}
    files = [
        _saved(f"comparison.{form}", label, str(FORMATS[form](comparison, ALL)))
        for form, label in names.items()
    ]
    facts = tuple(_ranks(comparison))
    outcome = "refused" if comparison.refused else ""
    return Part("comparison", "Comparison", outcome, facts, report.file, (report, *files))


def _ranks(comparison: Comparison) -> Iterator[tuple[str, str]]:
    for system in comparison.systems:
        value = "undefined" if system.value is None else f"{system.value:.4f}"
        rank = f"rank {system.rank or 'none'}" if comparison.best else NOT_DISTINGUISHABLE
        yield system.name, f"{value}, {rank}"
    for refused in comparison.refused:
        yield refused.name, "not scored"


def of_refusal(refused: Refused, key: str, title: str) -> Part:
    """Why nothing was scored."""
    refusal = Refusal(refused.verdict, str(refused), refused.fix, refused.blocking)
    report = _reported(refusal, key)
    files = (_saved(f"{key}.json", f"{title} as JSON", refusal.as_json()),)
    facts = (("reason", str(refused)),)
    return Part(key, title, "refused", facts, report.file, (report, *files))


def _reported(result: Any, key: str) -> Download:
    write(result, Path(OUTPUT, f"{key}.html"))
    return Download(f"{key}-report", "Report (HTML)", f"{key}.html", f"{key}.html")


def _saved(name: str, label: str, text: str) -> Download:
    Path(OUTPUT, name).write_text(text, "utf-8", errors="backslashreplace", newline="")
    key, _, suffix = name.rpartition(".")
    return Download(f"{key}-{suffix}", label, name, name)


def is_fixable(verdict: Verdict) -> bool:
    """Whether something of a submission can be corrected mechanically."""
    from hlteval.workflows.fixed_files import fixable

    own = (finding for finding in verdict.findings if finding.side == verdict.side)
    return next(iter(fixable(own)), None) is not None


def fixed_copy(task: str, path: str, key: str, settings: Mapping[str, Any]) -> Download | None:
    """A corrected copy of a submission; None if nothing was corrected.

    Args:
        task: name of the task.
        path: the submission.
        key: of the part that it belongs to.
        settings: what validation takes.
    """
    from hlteval.workflows.fixing import fix

    source = open_source(path)
    folder = Path(OUTPUT, f"{key}-fixed")
    folder.mkdir()
    target = folder / _file_name(source)
    copy = fix(task, path, str(target), **settings)
    if copy.path is None or not copy.fixes:
        return None
    name = f"fixed-{target.name}"
    if source.kind == "folder":
        packed = folder.with_suffix(".zip")
        pack(replace(open_source(str(target)), kind="zip"), packed)
        target, name = packed, f"{name}.zip"
    fixes = counted(sum(each.count for each in copy.fixes), "fix")
    label = f"Corrected copy ({fixes}, then: {copy.verdict.outcome})"
    return Download(f"{key}-fixed", label, str(target.relative_to(OUTPUT)), name)


def _file_name(source: Source) -> str:
    """The name of a submission, if that can be the name of a file anywhere; else one of its kind.

    Examples:
        >>> _file_name(Source("run 1.tab", "file", ())), _file_name(Source("a:b.zip", "zip", ()))
        ('run 1.tab', 'submission.zip')
    """
    if _ORDINARY.fullmatch(source.path):
        return source.path
    return "submission" + {"zip": ".zip", "tgz": ".tgz"}.get(source.kind, "")
