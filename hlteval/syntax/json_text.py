"""JSON files: read fast where they are valid, explained where they are not.

`strict` is the bulk path: it accepts valid JSON and gives the value. `items` finds the items of the
array that a text should be, whatever is wrong with it. A text has problems for `items` if and only
if `strict` rejects it.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from json.scanner import c_make_scanner  # type: ignore[attr-defined]
from typing import Any, NamedTuple, TypeVar

import msgspec

from hlteval.findings import Problem
from hlteval.grammars import schema
from hlteval.syntax.json_parser import DEPTH, ELLIPSIS, Parsed, blanks, parse, skip_space
from hlteval.syntax.places import Path, line_end

T = TypeVar("T")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)


def strict(data: bytes) -> tuple[bool, Any]:
    """Whether bytes in UTF-8 are valid JSON, and the value.

    Examples:
        >>> strict(b'[{"a": 1}]'), strict(b'[{"a": 1, "a": 2}]')[0], strict(b"[NaN]")[0]
        ((True, [{'a': 1}]), False, False)
    """
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return False, None
    if data.count(b"[") + data.count(b"{") > DEPTH:  # it may be nested too deeply
        level = [value] if isinstance(value, (list, dict)) else []
        for _ in range(DEPTH):
            inner: Iterator[Any] = (
                each.values() if isinstance(each, dict) else each for each in level
            )
            level = [part for parts in inner for part in parts if type(part) in _CONTAINERS]
        if level:
            return False, value
    # If members were lost, since they repeat a key, the text has more strings than the value.
    # Counting quotation marks takes a hundredth of the time of a callback per member.
    try:
        encoded = msgspec.json.encode(value)
    except OverflowError:  # an integer of more than 64 bits
        encoded = json.dumps(value, ensure_ascii=False).encode()
    return _quotes(data) == _quotes(encoded), value


def typed_items(data: bytes, kind: type[T], size: int = 20_000) -> Iterator[list[T]]:
    """The items of an array, some at a time, where all of them are of one kind and nothing is lost.

    The values of large files take several times their memory, of which this needs little.

    Args:
        data: the array, in UTF-8.
        kind: a structure of msgspec without unknown fields, which omits defaults.
        size: items at a time.

    Raises:
        ValueError: where something is not valid JSON, or not of this kind, or has a repeated key,
            possibly after some items.

    Examples:
        >>> class Point(msgspec.Struct, forbid_unknown_fields=True):
        ...     x: float
        >>> list(typed_items(b'[{"x": 1}, {"x": 2}]', Point, size=1))
        [[Point(x=1.0)], [Point(x=2.0)]]
    """
    raw = msgspec.json.decode(data, type=list[msgspec.Raw])
    decoder = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
    for begin in range(0, len(raw), size):
        some = b"[" + b",".join(raw[begin : begin + size]) + b"]"
        found: list[T] = decoder.decode(some)
        if _quotes(some) != _quotes(msgspec.json.encode(found)):  # as in `strict`
            raise ValueError
        yield found


def _quotes(data: bytes) -> int:
    """The number of quotation marks around strings."""
    escaped = data.count(b'\\"')
    if escaped and b"\\\\" in data:
        data, escaped = _ESCAPE.sub(b"", data), 0
    return data.count(b'"') - escaped


_CONTAINERS = frozenset[type]({list, dict})
_PLAIN = frozenset({int, float, bool, type(None)})
_PLAINER = _PLAIN | {str}


class Items(NamedTuple):
    """The items of an array, or the values of a text that is not an array."""

    parsed: Sequence[Parsed]
    problems: Sequence[Problem]
    """Problems outside of the items."""
    root: Any
    """The value itself if it is a single one and not an array."""


def items(text: str) -> Items:
    """The items of the array that a text should be, whatever is wrong with it.

    After an item that cannot be parsed, parsing continues at the next one that can be found.

    Examples:
        >>> found = items('[{"a": True}, {"a": 1},]')
        >>> [item.value for item in found.parsed], [problem.code for problem in found.problems]
        ([{'a': True}, {'a': 1}], ['JSN104'])
    """
    at, problems = blanks(text, 0)
    if at < len(text) and text[at] == "[":
        parsed, more = _array(text, at + 1)
        return Items(parsed, [*problems, *more], None)
    parsed, more = _bare(text, at)
    root = parsed[0].value if len(parsed) == 1 and not more and parsed[0].complete else None
    return Items(parsed, [*problems, *more], root)


def _array(text: str, at: int) -> tuple[list[Parsed], list[Problem]]:
    """The items of the outermost array, up to its end."""
    parsed, problems, comma = list[Parsed](), list[Problem](), -1
    while True:
        at, more = blanks(text, at)
        problems += more
        if at >= len(text):
            return parsed, [*problems, _end_problem(text, "`]`")]
        if text[at] == "]":
            if comma >= 0:
                problems.append(Problem("JSN104", 0, comma, comma + 1, {"closing": "`]`"}))
            at, more = blanks(text, at + 1)
            problems += more
            if at < len(text):
                end = min(line_end(text, at), at + 40)
                problems.append(Problem("JSN107", 0, at, end, {"hint": _EXTRA}))
            return parsed, problems
        if dots := ELLIPSIS.match(text, at):
            end = at + len(dots[0].rstrip())
            problems.append(Problem("JSN105", 0, at, end, {"given": text[at:end][:40]}))
            at, comma = dots.end(), -1
        else:
            if parsed and comma < 0 and (not problems or problems[-1].code != "JSN105"):
                problems.append(Problem("JSN106", 0, at, at + 1))
            item = value_at(text, at, 1)
            parsed.append(item)
            following = None if item.complete else _NEXT.search(text, item.end)
            at = item.end if item.complete else following.start() if following else len(text)
        if between := _BETWEEN.match(text, at):
            at, comma = between.end(), at
            continue
        at, more = blanks(text, at)
        problems += more
        comma = at if text[at : at + 1] == "," else -1
        at += comma >= 0


_BETWEEN = re.compile(r",[ \t\r\n]*(?=\{)")


#: Where parsing continues after an item that cannot be parsed.
_NEXT = re.compile(r",\s*\{\s*[\"']|\]\s*\Z")


_EXTRA = "remove everything after the end of the array"
_LINES = "convert JSON Lines to an array: `[` first, `]` last, and commas between the objects"


def _end_problem(text: str, wanted: str) -> Problem:
    """The problem of a text that ends too early."""
    end = len(text.rstrip())
    return Problem("JSN115", 0, end, end, {"wanted": wanted})


def _bare(text: str, at: int) -> tuple[list[Parsed], list[Problem]]:
    """The values of a text that is not an array: an object, JSON Lines, or not JSON at all."""
    parsed, problems = list[Parsed](), list[Problem]()
    is_member = text[at : at + 1] in {'"', "'"} and _MEMBER.match(text, at)
    if is_member or _is_table(text, at):
        hint = {"hint": _BRACES if is_member else _NO_TABLE}
        return [], [Problem("JSN101", 0, at, line_end(text, at), hint)]
    while True:
        at, more = blanks(text, at)
        problems += more
        if at >= len(text):
            if not parsed:
                problems.append(_end_problem(text, "an array of frames, `[ ]`"))
            return parsed, problems
        if len(parsed) == 1:
            lines = {"hint": _LINES if text[at] == "{" else _EXTRA}
            problems.append(Problem("JSN107", 0, at, min(line_end(text, at), at + 40), lines))
            if text[at] not in "{,":
                return parsed, problems
        item = value_at(text, at + (text[at] == ","))
        parsed.append(item)
        if not item.complete:
            return parsed, problems
        at = item.end


_BRACES = "put each object in { } and all frames in [ ]"
_NO_TABLE = 'write an array of objects, not a table: to_json(orient="records") in pandas'
#: Separators of the cells of a table, and the fewest in a line of one.
_SEPARATORS, _FEWEST = "\t;,|", 2
_QUOTED_CELL = re.compile('"[^"\n]*"')


def _is_table(text: str, at: int) -> bool:
    """Whether the first two lines of a text, from some offset on, are rows of a table."""
    if text[at : at + 1] in {"{", "["}:
        return False
    lines = [_QUOTED_CELL.sub("", line) for line in text[at : at + _WINDOW].split("\n")[:2]]
    counts = [[line.count(each) for line in lines] for each in _SEPARATORS]
    return any(len({*each}) == 1 < len(each) and each[0] >= _FEWEST for each in counts)


_MEMBER = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*')\s*:")


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object without repeated names.

    Raises:
        ValueError: if it has some.
    """
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError
    return value


