"""Findings as text for people, like the messages of a compiler."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from hlteval.findings import Excerpt, Finding, Severity, Span, catalogue
from hlteval.reports.display import draw, isolate_bidi, visible
from hlteval.results.verdict import Outcome, Verdict

MAX_FINDINGS = 20
"""Default maximum number of findings shown per file."""

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
OUTCOMES: Mapping[Outcome, str] = {
    "pass": "bold green",
    "fail": "bold red",
    "undecided": "bold yellow",
}
"""The styles of the word that a verdict begins with."""
_RANKS = {severity: severity.rank for severity in Severity}
_GUTTER = "blue"


def text(verdict: Verdict, max_findings: int = MAX_FINDINGS) -> RenderableType:
    """Findings with location and excerpt, then a table of counts, then the verdict.

    The most severe findings of each file are shown, of each code at most a quarter of the maximum.
    Counts are those of all findings. Print the result with `soft_wrap=True`.

    Args:
        verdict: the verdict.
        max_findings: maximum number of findings shown per file; 0 for all.
    """
    return _Report(verdict, max_findings)


@dataclass(frozen=True, slots=True)
class _Report:
    verdict: Verdict
    max_findings: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for side in self.verdict.sides:
            yield from _heading(self.verdict, side)
            own = self.verdict.of(side).findings
            for _, group in groupby(own, lambda finding: finding.file):
                findings = list(group)
                selected = _select(findings, self.max_findings)
                for finding in selected:
                    yield block(finding, options.max_width)
                yield from _hidden(findings, selected)
        yield from _summary(self.verdict)
        yield closing(self.verdict)


def _heading(verdict: Verdict, side: str) -> Iterator[Text]:
    """The heading above the findings of a side other than that of the verdict."""
    if side != verdict.side:
        path = verdict.paths.get(side)
        named = f"{side}: {isolate_bidi(path)}" if path else side
        yield Text(f"{named}\n", style="bold underline")


def _select(findings: Sequence[Finding], limit: int) -> Sequence[Finding]:
    """The most severe findings of one file, a limited number of each code, in order."""
    if not limit:
        return findings
    counts: Counter[str] = Counter()
    selected: list[int] = []
    for index in sorted(range(len(findings)), key=lambda index: _RANKS[findings[index].severity]):
        code = findings[index].code
        if len(selected) < limit and counts[code] < max(1, limit // 4):
            counts[code] += 1
            selected.append(index)
    return [findings[index] for index in sorted(selected)]


def _hidden(findings: Sequence[Finding], selected: Sequence[Finding]) -> Iterator[Text]:
    """The number of findings of one file that are not shown, by code."""
    hidden = Counter(finding.code for finding in findings)
    hidden.subtract(finding.code for finding in selected)
    where = "in this file" if findings[0].file else f"for the {findings[0].side}"
    lines = [
        f"… {count:,} more {code} {where} (--max-findings 0 shows all)\n"
        for code, count in sorted(hidden.items())
        if count
    ]
    if lines:
        yield Text("".join(lines), style="dim")


def block(finding: Finding, width: int) -> Text:
    """One finding, followed by an empty line.

    Args:
        finding: the finding.
        width: line width in cells; only the excerpt is cut to it.
    """
    number = str(finding.span.line) if finding.span and finding.excerpt else ""
    margin = " " * max(1, len(number))
    result = Text()
    result.append(f"{finding.severity}[{finding.code}]", STYLES[finding.severity])
    result.append(f": {isolate_bidi(finding.message)}\n", "bold")
    if finding.file:
        place = f"{isolate_bidi(finding.file)}{finding.position}"
        result.append(f"{margin}--> ", _GUTTER).append(f"{place}\n")
    if finding.span and finding.excerpt:
        _append_excerpt(result, finding.excerpt, finding.span, STYLES[finding.severity], width)
    elif finding.record:
        _append_note(result, margin, "record", finding.record)
    if finding.help:
        _append_note(result, margin, "help", finding.help)
    if finding.clause:
        _append_note(result, margin, "rule", finding.clause)
    return result


def _append_excerpt(result: Text, excerpt: Excerpt, span: Span, style: str, width: int) -> None:
    number = str(span.line)
    line = draw(excerpt, span, width - len(number) - 3)
    margin = " " * len(number)
    result.append(f"{margin} |\n{number} |", _GUTTER)
    if line.pieces:
        result.append(" ")
    for literal, run in groupby(line.pieces, lambda piece: piece.literal):
        result.append("".join(piece.text for piece in run), None if literal else "dim")
    result.append(f"\n{margin} | ", _GUTTER)
    result.append(" " * line.column).append("^" * line.width, style).append("\n")


def _append_note(result: Text, margin: str, label: str, note: str) -> None:
    result.append(f"{margin} = {label}: ", _GUTTER).append(f"{isolate_bidi(note)}\n")


def _summary(verdict: Verdict) -> Iterator[Text]:
    """A table of the codes found by side, most severe first, with exact counts.

    The column of sides is there if a side has findings that is not that of the verdict.
    """
    if not verdict.findings:
        return
    first = 0 if set(verdict.sides) - {verdict.side} else 1
    rows = [("side", "code", "severity", "count", "title")]
    rows += [(side, *row) for side in verdict.sides for row in _summary_rows(verdict.of(side))]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for *names, count, title in rows:
        cells = [f"{name:<{width}}" for name, width in zip(names, widths[:3], strict=True)]
        lines.append("  ".join([*cells[first:], f"{count:>{widths[3]}}", title]))
    yield Text(f"{lines[0]}\n", style="bold").append("\n".join(lines[1:]) + "\n", "not bold")


def _summary_rows(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    """Code, severity, count and title of each code of one side."""
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
    """The last line: the verdict, if there is a task, and the number of findings.

    Examples:
        >>> closing(Verdict("seedev-binary", "plan", passed=True)).plain
        'pass: no findings (seedev-binary, profile plan)'
    """
    found = _found(verdict.of(verdict.side))
    others = [side for side in verdict.sides if side != verdict.side]
    found += "".join(f"; {visible(side)}: {_found(verdict.of(side))}" for side in others)
    if not verdict.task:
        return Text(found)
    tail = f": {found} ({visible(verdict.task)}, profile {visible(verdict.profile)})"
    return Text(verdict.outcome, style=OUTCOMES[verdict.outcome]).append(tail, "not bold default")


def _found(verdict: Verdict) -> str:
    """The number of findings of one side, by severity, and of files with findings."""
    counts = [_number(count, name) for name, count in verdict.by_severity.items() if count]
    files = f" in {_number(verdict.files, 'file')}" if verdict.files else ""
    return (", ".join(counts) or "no findings") + files


def _number(count: int, name: str) -> str:
    plural = name if count == 1 or name == "info" else f"{name}s"
    return f"{count:,} {plural}"
