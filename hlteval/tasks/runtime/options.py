"""Files of options, read and checked under the name of their option, and readers of values.

A finding about such a file has the option as its side, so that it is never one of the submission.
Its errors block: what the file says decides about findings and numbers, and a line that cannot be
read would change them. Only a file that adds nothing but tables does not block.

What an option names in a file of some format is a corpus too; rules find it by the option's name.
All files of options are read in `tasks/runtime/options.py`: findings about them have the option
as their side, and a file with an error is not checked against. A file that is a submission to
another task (`Option.submission_to`) is validated as one by `workflows/run/engine.py`.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
import polars as pl

from hlteval.converters import load
from hlteval.converters.corpus.memory import in_memory, loaded, with_digest
from hlteval.converters.situations.types import names, type_hint
from hlteval.findings import MAX_PER_CODE, Finding, Problem, Severity, finding, line_findings
from hlteval.findings.cascades import without_cascades
from hlteval.representation import Corpus
from hlteval.scoring.edl.measures import Measure, measures
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
        source = with_digest(loaded(source) if option.format else source)
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
        for item in without_cascades(of_option, {side: source.path}):
            blocking = item.severity == Severity.ERROR and option.adds != "tables"
            findings.append(msgspec.structs.replace(item, blocking=blocking))
    return OptionFiles(corpora, values, tuple(findings))


def _corpus(form: str, source: Source) -> tuple[Corpus, list[Finding]]:
    """Read a corpus; a finding if it is empty."""
    chosen = in_memory(source) or load(form)
    corpus, findings = read_corpus(chosen, source)
    tables = [name for name in chosen.tables if name != "sources"]
    unread = any(item.blocking for item in source.findings)
    if (
        not has_error(findings)
        and not unread
        and all(getattr(corpus, name).is_empty() for name in tables)
    ):
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


_NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
WEIGHTS = Table(
    (
        Column("reference", heading="reference type"),
        Column("system", heading="system type"),
        Column("weight", "number", pattern=f" *{_NUMBER} *", code="OPT102"),
    ),
    code="OPT101",
)
ZONES = Table(
    (
        Column("docid", heading="document"),
        Column("start", "integer", heading="first offset", code="OPT104"),
        Column("last", "integer", heading="last offset", code="OPT104"),
    ),
    code="OPT101",
)
NAMES = Table((Column("written", heading="written form"), Column("name")), code="OPT101")


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


def measure_list(names: Sequence[str], _: Mapping[str, str]) -> tuple[Measure, ...]:
    """The measures of names or expressions.

    Raises:
        WrongMeasure: for an unknown one.
    """
    return measures(names)


def type_weights(source: Source, _: Mapping[str, str]) -> FileValue:
    """The weights of pairs of types, by the types of reference and system.

    Of a pair that occurs several times, the greatest weight counts.

    Args:
        source: a table without a header: type of the reference, type of the system, weight.
    """

    def problems(parsed: ParsedTable) -> list[Problem]:
        """Find weights out of range, and pairs with another weight than before."""
        written = parsed.lines.gather(parsed.rows["record"] - 1).str.split("\t").list.get(2)
        rows = parsed.rows.with_columns(given=written.str.strip_chars())
        outside = rows.filter(~pl.col("weight").is_between(0, 1))
        key = pl.concat_str("reference", "system", separator=" and ")
        others = contradictions(parsed, key, "weight", "largest weight")
        return [*parsed.problems_at("OPT103", outside, "weight"), *others]

    rows, findings = read_table(source, WEIGHTS, problems)
    pairs = rows.sort("weight").drop("record").iter_rows()
    return FileValue({(reference, system): weight for reference, system, weight in pairs}, findings)


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


def zones(source: Source, _: Mapping[str, str]) -> FileValue:
    """The zones of documents that are not scored.

    Args:
        source: a table without a header: document, first and last offset, both belonging to the
            zone.
    """

    def problems(parsed: ParsedTable) -> list[Problem]:
        backward = parsed.rows.filter(pl.col("last") < pl.col("start"))
        return parsed.problems_at("OPT105", backward, "start", "last")

    rows, findings = read_table(source, ZONES, problems)
    return FileValue(rows.drop("record"), findings)


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
    documents = [{"row": row, "name": name} for row, name in enumerate(found)]
    return FileValue(tuple(found), findings, Corpus(documents=documents))


def positive_integer(written: str, _: Mapping[str, str]) -> int:
    """A number of annotators, frames or draws.

    Raises:
        ValueError: for anything but a positive integer.
    """
    if not (written.isascii() and written.isdecimal() and int(written)):
        raise ValueError(f"a positive integer is needed, not {written}")
    return int(written)


def situation_types(source: Source, _: Mapping[str, str]) -> FileValue:
    """The situation types of a file with one type per line, in its order."""
    return read_names(
        source,
        str,
        partial(type_hint, several="write one type per line"),
        accepts=names().__contains__,
        code="OPT110",
        title="situation types, one per line",
    )


def threshold(written: str, _: Mapping[str, str]) -> float:
    """A confidence from 0 to 1.

    Raises:
        WrongOption: for anything else.
    """
    value = to_number(written)
    if not 0 <= value <= 1:
        raise WrongOption(f"--threshold is a confidence from 0 to 1, not {written}")
    return value


def place_dictionary(source: Source, _: Mapping[str, str]) -> FileValue:
    """The names of places by their written forms, in the order in which they count.

    Args:
        source: a table of two columns without a header: written form, tab, name. Of a form that
            occurs several times, the last name counts.
    """
    rows, findings = read_table(
        source, NAMES, lambda parsed: contradictions(parsed, pl.col("written"), "name", "last name")
    )
    last = rows.drop("record").unique("written", keep="last", maintain_order=True)
    return FileValue(dict(last.rows()), findings)
