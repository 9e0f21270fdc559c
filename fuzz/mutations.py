"""Random damage to the bytes, lines, fields and structure of files, from a seed."""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile
import zlib
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
"""Bytes that valid files do not contain: control and invalid characters, marks, markup."""
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
"""Texts that some formats do not allow."""
PROLOGS = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>&b;',
    b"<?xml version='1.1'?>",
    b"<!ELEMENT x ANY>",
)
ZLIB = b"\x78\x9c"
"""The first bytes of what zlib compressed."""
SUFFIXES = ("", ".txt", ".a1", ".a2", ".xml", ".json", ".tab", ".tsv", ".zip", ".tgz", ".parquet")
ALONE = 0.2
"""The share of trials with a single input."""
TOGETHER = 40
"""The number of inputs that the other trials combine to save time."""
MOST = 300_000
"""Size in bytes above which a file is not damaged further."""

Damage = Callable[[bytes, Random], bytes]


class Files(NamedTuple):
    """An input of a command: a file or a folder.

    Attributes:
        name: name of the file or folder.
        files: the content of the file under the name "", or of each file of the folder by path;
            None for a folder.
        missing: whether the input does not exist.
    """

    name: str
    files: dict[str, bytes | None]
    missing: bool = False


def mutate(seeds: Sequence[Seed], draw: Random, *, alone: bool = False) -> list[Files]:
    """Damaged inputs: several to be combined, or a single one, possibly damaged as a package.

    Args:
        seeds: the inputs to damage.
        draw: the random number generator.
        alone: whether to return a single input, for formats that do not read several.
    """
    if alone or draw.random() < ALONE:
        subject = _mutate_one(seeds, draw)
        return [draw.choice(PACKAGES)(subject, draw) if draw.random() < 0.5 else subject]
    return [_mutate_one(seeds, draw) for _ in range(TOGETHER)]


def _mutate_one(seeds: Sequence[Seed], draw: Random) -> Files:
    seed = draw.choice(seeds)
    files: dict[str, bytes | None] = dict(seed.files)
    name = draw.choice(sorted(files))
    files[name] = damage(seed.files[name], draw, seeds)
    return as_files(seed, files)


def combine(subjects: Sequence[Files]) -> Files:
    """Several inputs in one folder, with the number of the input in the name of each file."""
    if len(subjects) == 1:
        return subjects[0]
    files = {
        numbered_path(name or subject.name, number): _rename_documents(content, number)
        for number, subject in enumerate(subjects)
        for name, content in subject.files.items()
    }
    return Files("input", files)


def _rename_documents(content: bytes | None, number: int) -> bytes | None:
    """Make the names of documents unique, which LTF and LAF also have in the file."""
    return content and DOCUMENT.sub(b"\\1m%d-" % number, content)


def numbered_path(path: str, number: int) -> str:
    """The path of a file with the number of its input.

    Examples:
        >>> numbered_path("runs/d1.a2", 3)
        'runs/m3-d1.a2'
    """
    folders, slash, name = path.rpartition("/")
    return f"{folders}{slash}m{number}-{name}"


def as_files(seed: Seed, files: dict[str, bytes | None] | None = None) -> Files:
    """A seed as an input, with its own files or with others."""
    files = dict(seed.files) if files is None else files
    if not seed.single:
        return Files("input", files)
    ((name, content),) = files.items()
    return Files(name, {"": content})


def damage(data: bytes, draw: Random, seeds: Sequence[Seed]) -> bytes:
    """The bytes with one to three random changes."""
    if data[:2] == ZLIB and draw.random() < 0.9:  # damage outside is found at once
        return _inside(data, draw)
    for _ in range(draw.choice((1, 1, 2, 3))):
        if draw.random() < 0.03:
            data = _cross(data, draw, seeds)
        else:
            data = draw.choice(DAMAGES)(data, draw)
        if len(data) > MOST:
            break
    return data


def _inside(data: bytes, draw: Random) -> bytes:
    """Compressed bytes whose content is damaged, by other means than lines and markup."""
    try:
        content = zlib.decompress(data)
    except zlib.error:
        return data
    for _ in range(draw.choice((1, 1, 2, 3))):
        content = draw.choice((_byte, _flip_bits, _word, _length))(content, draw)
    return zlib.compress(content)


def _word(data: bytes, draw: Random) -> bytes:
    """Replace eight bytes by others of the data, or by a number."""
    at, other = draw.randint(0, len(data)), draw.randint(0, len(data))
    numbers = (0, 1, 2, 3, 2**63, 2**64 - 1, 457, 1 << 32)
    word = draw.choice((data[other : other + 8], draw.choice(numbers).to_bytes(8, "little")))
    return data[:at] + word + data[at + 8 :]


