"""Findings of which all batches decide whether they count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import msgspec

from hlteval.converters import ReadResult
from hlteval.findings import REFERENCE, SUBMISSION, Finding, Findings, entry
from hlteval.findings.cascades import cascades
from hlteval.findings.sequence import by_notation
from hlteval.results.verdict import Verdict
from hlteval.sources import Member, Source
from hlteval.tasks import rules
from hlteval.tasks.task import Package
from hlteval.validators import RuleContext
from hlteval.validators.rule import IDENTIFIERS, Rule
from hlteval.validators.rule_findings import Offending, located, offending
from hlteval.workflows.run.batches import Pair, Submission
from hlteval.workflows.run.reference import Seen, Sides, before_reading, explained


class Undecided(NamedTuple):
    """What a rule has found in a batch, of which all batches decide whether it counts.

    Attributes:
        side: what it is about.
        rule: the number of the rule among those of the task.
        found: the rows.
        files: the names of the files of the batch by their `origin`.
    """

    side: str
    rule: int
    found: Offending
    files: dict[int, str]


@dataclass
class Later:
    """Findings that count or not by the types of the frames of all batches.

    They are rows until then: most may be dropped, and only the places of others are looked up.

    Attributes:
        types: these types, by side.
        found: what was found.
    """

    types: dict[str, set[str]] = field(default_factory=dict)
    found: list[Undecided] = field(default_factory=list)

    def add(self, other: Later) -> None:
        """Add those of another batch."""
        for side, types in other.types.items():
            self.types.setdefault(side, set()).update(types)
        self.found += other.found

    def see(self, side: str, read: ReadResult, declared: Sequence[Rule]) -> None:
        """Take note of the types of the frames of a side, if findings depend on them."""
        if any(rule.counts_if for rule in declared):
            self.types.setdefault(side, set()).update(read.corpus.frames["label"].unique())

    def decided(
        self,
        found: Sequence[tuple[Rule, Offending]],
        side: str,
        read: ReadResult,
        declared: Sequence[Rule],
    ) -> list[tuple[Rule, Offending]]:
        """What counts whatever other batches hold; the rest is kept.

        Args:
            found: what rules have found in a batch.
            side: what it is about.
            read: the batch.
            declared: the rules of the task.
        """
        files = {origin: member.name for origin, member in enumerate(read.members)}
        self.found += (
            Undecided(side, declared.index(rule), item, files)
            for rule, item in found
            if rule.counts_if is not None
        )
        return [(rule, item) for rule, item in found if rule.counts_if is None]

    def counting(self, opened: Submission, side: str) -> Iterator[Finding]:
        """The findings about a side that count."""
        kept = [item for item in self.found if item.side == side]
        if not kept:  # possibly nothing is known of a format either
            return
        declared, reference = rules(opened.task), side == REFERENCE
        schema = opened.task.allows(opened.options, reference=reference)
        types = frozenset(self.types[side])
        counts = [rule.counts_if is None or rule.counts_if(types, schema) for rule in declared]
        form = opened.gold_format if reference else opened.format
        known = _members(opened, side)
        for item in kept:
            if counts[item.rule]:
                members = {at: known[name] for at, name in item.files.items() if name in known}
                found = [(declared[item.rule], item.found)]
                yield from located(found, members, form)


def _members(opened: Submission, side: str) -> dict[str, Member]:
    """The files of a side by their names."""
    documents = opened.gold_documents if side == REFERENCE else opened.found
    return {member.name: member for members in documents.values() for member in members}


TEXTS = "--against"
"""The side of what a reference is checked against that is checked by itself."""

_RECORDS = (*IDENTIFIERS, "instances", "ratings", "changes", "mappings", "responses")
"""The tables whose rows are records of a submission."""
NO_COMMON_DOCUMENT = "REF104"


class Checked(NamedTuple):
    """What the check of a batch adds; the attributes are those of `Check`.

    Attributes:
        names: how many documents both sides have.
        documents: the file of each document by its name, where the format has one for each.
    """

    names: int
    seen: Seen
    documents: dict[str, str]
    records: int
    findings: list[Finding]
    judging: list[Finding]
    later: Later


@dataclass
class Check:
    """What is found in a submission and in its reference.

    Attributes:
        opened: both, opened.
        profile: `plan` or `official`.
        sides: what is seen of both sides.
        findings: those of sources, readers and of the reference, whoever they are about.
        judging: those of rules about the submission, beside its reference.
        unusable: why the reference cannot be used; empty if it can.
        read: whether the batches were read: then the official software gets to its end.
        documents: the documents of what is judged, by name, each with its file.
        records: the number of their records.
        later: findings of which all batches decide whether they count.
    """

    opened: Submission
    profile: str
    sides: Sides
    findings: list[Finding] = field(default_factory=list)
    judging: list[Finding] = field(default_factory=list)
    unusable: list[Finding] = field(default_factory=list)
    read: bool = True
    documents: dict[str, str] = field(default_factory=dict)
    records: int = 0
    later: Later = field(default_factory=Later)

    @classmethod
    def of(cls, opened: Submission, profile: str, *, gold: bool) -> Check:
        """The check of a submission before anything is read of it.

        Args:
            opened: the submission and its reference.
            profile: `plan` or `official`.
            gold: whether gold annotations are needed.
        """
        check = cls(opened, profile, Sides(opened, gold), list(opened.files.findings))
        check.findings += _of(opened.role, opened.system.findings)
        if opened.reference is not None:
            check.findings += _of(check.other, opened.reference.findings)
        check.unusable += before_reading(opened, gold=gold)
        check.read = not check.unusable
        return check

    def batches(self, size: int | None) -> Iterator[Iterator[Pair]]:
        """The batches as the profile reads them; none if the reference cannot be used."""
        for batch in self.opened.batches(size) if self.read else ():
            yield map(self._as_read, batch)

    def results(self, size: int | None) -> Iterator[Iterator[Checked]]:
        """What the check of each batch adds."""
        for batch in self.batches(size):
            yield map(self.checked, batch)

    def _as_read(self, pair: Pair) -> Pair:
        """A batch as the profile reads it: the official software may read records otherwise."""
        reading = self.opened.task.hooks.official_reading
        if self.profile != "official" or reading is None:
            return pair
        return Pair(*reading(pair.reference, pair.system))

    @property
    def other(self) -> str:
        """The side of what is checked against."""
        return TEXTS if self.opened.role == REFERENCE else REFERENCE

    def checked(self, pair: Pair) -> Checked:
        """Check a batch."""
        corpus = pair.system.corpus
        documents = self._files(pair.system)
        records = sum(getattr(corpus, table).height for table in _RECORDS)
        seen = self.sides.seen(pair)
        later = Later()
        findings = self._findings(pair, later)
        return Checked(pair.documents, seen, documents, records, *findings, later)

    def _findings(self, pair: Pair, later: Later) -> tuple[list[Finding], list[Finding]]:
        """Those of readers and about the reference, and those of rules about the submission."""
        own = pair.reference is pair.system
        if self.opened.role == REFERENCE:
            others = [] if own else _of(TEXTS, pair.reference.findings)
            return [*self._of_reference(pair, pair.system, later), *others], []
        read = [] if self.opened.unread else pair.system.findings
        judging = list(self._of_submission(pair, later))
        gold = () if own else self._of_reference(pair, pair.reference, later)
        opened = self.opened
        values = opened.files.values
        named = opened.task.hooks.option_names(self.judged(pair), opened.options, values)
        return [*read, *gold, *named], judging

    def add(self, checked: Checked) -> None:
        """Add what the check of a batch has found."""
        self.sides.add(checked.seen)
        self.findings += self._repeated(checked.documents)
        self.documents = checked.documents | self.documents
        self.records += checked.records
        self.findings += checked.findings
        self.judging += checked.judging
        self.later.add(checked.later)

    def _files(self, read: ReadResult) -> dict[str, str]:
        """The file of each document, if the format gives a document in two files a code."""
        names = read.corpus.documents["name"].to_list()
        if not self.opened.format.repeated_code:
            return dict.fromkeys(names, "")
        origins = read.corpus.documents["origin"]
        return dict(zip(names, (read.members[at].display for at in origins), strict=True))

    def _repeated(self, documents: Mapping[str, str]) -> Iterator[Finding]:
        """Documents that an earlier batch has, too; the reader sees those of one batch."""
        if code := self.opened.format.repeated_code:
            for name in [name for name in documents if name in self.documents]:
                values = {"name": name, "other": self.documents[name]}
                found = entry(code).finding(values, file=documents[name], record=name)
                yield found.of(self.opened.role)

    def _of_submission(self, pair: Pair, later: Later) -> Iterator[Finding]:
        # Of what cannot be opened everything would be missing.
        unread, known = self.opened.unread, rules(self.opened.task)
        applied = [rule for rule in known if not (unread and rule.finds_missing)]
        return self._by_rules(applied, self.judged(pair), pair.system, SUBMISSION, later)

    def _by_rules(
        self,
        applied: Sequence[Rule],
        context: RuleContext,
        read: ReadResult,
        side: str,
        later: Later,
    ) -> Iterator[Finding]:
        """What rules find and counts whatever other batches hold; the rest is for later."""
        opened = self.opened
        declared = rules(opened.task)
        form = opened.gold_format if side == REFERENCE else opened.format
        later.see(side, read, declared)
        decided = later.decided(offending(applied, context, form), side, read, declared)
        return located(decided, dict(enumerate(read.members)), form)

    def judged(self, pair: Pair) -> RuleContext:
        """What rules check of a batch of what is judged, whatever its role."""
        opened = self.opened
        schema = opened.task.allows(opened.options, reference=opened.role == REFERENCE)
        return RuleContext(pair.system.corpus, pair.reference.corpus, schema, opened.files.usable)

    def _of_reference(self, pair: Pair, gold: ReadResult, later: Later) -> Iterator[Finding]:
        """The findings about a reference: a record of it that cannot be read would be lost."""
        opened = self.opened
        lost = frozenset(gold.corpus.rejected_records["code"]) if self.profile != "official" else ()
        for found in gold.findings:
            blocking = found.blocking or (found.code in lost and found.severity == "error")
            yield msgspec.structs.replace(found, side=REFERENCE, blocking=blocking)
        schema = opened.task.allows(opened.options, reference=True)
        against = pair.reference.corpus if opened.role == REFERENCE else gold.corpus
        context = RuleContext(gold.corpus, against, schema, opened.files.usable)
        fitting = [rule for rule in rules(opened.task) if not rule.submission_only]
        yield from self._about_reference(self._by_rules(fitting, context, gold, REFERENCE, later))

    def _about_reference(self, found: Iterable[Finding]) -> Iterator[Finding]:
        """What rules have found, about a reference: only some codes stop there."""
        fitting = [rule for rule in rules(self.opened.task) if not rule.submission_only]
        stops = {rule.code for rule in fitting if rule.blocks_reference}
        for item in found:
            blocking = item.blocking and (self._official_checks_reference or item.code in stops)
            yield msgspec.structs.replace(item, side=REFERENCE, blocking=blocking)

    @property
    def _official_checks_reference(self) -> bool:
        """Whether the reference is checked as the submission is."""
        return self.profile == "official" and self.opened.task.hooks.official_checks_reference

    def verdict(self, *, explain: bool = True) -> Verdict:
        """The findings of all batches, and whether what was checked passes.

        Args:
            explain: whether mistakes in all rows of tables are searched for, where there are
                errors: then these tables are checked again without them.
        """
        opened = self.opened
        self.judging += self.later.counting(opened, SUBMISSION)
        self.findings += self._about_reference(self.later.counting(opened, REFERENCE))
        if self.read:
            self.unusable = [] if self._unread else list(self.sides.findings())
        if self.read and not self.unusable:
            self.judging += self.sides.missing()
        named = self._named()
        findings = [*self.findings, *self.unusable, *self._judging(), *named]
        accepted = opened.task.hooks.accepted(opened.options)
        findings = [_not_blocking(item) if item.code in accepted else item for item in findings]
        sides = {opened.role: opened.system, self.other: opened.reference}
        paths = {side: source.path for side, source in sides.items() if source is not None}
        judged = Verdict(
            opened.task.name, self.profile, True, Findings(self._once(findings)), opened.role,
            paths=paths, documents=len(self.documents), records=self.records,
            compared=self._compared(),
            files_judged=tuple(member.display for member in opened.system.members),
        )  # fmt: skip
        staying = {item.code for item in named}
        if self.profile == "official":
            findings = [self._as_official(finding) for finding in judged.findings]
            judged = msgspec.structs.replace(judged, findings=tuple(findings))
            staying |= opened.task.official_crashes_on
            staying |= {item.code for item in findings if self._is_ignored(item)}
        found = cascades(judged.findings, paths, staying)
        judged = self._decided(self._passing(judged, found.of_reference), found.of_reference)
        kept = list(self._by_notation(found.kept))
        if explain:
            kept = self._explained(kept)
        return msgspec.structs.replace(judged, findings=tuple(kept))

    def _explained(self, findings: list[Finding]) -> list[Finding]:
        """The findings, with one for each mistake in all rows of a table of either side."""
        opened = self.opened
        if opened.unread:
            return findings
        others = [item for item in findings if item.side != opened.role]
        own = [item for item in findings if item.side == opened.role]
        return [*explained(opened.format, opened.system, own, self._again), *others]

    def _again(self, system: Source) -> list[Finding]:
        """The findings of what is judged when its files are replaced."""
        opened = replace(self.opened, system=system)
        check = Check.of(opened, self.profile, gold=self.sides.gold)
        for checked in chain.from_iterable(check.results(None)):
            check.add(checked)
        found = check.verdict(explain=False).findings
        return [item for item in found if item.side == opened.role]

    def _by_notation(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """The findings, those of what is judged with one for a notation of a whole file.

        Where all findings are to be explained, each is explained by itself.
        """
        role = self.opened.role
        if any(not member.max_per_code for member in self.opened.system.members):
            yield from findings
            return
        yield from by_notation((item for item in findings if item.side == role), self.records)
        yield from (item for item in findings if item.side != role)

    def _compared(self) -> str:
        """What the records were compared with, where the task says so."""
        opened = self.opened
        form = "" if opened.reference is None else opened.reference_format.name
        return opened.task.hooks.compared(form, opened.options)

    @property
    def _unread(self) -> bool:
        """Whether other findings explain why nothing was read of the reference."""
        gold = [finding for finding in self.findings if finding.side == REFERENCE]
        return not self.sides.reference and any(finding.blocking for finding in gold)

    def _named(self) -> list[Finding]:
        """What is wrong with the name of a submission of which nothing can be read."""
        opened = self.opened
        if opened.role != SUBMISSION or not opened.unread:
            return []
        return [*filter(_is_error, opened.task.packaging.named(opened.system))]

    def _judging(self) -> list[Finding]:
        """The findings about the submission that are not those of its reference."""
        codes = {finding.code for finding in self.unusable}
        beside_nothing = self.sides.lacking or codes - {NO_COMMON_DOCUMENT}
        if beside_nothing and not (self.profile == "official" and self.read):
            return []
        # Of what cannot be opened everything would be missing.
        package = self.opened.role == SUBMISSION and not self.opened.unread
        found = [*self.judging, *(self.opened.task.package(self._package) if package else ())]
        left_out = self.opened.task.document_codes if codes else frozenset()
        return [finding for finding in found if finding.code not in left_out]

    @property
    def _package(self) -> Package:
        """The submission as a package, beside the documents that the profile knows."""
        package = self.opened.package
        if not self._official_checks_reference:
            return package
        known = self.sides.reference
        expected = {name: files for name, files in package.expected.items() if name in known}
        return replace(package, expected=expected)

    def _once(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, of rules that report once only the first of each side."""
        once = {rule.code for rule in rules(self.opened.task) if rule.once}
        first = {(item.side, item.code): item for item in reversed(findings) if item.code in once}
        return [item for item in findings if first.get((item.side, item.code), item) is item]

    def _passing(self, judged: Verdict, of_reference: Sequence[Finding]) -> Verdict:
        """The verdict with whether it passes: findings of other sides never fail it.

        What is left out because of another finding still counts, but not if that is one about the
        reference.
        """
        task, excused = self.opened.task, {id(item) for item in of_reference}
        counted = [item for item in judged.findings if id(item) not in excused]
        if judged.profile != "official":
            own = [item for item in counted if item.side == judged.side]
            return msgspec.structs.replace(judged, passed=not any(_is_error(item) for item in own))
        rejects = task.official_rejects or (lambda finding: finding.blocking)
        exempt = REFERENCE if judged.side == SUBMISSION else TEXTS
        passed = not any(rejects(item) for item in counted if item.side != exempt)
        return msgspec.structs.replace(judged, passed=passed)

    def blocks(self, finding: Finding) -> bool:
        """Whether a finding blocks if the verdict keeps it."""
        if finding.code in self.opened.task.hooks.accepted(self.opened.options):
            return False
        return (self._as_official(finding) if self.profile == "official" else finding).blocking

    def _as_official(self, finding: Finding) -> Finding:
        """A finding that blocks only if the official software stops there."""
        ignored = (self.read and finding in self.unusable) or self._is_ignored(finding)
        return msgspec.structs.replace(finding, blocking=finding.blocking and not ignored)

    def _is_ignored(self, finding: Finding) -> bool:
        """Whether the official software goes on in spite of a finding."""
        ignores = self.opened.task.official_ignores
        return ignores is not None and ignores(finding)

    def _decided(self, judged: Verdict, of_reference: Sequence[Finding]) -> Verdict:
        """The verdict, which is undecided if what it is checked against cannot be used.

        It also is if nothing but the reference is in the way.
        """
        apart = {judged.side} if self._official_checks_reference else {judged.side, REFERENCE}
        others = [item for item in judged.findings if item.side not in apart]
        usable = judged.side == REFERENCE or not (self.unusable or self.sides.lacking)
        blocked = any(finding.blocking for finding in others)
        if self._official_checks_reference:
            of_reference = [item for item in of_reference if item.blocking]
        if usable and not blocked and not (judged.passed and of_reference):
            return judged
        return msgspec.structs.replace(judged, passed=False, decided=False)


def _is_error(finding: Finding) -> bool:
    return finding.severity == "error"


def _not_blocking(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, blocking=False)


def _of(side: str, findings: Sequence[Finding]) -> list[Finding]:
    return [finding.of(side) for finding in findings]
