"""Checks: the findings about a submission and its reference, batch after batch, and the verdict.

References come first: whether one can be used and is that of the submission. Mistakes in all rows
of a table, of either side, are diagnosed at the end.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import PurePosixPath

import msgspec
import polars as pl

from hlteval.converters import ReadResult, load
from hlteval.findings import REFERENCE, SUBMISSION, Finding, Findings, entry
from hlteval.findings.cascades import cascades
from hlteval.findings.catalogue import in_order
from hlteval.findings.counts import count_of, first_names
from hlteval.findings.sequence import by_notation
from hlteval.representation import (
    annotators_by_document,
    distinct,
    documents_of_others,
    of_annotator,
)
from hlteval.results.verdict import Verdict
from hlteval.sources import Source
from hlteval.tasks import rules
from hlteval.validators import RuleContext
from hlteval.validators.names import mismatch, unknown_names
from hlteval.validators.rule import IDENTIFIERS, Rule, explain, run
from hlteval.workflows.run.batches import Batch, Deferred, Pair, Submission, has_files
from hlteval.workflows.run.parts import NotApart, locate_apart, some_lines
from hlteval.workflows.run.tables import diagnose_table, explain_tables

#: The codes of the findings of all tasks about references as a whole, or their prefixes.
CODES = ("REF",)

#: The side of what a reference is checked against that is checked by itself.
TEXTS = "--against"

#: The tables whose rows are records of a submission.
_RECORDS = (*IDENTIFIERS, "instances", "ratings", "changes", "mappings", "responses")
NO_COMMON_DOCUMENT = "REF104"
#: Under which, with the role of a side, a batch has the names of annotators, and the documents
#: that only others than the chosen one have annotated.
_ANNOTATORS, _OTHERS = "annotators: ", "documents of others: "
#: Under which a part has what its reader has detected.
_DETECTED = "detected: "


class Check:
    """The check of a submission and its reference.

    Args:
        opened: both, opened.
        gold: whether gold annotations are needed; by default in references of scored tasks.

    Attributes:
        rules: those of the task.
        of_references: those of them that references are checked by.
        other: the side of what is checked against.
        is_official: whether findings count as for the official software.
        both: whether the reference is checked as the submission is.
        total: what all batches show that were added.
        unusable: why the reference cannot be used; empty if it can.
        read: whether the batches are read: then the official software gets to its end.
        annotator: the annotator whose annotation counts; empty where none is chosen.
    """

    def __init__(self, opened: Submission, *, gold: bool | None = None) -> None:
        self.opened, self.total = opened, Batch()
        alone = opened.role == REFERENCE
        self.gold = alone and opened.task.metric is not None if gold is None else gold
        self.other = TEXTS if alone else REFERENCE
        self.is_official = opened.profile == "official"
        self.both = self.is_official and opened.task.hooks.official_checks_reference
        self.unusable = list(before_reading(opened, gold=self.gold))
        self.read = not self.unusable
        self.findings.extend(opened.files.findings)
        self.findings.extend(item.of(opened.role) for item in opened.system.findings)
        if opened.reference is not None:
            self.findings.extend(item.of(self.other) for item in opened.reference.findings)
        options = (item.name for item in opened.task.options if item.selects_annotator)
        self.annotator = next((opened.options.get(name, "") for name in options), "")
        self.rules = rules(opened.task)
        self.of_references = [rule for rule in self.rules if not rule.submission_only]

    @property
    def findings(self) -> list[Finding]:
        """The findings of sources, readers and of the reference, whoever they are about."""
        return self.total.findings

    @property
    def depends_on_types(self) -> bool:
        """Whether the types of all frames decide what is found."""
        return any(rule.counts_if for rule in self.rules)

    @property
    def lacks_reference(self) -> bool:
        """Whether there is nothing to compare with: the reference has no documents."""
        return self.opened.is_compared and not any(map(len, self.total.reference))

    def batches(self, size: int | None) -> Iterator[Iterator[Pair]]:
        """Give the batches as the profile reads them; none if the reference cannot be used.

        The official software may read records otherwise.
        """
        reading = self.opened.task.hooks.official_reading if self.is_official else None
        for batch in self.opened.batches(size) if self.read else ():
            pairs = batch
            if reading is not None:
                pairs = (Pair(*reading(pair.reference, pair.system)) for pair in batch)
            yield map(self._choose_annotator, pairs) if self.annotator else pairs

    def _choose_annotator(self, pair: Pair) -> Pair:
        """Leave out what others than the chosen annotator have annotated."""
        system = replace(pair.system, corpus=of_annotator(pair.system.corpus, self.annotator))
        if pair.reference is pair.system:
            return Pair(system, system)
        corpus = of_annotator(pair.reference.corpus, self.annotator)
        return Pair(replace(pair.reference, corpus=corpus), system)

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
        checked = observe_sides(opened, pair)
        checked.names = pair.documents
        if self.annotator:
            for role, side in {self.other: pair.reference, opened.role: pair.system}.items():
                annotators = annotators_by_document(side.corpus)["annotator"]
                checked.types.setdefault(f"{_ANNOTATORS}{role}", set()).update(annotators)
                others = documents_of_others(side.corpus, self.annotator)
                checked.types.setdefault(f"{_OTHERS}{role}", set()).update(others)
        if opened.format.repeated_code:
            files = [pair.system.members[index].display for index in corpus.documents["origin"]]
            checked.places = dict(zip(corpus.documents["name"], files, strict=True))
        checked.records = sum(getattr(corpus, table).height for table in _RECORDS)
        alone = pair.reference is pair.system
        if opened.role == REFERENCE:
            checked.findings += self._check_reference(pair, pair.system, checked)
            if not alone:
                checked.findings += (item.of(TEXTS) for item in pair.reference.findings)
            return checked
        known = self.rules
        if opened.is_unreadable:  # everything would be missing
            known = tuple(rule for rule in known if not rule.finds_missing)
        else:
            checked.findings += pair.system.findings
        context = self.rule_context(pair)
        checked.judging += self._apply(known, context, pair.system, SUBMISSION, checked)
        values = opened.files.values
        named = [*opened.task.hooks.option_names(context, opened.options, values)]
        del context  # which has tables of the submission that rules have made
        if not alone:
            checked.findings += self._reference_findings(pair, checked)
        checked.findings += named
        return checked

    def rule_context(self, pair: Pair) -> RuleContext:
        """Build the rule context of a batch of what is judged, whatever its role."""
        opened = self.opened
        schema = opened.task.allows(opened.options, reference=opened.role == REFERENCE)
        return RuleContext(pair.system.corpus, pair.reference.corpus, schema, opened.files.usable)

    def _reference_findings(self, pair: Pair, checked: Batch) -> Iterable[Finding]:
        """Check the reference of a batch, once for all submissions that have the same documents."""
        gold, shared = pair.reference, self.opened.shared
        if shared is None or self.is_official or self.depends_on_types:
            return self._check_reference(pair, gold, checked)
        corpus = gold.corpus  # the first batch has findings that are about no document
        key = (*corpus.documents["name"], len(gold.findings), corpus.rejected_records.height)
        if key not in shared.findings:
            seen = Batch()
            seen.findings += self._check_reference(pair, gold, seen)
            shared.findings[key] = seen
        seen = shared.findings[key]
        checked.deferred += seen.deferred
        for name, shown in seen.types.items():
            checked.types.setdefault(name, set()).update(shown)
        return seen.findings

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
        findings = self._apply(self.of_references, context, gold, REFERENCE, checked)
        yield from self._about_reference(findings)

    def _apply(
        self,
        applied: Sequence[Rule],
        context: RuleContext,
        read: ReadResult,
        side: str,
        checked: Batch,
    ) -> Iterator[Finding]:
        """Apply rules to a side of a batch; what all batches decide is deferred."""
        form = self.opened.gold_format if side == REFERENCE else self.opened.format
        if self.depends_on_types:
            checked.types.setdefault(side, set()).update(read.corpus.frames["label"].unique())
        files = {origin: member.name for origin, member in enumerate(read.members)}
        for rule in applied:
            if rule.unique is not None and self.opened.parts is not None:
                key = side, rule.code
                checked.identifiers.setdefault(key, []).append(rule.unique(context))
            if rule.conclusion is not None:
                shown = checked.types.setdefault(f"{rule.code} {side}", set())
                shown.update(rule.conclusion.observe(context))
        certain = []
        for rule, rows in run(applied, context, form):
            concluded = self.opened.parts or rule.counts_if or rule.conclusion
            only_valid = self.opened.parts and self.opened.task.hooks.apart == "valid"
            if only_valid and not rule.conclusion:
                raise NotApart
            if not concluded:
                certain.append((rule, rows))
            else:
                checked.deferred.append(Deferred(side, self.rules.index(rule), rows, files))
        return explain(certain, dict(enumerate(read.members)), form)

    def _resolve(self, side: str) -> Iterator[Finding]:
        """Give the deferred findings about a side that count by what all batches show."""
        kept = [item for item in self.total.deferred if item.side == side]
        if not kept:  # possibly nothing is known of a format either
            return
        opened, gold = self.opened, side == REFERENCE
        schema = opened.task.allows(opened.options, reference=gold)
        types = frozenset(self.total.types.get(side, ()))
        counts = [rule.counts_if is None or rule.counts_if(types, schema) for rule in self.rules]
        form, documents = opened.format, opened.system_files
        if gold:
            form, documents = opened.gold_format, opened.gold_files
        members = {member.name: member for files in documents.values() for member in files}
        for number in {item.rule: None for item in kept}:
            if (conclusion := self.rules[number].conclusion) is not None:
                own = [at for at, item in enumerate(kept) if item.rule == number]
                rows = pl.concat(kept[at].rows.with_columns(batch=pl.lit(at)) for at in own)
                shown = frozenset(self.total.types.get(f"{self.rules[number].code} {side}", ()))
                rows = conclusion.conclude(rows, shown, schema)
                for at in own:
                    kept[at] = kept[at]._replace(rows=rows.filter(batch=at).drop("batch"))
        if opened.parts is not None:
            stretches = opened.parts.stretches(of_reference=side != opened.role)
            locate = partial(locate_apart, locate=form.locate, stretches=stretches)
            form = msgspec.structs.replace(form, locate=locate)
        by_files: dict[tuple[tuple[int, str], ...], list[Deferred]] = {}
        for item in kept:
            if counts[item.rule] and item.rows.height:
                by_files.setdefault(tuple(item.files.items()), []).append(item)
        for names, items in by_files.items():
            files = {at: members[name] for at, name in names if name in members}
            found: dict[int, list[pl.DataFrame]] = {}
            for item in items:
                found.setdefault(item.rule, []).append(item.rows)
            each = [(self.rules[rule], pl.concat(found[rule])) for rule in sorted(found)]
            yield from explain(each, files, form)

    def hold_apart(self) -> None:
        """Check that parts show all that whole files would.

        Raises:
            NotApart: if documents or identifiers are in several parts, both sides look exchanged,
                or parts are not read alike.
        """
        each = [self.total.hashes_of(number) for number in range(len(self.total.documents))]
        if each and pl.concat(each).is_duplicated().any():  # also two names of one hash
            raise NotApart
        total, confidences = self.total, self.total.confidences
        if any(len(shown) > 1 for key, shown in total.types.items() if key.startswith(_DETECTED)):
            raise NotApart
        for frames in total.identifiers.values():
            rows = pl.concat(frames).sort("key", "value")
            again = (pl.col("key") == pl.col("key").shift()) & (
                pl.col("value") != pl.col("value").shift()
            )
            if rows.select(again.any()).item():
                raise NotApart
        total.identifiers.clear()
        known, given = (confidences.get(side, (0.0, 0.0)) for side in (REFERENCE, SUBMISSION))
        if total.exchanged or (known[0] < known[1] and given[0] == given[1]):
            raise NotApart

    def _about_annotator(self) -> Iterator[Finding]:
        """Yield findings about the chosen annotator: nobody, or not that of some documents."""
        types, annotator, roles = self.total.types, self.annotator, (self.other, self.opened.role)
        known = {role: types.get(f"{_ANNOTATORS}{role}", set()) for role in roles}
        yield from unknown_names(
            "annotator", "annotator", [annotator], set().union(*known.values())
        )
        for role in roles:
            others = sorted(types.get(f"{_OTHERS}{role}", ())) if annotator in known[role] else []
            if others:
                number, names = count_of(len(others), "document"), first_names(others, 3)
                values = {"number": number, "annotator": annotator, "names": names}
                yield entry("OPT117").finding(values).of(role)

    def _about_reference(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Turn findings of rules into findings about a reference: only some codes stop there."""
        stops = {rule.code for rule in self.of_references if rule.blocks_reference}
        for item in findings:
            blocking = item.blocking and (self.both or item.code in stops)
            yield msgspec.structs.replace(item, side=REFERENCE, blocking=blocking)

    def add(self, batch: Batch) -> None:
        """Add what a batch gives, with the documents of it that an earlier batch has, too.

        Raises:
            NotApart: if it is a part, and has documents of the one before.
        """
        if code := self.opened.format.repeated_code:  # the reader sees those of one batch
            for name, file in batch.places.items():
                if (other := self.total.places.get(name)) is not None:
                    values = {"name": name, "other": other}
                    repeated = entry(code).finding(values, file=file, record=name)
                    self.findings.append(repeated.of(self.opened.role))
        if self.opened.parts is not None:  # a file in disorder shows at once
            own = batch.hashes_of(0)
            if self.total.documents and own.is_in(self.total.hashes_of(-1).implode()).any():
                raise NotApart
        self.total.add(batch)

    def verdict(self, *, explain: bool = True) -> Verdict:
        """Judge the findings of all batches: whether what was checked passes.

        Args:
            explain: whether mistakes in all rows of tables are searched for, where there are
                errors: then these tables are checked again without them.
        """
        opened, task, total = self.opened, self.opened.task, self.total
        if self.annotator and self.read:
            total.findings += self._about_annotator()
        total.judging += self._resolve(SUBMISSION)
        total.findings += self._about_reference(self._resolve(REFERENCE))
        if self.read:
            gold = (item for item in total.findings if item.side == REFERENCE)
            unread = not any(map(len, total.reference)) and any(item.blocking for item in gold)
            self.unusable = [] if unread else [*unusable_reference(opened, total, gold=self.gold)]
            if not self.unusable:
                total.judging += missing_documents(opened, total)
        misnamed: list[Finding] = []
        if opened.role == SUBMISSION and opened.is_unreadable:  # then its name may be what is wrong
            misnamed = [item for item in task.packaging.named(opened.system) if _is_error(item)]
        accepted = task.hooks.accepted(opened.options)
        once = {rule.code for rule in self.rules if rule.once}
        findings: list[Finding] = []
        seen: set[tuple[str, str]] = set()
        for item in (*total.findings, *self.unusable, *self._about_submission(), *misnamed):
            if item.code in once and (item.side, item.code) in seen:
                continue
            seen.add((item.side, item.code))
            stops = item.blocking and item.code not in accepted
            same = stops == item.blocking
            findings.append(item if same else msgspec.structs.replace(item, blocking=stops))
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
        if explain and not opened.is_unreadable and not self._begins_well:
            about_it = explain_tables(opened.format, opened.system, about_it, self._again)
        form = "" if opened.reference is None else opened.reference_format.name
        return Verdict(
            task.name, opened.profile, passed and decided, Findings([*about_it, *others]),
            opened.role, decided=decided, paths=paths,
            documents=len(distinct(names_of(total.documents))),
            records=total.records, compared=task.hooks.compared(form, opened.options),
            files_judged=tuple(member.display for member in opened.system.members),
        )  # fmt: skip

    @property
    def _begins_well(self) -> bool:
        """Whether the first part of a large table has no mistake that all rows would have."""
        if self.opened.parts is None or self.opened.system.saved is not None:
            return False
        first, *_ = self.opened.parts.stretches(of_reference=False)
        lines = some_lines(self.opened.system.members[0], first)
        return diagnose_table(self.opened.format, lines) is None

    def _again(self, system: Source) -> list[Finding]:
        """Give the findings of what is judged when its files are replaced."""
        check = Check(replace(self.opened, system=system, apart=False), gold=self.gold)
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
            if self.both:  # which does not know other documents
                known = {*names_of(self.total.reference)}
                expected = {name: f for name, f in package.expected.items() if name in known}
                package = replace(package, expected=expected)
            findings += opened.task.package(package)
        left_out = opened.task.document_codes if codes else frozenset()
        return [finding for finding in findings if finding.code not in left_out]

    def _outcome(self, findings: list[Finding], of_reference: list[Finding]) -> tuple[bool, bool]:
        """Return whether what was checked passes, and whether that is decided.

        Findings of other sides never fail it. What is left out because of another finding still
        counts, but not if that is one about the reference. It is decided if what it is checked
        against can be used, and more than that is in the way.
        """
        task, role, both = self.opened.task, self.opened.role, self.both
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


