"""Reads the lines of a HUB-4 template set in bulk, into the tables of instances and fills.

The rule of its kind matches each line (grammars/hub4.lark). The instance of a line is the last
header before it, its slot the last slot; a slash between two fills begins another alternative.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from hlteval.converters.toolkit.fitting import TEMPLETTE
from hlteval.findings import Problem
from hlteval.grammars import failure, in_words, matcher, pattern, vocabulary
from hlteval.representation import FRAGMENTS
from hlteval.syntax.tsv import Lines

#: Start and end of a minimal string, as in the representation.
Bracket = dict[str, int]
#: Spaces that do not count at either end of a line; "\n" ends the line itself.
SPACES = " \t\r\f\x0b"
#: The slot that marks an instance as optional, and its texts that do.
STATUS = "OBJ_STATUS"
_OPTIONAL = ("OPTIONAL", "OPT")
#: The name of a slot before its fill, with another sign than a colon, or none.
WITHOUT_COLON = r'^([A-Z][A-Z0-9_-]*)[ \t]*[=;]?[ \t]*(?:"[^"\n]*"|<[^<>\s]+>)'

#: The kinds of lines; `kind` is an index of this list.
RULES = ("header", "slot", "alternative", "fill")
_HEADER, _SLOT, _ALTERNATIVE, _FILL = range(4)
#: The beginnings that tell the kind of a line; others are fills. A header may have a sign that is
#: not `:=` but begins like it, or a pointer without angle brackets; a pointer may hold `:=`, but
#: then it ends the line.
_KINDS = (
    (r"^<[^<>\n]*>[ \t]*[:=]|^[A-Za-z0-9_]+-[^<>\s]+-[0-9]+[ \t]*:=$", _HEADER),
    (r"^<.*>[ \t\r\f\x0b]*:=|^<.*:=(?:.*[^>])?$", _HEADER),
    ("^/", _ALTERNATIVE),
    ("^[A-Za-z0-9_-]+:", _SLOT),
)
_PARTS = ("slot", "slash", "pointer", "quoted", "unquoted", "extents")
_CONTENT = ("pointer", "quoted", "unquoted")
#: The groups of which a line that its rule matches has one.
_FIRST = (("pointer",), ("slot",), ("slash",), _CONTENT)

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
    parts, known = list[Tables](), dict[str, int]()
    first_frame = first_fill = 0
    row = pl.col("row")
    for lines in _blocks(text):
        part = _tables(lines, known, reference=reference, types=types)
        frames = part.frames.with_columns(row + first_frame)
        fills = part.fills.with_columns(row + first_fill, pl.col("frame_row") + first_frame)
        parts.append(part._replace(frames=frames, fills=fills))
        first_frame, first_fill = first_frame + frames.height, first_fill + fills.height
    return Tables(*map(pl.concat, zip(*parts, strict=True)))


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
    """The lines that are not empty, with their kind and the groups of its rule.

    Args:
        lines: some lines of a file.
        first: the number of the first one, from 0.

    Returns:
        `record`, `line`, `kind`, `matched` (whether the rule matches) and `_PARTS`.
    """
    line = pl.col("line")
    kinds = (pl.when(line.str.contains(shape)).then(kind) for shape, kind in _KINDS)
    every = lines.to_frame("line").lazy().with_row_index("record", offset=first + 1)
    every = every.select(pl.col("record").cast(pl.Int64), line.str.strip_chars(SPACES))
    every = every.filter(line != "").with_columns(kind=pl.coalesce(*kinds, _FILL).cast(pl.Int8))
    rows = every.collect().lazy()
    found: list[pl.LazyFrame] = []
    for kind, rule in enumerate(RULES):
        groups = line.str.extract_groups(f"^(?:{pattern('hub4', rule)})$")
        some = rows.filter(kind=kind).with_columns(groups=groups).unnest("groups")
        matched = pl.any_horizontal(pl.col(_FIRST[kind]).is_not_null())
        found.append(some.with_columns(matched=matched))
    both = pl.concat(pl.collect_all(found), how="diagonal").sort("record")
    return both.select("record", "line", "kind", "matched", *_PARTS)


def _tables(
    lines: pl.DataFrame, known: dict[str, int], *, reference: bool, types: Sequence[str]
) -> Tables:
    """The tables of the lines of some instances; documents that are not known are added."""
    lines = _with_codes(lines)
    rejected = lines.filter(pl.col("code") != _SILENT).select("record", "line", "kind", "code")
    lines = lines.filter(pl.col("code").is_null())
    is_header = pl.col("kind") == _HEADER
    frames = _instances(lines.filter(is_header), types)
    names = frames["name"].unique(maintain_order=True)
    fresh = [name for name in names if name not in known]
    known.update((name, number) for number, name in enumerate(fresh, start=len(known)))
    numbers = [known[name] for name in names]
    documents = pl.DataFrame([names, pl.Series("document", numbers, dtype=pl.Int64)])
    frames = frames.join(documents, on="name", maintain_order="left")
    owners = frames.select("instance", "document", frame_row="row")
    body = lines.filter(~is_header).join(owners, on="instance", maintain_order="left")
    body = _with_slots(body)
    fills = _fills(body, reference=reference)
    marks = fills.filter(pl.col("text").str.to_uppercase().is_in(_OPTIONAL), slot=STATUS)
    optional = pl.col("row").is_in(marks["frame_row"].implode())
    columns = ("row", "document", "record", "frame", "kind", "label")
    return Tables(
        documents=documents.filter(pl.col("name").is_in(fresh)).select("name", row="document"),
        frames=frames.select(*columns, optional=optional),
        fills=fills,
        rejected_records=rejected,
        idle=body.filter("idle")["record"],
        hashless=body.filter(~pl.col("extents").str.ends_with("#"))["record"],
    )


def _with_codes(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with the number of their `instance`, and the `code` of those that are left out.

    Lines outside of instances and slots are rejected; those after a rejected header or slot are
    left out in silence.
    """
    kind, bad = pl.col("kind"), ~pl.col("matched")
    in_bad = pl.when(kind == _HEADER).then(bad).forward_fill()
    slots = pl.when(kind == _HEADER).then(0).when(kind == _SLOT).then(1 + bad.cast(pl.Int8))
    slot, follows = slots.forward_fill(), kind >= _ALTERNATIVE
    code = (
        pl.when(bad)
        .then(pl.lit(UNREAD))
        .when(in_bad.is_null())
        .then(pl.lit(OUTSIDE))
        .when(in_bad | (follows & (slot == 2)))
        .then(pl.lit(_SILENT))
        .when(follows & (slot == 0))
        .then(pl.lit(NO_SLOT))
    )
    return lines.with_columns(instance=(kind == _HEADER).cum_sum(), code=code)


