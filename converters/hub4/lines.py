"""Reads the lines of a HUB-4 template set in bulk, into the tables of instances and fills.

The rule of its kind matches each line (grammars/hub4.lark). The instance of a line is the last
header before it, its slot the last slot; a slash between two fills begins another alternative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.toolkit.fitting import TEMPLETTE
from hlteval.findings import Problem
from hlteval.grammars import failure, in_words, matcher, pattern
from hlteval.representation import FRAGMENTS
from hlteval.syntax.tsv import Lines

# The texts of HUB-4 fills: their content, the minimal strings in it, and their extents.


#: Start and end of a minimal string, as in the representation.
Bracket = dict[str, int]

#: A text with a single minimal string, the usual number.
_SINGLE = r"^([^\[\]]*)\[([^\[\]]+)\]([^\[\]]*)$"


def texts(fills: pl.DataFrame, *, reference: bool) -> list[pl.Series]:
    """The columns `text`, `quoted`, `extents` and `brackets` of fills.

    Args:
        fills: with `quoted`, `unquoted` and `extents` as written.
        reference: whether brackets mark minimal strings. Unbalanced brackets are text.
    """
    quoted = pl.col("quoted").str.strip_prefix('"').str.strip_suffix('"')
    content = fills.select(
        text=quoted.fill_null(pl.col("unquoted").str.strip_chars_end(SPACES)),
        quoted=pl.when(pl.col("pointer").is_null()).then(pl.col("quoted").is_not_null()),
    )
    text, brackets = content["text"], pl.Series("brackets", [None] * fills.height, FRAGMENTS)
    if reference and text.str.contains("[", literal=True).any():
        text, brackets = _unbracketed(text)
    return [text, content["quoted"], _extents(fills["extents"]), brackets]


def _extents(written: pl.Series) -> pl.Series:
    """The pairs of numbers of extents such as `##332#337#`."""
    numbers = written.str.strip_chars("#").str.split("#").alias("numbers")
    rows = pl.LazyFrame([numbers]).with_row_index("at")
    number = pl.col("numbers").list
    pair = pl.struct(
        start=number.get(0, null_on_oob=True).cast(pl.Int64),
        end=number.get(1, null_on_oob=True).cast(pl.Int64),
    )
    single = pl.when(pl.col("numbers").is_not_null()).then(pl.concat_list(pair))
    whole = rows.select("at", extents=single)
    if (numbers.list.len().max() or 0) > 2:  # type: ignore[operator]
        whole = whole.update(_several(rows.filter(number.len() > 2)), on="at", how="left")
    return whole.select("extents").collect().to_series()


def _several(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The extents of fills with more than one."""
    each = rows.explode("numbers").select("at", number=pl.col("numbers").cast(pl.Int64))
    place = pl.int_range(pl.len())
    starts = each.filter(place % 2 == 0)
    ends = each.filter(place % 2 == 1).select(end="number")
    pairs = pl.concat([starts.rename({"number": "start"}), ends], how="horizontal")
    return pairs.group_by("at", maintain_order=True).agg(extents=pl.struct("start", "end"))


