"""The output formats of a verdict: text, one line per finding, JSON, SARIF, GitHub and JUnit.

Text is like the messages of a compiler.
"""

from __future__ import annotations

import json as json_library
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import msgspec
from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

import hlteval
from hlteval.findings import (
    SUBMISSION,
    Excerpt,
    Finding,
    Findings,
    Further,
    Item,
    Severity,
    Span,
    catalogue,
    entry,
)
from hlteval.findings.counts import count_of
from hlteval.findings.sequence import lists_by_key, places_of, severities, tally
from hlteval.reports import terminal
from hlteval.reports.tables import FIXED, Column, Table, Tables
from hlteval.reports.terminal import Formats, Prose, indent_wrapped, isolate_bidi, visible
from hlteval.results.verdict import Outcome, Output, OverVerdict, Verdict, head

#: Default maximum number of findings shown per file, and of one code in the whole run.
MAX_FINDINGS = 20
#: How many times the maximum of a file is shown in the whole run.
FILES = 5
#: How many codes share the maximum of a file.
CODES = 4

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
#: The styles of the word that a verdict begins with.
OUTCOMES: Mapping[Outcome, str]
OUTCOMES = {"pass": "bold green", "fail": "bold red", "undecided": "bold yellow"}
_RANKS = {severity: severity.rank for severity in Severity}
_GUTTER = "blue"
#: The help of findings that are only counted since there are too many to show.
_MORE = "correct the others first; --max-findings 0 shows all"


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


class _Report(msgspec.Struct, frozen=True):
    verdict: Verdict
    max_findings: int

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        verdict, width, wrapped = self.verdict, options.max_width, console.is_terminal
        sides = (verdict.of(side).findings for side in verdict.sides)
        findings = [each for side in sides for each in sorted(side, key=_rank)]
        shown = _select(findings, self.max_findings)
        for side, numbers in groupby(range(len(findings)), lambda number: findings[number].side):
            if side != verdict.side:
                path = verdict.paths.get(side)
                heading = f"{side}: {isolate_bidi(path)}" if path else side
                yield Text(f"{heading}\n", style="bold underline")
            for _, group in groupby(
                numbers, lambda number: (findings[number].severity, findings[number].file)
            ):
                same = list(group)
                selected = [findings[number] for number in same if number in shown]
                for finding in selected:
                    yield block(finding, width, wrapped=wrapped)
                if selected:
                    yield from _remainder([findings[number] for number in same], selected)
        seen = (findings[number] for number in sorted(shown))
        yield from _summary(verdict, [each for each in seen if not each.only_counts])
        yield closing_line(verdict, width if wrapped else None)


def _rank(finding: Finding) -> int:
    return _RANKS[finding.severity]


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
    # The whole run has room for the first finding of each code before the second of any.
    totals: Counter[str] = Counter()
    ranked = []
    for place, number in enumerate(candidates):
        code = findings[number].code
        totals[code] += 1
        if totals[code] <= limit:
            ranked.append((totals[code] > 1, place, number))
    return {number for _, _, number in sorted(ranked)[: FILES * limit]}


def with_maximum(verdict: Verdict, max_findings: int) -> Verdict:
    """Return a verdict whose findings are those of `text`; the others are one per code and file.

    Counts are those of all findings.

    Args:
        verdict: the verdict.
        max_findings: maximum number of findings per file; 0 for all.

    Examples:
        >>> from hlteval.findings import finding
        >>> found = [finding("SRC104", file="runs", what=str(number)) for number in range(9)]
        >>> verdict = Verdict("seedev-binary", "plan", passed=False, findings=Findings(found))
        >>> [each.count for each in with_maximum(verdict, 8).findings]
        [1, 1, 7]
    """
    findings, sides = verdict.findings, list(verdict.sides)
    order = sorted(
        range(len(findings)),
        key=lambda number: (sides.index(findings[number].side), _rank(findings[number])),
    )
    shown = {order[place] for place in _select([findings[each] for each in order], max_findings)}
    hidden = lists_by_key(
        ((finding.side, finding.file, finding.code, finding.severity), finding)
        for number, finding in enumerate(findings)
        if number not in shown
    )
    kept: list[Finding] = []
    for number, finding in enumerate(findings):
        if number in shown:
            kept.append(finding)
        elif alike := hidden.pop((finding.side, finding.file, finding.code, finding.severity), ()):
            further = Further(tuple(place for each in alike for place in places_of(each)))
            kept.append(
                msgspec.structs.replace(
                    finding,
                    message=f"{len(further.places):,} more: {_title(finding)}",
                    help=_MORE,
                    excerpt=None,
                    record=None,
                    further=further,
                )
            )
    return msgspec.structs.replace(verdict, findings=Findings(kept))


