"""Batches: the documents of a submission with those of its reference, a few hundred at a time.

What a batch gives is a value, which may come from another process (`workers`); values of batches
add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeVar

import polars as pl

from hlteval.converters import Format, ReadResult, load
from hlteval.converters.corpus.jsonl_parts import LARGE, open_outline
from hlteval.converters.corpus.memory import in_memory, load_corpus, with_digest, without_files
from hlteval.findings import REFERENCE, SUBMISSION, Finding
from hlteval.representation import Corpus, align, distinct, of_documents
from hlteval.representation.corpus import are_apart, document_slices
from hlteval.scoring.metric import Evidence
from hlteval.sources import Member, Source, Unreadable, open_source
from hlteval.sources.archives import kind_of_file
from hlteval.tasks.option_files import OptionFiles, read_files
from hlteval.tasks.task import Task
from hlteval.validators.packages import Package
from hlteval.workflows.run.parts import NotApart, Part, Parts, divide, read_stretch
from hlteval.workflows.run.request import Request, Role, SharedReference

T = TypeVar("T")

#: Rows of a slice of a corpus in memory.
ROWS = 100_000
#: Documents of a reference that stay in memory for the submissions that follow.
KEPT = 10_000

Documents = Mapping[str, tuple[Member, ...]]


class NothingGiven(ValueError):
    """There is no reference to check a submission against: an error of usage."""


@dataclass(frozen=True)
class Pair:
    """A batch of documents of the reference and the submission, in the same numbering."""

    reference: ReadResult
    system: ReadResult

    @property
    def documents(self) -> int:
        """The number of documents of both sides."""
        ours, theirs = (side.corpus.documents["name"] for side in (self.reference, self.system))
        return len(distinct(ours if ours.equals(theirs) else pl.concat([ours, theirs])))


@dataclass
class Submission:
    """A submission and its reference, opened but not read.

    Nothing of it changes but `parts`, which another process may have found.

    Attributes:
        task: the task.
        system: the submission.
        reference: its reference; None if the submission brings its own documents.
        settings: the settings of the formats, by name.
        options: the values of the task's options, by name.
        reference_form: the format of the reference; empty if it is to be detected.
        files: those that options name.
        role: `submission`, or `reference` where the first source is a reference that is checked by
            itself; the second one has the texts of its documents then.
        profile: `plan` or `official`.
        shared: what is known of the reference, if there are more submissions.
        apart: whether large files may be read in parts.
        part_size: documents of a part; as many as are of some size by default.
    """

    task: Task
    system: Source
    reference: Source | None
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    reference_form: str = ""
    files: OptionFiles = field(default_factory=OptionFiles)
    role: Role = SUBMISSION
    profile: str = "plan"
    shared: SharedReference | None = None
    apart: bool = False
    part_size: int | None = None

    @cached_property
    def format(self) -> Format:
        """The format of the submission: the first that fits of those that the task takes.

        Raises:
            NothingGiven: if it is a reference, and none fits.
        """
        task, gold = self.task, self.role == REFERENCE
        names, settings = (task.format, *task.submitted), task.submission_settings
        if gold:
            names, settings = task.references or (task.format,), {}
        settings = {**settings, **self.settings}
        held = in_memory(self.system, task.format)
        return held or _first_fitting(self.system, names, settings, required=gold)

    @cached_property
    def reference_format(self) -> Format:
        """The format of the reference: the first that fits of those that the task takes.

        Raises:
            NothingGiven: if none fits.
        """
        task, source = self.task, self.reference or self.system
        names = (self.reference_form,) if self.reference_form else task.references or (task.format,)
        settings = {**task.reference_settings, **self.settings}
        held = in_memory(source, names[0])
        return held or _first_fitting(source, names, settings, required=True)

    @property
    def reference_source(self) -> Source | None:
        """The reference, whatever its role; None if the submission brings its own documents."""
        return self.system if self.role == REFERENCE else self.reference

    @property
    def gold_format(self) -> Format:
        """The format of the reference, whatever its role."""
        return self.format if self.role == REFERENCE else self.reference_format

    @property
    def gold_files(self) -> Documents:
        """The files of the reference by document, whatever its role."""
        return self.system_files if self.role == REFERENCE else self.reference_files

    @property
    def is_compared(self) -> bool:
        """Whether a submission is compared with a reference."""
        return self.reference is not None and self.role != REFERENCE

    @property
    def without_documents(self) -> bool:
        """Whether an option takes away the boundaries of documents."""
        options = self.task.options
        return any(option.without_documents and option.name in self.options for option in options)

    @cached_property
    def option_corpus(self) -> Corpus:
        """The corpora of further files as one, but those of which the metric has the texts."""
        files = self.files
        names = [name for name in files.corpora if name not in files.values]
        return Corpus.concat(files.corpora[name] for name in names)

    @property
    def selected_documents(self) -> frozenset[str]:
        """The documents that an option names as those that are scored; empty if none does."""
        listed = (option.name for option in self.task.options if option.selects_documents)
        corpora = (self.files.corpora[name] for name in listed if name in self.files.corpora)
        return frozenset(name for corpus in corpora for name in corpus.documents["name"])

    @property
    def is_unreadable(self) -> bool:
        """Whether nothing of the submission can be read, as its source says."""
        return not self.system.members and any(finding.blocking for finding in self.system.findings)

    @cached_property
    def system_files(self) -> Documents:
        """The files of the submission that are read, by document."""
        documents = self._files(self.format, self.system)
        suffixes = tuple(self.task.submission_suffixes)
        if not (self.is_compared and suffixes) or self.system.corpus is not None:
            return documents
        kept = {
            name: tuple(member for member in members if member.basename.endswith(suffixes))
            for name, members in documents.items()
        }
        return {name: members for name, members in kept.items() if members}

    @cached_property
    def reference_files(self) -> Documents:
        """The files of the reference, by document."""
        if self.reference is None:
            return self.system_files
        return self._files(self.reference_format, self.reference)

    def _files(self, form: Format, source: Source) -> Documents:
        """The files of a source that the task reads, by document."""
        if self.task.hooks.reads_sub_folders or source.kind != "folder":
            return form.documents(source)
        return form.documents(source.only(m for m in source.members if "/" not in m.name))

    @property
    def package(self) -> Package:
        """The submission as rules over packages check it."""
        return Package(self.system, self.system_files, self.reference, self.reference_files)

    @property
    def total(self) -> int | None:
        """The number of documents of both sides; None if it is known only after reading."""
        forms = [self.format, *([self.reference_format] if self.reference is not None else [])]
        if any(form.layout == "single_file" for form in forms):
            return None
        return len({*self.reference_files, *self.system_files})

    @cached_property
    def parts(self) -> Parts | None:
        """Both files in parts of some documents, as `divide` makes them; None where they are whole.

        What options name is beside all documents, so that these are read together then.
        """
        files, gold, divided = self.files, None, None
        possible = self.apart and self.task.hooks.apart != "no" and self.shared is None
        if possible and not (files.corpora or files.values):
            if self.reference is not None:
                gold = self.reference_format, self.reference
            divided = divide(self.format, self.system, gold, self.part_size)
        if divided is None and any(own and own.saved for own in (self.system, self.reference)):
            raise NotApart  # only an outline is in memory
        return divided

    def pairs(self, size: int | None = None) -> Iterator[Pair]:
        """The documents of both sides, `size` at a time, in the order of their names."""
        return chain.from_iterable(self.batches(size))

    def batches(self, size: int | None = None) -> Iterator[Iterator[Pair]]:
        """The batches; each is read when its pairs are asked for, and not at all if they are not.

        A submission that is a single file is one batch, as is its reference then, unless both are
        divided into parts: rules and scores may depend on all of it. Without a reference a batch
        has as many pairs as the reader makes, or slices of a corpus in memory. There are as many
        documents in a batch as the task declares if `size` is None.
        """
        if self.parts is not None:
            yield from (self._read_part(self.parts, part) for part in self.parts.parts)
            return
        size = size or self.task.hooks.batch
        if self.format.layout == "single_file":
            yield self._whole()
        elif self.reference is not None:
            yield from self._by_document(self.reference, size)
        else:
            files = self.system_files
            for names in _slices_of(files, size):
                yield self._own(_members(files, names))

    def batch_count(self, size: int | None) -> int:
        """How many batches there are at least."""
        if self.parts is not None:
            return len(self.parts.parts)
        if self.format.layout == "single_file":
            return 1
        single = self.reference is not None and self.reference_format.layout == "single_file"
        names = {*self.system_files, *(() if single else self.reference_files)}
        return -(-len(names) // (size or self.task.hooks.batch))

    def _read_part(self, divided: Parts, part: Part) -> Iterator[Pair]:
        """The documents of a part of both sides."""
        system = read_stretch(self.format, self.system, part.system, divided.system)
        if self.reference is None or part.reference is None:
            yield Pair(system, system)
            return
        form, source = self.reference_format, self.reference
        yield _align_sides(read_stretch(form, source, part.reference, divided.reference), system)

    def _whole(self) -> Iterator[Pair]:
        """A submission that is a single file, and all of its reference.

        Without one, a corpus in memory comes in slices of documents, if what is found does not
        depend on them.
        """
        if self.reference is not None:
            system = _join(self.format.read(self.system))
            yield _align_sides(self._read_reference(self.reference), system)
            return
        files = self.system_files
        result = _join(self.format.read(self.system.only(_members(files, files))))
        parts: Iterable[Corpus] = [result.corpus]
        checked = self.system.corpus is not None and self.task.metric is None
        per_document = load(self.task.format).layout == "per_document"
        if checked and per_document and are_apart(result.corpus):
            parts = document_slices(result.corpus, ROWS)
        for corpus in parts:
            part = replace(result, corpus=corpus)
            yield Pair(part, part)
            result = replace(result, findings=())  # they are in the first one

    def _read_reference(self, source: Source, names: Sequence[str] = ()) -> ReadResult:
        """The reference, or some documents of it; as far as memory allows, it is read once."""
        known = {} if self.shared is None else self.shared.readings
        key = tuple(names)
        if key in known:
            return known[key]
        own = source.only(_members(self.reference_files, names)) if names else source
        result = _join(self.reference_format.read(own))
        if sum(map(len, known)) < KEPT:
            known[key] = result
        return result

    def _own(self, members: Sequence[Member]) -> Iterator[Pair]:
        """Some files of a submission that brings its own documents."""
        for result in self.format.read(self.system.only(members)):
            yield Pair(result, result)

    def _by_document(self, source: Source, size: int) -> Iterator[Iterator[Pair]]:
        """The batches of a submission that has files of its own for each document."""
        rest: ReadResult | None = None
        known: Iterable[str] = self.reference_files
        if self.reference_format.layout == "single_file":  # it is read once, and handed out
            rest = self._read_reference(source)
            # Without a document there is still a batch for its findings.
            known = rest.corpus.documents["name"].to_list() or [""]
        for names in _slices_of({*known, *self.system_files}, size):
            yield self._read_pair(source, names, rest)
            if rest is not None:  # findings, and rows without a document, are in the first batch
                rows = rest.corpus.rejected_records.drop_nulls("document")
                rest = replace(rest, corpus=rest.corpus.replace(rejected_records=rows), findings=())

    def _read_pair(
        self, source: Source, names: Sequence[str], whole: ReadResult | None
    ) -> Iterator[Pair]:
        """The pair of some documents, of a reference that may have been read as a whole."""
        form, expected = self.reference_format, self.reference_files
        system = _read(self.format, self.system, self.system_files, names)
        # A file may hold documents of other names.
        others = sorted(set(system.corpus.documents["name"]).difference(names))
        if whole is not None:
            chosen = of_documents(whole.corpus, pl.Series([*names, *others], dtype=pl.String))
            yield _align_sides(replace(whole, corpus=chosen), system)
            return
        reference = self._read_reference(source, names)
        if more := [name for name in others if name in expected]:
            extra = replace(_read(form, source, expected, more), findings=())
            reference = _join([reference, extra])
        yield _align_sides(reference, system)


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
    rows: pl.DataFrame
    files: dict[int, str]


#: A file: its name inside the folder or archive, its format, and its SHA-256 digest.
File = tuple[str, str, str]


@dataclass
class Batch:
    """Result of a batch, or of several that are added: what was found, and what was counted.

    Attributes:
        names: the number of documents of both sides.
        documents: the names of the documents of what is judged, by batch.
        places: the file of each of them by its name, where names are in the files.
        records: the number of their records.
        reference: the names of the documents of the reference, by batch.
        gold: the records of the reference that would be scored, readable or not.
        exchanged: why both sides look exchanged; empty if they do not.
        findings: those of readers and of the reference, whoever they are about.
        judging: those of rules about the submission, beside its reference.
        types: the types of frames by side, if findings depend on them; and what batches show, by
            the codes of the rules that depend on it, and their side.
        deferred: what counts or not by these.
        identifiers: of parts, what the rules `unique` compare, by side and code.
        confidences: of parts, the least and the largest confidence by side, where there is one.
        counts: the statistics of each batch that was counted.
        alignments: the alignment of each.
        evidence: the evidence of each.
        files: the files that were read, by side; a file counts once, however often it is read.
        uncounted: whether there are batches that were only checked.
        failure: why the metric cannot count; nothing is scored then.
    """

    names: int = 0
    documents: list[pl.Series] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    records: int = 0
    reference: list[pl.Series] = field(default_factory=list)
    gold: int = 0
    exchanged: str = ""
    findings: list[Finding] = field(default_factory=list)
    judging: list[Finding] = field(default_factory=list)
    types: dict[str, set[str]] = field(default_factory=dict)
    deferred: list[Deferred] = field(default_factory=list)
    identifiers: dict[tuple[str, str], list[pl.DataFrame]] = field(default_factory=dict)
    confidences: dict[str, tuple[float, float]] = field(default_factory=dict)
    counts: list[pl.DataFrame] = field(default_factory=list)
    alignments: list[pl.DataFrame] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    files: dict[str, dict[File, None]] = field(default_factory=dict)
    uncounted: bool = False
    failure: Finding | None = None

    def hashes_of(self, number: int) -> pl.Series:
        """The hashes of the names of the documents of a batch by its number, each once."""
        ours, theirs = self.documents[number], self.reference[number]
        hashes = ours.hash()
        return hashes if ours is theirs else pl.concat([hashes, theirs.hash()]).unique()

    def add(self, other: Batch) -> None:
        """Add what a later batch gives."""
        self.names += other.names
        self.records += other.records
        self.gold += other.gold
        lists = ("documents", "reference", "findings", "judging", "deferred")
        for name in (*lists, "counts", "alignments", "evidence"):
            getattr(self, name).extend(getattr(other, name))
        for name, file in other.places.items():
            self.places.setdefault(name, file)
        self.exchanged = self.exchanged or other.exchanged
        for side, types in other.types.items():
            self.types.setdefault(side, set()).update(types)
        for key, frames in other.identifiers.items():
            self.identifiers.setdefault(key, []).extend(frames)
        for side, limits in other.confidences.items():
            least, largest = zip(limits, self.confidences.get(side, limits), strict=True)
            self.confidences[side] = min(least), max(largest)
        for side, files in other.files.items():
            self.files.setdefault(side, {}).update(files)
        self.uncounted |= other.uncounted
        if self.failure is None and other.failure is not None:
            self.failure = other.failure
            self.findings.append(other.failure)


def open_sides(
    request: Request,
    against: str | None,
    values: Mapping[str, str],
    files: OptionFiles | None = None,
    reference_form: str = "",
) -> Submission:
    """Open a submission and its reference, to be read as `Submission` and `Member` say.

    Args:
        request: how they are read.
        against: path of the reference; None if the submission brings its own documents.
        values: of the task's options, as text.
        files: those that options name; they are read here if there are none yet.
        reference_form: the format of the reference; empty if it is to be detected.

    Raises:
        FileNotFoundError: if a path does not exist.
        NothingGiven: if there is no reference, and the submission does not bring its documents; or
            if there is one, and the task has none.
        WrongOption: if an option has a value that it cannot have.
    """
    task, role, encoding = request.definition, request.role, request.encoding
    most, suffixes = request.max_per_code, task.provided_suffixes
    settings = dict(task.official_settings) if request.profile == "official" else {}
    for option in task.options:
        if (value := values.get(option.name)) is not None:
            option.check(value)
            # A reference always has documents, whatever the options say of submissions.
            if option.is_format_setting and not (option.without_documents and role == REFERENCE):
                settings[option.name.replace("_", "-")] = value
    if files is None:
        files = read_files(task, values, encoding, references=not reference_form, max_per_code=most)

    apart = request.apart and task.hooks.apart != "no" and not (files.corpora or files.values)

    def source_at(path: str) -> Source:
        source = open_source(path, encoding=encoding).with_max_per_code(most)
        part = open_outline(source, 1 if request.batch else LARGE) if apart else None
        return part or with_digest(load_corpus(source))

    if task.scored_alone and against not in {None, "", request.system}:
        raise NothingGiven(f"{task.name} has no reference; leave out {against}")
    system, reference = source_at(request.system), None
    if against and not task.scored_alone:
        reference = source_at(against)
        system = without_files(system, load(task.format), task.submission_suffixes)
    if system.corpus is not None:
        complete = bool(suffixes) and system.corpus.documents["text"].null_count() == 0
    else:
        complete = has_files(system, suffixes)
    complete = complete or task.reference_optional or bool(system.findings)
    if against is None and role == SUBMISSION and not complete:
        named = f" (with {' and '.join(suffixes)})" if suffixes else ""
        needed = f"needs the documents of the task: pass their folder or archive{named}"
        raise NothingGiven(f"{task.name} {needed} with --against")
    return Submission(
        task, system, reference, settings, values, reference_form, files, role, request.profile,
        request.shared, request.apart, request.batch,
    )  # fmt: skip


def _first_fitting(
    source: Source, names: Sequence[str], settings: Mapping[str, str], *, required: bool
) -> Format:
    """The first format that fits a source, with the settings that it knows.

    Formats whose suffix it has come before others that fit: what is converted may keep members of
    these.

    Args:
        source: the source.
        names: the names of the formats, of which a single one fits any source, and a general first
            one whatever fits no other.
        settings: by name.
        required: whether one must fit.
    """
    forms = [load(name) for name in names]
    named = sorted(forms, key=lambda form: not source.path.endswith(form.suffixes))
    form = next((form for form in named if len(forms) == 1 or form.sniff(source)), None)
    if form is None and not forms[0].general and required:  # nothing, or only white space, fits any
        single = source.kind in {"file", "stdin"} and len(source.members) == 1
        try:
            empty = not source.members or (single and not source.members[0].fetch().strip())
        except Unreadable:
            empty = False
        if not (empty or kind_of_file(source)):  # what is not text is reported
            raise NothingGiven(f"{source.path} matches none of the formats {', '.join(names)}")
    form = form or forms[0]
    known = {setting.name for setting in form.settings}
    return form.with_settings({name: value for name, value in settings.items() if name in known})


def has_files(source: Source, suffixes: Sequence[str]) -> bool:
    """Whether a source has files with some suffixes."""
    ends = tuple(suffixes)
    return any((member.name or member.display).endswith(ends) for member in source.members)


def _slices_of(names: Iterable[str], size: int) -> Iterator[Sequence[str]]:
    ordered = sorted(names)
    return (ordered[begin : begin + size] for begin in range(0, len(ordered), size))


def _read(form: Format, source: Source, documents: Documents, names: Iterable[str]) -> ReadResult:
    return _join(form.read(source.only(_members(documents, names))))


def _members(documents: Documents, names: Iterable[str]) -> list[Member]:
    return [member for name in names for member in documents.get(name, ())]


def _join(each: Iterable[ReadResult]) -> ReadResult:
    """The results for a source as one."""
    results = list(each)
    if len(results) == 1:
        return results[0]
    return ReadResult(
        Corpus.concat(result.corpus for result in results),
        tuple(finding for result in results for finding in result.findings),
        tuple(member for result in results for member in result.members),
    )


def _align_sides(reference: ReadResult, system: ReadResult) -> Pair:
    """Both sides with one numbering of documents."""
    gold, submitted = align(reference.corpus, system.corpus)
    return Pair(replace(reference, corpus=gold), replace(system, corpus=submitted))


#: Called after each batch with the documents that are done, and all; None if these are unknown.
Progress = Callable[[int, int | None], None]


def no_progress(_done: int, _total: int | None) -> None:
    """Take a step that nobody watches."""


def with_progress(
    opened: Submission, each: Iterable[T], documents: Callable[[T], int], step: Progress
) -> Iterator[T]:
    """Yield the results of batches; `step` is called as soon as the next one is asked for.

    Args:
        opened: the submission.
        each: the results of its batches.
        documents: how many documents of both sides are in a batch, from its result.
        step: takes the documents that are done, and all.
    """
    done, total = 0, opened.total
    for item in each:
        yield item
        done += documents(item)
        step(done if total is None else min(done, total), total)


def subprogress(step: Progress, index: int, parts: int) -> Progress:
    """The steps of one of several submissions, as steps of all; they are about as large.

    Args:
        step: takes the documents of all submissions; where their number is unknown, submissions.
        index: the number of the submission, from 0.
        parts: the number of submissions.

    Examples:
        >>> subprogress(lambda done, total: print(done, "of", total), 1, 3)(20, 100)
        120 of 300
    """
    if parts == 1:
        return step

    def step_of_part(done: int, total: int | None) -> None:
        if total is None:
            step(index + 1, parts)
        else:
            step(index * total + done, parts * total)

    return step_of_part
