"""Batches: the documents of a submission with those of its reference, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import polars as pl

from hlteval.converters import Format, ReadResult, load
from hlteval.converters.corpus.memory import in_memory, loaded, with_digest, without_files
from hlteval.findings import MAX_PER_CODE, REFERENCE, SUBMISSION
from hlteval.representation import Corpus, align, of_documents
from hlteval.representation.corpus import are_apart, document_slices
from hlteval.sources import Member, Source, Unreadable, open_source
from hlteval.sources.archives import kind_of_file
from hlteval.tasks.option_files import OptionFiles
from hlteval.tasks.task import Task
from hlteval.validators.packages import Package
from hlteval.workflows.run.request import Role

#: Rows of a slice of a corpus in memory.
ROWS = 100_000

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
        sides = (self.reference, self.system)
        return len({name for side in sides for name in side.corpus.documents["name"]})


@dataclass(frozen=True)
class Submission:
    """A submission and its reference, opened but not read.

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
    """

    task: Task
    system: Source
    reference: Source | None
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    reference_form: str = ""
    files: OptionFiles = field(default_factory=OptionFiles)
    role: Role = SUBMISSION

    @cached_property
    def format(self) -> Format:
        """The format of the submission: the first that fits of those that the task takes.

        Raises:
            NothingGiven: if it is a reference, and none fits.
        """
        if held := in_memory(self.system, self.task.format):
            return held
        if self.role == REFERENCE:
            return self._as_reference(self.system, "", self.settings)
        forms = [load(name) for name in (self.task.format, *self.task.submitted)]
        fitting = (form for form in forms if len(forms) == 1 or form.sniff(self.system))
        return _set(next(fitting, forms[0]), {**self.task.submission_settings, **self.settings})

    @cached_property
    def reference_format(self) -> Format:
        """The format of the reference: the first that fits of those that the task takes.

        Raises:
            NothingGiven: if none fits.
        """
        settings = {**self.task.reference_settings, **self.settings}
        source = self.reference or self.system
        return self._as_reference(source, self.reference_form, settings)

    def _as_reference(self, source: Source, form: str, settings: Mapping[str, str]) -> Format:
        """The format of a source as a reference."""
        names = (form,) if form else self.task.references or (self.task.format,)
        forms = [load(name) for name in names]
        if held := in_memory(source, names[0]):
            return held
        fitting = [form for form in forms if len(forms) == 1 or form.sniff(source)]
        if not fitting and (_is_empty(source) or kind_of_file(source)):
            fitting = forms  # a file without annotations fits any; one that is not text is reported
        if not fitting:
            raise NothingGiven(f"{source.path} matches none of the formats {', '.join(names)}")
        return _set(fitting[0], settings)

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
    def companion_texts(self) -> Source | None:
        """The documents that come with a reference that is checked by itself, if they do."""
        return self.reference if self.role == REFERENCE else None

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
        if self.reference is None or self.role == REFERENCE:
            return documents
        if not suffixes or self.system.corpus is not None:
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

    def pairs(self, size: int | None = None) -> Iterator[Pair]:
        """The documents of both sides, `size` at a time, in the order of their names."""
        return chain.from_iterable(self.batches(size))

    def batches(self, size: int | None = None) -> Iterator[Iterator[Pair]]:
        """The batches; each is read when its pairs are asked for, and not at all if they are not.

        A submission that is a single file is one batch, as is its reference then: rules and scores
        may depend on all of it. Without a reference a batch has as many pairs as the reader makes,
        or slices of a corpus in memory. There are as many documents in a batch as the task declares
        if `size` is None.
        """
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
        if self.format.layout == "single_file":
            return 1
        single = self.reference is not None and self.reference_format.layout == "single_file"
        names = {*self.system_files, *(() if single else self.reference_files)}
        return -(-len(names) // (size or self.task.hooks.batch))

    def _whole(self) -> Iterator[Pair]:
        """A submission that is a single file, and all of its reference."""
        if self.reference is not None:
            system = _join(self.format.read(self.system))
            yield _align_sides(_join(self.reference_format.read(self.reference)), system)
        else:
            files = self.system_files
            result = _join(self.format.read(self.system.only(_members(files, files))))
            for part in self._slices(result):
                yield Pair(part, part)

    def _slices(self, result: ReadResult) -> Iterator[ReadResult]:
        """A corpus in memory in slices of documents, if what is found does not depend on them."""
        per_document = load(self.task.format).layout == "per_document"
        checked = self.system.corpus is not None and self.task.metric is None
        if not (checked and per_document and are_apart(result.corpus)):
            yield result
            return
        for corpus in document_slices(result.corpus, ROWS):
            yield replace(result, corpus=corpus)
            result = replace(result, findings=())  # they are in the first one

    def _own(self, members: Sequence[Member]) -> Iterator[Pair]:
        """Some files of a submission that brings its own documents."""
        for result in self.format.read(self.system.only(members)):
            yield Pair(result, result)

    def _by_document(self, source: Source, size: int) -> Iterator[Iterator[Pair]]:
        """The batches of a submission that has files of its own for each document."""
        rest: ReadResult | None = None
        known: Iterable[str] = self.reference_files
        if self.reference_format.layout == "single_file":  # it is read once, and handed out
            rest = _join(self.reference_format.read(source))
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
        reference = _read(form, source, expected, names)
        if more := [name for name in others if name in expected]:
            extra = replace(_read(form, source, expected, more), findings=())
            reference = _join([reference, extra])
        yield _align_sides(reference, system)


def submission(
    task: Task,
    path: str,
    against: str | None,
    *,
    encoding: str = "utf-8",
    max_per_code: int = MAX_PER_CODE,
    settings: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    reference_form: str = "",
    files: OptionFiles | None = None,
    role: Role = SUBMISSION,
) -> Submission:
    """Open a submission and its reference, to be read as `Submission` and `Member` say.

    Raises:
        FileNotFoundError: if a path does not exist.
        NothingGiven: if there is no reference, and the submission does not bring its documents; or
            if there is one, and the task has none.
    """

    def opened_source(path: str) -> Source:
        source = open_source(path, encoding=encoding)
        return with_digest(loaded(source.with_max_per_code(max_per_code)))

    if task.scored_alone and against not in {None, "", path}:
        raise NothingGiven(f"{task.name} has no reference; leave out {against}")
    system = opened_source(path)
    reference = None
    if against and not task.scored_alone:
        reference = opened_source(against)
        system = without_files(system, load(task.format), task.submission_suffixes)
    opened = Submission(
        task,
        system,
        reference,
        settings or {},
        options or {},
        reference_form,
        files or OptionFiles(),
        role,
    )
    if (
        against is None
        and role == SUBMISSION
        and not task.reference_optional
        and not _has(system, task.provided_suffixes)
        and not system.findings
    ):
        suffixes = (
            f" (with {' and '.join(task.provided_suffixes)})" if task.provided_suffixes else ""
        )
        raise NothingGiven(
            f"{task.name} needs the documents of the task: pass their folder or archive"
            f"{suffixes} with --against"
        )
    return opened


def _is_empty(source: Source) -> bool:
    """Whether it is a single file with nothing but white space, or has no files at all."""
    single = source.kind in {"file", "stdin"} and len(source.members) == 1
    try:
        return not source.members or (single and not source.members[0].fetch().strip())
    except Unreadable:
        return False


def _set(form: Format, settings: Mapping[str, str]) -> Format:
    """A format with the settings that it knows."""
    known = {setting.name for setting in form.settings}
    return form.with_settings({name: value for name, value in settings.items() if name in known})


def _has(source: Source, suffixes: Sequence[str]) -> bool:
    """Whether a source has files with some suffixes; a corpus, whether it has texts."""
    if source.corpus is not None:
        return bool(suffixes) and source.corpus.documents["text"].null_count() == 0
    return any(member.basename.endswith(tuple(suffixes)) for member in source.members)


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
