"""HUB-4 templettes: documents with four events each, and one document with many of one type."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Peer, Step, hlteval

NAMES = ("Anna Berg", "the Lions", "Cairo", "Red Star", "Omar Daniel", "Lyon", "the Hawks", "Ek")
FILLER = ("after", "a", "long", "evening", "before", "the", "loud", "crowd", "from", "far", "away")


class Document:
    """A random document with its template set."""

    def __init__(self, number: int, draw: random.Random, events: int = 4) -> None:
        self.name = f"D{number:05}"
        self.text = f"<DOC>\n<DOCNO> {self.name} </DOCNO>\n<TEXT>\n"
        self.slots = [self.event(draw) for _ in range(events)]
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
        pointers = [f"<CONTEST-{self.name}-{number}>" for number in range(1, 1 + len(self.slots))]
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


def write(documents: list[Document], folder: Path, draw: random.Random) -> tuple[Path, Path]:
    """Write a reference and a system's template set; three of ten fills of the latter are wrong."""
    sides = {folder / "reference.tpl": 0.0, folder / "system.tpl": 0.3}
    for path, share in sides.items():
        lines = (line for doc in documents for line in doc.templates(draw, share=share))
        path.write_text("\n".join(lines) + "\n", "utf-8")
    reference, system = sides
    return reference, system


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Validate, score in the three modes, and align the texts of both sides."""
    draw = random.Random(3)
    documents = [Document(number, draw) for number in range(size)]
    original, recognized = folder / "corpus.sgml", folder / "recognized.sgml"
    corpus = "".join(document.text for document in documents)
    original.write_text(corpus, "utf-8")
    recognized.write_text(recognize(corpus, draw), "utf-8")
    reference, system = write(documents, folder, draw)
    validate = hlteval("validate", "hub4", system, "--corpus", original)
    yield Step("validate --corpus", validate, [system, original])
    score = ("score", "hub4", "-r", reference, "-s", system)
    yield Step("score", hlteval(*score), [reference, system])
    yield Step("score -o", hlteval(*score, "-o", folder / "scores"), [reference, system])
    if size <= BENCHMARKS[0].sizes[-2]:
        align = hlteval(*score, "--corpus", original, "--hyp-corpus", recognized)
        files = [reference, system, original, recognized]
        yield Step("score --hyp-corpus", align, files, peer=_word_alignment(folder))


def _word_alignment(folder: Path) -> Peer:
    """The alignment of the words of both texts, document by document, by sclite."""
    sides = folder / "corpus.trn", folder / "recognized.trn"
    for path in sides:
        documents = path.with_suffix(".sgml").read_text("utf-8").split("</DOC>")[:-1]
        lines = (" ".join(doc.partition("<TEXT>")[2].split()[:-1]) for doc in documents)
        numbered = (f"{line} (d_{number})\n" for number, line in enumerate(lines))
        path.write_text("".join(numbered), "utf-8")
    reference, system = map(str, sides)
    words = ("-r", reference, "trn", "-h", system, "trn", "-i", "rm", "-o", "sum", "stdout")
    return Peer("sclite", words)


def steps_of_one(size: int, folder: Path) -> Iterator[Step]:
    """Score one document."""
    draw = random.Random(3)
    sides = write([Document(0, draw, size)], folder, draw)
    yield Step("score", hlteval("score", "hub4", "-r", sides[0], "-s", sides[1]), sides)


BENCHMARKS = (
    Benchmark("hub4", "documents", (1, 1_000, 10_000), (1, 100), steps),
    Benchmark("hub4", "events in one document", (1, 200, 400, 800), (1, 50), steps_of_one),
)
