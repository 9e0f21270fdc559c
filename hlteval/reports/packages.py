"""The output formats of archives, conversions, defaults, corrected copies and verifications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings import Findings
from hlteval.findings.counts import count_of
from hlteval.reports.findings import json as result_json
from hlteval.reports.findings import render
from hlteval.reports.tables import Column, Table, Tables
from hlteval.reports.terminal import Formats, Prose, isolate_bidi, json_text, visible
from hlteval.results.config import TAKEN, Config
from hlteval.results.packages import Conversion, Detection, Inspection, PackedArchive
from hlteval.results.verdict import Fix, FixedCopy, Verdict, Verification, VerificationOutcome, head

#: Default maximum number of members that are shown as text.
MAX_MEMBERS = 20
_KINDS: Mapping[str, str] = {"zip": "zip archive", "tgz": "gzipped tar archive", "stdin": "stream"}


def packed_text(packed: PackedArchive) -> RenderableType:
    """The findings, and a line about the archive."""
    line = Text("nothing was written: the submission does not validate", style="bold red")
    if packed.path is not None:
        size = f"{count_of(len(packed.members), 'file')}, {count_of(packed.size, 'byte')}"
        line = Text(f"packed {visible(packed.path)}: {size}, SHA-256 {packed.sha256}")
    return Group(render(packed.verdict), line)


def detection_text(found: Detection) -> RenderableType:
    """The format, the formats that accept the source, and likely settings."""
    line = f"{visible(found.path)}: {found.format}, as {found.reason}"
    parts: list[RenderableType] = [Prose(line if found.format else visible(found.reason))]
    if found.candidates:
        columns = (Column("format", "name"), Column("title", "prose"), Column("outcome", "prose"))
        first = "chosen" if found.format else "possible"
        rows = [(each.format, each.title, each.reason or first) for each in found.candidates]
        parts += [Text(), Tables([Table(columns, rows)])]
    if found.settings:
        columns = (Column("setting", "name"), Column("value", "name"), Column("reason", "prose"))
        settings = [(each.name, each.value, each.reason) for each in found.settings]
        parts += [Text(), Tables([Table(columns, settings)])]
    return Group(*parts)


#: The output formats of the format of a file by name.
DETECTIONS: Formats[[Detection]] = {"text": detection_text, "json": result_json}


#: The output formats of a packed archive by name.
PACKED: Formats[[PackedArchive]] = {"text": packed_text, "json": result_json}


def inspection_text(inspection: Inspection, limit: int = MAX_MEMBERS) -> RenderableType:
    """The kind of the archive, its members, and the findings.

    Args:
        inspection: the inspection.
        limit: maximum number of members that are shown; 0 for all.
    """
    parts: list[RenderableType] = [Prose(line) for line in _head(inspection)]
    if inspection.members:
        shown = inspection.members[: limit or None]
        columns = (Column("bytes"), Column("type", "name"), Column("member", "name"))
        rows = [(f"{item.size:,}", item.type, isolate_bidi(item.name)) for item in shown]
        parts += [Text(), Tables([Table(columns, rows)])]
        if rest := len(inspection.members) - len(shown):
            parts.append(Prose(f"{rest:,} more; use --max-members 0 to show all"))
    parts.append(Text())
    verdict = Verdict("", "", inspection.passed, inspection.findings)
    parts += [render(verdict)] if inspection.findings else []
    if inspection.readable:
        likely, path = inspection.likeliest, visible(inspection.path)
        task = likely[0] if len(likely) == 1 else "TASK"
        parts.append(Prose(f"to check its content: hlteval validate {task} {path}"))
    else:
        parts.append(Prose("rejected: nothing of it is read"))
    return Group(*parts)


def _head(inspection: Inspection) -> Iterator[str]:
    kind = _KINDS.get(inspection.kind, inspection.kind)
    files = count_of(sum(member.type == "file" for member in inspection.members), "file")
    size = "" if inspection.size is None else f", {count_of(inspection.size, 'byte')}"
    unpacked = count_of(inspection.unpacked, "byte")
    yield f"{visible(inspection.path)}: {kind}{size}; {files}, {unpacked}"
    if inspection.sha256:
        yield f"SHA-256 {inspection.sha256}"
    if not inspection.tasks:
        yield "task: unknown; neither name nor files are those of a submission"
    for guess in inspection.tasks:
        yield f"task: {guess.task} ({'; '.join(guess.reasons)})"
    if inspection.name:
        parts = (f"{name} {visible(value)}" for name, value in inspection.name.items())
        yield f"name: {', '.join(parts)}"


def conversion_text(conversion: Conversion) -> RenderableType:
    """The findings; nothing if there are none."""
    return render(conversion.verdict) if conversion.findings else ""


#: The output formats by name.
CONVERSION_FORMATS: Formats[[Conversion]] = {"text": conversion_text, "json": result_json}


_WIDTH = max(map(len, TAKEN))
NOTHING = "no file of defaults applies"


def text(config: Config | None) -> RenderableType:
    """The path of the file, and a line for each default."""
    if config is None:
        return Text(NOTHING)
    width = max((len(name) for name, _ in config.items()), default=0)
    lines = [config.path]
    for name, value in config.items():
        if isinstance(value, bool):
            text = "yes" if value else "no"
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        lines.append(f"  {name:<{width}}  {text}")
    if commands := _commands(config):
        lines.append("taken by")
        lines += [f"  {name:<{_WIDTH}}  {', '.join(names)}" for name, names in commands.items()]
    return Text("\n".join(map(visible, lines)))


def _commands(config: Config) -> dict[str, list[str]]:
    """The settings that each command takes, without commands that take none."""
    return {command: names for command in TAKEN if (names := config.taken_by(command))}


def json(config: Config | None) -> str:
    r"""One object with the file, its defaults and the findings about it.

    Examples:
        >>> json(None)
        '{"schema":"defaults","version":2,"file":null,"defaults":{},"commands":{},"findings":[]}\n'
    """
    members: dict[str, object] = {"file": None, "defaults": {}, "commands": {}, "findings": []}
    if config:
        findings = Findings(config.findings).to_dict()
        members = {"file": config.path, "defaults": msgspec.to_builtins(config.values)}
        members |= {"commands": _commands(config), "findings": findings}
    return json_text(head("defaults") | members)


#: The output formats by name.
FORMATS: Formats[[Config | None]] = {"text": text, "json": json}


#: Maximum number of lines that are named for a file and code.
_SHOWN = 5


def fixes_text(copy: FixedCopy) -> Text:
    r"""The corrections by file and code, and the findings that are left, a line each.

    Examples:
        >>> from hlteval.results.verdict import Verdict
        >>> fixes_text(FixedCopy(path=None, verdict=Verdict("hub4", "plan", passed=True))).plain
        'nothing to fix; no copy was written\n'
    """
    return Text("\n".join([*_lines(copy), ""]))


def _lines(copy: FixedCopy) -> Iterator[str]:
    if not copy.readable:
        yield "no copy was written, since the submission cannot be read"
        return
    for line in copy.changes:
        yield "\t".join(map(visible, line.split("\t")))
    for (file, code), group in groupby(sorted(copy.fixes, key=_group), _group):
        fixes = list(group)
        numbers = [str(fix.line) for fix in fixes if fix.line is not None]
        rest = len(numbers) - _SHOWN
        lines = f":{','.join(numbers[:_SHOWN])}" if numbers else ""
        lines += f" and {count_of(rest, 'more line')}" if rest > 0 else ""
        many = sum(fix.count for fix in fixes if fix.line is None)
        times = f" ({many:,} places)" if many > 1 else ""
        yield f"fixed[{code}]: {isolate_bidi(file)}{lines}: {fixes[0].title}{times}"
    for item in copy.unfixed:
        yield f"not fixed[{item.code}]: {isolate_bidi(item.file or '')}: {item.reason}"
    count = sum(fix.count for fix in copy.fixes)
    if count and copy.path is not None:
        yield f"{count_of(count, 'fix')} in {isolate_bidi(copy.path)}"
    elif count:
        yield f"{count_of(count, 'fix')} with --fix; nothing was written"
    else:
        yield f"{'nothing fixed' if copy.unfixed else 'nothing to fix'}; no copy was written"


def _group(fix: Fix) -> tuple[str, str]:
    return fix.file or "", fix.code


_STYLES: Mapping[VerificationOutcome, str]
_STYLES = {"same": "green", "differs": "bold red", "not checked": "yellow"}


def verification_text(verification: Verification) -> RenderableType:
    """A line per part, a line per number that differs, and a summary."""
    numbers = [part for part in verification.numbers if part.outcome != "same"]
    parts = [*verification.parts, *numbers]
    width = max(len(visible(part.name)) for part in parts)
    lines = []
    for part in parts:
        details = []
        if part.outcome == "differs" and part.expected != part.found:
            details = [f"expected {_value(part.expected)}", f"found {_value(part.found)}"]
        elif part.expected is not None:
            details = [_value(part.expected)]
        details += [part.reason] if part.reason else []
        text = f"  {visible(part.name).ljust(width)}  {', '.join(details)}".rstrip()
        outcome = Text(part.outcome.ljust(len("not checked")), style=_STYLES[part.outcome])
        lines.append(outcome.append(text, style="not bold default"))
    return Group(*lines, _summary(verification))


def _value(value: str | None) -> str:
    return "nothing" if value is None else visible(value)


def _summary(verification: Verification) -> Text:
    names = dict.fromkeys(visible(part.name) for part in verification.differing)
    if names:
        return Text(f"differs: {', '.join(names)}", style="bold red")
    parts = Counter(part.outcome for part in verification.parts)
    numbers = sum(part.outcome == "same" for part in verification.numbers)
    also = f" and {count_of(numbers, 'number')}" if numbers else ""
    rest = f", {parts['not checked']} not checked" if parts["not checked"] else ""
    return Text(f"same: {count_of(parts['same'], 'part')}{also}{rest}", style="bold green")


#: The output formats by name.
VERIFICATION_FORMATS: Formats[[Verification]] = {"text": verification_text, "json": result_json}
