"""Damaged files of every format: reading, converting and checking give findings and nothing worse.

Each format's own fixtures are damaged in bytes, lines, fields and structure, from a seed.
`--mutations 20000` makes as many as that per format.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from hlteval.converters import BUILTIN, load
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.runs.validation import validate
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = {
    "standoff": "standoff/valid/full/seed-1.a2",
    "jsonl": "lorehlt-edl/valid/texts.jsonl",
    "seedev-sentences": "seedev-sentences/valid/sentences.tsv",
    "appen": "appen/valid/D1.txt",
    "speech-sf-json": "speech-sf-json/valid/frames.json",
    "speech-sf-tsv": "",
    "document-list": "lorehlt-edl/valid/documents.list",
    "edl-tab": "lorehlt-edl/valid/submission.tab",
    "kb-tab": "lorehlt-edl/valid/kb.tab",
    "conll-coref": "conll-coref/valid/two.conll",
    "ltf": "ltf/valid/water-1.ltf.xml",
    "rsd": "rsd/valid/water-1.rsd.txt",
    "laf": "laf/valid/water-1.laf.xml",
    "text": "rsd/valid/water-1.rsd.txt",
    "conllu": "conllu/valid/water.conllu",
    "neleval": "neleval/valid/all-columns.tsv",
    "hub4": "hub4/valid/reference.tpl",
    "sgml-corpus": "hub4/valid/corpus.sgml",
    "brat": "brat/valid/meeting.ann",
    "bioc-xml": "bioc-xml/valid/water.bioc.xml",
    "pubannotation": "pubannotation/valid/water.pubannotation.json",
}
TASKS = {"speech-sf-json": "speech-sf", "edl-tab": "lorehlt-edl", "ltf": "ltf", "hub4": "hub4"}
TSV = "DocumentID\tType\tPlaceMention\tTypeConfidence\tNeed\tRelief\nD1\tShelter\tOsh\t0.5\t\t\n"
STRANGE = (
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\r",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"&x;",
    b"\t",
)
NUMBERS = (b"-1", b"0", b"99999999999999999999", b"1e999", b"NaN", b"\xd9\xa3", b"007", b"")


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The same bytes with one to three damages."""
    for _ in range(draw.randint(1, 3)):
        data = draw.choice((_byte, _lines, _fields, _number, _structure))(data, draw)
    return data


def _byte(data: bytes, draw: random.Random) -> bytes:
    at, cut = draw.randint(0, len(data)), draw.randint(0, 2)
    return data[:at] + draw.choice((*STRANGE, bytes([draw.randrange(256)]))) + data[at + cut :]


def _lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, two = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(one, lines[two])
    elif kind == 2:
        lines[one], lines[two] = lines[two], lines[one]
    else:
        lines[one : one + 2] = [b"".join(lines[one : one + 2])]
    return b"\n".join(lines)


def _fields(data: bytes, draw: random.Random) -> bytes:
    parts = re.split(rb"([\t \"<>#:,])", data)
    one, two = draw.randrange(len(parts)), draw.randrange(len(parts))
    parts[one], parts[two] = parts[two], parts[one]
    return b"".join(parts)


def _number(data: bytes, draw: random.Random) -> bytes:
    found = list(re.finditer(rb"[0-9.]+", data))
    if not found:
        return data
    chosen = draw.choice(found)
    return data[: chosen.start()] + draw.choice(NUMBERS) + data[chosen.end() :]


def _structure(data: bytes, draw: random.Random) -> bytes:
    marks = list(re.finditer(rb"[\[\]{}<>\"/#|]", data))
    if not marks or draw.random() < 0.2:
        return data[: draw.randint(0, len(data))]
    at = draw.choice(marks).start()
    return data[:at] + data[at + 1 :] if draw.random() < 0.5 else data[:at] + data[at:] * 2


def test_every_format_that_is_read_is_damaged() -> None:
    assert FILES.keys() == {
        name
        for name in BUILTIN
        if load(name).reads and name != "corpus"  # that has tests of its own
    }


@pytest.mark.parametrize("name", FILES)
def test_damage_gives_findings_and_nothing_worse(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    original = (FIXTURES / FILES[name]).read_bytes() if FILES[name] else TSV.encode()
    file = tmp_path / (Path(FILES[name]).name or "frames.tsv")
    for seed in range(request.config.getoption("--mutations") // 5):
        data = damaged(original, random.Random(seed))
        file.write_bytes(data)
        try:
            findings = read_and_written(name, file, tmp_path)
            if name in TASKS:
                findings += validate(TASKS[name], str(file)).findings
            placed(findings, data)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {data!r}") from error


def read_and_written(name: str, file: Path, folder: Path) -> list[Finding]:
    """What was wrong with a file that is read, and written again as it is and as JSON Lines."""
    form = load(name)
    source = open_source(str(file.parent if name in {"standoff", "brat"} else file))
    readings = list(form.read(source))
    for written in {form, load("jsonl")}:
        if written.write:
            written.write([Corpus.concat(one.corpus for one in readings)], folder / "again")
            _remove(folder / "again")
    return [*source.findings, *(finding for one in readings for finding in one.findings)]


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    elif path.exists():
        path.unlink()


def placed(findings: list[Finding], data: bytes) -> None:
    """Hold that findings stand in the file, if anywhere."""
    lines = data.count(b"\n") + 1
    for finding in findings:
        assert finding.message
        if finding.span:
            assert 1 <= finding.span.line <= lines + data.count(b"\r"), finding
            assert 1 <= finding.span.column <= finding.span.end_column, finding