def _unbracketed(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Texts without brackets, and the minimal strings in them."""
    rows = pl.LazyFrame([text.alias("text")]).with_row_index("at")
    some = rows.filter(pl.col("text").str.contains(r"[\[\]]"))
    groups = (
        pl.col("text").str.extract_groups(_SINGLE).struct.rename_fields(["head", "inner", "tail"])
    )
    some = some.with_columns(groups=groups).unnest("groups")
    start = pl.col("head").str.len_chars().cast(pl.Int64)
    end = start + pl.col("inner").str.len_chars().cast(pl.Int64)
    simple = some.filter(pl.col("inner").is_not_null()).select(
        "at",
        text=pl.concat_str("head", "inner", "tail"),
        brackets=pl.concat_list(pl.struct(start=start, end=end)),
    )
    hard = some.filter(pl.col("inner").is_null()).select("at", "text").collect()
    each = [(at, *bracketed(written)) for at, written in hard.iter_rows()]
    columns = ["at", "text", "brackets"]
    kinds = (pl.UInt32, pl.String, FRAGMENTS)
    others = pl.LazyFrame(each, schema=list(zip(columns, kinds, strict=True)), orient="row")
    found = pl.concat([simple, others])
    bare = rows.with_columns(brackets=pl.lit(None, FRAGMENTS))
    joined = bare.update(found, on="at", how="left").select("text", "brackets").collect()
    return joined["text"], joined["brackets"]


def bracketed(text: str) -> tuple[str, list[Bracket] | None]:
    """A text without its brackets, and the minimal strings in it, ordered by their starts.

    A text with unbalanced or empty brackets does not change.

    Examples:
        >>> bracketed("the [[bread] contest]")
        ('the bread contest', [{'start': 4, 'end': 17}, {'start': 4, 'end': 9}])
        >>> bracketed("a ] b")
        ('a ] b', None)
    """
    if text.count("[") != text.count("]"):
        return text, None
    kept: list[str] = []
    found: list[Bracket] = []
    opened: list[Bracket] = []
    for character in text:
        if character == "[":
            found.append({"start": len(kept), "end": len(kept)})
            opened.append(found[-1])
        elif character != "]":
            kept.append(character)
        elif not opened or opened[-1]["start"] == len(kept):
            return text, None
        else:
            opened.pop()["end"] = len(kept)
    return (text, None) if opened or not found else ("".join(kept), found)


def with_brackets(text: str, brackets: list[Bracket]) -> str:
    """A text with brackets around its minimal strings: the inverse of `bracketed`.

    Examples:
        >>> with_brackets("the bread contest", [{"start": 4, "end": 17}, {"start": 4, "end": 9}])
        'the [[bread] contest]'
    """
    marks: list[tuple[int, str]] = []
    opened: list[int] = []
    for bracket in brackets:
        while opened and opened[-1] <= bracket["start"]:
            marks.append((opened.pop(), "]"))
        marks.append((bracket["start"], "["))
        opened.append(bracket["end"])
    marks += [(end, "]") for end in reversed(opened)]
    written, last = [], 0
    for at, mark in marks:
        written += [text[last:at], mark]
        last = at
    return "".join([*written, text[last:]])


#: Spaces that do not count at either end of a line; "\n" ends the line itself.
SPACES = " \t\r\f\x0b"
#: The slot that marks an instance as optional.
STATUS = "OBJ_STATUS"

#: A header whose sign is not `:=` but begins like it, or whose pointer has no angle brackets.
LIKE_HEADER = r"^(?:<[^<>\n]*>[ \t]*[:=]|[A-Za-z0-9_]+-[^<>\s]+-[0-9]+[ \t]*:=$)"

#: The name of a slot before its fill, with another sign than a colon, or none.
WITHOUT_COLON = r'^([A-Z][A-Z0-9_-]*)[ \t]*[=;]?[ \t]*(?:"[^"\n]*"|<[^<>\s]+>)'

#: The kinds of lines; `kind` is an index of this list.
RULES = ("header", "slot", "alternative", "fill")
_HEADER, _SLOT, _ALTERNATIVE, _FILL = range(4)
_PARTS = ("slot", "slash", "pointer", "quoted", "unquoted", "extents")
_CONTENT = ("pointer", "quoted", "unquoted")

#: The code of a line that its rule rejects; the grammar gives the final one.
UNREAD = ""
OUTSIDE, NO_SLOT = "HUB101", "HUB106"
_SILENT = "silent"


class Tables(NamedTuple):
    """The tables of a file, and its rejected lines.

    Attributes:
        documents: `row` and `name` of the documents of its sets.
        frames: the instances, without `origin`.
        fills: the fills of their slots, without `origin`.
        rejected_records: `record`, `line`, `kind` and `code` of the rejected lines.
        idle: the records of slashes without a fill after them.
        hashless: the records of extents without a final hash.
    """

    documents: pl.DataFrame
    frames: pl.DataFrame
    fills: pl.DataFrame
    rejected_records: pl.DataFrame
    idle: pl.Series
    hashless: pl.Series

    def moved(self, frames: int, fills: int) -> Tables:
        """The tables with the numbers of instances and fills after so many others."""
        row = pl.col("row")
        return self._replace(
            frames=self.frames.with_columns(row + frames),
            fills=self.fills.with_columns(row + fills, pl.col("frame_row") + frames),
        )


def tables(text: str, *, reference: bool, types: Sequence[str] = ()) -> Tables:
    r"""The tables of a template set.

    Args:
        text: the whole file.
        reference: whether brackets mark minimal strings.
        types: the instance types that hold a hyphen.

    Examples:
        >>> found = tables('<BREAD-D1-1> :=\nKIND: "rye" ##5#8#\n', reference=True)
        >>> found.frames["frame"].to_list(), found.fills["text"].to_list()
        (['BREAD-D1-1'], ['rye'])
    """
    parts: list[Tables] = []
    known: dict[str, int] = {}
    frames = fills = 0
    for lines in _blocks(text):
        part = _tables(lines, known, reference=reference, types=types)
        parts.append(part.moved(frames, fills))
        frames, fills = frames + part.frames.height, fills + part.fills.height
    return Tables(*map(pl.concat, zip(*parts, strict=True)))


def _tables(
    lines: pl.DataFrame, known: dict[str, int], *, reference: bool, types: Sequence[str]
) -> Tables:
    """The tables of the lines of some instances; documents that are not known are added."""
    lines = _placed(_matched(lines))
    inside = lines.filter(pl.col("code").is_null())
    frames = _frames(inside.filter(pl.col("kind") == _HEADER), types)
    names = frames["name"].unique(maintain_order=True)
    fresh = [name for name in names if name not in known]
    known.update((name, number) for number, name in enumerate(fresh, start=len(known)))
    numbers = [known[name] for name in names]
    documents = pl.DataFrame([names, pl.Series("document", numbers, dtype=pl.Int64)])
    frames = frames.join(documents, on="name", maintain_order="left")
    body = _slotted(inside.filter(pl.col("kind") != _HEADER), frames)
    fills = _fills(body, reference=reference)
    return Tables(
        documents=documents.filter(pl.col("name").is_in(fresh)).select("name", row="document"),
        frames=_optional(frames, fills),
        fills=fills,
        rejected_records=lines.drop_nulls("code")
        .filter(pl.col("code") != _SILENT)
        .select("record", "line", "kind", "code"),
        idle=_idle(body),
        hashless=body.filter(~pl.col("extents").str.ends_with("#"))["record"],
    )


def _blocks(text: str) -> Iterator[pl.DataFrame]:
    """The lines of some instances at a time: a block begins with a header, but for the first."""
    block = _lines(pl.Series("line", [], dtype=pl.String), 0)
    for first, some in Lines(text).slices():
        lines = _lines(some, first)
        header = lines["kind"].index_of(_HEADER)
        if header is None or block.is_empty():
            block = pl.concat([block, lines])
        else:
            yield pl.concat([block, lines[:header]])
            block = lines[header:]
    yield block


def _lines(lines: pl.Series, first: int) -> pl.DataFrame:
    """The lines that are not empty, with their kind.

    Args:
        lines: some lines of a file.
        first: the number of the first one, from 0.
    """
    split = lines.to_frame("line").lazy().with_row_index("record", offset=first + 1)
    split = split.select(pl.col("record").cast(pl.Int64), pl.col("line").str.strip_chars(SPACES))
    line = pl.col("line")
    # A pointer may hold `:=`, but then it ends the line.
    ends = line.str.contains(r">[ \t\r\f\x0b]*:=") | ~line.str.ends_with(">")
    defines = line.str.contains(":=", literal=True) & ends
    kind = (
        pl.when(line.str.contains(LIKE_HEADER))
        .then(_HEADER)
        .when(line.str.starts_with("<"))
        .then(pl.when(defines).then(_HEADER).otherwise(_FILL))
        .when(line.str.starts_with("/"))
        .then(_ALTERNATIVE)
        .when(line.str.contains("^[A-Za-z0-9_-]+:"))
        .then(_SLOT)
        .otherwise(_FILL)
    )
    return split.filter(line != "").with_columns(kind=kind.cast(pl.Int8)).collect()


def _matched(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with the groups of the rule of their kind, and `matched`, whether it matches."""
    kinds = pl.collect_all(_of_kind(lines.lazy(), kind) for kind in range(4))
    found = pl.concat(kinds, how="diagonal").sort("record")
    absent = [pl.lit(None, pl.String).alias(name) for name in _PARTS if name not in found.columns]
    return found.with_columns(absent)


def _of_kind(lines: pl.LazyFrame, kind: int) -> pl.LazyFrame:
    groups = pl.col("line").str.extract_groups(f"^(?:{pattern('hub4', RULES[kind])})$")
    found = lines.filter(pl.col("kind") == kind).with_columns(groups=groups).unnest("groups")
    first = {_SLOT: ["slot"], _ALTERNATIVE: ["slash"], _HEADER: ["pointer"]}.get(kind, _CONTENT)
    return found.with_columns(matched=pl.any_horizontal(pl.col(first).is_not_null()))


def _placed(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with the number of their `instance`, and the code of the rejected ones.

    Lines after a rejected header or slot are left out without a code.
    """
    kind, bad = pl.col("kind"), ~pl.col("matched")
    instance = pl.when(kind == _HEADER).then(bad).forward_fill()
    slot = pl.when(kind == _HEADER).then(0).when(kind == _SLOT).then(1 + bad.cast(pl.Int8))
    follows = kind >= _ALTERNATIVE
    code = (
        pl.when(bad)
        .then(pl.lit(UNREAD))
        .when(instance.is_null())
        .then(pl.lit(OUTSIDE))
        .when(instance | (follows & (slot.forward_fill() == 2)))
        .then(pl.lit(_SILENT))
        .when(follows & (slot.forward_fill() == 0))
        .then(pl.lit(NO_SLOT))
    )
    return lines.with_columns(instance=(kind == _HEADER).cum_sum(), code=code)


def _frames(headers: pl.DataFrame, types: Sequence[str]) -> pl.DataFrame:
    """The instances, with the `name` of their document and the number of their `instance`."""
    pointer = pl.col("pointer").str.strip_chars("<>")
    label = pointer.str.extract("^([^-]+)-", 1)
    for name in types:
        label = pl.when(pointer.str.starts_with(f"{name}-")).then(pl.lit(name)).otherwise(label)
    return headers.select(
        "record", "instance", frame=pointer, label=label, kind=pl.lit(TEMPLETTE)
    ).with_columns(
        name=_document(pl.col("frame"), pl.col("label")), row=pl.int_range(pl.len(), dtype=pl.Int64)
    )


def _document(pointer: pl.Expr, label: pl.Expr) -> pl.Expr:
    """The document of a pointer: the part between the type and the last hyphen."""
    rest = pointer.str.slice(label.str.len_chars() + 1)
    return rest.str.extract("^(.*)-[0-9]+$", 1).fill_null(rest)


def _slotted(body: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The lines of slots with their instance, their slot, and the count of slashes up to there."""
    named = frames.select("instance", "document", frame_row="row")
    lines = body.join(named, on="instance", maintain_order="left")
    slash, is_slot = pl.col("slash").is_not_null(), pl.col("kind") == _SLOT
    lines = lines.with_columns(
        filled=pl.any_horizontal(pl.col(_CONTENT).is_not_null()),
        slash=slash,
        slashes=slash.cum_sum(),
        slot_id=is_slot.cum_sum(),
        slot=pl.col("slot").str.strip_suffix(":").forward_fill(),
    )
    first = pl.col("instance") != pl.col("instance").shift(fill_value=0)
    return lines.with_columns(
        before=pl.when(is_slot).then(pl.col("slashes") - pl.col("slash")).forward_fill(),
        slot_number=pl.col("slot_id")
        - pl.when(first).then(pl.col("slot_id")).forward_fill()
        + pl.lit(1, pl.Int64),
    )


def _fills(body: pl.DataFrame, *, reference: bool) -> pl.DataFrame:
    """The fills, and a row for each slot that has none."""
    fills = body.filter("filled")
    slot, slashes = pl.col("slot_id"), pl.col("slashes")
    begins = slot != slot.shift(fill_value=0)
    fills = fills.with_columns(
        begins=begins,
        another=begins | (slashes > slashes.shift(fill_value=0)),
        at=pl.int_range(pl.len(), dtype=pl.Int64),
    ).with_columns(alternatives=pl.col("another").cum_sum().cast(pl.Int64))
    fills = fills.with_columns(
        optional=_since("begins", slashes > pl.col("before")),
        alternative=pl.col("alternatives") - _since("begins", pl.col("alternatives")) + 1,
        position=pl.col("at") - _since("another", pl.col("at")) + 1,
        kind=pl.when(pl.col("pointer").is_null()).then(pl.lit("text")).otherwise(pl.lit("pointer")),
        target=pl.col("pointer").str.strip_chars("<>"),
    )
    wanted = (*_FILL_COLUMNS, "text", "quoted", "extents", "brackets")
    filled = fills.with_columns(texts(fills, reference=reference)).select(wanted)
    both = pl.concat([filled, _empty(body, fills)], how="diagonal").sort("record")
    return both.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), *wanted)


