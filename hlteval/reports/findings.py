"""The output formats of a verdict: text, one line per finding, JSON, SARIF, GitHub and JUnit."""

from __future__ import annotations

import json as json_library
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import msgspec
from rich.console import RenderableType

import hlteval
from hlteval.findings import SUBMISSION, Finding, Item, Severity, catalogue
from hlteval.reports.terminal import Formats, escape_json, json_text, printable, visible
from hlteval.reports.text import MAX_FINDINGS, text
from hlteval.results.verdict import Output, OverVerdict, Verdict, head

#: The workflow commands by severity.
COMMANDS: Mapping[Severity, str] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
)


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
    return f"::{COMMANDS[finding.severity]} {pairs}::{_escape(text)}\n"


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
        >>> json(Refusal(Verdict("hub4", "plan", False), "no set", "add it"))[:66]
        '{"schema":"refusal","version":1,"task":"hub4","profile":"plan","ve'
    """
    if isinstance(result, Verdict):
        verdict, whole = result, None
    elif isinstance(result, OverVerdict):
        verdict, whole = result.verdict, result
    else:
        return json_text(result.to_dict())
    first = json_text(verdict.json_head(whole)).removesuffix("}\n")
    # Encoded findings contain no line break, so a comma before each one makes the lines an array.
    lines = _lines(verdict.findings)
    if lines:
        lines = b"\n" + lines.removesuffix(b"\n").replace(b"\n", b",\n") + b"\n"
    return f'{first},"findings":[{escape_json(lines).decode()}]}}\n'


def jsonl(verdict: Verdict) -> str:
    """One object per finding and line, which begins with its schema and version.

    Examples:
        >>> jsonl(Verdict("seedev-binary", "plan", passed=True))
        ''
    """
    begin = msgspec.json.encode(head("finding")).removesuffix(b"}") + b","
    return escape_json(_BEGIN.sub(begin, _lines(verdict.findings))).decode()


def _lines(findings: Sequence[Finding]) -> bytes:
    items = list(map(Item.of, findings))
    encoder = msgspec.json.Encoder()
    try:
        return encoder.encode_lines(items)
    except UnicodeEncodeError:  # a lone surrogate, as in a file name that is not UTF-8
        return encoder.encode_lines(
            msgspec.structs.replace(item, **printable(msgspec.structs.asdict(item)))
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
    every: list[Sequence[Finding]] = []
    for side in dict.fromkeys([verdict.side, *verdict.sides]):
        path = verdict.paths.get(side, "")
        name = f"{side}: {path}" if path else side
        files = verdict.files_judged if side == verdict.side else ()
        cases: dict[str, list[Finding]] = {file: [] for file in files}
        for finding in verdict.findings:
            if finding.side == side:
                cases.setdefault(finding.file or "", []).append(finding)
        cases = dict(sorted(cases.items())) or {"": []}
        every += cases.values()
        counts = _counts(verdict, [*cases.values()])
        suite = SubElement(root, "testsuite", {"name": visible(name), **counts})
        for file, findings in cases.items():
            _add_case(suite, verdict, file or name, findings)
    root.attrib |= _counts(verdict, every)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _failures(verdict: Verdict, findings: Sequence[Finding]) -> list[Finding]:
    """The findings that fail a test: errors of what is judged; of any side without a verdict."""
    return [
        finding
        for finding in findings
        if finding.severity is Severity.ERROR
        and (finding.side == verdict.side or not verdict.decided)
    ]


def _counts(verdict: Verdict, cases: Sequence[Sequence[Finding]]) -> dict[str, str]:
    failures = sum(bool(_failures(verdict, findings)) for findings in cases)
    counts = {"tests": len(cases), "failures": failures, "errors": 0, "skipped": 0, "time": 0}
    return {name: str(number) for name, number in counts.items()}


def _add_case(suite: Element, verdict: Verdict, name: str, findings: Sequence[Finding]) -> None:
    classname = f"hlteval.{verdict.task}".strip(".")
    case = SubElement(suite, "testcase", classname=classname, name=visible(name), time="0")
    failures = _failures(verdict, findings)
    if failures:
        count = sum(finding.count or 1 for finding in failures)
        message = f"{count:,} error{'s' * (count > 1)}"
        kinds = ",".join(sorted({finding.code for finding in failures}))
        failure = SubElement(case, "failure", type=kinds, message=message)
        failure.text = "\n".join(map(_paragraph, failures))
    fatal = {id(finding) for finding in failures}
    rest = [finding for finding in findings if id(finding) not in fatal]
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


#: The SARIF levels by severity.
LEVELS: Mapping[Severity, str] = MappingProxyType(
    {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
)


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
        "defaultConfiguration": {"level": LEVELS[entry.severity]},
    }


def _result(finding: Finding, rule: int) -> dict[str, object]:
    optional = {"help": finding.help, "clause": finding.clause, "record": finding.record}
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
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
FORMATS: Formats[[Verdict]] = MappingProxyType(
    {
        "text": text,
        "concise": concise,
        "json": json,
        "jsonl": jsonl,
        "sarif": sarif,
        "github": github,
        "junit": junit,
    }
)


def render(
    verdict: Verdict, form: str = "text", max_findings: int = MAX_FINDINGS
) -> RenderableType:
    """A verdict in one of the output formats.

    Args:
        verdict: the verdict.
        form: name of the format, a key of `FORMATS`.
        max_findings: maximum number of findings per file in `text`; 0 for all.

    Raises:
        KeyError: for an unknown format.
    """
    return text(verdict, max_findings) if form == "text" else FORMATS[form](verdict)
