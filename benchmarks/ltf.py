"""LTF: documents of some 50 KB in four scripts, checked and converted; beside bare XML parsing."""

from __future__ import annotations

import random
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
"""Segments of a document."""


def text(draw: random.Random) -> str:
    """A document of one script."""
    words = draw.choice(SCRIPTS).split()
    lines = (" ".join(draw.choices(words, k=draw.randint(3, 30))) for _ in range(SEGMENTS))
    return "\n" + "".join(f"{line}.{chr(10) * draw.randint(1, 3)}" for line in lines)


def made(megabytes: int, folder: Path) -> Path:
    """A folder of LTF of about this size."""
    draw, total, row, step = random.Random(5), 0, 0, 50
    write = load("ltf").write
    assert write is not None
    while total < megabytes * 1e6:
        names = [f"DOC_{number:06}" for number in range(row, row + step)]
        rows = [{"row": n, "name": name, "text": text(draw)} for n, name in enumerate(names)]
        write([Corpus(documents=rows)], folder)
        row += step
        total += sum((folder / f"{name}.ltf.xml").stat().st_size for name in names)
    return folder


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Checking and converting."""
    pack = made(size, folder / "ltf")
    yield Step("lxml, parsing only", (sys.executable, "-c", PARSE, str(pack)), [pack])
    yield Step("validate", hlteval("validate", "ltf", pack), [pack])
    for name in ("rsd", "ltf", "conllu"):
        converted = hlteval("convert", pack, folder / f"as-{name}", "--to", name)
        yield Step(f"convert to {name}", converted, [pack])


BENCHMARK = Benchmark(name="ltf", unit="MB", sizes=(10, 30, 100), quick=(2, 5), steps=steps)
