"""BioC, PubAnnotation and brat: convert abstracts with relations; compared with only parsing."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Benchmark, Step, hlteval
from hlteval.converters import load
from hlteval.representation import Corpus

PARSE = "import sys; from lxml import etree; etree.parse(sys.argv[1])"
DECODE = "import sys, pathlib, msgspec; msgspec.json.decode(pathlib.Path(sys.argv[1]).read_bytes())"
WORDS = (
    *("IRF-4", "expression", "in", "CML", "may", "be", "induced", "by", "IFN-\u03b1", "therapy"),
    *("of", "β-cells", "&", "5\u2032-UTR", "<10", "Überexpression"),
)
SIZE = 200
"""Number of words per document; every eighth is a mention."""


def corpus(draw: random.Random, first: int, count: int) -> Corpus:
    """Random documents with mentions, and relations between adjacent mentions."""
    tables: dict[str, list[dict[str, object]]] = {
        name: [] for name in ("documents", "mentions", "frames", "arguments")
    }
    for document in range(count):
        words = draw.choices(WORDS, k=SIZE)
        name = f"{30_000_000 + first + document}"
        tables["documents"].append({"row": document, "name": name, "text": " ".join(words)})
        for number, at in enumerate(range(0, SIZE, 8), start=1):
            start = sum(len(word) + 1 for word in words[:at])
            keys = {"document": document, "origin": 0, "record": number}
            span = {"start": start, "end": start + len(words[at]), "text": words[at]}
            row = len(tables["mentions"])
            gene = {"row": row, "mention": f"T{number}", "label": "Gene", "entity": f"NCBI:{row}"}
            tables["mentions"].append({**keys, **span, **gene})
            if number % 2 == 0:
                _add_relation(tables, keys, number)
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(sources=[source], **tables)


def _add_relation(
    tables: dict[str, list[dict[str, object]]], keys: dict[str, int], number: int
) -> None:
    row = len(tables["frames"])
    relation = {"row": row, "frame": f"R{number // 2}", "kind": "relation", "label": "binds"}
    tables["frames"].append({**keys, **relation})
    for position, role in enumerate(("subj", "obj"), start=1):
        target = f"T{number - 2 + position}"
        filler = {"row": 2 * row + position - 1, "frame_row": row, "position": position}
        tables["arguments"].append({**keys, **filler, "role": role, "target": target})


def generate(megabytes: int, form: str, path: Path) -> Path:
    """Write a file of about this size."""
    draw, write = random.Random(7), load(form).write
    assert write is not None
    sample = path.with_name(f"sample-{form}")
    write([corpus(draw, 0, 100)], sample)
    size = sum(file.stat().st_size for file in (files(sample) or [sample]))
    batches = max(1, round(megabytes * 1e6 / size))
    write((corpus(draw, 100 * batch, 100) for batch in range(batches)), path)
    return path


def files(folder: Path) -> list[Path]:
    """The files of a folder; empty for a file."""
    return sorted(folder.iterdir()) if folder.is_dir() else []


def steps(size: int, folder: Path) -> Iterator[Step]:
    """Convert BioC, PubAnnotation and brat to each other and to themselves."""
    bioc = generate(size, "bioc-xml", folder / "large.bioc.xml")
    yield Step("BioC: lxml, parsing only", (sys.executable, "-c", PARSE, str(bioc)), [bioc])
    command = hlteval("convert", bioc, folder / "again.bioc.xml", "--force")
    yield Step("BioC to BioC", command, [bioc])
    command = hlteval("convert", bioc, folder / "other.pubannotation.json", "--force")
    yield Step("BioC to PubAnnotation", command, [bioc])
    json = generate(size, "pubannotation", folder / "large.pubannotation.json")
    command = (sys.executable, "-c", DECODE, str(json))
    yield Step("PubAnnotation: msgspec, decoding only", command, [json])
    command = hlteval("convert", json, folder / "again.pubannotation.json", "--force")
    yield Step("PubAnnotation to itself", command, [json])
    brat = generate(size, "brat", folder / "brat")
    command = hlteval("convert", brat, folder / "again", "--to", "brat", "--force")
    yield Step("brat to brat", command, [brat])
    command = hlteval("convert", brat, folder / "brat.jsonl", "--force")
    yield Step("brat to jsonl", command, [brat])


BENCHMARKS = (Benchmark("interchange", "MB", (1, 10, 30, 100), (1, 3), steps),)
