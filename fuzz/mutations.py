"""Damage: what can happen to the bytes, lines, fields and structure of a file, from a seed."""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from fuzz.subjects import Seed

STRANGE = (
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(b"\r", b"\t", b"\x0b", b"\x0c", b"\x1a", b"\x1b[31m", b"\x7f", b"\xc2\x85", b"\xc2\xa0"),
    *("\u2028".encode(), "\u202e".encode(), "\u200b".encode(), "\ud7ff".encode(), b"\xef\xbf\xbe"),
    *("e\u0301".encode(), "\U0001f600".encode(), "\u0663".encode(), "\u0130".encode()),
    *(b"&x;", b"&#0;", b"&#xD800;", b"<!--", b"]]>", b"\\u0000", b"\\ud800", b"{", b"%s", b"[b]"),
)
"""What stands in no honest file: control and invalid characters, marks, markup."""
NUMBERS = (
    *(b"-1", b"0", b"007", b"", b"1e999", b"NaN", b"Infinity", b"1.5", b"0x10", b"1_000"),
    *(b"99999999999999999999", b"-9223372036854775808", b"9223372036854775807", b"4294967296"),
    *("\u0663".encode(), "\u00b2".encode(), b"+1", b"1e-320", b"9" * 5000),
)
WORDS = (b"", b" ", b"-", b"NIL", b"null", b"true", b".", b"..", b"/", b"a/b", b"x" * 3000, b"#")
DIVIDERS = re.compile(rb"([\t \"<>#:,;=|\n])")
MARKS = re.compile(rb"[\[\]{}()<>\"'/#|:\\*_-]")
ELEMENT = re.compile(rb"<([A-Za-z_][\w.:-]*)[^<>]*?(?:/>|>)")
DOCUMENT = re.compile(rb'(<DOC id=")')
KEYS = frozenset({"row", "document", "origin", "record", "frame_row", "mention_row"})
TEXTS = (
    "",
    " ",
    "a b",
    "a\tb",
    "a\nb",
    "\r",
    "\0",
    "<&>",
    '"',
    "..",
    "a/b",
    "x" * 300,
    "東京",
    "-",
    "1",
)
"""What may stand in a text that formats have rules for."""
PROLOGS = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>&b;',
    b"<?xml version='1.1'?>",
    b"<!ELEMENT x ANY>",
)
SUFFIXES = ("", ".txt", ".a1", ".a2", ".xml", ".json", ".tab", ".tsv", ".zip", ".tgz", ".parquet")
ALONE = 0.4
"""The share of trials that are about one thing."""
TOGETHER = 12
"""How many things are given together in the others; that saves much time."""
MOST = 300_000
"""Bytes above which nothing is made longer."""

Damage = Callable[[bytes, Random], bytes]


class Files(NamedTuple):
    """What is given to a command.

    Attributes:
        name: of the file or folder.
        files: its contents: of a file under the name "", of a folder by path; None is a folder.
        missing: whether there is nothing of that name.
    """

    name: str
    files: dict[str, bytes | None]
    missing: bool = False


def mutated(seeds: Sequence[Seed], draw: Random, *, alone: bool = False) -> list[Files]:
    """Some of the seeds, damaged: many things that are given together, or one, as a package too.

    Args:
        seeds: what is damaged.
        draw: the random numbers.
        alone: for formats that do not read several things at once.
    """
    if alone or draw.random() < ALONE:
        one = _mutated(seeds, draw)
        return [draw.choice(PACKAGES)(one, draw) if draw.random() < 0.5 else one]
    return [_mutated(seeds, draw) for _ in range(TOGETHER)]


def _mutated(seeds: Sequence[Seed], draw: Random) -> Files:
    chosen = draw.choice(seeds)
    files: dict[str, bytes | None] = dict(chosen.files)
    name = draw.choice(sorted(files))
    files[name] = damaged(chosen.files[name], draw, seeds)
    return given(chosen, files)


def together(listed: Sequence[Files]) -> Files:
    """Several things as one folder; the names of their files begin with their number."""
    if len(listed) == 1:
        return listed[0]
    files = {
        renumbered(name or one.name, number): _renamed_inside(content, number)
        for number, one in enumerate(listed)
        for name, content in one.files.items()
    }
    return Files("given", files)


def _renamed_inside(content: bytes | None, number: int) -> bytes | None:
    """The name of a document of LTF or LAF stands in its file too, and must differ."""
    return content and DOCUMENT.sub(b"\\1m%d-" % number, content)


def renumbered(path: str, number: int) -> str:
    """The path of a file of the thing with a number.

    Examples:
        >>> renumbered("runs/d1.a2", 3)
        'runs/m3-d1.a2'
    """
    folders, slash, name = path.rpartition("/")
    return f"{folders}{slash}m{number}-{name}"


def given(chosen: Seed, files: dict[str, bytes | None] | None = None) -> Files:
    """A seed with its files, or with others in their place."""
    files = dict(chosen.files) if files is None else files
    if not chosen.single:
        return Files("given", files)
    ((name, content),) = files.items()
    return Files(name, {"": content})