def observe_sides(opened: Submission, pair: Pair) -> Batch:
    """Return what a batch shows of both sides as such."""
    task, system = opened.task, pair.system.corpus
    gold = system if opened.role == REFERENCE else pair.reference.corpus
    table = getattr(gold, task.scored_table)
    ours, theirs = system.documents["name"], gold.documents["name"]
    checked = Batch(
        documents=[ours],
        reference=[ours if ours.equals(theirs) else theirs],  # one object is pickled once
        gold=table.height + gold.rejected_records.height,
    )
    if opened.parts is not None:
        for side, result in ((opened.role, pair.system), (REFERENCE, pair.reference)):
            # whether tokens have tags decides what is counted, too
            shown = f"{result.detected} {result.corpus.tokens['tag'].count() > 0}"
            checked.types.setdefault(f"{_DETECTED}{side}", set()).add(shown)
    if not opened.is_compared:
        return checked
    submitted = getattr(system, task.scored_table)
    if opened.parts is not None:
        for side, rows in ((REFERENCE, table), (SUBMISSION, submitted)):
            if "confidence" in rows.columns and rows["confidence"].count():
                values = rows["confidence"]
                checked.confidences[side] = values.min(), values.max()
        # the reference may have in another part what only references have
        checked.exchanged = task.hooks.only_in_references(system)
        return checked
    if "confidence" in table.columns and submitted.height > 1:
        sides = (table["confidence"], submitted["confidence"])
        of_gold, of_system = (values.drop_nulls().n_unique() for values in sides)
        if of_gold > 1 and of_system <= 1:
            counts = f"{of_gold:,} different confidences, and the submission {of_system or 'none'}"
            checked.exchanged = f"the reference has {counts}"
    if not (checked.exchanged or table.is_empty() or task.hooks.only_in_references(gold)):
        checked.exchanged = task.hooks.only_in_references(system)
    return checked