# `int` rejects NaN and Infinity.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_members, parse_constant=int)
_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(_DECODER)
#: Characters that are scanned for an object; an error of the scanner counts the lines in them.
_WINDOW = 4096
#: What follows a number or a word inside an array: the window has all of it.
_AFTER = frozenset(" \t\r\n,]}")
_decode = json.JSONDecoder().raw_decode
_PLAIN_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(json.JSONDecoder())


def value_at(text: str, at: int, depth: int = 0) -> Parsed:
    """The value that begins at an offset: parsed fast if it is valid, else with its problems.

    Args:
        text: the whole text.
        at: the offset.
        depth: the number of arrays and objects around the value.
    """
    try:
        value, size = _SCAN(text[at : at + _WINDOW], 0)
    except (ValueError, RecursionError, StopIteration):
        return parse(text, at, depth)
    end = at + size
    if value.__class__ in _PLAIN and text[end : end + 1] in _AFTER and abs(value or 0) < math.inf:
        return Parsed(value, at, end, (), {}, {}, complete=True)
    if value.__class__ is not dict or not _PLAINER.issuperset(map(type, value.values())):
        return parse(text, at, depth)
    if math.inf in value.values() or -math.inf in value.values():
        return parse(text, at, depth)
    if text.find("\\u", at, end) >= 0 and _ESCAPED_SURROGATE.search(text, at, end):
        return parse(text, at, depth)
    return Parsed(value, at, end, (), {}, {}, complete=True)