def _remainder(findings: Sequence[Finding], selected: Sequence[Finding]) -> Iterator[Text]:
    """The number of findings of one file that are not shown, by code."""
    hidden = tally(findings, attrgetter("code"))
    hidden.subtract(tally(selected, attrgetter("code")))
    where = "in this file" if findings[0].file else f"for the {findings[0].side}"
    lines = [f"… {count:,} more {code} {where}\n" for code, count in sorted((+hidden).items())]
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
    message = indent_wrapped(f": {isolate_bidi(finding.message)}", edge, len(head))
    result.append(head, STYLES[finding.severity]).append(f"{message}\n", "bold")
    if finding.file:
        place = f"{isolate_bidi(finding.file)}{finding.position}"
        result.append(f"{margin}--> ", _GUTTER).append(f"{place}\n")
    if finding.span and finding.excerpt:
        _append_excerpt(result, finding.excerpt, finding.span, STYLES[finding.severity], width)
    record = "" if finding.span and finding.excerpt else finding.record
    for label, text in (("record", record), ("help", finding.help), ("rule", finding.clause)):
        if text:
            head = f"{margin} = {label}: "
            body = indent_wrapped(isolate_bidi(text), edge, len(head), " " * len(head))
            result.append(head, _GUTTER).append(f"{body}\n")
    return result


def _append_excerpt(result: Text, excerpt: Excerpt, span: Span, style: str, width: int) -> None:
    number = str(span.line)
    line = terminal.draw(excerpt, span, width - len(number) - 3)
    margin = " " * len(number)
    result.append(f"{margin} |\n{number} |", _GUTTER)
    if line.pieces:
        result.append(" ")
    for literal, run in groupby(line.pieces, lambda piece: piece.literal):
        result.append("".join(piece.text for piece in run), None if literal else "dim")
    result.append(f"\n{margin} | ", _GUTTER)
    result.append(" " * line.column).append("^" * line.width, style).append("\n")


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
        only_counted = sum(finding.count for finding in verdict.findings if finding.only_counts)
        option = "--max-findings 0" if hidden > only_counted else "--max-per-code 0"
        findings = count_of(total, "finding")
        # Only `validate` has these options, and a verdict about a task.
        way = f"use {option} to show all" if verdict.task else "--format json or validate show all"
        yield Prose(f"{hidden:,} of {findings} not shown; {way}", "dim")
    yield Text()


def _summary_rows(verdict: Verdict, side: str, shown: Sequence[Finding]) -> Iterator[list[str]]:
    """Code, severity, counts and title of each code of one side."""
    counts = tally(shown, _kind)
    groups = lists_by_key(((_rank(item), item.code), item) for item in verdict.of(side).findings)
    for (_, code), same in sorted(groups.items()):
        blocking = any(finding.blocking for finding in same)
        severity = f"{same[0].severity}, blocking" if blocking else same[0].severity.value
        count = sum(finding.count for finding in same)
        shown_of_code = f"{counts[_kind(same[0])]:,}"
        yield [code, severity, f"{count:,}", shown_of_code, visible(_title(same[0]))]


def _title(finding: Finding) -> str:
    try:
        return entry(finding.code).title
    except KeyError:  # a code that is not in the catalogue
        return finding.name


def _kind(finding: Finding) -> tuple[str, Severity, str]:
    return finding.side, finding.severity, finding.code


def closing_line(verdict: Verdict, width: int | None = None) -> Text:
    """The last line: the verdict, if there is a task, and the number of findings.

    Args:
        verdict: the verdict.
        width: width in cells to which it is wrapped; None for a single line.

    Examples:
        >>> closing_line(Verdict("seedev-binary", "plan", passed=True)).plain
        'pass: no findings (seedev-binary, profile plan)'
    """
    numbers = _numbers(verdict.of(verdict.side))
    others = [side for side in verdict.sides if side != verdict.side]
    numbers += "".join(f"; {visible(side)}: {_numbers(verdict.of(side))}" for side in others)
    if not verdict.task:
        return Text(numbers)
    documents, records = verdict.documents, verdict.records
    if documents is not None and records is not None and verdict.outcome == "pass":
        if documents or records:
            numbers += f"; {count_of(documents, 'document')}, {count_of(records, 'record')} read"
            numbers += f"; {visible(verdict.compared)}" if verdict.compared else ""
        else:  # which must be impossible to miss
            numbers += "; NOTHING WAS READ: 0 documents, 0 records"
    tail = f": {numbers} ({visible(verdict.task)}, profile {visible(verdict.profile)})"
    tail = indent_wrapped(tail, width, len(verdict.outcome))
    return Text(verdict.outcome, style=OUTCOMES[verdict.outcome]).append(tail, "not bold default")


def _numbers(verdict: Verdict) -> str:
    """The number of findings of one side, by severity, and of files with findings."""
    files = f" in {count_of(verdict.files, 'file')}" if verdict.files else ""
    return (severities(verdict.findings) or "no findings") + files


