"""LTF: validate and convert documents in four scripts; compared with only parsing the XML."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval.converters import load
from hlteval.representation import Corpus

PARSE = (
    "import pathlib, sys; from lxml import etree\n"
    "for file in pathlib.Path(sys.argv[1]).iterdir(): etree.fromstring(file.read_bytes())"
)
SCRIPTS = (
    "The flood destroyed houses near river rescue teams need water AT&T <b> 1,000.5 don't",
    "Наводнение разрушило дома спасателям нужна вода еда лекарства срочно",
    "الفيضانات دمرت المنازل قرب النهر وفرق الإنقاذ تحتاج إلى الماء",
    "洪水 摧毁 河边 房屋 救援队 急需 水 和 食物 😀 𠮷",
)
SEGMENTS = 35
"""Number of segments per document."""
BYTES_PER_DOCUMENT = 50_000
BYTES_PER_MEGABYTE = 1_000_000


def text(draw: random.Random, segments: int) -> str:
    """The random text of a document in one script."""
    words = draw.choice(SCRIPTS).split()
    lines = (" ".join(draw.choices(words, k=draw.randint(3, 30))) for _ in range(segments))
    return "\n" + "".join(f"{line}.{chr(10) * draw.randint(1, 3)}" for line in lines)


def generate(megabytes: int, folder: Path, *, documents: int = 0) -> Path:
    """Write a folder of LTF of about this size, in so many documents if given."""
    draw, step = random.Random(5), 50
    write = load("ltf").write
    assert write is not None
    count = documents or megabytes * BYTES_PER_MEGABYTE // BYTES_PER_DOCUMENT
    segments = SEGMENTS * megabytes * BYTES_PER_MEGABYTE // BYTES_PER_DOCUMENT // count
    for row in range(0, count, step):
        numbers = range(row, min(row + step, count))
        rows = [{"row": n, "name": f"DOC_{n:06}", "text": text(draw, segments)} for n in numbers]
        write([Corpus(documents=rows)], folder)
    return folder


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate and convert."""
    pack = generate(size, folder / "ltf")
    yield Step("lxml, parsing only", (sys.executable, "-c", PARSE, str(pack)), [pack])
    yield Step("validate", hlteval("validate", "ltf", pack), [pack])
    quoted = requoted(pack, folder / "quoted")
    yield Step("validate, single quotes", hlteval("validate", "ltf", quoted), [quoted])
    for name in ("rsd", "ltf", "conllu", "jsonl"):
        suffix = ".jsonl" if name == "jsonl" else ""
        command = hlteval("convert", pack, folder / f"as-{name}{suffix}", "--to", name, "--force")
        yield Step(f"convert to {name}", command, [pack])
    lines = folder / "as-jsonl.jsonl"
    command = hlteval("convert", lines, folder / "again", "--to", "ltf", "--force")
    yield Step("convert jsonl to ltf", command, [lines])


def steps_of_one(size: int, folder: Path) -> Iterator[Step]:
    """Validate and convert one document."""
    pack = generate(size, folder / "ltf", documents=1)
    yield Step("validate", hlteval("validate", "ltf", pack), [pack])
    command = hlteval("convert", pack, folder / "rsd", "--to", "rsd", "--force")
    yield Step("convert to rsd", command, [pack])


def requoted(pack: Path, folder: Path) -> Path:
    """Copies of the files with single quotes around attributes."""
    folder.mkdir()
    for file in pack.iterdir():
        content = re.sub(r'="([^"\']*)"', r"='\1'", file.read_text("utf-8"))
        (folder / file.name).write_text(content, "utf-8")
    return folder


BENCHMARKS = (
    Benchmark("ltf", "MB", (1, 10, 30, 100), (1, 3), steps),
    Benchmark("ltf", "MB in one document", (1, 2, 4, 8), (1, 2), steps_of_one),
)
