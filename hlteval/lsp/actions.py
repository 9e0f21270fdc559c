"""Quick fixes, explanations, links of identifiers, and the answers of a worker to orders."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import msgspec
import polars as pl
from rapidfuzz.distance import Postfix, Prefix

from hlteval.converters import Format, ReadResult
from hlteval.extensions import read_tables
from hlteval.findings import Entry, FieldRef, Finding, Span, entry
from hlteval.findings.fixers import FIXERS
from hlteval.findings.sequence import lists_by_key
from hlteval.lsp.documents import Buffer, Document, Edit, OpenFiles, Position, Range, Text
from hlteval.lsp.judging import USAGE, NoUnit, Places, unit_of, unit_results
from hlteval.lsp.session import EditorFinding, Failure, Links, Order, Site
from hlteval.reports.lists import examples, paragraphs, prose, status
from hlteval.reports.terminal import visible
from hlteval.representation import Corpus
from hlteval.sources import Member, Unreadable, decode
from hlteval.workflows.fixing import Corrector, changed_runs
from hlteval.workflows.run.batches import Submission
from hlteval.workflows.run.engine import open_submission

_BOM = "\ufeff"
_LONGEST = 100


class Fix(NamedTuple):
    """A quick fix.

    Attributes:
        title: what it does.
        findings: the findings that it corrects; empty for all of the document.
        code: their code; empty for all.
        line: their line; 0 for all.
    """

    title: str
    findings: tuple[EditorFinding, ...] = ()
    code: str = ""
    line: int = 0


def fixes(
    document: Document, findings: Iterable[EditorFinding], every: Iterable[EditorFinding]
) -> Iterator[Fix]:
    """The quick fixes for findings, then those for all of a document.

    Args:
        document: the document.
        findings: the findings that are asked about.
        every: all findings of the document.
    """
    lines = document.text.content.split("\n") if any(findings) else []
    chosen = [item for item in findings if _is_fixable(item.finding, document, lines)]
    for item in chosen:
        line = item.finding.span.line if item.finding.span else 0
        title = item.finding.help or FIXERS[entry(item.finding.code).fixer].title
        title = visible(title.partition("\n")[0])
        title = title[:1].upper() + title[1:]
        title = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
        yield Fix(title, (item,), item.finding.code, line)
    by_code = lists_by_key((item.finding.code, item) for item in every)
    for code in dict.fromkeys(item.finding.code for item in chosen):
        if len(by_code[code]) > 1:
            yield Fix(f"Fix all {code} in this file", tuple(by_code[code]), code)
    if any(entry(code).fixer for code in by_code):
        yield Fix("Fix all findings of hlteval in this file")


def _is_fixable(finding: Finding, document: Document, lines: list[str]) -> bool:
    """Whether a finding has a fixer that may change the text that the editor shows."""
    name = entry(finding.code).fixer
    if not name:
        return False
    fixer, text = FIXERS[name], document.text
    if name == "byte-order-mark":
        return text.lines[0].startswith(_BOM)
    if name == "line-ends":
        return any(line.endswith("\r\n") for line in text.lines)
    if fixer.line is None or finding.span is None:
        return fixer.scope in {"rule", "table"} or fixer.file is not None
    number = finding.span.line
    line = lines[number - 1] if number <= len(lines) else ""
    return fixer.line(line.removesuffix("\r").removeprefix(_BOM), finding) is not None


def edits(order: Order) -> list[Edit]:
    """The edits of the document of an order that correct findings; without those of no help."""
    (path,) = order.paths
    try:
        unit = unit_of(path, order)
    except NoUnit:
        return []
    request, buffer = unit.request(order.buffers), order.buffers[path]
    opened = open_submission(replace(request, max_per_code=0))
    name = path.removeprefix(unit.path).lstrip("/") if path != unit.path else ""
    file = next((item.display for item in opened.system.members if item.name == name), "")
    selection = unit.selection

    def select(findings: Iterable[Finding]) -> list[Finding]:
        """Select the findings of the file, with the code and the line if the order is of one."""
        return [
            finding
            for finding in selection.of(findings)
            if finding.file == file
            and order.code in {"", finding.code}
            and order.line in {0, finding.span.line if finding.span else 0}
        ]

    fixed = Corrector(opened, select, unsafe=bool(order.code)).files().texts.get(file)
    if fixed is None or not fixed.fixes:
        return []
    text, old = Text.of(buffer.text, order.units), buffer.text.removeprefix(_BOM).split("\n")
    edits = []
    if buffer.text.startswith(_BOM) and not fixed.mark:
        edits.append(Edit(Range(Position(0, 0), text.position(0, 1)), ""))
    end = "\r" if buffer.returns else ""
    fresh = ((number, line.removesuffix(end)) for number, line in fixed.lines)
    for first, gone, lines in changed_runs(enumerate(old, start=1), fresh):
        edits.append(_edit(old, first, first + len(gone) - 1, lines, text))
    return edits


def _edit(old: Sequence[str], first: int, last: int, lines: Sequence[str], text: Text) -> Edit:
    """The edit that puts lines in place of some, 1-based; of a single one, what differs in it."""
    before = old[last - 1]
    if first == last and len(lines) == 1:
        same = Prefix.similarity(before, lines[0])
        after = Postfix.similarity(before[same:], lines[0][same:])
        place = Range(text.place(first, same + 1), text.place(last, len(before) - after + 1))
        return Edit(place, lines[0][same : len(lines[0]) - after])
    start = text.place(first, 1)
    if last < len(old):
        end = text.place(last + 1, 1)
        return Edit(Range(start, end), "".join(f"{line}\n" for line in lines))
    if not lines and first > 1:
        start = text.place(first - 1, len(old[first - 2]) + 1)
    return Edit(Range(start, text.place(last, len(before) + 1)), "\n".join(lines))


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Identifiers of one kind.

    Attributes:
        defined: the columns with the identifier of a record itself.
        mentioned: the columns with that of another record.
        global_scope: whether documents share them.
    """

    defined: tuple[str, ...]
    mentioned: tuple[str, ...]
    global_scope: bool = False


