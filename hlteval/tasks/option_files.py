"""Files of options, read and checked under the name of their option, and readers of values.

A finding about such a file has the option as its side, so that it is never one of the submission.
Its errors block: what the file says decides about findings and numbers, and a line that cannot be
read would change them. Only a file that adds nothing but tables does not block.

What an option names in a file of some format is a corpus too; rules find it by the option's name.
All files of options are read in `tasks/option_files.py`: findings about them have the option
as their side, and a file with an error is not checked against. A file that is a submission to
another task (`Option.submission_to`) is validated as one by `workflows/run/engine.py`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
import polars as pl

from hlteval.converters import load
from hlteval.converters.corpus.memory import in_memory, load_corpus, with_digest
from hlteval.findings import MAX_PER_CODE, Finding, Problem, Severity, finding, line_findings
from hlteval.findings.cascades import cascades
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, open_source
from hlteval.syntax.tsv import Column, ParsedTable, Table
from hlteval.tasks.options import to_number
from hlteval.tasks.task import Task, WrongOption

if TYPE_CHECKING:
    from hlteval.converters import Format


class FileValue(NamedTuple):
    """Value of an option's file for the metric, and the problems of the file.

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
    values: dict[str, object] = {}
    findings: list[Finding] = []
    for option in task.options:
        if option.name not in given or not option.is_file:
            continue
        if option.reference_format and not references:
            continue
        source = open_source(given[option.name], encoding=encoding)
        source = source.with_max_per_code(max_per_code)
        source = with_digest(load_corpus(source) if option.format else source)
        found: Sequence[Finding] = ()
        if option.format:
            corpora[option.name], found = _corpus(option.format, source)
        elif option.read is not None:
            values[option.name], found, corpus = cast(FileValue, option.read(source, given))
            corpora |= {} if corpus is None else {option.name: corpus}
            if not has_error([*source.findings, *found]) and _is_blank(source):
                found = [*found, finding("OPT107", file=source.path)]
        side = f"--{option.flag}"
        of_option = [item.of(side) for item in (*source.findings, *found)]
        for item in cascades(of_option, {side: source.path}).kept:
            adds = option.adds in ("tables", "texts")  # the scores are what they are without it
            blocking = item.severity == Severity.ERROR and not adds
            findings.append(msgspec.structs.replace(item, blocking=blocking))
    return OptionFiles(corpora, values, tuple(findings))


def _corpus(form: str, source: Source) -> tuple[Corpus, list[Finding]]:
    """Read a corpus; a finding if it is empty."""
    chosen = in_memory(source) or load(form)
    corpus, findings = read_corpus(chosen, source)
    tables = [name for name in chosen.tables if name != "sources"]
    unread = has_error(findings) or any(item.blocking for item in source.findings)
    if not unread and all(getattr(corpus, name).is_empty() for name in tables):
        findings.append(finding("OPT109", file=source.path, title=load(form).title))
    return corpus, findings


def read_corpus(form: Format, source: Source) -> tuple[Corpus, list[Finding]]:
    """Read a source as a single corpus, and the findings about it."""
    results = list(form.read(source))
    corpus = Corpus.concat(result.corpus for result in results)
    return corpus, [item for result in results for item in result.findings]


def read_rows(
    form: Format, source: Source, rows: Callable[[Corpus], pl.DataFrame], title: str = ""
) -> FileValue:
    """Read the rows of a corpus that a metric takes; a finding if there are none.

    Args:
        form: the format of the source.
        source: what the option names.
        rows: selects the rows.
        title: what the source contains, for the finding; the title of the format if empty.
    """
    corpus, findings = read_corpus(form, source)
    value = rows(corpus)
    if value.is_empty() and not has_error(findings):
        findings.append(finding("OPT109", file=source.path, title=title or form.title))
    return FileValue(value, findings, corpus)


def has_error(findings: Iterable[Finding]) -> bool:
    """Return whether a file has an error; a byte order mark, for example, is none.

    Examples:
        >>> has_error([finding("SRC202")]), has_error([finding("OPT109", file="x", title="names")])
        (False, True)
    """
    return any(item.severity == Severity.ERROR for item in findings)


def _is_blank(source: Source) -> bool:
    """Whether all files can be read, and have nothing but white space."""
    try:
        texts = (member.fetch().removeprefix(BOM_UTF8) for member in source.members)
        return not any(text.strip() for text in texts)
    except Unreadable:
        return False


class TextFile(NamedTuple):
    """A file of an option: its text, empty where it cannot be decoded, and what is wrong there."""

    member: Member
    text: str
    findings: Sequence[Finding]