_FILL_COLUMNS = (
    *("document", "record", "frame_row", "slot", "slot_number", "optional", "alternative"),
    *("position", "kind", "target"),
)


def _since(mark: str, value: pl.Expr) -> pl.Expr:
    """The value in the last marked row."""
    return pl.when(pl.col(mark)).then(value).forward_fill()


def _empty(body: pl.DataFrame, fills: pl.DataFrame) -> pl.DataFrame:
    """A row for each slot without a fill."""
    bare = body.lazy().join(fills.lazy().select("slot_id"), on="slot_id", how="anti")
    first = pl.lit(1, pl.Int64)
    return (
        bare.group_by("slot_id", maintain_order=True)
        .agg(
            pl.col("document", "record", "frame_row", "slot", "slot_number").first(),
            optional=pl.col("slash").any(),
        )
        .select(
            *_FILL_COLUMNS[:6],
            alternative=first,
            position=first,
            kind=pl.lit("empty"),
            target=pl.lit(None, pl.String),
            text=pl.lit(None, pl.String),
            quoted=pl.lit(None, pl.Boolean),
            extents=pl.lit(None, FRAGMENTS),
            brackets=pl.lit(None, FRAGMENTS),
        )
        .collect()
    )


def _idle(body: pl.DataFrame) -> pl.Series:
    """The records of slashes without a fill after them, unless they mark an empty slot."""
    slot = pl.col("slot_id")
    followed = (slot == slot.shift(-1)) & ~pl.col("slash").shift(-1)
    bare = ~pl.col("filled").any().over("slot_id") & (pl.col("kind") == _SLOT)
    idle = pl.col("slash") & ~pl.col("filled") & ~followed.fill_null(value=False)
    if not body.select(idle.any()).item():
        return body["record"].clear()
    return body.filter(idle & ~bare)["record"]


