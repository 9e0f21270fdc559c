"""References: whether one can be used and is that of the submission, and what batches show of it.

Mistakes in all rows of a table, of either side, are diagnose_table here too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec

from hlteval.converters import Format, load
from hlteval.findings import REFERENCE, Finding, Severity, Span, entry, excerpt
from hlteval.findings.counts import first_names
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.tsv_mistakes import Diagnosis, diagnose
from hlteval.validators.names import mismatch
from hlteval.validators.rule_findings import Offending
from hlteval.workflows.run.batches import Pair, Submission

#: The codes of the findings of all tasks about references as a whole, or their prefixes.
CODES = ("REF",)

#: Folders or documents that a finding lists.
_NAMED = 3


def before_reading(opened: Submission, *, gold: bool) -> Iterator[Finding]:
    """Report what is wrong with a reference that its files show.

    Args:
        opened: the submission and its reference.
        gold: whether gold annotations are needed.
    """
    source, task = opened.reference_source, opened.task
    if source is None or not source.members:
        return
    if evidence := _exchanged_files(opened, gold=gold):
        yield _about(source, "REF105", evidence=evidence)
        return
    lacking = [name for name in task.provided_suffixes if not _has(source, name)]
    if lacking and opened.gold_files and not opened.companion_texts:
        yield _about(source, "REF106", suffixes=" or ".join(lacking))
    if gold and task.scored_table not in opened.gold_format.tables:
        title, formats = opened.gold_format.title, ", ".join(_with_gold(opened))
        values = {"format": opened.gold_format.name, "title": title, "formats": formats}
        yield _about(source, "REF103", what=task.scored_table, task=task.name, **values)


def _with_gold(opened: Submission) -> list[str]:
    """The formats of references that hold what is scored."""
    task = opened.task
    names = task.references or (task.format,)
    return [name for name in names if task.scored_table in load(name).tables]


def _about(source: Source, code: str, **values: object) -> Finding:
    return entry(code).finding(values, file=source.path).of(REFERENCE)


def _has(source: Source, *suffixes: str) -> bool:
    return any(member.basename.endswith(suffixes) for member in source.members)


def _exchanged_files(opened: Submission, *, gold: bool) -> str:
    """Evidence in the files that both sides are exchanged; empty if there is none.

    Where gold annotations are needed, a format without them is not evidence.
    """
    reference, system, task = opened.reference, opened.system, opened.task
    if reference is None or opened.role == REFERENCE or not system.members:
        return ""
    provided = task.provided_suffixes
    if provided and not _has(reference, *provided) and all(_has(system, p) for p in provided):
        return f"the submission has {' and '.join(provided)} files, and the reference has none"
    submitted = (task.format, *task.submitted)
    usable = _with_gold(opened) if gold else task.references
    others = [name for name in usable if name not in submitted]
    submitted_as = next((name for name in submitted if load(name).sniff(reference)), "")
    other = next((name for name in others if load(name).sniff(system)), "")
    if submitted_as and other and not any(load(name).sniff(system) for name in submitted):
        return f"the submission is in the format {other}, the reference in {submitted_as}"
    return ""


class Deferred(NamedTuple):
    """Rows of a batch of which the types of the frames of all batches decide whether they count.

    Only the places of those that count are looked up.

    Attributes:
        side: what they are about.
        rule: the number of the rule among those of the task.
        rows: the rows.
        files: the names of the files of the batch by their `origin`.
    """

    side: str
    rule: int
    rows: Offending
    files: dict[int, str]


@dataclass
class BatchCheck:
    """Result of the check of a batch, or of several that are added.

    Attributes:
        names: the number of documents of both sides.
        documents: the file of each document of what is judged by its name, where the format has
            one for each; else empty.
        records: the number of their records.
        reference: the names of the documents of the reference.
        system: the names of those of a submission that is compared with it.
        gold: the records of the reference that would be scored, readable or not.
        exchanged: why both sides look exchanged; empty if they do not.
        findings: those of readers and of the reference, whoever they are about.
        judging: those of rules about the submission, beside its reference.
        types: the types of frames by side, if findings depend on them.
        deferred: what counts or not by these types.
    """

    names: int = 0
    documents: dict[str, str] = field(default_factory=dict)
    records: int = 0
    reference: dict[str, None] = field(default_factory=dict)
    system: dict[str, None] = field(default_factory=dict)
    gold: int = 0
    exchanged: str = ""
    findings: list[Finding] = field(default_factory=list)
    judging: list[Finding] = field(default_factory=list)
    types: dict[str, set[str]] = field(default_factory=dict)
    deferred: list[Deferred] = field(default_factory=list)

    def add(self, other: BatchCheck) -> None:
        """Add what a later batch shows."""
        self.names += other.names
        self.documents = other.documents | self.documents
        self.records += other.records
        self.reference |= other.reference
        self.system |= other.system
        self.gold += other.gold
        self.exchanged = self.exchanged or other.exchanged
        self.findings += other.findings
        self.judging += other.judging
        for side, types in other.types.items():
            self.types.setdefault(side, set()).update(types)
        self.deferred += other.deferred


def observe_sides(opened: Submission, pair: Pair) -> BatchCheck:
    """Return what a batch shows of both sides as such."""
    task, system = opened.task, pair.system.corpus
    gold = system if opened.role == REFERENCE else pair.reference.corpus
    table = getattr(gold, task.scored_table)
    checked = BatchCheck(
        reference=dict.fromkeys(gold.documents["name"]),
        gold=table.height + gold.rejected_records.height,
    )
    if not opened.is_compared:
        return checked
    checked.system = dict.fromkeys(system.documents["name"])
    submitted = getattr(system, task.scored_table)
    if "confidence" in table.columns and submitted.height > 1:
        of_gold, of_system = (
            side["confidence"].drop_nulls().n_unique() for side in (table, submitted)
        )
        if of_gold > 1 and of_system <= 1:
            checked.exchanged = (
                f"the reference has {of_gold:,} different confidences, and the submission "
                f"{of_system or 'none'}"
            )
    if not (checked.exchanged or table.is_empty() or task.hooks.only_in_references(gold)):
        checked.exchanged = task.hooks.only_in_references(system)
    return checked


def unusable_reference(opened: Submission, seen: BatchCheck, *, gold: bool) -> Iterator[Finding]:
    """Report why a reference as a whole cannot be used, once all is read.

    Args:
        opened: the submission and its reference.
        seen: what all batches show.
        gold: whether gold annotations are needed.
    """
    source = opened.reference_source
    if source is None:
        return
    if not seen.reference:
        kind = source.kind if source.kind in {"folder", "zip", "tgz"} else "file"
        hint = _elsewhere(opened) or f"use the {kind} with the gold annotations"
        yield _about(source, "REF101", hint=hint)
    elif gold and not seen.gold and not _is_explicit(opened):
        count = f"{len(seen.reference):,} document" + "s" * (len(seen.reference) > 1)
        suffixes = " and ".join(opened.task.submission_suffixes)
        with_suffixes = f" ({suffixes})" if suffixes else ""
        hint = f"use a reference with gold annotations{with_suffixes}; this looks like test data"
        yield _about(source, "REF102", documents=count, hint=_elsewhere(opened) or hint)
    elif seen.exchanged:
        yield _about(source, "REF105", evidence=seen.exchanged)
    elif not seen.system or not opened.is_compared or opened.without_documents:
        return
    elif seen.reference.keys().isdisjoint(seen.system):
        ours, theirs = sorted(seen.reference), sorted(seen.system)
        hint = _file_hint(opened, seen) or mismatch(ours, theirs)
        values = {"reference": first_names(ours, 1), "system": first_names(theirs, 1)}
        yield _about(source, "REF104", hint=hint, **values)


def _is_explicit(opened: Submission) -> bool:
    """Whether files of the reference say that there is nothing in them."""
    task, form = opened.task, opened.gold_format
    if task.submission_suffixes:
        files = (file for each in opened.gold_files.values() for file in each)
        return any(file.basename.endswith(task.submission_suffixes) for file in files)
    return form.layout == "per_document" and task.scored_table in form.tables


def _file_hint(opened: Submission, seen: BatchCheck) -> str:
    """Return how to correct the ids inside files that have the names of the reference."""
    if opened.format.layout == "per_document":
        for name, files in opened.system_files.items():
            if name in seen.reference:
                return (
                    f"write the name of the file as the document id in {files[0].display}: {name}"
                )
    return ""


def missing_documents(opened: Submission, seen: BatchCheck) -> Iterator[Finding]:
    """Report the documents to score that a submission does not have, once all is read.

    Without a table that is scored, what it is checked against is a collection of texts or
    documents, and no reference.
    """
    if not (opened.is_compared and seen.system) or opened.without_documents or opened.is_unreadable:
        return
    if opened.task.scored_table not in opened.gold_format.tables:
        return
    to_score = seen.reference.keys() & (opened.selected_documents or seen.reference.keys())
    if names := sorted(to_score - seen.system.keys()):
        listed = first_names(names, _NAMED)
        yield entry("REF107").finding({"count": len(names), "names": listed})


def _elsewhere(opened: Submission) -> str:
    """The sub-folders of the reference with gold files, as a hint; empty if there are none."""
    source = opened.reference_source
    suffixes = tuple(opened.task.submission_suffixes) if opened.task.metric else ()
    if source is None or source.kind != "folder" or not suffixes:
        return ""
    named = (PurePosixPath(member.name) for member in source.members)
    folders = dict.fromkeys(str(name.parent) for name in named if name.name.endswith(suffixes))
    paths = [f"{source.path.rstrip('/')}/{folder}" for folder in folders if folder != "."]
    if len(paths) == 1:
        return f"use {paths[0]}, which has the gold files"
    listed = first_names(paths, _NAMED)
    return f"use one of the sub-folders with gold files: {listed}" if paths else ""


#: Prefixes of the codes of mistakes in all rows of a table.
TABLE_MISTAKES_CODES = ("TAB",)
#: Characters of the beginning of a file in which its first line is.
_FIRST = 100_000
#: Most files that are looked at.
_FILES = 1000

#: Gives the findings of a source in place of another.
Recheck = Callable[[Source], Sequence[Finding]]


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
    tables = {
        member.display: _Table(member, *diagnosed)
        for member in members
        if (diagnosed := diagnose_table(form, member)) is not None
    }
    if not tables:
        return list(findings)
    repaired = {name: table.lines for name, table in tables.items() if not table.is_incomplete}
    again = (
        list(_restore_numbers(recheck(_replace_lines(source, repaired)), repaired))
        if repaired
        else []
    )
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


def _replace_lines(source: Source, repaired: Mapping[str, list[tuple[int, str]]]) -> Source:
    """A source with other lines in some files."""

    def member(old: Member) -> Member:
        if old.display not in repaired:
            return old
        data = "\n".join(line for _, line in repaired[old.display]).encode(old.encoding)
        return msgspec.structs.replace(old, size=len(data), fetch=partial(bytes, data))

    return replace(source, members=tuple(map(member, source.members)))


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
