"""Fixtures made large: inputs of every format, valid or wrong in each of their ways.

A fixture of `fuzz.subjects` becomes several inputs of about a size, each large in one way. What is
wrong with a fixture is then wrong with each of thousands of records; what is valid is dense.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import NamedTuple

import polars as pl

from fuzz.subjects import Seed

Tree = Mapping[str, bytes]
"""The content of files by path in a folder; a single file has its name."""
ELEMENT = re.compile(rb"<([A-Za-z][\w.-]*)\b[^<>]*?(?:/>|>(?s:.*?)</\1\s*>)")
"""An element of XML without one of the same name in it."""
NUMBER = re.compile(rb"(?<=[A-Za-z_\"-])\d+")
"""A number at the end of an identifier, or an identifier that is a number."""
WORD = re.compile(rb"\w{2,}")
DEPTH = 200_000
COPIES = 1_000
"""Maximum number of copies of a folder."""


class Inflated(NamedTuple):
    """A large input: the way in which it is large, and its files."""

    kind: str
    files: Tree


def inflated(seed: Seed, size: int) -> Iterator[Inflated]:
    """The inputs that a fixture becomes, each of about a number of bytes."""
    for path, content in seed.files.items():
        if content.startswith(b"PAR1"):
            yield _with(seed, path, "rows", _rows(content, size // 10))
            yield _with(seed, path, "packed rows", _rows(content, size * 2))
            continue
        for kind, large in _contents(content, size):
            yield _with(seed, path, kind, large)
    if not seed.single:
        yield Inflated("files", dict(_copies(seed.files, size)))


def _with(seed: Seed, path: str, kind: str, content: bytes) -> Inflated:
    name = kind if len(seed.files) == 1 else f"{kind} of {path}"
    return Inflated(name, {**seed.files, path: content})


def _contents(content: bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """The content of a file, large in each way that fits its syntax."""
    start = content.lstrip()[:1]
    if start in {b"[", b"{"}:
        yield from _json(content, size)
    elif start == b"<" and ELEMENT.search(content):
        yield from _xml(content, size)
    else:
        yield from _lines(content, size)
    if found := WORD.search(content, len(content) // 2) or WORD.search(content):
        begin, end = found.span()
        yield "long", content[:begin] + found[0] * (size // (end - begin)) + content[end:]


def _json(content: bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """Its items, or those of each list in it, again and again."""
    brackets = [found.start() for found in re.finditer(rb"\[", content)]
    for begin in brackets:
        end = _closing(content, begin)
        inner = content[begin + 1 : end].strip().rstrip(b",")
        if not inner:
            continue
        before, after = content[: begin + 1], content[end:]
        yield f"repeated at {begin}", before + _repeated(inner, size, b", ") + after
        yield f"numbered at {begin}", before + _numbered(inner, size, b", ") + after
    if content.lstrip()[:1] == b"{":
        lines = content.strip() if b"\n{" in content else content.replace(b"\n", b"").strip()
        yield "lines", _numbered(lines, size, b"\n") + b"\n"
        yield "array", b"[" + _numbered(content.strip(), size, b", ") + b"]"
    yield "deep", b"[" * min(size, DEPTH)
    yield "empty", b"[" + _repeated(b"{}", size, b", ") + b"]"
    yield "scalars", b"[" + _repeated(b"0", size, b", ") + b"]"


def _closing(content: bytes, begin: int) -> int:
    """The position of the bracket that closes one, roughly: strings may have brackets."""
    depth = 0
    for found in re.finditer(rb"[\[\]]", content[begin:]):
        depth += 1 if found[0] == b"[" else -1
        if not depth:
            return begin + found.start()
    return len(content)


def _xml(content: bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """The first element of each name, again and again."""
    seen: set[bytes] = set()
    position = 0
    while found := ELEMENT.search(content, position):
        position = found.start() + 1
        name, element = found[1], found[0]
        if name in seen or len(seen) > 9:
            continue
        seen.add(name)
        before, after = content[: found.start()], content[found.end() :]
        label = name.decode()
        yield f"repeated {label}", before + _repeated(element, size, b"\n") + after
        yield f"numbered {label}", before + _numbered(element, size, b"\n") + after
        yield f"empty {label}", before + _repeated(b"<%b/>" % name, size, b"") + after
        yield f"deep {label}", before + b"<%b>" % name * (min(size, DEPTH) // 4) + after
    attributes = b"".join(b' a%d="1"' % number for number in range(size // 9))
    yield "attributes", re.sub(rb"(<[A-Za-z][\w.-]*)", rb"\1" + attributes, content, count=1)


def _lines(content: bytes, size: int) -> Iterator[tuple[str, bytes]]:
    """Its lines, those after the first one, or the last one, again and again; empty ones."""
    lines = content.splitlines(keepends=True) or [b"\n"]
    if not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    yield "repeated", _repeated(b"".join(lines), size, b"")
    yield "numbered", _numbered(b"".join(lines), size, b"")
    if len(lines) > 2:
        header, body = lines[0], b"".join(lines[1:])
        yield "repeated body", header + _repeated(body, size, b"")
        yield "numbered body", header + _numbered(body, size, b"")
        yield "repeated last", b"".join(lines) + _repeated(lines[-1], size, b"")
        yield "numbered last", b"".join(lines) + _numbered(lines[-1], size, b"")
    yield "empty", lines[0] + b"\n" * size
    yield "tabs", lines[0] + b"\t\n" * (size // 2)
    yield "separators", lines[0] + b"\t" * size + b"\n"


def _repeated(part: bytes, size: int, separator: bytes) -> bytes:
    return separator.join([part] * max(1, size // (len(part) + len(separator))))


def _numbered(part: bytes, size: int, separator: bytes) -> bytes:
    """A part again and again; the numbers in its identifiers differ."""
    parts, length, number = [part], len(part), 1
    while length < size:
        parts.append(NUMBER.sub(rb"\g<0>%d" % number, part))
        length += len(parts[-1]) + len(separator)
        number += 1
    return separator.join(parts)


def _rows(content: bytes, number: int) -> bytes:
    """The rows of a Parquet file until there are as many; packed, they take next to nothing."""
    try:
        rows = pl.read_parquet(BytesIO(content))
    except pl.exceptions.ComputeError:  # of a file that is wrong
        return content
    if rows.is_empty():
        return content
    stream = BytesIO()
    times = max(1, number // rows.height)
    pl.concat([rows] * times).rechunk().write_parquet(stream)
    return stream.getvalue()


def _copies(files: Tree, size: int) -> Iterator[tuple[str, bytes]]:
    """The files of a folder again and again, under other names."""
    number = max(1, min(COPIES, size // (sum(map(len, files.values())) or 1)))
    for copy in range(number):
        for path, content in files.items():
            folder, slash, name = path.rpartition("/")
            stem, dot, suffix = name.partition(".")
            yield f"{folder}{slash}{stem}{copy or ''}{dot}{suffix}", content
