"""The declarations of docs/how-to/declarations.md: each has no findings, and scores small data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import hlteval
from hlteval.tasks import load
from hlteval.tasks.generic.declaration import read_declaration
from tests.cli.test_pages import blocks

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "declarations.md"
DECLARATIONS = {block.file: block.text for block in blocks(PAGE, "toml")}
TEXT = "Ann gave Bob aspirin against pain in Osh.\n"


class Data(NamedTuple):
    """Small data of a task: the files of both sides, and the primary metric by hand."""

    reference: Mapping[str, str]
    system: Mapping[str, str]
    expected: float
    official: float | None = None
    beside: Mapping[str, str] = {}


def spans(*rows: str) -> str:
    """Spans of brat from `label text`, each at the first place of its text."""
    lines = []
    for number, row in enumerate(rows, 1):
        label, text = row.split(" ", 1)
        start = TEXT.index(text)
        lines.append(f"T{number}\t{label} {start} {start + len(text)}\t{text}\n")
    return "".join(lines)


def brat(annotation: str) -> dict[str, str]:
    return {"d.txt": TEXT, "d.ann": annotation}


def columns(*rows: str, first: str = "") -> dict[str, str]:
    lines = "".join(f"{row}\n" if row else "\n" for row in rows)
    return {"d.conll": f"{first}\n\n{lines}" if first else lines}


def coreference(*column: str) -> dict[str, str]:
    words = ["Ann", "met", "Bob", "and", "she", "left"]
    pairs = enumerate(zip(words, column, strict=True))
    rows = (f"d\t0\t{at}\t{word}\t{mark}\n" for at, (word, mark) in pairs)
    return {"d.conll": f"#begin document (d); part 000\n{''.join(rows)}\n#end document\n"}


def turns(*rows: tuple[float, float, str]) -> dict[str, str]:
    line = "SPEAKER m 1 {} {} <NA> <NA> {} <NA> <NA>\n"
    return {"all.rttm": "".join(line.format(*row) for row in rows)}


PEOPLE = spans("GENE Ann", "GENE Bob", "CHEMICAL aspirin")
EVENTS = spans("Meet gave", "PER Ann", "PER Bob") + "E1\tMeet:T1 Who:T2 Whom:T3\n"
DATA: Mapping[str, Data] = {
    # 1 of 2 entities on either side
    "conll-2003": Data(
        columns("EU B-ORG", "met O", "Ann B-PER", "", first="-DOCSTART- O"),
        columns("EU B-MISC", "met O", "Ann B-PER", "", first="-DOCSTART- O"),
        1 / 2,
        1 / 2,
    ),
    # 1 right of 2 and 1: F1 = 2 / 3
    "ontonotes-ner": Data(
        columns("Osh B-GPE", "in O", "May B-DATE", "", first="#begin document d"),
        columns("Osh B-GPE", "in O", "May O", "", first="#begin document d"),
        2 / 3,
        2 / 3,
    ),
    # the inner span, and the outer one, whose subtype is mapped; the cell type is missing
    "genia": Data(
        brat(spans("protein_molecule Bob aspirin", "DNA aspirin", "cell_type Osh")),
        brat(spans("protein Bob aspirin", "DNA aspirin")),
        4 / 5,
    ),
    # 1 right of 1 and 2
    "drugprot": Data(
        brat(PEOPLE + "R1\tINHIBITOR Arg1:T3 Arg2:T1\n"),
        brat(PEOPLE + "R1\tINHIBITOR Arg1:T3 Arg2:T1\nR2\tAGONIST Arg1:T3 Arg2:T2\n"),
        2 / 3,
    ),
    # swapped arguments are right where a relation is symmetric; labels of arguments do not count
    "scierc": Data(
        brat(PEOPLE + "R1\tCompare Arg1:T1 Arg2:T2\nR2\tPart-of Arg1:T1 Arg2:T3\n"),
        brat(PEOPLE.replace("GENE", "Task") + "R1\tCompare Arg1:T2 Arg2:T1\n"),
        2 / 3,
    ),
    # the trigger is right, an argument is not
    "ace-events": Data(brat(EVENTS), brat(EVENTS.replace("Whom", "Where")), 1.0),
    # an overlap is right
    "i2b2-concepts": Data(
        brat(spans("problem pain", "treatment aspirin")),
        brat(spans("problem against pain", "test aspirin")),
        1 / 2,
    ),
    "conll-2012": Data(
        coreference("(1)", "-", "(2)", "-", "(1)", "-"),
        coreference("(1)", "-", "(2)", "-", "(1)", "-"),
        1.0,
        1.0,
    ),
    # one link of two is right on either side
    "aida": Data(
        brat(PEOPLE + "N1\tReference T1 Wiki:Ann\tAnn\nN2\tReference T2 Wiki:Bob\tBob\n"),
        brat(PEOPLE + "N1\tReference T1 Wiki:Ann\tAnn\nN2\tReference T2 Wiki:Rob\tBob\n"),
        1 / 2,
        1 / 2,
    ),
    # against: 1 right of 2 and 1, favour: 1 of 1 and 2
    "stance": Data(
        {"gold.tsv": "id\tstance\n1\tagainst\n2\tfavour\n3\tnone\n4\tagainst\n"},
        {"run.tsv": "id\tstance\n1\tagainst\n2\tfavour\n3\tnone\n4\tfavour\n"},
        2 / 3,
        2 / 3,
    ),
    # 0 2 4 4 and 1 1 2 4 around their means 5/2 and 2
    "sts-b": Data(
        {
            "dev.tsv": "index\tsentence1\tsentence2\tscore\n"
            "0\tA\tB\t0.0\n1\tA\tB\t2.0\n2\tA\tB\t4.0\n3\tA\tB\t4.0\n"
        },
        {"STS-B.tsv": "index\tprediction\n0\t1\n1\t1\n2\t2\n3\t4\n"},
        6 / 66**0.5,
    ),
    # 10 s each, without a quarter of a second at both ends: 9.5 s are confused of 19
    "ami": Data(
        turns((0, 10, "A"), (20, 10, "B")),
        turns((0, 10, "x"), (20, 10, "x")),
        1 / 2,
        1 / 2,
        {"all.uem": "m 1 0.0 60.0\n"},
    ),
    # one of five words
    "librispeech": Data(
        {"gold.txt": "a-1 HE HOPED SO.\na-2 SHE LEFT\n"},
        {"run.txt": "a-1 he hoped so\na-2 she lest\n"},
        1 / 5,
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in DECLARATIONS.items():
        Path(name).write_text(text, "utf-8")
    return tmp_path


def written(side: str, files: Mapping[str, str]) -> str:
    """The path of a side: a folder, or its only file."""
    Path(side).mkdir()
    for name, text in files.items():
        Path(side, name).write_text(text, "utf-8")
    return side if len(files) > 1 else f"{side}/{next(iter(files))}"


def test_every_declaration_of_the_page_is_tried() -> None:
    assert [name.partition(".")[0] for name in DECLARATIONS] == [*DATA]
    assert len(DATA) == 13


@pytest.mark.parametrize("name", DATA)
def test_a_declaration_has_no_findings_and_scores(name: str, folder: Path) -> None:
    data, path = DATA[name], f"{name}.task.toml"
    for file, text in data.beside.items():
        Path(file).write_text(text, "utf-8")
    assert read_declaration(path).findings == ()
    sides = [written("reference", data.reference), written("system", data.system)]
    scores = hlteval.score(path, *sides)
    assert scores.metrics[scores.primary] == pytest.approx(data.expected)
    assert scores.signature.startswith(f"hlteval:{hlteval.__version__}|task:{name}|declaration:")
    assert ("official" in load(path).profiles) == (data.official is not None)
    if data.official is not None:
        official = hlteval.score(path, *sides, profile="official")
        assert official.metrics[official.primary] == pytest.approx(data.official)
        assert f"|preset:{load(path).signed['preset']}|" in official.signature
