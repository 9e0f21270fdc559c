"""The output formats of packed and inspected archives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings import Item
from hlteval.findings.counts import counted
from hlteval.reports.findings import json as findings_json
from hlteval.reports.findings import render
from hlteval.reports.tables import Column, Table, Tables
from hlteval.reports.terminal import Prose, escaped, isolate_bidi, printable, visible
from hlteval.results.config import TAKEN, Config
from hlteval.results.packages import Conversion, Inspection, PackedArchive
from hlteval.results.verdict import Fix, FixedCopy, Part, Verdict, Verification, head
from hlteval.results.verdict import VerificationOutcome as Outcome

MAX_MEMBERS = 20
"""Default maximum number of members that are shown as text."""
_KINDS: Mapping[str, str] = MappingProxyType(
    {"zip": "zip archive", "tgz": "gzipped tar archive", "stdin": "stream"}
)


def packed_text(packed: PackedArchive) -> RenderableType:
    """The findings, and a line about the archive."""
    findings = render(packed.verdict, "text")
    if packed.path is None:
        line = Text("nothing was written: the submission does not validate", style="bold red")
        return Group(findings, line)
    count, path = counted(len(packed.members), "file"), visible(packed.path)
    line = Text(f"packed {path}: {count}, {counted(packed.size, 'byte')}, SHA-256 {packed.sha256}")
    return Group(findings, line)


def packed_json(packed: PackedArchive) -> str:
    """The verdict over the archive as JSON, with its path, size, digest and members."""
    members = msgspec.to_builtins(packed.members)
    more: dict[str, Any] = {"archive": packed.path, "size": packed.size, "sha256": packed.sha256}
    return findings_json(packed.verdict, schema="package", **more, members=members)


PACKED: Mapping[str, Callable[[PackedArchive], str | RenderableType]] = MappingProxyType(
    {"text": packed_text, "json": packed_json}
)
"""The output formats of a packed archive by name."""


def inspection_text(inspection: Inspection, limit: int = MAX_MEMBERS) -> RenderableType:
    """What the archive is, its members, and the findings.

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
    found = Verdict("", "", inspection.passed, inspection.findings)
    parts += [render(found, "text")] if inspection.findings else []
    parts.append(Prose(_conclusion(inspection)))
    return Group(*parts)


def _head(inspection: Inspection) -> Iterator[str]:
    kind = _KINDS.get(inspection.kind, inspection.kind)
    files = counted(sum(member.type == "file" for member in inspection.members), "file")
    size = "" if inspection.size is None else f", {counted(inspection.size, 'byte')}"
    unpacked = counted(inspection.unpacked, "byte")
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


def _conclusion(inspection: Inspection) -> str:
    if not inspection.readable:
        return "rejected: nothing of it is read"
    likely, path = inspection.likeliest, visible(inspection.path)
    task = likely[0] if len(likely) == 1 else "TASK"
    return f"to check its content: hlteval validate {task} {path}"


def inspection_json(inspection: Inspection) -> str:
    """The inspection as one JSON object."""
    built = printable(inspection.to_dict())
    return escaped(msgspec.json.encode(built)).decode() + "\n"


def conversion_text(conversion: Conversion) -> str | RenderableType:
    """The findings; nothing if there are none."""
    return render(conversion.verdict) if conversion.findings else ""


def conversion_json(conversion: Conversion) -> str:
    """The conversion as one JSON object."""
    return escaped(msgspec.json.encode(printable(conversion.to_dict()))).decode() + "\n"


CONVERSION_FORMATS: Mapping[str, Callable[[Conversion], str | RenderableType]] = MappingProxyType(
    {"text": conversion_text, "json": conversion_json}
)
"""The output formats by name."""


_WIDTH = max(map(len, TAKEN))
NOTHING = "no file of defaults applies"


def text(config: Config | None) -> RenderableType:
    """The path of the file, and a line for each default."""
    if config is None:
        return Text(NOTHING)
    rows = [(name, _shown(value)) for name, value in config.items()]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    taken = [f"  {name:<{_WIDTH}}  {', '.join(names)}" for name, names in _taken(config).items()]
    taken = ["taken by", *taken] if taken else []
    return Text("\n".join(visible(line) for line in (config.path, *lines, *taken)))


def _taken(config: Config) -> dict[str, list[str]]:
    """The settings that each command takes, without commands that take none."""
    return {command: names for command in TAKEN if (names := config.taken_by(command))}


