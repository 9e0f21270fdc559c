"""Quick fixes: which findings have one, and what it is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hlteval.findings import Finding, entry
from hlteval.findings.fixers import FIXERS
from hlteval.lsp.documents import Document
from hlteval.lsp.orders import EditorFinding
from hlteval.reports.display import visible

_BOM = "\ufeff"
_LONGEST = 100


@dataclass(frozen=True)
class Fix:
    """A quick fix.

    Attributes:
        title: what it does.
        findings: the findings that it corrects; empty for all of the document.
        code: their code; empty for all.
        line: their line; 0 for all.
    """

    title: str
    findings: tuple[EditorFinding, ...] = ()
    code: str = ""
    line: int = 0


def fixes(
    document: Document, findings: Iterable[EditorFinding], every: Iterable[EditorFinding]
) -> Iterator[Fix]:
    """The quick fixes for findings, then those for all of a document.

    Args:
        document: the document.
        findings: the findings that are asked about.
        every: all findings of the document.
    """
    lines = document.text.content.split("\n") if any(findings) else []
    chosen = [item for item in findings if _is_fixable(item.finding, document, lines)]
    for item in chosen:
        line = item.finding.span.line if item.finding.span else 0
        yield Fix(_title(item.finding), (item,), item.finding.code, line)
    counts: dict[str, list[EditorFinding]] = {}
    for item in every:
        counts.setdefault(item.finding.code, []).append(item)
    for code in dict.fromkeys(item.finding.code for item in chosen):
        if len(counts[code]) > 1:
            yield Fix(f"Fix all {code} in this file", tuple(counts[code]), code)
    if any(entry(code).fixer for code in counts):
        yield Fix("Fix all findings of hlteval in this file")


def _is_fixable(finding: Finding, document: Document, lines: list[str]) -> bool:
    """Whether a finding has a fixer that may change the text that the editor shows."""
    name = entry(finding.code).fixer
    if not name:
        return False
    fixer, text = FIXERS[name], document.text
    if name == "byte-order-mark":
        return text.lines[0].startswith(_BOM)
    if name == "line-ends":
        return any(line.endswith("\r\n") for line in text.lines)
    if fixer.line is None or finding.span is None:
        return fixer.scope in {"rule", "table"} or fixer.file is not None
    number = finding.span.line
    line = lines[number - 1] if number <= len(lines) else ""
    return fixer.line(line.removesuffix("\r").removeprefix(_BOM), finding) is not None


def _title(finding: Finding) -> str:
    """What a fix does: the help of the finding, or what the fixer does."""
    title = finding.help or FIXERS[entry(finding.code).fixer].title
    title = visible(title.partition("\n")[0])
    title = title[:1].upper() + title[1:]
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
