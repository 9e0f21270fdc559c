"""HUB-4 template sets as text, in the layout of the specification's samples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any

import polars as pl

from hlteval.converters.hub4_texts import bracketed, with_brackets
from hlteval.converters.situations import TEMPLETTE
from hlteval.grammars import pattern
from hlteval.representation import Corpus

_INDENT = "    "
_MOST = 10**9
"""One more than the largest number that an extent may hold."""
_ORDER = ("frame_row", "slot_number", "alternative", "position", "row")


def as_lines(corpus: Corpus, between: str = "") -> Iterator[str]:
    """The lines of a corpus, each with its end; `between` stands between two instances."""
    frames = corpus.frames.filter(pl.col("kind") == TEMPLETTE).sort("origin", "record", "row")
    rows = corpus.fills.sort(_ORDER).iter_rows(named=True)
    fills = {row: list(some) for row, some in groupby(rows, key=lambda one: one["frame_row"])}
    for number, (row, pointer) in enumerate(frames.select("row", "frame").iter_rows()):
        if _is_pointer(pointer):
            yield f"{between * (number > 0)}<{pointer}> :=\n"
            for _, slot in groupby(fills.get(row, ()), key=lambda one: one["slot_number"]):
                yield from _slot([one for one in slot if _writable(one)])


def _slot(fills: list[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of a slot: slashes stand below each other, and so do texts."""
    last = None
    for fill in fills:
        if last is None:
            lead = f"{_INDENT}{fill['slot']}:" + " /" * bool(fill["optional"])
            column = len(lead) + 1
        elif fill["alternative"] != last:
            lead = " " * (column - 2) + "/"
        else:
            lead = " " * (column - 1)
        last = fill["alternative"]
        yield f"{lead} {_fill(fill)}".rstrip(" ") + "\n"


def _fill(fill: Mapping[str, Any]) -> str:
    if fill["kind"] == "empty":
        return ""
    if fill["kind"] == "pointer":
        return f"<{fill['target']}>"
    content = with_brackets(fill["text"], fill["brackets"] or [])
    bare = fill["quoted"] is False and _rule("fill").fullmatch(content)
    if not (bare and bare["unquoted"] == content and content == content.strip()):
        content = f'"{content}"'
    extents = [f"{one['start']}#{one['end']}#" for one in fill["extents"] or ()]
    return f"{content} ##{''.join(extents)}" if extents else content


@cache
def _rule(name: str) -> re.Pattern[str]:
    return re.compile(pattern("hub4", name))


def _is_pointer(name: str | None) -> bool:
    return name is not None and bool(_rule("header").fullmatch(f"<{name}>:="))


def _writable(fill: Mapping[str, Any]) -> bool:
    """Whether a line can say what a fill is."""
    if not _rule("slot").fullmatch(f"{fill['slot']}:"):
        return False
    if fill["kind"] == "pointer":
        return _is_pointer(fill["target"])
    if fill["kind"] == "empty":
        return True
    text = fill["text"]
    if fill["kind"] != "text" or text is None or "\n" in text or "\0" in text:
        return False
    numbers = [n for one in fill["extents"] or () for n in one.values()]
    brackets = fill["brackets"]
    same = not brackets or bracketed(with_brackets(text, brackets)) == (text, brackets)
    return same and all(0 <= number < _MOST for number in numbers)


def unwritten(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables no template set can say, counted."""
    frames = corpus.frames.with_columns(instance=pl.col("kind") == TEMPLETTE)
    told = frames.filter("instance")
    odd = [row for row, name in told.select("row", "frame").iter_rows() if not _is_pointer(name)]
    framed = told.select(row="document").unique()
    silent = corpus.documents.join(framed, on="row", how="anti")
    return {
        "frames that are no template instances": frames.height - told.height,
        "instances whose pointer cannot be written": len(odd),
        "fills that cannot be written": sum(
            not _writable(fill) for fill in corpus.fills.iter_rows(named=True)
        ),
        "documents without instances": silent.height,
    }
