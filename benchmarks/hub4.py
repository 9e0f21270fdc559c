"""HUB-4 templettes: validate, score and align documents with four events each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval

NAMES = ("Anna Berg", "the Lions", "Cairo", "Red Star", "Omar Daniel", "Lyon", "the Hawks", "Ek")
FILLER = ("after", "a", "long", "evening", "before", "the", "loud", "crowd", "from", "far", "away")


class Document:
    """A random document with its template set."""

    def __init__(self, number: int, draw: random.Random) -> None:
        self.name = f"D{number:05}"
        self.text = f"<DOC>\n<DOCNO> {self.name} </DOCNO>\n<TEXT>\n"
        self.slots = [self.event(draw) for _ in range(4)]
        self.text += "</TEXT>\n</DOC>\n"

    def event(self, draw: random.Random) -> dict[str, tuple[str, int]]:
        """Append a sentence; the fill and the offset of each slot of its event."""
        winner, loser = draw.sample(NAMES, 2)
        parts = {"WINNER": winner, "": " beat ", "LOSER": loser, " ": " by "}
        parts["SCORE"] = f"{draw.randrange(2, 9)}-{draw.randrange(2)}"
        fills = {}
        for slot, text in parts.items():
            if slot.strip():
                fills[slot] = (text, len(self.text))
            self.text += text
        self.text += f" {' '.join(draw.choices(FILLER, k=12))}.\n"
        return fills

    def templates(self, draw: random.Random, *, share: float) -> Iterator[str]:
        """The lines of the template set; a share of the fills is that of another event."""
        pointers = [f"<CONTEST-{self.name}-{number}>" for number in range(1, 5)]
        yield f"<TEMPLATE-{self.name}-1> :="
        yield f"    DOC_NR: {self.name} ##{14}#{14 + len(self.name)}#"
        yield f"    EVENT: {pointers[0]}"
        yield from (f"           {pointer}" for pointer in pointers[1:])
        for pointer, slots in zip(pointers, self.slots, strict=True):
            yield f"{pointer} :="
            for slot, fill in slots.items():
                text, start = draw.choice(self.slots)[slot] if draw.random() < share else fill
                yield f'    {slot}: "{text}" ##{start}#{start + len(text)}#'


def recognize(text: str, draw: random.Random) -> str:
    """The text with some words replaced, like the output of a speech recognizer."""
    lines = [
        " ".join("well" if draw.random() < 0.15 else word for word in line.split(" "))
        if "<" not in line
        else line
        for line in text.split("\n")
    ]
    return "\n".join(lines)


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate, score in the three modes, and align the texts of both sides."""
    draw = random.Random(3)
    documents = [Document(number, draw) for number in range(size)]
    texts = {name: folder / name for name in ("corpus.sgml", "recognized.sgml")}
    corpus = "".join(document.text for document in documents)
    texts["corpus.sgml"].write_text(corpus, "utf-8")
    texts["recognized.sgml"].write_text(recognize(corpus, draw), "utf-8")
    sides = {"reference.tpl": 0.0, "system.tpl": 0.3}
    for name, share in sides.items():
        lines = (line for doc in documents for line in doc.templates(draw, share=share))
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    reference, system = (folder / name for name in sides)
    original, recognized = texts.values()
    validate = hlteval("validate", "hub4", system, "--corpus", original)
    yield Step("validate --corpus", validate, [system, original])
    score = ("score", "hub4", "-r", reference, "-s", system)
    yield Step("score", hlteval(*score), [reference, system])
    yield Step("score -o", hlteval(*score, "-o", folder / "scores"), [reference, system])
    if size <= BENCHMARK.sizes[-2]:
        align = hlteval(*score, "--corpus", original, "--hyp-corpus", recognized)
        yield Step("score --hyp-corpus", align, [reference, system, original, recognized])


BENCHMARK = Benchmark(
    name="hub4",
    unit="documents",
    sizes=(100, 1_000, 10_000),
    quick=(20, 100),
    steps=steps,
    peers={("score", 1_000): "a literal scorer in Python: 4.8 s for one mode"},
)
