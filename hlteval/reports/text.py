"""Findings as text for people, like the messages of a compiler."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from hlteval.findings import Excerpt, Finding, Severity, Span, entry
from hlteval.findings.counts import plural
from hlteval.findings.sequence import tally
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.reports.terminal import Prose, draw, hanging, isolate_bidi, visible
from hlteval.results.verdict import Outcome, Verdict

MAX_FINDINGS = 20
"""Default maximum number of findings shown per file, and of one code in the whole run."""
FILES = 5
"""How many times the maximum of a file is shown in the whole run."""
CODES = 4
"""How many codes share the maximum of a file."""

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

    Errors come first, then warnings, then infos, each by file and line. Of each file the most
    severe findings are shown, of each code at most a quarter of the maximum; in the whole run at
    most five times the maximum, of each code at most the maximum. Counts are those of all findings,
    with those that are only counted.
    Print the result with `soft_wrap=True`.

    Args:
        verdict: the verdict.
        max_findings: maximum number of findings shown per file; 0 for all.
    """
    return _Report(verdict, max_findings)


@dataclass(frozen=True, slots=True)
class _Report:
    verdict: Verdict
    max_findings: int

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        width, wrapped = options.max_width, console.is_terminal
        findings = _in_order(self.verdict)
        shown = _select(findings, self.max_findings)
        for side, numbers in groupby(range(len(findings)), lambda at: findings[at].side):
            yield from _heading(self.verdict, side)
            for _, group in groupby(numbers, lambda at: (findings[at].severity, findings[at].file)):
                same = list(group)
                selected = [findings[at] for at in same if at in shown]
                for finding in selected:
                    yield block(finding, width, wrapped=wrapped)
                if selected:
                    yield from _hidden([findings[at] for at in same], selected)
        explained = [findings[at] for at in sorted(shown) if not findings[at].only_counts]
        yield from _summary(self.verdict, explained)
        yield closing(self.verdict, width if wrapped else None)


def _in_order(verdict: Verdict) -> list[Finding]:
    """The findings of each side, the most severe first, then by file and line."""
    sides = (verdict.of(side).findings for side in verdict.sides)
    return [finding for found in sides for finding in sorted(found, key=_rank)]


def _rank(finding: Finding) -> int:
    return _RANKS[finding.severity]


def _heading(verdict: Verdict, side: str) -> Iterator[Text]:
    """The heading above the findings of a side other than that of the verdict."""
    if side != verdict.side:
        path = verdict.paths.get(side)
        named = f"{side}: {isolate_bidi(path)}" if path else side
        yield Text(f"{named}\n", style="bold underline")