def damaged(data: bytes, draw: Random, seeds: Sequence[Seed]) -> bytes:
    """The same bytes with one to three damages."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        if draw.random() < 0.03:
            data = _crossed(data, draw, seeds)
        else:
            data = draw.choice(KINDS)(data, draw)
        if len(data) > MOST:
            break
    return data


def _crossed(data: bytes, draw: Random, seeds: Sequence[Seed]) -> bytes:
    """The beginning of one file and the end of another."""
    other = draw.choice(seeds).files
    end = other[draw.choice(sorted(other))]
    return data[: draw.randint(0, len(data))] + end[draw.randint(0, len(end)) :]


def _byte(data: bytes, draw: Random) -> bytes:
    at, cut = draw.randint(0, len(data)), draw.randint(0, 2)
    return data[:at] + draw.choice((*STRANGE, bytes([draw.randrange(256)]))) + data[at + cut :]


def _flipped(data: bytes, draw: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4) if data else 0):
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _blanks(data: bytes, draw: Random) -> bytes:
    at = draw.randint(0, len(data))
    blank = draw.choice((b" ", b"\t", b"\n", b"\r\n", b"\r", b"\xe3\x80\x80"))
    return data[:at] + blank * draw.choice((1, 2, 5000)) + data[at:]


def _lines(data: bytes, draw: Random) -> bytes:
    lines = data.split(b"\n")
    one, two = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(6)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(one, lines[two])
    elif kind == 2:
        lines[one], lines[two] = lines[two], lines[one]
    elif kind == 3:
        lines[one : one + 2] = [b"".join(lines[one : one + 2])]
    elif kind == 4:
        lines[one] = lines[one][: draw.randint(0, len(lines[one]))]
    else:
        lines[one:one] = lines[min(one, two) : max(one, two) + 1] * draw.choice((1, 20))
    return b"\n".join(lines)


def _line_ends(data: bytes, draw: Random) -> bytes:
    end = draw.choice((b"\r\n", b"\r", b"\n\n", b"\x0b", "\u2028".encode()))
    return data.replace(b"\n", end, draw.choice((1, -1)))


def _fields(data: bytes, draw: Random) -> bytes:
    parts = DIVIDERS.split(data)
    one, two = draw.randrange(len(parts)), draw.randrange(len(parts))
    if draw.random() < 0.5:
        parts[one], parts[two] = parts[two], parts[one]
    else:
        parts[one] = draw.choice((*WORDS, *NUMBERS, parts[two]))
    return b"".join(parts)


def _number(data: bytes, draw: Random) -> bytes:
    found = list(re.finditer(rb"[0-9.]+", data))
    if not found:
        return data
    chosen = draw.choice(found)
    return data[: chosen.start()] + draw.choice(NUMBERS) + data[chosen.end() :]


def _mark(data: bytes, draw: Random) -> bytes:
    marks = list(MARKS.finditer(data))
    if not marks:
        return data
    at = draw.choice(marks).start()
    times = draw.choice((0, 2, 2, 2000))
    return data[:at] + data[at : at + 1] * times + data[at + 1 :]


def _cut(data: bytes, draw: Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] if draw.random() < 0.7 else data[at:]


def _encoded(data: bytes, draw: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(draw.choice(("utf-16", "utf-16-be", "latin-1", "cp1252")), "replace")


def _structure(data: bytes, draw: Random) -> bytes:
    """Rows of a corpus, JSON where it is JSON, elements where there are some."""
    if data.startswith(b'{"format":"hlteval-corpus"'):
        return _row(data, draw)
    if data.lstrip()[:1] in {b"[", b"{"} and (changed := _json(data, draw)) is not None:
        return changed
    return _element(data, draw)


def _element(data: bytes, draw: Random) -> bytes:
    """An element that is left out, repeated, put into itself, left open, or begins otherwise."""
    tags = list(ELEMENT.finditer(data))
    if not tags:
        return _mark(data, draw)
    tag, other = draw.choice(tags), draw.choice(tags)
    close = b"</" + tag[1] + b">"
    found = data.find(close, tag.end())
    end = found + len(close) if found >= 0 else tag.end()
    element, deep = data[tag.start() : end], draw.choice((2, 3000))
    changed = draw.choice(
        (
            b"",
            element * draw.choice((2, 2, 30)),
            tag[0] * deep + element + close * deep,
            element.removesuffix(close),
            element.replace(b"=", b' lang="x" lang=', 1),
            other[0] + data[tag.end() : end],
            draw.choice(PROLOGS) + element,
        )
    )
    return data[: tag.start()] + changed + data[end:]


def _row(data: bytes, draw: Random) -> bytes:
    """A value of a row of a corpus in JSON Lines: another of its type, or none."""
    lines = data.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    try:
        row = json.loads(lines[at])
    except ValueError:
        return data
    values = {key: value for key, value in row.items() if key not in {"table", *KEYS}}
    if not isinstance(row, dict) or not values:
        return data
    key = draw.choice(sorted(values))
    if draw.random() < 0.2:
        del row[key]
    elif isinstance(values[key], str):
        row[key] = draw.choice((*TEXTS, *values.values(), f"{values[key]} {values[key]}"))
    elif isinstance(values[key], bool):
        row[key] = not values[key]
    else:
        row[key] = draw.choice((-1, 0, 1, 3, 10**6, 2**62, 0.5, -0.0, *values.values()))
    lines[at] = json.dumps(row).encode() + b"\n"
    return b"".join(lines)


def _json(data: bytes, draw: Random) -> bytes | None:
    """A value of JSON in another place, or another in its place; None where it is no JSON."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    places = list(_places(value))
    if not places:
        return None
    holder, key = draw.choice(places)
    other, place = draw.choice(places)
    kind = draw.randrange(5)
    if kind == 0:
        holder[key], other[place] = other[place], holder[key]
    elif kind == 1:
        holder[key] = draw.choice((None, True, 1e308, -1, 10**30, "", "\0", "\ud800", [], {}, [[]]))
    elif kind == 2 and isinstance(holder, dict):
        holder[draw.choice(("", "x" * 2000, "Type", "\n"))] = holder.pop(key)
    elif kind == 3:
        del holder[key]
    else:
        depth = draw.choice((3, 900, 20_000))
        written = json.dumps(holder[key])
        holder[key] = "@deep@"
        return json.dumps(value).replace('"@deep@"', "[" * depth + written + "]" * depth).encode()
    return json.dumps(value, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    listed = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(listed) if isinstance(value, dict | list) else ():
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


KINDS: tuple[Damage, ...] = (
    *(_byte, _byte, _flipped, _blanks, _lines, _lines, _line_ends, _fields, _fields, _fields),
    *(_number, _number, _mark, _mark, _cut, _encoded, _structure, _structure, _structure),
)


def _missing(given: Files, draw: Random) -> Files:
    if given.files.keys() == {""} or draw.random() < 0.2:
        return given._replace(missing=True)
    left = dict(given.files)
    del left[draw.choice(sorted(left))]
    return given._replace(files=left)


def _empty(given: Files, draw: Random) -> Files:
    return given._replace(files=given.files | {draw.choice(sorted(given.files)): b""})


def _renamed(given: Files, draw: Random) -> Files:
    old = draw.choice(sorted(given.files))
    stem = (old or given.name).rpartition(".")[0]
    strange = ("x" * 200, " ", "a\nb", "é", "e\u0301", "[b]", "-", ".hidden", "a;b", "*", "A")
    new = draw.choice((stem, stem, draw.choice(strange))) + draw.choice(SUFFIXES)
    if not old:
        return given._replace(name=new if new.strip(".") else "x")
    files = dict(given.files)
    files[new if new.strip("./") else "x"] = files.pop(old)
    return given._replace(files=files)


def _folder(given: Files, draw: Random) -> Files:
    """A folder in the place of a file, or a file in a folder."""
    if "" not in given.files:
        return given._replace(files=given.files | {draw.choice(sorted(given.files)): None})
    inner: dict[str, bytes | None] = {given.name: given.files[""]}
    nothing: dict[str, bytes | None] = {}
    nested: dict[str, bytes | None] = {given.name: None}
    copied: dict[str, bytes | None] = {f"copy/{given.name}": b""}
    return Files("given", draw.choice((nothing, nested, inner, copied | inner)))


def _twice(given: Files, draw: Random) -> Files:
    """The same file once more, under another name."""
    files = {name or given.name: content for name, content in given.files.items()}
    name = draw.choice(sorted(files))
    new = draw.choice((f"copy/{name}", f"copy-{name}", name.upper(), f".{name}"))
    return Files("given", files | {new: files[name]})


HOSTILE = ("../up", "/etc/up", "a/../../up", "C:\\up", "a//b", "x\0y", "con", "a/b/" * 50 + "c", "")


def _zip(given: Files, draw: Random) -> Files:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", draw.choice((0, 8))) as archive:
        for name, content in _members(given, draw):
            archive.writestr(zipfile.ZipInfo(name or "x"), content)
    return Files("given.zip", {"": _archive(stream.getvalue(), draw)})


def _tgz(given: Files, draw: Random) -> Files:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for name, content in _members(given, draw):
            member = tarfile.TarInfo(name.replace("\0", "0") or "x")
            member.size = len(content)
            if draw.random() < 0.05:
                member.type, member.linkname = draw.choice(b"1 2 3 5 6".split()), "../up"
            archive.addfile(member, io.BytesIO(content))
    return Files("given.tgz", {"": _archive(stream.getvalue(), draw)})


def _members(given: Files, draw: Random) -> Iterator[tuple[str, bytes]]:
    for name, content in given.files.items():
        yield name or given.name, content or b""
    if draw.random() < 0.3:
        yield draw.choice(HOSTILE), b"x" * draw.choice((0, 3, 1_500_000))


def _archive(data: bytes, draw: Random) -> bytes:
    kind = draw.random()
    if kind < 0.3:
        return data
    return draw.choice((_cut, _flipped, _byte))(data, draw)


PACKAGES: tuple[Callable[[Files, Random], Files], ...] = (
    *(_missing, _empty, _renamed, _folder, _twice, _zip, _tgz),
)