def _instances(headers: pl.DataFrame, types: Sequence[str]) -> pl.DataFrame:
    """The instances, by the type, document and number of their pointers."""
    pointer = pl.col("pointer").str.strip_chars("<>")
    label = pointer.str.extract("^([^-]+)-", 1)
    for name in types:
        label = pl.when(pointer.str.starts_with(f"{name}-")).then(pl.lit(name)).otherwise(label)
    rest = pointer.str.slice(label.str.len_chars() + 1)
    return headers.select(
        "record",
        "instance",
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        name=rest.str.extract("^(.*)-[0-9]+$", 1).fill_null(rest),
        frame=pointer,
        kind=pl.lit(TEMPLETTE),
        label=label,
    )


def _with_slots(body: pl.DataFrame) -> pl.DataFrame:
    """The lines of slots with their slot, and the slashes of it up to there.

    A slash is `idle` without a fill after it, unless it marks an empty slot.
    """
    is_slot, slot, slash = pl.col("kind") == _SLOT, pl.col("slot_id"), pl.col("slash")
    body = body.with_columns(
        slash=slash.is_not_null(),
        filled=pl.any_horizontal(pl.col(_CONTENT).is_not_null()),
        slot=pl.col("slot").str.strip_suffix(":").forward_fill(),
        slot_id=is_slot.cum_sum().cast(pl.Int64),
    )
    first = pl.col("instance") != pl.col("instance").shift(fill_value=0)
    count = slash.cum_sum().cast(pl.Int64)
    body = body.with_columns(
        slashes=count - _since(is_slot, count - slash),
        any_slash=slash.any().over("slot_id"),
        is_empty=is_slot & ~pl.col("filled").any().over("slot_id"),
        slot_number=slot - _since(first, slot) + 1,
    )
    followed = ((slot == slot.shift(-1)) & ~slash.shift(-1)).fill_null(value=False)
    return body.with_columns(idle=slash & ~pl.col("filled") & ~followed & ~pl.col("is_empty"))


def _fills(body: pl.DataFrame, *, reference: bool) -> pl.DataFrame:
    """The fills of slots, and a slot without any as one row.

    Slashes between fills divide them into alternatives, one before the first makes the slot
    optional.
    """
    fills = body.filter(pl.col("filled") | pl.col("is_empty"))
    slot, slashes = pl.col("slot_id"), pl.col("slashes")
    begins = slot != slot.shift(fill_value=0)
    another = begins | (slashes > slashes.shift(fill_value=0))
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    fills = fills.with_columns(row=number, begins=begins, another=another)
    row, alternatives = pl.col("row"), pl.col("another").cum_sum().cast(pl.Int64)
    some_slash = pl.when("is_empty").then("any_slash").otherwise(slashes > 0)
    has_text = pl.col("filled") & pl.col("pointer").is_null()
    kind = pl.when(has_text).then(pl.lit("text")).otherwise(pl.lit("pointer"))
    return fills.with_columns(
        _texts(fills, reference=reference),
        optional=_since("begins", some_slash),
        alternative=alternatives - _since("begins", alternatives) + 1,
        position=row - _since("another", row) + 1,
        kind=pl.when("is_empty").then(pl.lit("empty")).otherwise(kind),
        target=pl.col("pointer").str.strip_chars("<>"),
        quoted=pl.when(has_text).then(pl.col("quoted").is_not_null()),
    ).select(_FILLS)