def github(verdict: Verdict) -> str:
    """One command per finding, with file, line and columns.

    Examples:
        >>> github(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    return "".join(map(_command, verdict.findings))


def _command(finding: Finding) -> str:
    side = "" if finding.side == SUBMISSION else f" ({finding.side})"
    properties = {"title": f"{finding.code} {finding.name}{side}"}
    if finding.file:
        properties = {"file": finding.file} | properties
    if finding.span:
        span = finding.span
        numbers = {"line": span.line, "col": span.column, "endColumn": span.end_column}
        properties |= {name: str(number) for name, number in numbers.items()}
    pairs = ",".join(
        f"{name}={_escape(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
    )
    text = "\n".join(filter(None, [finding.message, finding.help]))
    command = finding.severity.value.replace("info", "notice")
    return f"::{command} {pairs}::{_escape(text)}\n"


def _escape(text: str) -> str:
    """The text of a command on one line; a percent sign introduces an escape."""
    return "%0A".join(visible(line) for line in text.replace("%", "%25").split("\n"))


#: Where each line of JSON begins.
_BEGIN = re.compile(rb"^\{", re.M)


def concise(verdict: Verdict) -> str:
    """One line per finding: `path:line:column: error[CODE] message`.

    Examples:
        >>> concise(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    lines = []
    for finding in verdict.findings:
        place = f"{visible(finding.file)}{finding.position}: " if finding.file else ""
        side = "" if finding.side == SUBMISSION else f"{visible(finding.side)}: "
        problem = f"{side}{visible(finding.message)}"
        lines.append(f"{place}{finding.severity}[{finding.code}] {problem}\n")
    return "".join(lines)


def json(result: Verdict | Output, *_: object) -> str:
    """A result as one JSON object; of a verdict, or of what has one, with a finding per line.

    Examples:
        >>> json(Verdict("seedev-binary", "plan", passed=True))[:66]
        '{"schema":"verdict","version":1,"task":"seedev-binary","profile":"'
        >>> from hlteval.results.verdict import Refusal
        >>> json(Refusal(Verdict("hub4", "plan", False), "no set", "add it"))[:66]
        '{"schema":"refusal","version":1,"task":"hub4","profile":"plan","ve'
    """
    if isinstance(result, Verdict):
        verdict, whole = result, None
    elif isinstance(result, OverVerdict):
        verdict, whole = result.verdict, result
    else:
        return terminal.json_text(result.to_dict())
    first = terminal.json_text(verdict.json_head(whole)).removesuffix("}\n")
    # Encoded findings contain no line break, so a comma before each one makes the lines an array.
    lines = _lines(verdict.findings)
    if lines:
        lines = b"\n" + lines.removesuffix(b"\n").replace(b"\n", b",\n") + b"\n"
    return f'{first},"findings":[{terminal.escape_json(lines).decode()}]}}\n'


def jsonl(verdict: Verdict) -> str:
    """One object per finding and line, which begins with its schema and version.

    Examples:
        >>> jsonl(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    begin = msgspec.json.encode(head("finding")).removesuffix(b"}") + b","
    return terminal.escape_json(_BEGIN.sub(begin, _lines(verdict.findings))).decode()


def _lines(findings: Sequence[Finding]) -> bytes:
    items = list(map(Item.of, findings))
    encoder = msgspec.json.Encoder()
    try:
        return encoder.encode_lines(items)
    except UnicodeEncodeError:  # a lone surrogate, as in a file name that is not UTF-8
        return encoder.encode_lines(
            msgspec.structs.replace(item, **terminal.printable(msgspec.structs.asdict(item)))
            for item in items
        )


def junit(verdict: Verdict) -> str:
    """One suite per side, one test case per file; what concerns no file is a case of the side.

    A file with errors of the side that is judged is a failed test, which lists all of them; other
    findings are output of the case.

    Examples:
        >>> 'failures="0"' in junit(Verdict("seedev-binary", "plan", passed=True))
        True
    """
    root = Element("testsuites", {"name": f"hlteval {verdict.task}".strip()})
    for side in dict.fromkeys([verdict.side, *verdict.sides]):
        path = verdict.paths.get(side, "")
        name = f"{side}: {path}" if path else side
        files = verdict.files_judged if side == verdict.side else ()
        cases: dict[str, list[Finding]] = {file: [] for file in files}
        for finding in verdict.findings:
            if finding.side == side:
                cases.setdefault(finding.file or "", []).append(finding)
        suite = SubElement(root, "testsuite", {"name": visible(name)})
        for file, findings in sorted(cases.items()) or [("", [])]:
            _add_case(suite, verdict, file or name, findings)
    for element in (root, *root):
        tests, failures = (len(list(element.iter(tag))) for tag in ("testcase", "failure"))
        counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": 0, "time": 0}
        element.attrib |= {name: str(number) for name, number in counts.items()}
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _add_case(suite: Element, verdict: Verdict, name: str, findings: Sequence[Finding]) -> None:
    """A test: errors of what is judged fail it; without a verdict those of any side."""
    classname = f"hlteval.{verdict.task}".strip(".")
    case = SubElement(suite, "testcase", classname=classname, name=visible(name), time="0")
    failures, rest = list[Finding](), list[Finding]()
    for finding in findings:
        judged = finding.side == verdict.side or not verdict.decided
        (failures if judged and finding.severity is Severity.ERROR else rest).append(finding)
    if failures:
        message = count_of(sum(finding.count or 1 for finding in failures), "error")
        kinds = ",".join(sorted({finding.code for finding in failures}))
        failure = SubElement(case, "failure", type=kinds, message=message)
        failure.text = "\n".join(map(_paragraph, failures))
    if rest:
        SubElement(case, "system-out").text = "\n".join(map(_paragraph, rest))


def _paragraph(finding: Finding) -> str:
    """A finding with its place, in a few lines."""
    place = finding.position.removeprefix(":")
    head = f"{place}: " if place else ""
    lines = [f"{head}{finding.severity}[{finding.code}] {finding.message}"]
    lines += [f"  help: {finding.help}"] if finding.help else []
    lines += [f"  rule: {finding.clause}"] if finding.clause else []
    return "\n".join(map(visible, lines))


def sarif(verdict: Verdict) -> str:
    """One log with one run, whose rules are the codes found and whose results are the findings.

    Columns are in code points, as declared by `columnKind`, and ends are exclusive.

    Examples:
        >>> log = json_library.loads(sarif(Verdict("seedev-binary", "plan", passed=True)))
        >>> log["version"], log["runs"][0]["results"]
        ('2.1.0', [])
    """
    rules = {code: index for index, code in enumerate(verdict.by_code)}
    driver = {
        "name": "hlteval",
        "semanticVersion": hlteval.__version__,
        "rules": [_rule(code) for code in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": {"task": verdict.task, "profile": verdict.profile, "passed": verdict.passed},
        "results": [_result(finding, rules[finding.code]) for finding in verdict.findings],
    }
    return json_library.dumps({"version": "2.1.0", "runs": [run]}, separators=(",", ":")) + "\n"


def _rule(code: str) -> dict[str, object]:
    """The catalogue entry of a code as a SARIF rule; only the code if it has no entry."""
    entry = catalogue().get(code)
    if entry is None:
        return {"id": code}
    texts = (entry.why, f"{entry.fix}\n\n{entry.clause}")
    parts = ([" ".join(part.split()) for part in text.strip().split("\n\n")] for text in texts)
    why, fix = map("\n\n".join, parts)
    return {
        "id": code,
        "name": entry.name,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": why},
        "help": {"text": fix},
        "defaultConfiguration": {"level": entry.severity.value.replace("info", "note")},
    }


def _result(finding: Finding, rule: int) -> dict[str, object]:
    optional = {"help": finding.help, "clause": finding.clause, "record": finding.record}
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity.value.replace("info", "note"),
        "message": {"text": finding.message},
        "properties": {"blocking": finding.blocking, "side": finding.side}
        | {name: value for name, value in optional.items() if value},
    }
    if finding.further:
        result["occurrenceCount"] = finding.count
    if finding.file:
        # A path is not a URI: bytes that a URI cannot contain are percent-encoded.
        uri = quote(finding.file.encode("utf-8", "surrogateescape"), safe="/")
        location: dict[str, object] = {"artifactLocation": {"uri": uri}}
        if span := finding.span:
            region = {"startLine": span.line, "startColumn": span.column}
            location["region"] = region | {"endColumn": span.end_column}
        result["locations"] = [{"physicalLocation": location}]
    return result


#: The output formats by name.
_RENDERERS: tuple[Callable[[Verdict], RenderableType], ...]
_RENDERERS = (text, concise, json, jsonl, sarif, github, junit)
FORMATS: Formats[[Verdict]] = {render.__name__: render for render in _RENDERERS}


def render(verdict: Verdict, form: str = "text", max_findings: int | None = None) -> RenderableType:
    """A verdict in one of the output formats.

    Args:
        verdict: the verdict.
        form: name of the format, a key of `FORMATS`.
        max_findings: maximum number of findings per file; 0 for all. The default is
            `MAX_FINDINGS` in `text`, and all in other formats.

    Raises:
        KeyError: for an unknown format.
    """
    if form == "text":
        return text(verdict, MAX_FINDINGS if max_findings is None else max_findings)
    return FORMATS[form](with_maximum(verdict, max_findings) if max_findings else verdict)