_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*(?![/ \t\r\n])")


@lru_cache(maxsize=1)
def extents(text: str) -> Sequence[tuple[int, int]]:
    """The start and the end of each item of the outermost array; in an invalid text, as `items`.

    Examples:
        >>> extents('[{}, {"a": 1}]')
        [(1, 3), (5, 13)]
    """
    at, _ = blanks(text, 0)
    places: list[tuple[int, int]] = []
    try:
        start = blanks(text, at + 1)[0]
        while text[at] == "[" and text[start] != "]":
            _, end = _PLAIN_SCAN(text, start)
            places.append((start, end))
            if between := _COMMA.match(text, end):
                start = between.end()
                continue
            comma = blanks(text, end)[0]
            if text[comma] == "]":
                return places
            if text[comma] != ",":
                break
            start = blanks(text, comma + 1)[0]
    except (ValueError, RecursionError, StopIteration, IndexError):
        pass
    return [(item.start, item.end) for item in items(text).parsed]


#: The names of values in messages, by type.
KINDS: Mapping[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
    list: "an array",
    dict: "an object",
}
#: The names of values in messages, by type in the schema.
WANTED: Mapping[str, str] = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
}


class SchemaError(NamedTuple):
    """One way in which an item breaks its schema, from which a format makes a `Problem`.

    Attributes:
        path: the path to the invalid value in the item.
        keyword: the keyword of the schema, such as `required`.
        wanted: the value of the keyword.
        given: the invalid value.
        schema: the part of the schema that has the keyword.
    """

    path: Path
    keyword: str
    wanted: Any
    given: Any
    schema: Mapping[str, Any]


@cache
def _gate(name: str, definition: str) -> Any:
    import jsonschema_rs

    whole = schema(name)
    if definition:
        items = {"$ref": f"#/definitions/{definition}"}
        whole = {"type": "array", "items": items, "definitions": whole["definitions"]}
    return jsonschema_rs.Draft4Validator(dict(whole))


def invalid(name: str, items: Sequence[Any], definition: str = "") -> list[int]:
    """The indices of the items of an array that break a schema.

    Args:
        name: the name of the schema, in grammars/.
        items: the items.
        definition: of the schema that the items must follow, if it defines several versions.

    Examples:
        >>> invalid("speech-sf", [{"DocumentID": "d", "Type": "Shelter", "TypeConfidence": 1}, {}])
        [1]
    """
    array, gate = list(items), _gate(name, definition)
    if gate.is_valid(array):
        return []
    return [index for index, item in enumerate(items) if not gate.is_valid([item])]