def _shown(value: object) -> str:
    """A value as text; the items of a list are separated by commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def json(config: Config | None) -> str:
    r"""One object with the file, its defaults and the findings about it.

    Examples:
        >>> json(None)
        '{"schema":"defaults","version":1,"file":null,"defaults":{},"commands":{},"findings":[]}\n'
    """
    built = {
        **head("defaults"),
        "file": config.path if config else None,
        "defaults": dict(config.values) if config else {},
        "commands": _taken(config) if config else {},
        "findings": list(map(Item.of, config.findings)) if config else [],
    }
    return escaped(msgspec.json.encode(printable(msgspec.to_builtins(built)))).decode() + "\n"


FORMATS: Mapping[str, Callable[[Config | None], str | RenderableType]] = MappingProxyType(
    {"text": text, "json": json}
)
"""The output formats by name."""


_SHOWN = 5
"""Maximum number of lines that are named for a file and code."""


def fixes_text(copy: FixedCopy) -> Text:
    r"""What was corrected, by file and code, and what was left, a line each.

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
        many = sum(fix.count for fix in fixes if fix.line is None)
        times = f" ({many:,} places)" if many > 1 else ""
        yield f"fixed[{code}]: {isolate_bidi(file)}{_places(fixes)}: {fixes[0].title}{times}"
    for item in copy.unfixed:
        yield f"not fixed[{item.code}]: {isolate_bidi(item.file or '')}: {item.reason}"
    count = sum(fix.count for fix in copy.fixes)
    if count and copy.path is not None:
        yield f"{counted(count, 'fix')} in {isolate_bidi(copy.path)}"
    elif count:
        yield f"{counted(count, 'fix')} with --fix; nothing was written"
    else:
        yield f"{'nothing fixed' if copy.unfixed else 'nothing to fix'}; no copy was written"


def _group(fix: Fix) -> tuple[str, str]:
    return fix.file or "", fix.code


def _places(fixes: list[Fix]) -> str:
    """The lines of fixes, with a count of those that are not named."""
    lines = [str(fix.line) for fix in fixes if fix.line is not None]
    if not lines:
        return ""
    more = f" and {counted(len(lines) - _SHOWN, 'more line')}" if len(lines) > _SHOWN else ""
    return f":{','.join(lines[:_SHOWN])}{more}"


def fixes_json(copy: FixedCopy) -> str:
    """The verdict over the copy as JSON, with its path, `fixes` and `unfixed`."""
    more: dict[str, Any] = {"copy": copy.path, "fixes": copy.fixes, "unfixed": copy.unfixed}
    return findings_json(copy.verdict, schema="fixed-copy", **more)


_STYLES: Mapping[Outcome, str] = MappingProxyType(
    {"same": "green", "differs": "bold red", "not checked": "yellow"}
)


def verification_text(verification: Verification) -> RenderableType:
    """A line per part, a line per number that differs, and a summary."""
    numbers = [part for part in verification.numbers if part.outcome != "same"]
    parts = [*verification.parts, *numbers]
    width = max(len(visible(part.name)) for part in parts)
    return Group(*(_line(part, width) for part in parts), _summary(verification))


def _line(part: Part, width: int) -> Text:
    outcome, name = part.outcome.ljust(len("not checked")), visible(part.name).ljust(width)
    line = Text(outcome, style=_STYLES[part.outcome])
    return line.append(f"  {name}  {', '.join(_details(part))}".rstrip(), style="not bold default")


def _details(part: Part) -> Iterator[str]:
    if part.outcome == "differs" and part.expected != part.found:
        yield f"expected {_value(part.expected)}"
        yield f"found {_value(part.found)}"
    elif part.expected is not None:
        yield _value(part.expected)
    if part.reason:
        yield part.reason


def _value(value: str | None) -> str:
    return "nothing" if value is None else visible(value)


def _summary(verification: Verification) -> Text:
    names = dict.fromkeys(visible(part.name) for part in verification.differing)
    if names:
        return Text(f"differs: {', '.join(names)}", style="bold red")
    parts, numbers = map(_same, (verification.parts, verification.numbers))
    unchecked = sum(part.outcome == "not checked" for part in verification.parts)
    also = f" and {counted(numbers, 'number')}" if numbers else ""
    rest = f", {unchecked} not checked" if unchecked else ""
    return Text(f"same: {counted(parts, 'part')}{also}{rest}", style="bold green")


def _same(parts: Sequence[Part]) -> int:
    return sum(part.outcome == "same" for part in parts)


def verification_json(verification: Verification) -> str:
    """The verification as one JSON object; values are null where there are none."""
    built: dict[str, Any] = head("verification")
    built |= {"verdict": "same" if verification.agrees else "differs"}
    built |= {"differing": [part.name for part in verification.differing]}
    built |= msgspec.structs.asdict(verification)
    return escaped(msgspec.json.encode(printable(msgspec.to_builtins(built)))).decode() + "\n"


VERIFICATION_FORMATS: Mapping[str, Callable[[Verification], str | RenderableType]] = (
    MappingProxyType({"text": verification_text, "json": verification_json})
)
"""The output formats by name."""
