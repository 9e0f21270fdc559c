"""The output formats of packed and inspected archives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from hlteval.findings.counts import counted
from hlteval.reports.display import isolate_bidi, visible
from hlteval.reports.escapes import escaped, printable
from hlteval.reports.findings import json as findings_json
from hlteval.reports.findings import render
from hlteval.reports.prose import Prose
from hlteval.reports.tables import Column, Table, Tables
from hlteval.results.packages import Inspection, PackedArchive
from hlteval.results.verdict import Verdict

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