#: The kinds of identifiers; a table that a corpus does not have rows of says nothing.
KINDS = msgspec.convert(read_tables("hlteval.lsp", "identifiers"), dict[str, Names])


def identifiers(corpus: Corpus) -> Iterator[pl.DataFrame]:
    """Every identifier of a corpus, in tables.

    Yields:
        A table of `kind`, `document` (its name; empty where documents share the identifiers),
        `identifier` as written, whether the record `defines` it, and its `origin` and `record`.
    """
    documents = corpus.documents.select(document="row", _name="name")
    for kind, names in KINDS.items():
        scope = pl.lit("") if names.global_scope else pl.col("_name")
        for path in (*names.defined, *names.mentioned):
            table, _, column = path.partition(".")
            rows: pl.DataFrame = getattr(corpus, table)
            if not rows.height or not {"record", "origin"} <= {*rows.columns}:
                continue
            yield (
                rows.select("document", "origin", "record", identifier=column)
                .filter(pl.col("identifier").is_not_null(), pl.col("identifier") != "")
                .join(documents, on="document", how="left", maintain_order="left")
                .select(
                    *("origin", "record", "identifier"),
                    kind=pl.lit(kind),
                    document=scope.fill_null(""),
                    defines=pl.lit(path in names.defined),
                )
            )


#: Most places that are given.
_SITES = 1000
#: Characters after the beginning of a record in which its identifiers are looked for.
_AHEAD = 20_000


@dataclass(frozen=True)
class _File:
    """A file that was read, with its format.

    Attributes:
        member: the file.
        form: its format.
        path: its key; None if it is not a document.
    """

    member: Member
    form: Format
    path: str | None

    @cached_property
    def lines(self) -> Sequence[str]:
        """Its lines, as findings count them; none if it cannot be read."""
        try:
            data = self.member.fetch()
        except Unreadable:
            return ()
        text = decode(data, display=self.member.display, encoding=self.member.encoding).text
        return (text or "").split("\n")

    def spans(self, records: Sequence[int]) -> list[Span | None]:
        """The spans of records."""
        try:
            locations = self.form.locate(self.member, [FieldRef(record) for record in records])
        except Unreadable:
            return [None] * len(records)
        return [None if place is None else place.span for place in locations]

    def within(self, span: Span, identifier: str) -> Iterator[Span]:
        """The places of an identifier in a record, or after its beginning."""
        pattern, left = _pattern(identifier), _AHEAD
        for number in range(span.line, len(self.lines) + 1):
            line = self.lines[number - 1]
            first = number == span.line
            start = span.column - 1 if first else 0
            end = span.end_column - 1 if first and span.end_column > span.column else len(line)
            matches = [*pattern.finditer(line, start, end)] or pattern.finditer(line, start)
            yield from (Span(number, m.start() + 1, m.end() + 1) for m in matches)
            left -= len(line) + 1
            if left <= 0:
                return


