"""LTF: validate and convert documents in four scripts; compared with only parsing the XML."""

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
"""Number of segments per document, which has about 50 KB of XML."""


def text(draw: random.Random) -> str:
    """The random text of a document in one script."""
    words = draw.choice(SCRIPTS).split()
    lines = (" ".join(draw.choices(words, k=draw.randint(3, 30))) for _ in range(SEGMENTS))
    return "\n" + "".join(f"{line}.{chr(10) * draw.randint(1, 3)}" for line in lines)


def generate(megabytes: int, folder: Path) -> Path:
    """Write a folder of LTF of about this size."""
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
    """Validate and convert."""
    pack = generate(size, folder / "ltf")
    yield Step("lxml, parsing only", (sys.executable, "-c", PARSE, str(pack)), [pack])
    yield Step("validate", hlteval("validate", "ltf", pack), [pack])
    for name in ("rsd", "ltf", "conllu"):
        convert = hlteval("convert", pack, folder / f"as-{name}", "--to", name)
        yield Step(f"convert to {name}", convert, [pack])


BENCHMARK = Benchmark(name="ltf", unit="MB", sizes=(10, 30, 100), quick=(2, 5), steps=steps)
