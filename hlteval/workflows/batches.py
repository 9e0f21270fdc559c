"""Batches: the documents of a submission beside those of its reference, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from hlteval.converters import Format, ReadResult, load
from hlteval.converters.format import single_batch
from hlteval.findings import Finding
from hlteval.representation import Corpus, align
from hlteval.sources import LIMITS, Limits, Member, Source, Unreadable, open_source
from hlteval.tasks.task import Package, Task

BATCH = 500
"""Documents in a batch; more cost memory and gain no time."""

Documents = Mapping[str, tuple[Member, ...]]


class NothingGiven(ValueError):
    """There is nothing to check a submission against: an error of usage."""


@dataclass(frozen=True)
class Pair:
    """A batch of documents: the reference's and the submission's, numbered alike."""

    reference: ReadResult
    system: ReadResult


@dataclass(frozen=True)
class Submission:
    """A submission and what it is checked against, opened but not read.

    Attributes:
        task: what it is submitted to.
        system: the submission.
        reference: what it is checked against; None where the submission brings its own documents.
        settings: of the formats, by name.
        options: values by the names of the task's options.
        given_as: the format of the reference, where that is known.
        lists: what options name beside it, by option.
    """

    task: Task
    system: Source
    reference: Source | None
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    given_as: str = ""
    lists: Mapping[str, Corpus] = field(default_factory=dict)

    @cached_property
    def format(self) -> Format:
        """The format of the submission: of those that the task takes, the first that fits."""
        forms = [load(name) for name in (self.task.format, *self.task.submitted)]
        fitting = (form for form in forms if len(forms) == 1 or form.sniff(self.system))
        return _set(next(fitting, forms[0]), {**self.task.submission_settings, **self.settings})

    @cached_property
    def reference_format(self) -> Format:
        """The format of the reference: of those that the task takes, the first that fits.

        Raises:
            NothingGiven: if none does.
        """
        names = (self.given_as,) if self.given_as else self.task.references or (self.task.format,)
        forms = [load(name) for name in names]
        source = self.reference or self.system
        fitting = [form for form in forms if len(forms) == 1 or form.sniff(source)]
        if not fitting and _is_empty(source):  # that nothing is annotated can be said in any format
            fitting = forms
        if not fitting:
            raise NothingGiven(f"{source.path} matches none of the formats {', '.join(names)}")
        return _set(fitting[0], self.settings)

    @cached_property
    def listed(self) -> Corpus:
        """What options name beside it, as one corpus."""
        return Corpus.concat(self.lists.values())

    @property
    def found(self) -> Documents:
        """The files of the submission that are read, by document."""
        documents = self.format.documents(self.system)
        if self.reference is None or not self.task.submission_suffixes:
            return documents
        return _only(documents, self.task.submission_suffixes)

    @property
    def expected(self) -> Documents:
        """The files of the reference, by document."""
        if self.reference is None:
            return self.found
        return self.reference_format.documents(self.reference)

    @property
    def package(self) -> Package:
        """What the rules over packages look at."""
        return Package(self.system, self.found, self.reference, self.expected)

    def pairs(self, size: int = BATCH) -> Iterator[Pair]:
        """The documents of both sides, `size` at a time, in the order of their names.

        Where one file of the submission holds many documents, there is one batch of all.
        """
        if self.format.documents is single_batch:
            yield self._all()
            return
        found, expected = self.found, self.expected
        form = self.reference_format if self.reference else self.format
        names = iter(sorted({**expected, **found}))
        while batch := list(islice(names, size)):
            if self.reference is None:
                # Nothing to pair with: these are the reader's own batches, perhaps smaller.
                each = self.format.read(self.system.only(_members(found, batch)))
                yield from (Pair(reading, reading) for reading in each)
                continue
            system = _read(self.format, self.system, found, batch)
            reference = _read(form, self.reference, expected, batch)
            yield Pair(*_numbered_alike(reference, system))

    def _all(self) -> Pair:
        """All documents of both sides."""
        system = _joined(self.format.read(self.system))
        if self.reference is None:
            return Pair(system, system)
        reference = _joined(self.reference_format.read(self.reference))
        return Pair(*_numbered_alike(reference, system))


def submission(
    task: Task,
    path: str,
    against: str | None,
    *,
    encoding: str = "utf-8",
    limits: Limits = LIMITS,
    settings: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    given_as: str = "",
    lists: Mapping[str, Corpus] | None = None,
) -> Submission:
    """Open a submission and its reference.

    Raises:
        FileNotFoundError: if a path does not exist.
        NothingGiven: if there is no reference and the submission does not bring its own documents.
    """
    system = open_source(path, limits=limits, encoding=encoding)
    reference = open_source(against, limits=limits, encoding=encoding) if against else None
    opened = Submission(
        task, system, reference, settings or {}, options or {}, given_as, lists or {}
    )
    if (
        against is None
        and not task.reference_optional
        and not _has(system, task.provided_suffixes)
        and not system.findings
    ):
        wanted = f" (with {' and '.join(task.provided_suffixes)})" if task.provided_suffixes else ""
        raise NothingGiven(
            f"{task.name} needs the documents of the task: pass their folder or archive"
            f"{wanted} with --against"
        )
    return opened


def _is_empty(source: Source) -> bool:
    """Whether it is a single file with nothing in it."""
    single = source.kind in {"file", "stdin"} and len(source.members) == 1
    try:
        return single and not source.members[0].fetch()
    except Unreadable:
        return False


def named(task: Task, options: Mapping[str, str]) -> tuple[dict[str, Corpus], list[Finding]]:
    """What options name in files of some format, by option, with what is wrong with these.

    Raises:
        FileNotFoundError: if a path does not exist.
    """
    lists: dict[str, Corpus] = {}
    findings: list[Finding] = []
    for option in task.options:
        if option.name in options and option.format:
            source = open_source(options[option.name])
            reading = _joined(load(option.format).read(source))
            lists[option.name] = reading.corpus
            findings += [*source.findings, *reading.findings]
    return lists, findings


def _set(form: Format, settings: Mapping[str, str]) -> Format:
    """A format with those of some settings that it has."""
    known = {setting.name for setting in form.settings}
    return form.with_settings({name: value for name, value in settings.items() if name in known})


def _has(source: Source, suffixes: Sequence[str]) -> bool:
    return any(member.basename.endswith(tuple(suffixes)) for member in source.members)


def _only(documents: Documents, suffixes: Sequence[str]) -> Documents:
    """The documents that have files of some suffixes, with these files only."""
    kept = {
        name: tuple(member for member in members if member.basename.endswith(tuple(suffixes)))
        for name, members in documents.items()
    }
    return {name: members for name, members in kept.items() if members}


def _read(form: Format, source: Source, documents: Documents, names: Sequence[str]) -> ReadResult:
    return _joined(form.read(source.only(_members(documents, names))))


def _members(documents: Documents, names: Sequence[str]) -> list[Member]:
    return [member for name in names for member in documents.get(name, ())]


def _joined(each: Iterable[ReadResult]) -> ReadResult:
    """The batches of a source as one."""
    readings = list(each)
    if len(readings) == 1:
        return readings[0]
    return ReadResult(
        Corpus.concat(reading.corpus for reading in readings),
        tuple(finding for reading in readings for finding in reading.findings),
        tuple(member for reading in readings for member in reading.members),
    )


def _numbered_alike(reference: ReadResult, system: ReadResult) -> tuple[ReadResult, ReadResult]:
    corpora = align(reference.corpus, system.corpus)
    return tuple(  # type: ignore[return-value]
        ReadResult(corpus, reading.findings, reading.members)
        for corpus, reading in zip(corpora, (reference, system), strict=True)
    )