def broken_keywords(
    name: str, item: Any, definition: str = "", lists: Collection[str] = ()
) -> list[tuple[Path, str]]:
    """The path and the keyword of each error of an item, as `schema_errors` gives them.

    Args:
        name: the name of the schema, in grammars/.
        item: the item.
        definition: of the schema that the item must follow, see `invalid`.
        lists: the names of arrays of any length; what they hold twice is looked at once.

    Examples:
        >>> sorted(broken_keywords("speech-sf", {"Type": 1}))
        [((), 'required'), (('Type',), 'type')]
    """
    groups: dict[Path, list[list[int]]] = {}
    short = _without_repetition(item, lists, (), groups) if lists else item
    gate, size, errors = _gate(name, definition), _longest(short, lists), set[tuple[Path, str]]()
    for begin in range(0, max(size, 1), _PIECE):
        for error in gate.iter_errors([_piece(short, lists, begin)]):
            path = _whole_path(error.instance_path[1:], short, lists, begin)
            errors.add((path, error.schema_path[-1]))
    first = (pair for pair in errors if pair[1] == "type" or (pair[0], "type") not in errors)
    return [(whole, word) for path, word in first for whole in _repeat(path, groups)]


def _without_repetition(
    value: Any, lists: Collection[str], path: Path, groups: dict[Path, list[list[int]]]
) -> Any:
    """A value whose lists have each notation of an item once; `groups` gets the indices of each."""

    def without(part: Any, step: str | int) -> Any:
        return _without_repetition(part, lists, (*path, step), groups)

    if isinstance(value, dict):
        return {name: without(part, name) for name, part in value.items()}
    if not isinstance(value, list) or not path or path[-1] not in lists:
        return value
    alike: dict[str, list[int]] = {}
    for index, item in enumerate(value):
        has_id = isinstance(item, dict) and isinstance(item.get("id"), str)
        notation = repr({**item, "id": ""} if has_id else item)  # identifiers are alike
        alike.setdefault(notation, []).append(index)
    kept = groups[path] = list(alike.values())
    return [without(value[first], number) for number, (first, *_) in enumerate(kept)]


#: Items of a list that are checked at once: jsonschema-rs makes all errors first, of 4 KB each.
_PIECE = 5_000
#: Names that jsonschema-rs takes for indices: `01` would be 1 in a path. A mark keeps them.
_INDEX, _MARK = re.compile("\\+?[0-9]+|\0.*", re.DOTALL), "\0"


def _longest(value: Any, lists: Collection[str], *, is_list: bool = False) -> int:
    """The size of the longest list that is checked in pieces; 0 for none."""
    if type(value) not in _CONTAINERS:
        return 0
    if is_list and len(value) > _PIECE:
        return len(value)
    if isinstance(value, list):
        return max((_longest(item, lists) for item in value), default=0)
    inner = (_longest(part, lists, is_list=name in lists) for name, part in value.items())
    return max(inner, default=0)


def _piece(value: Any, lists: Collection[str], begin: int, *, is_list: bool = False) -> Any:
    """A value with marked names, and with some of the items of each long list."""
    if type(value) not in _CONTAINERS:
        return value
    if is_list and len(value) > _PIECE:  # lists in its items are whole
        lists, end = (), begin + _PIECE
        in_list = isinstance(value, list)
        value = value[begin:end] if in_list else dict(islice(value.items(), begin, end))
    if isinstance(value, list):
        return [_piece(item, lists, begin) for item in value]
    return {
        f"{_MARK}{name}" if _INDEX.fullmatch(name) else name: _piece(
            part, lists, begin, is_list=name in lists
        )
        for name, part in value.items()
    }


def _whole_path(path: Sequence[str | int], value: Any, lists: Collection[str], begin: int) -> Path:
    """The path in a value of a path in a piece of it."""
    steps, is_list = list[str | int](), False
    for step in path:
        own = step[1:] if type(step) is str and step[:1] == _MARK else step
        if is_list and len(value) > _PIECE:
            own, lists = own + begin if isinstance(own, int) else own, ()
        steps.append(own)
        is_list, value = own in lists, value[own]
    return tuple(steps)


def _repeat(path: Path, groups: Mapping[Path, list[list[int]]]) -> list[Path]:
    """The paths in the whole value that a path without repetition represents."""
    whole: list[Path] = [()]
    for at, step in enumerate(path):
        group = groups.get(path[:at])
        steps = group[int(step)] if group else [step]
        whole = [(*before, own) for before in whole for own in steps]
    return whole


@cache
def _explainer(name: str, definition: str) -> Any:
    from jsonschema import Draft4Validator

    definitions = schema(name)["definitions"]
    return Draft4Validator({**definitions[definition], "definitions": definitions})