def _select(findings: Sequence[Finding], limit: int) -> set[int]:
    """The numbers of the findings that are shown, the most severe of each file."""
    if not limit:
        return set(range(len(findings)))
    files: Counter[str | None] = Counter()
    codes: Counter[tuple[str | None, str]] = Counter()
    candidates = []
    explained = (number for number, finding in enumerate(findings) if not finding.only_counts)
    for number in sorted(explained, key=lambda number: _rank(findings[number])):
        file, code = findings[number].file, findings[number].code
        if files[file] < limit and codes[file, code] < max(1, limit // CODES):
            files[file] += 1
            codes[file, code] += 1
            candidates.append(number)
    return _limited(findings, candidates, limit)


def _limited(findings: Sequence[Finding], candidates: Sequence[int], limit: int) -> set[int]:
    """Those that the whole run has room for; the first of each code before the second of any."""
    counts: Counter[str] = Counter()
    ranked = []
    for place, number in enumerate(candidates):
        counts[findings[number].code] += 1
        count = counts[findings[number].code]
        if count <= limit:
            ranked.append((count > 1, place, number))
    return {number for _, _, number in sorted(ranked)[: FILES * limit]}


def _hidden(findings: Sequence[Finding], selected: Sequence[Finding]) -> Iterator[Text]:
    """The number of findings of one file that are not shown, by code."""
    hidden = tally(findings, attrgetter("code"))
    hidden.subtract(tally(selected, attrgetter("code")))
    where = "in this file" if findings[0].file else f"for the {findings[0].side}"
    lines = [
        f"… {count:,} more {code} {where}\n" for code, count in sorted(hidden.items()) if count
    ]
    if lines:
        yield Text("".join(lines), style="dim")


def block(finding: Finding, width: int, *, wrapped: bool = False) -> Text:
    """One finding, followed by an empty line.

    Args:
        finding: the finding.
        width: line width in cells, to which the excerpt is cut.
        wrapped: whether message, help and clause are wrapped to it, at words.
    """
    edge = width if wrapped else None
    number = str(finding.span.line) if finding.span and finding.excerpt else ""
    margin = " " * max(1, len(number))
    result = Text()
    head = f"{finding.severity}[{finding.code}]"
    message = hanging(f": {isolate_bidi(finding.message)}", edge, len(head))
    result.append(head, STYLES[finding.severity]).append(f"{message}\n", "bold")
    if finding.file:
        place = f"{isolate_bidi(finding.file)}{finding.position}"
        result.append(f"{margin}--> ", _GUTTER).append(f"{place}\n")
    if finding.span and finding.excerpt:
        _append_excerpt(result, finding.excerpt, finding.span, STYLES[finding.severity], width)
    elif finding.record:
        _append_note(result, margin, "record", finding.record, edge)
    if finding.help:
        _append_note(result, margin, "help", finding.help, edge)
    if finding.clause:
        _append_note(result, margin, "rule", finding.clause, edge)
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


def _append_note(result: Text, margin: str, label: str, note: str, width: int | None) -> None:
    head = f"{margin} = {label}: "
    body = hanging(isolate_bidi(note), width, len(head), " " * len(head))
    result.append(head, _GUTTER).append(f"{body}\n")


def _summary(verdict: Verdict, shown: Sequence[Finding]) -> Iterator[RenderableType]:
    """A table of the codes found by side, most severe first, with exact counts.

    The column of sides is there if a side has findings that is not that of the verdict.
    """
    if not verdict.findings:
        return
    columns = [
        *([Column("side", "name")] if set(verdict.sides) - {verdict.side} else []),
        *(Column("code", "name"), Column("severity", "name"), Column("count")),
        *(Column("shown", importance=FIXED), Column("title", "prose")),
    ]
    rows = [[side, *row] for side in verdict.sides for row in _summary_rows(verdict, side, shown)]
    table = Table(columns, [row[-len(columns) :] for row in rows])
    total = sum(finding.count for finding in verdict.findings)
    hidden = total - sum(finding.count for finding in shown)
    yield Tables([table if hidden else table.only(["title"])])
    if hidden:
        counted = sum(finding.count for finding in verdict.findings if finding.only_counts)
        option = "--max-findings 0" if hidden > counted else "--max-per-code 0"
        found = _number(total, "finding")
        yield Prose(f"{hidden:,} of {found} not shown; use {option} to show all", "dim")
    yield Text()


def _summary_rows(
    verdict: Verdict, side: str, shown: Sequence[Finding]
) -> Iterator[tuple[str, ...]]:
    """Code, severity, counts and title of each code of one side."""
    counts = tally(shown, _kind)
    groups: defaultdict[tuple[int, str], list[Finding]] = defaultdict(list)
    for finding in verdict.of(side).findings:
        groups[_rank(finding), finding.code].append(finding)
    for (_, code), same in sorted(groups.items()):
        blocking = any(finding.blocking for finding in same)
        severity = f"{same[0].severity}, blocking" if blocking else same[0].severity.value
        count = sum(finding.count for finding in same)
        numbers = (f"{count:,}", f"{counts[_kind(same[0])]:,}")
        yield code, severity, *numbers, _title(same[0])


def _title(finding: Finding) -> str:
    """The title of a code; the name of one that is not in the catalogue."""
    try:
        return entry(finding.code).title
    except KeyError:
        return visible(finding.name)


def _kind(finding: Finding) -> tuple[str, Severity, str]:
    return finding.side, finding.severity, finding.code


def closing(verdict: Verdict, width: int | None = None) -> Text:
    """The last line: the verdict, if there is a task, and the number of findings.

    Args:
        verdict: the verdict.
        width: width in cells to which it is wrapped; None for a single line.

    Examples:
        >>> closing(Verdict("seedev-binary", "plan", passed=True)).plain
        'pass: no findings (seedev-binary, profile plan)'
    """
    found = _found(verdict.of(verdict.side))
    others = [side for side in verdict.sides if side != verdict.side]
    found += "".join(f"; {visible(side)}: {_found(verdict.of(side))}" for side in others)
    if not verdict.task:
        return Text(found)
    found += _read(verdict)
    tail = f": {found} ({visible(verdict.task)}, profile {visible(verdict.profile)})"
    tail = hanging(tail, width, len(verdict.outcome))
    return Text(verdict.outcome, style=OUTCOMES[verdict.outcome]).append(tail, "not bold default")


def _read(verdict: Verdict) -> str:
    """What was read of what passes: nothing is impossible to miss."""
    if verdict.documents is None or verdict.records is None or verdict.outcome != "pass":
        return ""
    if not verdict.documents and not verdict.records:
        return "; NOTHING WAS READ: 0 documents, 0 records"
    read = f"; {_number(verdict.documents, 'document')}, {_number(verdict.records, 'record')} read"
    return read + (f"; {visible(verdict.compared)}" if verdict.compared else "")


def _found(verdict: Verdict) -> str:
    """The number of findings of one side, by severity, and of files with findings."""
    files = f" in {_number(verdict.files, 'file')}" if verdict.files else ""
    return counted(verdict) + files


def counted(verdict: Verdict) -> str:
    """The number of findings by severity.

    Examples:
        >>> counted(Verdict("seedev-binary", "plan", passed=True))
        'no findings'
    """
    counts = [_number(count, name) for name, count in verdict.by_severity.items() if count]
    return ", ".join(counts) or "no findings"


def _number(count: int, name: str) -> str:
    return f"{count:,} {name if count == 1 or name == 'info' else plural(name)}"
