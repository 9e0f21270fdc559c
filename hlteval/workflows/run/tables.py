"""Tables: mistakes in all rows of a file, such as a missing column, as one finding each.

What else is wrong is what remains when the file is read again without them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from hlteval.converters import Format
from hlteval.findings import Finding, Span, entry, excerpt
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.tsv_mistakes import Diagnosis, diagnose

#: Characters of the beginning of a file in which its first line is.
_FIRST = 100_000
#: Most files that are looked at.
_FILES = 1000

#: Gives the findings of a source in place of another.
Recheck = Callable[[Source], Sequence[Finding]]


def diagnose_table(form: Format, member: Member) -> tuple[str, Diagnosis] | None:
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
    diagnosis = diagnose(text, form.tabular(member, first))
    return (text, diagnosis) if diagnosis is not None and diagnosis.codes else None


def explain_tables(
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
    tables = {m.display: table for m in members if (table := diagnose_table(form, m)) is not None}
    if not tables:
        return list(findings)
    # Where it is open which column is missing or too many, it is open what else is wrong.
    repaired = {
        name: diagnosis.repair(text, diagnosis.codes) or [*enumerate(text.split("\n"), start=1)]
        for name, (text, diagnosis) in tables.items()
        if diagnosis.is_certain
    }
    again: list[Finding] = []
    if repaired:
        texts = {name: "\n".join(line for _, line in rows) for name, rows in repaired.items()}
        again = [*_restore_numbers(recheck(source.with_texts(texts)), repaired)]
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
    causes = []
    for name in sorted(better | hidden):
        text, diagnosis = tables[name]
        lines = text.split("\n")
        for mistake in diagnosis.mistakes(text):
            line = lines[mistake.line - 1].removesuffix("\r")
            span = Span(mistake.line, 1, len(line) + 1)
            values, where = mistake.values, excerpt(line, span)
            cause = entry(mistake.code).finding(values, file=name, span=span, excerpt=where)
            causes.append(msgspec.structs.replace(cause, blocking=blocking, side=gone[0].side))
    return [*causes, *kept]


def _errors(findings: Iterable[Finding]) -> Counter[str]:
    """The number of errors in each file."""
    counts: Counter[str] = Counter()
    for finding in findings:
        if finding.severity == "error" and finding.file:
            counts[finding.file] += finding.count
    return counts


def _restore_numbers(
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