def _pattern(identifier: str) -> re.Pattern[str]:
    """The identifier as a word of its own."""
    before = r"(?<!\w)" if identifier[:1].isalnum() else ""
    after = r"(?!\w)" if identifier[-1:].isalnum() else ""
    return re.compile(before + re.escape(identifier) + after)


def links(order: Order) -> Links:
    """The definitions and mentions of the identifier at the position of an order, if any."""
    (path,) = order.paths
    try:
        unit = unit_of(path, order)
        opened = open_submission(unit.request(order.buffers))
    except (NoUnit, *USAGE):
        return Links()
    sources = {unit.path: opened.system}
    if opened.reference is not None:
        sources[opened.reference.path] = opened.reference
    places = Places(OpenFiles(order.buffers, unit.encoding), sources, order.units)
    tables: list[pl.DataFrame] = []
    read: list[_File] = []
    for own, form, result in _read(opened, path, places):
        more = {"origin": pl.col("origin") + len(read), "own": pl.lit(own)}
        tables += [table.with_columns(**more) for table in identifiers(result.corpus)]
        keys = places.keys
        read += [_File(member, form, keys.get(member.display)) for member in result.members]
    text = places.text(path)
    number = next((n for n, file in enumerate(read) if file.path == path), None)
    if text is None or number is None or not tables:
        return Links()
    rows = pl.concat(tables)
    here = rows.filter(pl.col("origin") == number)
    line, column = _as_written(text.lines, *text.inside(order.position))
    target = _identifier_at(read[number], here, line, column)
    if target is None:
        return Links()
    identifier, records = target
    same = here.filter(pl.col("identifier") == identifier, pl.col("record").is_in(records))
    key = ["kind", "document", "identifier"]
    rows = rows.join(same.select(key).unique(), on=key, how="semi", maintain_order="left")
    # Both sides may define an identifier, each for itself.
    ours = rows.filter(pl.col("own"))
    defined = _sites(ours.filter(pl.col("defines")), read, places)
    defined = defined or _sites(rows.filter(pl.col("defines")), read, places)
    mentioned = _sites(ours.filter(~pl.col("defines")), read, places)
    return Links(defined or mentioned[:1], mentioned)


def _sites(rows: pl.DataFrame, files: Sequence[_File], places: Places) -> tuple[Site, ...]:
    """The places of the identifiers of rows, once each."""
    sites: dict[Site, None] = {}
    counts = rows.head(_SITES).group_by("origin", "record", "identifier", maintain_order=True).len()
    for (origin,), part in counts.group_by("origin", maintain_order=True):
        file = files[int(str(origin))]
        text = places.text(file.path) if file.path else None
        if file.path is None or text is None:
            continue
        spans = file.spans(part["record"].to_list())
        for span, identifier, count in zip(spans, part["identifier"], part["len"], strict=True):
            if span is not None:  # as many places as rows; the record if there is none
                inside = [*islice(file.within(span, identifier), count)] or [span]
                sites |= dict.fromkeys(Site(file.path, text.range(each)) for each in inside)
    return tuple(sites)


def _read(
    opened: Submission, path: str, places: Places
) -> Iterator[tuple[bool, Format, ReadResult]]:
    """The files of a document of both sides, with their formats; all where they are one file.

    What comes first is whether it is the side of the document.
    """
    sides = [(opened.system, opened.format, opened.system_files)]
    if opened.reference is not None:
        sides.append((opened.reference, opened.reference_format, opened.reference_files))
    names = [name for _, _, files in sides for name, members in files.items()
             if any(places.keys.get(member.display) == path for member in members)]  # fmt: skip
    for source, form, files in sides:
        wanted = names if form.layout == "per_document" and "" not in names else list(files)
        members = [member for name in wanted for member in files.get(name, ())]
        for result in form.read(source.only(members)) if members else ():
            yield source is opened.system, form, result


def _as_written(lines: Sequence[str], line: int, column: int) -> tuple[int, int]:
    """The line and column, as findings count them, of those of the protocol."""
    number, rest = 1 + sum(text.endswith("\n") for text in lines[:line]), column
    for before in reversed(lines[:line]):
        if before.endswith("\n"):
            break
        rest += len(before)
    return number, rest + 1 - (number == 1 and lines[0].startswith("\ufeff"))