def _length(data: bytes, draw: Random) -> bytes:
    """Change a byte that may say how long a list, a map or a text of MessagePack is, or what."""
    marks = [at for at, byte in enumerate(data) if 0x80 <= byte <= 0xDF]
    if not marks:
        return data
    at = draw.choice(marks)
    return (
        data[:at]
        + bytes([draw.choice((0x80, 0x90, 0xC0, 0xCB, 0xDD, 0xDF, data[at] ^ 1))])
        + data[at + 1 :]
    )


def _cross(data: bytes, draw: Random, seeds: Sequence[Seed]) -> bytes:
    """The start of one file and the end of another."""
    other = draw.choice(seeds).files
    end = other[draw.choice(sorted(other))]
    return data[: draw.randint(0, len(data))] + end[draw.randint(0, len(end)) :]


def _byte(data: bytes, draw: Random) -> bytes:
    at, cut = draw.randint(0, len(data)), draw.randint(0, 2)
    return data[:at] + draw.choice((*STRANGE, bytes([draw.randrange(256)]))) + data[at + cut :]


def _flip_bits(data: bytes, draw: Random) -> bytes:
    result = bytearray(data)
    for _ in range(draw.randint(1, 4) if data else 0):
        result[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(result)


def _spaces(data: bytes, draw: Random) -> bytes:
    at = draw.randint(0, len(data))
    space = draw.choice((b" ", b"\t", b"\n", b"\r\n", b"\r", b"\xe3\x80\x80"))
    return data[:at] + space * draw.choice((1, 2, 5000)) + data[at:]


def _lines(data: bytes, draw: Random) -> bytes:
    lines = data.split(b"\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[other])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    elif kind == 4:
        lines[at] = lines[at][: draw.randint(0, len(lines[at]))]
    else:
        lines[at:at] = lines[min(at, other) : max(at, other) + 1] * draw.choice((1, 20))
    return b"\n".join(lines)


def _line_ends(data: bytes, draw: Random) -> bytes:
    end = draw.choice((b"\r\n", b"\r", b"\n\n", b"\x0b", "\u2028".encode()))
    return data.replace(b"\n", end, draw.choice((1, -1)))


def _fields(data: bytes, draw: Random) -> bytes:
    parts = DIVIDERS.split(data)
    at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    if draw.random() < 0.5:
        parts[at], parts[other] = parts[other], parts[at]
    else:
        parts[at] = draw.choice((*WORDS, *NUMBERS, parts[other]))
    return b"".join(parts)


def _number(data: bytes, draw: Random) -> bytes:
    matches = list(re.finditer(rb"[0-9.]+", data))
    if not matches:
        return data
    match = draw.choice(matches)
    return data[: match.start()] + draw.choice(NUMBERS) + data[match.end() :]


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


def _encode(data: bytes, draw: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(draw.choice(("utf-16", "utf-16-be", "latin-1", "cp1252")), "replace")


def _structure(data: bytes, draw: Random) -> bytes:
    """Damage the rows of a corpus, the values of JSON, or the elements of XML."""
    if data.startswith(b'{"format":"hlteval-corpus"'):
        return _row(data, draw)
    if data.lstrip()[:1] in {b"[", b"{"} and (result := _json(data, draw)) is not None:
        return result
    return _element(data, draw)


def _element(data: bytes, draw: Random) -> bytes:
    """Remove, repeat or nest an element, or change its tags."""
    tags = list(ELEMENT.finditer(data))
    if not tags:
        return _mark(data, draw)
    tag, other = draw.choice(tags), draw.choice(tags)
    close = b"</" + tag[1] + b">"
    start = data.find(close, tag.end())
    end = start + len(close) if start >= 0 else tag.end()
    element, depth = data[tag.start() : end], draw.choice((2, 3000))
    result = draw.choice(
        (
            b"",
            element * draw.choice((2, 2, 30)),
            tag[0] * depth + element + close * depth,
            element.removesuffix(close),
            element.replace(b"=", b' lang="x" lang=', 1),
            other[0] + data[tag.end() : end],
            draw.choice(PROLOGS) + element,
        )
    )
    return data[: tag.start()] + result + data[end:]


def _row(data: bytes, draw: Random) -> bytes:
    """Replace or remove a value of a corpus in JSON Lines."""
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
    """Move, replace or remove a value of JSON; None for invalid JSON."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    members = list(_json_members(value))
    if not members:
        return None
    holder, key = draw.choice(members)
    other, other_key = draw.choice(members)
    kind = draw.randrange(5)
    if kind == 0:
        holder[key], other[other_key] = other[other_key], holder[key]
    elif kind == 1:
        holder[key] = draw.choice((None, True, 1e308, -1, 10**30, "", "\0", "\ud800", [], {}, [[]]))
    elif kind == 2 and isinstance(holder, dict):
        holder[draw.choice(("", "x" * 2000, "Type", "\n"))] = holder.pop(key)
    elif kind == 3:
        del holder[key]
    else:
        depth = draw.choice((3, 900, 20_000))
        inner = json.dumps(holder[key])
        holder[key] = "@deep@"
        return json.dumps(value).replace('"@deep@"', "[" * depth + inner + "]" * depth).encode()
    return json.dumps(value, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")


def _json_members(value: Any) -> Iterator[tuple[Any, Any]]:
    """The container and key of every value inside a value of JSON."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(members) if isinstance(value, dict | list) else ():
        yield value, key
        if isinstance(inner, dict | list):
            yield from _json_members(inner)


DAMAGES: tuple[Damage, ...] = (
    *(_byte, _byte, _flip_bits, _spaces, _lines, _lines, _line_ends, _fields, _fields, _fields),
    *(_number, _number, _mark, _mark, _cut, _encode, _structure, _structure, _structure),
)


def _remove_file(subject: Files, draw: Random) -> Files:
    if subject.files.keys() == {""} or draw.random() < 0.2:
        return subject._replace(missing=True)
    files = dict(subject.files)
    del files[draw.choice(sorted(files))]
    return subject._replace(files=files)


def _empty_file(subject: Files, draw: Random) -> Files:
    return subject._replace(files=subject.files | {draw.choice(sorted(subject.files)): b""})


def _rename(subject: Files, draw: Random) -> Files:
    old = draw.choice(sorted(subject.files))
    stem = (old or subject.name).rpartition(".")[0]
    strange = ("x" * 200, " ", "a\nb", "é", "e\u0301", "[b]", "-", ".hidden", "a;b", "*", "A")
    new = draw.choice((stem, stem, draw.choice(strange))) + draw.choice(SUFFIXES)
    if not old:
        return subject._replace(name=new if new.strip(".") else "x")
    files = dict(subject.files)
    files[new if new.strip("./") else "x"] = files.pop(old)
    return subject._replace(files=files)


def _folder(subject: Files, draw: Random) -> Files:
    """Replace a file by a folder, or put it into a folder."""
    if "" not in subject.files:
        return subject._replace(files=subject.files | {draw.choice(sorted(subject.files)): None})
    inner: dict[str, bytes | None] = {subject.name: subject.files[""]}
    nothing: dict[str, bytes | None] = {}
    nested: dict[str, bytes | None] = {subject.name: None}
    copy: dict[str, bytes | None] = {f"copy/{subject.name}": b""}
    return Files("input", draw.choice((nothing, nested, inner, copy | inner)))


def _duplicate(subject: Files, draw: Random) -> Files:
    """Add a copy of a file under another name."""
    files = {name or subject.name: content for name, content in subject.files.items()}
    name = draw.choice(sorted(files))
    new = draw.choice((f"copy/{name}", f"copy-{name}", name.upper(), f".{name}"))
    return Files("input", files | {new: files[name]})


HOSTILE = ("../up", "/etc/up", "a/../../up", "C:\\up", "a//b", "x\0y", "con", "a/b/" * 50 + "c", "")


def _zip(subject: Files, draw: Random) -> Files:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", draw.choice((0, 8))) as archive:
        for name, content in _members(subject, draw):
            archive.writestr(zipfile.ZipInfo(name or "x"), content)
    return Files("input.zip", {"": _archive(stream.getvalue(), draw)})


def _tgz(subject: Files, draw: Random) -> Files:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for name, content in _members(subject, draw):
            member = tarfile.TarInfo(name.replace("\0", "0") or "x")
            member.size = len(content)
            if draw.random() < 0.05:
                member.type, member.linkname = draw.choice(b"1 2 3 5 6".split()), "../up"
            archive.addfile(member, io.BytesIO(content))
    return Files("input.tgz", {"": _archive(stream.getvalue(), draw)})


def _members(subject: Files, draw: Random) -> Iterator[tuple[str, bytes]]:
    for name, content in subject.files.items():
        yield name or subject.name, content or b""
    if draw.random() < 0.3:
        yield draw.choice(HOSTILE), b"x" * draw.choice((0, 3, 1_500_000))


def _archive(data: bytes, draw: Random) -> bytes:
    if draw.random() < 0.3:
        return data
    return draw.choice((_cut, _flip_bits, _byte))(data, draw)


PACKAGES: tuple[Callable[[Files, Random], Files], ...] = (
    *(_remove_file, _empty_file, _rename, _folder, _duplicate, _zip, _tgz),
)
