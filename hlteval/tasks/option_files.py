"""Files of options: all are read here, and judged under the name of their option.

A finding about such a file has the option as its side, so that it is never one of the submission.
Its errors block: what the file says decides about findings and numbers, and a line that cannot be
read would change them. Only a file that adds nothing but tables does not block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from hlteval.converters import load
from hlteval.converters.corpus.memory import in_memory, loaded, with_digest
from hlteval.findings import MAX_PER_CODE, Finding, Severity, finding
from hlteval.findings.cascades import without_cascades
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, open_source
from hlteval.tasks.option import Option
from hlteval.tasks.task import Task


class FileValue(NamedTuple):
    """What an option's file gives its metric, and what is wrong with the file.

    Attributes:
        value: of all that can be read.
        findings: about the file, whatever their side.
        corpus: the same for rules, if they check against it.
    """

    value: Any
    findings: Sequence[Finding] = ()
    corpus: Corpus | None = None


@dataclass(frozen=True)
class OptionFiles:
    """The files that the options of a task name, read.

    Attributes:
        corpora: those that are read as corpora, by option.
        values: what others give the metric, by option.
        findings: about all of them, each with its option as its side.
    """

    corpora: Mapping[str, Corpus] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @cached_property
    def usable(self) -> Mapping[str, Corpus]:
        """The corpora without a blocking finding: nothing else is checked against."""
        wrong = {item.side for item in self.findings if item.blocking}
        return {
            name: corpus
            for name, corpus in self.corpora.items()
            if f"--{name.replace('_', '-')}" not in wrong
        }


def read_files(
    task: Task,
    given: Mapping[str, str],
    encoding: str = "utf-8",
    *,
    references: bool = True,
    max_per_code: int = MAX_PER_CODE,
) -> OptionFiles:
    """Read all files that options of a task name.

    Args:
        task: the task.
        given: values as text, by the names of the task's options.
        encoding: of the files.
        references: whether to read those that a submission is checked against in validation.
        max_per_code: maximum number of explained findings of a code in a file; 0 for all.

    Raises:
        FileNotFoundError: if a path does not exist.
        LookupError: for an unknown encoding.

    Examples:
        >>> from hlteval.tasks import load
        >>> read_files(load("lorehlt-edl"), {"by": "type"}).findings
        ()
    """
    corpora: dict[str, Corpus] = {}
    values: dict[str, Any] = {}
    findings: list[Finding] = []
    for option in task.options:
        if option.name not in given or not option.is_file:
            continue
        if option.reference_format and not references:
            continue
        source = open_source(given[option.name], encoding=encoding)
        source = source.with_max_per_code(max_per_code)
        source = with_digest(loaded(source) if option.format else source)
        found: Sequence[Finding] = ()
        if option.format:
            corpora[option.name], found = _corpus(option.format, source)
        elif option.read is not None:
            values[option.name], found, corpus = _value(option.read(source, given), source)
            corpora |= {} if corpus is None else {option.name: corpus}
        findings += _judged(option, source, [*source.findings, *found])
    return OptionFiles(corpora, values, tuple(findings))


def _corpus(form: str, source: Source) -> tuple[Corpus, Sequence[Finding]]:
    chosen = in_memory(source) or load(form)
    results = list(chosen.read(source))
    found = [item for result in results for item in result.findings]
    corpus = Corpus.concat(result.corpus for result in results)
    tables = [name for name in chosen.tables if name != "sources"]
    unread = any(item.blocking for item in source.findings)
    if not found and not unread and all(getattr(corpus, name).is_empty() for name in tables):
        found = [finding("OPT109", file=source.path, title=load(form).title)]
    return corpus, found


def _value(read: Any, source: Source) -> FileValue:
    """What a reader gives; a finding if there is nothing to read."""
    value, found, corpus = read
    nothing = not source.findings and not found and all(map(_is_blank, source.members))
    empty = [finding("OPT107", file=source.path)]
    return FileValue(value, empty if nothing else found, corpus)


def _is_blank(member: Member) -> bool:
    try:
        return not member.fetch().strip()
    except Unreadable:
        return False


def _judged(option: Option, source: Source, found: Sequence[Finding]) -> list[Finding]:
    """The findings about a file, under the name of its option; its errors block."""
    side = f"--{option.flag}"
    listed = without_cascades([item.of(side) for item in found], {side: source.path})
    return [
        msgspec.structs.replace(
            item, blocking=item.severity == Severity.ERROR and option.adds != "tables"
        )
        for item in listed
    ]
