"""Signing: the signature of numbers, from what was read and how it was scored."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hlteval import __version__
from hlteval.converters import known, load
from hlteval.representation import Corpus
from hlteval.results.signature import FIRST, Signature, content, digest
from hlteval.tasks.option import Option
from hlteval.workflows.batches import Pair, Submission

File = tuple[str, str, str]
"""A file: its name inside the folder or archive, its format, and its SHA-256 digest."""
SIDES = ("reference", "system")


@dataclass(frozen=True)
class Files:
    """The files that were read, by side; a file counts once, however often it is read."""

    read: Mapping[str, dict[File, None]] = field(
        default_factory=lambda: {side: {} for side in SIDES}
    )

    def add(self, batch: Mapping[str, list[File]]) -> None:
        """Add the files of a batch, by side."""
        for side, files in batch.items():
            self.read[side].update(dict.fromkeys(files))

    def digests(self) -> list[tuple[str, str]]:
        """The digest of each side, by its name; of a task without references, of one side."""
        return [(side, digest_of(files)) for side, files in self.read.items() if files]


def files_of(pair: Pair) -> dict[str, list[File]]:
    """The files of a batch, by side."""
    results = zip(SIDES, (pair.reference, pair.system), strict=True)
    if pair.reference is pair.system:
        return {"system": _files(pair.system.corpus)}
    return {side: _files(result.corpus) for side, result in results}


def signature(
    opened: Submission, files: Files, *, profile: str, lenient: bool, more: str = ""
) -> Signature:
    """What the numbers of a submission depend on.

    Args:
        opened: the submission, with the values of the task's options.
        files: the files that were read.
        profile: the profile of the metric.
        lenient: whether blocking findings were ignored.
        more: further parts, such as those of confidence intervals.
    """
    parts = [(FIRST, __version__), ("task", opened.task.name), ("profile", profile)]
    parts += [*files.digests(), *options(opened), *_encoding(opened)]
    parts += [("lenient", "yes" if lenient else "no")]
    last = Signature.parse(f"{FIRST}:|{more}").parts[1:] if more else ()
    return Signature((*parts, *last))


def options(opened: Submission) -> Iterator[tuple[str, str]]:
    """The options of the task with their values, or the digests of the files that they name."""
    declared = {option.name: option for option in opened.task.options}
    for name, value in opened.options.items():
        if name in opened.files.corpora:
            yield name, digest_of(_files(opened.files.corpora[name]))
        else:
            yield name, content(value) if names_file(declared.get(name)) else value


def names_file(option: Option | None) -> bool:
    """Whether an option names a file that numbers depend on.

    Examples:
        >>> from hlteval.tasks import load
        >>> [option.name for option in load("lorehlt-edl").options if names_file(option)]
        ['type_weights', 'exclude', 'texts', 'documents', 'kb']
        >>> [option.name for option in load("lorehlt-mt").options if names_file(option)]
        ['subset', 'sf_justifications', 'sf_scores', 'meteor_jar']
    """
    return option is not None and option.placeholder in {"FILE", "JAR"}


def digest_of(files: Iterable[File]) -> str:
    """The digest of files, whose names matter where their format has files for each document.

    Examples:
        >>> digest_of([("run1.json", "speech-sf-json", "0123456789abcdef0123")])
        '0123456789abcdef'
    """
    each = list(files)
    matters = any(_per_document(form) for _, form, _ in each)
    return digest(((name, own) for name, _, own in each), name_matters=matters)


def _per_document(form: str) -> bool:
    return form in known() and load(form).layout == "per_document"


def _files(corpus: Corpus) -> list[File]:
    return corpus.sources.select("member", "format", "sha256").rows()


def _encoding(opened: Submission) -> Iterator[tuple[str, str]]:
    """The encoding of the files, if it is not UTF-8."""
    names = {codecs.lookup(member.encoding).name for member in opened.system.members}
    yield from (("encoding", name) for name in sorted(names) if name != "utf-8")
