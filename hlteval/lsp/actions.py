"""Answers about findings: quick fixes and their edits, explanations, and the answers to orders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from hlteval.findings import Entry, Finding, Span, entry
from hlteval.findings.fixers import FIXERS
from hlteval.lsp.documents import Buffer, Document, OpenFiles, Position, Range, Text
from hlteval.lsp.judging import NoUnit, unit_of, unit_results
from hlteval.lsp.links import links
from hlteval.lsp.worker import Edit, EditorFinding, Failure, Order
from hlteval.reports.lists import examples, paragraphs, prose, status
from hlteval.reports.terminal import visible
from hlteval.workflows.fix.fixing import Corrector, TextFile
from hlteval.workflows.run.engine import open_submission
from hlteval.workflows.run.request import Request, Selection

_BOM = "\ufeff"
_LONGEST = 100


@dataclass(frozen=True)
class Fix:
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
    counts: dict[str, list[EditorFinding]] = {}
    for item in every:
        counts.setdefault(item.finding.code, []).append(item)
    for code in dict.fromkeys(item.finding.code for item in chosen):
        if len(counts[code]) > 1:
            yield Fix(f"Fix all {code} in this file", tuple(counts[code]), code)
    if any(entry(code).fixer for code in counts):
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


@dataclass(frozen=True)
class _OrderedFindings:
    """Selection of the findings of one file that an order names.

    Attributes:
        selection: the findings of the unit that are wanted.
        file: name of the file in findings.
        order: with the code and the line, if it is about one.
    """

    selection: Selection
    file: str
    order: Order

    def of(self, findings: Iterable[Finding]) -> list[Finding]:
        """Select from findings."""
        return [
            finding
            for finding in self.selection.of(findings)
            if finding.file == self.file
            and self.order.code in {"", finding.code}
            and self.order.line in {0, finding.span.line if finding.span else 0}
        ]


def edits(order: Order, buffers: Mapping[str, Buffer]) -> tuple[Edit, ...]:
    """The edits of a document that correct findings of it; what does not help is left out.

    Args:
        order: with the document and the findings that are corrected.
        buffers: by key; the document is among them.
    """
    (path,) = order.paths
    try:
        unit = unit_of(path, OpenFiles(buffers), order.given, order.tasks.get(path, ""))
    except NoUnit:
        return ()
    files = OpenFiles(buffers, unit.encoding)
    opened = open_submission(Request(unit.task.name, max_per_code=0, **unit.arguments(files)))
    name = path.removeprefix(unit.path).lstrip("/") if path != unit.path else ""
    file = next((item.display for item in opened.system.members if item.name == name), "")
    findings = _OrderedFindings(unit.selection, file, order)
    fixed = Corrector(opened, findings.of, unsafe=bool(order.code)).files().texts.get(file)
    if fixed is None or not fixed.fixes:
        return ()
    return tuple(_edits(buffers[path], fixed, Text.of(buffers[path].text, order.units)))


class _Block(NamedTuple):
    """Lines of a document, 1-based, and what is in place of them."""

    first: int
    last: int
    lines: Sequence[str]


def _edits(buffer: Buffer, fixed: TextFile, text: Text) -> Iterator[Edit]:
    """The edits from a buffer to a corrected file."""
    old = buffer.text.removeprefix(_BOM).split("\n")
    if buffer.text.startswith(_BOM) and not fixed.mark:
        yield Edit(Range(Position(0, 0), text.position(0, 1)), "")
    fresh: dict[int, list[str]] = {}
    for number, line in fixed.lines:
        fresh.setdefault(number, []).append(line.removesuffix("\r") if buffer.returns else line)
    changes = [n for n, line in enumerate(old, start=1) if fresh.get(n, []) != [line]]
    for _, run in groupby(enumerate(changes), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        lines = [line for number in numbers for line in fresh.get(number, [])]
        yield _edit(_Block(numbers[0], numbers[-1], lines), old, text)


def _edit(block: _Block, old: Sequence[str], text: Text) -> Edit:
    """The edit that puts a block in place; of a single line, only what differs in it."""
    last = old[block.last - 1]
    if block.first == block.last and len(block.lines) == 1:
        line = block.lines[0]
        before = _common_length(last, line)
        after = _common_length(last[before:][::-1], line[before:][::-1])
        span = Span(block.first, before + 1, len(last) - after + 1)
        return Edit(text.range(span), line[before : len(line) - after])
    if block.last < len(old):
        start = text.range(Span(block.first, 1, 1)).start
        end = text.range(Span(block.last + 1, 1, 1)).start
        return Edit(Range(start, end), "".join(f"{line}\n" for line in block.lines))
    end = text.range(Span(block.last, len(last) + 1, len(last) + 1)).start
    start = text.range(Span(block.first, 1, 1)).start
    if not block.lines and block.first > 1:
        column = len(old[block.first - 2]) + 1
        start = text.range(Span(block.first - 1, column, column)).start
    return Edit(Range(start, end), "\n".join(block.lines))


def _common_length(first: str, second: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


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
    by_code: dict[str, list[Finding]] = {}
    for item in findings:
        by_code.setdefault(item.finding.code, []).append(item.finding)
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


@dataclass
class Answers:
    """The answers to orders, one after the other.

    Attributes:
        buffers: by key, as all orders so far have left them.
    """

    buffers: dict[str, Buffer] = field(default_factory=dict)

    def answer(self, order: Order) -> Any:
        """The answer to an order, or a `Failure` for an error of the program."""
        try:
            return self.perform(order)
        except Exception as error:
            return Failure(type(error).__name__)

    def perform(self, order: Order) -> Any:
        """The answer to an order: a list of `UnitResult`, edits, or `Links`."""
        for key, buffer in order.buffers.items():
            if buffer is None:
                self.buffers.pop(key, None)
            else:
                self.buffers[key] = buffer
        if order.kind == "judge":
            return list(unit_results(order, self.buffers))
        return edits(order, self.buffers) if order.kind == "fix" else links(order, self.buffers)


_ANSWERS = Answers()


def answer(order: Order) -> Any:
    """The answer to an order in a process that does nothing else: buffers stay."""
    return _ANSWERS.answer(order)