def _optional(frames: pl.DataFrame, fills: pl.DataFrame) -> pl.DataFrame:
    """The instances, with `optional`, whether a slot marks them so."""
    statuses = fills.lazy().filter(
        pl.col("slot") == STATUS, pl.col("text").str.to_uppercase().is_in(["OPTIONAL", "OPT"])
    )
    marked = statuses.select(row="frame_row", optional=True).unique("row")
    joined = frames.lazy().join(marked, on="row", how="left", maintain_order="left")
    wanted = ("row", "document", "record", "frame", "kind", "label")
    return joined.select(*wanted, pl.col("optional").fill_null(value=False)).collect()


# One line of a HUB-4 template set: its fields, and why it cannot be read.
#
# This is the slow path. It asks the grammar itself, about lines that the bulk path rejected and
# lines that a finding points at.


_WORDS: Mapping[str, str] = {
    "$END": "end of line",
    "<END-OF-FILE>": "end of line",
    "_DEFINES": "`:=`",
    "POINTER": "a pointer such as <BREAD-D1-1>",
    "SLASH": "`/`",
    "SLOT": "a slot such as DATE:",
    "QUOTED": "a quoted text",
    "UNQUOTED": "a text",
    "EXTENTS": "extents such as ##5#8#",
}
#: Characters of the longest line that the grammar is asked about.
_MOST = 100_000
_NUMBER = re.compile("[0-9]+")


