"""Inputs of about 1 MB that are slow to read for some reason: each is validated.

Those with errors end with exit code 1, in bounded time and memory.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval

DOCUMENTS = Path(__file__).parents[1] / "hlteval" / "demo" / "reference"
FRAME = {"DocumentID": "S1", "Type": "Shelter", "TypeConfidence": 0.5}


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate each input; the size is in thousands of bytes."""
    number = size * 1000
    for task, name, content in (*_json(number), *_tables(number), *_markup(number)):
        path = folder / name
        path.write_bytes(content)
        yield Step(f"{task}: {name}", hlteval("validate", task, path), [path], code=1)
    for name, path in _archives(size, folder):
        command = hlteval("validate", "seedev-full", path, "--against", DOCUMENTS)
        yield Step(f"seedev-full: {name}", command, [path], code=1)


def _json(size: int) -> Iterator[tuple[str, str, bytes]]:
    """JSON with comments everywhere, open or not, deep, in one line, with large numbers."""
    frame = json.dumps(FRAME)
    commented = frame.replace(",", ", /* */").replace(":", ": /* */")
    yield "speech-sf", "comments.json", _listed(commented, size)
    yield "speech-sf", "no-commas.json", _listed(frame.replace(",", ""), size)
    yield "speech-sf", "open-comments.json", _listed(f"{frame} /*", size)
    yield "speech-sf", "escapes.json", _listed(frame.replace("S1", r"\q"), size)
    yield "speech-sf", "deep.json", b"[" * size
    yield "speech-sf", "unfinished.json", b'[{"DocumentID": "' + b"x" * size
    yield "speech-sf", "digits.json", b"[" + b"1" * size + b"]"
    yield "speech-sf", "wrong-types.json", _listed(frame.replace("0.5", '"0.5"'), size)


def _listed(item: str, size: int) -> bytes:
    return f"[{', '.join([item] * (size // len(item)))}]".encode()


def _tables(size: int) -> Iterator[tuple[str, str, bytes]]:
    """Tables and templates in which every line is wrong, or nearly all is one line."""
    yield "lorehlt-edl", "short-rows.tab", b"R\tm\tx\n" * (size // 6)
    yield "lorehlt-edl", "long-row.tab", b"R\t" * (size // 2)
    row = "R\tm{}\tname\tD:5-1\tX{}\tGPE\tNAM\t2.0\n"
    yield (
        "lorehlt-edl",
        "all-wrong.tab",
        "".join(row.format(n, n) for n in range(size // 36)).encode(),
    )
    yield "hub4", "slots.tpl", b"<X-D-1> :=\n" + b"    EVENT <\n" * (size // 12)
    yield "hub4", "quotes.tpl", b'<X-D-1> :=\n    A: "' + b'\\"' * (size // 2)


def _markup(size: int) -> Iterator[tuple[str, str, bytes]]:
    """XML that is deep, has many attributes, or segments that are all wrong."""
    yield "ltf", "deep.ltf.xml", b"<a>" * (size // 3)
    attributes = "".join(f' a{n}="1"' for n in range(size // 9))
    yield "ltf", "attributes.ltf.xml", f"<LCTL_TEXT{attributes}/>".encode()
    segment = '<SEG id="s" start_char="9" end_char="1"><TOKEN/></SEG>'
    text = segment * (size // len(segment))
    whole = f'<LCTL_TEXT><DOC id="d"><TEXT>{text}</TEXT></DOC></LCTL_TEXT>'
    yield "ltf", "all-wrong.ltf.xml", whole.encode()


def _archives(size: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """Archives of very many members, and one that is large when unpacked."""
    count = size * 10
    members = folder / "members.zip"
    with zipfile.ZipFile(members, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.a2", b"")
    yield "members.zip", members
    tar = folder / "members.tgz"
    with tarfile.open(tar, "w:gz", compresslevel=1) as archive:
        for number in range(count):
            archive.addfile(tarfile.TarInfo(f"{number}.a2"), io.BytesIO())
    yield "members.tgz", tar
    bomb = folder / "zeros.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d.a2", b"\0" * size * 1_000_000)
    yield "zeros.zip", bomb
    compressed = folder / "zeros.a2.gz"
    compressed.write_bytes(gzip.compress(b"\0" * size * 100_000))
    yield "zeros.a2.gz", compressed


BENCHMARKS = (Benchmark("hostile", "KB", (1, 250, 500, 1_000), (1, 50), steps),)
