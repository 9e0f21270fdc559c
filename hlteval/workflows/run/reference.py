"""Sides: whether a reference can be used, and whether it is the reference of a submission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec
import polars as pl

from hlteval.converters import Format, load
from hlteval.findings import REFERENCE, Finding, Severity, Span, entry, excerpt
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode
from hlteval.syntax.tsv_mistakes import LACKING, Diagnosis, diagnose
from hlteval.validators.names import mismatch
from hlteval.workflows.run.batches import Pair, Submission

CODES = ("REF",)
"""The codes of the findings of all tasks about references as a whole, or their prefixes."""

_NAMED = 3
"""Folders or documents that a finding lists."""


def before_reading(opened: Submission, *, gold: bool) -> Iterator[Finding]:
    """What is wrong with a reference that its files show.

    Args:
        opened: the submission and its reference.
        gold: whether gold annotations are needed.
    """
    source, task = opened.gold, opened.task
    if source is None or not source.members:
        return
    if evidence := _exchanged_files(opened, gold=gold):
        yield _about(source, "REF105", evidence=evidence)
        return
    lacking = [name for name in task.provided_suffixes if not _has(source, name)]
    if lacking and opened.gold_documents and not opened.texts:
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
    own = next((name for name in submitted if load(name).sniff(reference)), "")
    other = next((name for name in others if load(name).sniff(system)), "")
    if own and other and not any(load(name).sniff(system) for name in submitted):
        return f"the submission is in the format {other}, the reference in {own}"
    return ""


class Seen(NamedTuple):
    """What a batch shows of both sides; the attributes are those of `Sides`."""

    reference: list[str]
    system: list[str]
    records: int
    evidence: str


@dataclass
class Sides:
    """What is seen of both sides while they are read.

    Attributes:
        opened: the submission and its reference.
        gold: whether gold annotations are needed.
        reference: the names of the documents of the reference.
        system: the names of those of the submission.
        records: the records of the reference that would be scored, readable or not.
        evidence: why both sides look exchanged; empty if they do not.
    """

    opened: Submission
    gold: bool
    reference: dict[str, None] = field(default_factory=dict)
    system: dict[str, None] = field(default_factory=dict)
    records: int = 0
    evidence: str = ""

    def seen(self, pair: Pair) -> Seen:
        """What a batch shows."""
        task, system = self.opened.task, pair.system.corpus
        gold = system if self.opened.role == REFERENCE else pair.reference.corpus
        names = gold.documents["name"].to_list()
        records = getattr(gold, task.scored_table).height + gold.rejected_records.height
        if not self.compared:
            return Seen(names, [], records, "")
        evidence = _exchanged_confidences(gold, system, task.scored_table)
        evidence = evidence or self._exchanged_notation(gold, system)
        return Seen(names, system.documents["name"].to_list(), records, evidence)

    def add(self, seen: Seen) -> None:
        """Take note of what a batch shows."""
        self.reference.update(dict.fromkeys(seen.reference))
        self.system.update(dict.fromkeys(seen.system))
        self.records += seen.records
        self.evidence = self.evidence or seen.evidence

    def _exchanged_notation(self, gold: Corpus, system: Corpus) -> str:
        """Evidence that what only references have is in the submission; empty if there is none."""
        task = self.opened.task
        if getattr(gold, task.scored_table).is_empty() or task.only_in_references(gold):
            return ""
        return task.only_in_references(system)

    @property
    def lacking(self) -> bool:
        """Whether there is nothing to compare with: the reference has no documents."""
        return self.compared and not self.reference

    @property
    def compared(self) -> bool:
        """Whether a submission is compared with a reference."""
        return self.opened.reference is not None and self.opened.role != REFERENCE

    def findings(self) -> Iterator[Finding]:
        """What is wrong with the reference as a whole, once all is read."""
        source = self.opened.gold
        if source is None:
            return
        if not self.reference:
            yield _about(source, "REF101", hint=_elsewhere(self.opened) or _pass_another(source))
        elif self.gold and not self.records and not self._is_explicit:
            count = f"{len(self.reference):,} document" + "s" * (len(self.reference) > 1)
            yield _about(source, "REF102", documents=count, hint=self._gold_hint)
        elif self.evidence:
            yield _about(source, "REF105", evidence=self.evidence)
        elif self.system and self.compared and not self.opened.without_documents:
            yield from self._strangers(source)

    def _strangers(self, source: Source) -> Iterator[Finding]:
        if self.reference.keys().isdisjoint(self.system):
            ours, theirs = sorted(self.reference), sorted(self.system)
            values = {"reference": _counted(ours), "system": _counted(theirs)}
            hint = self._file_hint() or mismatch(ours, theirs)
            yield _about(source, "REF104", hint=hint, **values)

    def missing(self) -> Iterator[Finding]:
        """The documents to score that a submission does not have, once all is read.

        Without a table that is scored, what it is checked against is a collection of texts or
        documents, and no reference.
        """
        opened = self.opened
        if not (self.compared and self.system) or opened.without_documents or opened.unread:
            return
        if opened.task.scored_table not in opened.gold_format.tables:
            return
        to_score = self.reference.keys() & (opened.selected or self.reference.keys())
        if names := sorted(to_score - self.system.keys()):
            listed = ", ".join(names[:_NAMED])
            listed += f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            yield entry("REF107").finding({"count": len(names), "names": listed})

    def _file_hint(self) -> str:
        """How to correct the ids inside files that have the names of the reference."""
        if self.opened.format.layout != "per_document":
            return ""
        found = self.opened.found
        name = next((name for name in found if name in self.reference), "")
        file = found[name][0].display if name else ""
        return f"write the name of the file as the document id in {file}: {name}" if name else ""

    @property
    def _is_explicit(self) -> bool:
        """Whether files of the reference say that there is nothing in them."""
        task, form = self.opened.task, self.opened.gold_format
        if task.submission_suffixes:
            files = (file for each in self.opened.gold_documents.values() for file in each)
            return any(file.basename.endswith(task.submission_suffixes) for file in files)
        return form.layout == "per_document" and task.scored_table in form.tables

    @property
    def _gold_hint(self) -> str:
        if found := _elsewhere(self.opened):
            return found
        suffixes = " and ".join(self.opened.task.submission_suffixes)
        named = f" ({suffixes})" if suffixes else ""
        return f"use a reference with gold annotations{named}; this looks like test data"


def _pass_another(source: Source) -> str:
    what = source.kind if source.kind in {"folder", "zip", "tgz"} else "file"
    return f"use the {what} with the gold annotations"


def _counted(names: list[str]) -> str:
    """A number of documents with an example.

    Examples:
        >>> _counted(["d1", "d2"]), _counted(["d1"])
        ('d1 and 1 more', 'd1')
    """
    return f"{names[0]} and {len(names) - 1:,} more" if len(names) > 1 else names[0]


def _elsewhere(opened: Submission) -> str:
    """The sub-folders of the reference with gold files, as a hint; empty if there are none."""
    source = opened.gold
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


def _exchanged_confidences(reference: Corpus, system: Corpus, table: str) -> str:
    """Evidence that the confidences of a system are in the reference; empty if there is none."""
    if "confidence" not in getattr(reference, table).columns:
        return ""
    gold, own = (_confidences(corpus, table) for corpus in (reference, system))
    if gold > 1 and own <= 1 and getattr(system, table).height > 1:
        return (
            f"the reference has {gold:,} different confidences, and the submission {own or 'none'}"
        )
    return ""


def _confidences(corpus: Corpus, table: str) -> int:
    values: pl.Series = getattr(corpus, table)["confidence"]
    return values.drop_nulls().n_unique()


TABLE_MISTAKES_CODES = ("TAB",)
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
        """Whether a column is missing: then nobody can know what else is wrong."""
        return LACKING in self.diagnosis.codes

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