def explain(line: str, record: int, kind: int, *, ask: bool = True) -> Problem:
    """Why the grammar rejects a line, and where.

    Args:
        line: a line that is not a record, without spaces at either end.
        record: its number.
        kind: its apparent kind, an index of `RULES`.
        ask: whether to ask the grammar for the exact place; otherwise the problem is the whole
            line.

    Returns:
        The problem, with `expected` among its values: the tokens that the grammar expects, or "".

    Examples:
        >>> explain('WINNER: "Cairo" ##332#', 7, 1)
        Problem(code='HUB105', record=7, start=16, end=22, values={'expected': ...}, field='')
    """
    column, expected = 1, ""
    bare = RULES[kind] == "header" and not line.startswith("<")  # the grammar reads it as a text
    if ask and not bare and len(line) <= _MOST:
        column, terminals = failure("hub4", line)
        column += len(line[column - 1 :]) - len(line[column - 1 :].lstrip(SPACES))
        expected = in_words("hub4", terminals - {"_MARGIN"}, _WORDS)
    code, start = _cause(line, kind, column - 1)
    if code == "HUB105" or (code == "HUB102" and start == 0):
        expected = _WORDS["EXTENTS" if code == "HUB105" else "POINTER"]
    return Problem(code, record, min(start, len(line)), len(line), {"expected": expected})