def _identifier_at(
    file: _File, rows: pl.DataFrame, line: int, column: int
) -> tuple[str, list[int]] | None:
    """The longest identifier at a position, and the records that may have it there.

    Args:
        file: the file.
        rows: its identifiers.
        line: the line as in findings, 1-based.
        column: the column, 1-based.
    """
    records = rows["record"].unique().sort().to_list()
    spans = dict(zip(records, file.spans(records), strict=True))
    starts = sorted((span.line, span.column, record) for record, span in spans.items() if span)
    before = starts[: bisect_right(starts, (line, column, float("inf")))]
    here = [record for *place, record in before[-2:] if place == [*before[-1][:2]]]
    text = file.lines[line - 1] if line <= len(file.lines) else ""
    known = rows.filter(pl.col("record").is_in(here))["identifier"].unique().to_list()
    for identifier in sorted(known, key=lambda name: (-len(name), name)):
        matches = _pattern(identifier).finditer(text)
        if any(match.start() <= column - 1 <= match.end() for match in matches):
            return identifier, here
    return None


#: Most findings that are explained at once.
_FINDINGS = 3
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")


def hover(findings: Iterable[EditorFinding], docs: str = "", *, markdown: bool = True) -> str:
    """An explanation of what is wrong at a position and how to fix it; empty if nothing is.

    Args:
        findings: the findings there.
        docs: address of the documentation, for links to the pages of codes; empty for none.
        markdown: whether the editor shows Markdown; else it is plain text.

    Examples:
        >>> from hlteval.findings import finding
        >>> from hlteval.lsp.documents import NOWHERE
        >>> found = finding("SRC202", file="a.tab")
        >>> print(hover([EditorFinding(found, NOWHERE)]).splitlines()[0])
        **SRC202**: Byte order mark
    """
    by_code = lists_by_key((item.finding.code, item.finding) for item in findings)
    parts = [
        "\n\n".join(_explanation(entry(code), findings, docs, markdown=markdown))
        for code, findings in list(by_code.items())[:_FINDINGS]
    ]
    return "\n\n---\n\n".join(parts)


def page(code: str, docs: str) -> str:
    """The address of the page of a code.

    Examples:
        >>> page("STD302", "https://example.org/hlteval/")
        'https://example.org/hlteval/codes/std302/'
    """
    return f"{docs.rstrip('/')}/codes/{code.lower()}/"


def _explanation(
    declared: Entry, findings: Iterable[Finding], docs: str, *, markdown: bool
) -> Iterator[str]:
    """The paragraphs of one code."""
    bold = "**" if markdown else ""
    text = escape if markdown else visible
    yield f"{bold}{declared.code}{bold}: {text(declared.title)}"
    for lines in dict.fromkeys((item.message, item.help) for item in findings):
        yield "\n\n".join(text(line) for line in lines if line)
    yield text(status(declared))
    for label, written in prose(declared):
        first, *rest = paragraphs(written)
        yield "\n\n".join([f"{bold}{label}{bold}: {text(first)}", *map(text, rest)])
    for label, example in examples(declared):
        block = "\n".join(map(visible, example.split("\n")))
        if markdown:  # fenced by more backticks than it has
            longest = max((len(run) for run in re.findall("`+", block)), default=0)
            fence = "`" * max(3, longest + 1)
            block = f"{fence}text\n{block}\n{fence}"
        yield f"{bold}{label}{bold}\n\n{block}"
    if docs:
        address = page(declared.code, docs)
        yield f"[{address}]({address})" if markdown else address


def escape(text: str) -> str:
    r"""A text as Markdown that shows it as it is.

    Examples:
        >>> print(escape("unknown type <b>_x_"))
        unknown type \<b\>\_x\_
    """
    return _SPECIAL.sub(r"\\\1", visible(text))


def perform(order: Order) -> Any:
    """The answer to an order with all buffers: a list of `UnitResult`, edits, or `Links`."""
    if order.kind == "judge":
        return list(unit_results(order))
    return edits(order) if order.kind == "fix" else links(order)


class _Answers:
    """The answers to orders, one after the other, each with the buffers that changed."""

    def __init__(self) -> None:
        self._buffers: Mapping[str, Buffer] = {}

    def __call__(self, order: Order) -> Any:
        """The answer to an order, or a `Failure` for an error of the program."""
        buffers = {**self._buffers, **order.buffers}
        self._buffers = {path: it for path, it in buffers.items() if path not in order.closed}
        try:
            return perform(order._replace(buffers=self._buffers))
        except Exception as error:
            return Failure(type(error).__name__)


#: Answers orders in a process that does nothing else: buffers stay.
answer = _Answers()
