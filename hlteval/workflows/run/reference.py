"""References: whether one can be used and is that of the submission, and what batches show of it.

Mistakes in all rows of a table, of either side, are diagnosed here too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.converters import Format, load
from hlteval.findings import REFERENCE, Finding, Severity, Span, entry, excerpt
from hlteval.scoring.evidence import Evidence
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.tsv_mistakes import Diagnosis, diagnose
from hlteval.validators.names import mismatch
from hlteval.validators.rule_findings import Offending
from hlteval.workflows.run.batches import Pair, Submission, has_files

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
    lacking = [name for name in task.provided_suffixes if not has_files(source, [name])]
    if lacking and opened.gold_files and (opened.is_compared or opened.reference is None):
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


def _exchanged_files(opened: Submission, *, gold: bool) -> str:
    """Evidence in the files that both sides are exchanged; empty if there is none.

    Where gold annotations are needed, a format without them is not evidence.
    """
    reference, system, task = opened.reference, opened.system, opened.task
    if reference is None or opened.role == REFERENCE or not system.members:
        return ""
    provided = task.provided_suffixes
    own = all(has_files(system, [suffix]) for suffix in provided)
    if provided and own and not has_files(reference, provided):
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


#: A file: its name inside the folder or archive, its format, and its SHA-256 digest.
File = tuple[str, str, str]


@dataclass
class Batch:
    """What one batch gives, or several that are added: what was found, and what was counted.

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
        counts: the statistics of each batch that was counted.
        alignments: the alignment of each.
        evidence: the evidence of each.
        files: the files that were read, by side; a file counts once, however often it is read.
        uncounted: whether there are batches that were only checked.
        failure: why the metric cannot count; nothing is scored then.
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
    counts: list[pl.DataFrame] = field(default_factory=list)
    alignments: list[pl.DataFrame] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    files: dict[str, dict[File, None]] = field(default_factory=dict)
    uncounted: bool = False
    failure: Finding | None = None

    def add(self, other: Batch) -> None:
        """Add what a later batch gives."""
        self.names += other.names
        self.records += other.records
        self.gold += other.gold
        self.findings += other.findings
        self.judging += other.judging
        self.deferred += other.deferred
        self.counts += other.counts
        self.alignments += other.alignments
        self.evidence += other.evidence
        self.documents = other.documents | self.documents
        self.reference |= other.reference
        self.system |= other.system
        self.exchanged = self.exchanged or other.exchanged
        for side, types in other.types.items():
            self.types.setdefault(side, set()).update(types)
        for side, files in other.files.items():
            self.files.setdefault(side, {}).update(files)
        self.uncounted |= other.uncounted
        if self.failure is None and other.failure is not None:
            self.failure = other.failure
            self.findings.append(other.failure)


def observe_sides(opened: Submission, pair: Pair) -> Batch:
    """Return what a batch shows of both sides as such."""
    task, system = opened.task, pair.system.corpus
    gold = system if opened.role == REFERENCE else pair.reference.corpus
    table = getattr(gold, task.scored_table)
    checked = Batch(
        reference=dict.fromkeys(gold.documents["name"]),
        gold=table.height + gold.rejected_records.height,
    )
    if not opened.is_compared:
        return checked
    checked.system = dict.fromkeys(system.documents["name"])
    submitted = getattr(system, task.scored_table)
    if "confidence" in table.columns and submitted.height > 1:
        sides = (table["confidence"], submitted["confidence"])
        of_gold, of_system = (values.drop_nulls().n_unique() for values in sides)
        if of_gold > 1 and of_system <= 1:
            checked.exchanged = (
                f"the reference has {of_gold:,} different confidences, and the submission "
                f"{of_system or 'none'}"
            )
    if not (checked.exchanged or table.is_empty() or task.hooks.only_in_references(gold)):
        checked.exchanged = task.hooks.only_in_references(system)
    return checked


def unusable_reference(opened: Submission, seen: Batch, *, gold: bool) -> Iterator[Finding]:
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
        files = opened.system_files if opened.format.layout == "per_document" else {}
        if own := next((name for name in files if name in seen.reference), ""):
            name = files[own][0].display
            hint = f"write the name of the file as the document id in {name}: {own}"
        else:
            hint = mismatch(ours, theirs)
        values = {"reference": _example(ours), "system": _example(theirs)}
        yield _about(source, "REF104", hint=hint, **values)


def _is_explicit(opened: Submission) -> bool:
    """Whether files of the reference say that there is nothing in them."""
    task, form = opened.task, opened.gold_format
    if task.submission_suffixes:
        files = (file for each in opened.gold_files.values() for file in each)
        return any(file.basename.endswith(task.submission_suffixes) for file in files)
    return form.layout == "per_document" and task.scored_table in form.tables


def missing_documents(opened: Submission, seen: Batch) -> Iterator[Finding]:
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
        listed = ", ".join(names[:_NAMED])
        listed += f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield entry("REF107").finding({"count": len(names), "names": listed})


def _example(names: list[str]) -> str:
    """Return a number of documents with an example."""
    return f"{names[0]} and {len(names) - 1:,} more" if len(names) > 1 else names[0]


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
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    listed = ", ".join(paths[:_NAMED]) + more
    return f"use one of the sub-folders with gold files: {listed}" if paths else ""


#: Prefixes of the codes of mistakes in all rows of a table.
TABLE_MISTAKES_CODES = ("TAB",)
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
        name: diagnosis.repaired(text, diagnosis.codes) or [*enumerate(text.split("\n"), start=1)]
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
    causes = [
        msgspec.structs.replace(cause, blocking=blocking, side=gone[0].side)
        for name in sorted(better | hidden)
        for cause in _mistakes(name, *tables[name])
    ]
    return [*causes, *kept]


def _mistakes(file: str, text: str, diagnosis: Diagnosis) -> Iterator[Finding]:
    """Report each mistake in all rows of a table."""
    lines = text.split("\n")
    for mistake in diagnosis.mistakes(text):
        line = lines[mistake.line - 1].removesuffix("\r")
        span = Span(mistake.line, 1, len(line) + 1)
        yield entry(mistake.code).finding(
            mistake.values, file=file, span=span, excerpt=excerpt(line, span)
        )


def _errors(findings: Iterable[Finding]) -> Counter[str]:
    """The number of errors in each file."""
    counts: Counter[str] = Counter()
    for finding in findings:
        if finding.severity is Severity.ERROR and finding.file:
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