def _cause(line: str, kind: int, failed: int) -> tuple[str, int]:
    """The code of a rejected line, and the start of the problem.

    Args:
        line: the line.
        kind: its apparent kind.
        failed: where the grammar gives up.
    """
    if RULES[kind] == "header":
        return "HUB102", failed
    start = 0
    if RULES[kind] in {"slot", "alternative"}:  # the fill follows the name of the slot and a slash
        head = re.match(r"(?:[A-Za-z0-9_-]+:[ \t\r\f\x0b]*)?(?:/[ \t\r\f\x0b]*)?", line)
        start = head.end() if head else 0
    fill, closing, hashes = line[start:], line.rfind('"'), line.find("##", start)
    if fill.startswith("<"):
        return "HUB103", start
    if fill.startswith('"'):
        rest = line[closing + 1 :]
        at = closing + 1 + len(rest) - len(rest.lstrip(SPACES))
        return ("HUB105", at) if "#" in rest and closing > start else ("HUB104", start)
    if hashes < 0 or fill.startswith("/"):
        return "HUB107", start
    return "HUB105", hashes


def kind_of(line: str) -> int:
    """The apparent kind of a line, an index of `RULES`.

    Examples:
        >>> [kind_of(line) for line in ("<A-D-1> :=", "NAME: x", "/ x", "<A-D-1>")]
        [0, 1, 2, 3]
    """
    if re.match(LIKE_HEADER, line):
        return 0
    if line.startswith("<"):
        defines = re.search(r">[ \t\r\f\x0b]*:=", line) or not line.endswith(">")
        return 0 if ":=" in line and defines else 3
    if line.startswith("/"):
        return 2
    return 1 if re.match("[A-Za-z0-9_-]+:", line) else 3


def field_spans(line: str) -> dict[str, tuple[int, int]]:
    """The fields of a line by name, each as start and end in the line.

    A header has the field `pointer`; other lines have `slot`, `slash`, `fill`, `extents`, and
    `extent 1`, `extent 2`, … for each of these.

    Examples:
        >>> field_spans('KIND: "rye" ##5#8#')["extent 1"]
        (14, 17)
    """
    match = matcher("hub4", RULES[kind_of(line)]).fullmatch(line)
    if match is None:
        return {}
    found = {name: match.span(name) for name, value in match.groupdict().items() if value}
    for name in ("pointer", "quoted", "unquoted"):
        if name in found:
            start, end = found[name]
            found["fill"] = (start, start + len(line[start:end].rstrip(SPACES)))
    if "slot" in found:
        found["slot"] = (0, found["slot"][1] - 1)
    if "extents" in found:
        numbers = [number.span() for number in _NUMBER.finditer(line, *found["extents"])]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        for ordinal, ((start, _), (_, end)) in enumerate(pairs, start=1):
            found[f"extent {ordinal}"] = (start, end)
    return found
