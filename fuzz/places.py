"""Places: every finding is inside its file.

The rule, which `hlteval.findings.Span` states: a line exists; a column is that of a character of
the line, or one after its last, where the span is empty: something is missing at the end of the
line. An empty file has one empty line, and there is no line after a line break at the end. The
line break belongs to no line, but a carriage return before it does, and a byte order mark to no
column.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping, Sequence

from hlteval.findings import Finding

_BREAK = re.compile(r"\n")
_XML_BREAK = re.compile(r"\r\n?|\n")


_XML = ("XML", "LTF", "LAF", "GAT", "TLN5")
"""Prefixes of the codes of formats in XML, where a carriage return alone ends a line."""
_SHARED = (
    ("TLN1", b"<ANNOTATION_D"),
    ("BIO", b"<collection"),
    ("UIM", b"XMI"),
    ("TAC", b"<kbpentlink"),
    *((code, root) for code in ("GEN", "CHR") for root in (b"<GateDoc", b"<collection", b"XMI")),
)
"""Prefixes of codes that formats in XML share with others, and what is in files of the former."""


def lines_of(data: bytes, *, xml: bool = False, praat: bool = False) -> list[str]:
    """The lines of a file as findings count them; those of Praat may be UTF-16."""
    wide = praat and data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    text = data.decode("utf-16" if wide else "utf-8", "replace").removeprefix("\ufeff")
    lines = (_XML_BREAK if xml else _BREAK).split(text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def outside(finding: Finding, lines: Sequence[str]) -> str:
    """Why a finding is not inside its file; empty if it is.

    Args:
        finding: a finding with a span.
        lines: the lines of its file.

    Examples:
        >>> from hlteval.findings import Span, finding
        >>> found = finding("JSN106", file="a.json", span=Span(1, 3, 4), path="$")
        >>> outside(found, ["ab"])
        'column 3 to 4 of a line with 2'
    """
    span = finding.span
    if span is None:
        return ""
    if not 1 <= span.line <= len(lines):
        return f"line {span.line} of {len(lines)}"
    end = len(lines[span.line - 1]) + 1
    if not 1 <= span.column <= span.end_column <= end:
        return f"column {span.column} to {span.end_column} of a line with {end - 1}"
    return ""


def strays(findings: Iterable[Finding], files: Mapping[str, bytes]) -> list[str]:
    """The findings that are outside their files, each with the reason.

    Args:
        findings: of a run.
        files: the content of the files by the names that findings give them.
    """
    lines: dict[tuple[str, bool], list[str]] = {}
    found = []
    for finding in findings:
        if finding.span is None or finding.file not in files:
            continue
        content, code = files[finding.file], finding.code
        shared = any(code.startswith(own) and root in content for own, root in _SHARED)
        key = finding.file, code.startswith(_XML) or shared
        if key not in lines:
            praat = finding.file.endswith(".TextGrid")
            lines[key] = lines_of(files[finding.file], xml=key[1], praat=praat)
        if reason := outside(finding, lines[key]):
            found.append(f"{finding.code} {finding.file}{finding.position}: {reason}")
    return found