def schema_errors(name: str, definition: str, item: Any) -> Iterator[SchemaError]:
    """The errors of an item, in the order of its parts; a part of a wrong type has no others.

    Examples:
        >>> errors = schema_errors("speech-sf", "frame", {"Type": 1})
        >>> [(error.path, error.keyword) for error in errors]
        [((), 'required'), (('Type',), 'type')]
    """

    def order(error: Any) -> tuple[list[str], bool]:
        return list(map(str, error.path)), error.validator != "type"

    known: set[tuple[Path, str]] = set()
    for error in sorted(_explainer(name, definition).iter_errors(item), key=order):
        path = tuple(error.absolute_path)
        if (path, "type") in known or (path, error.validator) in known:
            continue
        known.add((path, error.validator))
        wanted, given = error.validator_value, error.instance
        yield SchemaError(path, error.validator, wanted, given, error.schema)


def format_path(path: Path) -> str:
    """A path as people write it.

    Examples:
        >>> format_path((3, "Status", "Need"))
        '$[3].Status.Need'
    """
    written = "$"
    for step in path:
        written += f"[{step}]" if type(step) is int else f".{step}"
    return written


class Layout:
    """The places of the parts of a value, each found when it is asked for.

    Args:
        text: the whole text.
        start: where the value begins.

    Examples:
        >>> layout = Layout('{"a": [1, 23]}', 0)
        >>> layout.place(("a", 1)), layout.place(("a",)), layout.place(("b",))
        ((10, 12), (6, 7), (0, 1))
    """

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start
        self._parts: dict[Path, dict[str | int, int] | list[int]] = {}
        self._parsed: Mapping[Path, tuple[int, int]] | None = None

    def place(self, path: Path) -> tuple[int, int]:
        """Start and end of a part; of an object, an array or what is not there, one character."""
        start = self.find(path)
        if start is None or not path or self.text[start : start + 1] in {"{", "["}:
            start = self.start if start is None else start
            return start, start + 1
        return self.stretch(path) or (start, start + 1)

    def stretch(self, path: Path) -> tuple[int, int] | None:
        """Start and end of a part with all that is in it; None if there is no such part."""
        start = self.find(path)
        if start is None:
            return None
        if self._parsed is None:
            try:
                return start, _PLAIN_SCAN(self.text, start)[1]
            except (ValueError, StopIteration, RecursionError):
                self._parsed = parse(self.text, self.start).values
        return self._parsed.get(path)

    def find(self, path: Path) -> int | None:
        """The start of a part, valid JSON or not; None if there is no such part."""
        if self._parsed is None:
            try:
                return self._begin(path)
            except (ValueError, StopIteration, RecursionError):
                self._parsed = parse(self.text, self.start).values
        return self._parsed[path][0] if path in self._parsed else None

    def _begin(self, path: Path) -> int | None:
        """The start of a part; None if there is no such part."""
        if not path:
            return self.start
        outer, step = path[:-1], path[-1]
        inner = self._parts.get(outer)
        if inner is None:
            begin = self._begin(outer)
            found = parts(self.text, begin) if begin is not None else iter(())
            is_array = begin is not None and self.text[begin : begin + 1] == "["
            inner = [at for _, at in found] if is_array else dict(found)
            self._parts[outer] = inner
        if isinstance(inner, dict):
            return inner.get(step)
        return inner[step] if isinstance(step, int) and 0 <= step < len(inner) else None


def parts(text: str, index: int) -> Iterator[tuple[str | int, int]]:
    """The members or items of the value at an index: the name or number of each, and its index.

    Raises:
        ValueError: where it is not JSON, after the parts before.
    """
    closing = {"{": "}", "[": "]"}.get(text[index : index + 1])
    if closing is None:
        return
    index, number = skip_space(text, index + 1), 0
    while text[index : index + 1] != closing:
        name: str | int = number
        if closing == "}":
            if text[index : index + 1] != '"':
                raise ValueError
            name, index = _decode(text, index)
            index = skip_space(text, index)
            if text[index : index + 1] != ":":
                raise ValueError
            index = skip_space(text, index + 1)
        yield name, index
        index, number = skip_space(text, _decode(text, index)[1]), number + 1
        if text[index : index + 1] == ",":
            index = skip_space(text, index + 1)
        elif text[index : index + 1] != closing:
            raise ValueError