def names_of(batches: Sequence[pl.Series]) -> pl.Series:
    """The names of the documents of some batches."""
    return pl.concat([pl.Series(dtype=pl.String), *batches])


def _missing_names(expected: pl.Series, own: pl.Series) -> pl.Series:
    """The names that are expected, and not there."""
    if expected.equals(own):
        return expected.clear()
    return expected.filter(~expected.is_in(own.implode()))


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
    expected, own = names_of(seen.reference), names_of(seen.documents)
    if expected.is_empty():
        kind = source.kind if source.kind in {"folder", "zip", "tgz"} else "file"
        hint = _elsewhere(opened) or f"use the {kind} with the gold annotations"
        yield _about(source, "REF101", hint=hint)
    elif gold and not seen.gold and not _is_explicit(opened):
        count = count_of(expected.n_unique(), "document")
        suffixes = opened.task.submission_suffixes
        with_suffixes = f" ({' and '.join(suffixes)})" if suffixes else ""
        hint = f"use a reference with gold annotations{with_suffixes}; this looks like test data"
        yield _about(source, "REF102", documents=count, hint=_elsewhere(opened) or hint)
    elif seen.exchanged:
        yield _about(source, "REF105", evidence=seen.exchanged)
    elif own.is_empty() or not opened.is_compared or opened.without_documents:
        return
    elif len(_missing_names(expected, own)) == len(expected):
        known = {*expected}
        ours, theirs = sorted(known), sorted({*own})
        files = opened.system_files if opened.format.layout == "per_document" else {}
        if named := next((name for name in files if name in known), ""):
            name = files[named][0].display
            hint = f"write the name of the file as the document id in {name}: {named}"
        else:
            hint = mismatch(ours, theirs)
        values = {"reference": first_names(ours, 1), "system": first_names(theirs, 1)}
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
    if not opened.is_compared or opened.without_documents or opened.is_unreadable:
        return
    if opened.task.scored_table not in opened.gold_format.tables:
        return
    own, selected = names_of(seen.documents), opened.selected_documents
    lacking = _missing_names(names_of(seen.reference), own) if len(own) else ()
    if names := sorted(name for name in {*lacking} if not selected or name in selected):
        values = {"count": len(names), "names": first_names(names, _NAMED)}
        yield entry("REF107").finding(values)


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
