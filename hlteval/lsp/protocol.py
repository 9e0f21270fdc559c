"""Values of the protocol from ours, and ours from those of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lsprotocol import types

from hlteval.findings import SUBMISSION, Severity
from hlteval.lsp.actions import page
from hlteval.lsp.documents import Change, Position, Range, Units, uri
from hlteval.lsp.orders import Edit, EditorFinding, Site
from hlteval.lsp.session import Shown
from hlteval.reports.terminal import visible

SOURCE = "hlteval"
SEVERITIES: Mapping[Severity, types.DiagnosticSeverity] = MappingProxyType(
    {
        Severity.ERROR: types.DiagnosticSeverity.Error,
        Severity.WARNING: types.DiagnosticSeverity.Warning,
        Severity.INFO: types.DiagnosticSeverity.Information,
    }
)
_LARGEST = 2**31 - 1
"""The largest number of a line or column in the protocol."""


def units(encoding: str) -> Units:
    """What columns count in an encoding of positions; UTF-16 if nothing else is agreed."""
    return "utf-8" if encoding == "utf-8" else "utf-32" if encoding == "utf-32" else "utf-16"


def position(given: types.Position) -> Position:
    """A position, whatever a client sends."""
    return Position(*(max(0, min(int(n), _LARGEST)) for n in (given.line, given.character)))


def place(given: types.Range) -> Range:
    """A range, whatever a client sends."""
    return Range(position(given.start), position(given.end))


def change(given: types.TextDocumentContentChangeEvent) -> Change:
    """A change of a document."""
    if isinstance(given, types.TextDocumentContentChangeWholeDocument):
        return Change(given.text)
    return Change(given.text, place(given.range))


def range_of(given: Range) -> types.Range:
    """A range of ours."""
    start, end = (types.Position(*each) for each in given)
    return types.Range(start, end)


def diagnostic(findings: EditorFinding, docs: str = "") -> types.Diagnostic:
    """A finding: its message, and its help in a line of its own.

    Args:
        findings: the finding at its range.
        docs: address of the documentation; empty for none.
    """
    found = findings.finding
    whose = "" if found.side == SUBMISSION else f"{found.side}: "
    more = f" (and {found.count - 1:,} more)" if found.further and found.count > 1 else ""
    text = f"{whose}{visible(found.message)}{more}"
    return types.Diagnostic(
        range=range_of(findings.range),
        message=f"{text}\nhelp: {visible(found.help)}" if found.help else text,
        severity=SEVERITIES[found.severity],
        code=found.code,
        code_description=types.CodeDescription(page(found.code, docs)) if docs else None,
        source=SOURCE,
    )


def published(shown: Shown, docs: str = "") -> types.PublishDiagnosticsParams:
    """What the editor shows of a document."""
    nothing = types.Range(types.Position(0, 0), types.Position(0, 0))
    level = types.DiagnosticSeverity.Information
    notes = [
        types.Diagnostic(nothing, visible(note), severity=level, source=SOURCE)
        for note in shown.notes
    ]
    found = [diagnostic(findings, docs) for findings in shown.findings]
    return types.PublishDiagnosticsParams(shown.uri, [*notes, *found], shown.version)


def location(site: Site, addresses: Mapping[str, str]) -> types.Location:
    """A place in a document.

    Args:
        site: the place.
        addresses: the URIs of open documents as the client writes them, by key.
    """
    return types.Location(addresses.get(site.path, uri(site.path)), range_of(site.range))


def text_edits(edits: Iterable[Edit]) -> list[types.TextEdit]:
    """Edits of a document."""
    return [types.TextEdit(range_of(edit.place), edit.put) for edit in edits]
