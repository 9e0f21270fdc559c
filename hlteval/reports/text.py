"""Findings as text for people, in the manner of a compiler."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from hlteval.findings import Excerpt, Finding, Severity, Span, catalogue
from hlteval.reports.display import draw, isolate_bidi, visible
from hlteval.results.verdict import Verdict

MAX_FINDINGS = 20
"""How many findings of a file are shown where the user does not say."""

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_RANKS = {severity: severity.rank for severity in Severity}
_GUTTER = "blue"


def text(verdict: Verdict, max_findings: int = MAX_FINDINGS) -> RenderableType:
    """Findings with their places and excerpts, then a table of counts, then the verdict.

    Of each file so many are shown, and of each code a quarter of that; the worst are chosen.
    The counts are always those of all findings. Print it with `soft_wrap=True`.

    Args:
        verdict: what to show.
        max_findings: how many findings of a file are shown; 0 shows all.
    """
    return _Report(verdict, max_findings)


@dataclass(frozen=True, slots=True)
class _Report:
    verdict: Verdict
    max_findings: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for _, group in groupby(self.verdict.findings, lambda finding: finding.file):
            findings = list(group)
            shown = _chosen(findings, self.max_findings)
            for finding in shown:
                yield block(finding, options.max_width)
            yield from _hidden(findings, shown)
        yield from _summary(self.verdict)
        yield closing(self.verdict)


def _chosen(findings: Sequence[Finding], most: int) -> Sequence[Finding]:
    """The findings of one file that are shown: the worst, not too many of a code, in order."""
    if not most:
        return findings
    taken: Counter[str] = Counter()
    chosen: list[int] = []
    for index in sorted(range(len(findings)), key=lambda index: _RANKS[findings[index].severity]):
        code = findings[index].code
        if len(chosen) < most and taken[code] < max(1, most // 4):
            taken[code] += 1
            chosen.append(index)
    return [findings[index] for index in sorted(chosen)]


def _hidden(findings: Sequence[Finding], shown: Sequence[Finding]) -> Iterator[Text]:
    """What is not shown of one file, each code with its number."""
    hidden = Counter(finding.code for finding in findings)
    hidden.subtract(finding.code for finding in shown)
    where = "in this file" if findings[0].file else "for the submission"
    lines = [
        f"… {count:,} more {code} {where} (--max-findings 0 shows all)\n"
        for code, count in sorted(hidden.items())
        if count
    ]
    if lines:
        yield Text("".join(lines), style="dim")


def block(finding: Finding, width: int) -> Text:
    """One finding, with a blank line behind it.

    Args:
        finding: what to show.
        width: cells of a line; the excerpt is cut to it, the rest is not.
    """
    number = str(finding.span.line) if finding.span and finding.excerpt else ""
    margin = " " * max(1, len(number))
    result = Text()
    result.append(f"{finding.severity}[{finding.code}]", STYLES[finding.severity])
    result.append(f": {isolate_bidi(finding.message)}\n", "bold")
    if finding.file:
        result.append(f"{margin}--> ", _GUTTER).append(f"{_place(finding)}\n")
    if finding.span and finding.excerpt:
        _append_excerpt(result, finding.excerpt, finding.span, STYLES[finding.severity], width)
    elif finding.record:
        _append_note(result, margin, "record", finding.record)
    if finding.help:
        _append_note(result, margin, "help", finding.help)
    if finding.clause:
        _append_note(result, margin, "rule", finding.clause)
    return result


def _place(finding: Finding) -> str:
    file = isolate_bidi(finding.file or "")
    return f"{file}:{finding.span.line}:{finding.span.column}" if finding.span else file


def _append_excerpt(result: Text, excerpt: Excerpt, span: Span, style: str, width: int) -> None:
    number = str(span.line)
    drawn = draw(excerpt, span, width - len(number) - 3)
    margin = " " * len(number)
    result.append(f"{margin} |\n{number} |", _GUTTER)
    if drawn.pieces:
        result.append(" ")
    for literal, run in groupby(drawn.pieces, lambda piece: piece.literal):
        result.append("".join(piece.shown for piece in run), None if literal else "dim")
    result.append(f"\n{margin} | ", _GUTTER)
    result.append(" " * drawn.column).append("^" * drawn.width, style).append("\n")


def _append_note(result: Text, margin: str, label: str, note: str) -> None:
    result.append(f"{margin} = {label}: ", _GUTTER).append(f"{isolate_bidi(note)}\n")


def _summary(verdict: Verdict) -> Iterator[Text]:
    """A table of all codes that were found, the worst first, with exact counts."""
    if not verdict.findings:
        return
    rows = [("code", "severity", "count", "title"), *_summary_rows(verdict)]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(3)]
    lines = [
        f"{code:<{widths[0]}}  {severity:<{widths[1]}}  {count:>{widths[2]}}  {title}"
        for code, severity, count, title in rows
    ]
    yield Text(f"{lines[0]}\n", style="bold").append("\n".join(lines[1:]) + "\n", "not bold")


def _summary_rows(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    groups: defaultdict[tuple[int, str], list[Finding]] = defaultdict(list)
    for finding in verdict.findings:
        groups[_RANKS[finding.severity], finding.code].append(finding)
    for (_, code), findings in sorted(groups.items()):
        entry = catalogue().get(code)
        blocking = any(finding.blocking for finding in findings)
        severity = f"{findings[0].severity}, blocking" if blocking else findings[0].severity.value
        title = entry.title if entry else visible(findings[0].name)
        yield code, severity, f"{len(findings):,}", title


def closing(verdict: Verdict) -> Text:
    """The last line: the verdict, where a task was asked for, and the number of findings.

    Examples:
        >>> closing(Verdict("seedev-binary", "plan", passed=True)).plain
        'pass: no findings (seedev-binary, profile plan)'
    """
    counts = [_number(count, name) for name, count in verdict.by_severity.items() if count]
    found = ", ".join(counts) or "no findings"
    files = f" in {_number(verdict.files, 'file')}" if verdict.files else ""
    if not verdict.task:
        return Text(found + files)
    word, style = ("pass", "bold green") if verdict.passed else ("fail", "bold red")
    tail = f": {found}{files} ({visible(verdict.task)}, profile {visible(verdict.profile)})"
    return Text(word, style=style).append(tail, "not bold default")


def _number(count: int, name: str) -> str:
    plural = name if count == 1 or name == "info" else f"{name}s"
    return f"{count:,} {plural}"