def files(source: Source) -> Iterator[TextFile]:
    """The text of each file that an option names; files that cannot be read have only findings."""
    for member in source.members:
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield TextFile(member, "", (reason.finding,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        yield TextFile(member, decoded.text or "", decoded.findings)


def read_table(
    source: Source, table: Table, more: Callable[[ParsedTable], Sequence[Problem]] = lambda _: ()
) -> tuple[pl.DataFrame, list[Finding]]:
    """The rows of a table in one or several files, as `ParsedTable.rows`, and the findings.

    Args:
        source: the files.
        table: its declaration.
        more: further problems of a file, in lines that can be read.
    """
    rows, findings = [table.read("").rows], list[Finding]()
    headings = ", ".join(table.headings)
    for file in files(source):
        parsed = table.read(file.text)
        rows.append(parsed.rows)
        findings += [*file.findings, *parsed.findings(file.member, *more(parsed), columns=headings)]
    return pl.concat(rows), findings


def contradictions(parsed: ParsedTable, key: pl.Expr, value: str, counts: str) -> list[Problem]:
    """Lines that give a key another value than its first line does.

    Args:
        parsed: a file.
        key: what has one value.
        value: the column of the value.
        counts: which of several values has an effect, in words.
    """
    rows = parsed.rows.with_columns(key=key, counts=pl.lit(counts))
    first = rows.with_columns(
        first=pl.col("record").first().over("key"), other=pl.col(value).first().over("key")
    )
    return parsed.problems_at("OPT106", first.filter(pl.col(value) != pl.col("other")))


def read_names(
    source: Source,
    name_in: Callable[[str], str],
    hint: Callable[[str], str],
    *,
    accepts: Callable[[str], bool],
    code: str,
    title: str,
) -> FileValue:
    """Names, one per line, in their order; the rules have them as the names of documents.

    Args:
        source: the files; empty lines are ignored.
        name_in: what of a line is its name.
        hint: how to correct a name that is not accepted.
        accepts: whether a name is one.
        code: the code of the finding about others.
        title: what the file contains, for the finding that it contains none.
    """
    found: dict[str, None] = {}
    findings: list[Finding] = []
    for file in files(source):
        lines, problems = file.text.split("\n"), list[Problem]()
        for record, line in enumerate(lines, start=1):
            name = name_in(line).strip()
            if accepts(name):
                found[name] = None
            elif name:
                start = line.index(name)
                values = {"given": name[:80], "hint": hint(name)}
                problems.append(Problem(code, record, start, start + len(name), values))
        findings += [
            *file.findings,
            *line_findings(problems, lines, file.member.display, file.member.max_per_code),
        ]
    if not (found or has_error(findings)):
        findings.append(finding("OPT109", file=source.path, title=title))
    return FileValue(tuple(found), findings, as_documents(found))


def as_documents(names: Iterable[str]) -> Corpus:
    """Names as those of documents, which rules look up."""
    return Corpus(documents=[{"row": row, "name": name} for row, name in enumerate(names)])


def integer(
    written: str,
    _: Mapping[str, str],
    *,
    pattern: str = "0*[1-9][0-9]*",
    needed: str = "a positive integer is needed",
) -> int:
    """An integer, by default of annotators, frames or draws.

    Args:
        written: the value.
        pattern: of the integers that the option can have.
        needed: what is needed, for the message.

    Raises:
        ValueError: for anything else.

    Examples:
        >>> integer("7", {})
        7
    """
    if not re.fullmatch(pattern, written):
        raise ValueError(f"{needed}, not {written}")
    return int(written)


def confidence(written: str, _: Mapping[str, str], *, needed: str) -> float:
    """A confidence from 0 to 1.

    Args:
        written: the value.
        needed: what is needed, for the message.

    Raises:
        WrongOption: for anything else.

    Examples:
        >>> confidence("0.25", {}, needed="a confidence is needed")
        0.25
    """
    value = to_number(written)
    if not 0 <= value <= 1:
        raise WrongOption(f"{needed}, not {written}")
    return value


def parents(source: Source, _: Mapping[str, str]) -> FileValue:
    """An ontology: the parents of each identifier; for rules, all identifiers as entities.

    Args:
        source: a table without a header: an identifier, and one of its parents.
    """

    def problems(parsed: ParsedTable) -> list[Problem]:
        """Find the line that closes a cycle."""
        try:
            TopologicalSorter(_parents(parsed.rows)).prepare()
        except CycleError as error:
            cycle = error.args[1][::-1]
            steps = [{"child": child, "parent": parent} for child, parent in pairwise(cycle)]
            closing = parsed.rows.filter(pl.struct("child", "parent").is_in(steps)).tail(1)
            named = closing.with_columns(cycle=pl.lit(" is a ".join(cycle)))
            return parsed.problems_at("OPT115", named)
        return []

    rows, findings = read_identifiers(source, "child", "parent", more=problems)
    every = pl.concat([rows["child"], rows["parent"]])
    known = dict.fromkeys(every, ()) | _parents(rows)
    return FileValue(known, findings, as_documents(known))


def read_identifiers(
    source: Source, *names: str, more: Callable[[ParsedTable], list[Problem]] = lambda _: []
) -> tuple[pl.DataFrame, Sequence[Finding]]:
    """Read columns of identifiers; a finding without any, since nothing would be equal then.

    Args:
        source: the files.
        *names: of the columns.
        more: further problems of a file, in lines that can be read.
    """
    cells = (Column(each, heading="identifier", pattern="[^\t ]+", code="OPT116") for each in names)
    rows, findings = read_table(source, Table(tuple(cells), code="OPT101"), more)
    if rows.is_empty() and not has_error(findings):
        findings = [*findings, finding("OPT109", file=source.path, title="identifiers in lines")]
    return rows, findings


def _parents(rows: pl.DataFrame) -> dict[str, list[str]]:
    found = rows.group_by("child", maintain_order=True).agg("parent")
    return dict(found.iter_rows())
