"""Bacteria Biotope: documents of the size of the tasks', and one document with many facts.

A document has a taxon, a habitat and a phenotype for each fact; a third of the referents and
relations of a system are wrong.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.measuring import Benchmark, Peer, Step, hlteval

PEER_NAMES = {
    "bb16-cat": "BB-cat",
    "bb16-event": "BB-event",
    **{
        f"bb19-{task}{ner}": f"BB19-{task}{'+ner' * bool(ner)}"
        for task in ("norm", "rel", "kb")
        for ner in ("", "-ner")
    },
}
EACH = 15
"""Facts of a document."""


def records(task: str, facts: int, draw: random.Random) -> tuple[str, list[str], list[str]]:
    """The text of a document, its mentions, and its other records."""
    taxon = "Bacteria" if task.startswith("bb16") else "Microorganism"
    roles = ("Bacteria",) if taxon == "Bacteria" else ("Microorganism",)
    text, mentions, more = "", [], []
    for fact in range(facts):
        words = ((taxon, "L. lactis"), ("Habitat", "raw milk"), ("Phenotype", "acid"))
        for at, (label, name) in enumerate(words[: 2 if taxon == "Bacteria" else 3], 2 + 3 * fact):
            mentions.append(f"T{at}\t{label} {len(text)} {len(text) + len(name)}\t{name}\n")
            text += f"{name} in "
        first, wrong = 2 + 3 * fact, draw.randrange(3) == 0
        if not task.startswith(("bb19-rel", "bb16-event")):
            referent = f"{1000 + fact + wrong}"
            more.append(f"N{first}\tNCBI_Taxonomy Annotation:T{first} Referent:{referent}\n")
            place = f"OBT:{draw.randrange(6):06}"
            more.append(f"N{first + 1}\tOntoBiotope Annotation:T{first + 1} Referent:{place}\n")
            if taxon != "Bacteria":
                more.append(f"N{first + 2}\tOntoBiotope Annotation:T{first + 2} Referent:{place}\n")
        if not task.startswith(("bb19-norm", "bb16-cat")):
            other = 2 + 3 * draw.randrange(facts) if wrong else first
            more.append(f"R{first}\tLives_In {roles[0]}:T{other} Location:T{first + 1}\n")
    return text, mentions, more


def write(task: str, documents: int, facts: int, folder: Path) -> tuple[Path, Path]:
    """Write a reference and a system's output."""
    sides = (folder / "reference", folder / "system")
    for number, side in enumerate(sides):
        side.mkdir()
        draw = random.Random(number)
        for document in range(documents):
            text, mentions, more = records(task, facts, draw)
            base = f"bb-{document}"
            given = f"T1\tParagraph 0 {len(text)}\t{text}\n"
            given, own = (given, [*mentions, *more]) if "-ner" in task else (
                given + "".join(mentions), more
            )  # fmt: skip
            (side / f"{base}.a2").write_text("".join(own), "utf-8")
            if number == 0:
                (side / f"{base}.txt").write_text(text, "utf-8")
                (side / f"{base}.a1").write_text(given, "utf-8")
    return sides


def steps(task: str, facts: int | None, size: int, folder: Path) -> Iterator[Step]:
    """Score documents with so many facts; one document of that size if there is no number."""
    documents, each = (1, size) if facts is None else (size, facts)
    reference, system = sides = write(task, documents, each, folder)
    paths = ("-reference", str(reference), "-prediction", str(system))
    theirs = Peer("bionlp-st", ("-task", PEER_NAMES[task], *paths, "-alternate"))
    yield Step("score", hlteval("score", task, "-r", reference, "-s", system), sides, peer=theirs)


BENCHMARKS = tuple(
    benchmark
    for task in PEER_NAMES
    for benchmark in (
        Benchmark(task, "documents", (2, 500, 2_000), (2, 20), partial(steps, task, EACH)),
        Benchmark(
            task,
            "facts in one document",
            (2, 500, 1_000, 2_000),
            (2, 20),
            partial(steps, task, None),
        ),
    )
)
