"""BioC whose offsets count bytes or UTF-16 code units, with offsets in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlteval.converters.toolkit.units import UnitText

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def count_characters(root: Element, unit: str) -> None:
    """Change the offsets and lengths below a collection from another unit to characters.

    Passages are moved too, unless they overlap in that unit: then they count characters already.
    Values that are not numbers stay, and are reported by the reader.
    """
    for document in root.iter("document"):
        blocks = _moved_blocks(document, unit)
        for location in document.iter("location"):
            start, length = (_number(location.get(name)) for name in ("offset", "length"))
            if start is not None and length is not None:
                begin, end = (_character(blocks, offset) for offset in (start, start + length))
                location.set("offset", str(begin))
                location.set("length", str(end - begin))


def _moved_blocks(document: Element, unit: str) -> list[tuple[int, int, UnitText]]:
    """The texts of a document, with their offsets as written and in characters."""
    blocks: list[tuple[int, int, UnitText]] = []
    written_end = end = 0
    for element in document.iter("passage", "sentence"):
        offset, text = element.find("offset"), element.find("text")
        start = _number(offset.text) if offset is not None else None
        if offset is None or start is None:
            continue
        moved = end + start - written_end if start >= written_end else start
        offset.text = str(moved)
        if text is not None:
            own = UnitText(text.text or "", unit)
            blocks.append((start, moved, own))
            written_end, end = start + own.length, moved + own.size
    return blocks


def _character(blocks: list[tuple[int, int, UnitText]], offset: int) -> int:
    """An offset in characters: in the last text that begins at or before it."""
    before = [block for block in blocks if block[0] <= offset] or blocks[:1]
    if not before:
        return offset
    start, moved, text = before[-1]
    return moved + text.character(offset - start)


def _number(value: str | None) -> int | None:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