def _since(mark: pl.Expr | str, value: pl.Expr) -> pl.Expr:
    """The value in the last marked row."""
    return pl.when(mark).then(value).forward_fill()


_FILLS = (
    *("row", "document", "record", "frame_row", "slot", "slot_number", "optional", "alternative"),
    *("position", "kind", "target", "text", "quoted", "extents", "brackets"),
)


def _texts(fills: pl.DataFrame, *, reference: bool) -> list[pl.Series]:
    """The columns `text`, `extents` and `brackets` of fills.

    Args:
        fills: with `quoted`, `unquoted` and `extents` as written.
        reference: whether brackets mark minimal strings. Unbalanced brackets are text.
    """
    quoted = pl.col("quoted").str.strip_prefix('"').str.strip_suffix('"')
    pair = pl.element().str.split_exact("#", 1).struct.rename_fields(["start", "end"])
    text, extents = fills.select(
        text=quoted.fill_null(pl.col("unquoted").str.strip_chars_end(SPACES)),
        extents=pl.col("extents").str.extract_all("[0-9]+#[0-9]+").list.eval(pair).cast(FRAGMENTS),
    )
    has_brackets = text.str.contains(r"[\[\]]") & reference
    places = has_brackets.arg_true().cast(pl.Int64)
    each = [parse_brackets(item) for item in text.gather(places)]
    text = text.scatter(places, pl.Series([bare for bare, _ in each], dtype=pl.String))
    marked = ((place, strings or ()) for place, (_, strings) in zip(places, each, strict=True))
    pairs = [(place, pair["start"], pair["end"]) for place, strings in marked for pair in strings]
    schema = dict.fromkeys(("place", "start", "end"), pl.Int64)
    by_place = pl.DataFrame(pairs, schema, orient="row").group_by("place", maintain_order=True)
    found = by_place.agg(brackets=pl.struct("start", "end"))
    every = pl.DataFrame({"place": pl.int_range(len(text), eager=True)})
    brackets = every.join(found, on="place", how="left", maintain_order="left")["brackets"]
    return [text, extents, brackets]


def parse_brackets(text: str) -> tuple[str, list[Bracket] | None]:
    """A text without its brackets, and the minimal strings in it, ordered by their starts.

    A text with unbalanced or empty brackets does not change.

    Examples:
        >>> parse_brackets("the [[bread] contest]")
        ('the bread contest', [{'start': 4, 'end': 17}, {'start': 4, 'end': 9}])
        >>> parse_brackets("a ] b")
        ('a ] b', None)
    """
    found: list[Bracket] = []
    opened: list[Bracket] = []
    parts, length = re.split(r"([\[\]])", text), 0
    for part in parts:
        if part == "[":
            opened.append({"start": length, "end": length})
            found.append(opened[-1])
        elif part != "]":
            length += len(part)
        elif not opened or opened[-1]["start"] == length:
            return text, None
        else:
            opened.pop()["end"] = length
    return (text, None) if opened or not found else ("".join(parts[::2]), found)


def with_brackets(text: str, brackets: list[Bracket]) -> str:
    """A text with brackets around its minimal strings: the inverse of `parse_brackets`.

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


# One line of a HUB-4 template set: its fields, and why it cannot be read.
#
# This is the slow path. It asks the grammar itself, about lines that the bulk path rejected and
# lines that a finding points at.


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
    words = vocabulary("hub4")["words"]
    bare = RULES[kind] == "header" and not line.startswith("<")  # the grammar reads it as a text
    if ask and not bare and len(line) <= _MOST:
        column, terminals = failure("hub4", line)
        column += len(line[column - 1 :]) - len(line[column - 1 :].lstrip(SPACES))
        expected = in_words("hub4", terminals - {"_MARGIN"}, words)
    code, start = _cause(line, kind, column - 1)
    if code == "HUB105" or (code == "HUB102" and start == 0):
        expected = words["EXTENTS" if code == "HUB105" else "POINTER"]
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
    return next((kind for shape, kind in _KINDS if re.search(shape, line)), _FILL)


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
