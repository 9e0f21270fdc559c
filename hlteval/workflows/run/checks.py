"""Checks: the findings about a submission and its reference, batch after batch, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter

import msgspec

from hlteval.converters import ReadResult
from hlteval.findings import REFERENCE, SUBMISSION, Finding, Findings, entry
from hlteval.findings.cascades import cascades
from hlteval.findings.catalogue import in_order
from hlteval.findings.sequence import by_notation
from hlteval.results.verdict import Verdict
from hlteval.sources import Source
from hlteval.tasks import rules
from hlteval.validators import RuleContext
from hlteval.validators.rule import IDENTIFIERS, Rule
from hlteval.validators.rule_findings import located, offending
from hlteval.workflows.run.batches import Pair, Submission
from hlteval.workflows.run.reference import (
    Batch,
    Deferred,
    before_reading,
    explain_tables,
    missing_documents,
    observe_sides,
    unusable_reference,
)

#: The side of what a reference is checked against that is checked by itself.
TEXTS = "--against"

#: The tables whose rows are records of a submission.
_RECORDS = (*IDENTIFIERS, "instances", "ratings", "changes", "mappings", "responses")
NO_COMMON_DOCUMENT = "REF104"


class Check:
    """The check of a submission and its reference.

    Args:
        opened: both, opened.
        gold: whether gold annotations are needed; by default in references of scored tasks.

    Attributes:
        total: what all batches show that were added.
        unusable: why the reference cannot be used; empty if it can.
        read: whether the batches are read: then the official software gets to its end.
    """

    def __init__(self, opened: Submission, *, gold: bool | None = None) -> None:
        self.opened, self.total = opened, Batch()
        by_itself = opened.role == REFERENCE and opened.task.metric is not None
        self.gold = by_itself if gold is None else gold
        self.unusable = list(before_reading(opened, gold=self.gold))
        self.read = not self.unusable
        self.findings.extend(opened.files.findings)
        self.findings.extend(item.of(opened.role) for item in opened.system.findings)
        if opened.reference is not None:
            self.findings.extend(item.of(self.other) for item in opened.reference.findings)

    @property
    def findings(self) -> list[Finding]:
        """The findings of sources, readers and of the reference, whoever they are about."""
        return self.total.findings

    @property
    def other(self) -> str:
        """The side of what is checked against."""
        return TEXTS if self.opened.role == REFERENCE else REFERENCE

    @property
    def lacks_reference(self) -> bool:
        """Whether there is nothing to compare with: the reference has no documents."""
        return self.opened.is_compared and not self.total.reference

    @property
    def is_official(self) -> bool:
        """Whether findings count as for the official software."""
        return self.opened.profile == "official"

    def batches(self, size: int | None) -> Iterator[Iterator[Pair]]:
        """Give the batches as the profile reads them; none if the reference cannot be used.

        The official software may read records otherwise.
        """
        reading = self.opened.task.hooks.official_reading if self.is_official else None
        for batch in self.opened.batches(size) if self.read else ():
            if reading is None:
                yield batch
            else:
                yield (Pair(*reading(pair.reference, pair.system)) for pair in batch)

    def results(self, size: int | None) -> Iterator[Iterator[Batch]]:
        """Check each batch when it is asked for."""
        return (map(self.check_batch, batch) for batch in self.batches(size))

    def complete(self, *, explain: bool = True) -> Verdict:
        """Check all batches in this process, and judge them as `verdict` does."""
        for batch in chain.from_iterable(self.results(None)):
            self.add(batch)
        return self.verdict(explain=explain)

    def check_batch(self, pair: Pair) -> Batch:
        """Check a batch: the findings of readers and rules, and what it shows of both sides."""
        opened, corpus = self.opened, pair.system.corpus
        names = corpus.documents["name"].to_list()
        files = [""] * len(names)
        if opened.format.repeated_code:
            files = [pair.system.members[index].display for index in corpus.documents["origin"]]
        checked = observe_sides(opened, pair)
        checked.names = pair.documents
        checked.documents = dict(zip(names, files, strict=True))
        checked.records = sum(getattr(corpus, table).height for table in _RECORDS)
        alone = pair.reference is pair.system
        if opened.role == REFERENCE:
            checked.findings += self._check_reference(pair, pair.system, checked)
            if not alone:
                checked.findings += (item.of(TEXTS) for item in pair.reference.findings)
            return checked
        known = rules(opened.task)
        if opened.is_unreadable:  # everything would be missing
            known = tuple(rule for rule in known if not rule.finds_missing)
        else:
            checked.findings += pair.system.findings
        context = self.rule_context(pair)
        checked.judging += self._apply(known, context, pair.system, SUBMISSION, checked)
        if not alone:
            checked.findings += self._check_reference(pair, pair.reference, checked)
        values = opened.files.values
        checked.findings += opened.task.hooks.option_names(context, opened.options, values)
        return checked

    def rule_context(self, pair: Pair) -> RuleContext:
        """Build the rule context of a batch of what is judged, whatever its role."""
        opened = self.opened
        schema = opened.task.allows(opened.options, reference=opened.role == REFERENCE)
        return RuleContext(pair.system.corpus, pair.reference.corpus, schema, opened.files.usable)

    def _check_reference(self, pair: Pair, gold: ReadResult, checked: Batch) -> Iterator[Finding]:
        """Check a reference: a record of it that cannot be read would be lost."""
        opened = self.opened
        lost = () if self.is_official else frozenset(gold.corpus.rejected_records["code"])
        for item in gold.findings:
            blocking = item.blocking or (item.code in lost and item.severity == "error")
            yield msgspec.structs.replace(item, side=REFERENCE, blocking=blocking)
        schema = opened.task.allows(opened.options, reference=True)
        against = pair.reference.corpus if opened.role == REFERENCE else gold.corpus
        context = RuleContext(gold.corpus, against, schema, opened.files.usable)
        fitting = [rule for rule in rules(opened.task) if not rule.submission_only]
        yield from self._about_reference(self._apply(fitting, context, gold, REFERENCE, checked))

    def _apply(
        self,
        applied: Sequence[Rule],
        context: RuleContext,
        read: ReadResult,
        side: str,
        checked: Batch,
    ) -> Iterator[Finding]:
        """Apply rules to a side of a batch; what counts by the types of all batches is deferred."""
        declared = rules(self.opened.task)
        form = self.opened.gold_format if side == REFERENCE else self.opened.format
        if any(rule.counts_if for rule in declared):
            checked.types.setdefault(side, set()).update(read.corpus.frames["label"].unique())
        files = {origin: member.name for origin, member in enumerate(read.members)}
        certain = []
        for rule, rows in offending(applied, context, form):
            if rule.counts_if is None:
                certain.append((rule, rows))
            else:
                checked.deferred.append(Deferred(side, declared.index(rule), rows, files))
        return located(certain, dict(enumerate(read.members)), form)

    def _resolve(self, side: str) -> Iterator[Finding]:
        """Give the deferred findings about a side that count by the types of all batches."""
        kept = [item for item in self.total.deferred if item.side == side]
        if not kept:  # possibly nothing is known of a format either
            return
        opened, gold = self.opened, side == REFERENCE
        declared, schema = rules(opened.task), opened.task.allows(opened.options, reference=gold)
        types = frozenset(self.total.types[side])
        counts = [rule.counts_if is None or rule.counts_if(types, schema) for rule in declared]
        form, documents = opened.format, opened.system_files
        if gold:
            form, documents = opened.gold_format, opened.gold_files
        members = {member.name: member for files in documents.values() for member in files}
        for item in kept:
            if counts[item.rule]:
                files = {at: members[name] for at, name in item.files.items() if name in members}
                yield from located([(declared[item.rule], item.rows)], files, form)

    def _about_reference(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Turn findings of rules into findings about a reference: only some codes stop there."""
        fitting = [rule for rule in rules(self.opened.task) if not rule.submission_only]
        stops = {rule.code for rule in fitting if rule.blocks_reference}
        for item in findings:
            blocking = item.blocking and (self._official_checks_reference or item.code in stops)
            yield msgspec.structs.replace(item, side=REFERENCE, blocking=blocking)

    @property
    def _official_checks_reference(self) -> bool:
        """Whether the reference is checked as the submission is."""
        return self.is_official and self.opened.task.hooks.official_checks_reference

    def add(self, batch: Batch) -> None:
        """Add what a batch gives, with the documents of it that an earlier batch has, too."""
        if code := self.opened.format.repeated_code:  # the reader sees those of one batch
            for name, file in batch.documents.items():
                if (other := self.total.documents.get(name)) is not None:
                    values = {"name": name, "other": other}
                    repeated = entry(code).finding(values, file=file, record=name)
                    self.findings.append(repeated.of(self.opened.role))
        self.total.add(batch)

    def verdict(self, *, explain: bool = True) -> Verdict:
        """Judge the findings of all batches: whether what was checked passes.

        Args:
            explain: whether mistakes in all rows of tables are searched for, where there are
                errors: then these tables are checked again without them.
        """
        opened, task, total = self.opened, self.opened.task, self.total
        total.judging += self._resolve(SUBMISSION)
        total.findings += self._about_reference(self._resolve(REFERENCE))
        if self.read:
            gold = (item for item in total.findings if item.side == REFERENCE)
            unread = not total.reference and any(item.blocking for item in gold)
            self.unusable = [] if unread else [*unusable_reference(opened, total, gold=self.gold)]
            if not self.unusable:
                total.judging += missing_documents(opened, total)
        misnamed: list[Finding] = []
        if opened.role == SUBMISSION and opened.is_unreadable:  # then its name may be what is wrong
            misnamed = [item for item in task.packaging.named(opened.system) if _is_error(item)]
        accepted = task.hooks.accepted(opened.options)
        once = {rule.code for rule in rules(task) if rule.once}
        findings: list[Finding] = []
        seen: set[tuple[str, str]] = set()
        for item in (*total.findings, *self.unusable, *self._about_submission(), *misnamed):
            if item.code in once and (item.side, item.code) in seen:
                continue
            seen.add((item.side, item.code))
            stops = item.blocking and item.code not in accepted
            findings.append(msgspec.structs.replace(item, blocking=stops))
        findings = in_order(findings)
        staying = {item.code for item in misnamed}
        if self.is_official:
            findings = in_order(map(self._as_official, findings))
            staying |= task.official_crashes_on
            staying |= {item.code for item in findings if self._is_ignored(item)}
        sides = {opened.role: opened.system, self.other: opened.reference}
        paths = {side: source.path for side, source in sides.items() if source is not None}
        cascade = cascades(findings, paths, staying)
        passed, decided = self._outcome(findings, cascade.of_reference)
        about_it = [item for item in cascade.kept if item.side == opened.role]
        others = [item for item in cascade.kept if item.side != opened.role]
        if all(member.max_per_code for member in opened.system.members):  # not all are explained
            about_it = list(by_notation(about_it, total.records))
        if explain and not opened.is_unreadable:
            about_it = explain_tables(opened.format, opened.system, about_it, self._again)
        form = "" if opened.reference is None else opened.reference_format.name
        return Verdict(
            task.name, opened.profile, passed and decided, Findings([*about_it, *others]),
            opened.role, decided=decided, paths=paths, documents=len(total.documents),
            records=total.records, compared=task.hooks.compared(form, opened.options),
            files_judged=tuple(member.display for member in opened.system.members),
        )  # fmt: skip

    def _again(self, system: Source) -> list[Finding]:
        """Give the findings of what is judged when its files are replaced."""
        check = Check(replace(self.opened, system=system), gold=self.gold)
        findings = check.complete(explain=False).findings
        return [item for item in findings if item.side == self.opened.role]

    def _about_submission(self) -> list[Finding]:
        """Return the findings about the submission that are not those of its reference."""
        opened, codes = self.opened, {finding.code for finding in self.unusable}
        beside_nothing = self.lacks_reference or codes - {NO_COMMON_DOCUMENT}
        if beside_nothing and not (self.is_official and self.read):
            return []
        findings = [*self.total.judging]
        # Of what cannot be opened everything would be missing.
        if opened.role == SUBMISSION and not opened.is_unreadable:
            package = opened.package
            if self._official_checks_reference:  # which does not know other documents
                expected = {n: f for n, f in package.expected.items() if n in self.total.reference}
                package = replace(package, expected=expected)
            findings += opened.task.package(package)
        left_out = opened.task.document_codes if codes else frozenset()
        return [finding for finding in findings if finding.code not in left_out]

    def _outcome(
        self, findings: Sequence[Finding], of_reference: Sequence[Finding]
    ) -> tuple[bool, bool]:
        """Return whether what was checked passes, and whether that is decided.

        Findings of other sides never fail it. What is left out because of another finding still
        counts, but not if that is one about the reference. It is decided if what it is checked
        against can be used, and more than that is in the way.
        """
        task, role, both = self.opened.task, self.opened.role, self._official_checks_reference
        excused = {id(item) for item in of_reference}
        counted = [item for item in findings if id(item) not in excused]
        if self.is_official:
            exempt = REFERENCE if role == SUBMISSION else TEXTS
            rejects = task.official_rejects or attrgetter("blocking")
            passed = not any(rejects(item) for item in counted if item.side != exempt)
        else:
            passed = not any(_is_error(item) for item in counted if item.side == role)
        apart = {role} if both else {role, REFERENCE}
        undecided = (
            (role != REFERENCE and (self.unusable or self.lacks_reference))
            or any(item.blocking for item in findings if item.side not in apart)
            or (passed and any(item.blocking or not both for item in of_reference))
        )
        return passed, not undecided

    def blocks(self, finding: Finding) -> bool:
        """Whether a finding blocks if the verdict keeps it."""
        if finding.code in self.opened.task.hooks.accepted(self.opened.options):
            return False
        return (self._as_official(finding) if self.is_official else finding).blocking

    def _as_official(self, finding: Finding) -> Finding:
        """Return a finding that blocks only if the official software stops there."""
        ignored = (self.read and finding in self.unusable) or self._is_ignored(finding)
        return msgspec.structs.replace(finding, blocking=finding.blocking and not ignored)

    def _is_ignored(self, finding: Finding) -> bool:
        """Whether the official software goes on in spite of a finding."""
        ignores = self.opened.task.official_ignores
        return ignores is not None and ignores(finding)


def _is_error(finding: Finding) -> bool:
    return finding.severity == "error"
