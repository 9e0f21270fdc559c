"""Mistakes in all rows of tables: one finding has the cause, and what follows from it is left out.

What follows is what is no longer found when the table is read again without the mistake: this is
also what shows that it is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import msgspec

from hlteval.converters import Format
from hlteval.findings import Finding, Severity, Span, entry, excerpt
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.tsv_mistakes import Diagnosis, diagnose

CODES = ("TAB",)
"""Prefixes of the codes of mistakes in all rows of a table."""
_FIRST = 100_000
"""Characters of the beginning of a file in which its first line is."""
_FILES = 1000
"""Most files that are looked at."""

Recheck = Callable[[Source], Sequence[Finding]]
"""Gives the findings of a source in place of another."""


class _Table(NamedTuple):
    """A file with a mistake: its text, and what is wrong in all of it."""

    member: Member
    text: str
    diagnosis: Diagnosis

    @property
    def is_incomplete(self) -> bool:
        """Whether it is open which column is missing or too many, and so what else is wrong."""
        return not self.diagnosis.is_certain

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The lines without the mistake, as far as it can be undone."""
        every = list(enumerate(self.text.split("\n"), start=1))
        return self.diagnosis.repaired(self.text, self.diagnosis.codes) or every

    def findings(self) -> Iterator[Finding]:
        """A finding for each of its mistakes."""
        lines = self.text.split("\n")
        for mistake in self.diagnosis.mistakes(self.text):
            line = lines[mistake.line - 1].removesuffix("\r")
            span = Span(mistake.line, 1, len(line) + 1)
            yield entry(mistake.code).finding(
                mistake.values, file=self.member.display, span=span, excerpt=excerpt(line, span)
            )


def diagnosed(form: Format, member: Member) -> tuple[str, Diagnosis] | None:
    """The text of a file of a format, and what is wrong in all of it; None if there is nothing.

    Args:
        form: the format.
        member: the file.
    """
    try:
        data = member.fetch()
    except Unreadable:
        return None
    text = decode(data, display=member.display, encoding=member.encoding).text
    if text is None or not text.strip():
        return None
    first = text[:_FIRST].partition("\n")[0].removesuffix("\r")
    found = diagnose(text, form.tabular(member, first))
    return (text, found) if found is not None and found.codes else None


def explained(
    form: Format, source: Source, findings: Sequence[Finding], recheck: Recheck
) -> list[Finding]:
    """The findings of a source, with one for each mistake in all rows of a table.

    Args:
        form: the format of the source.
        source: its files.
        findings: what was found in it.
        recheck: gives what is found in the source when files are replaced.
    """
    wrong = _errors(findings)
    members = [member for member in source.members if wrong[member.display]][:_FILES]
    tables = {
        member.display: _Table(member, *found)
        for member in members
        if (found := diagnosed(form, member)) is not None
    }
    if not tables:
        return list(findings)
    repaired = {name: table.lines for name, table in tables.items() if not table.is_incomplete}
    again = list(_placed(recheck(_replaced(source, repaired)), repaired)) if repaired else []
    left, remaining = _errors(again), {_key(finding) for finding in again}
    better = {name for name in repaired if left[name] < wrong[name]}
    hidden = tables.keys() - repaired.keys()

    def follows(item: Finding) -> bool:
        if hidden and (item.file in hidden or len(source.members) == 1):
            return True
        elsewhere = bool(better) and item.file not in repaired
        return (item.file in better or elsewhere) and _key(item) not in remaining

    kept = [item for item in findings if not follows(item)]
    gone = [item for item in findings if item not in kept]
    if not gone:
        return list(findings)
    blocking = any(item.blocking for item in gone)
    causes = [
        msgspec.structs.replace(cause, blocking=blocking, side=gone[0].side)
        for name in sorted(better | hidden)
        for cause in tables[name].findings()
    ]
    return [*causes, *kept]


def _errors(findings: Iterable[Finding]) -> Counter[str]:
    """The number of errors in each file."""
    counts: Counter[str] = Counter()
    for finding in findings:
        if finding.severity is Severity.ERROR and finding.file:
            counts[finding.file] += finding.count
    return counts


def _replaced(source: Source, repaired: Mapping[str, list[tuple[int, str]]]) -> Source:
    """A source with other lines in some files."""

    def member(old: Member) -> Member:
        if old.display not in repaired:
            return old
        data = "\n".join(line for _, line in repaired[old.display]).encode(old.encoding)
        return msgspec.structs.replace(old, size=len(data), fetch=partial(bytes, data))

    return replace(source, members=tuple(map(member, source.members)))


def _placed(
    findings: Iterable[Finding], repaired: Mapping[str, list[tuple[int, str]]]
) -> Iterator[Finding]:
    """Findings with the numbers that their lines had."""
    for finding in findings:
        lines = repaired.get(finding.file or "")
        if lines is None or finding.span is None or finding.span.line > len(lines):
            yield finding
            continue
        span = msgspec.structs.replace(finding.span, line=lines[finding.span.line - 1][0])
        yield msgspec.structs.replace(finding, span=span)


def _key(finding: Finding) -> tuple[str, str | None, int, str]:
    line = finding.span.line if finding.span else 0
    return finding.code, finding.file, line, finding.message
