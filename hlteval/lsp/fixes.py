"""Corrections as edits: what the fixers of the catalogue change in a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from hlteval.findings import Finding, Span
from hlteval.lsp.buffers import Buffer, OpenFiles
from hlteval.lsp.orders import Edit, Order
from hlteval.lsp.text import Position, Range, Text
from hlteval.lsp.units import NoUnit, unit_of
from hlteval.workflows.fixed_files import TextFile
from hlteval.workflows.fixing import corrections
from hlteval.workflows.selection import Selection
from hlteval.workflows.validation import open_submission

_BOM = "\ufeff"


@dataclass(frozen=True)
class _Chosen:
    """The findings of one file that an order names.

    Attributes:
        selection: the findings of the unit that are wanted.
        file: name of the file in findings.
        order: with the code and the line, if it is about one.
    """

    selection: Selection
    file: str
    order: Order

    def of(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those of some findings that the order names."""
        return [found for found in self.selection.of(findings) if self._is_named(found)]

    def _is_named(self, found: Finding) -> bool:
        line = found.span.line if found.span else 0
        of_code = not self.order.code or found.code == self.order.code
        return found.file == self.file and of_code and self.order.line in {0, line}


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
    opened = open_submission(unit.task.name, max_per_code=0, **unit.arguments(files))
    name = path.removeprefix(unit.path).lstrip("/") if path != unit.path else ""
    file = next((item.display for item in opened.system.members if item.name == name), "")
    chosen = _Chosen(unit.selection, file, order)
    profile, asked = str(unit.values.get("profile", "plan")), bool(order.code)
    fixed = corrections(opened, profile, chosen, unsafe=asked).texts.get(file)
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
        before = _common(last, line)
        after = _common(last[before:][::-1], line[before:][::-1])
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


def _common(one: str, other: str) -> int:
    """The length of the common beginning of two texts."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
