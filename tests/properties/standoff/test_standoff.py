"""Standoff: what is read can be written again, and no file, however broken, breaks the reader."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import Finding, Refused, Verdict, read, score, validate
from hlteval.converters.standoff.bionlp import FORMAT
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures" / "standoff" / "valid"
Files = Mapping[str, bytes]

ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff")
WORD = st.text(st.sampled_from("abT1_-.\xe9\u6771\U0001d6fc\xa0\u0301"), min_size=1, max_size=4)
NAME = st.from_regex(r"[a-z0-9]{1,4}(-[0-9]|\.[a-z]|é)?", fullmatch=True)
OFFSETS = st.tuples(st.integers(0, 999), st.integers(0, 999)).map("{0[0]} {0[1]}".format)
REPEATED = st.text(ANY, min_size=1, max_size=6).filter(
    lambda text: "\n" not in text and text.strip(" \t\r\f\x0b") == text
)
ARGUMENTS = st.lists(st.builds("{}:T{}".format, WORD, WORD), min_size=1, max_size=4).map(" ".join)
CANONICAL = st.one_of(
    st.builds(
        "T{}\t{} {}\t{}".format,
        WORD,
        WORD,
        st.lists(OFFSETS, min_size=1, max_size=3).map(";".join),
        REPEATED,
    ),
    st.builds(
        "{}{}\t{}{} {}".format,
        st.sampled_from("ER"),
        WORD,
        WORD,
        st.just("") | WORD.map(":{}".format),
        ARGUMENTS,
    ),
    st.builds("M{}\t{} Annotation:E{}".format, WORD, WORD, WORD),
    st.builds("N{}\t{} Annotation:T{} Referent:{}".format, WORD, WORD, WORD, WORD),
    st.builds("*\tEquiv {}".format, st.lists(WORD, min_size=1, max_size=3).map(" ".join)),
)
LINES = st.lists(CANONICAL, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))


@st.composite
def canonical(draw: st.DrawFn) -> dict[str, bytes]:
    """The files of a few documents, in the layout in which they are written."""
    files = {}
    for name in draw(st.lists(NAME, min_size=1, max_size=3, unique_by=str.casefold)):
        for suffix in draw(st.sets(st.sampled_from([".txt", ".a1", ".a2"]), min_size=1)):
            content = draw(st.text(ANY, max_size=20) if suffix == ".txt" else LINES)
            files[name + suffix] = content.encode()
    return files


def corpus_of(files: Files) -> tuple[Corpus, tuple[Finding, ...]]:
    """The files as one corpus."""
    members = tuple(
        Member(name, name, len(data), lambda data=data: data)  # type: ignore[misc]
        for name, data in sorted(files.items())
    )
    readings = list(FORMAT.read(Source("corpus", "folder", members)))
    corpus = Corpus.concat(reading.corpus for reading in readings)
    return corpus, tuple(finding for reading in readings for finding in reading.findings)


def rewritten(corpora: Iterable[Corpus]) -> dict[str, bytes]:
    """The files that corpora are written as."""
    assert FORMAT.write is not None
    with tempfile.TemporaryDirectory() as folder:
        FORMAT.write(corpora, Path(folder, "out"))
        return {file.name: file.read_bytes() for file in Path(folder, "out").iterdir()}


def content(corpus: Corpus) -> dict[str, pl.DataFrame]:
    """What a corpus says, wherever it stood in its files."""
    kept = {name: table.drop("record", strict=False) for name, table in corpus.tables()}
    return {**kept, "sources": kept["sources"].select("row", "member", "format")}


def same(one: Corpus, two: Corpus) -> bool:
    left, right = content(one), content(two)
    return all(left[name].equals(right[name]) for name in TABLES)


@given(canonical())
@settings(max_examples=tries(20), deadline=None)
def test_canonical_files_come_back_byte_by_byte(files: dict[str, bytes]) -> None:
    corpus, findings = corpus_of(files)
    assert findings == ()
    assert rewritten([corpus]) == files


@given(canonical(), st.data())
@settings(max_examples=tries(12), deadline=None)
def test_other_layouts_keep_their_content(files: dict[str, bytes], data: st.DataObject) -> None:
    """Blank lines, CRLF, blanks at the ends and no line end behind the last line."""
    loose = {
        name: content if name.endswith(".txt") else loosened(content, data)
        for name, content in files.items()
    }
    corpus, findings = corpus_of(loose)
    assert findings == ()
    assert same(corpus, corpus_of(files)[0])
    assert rewritten([corpus]) == files


def loosened(written: bytes, data: st.DataObject) -> bytes:
    lines = written.decode().split("\n")[:-1]
    ends = [
        data.draw(st.sampled_from(["\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n \n"])) for _ in lines
    ]
    starts = [data.draw(st.sampled_from(["", " ", "\t", "\n"])) for _ in lines]
    whole = "".join(map("".join, zip(starts, lines, ends, strict=True)))
    return (whole.rstrip("\n") if data.draw(st.booleans()) else whole).encode()


@given(canonical())
@settings(max_examples=tries(8), deadline=None)
def test_documents_may_be_written_in_batches(files: dict[str, bytes]) -> None:
    names = sorted({name.rpartition(".")[0] for name in files})
    single = [
        corpus_of({file: data for file, data in files.items() if file.rpartition(".")[0] == name})[
            0
        ]
        for name in names
    ]
    assert rewritten(single) == files


# What valid files are broken with.
BYTES = [
    b"\x00",
    b"\xff",
    b"\xe9",
    b"\r",
    b"\n",
    b"\t",
    b" ",
    b":",
    b";",
    b"9",
    b"-1",
    b"\xef\xbb\xbf",
]
BYTES += [
    "\u2028".encode(),
    "\U0001d6fc".encode(),
    b"\xed\xa0\x80",
    b"*",
    b"T1",
    b"E1",
    b"M",
    b"99999999999",
]
FIELDS = [
    "T1",
    "E1",
    "E9",
    "T99",
    "",
    "Binding",
    "Tissue",
    "Negation",
    "0 0",
    "9 3",
    "0 5;3 9",
    "*",
]
FIELDS += ["Annotation:E1", "Agent:E1", "Tissue:T3", "Tissue:T3 Tissue:T4", "0 99999", "Equiv T1"]


def broken(draw: random.Random, files: Files) -> dict[str, bytes]:
    """The files with a few changes: of bytes, of lines, of fields."""
    changed = dict(files)
    for _ in range(draw.randint(1, 4)):
        name = draw.choice(sorted(changed))
        kind = draw.choice([of_bytes, of_lines, of_fields])
        changed[name] = kind(draw, changed[name])
    return changed


def of_bytes(draw: random.Random, data: bytes) -> bytes:
    start = draw.randint(0, len(data))
    return data[:start] + draw.choice([b"", *BYTES]) + data[start + draw.randint(0, 3) :]


def of_lines(draw: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    first, second = (draw.randrange(len(lines)) for _ in range(2))
    kind = draw.randrange(4)
    if kind == 0:
        lines[first], lines[second] = lines[second], lines[first]
    elif kind == 1:
        lines.insert(first, lines[second])
    elif kind == 2:
        del lines[first]
    else:
        lines[first] += lines[second]
    return b"\n".join(lines)


def of_fields(draw: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    separator = draw.choice([b" ", b"\t", b":"])
    fields = lines[at].split(separator)
    fields[draw.randrange(len(fields))] = draw.choice(FIELDS).encode()
    lines[at] = separator.join(fields)
    return b"\n".join(lines)


def unpacked(folder: Path, documents: int, draw: random.Random) -> tuple[Path, Path]:
    """A reference of many documents, and the same broken, as a submission with its own texts."""
    valid, faulty = folder / "valid", folder / "broken"
    for corpus in (valid, faulty):
        corpus.mkdir()
    for number in range(documents):
        base = f"seed-{draw.randint(1, 2)}"
        files = {
            suffix: (FIXTURES / "full" / f"{base}.{suffix}").read_bytes() for suffix in SUFFIXES
        }
        for suffix, data in files.items():
            (valid / f"d{number}.{suffix}").write_bytes(data)
        for suffix, data in broken(draw, files).items():
            (faulty / f"d{number}.{suffix}").write_bytes(data)
    return valid, faulty


SUFFIXES = ("txt", "a1", "a2")


def in_place(finding: Finding) -> bool:
    """Whether a finding's place is in its file, and its excerpt what stands there."""
    if finding.span is None:
        return finding.excerpt is None
    span = finding.span
    text = Path(finding.file or "").read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.split("\n")
    if not 1 <= span.line <= len(lines):
        return False
    line = lines[span.line - 1]
    inside = 1 <= span.column <= span.end_column <= len(line) + 1
    if finding.code.startswith("SRC") or finding.excerpt is None:
        return inside  # of bytes that are no text, the line can look different here
    shown = line.removesuffix("\r")[finding.excerpt.offset :]
    return inside and shown.startswith(finding.excerpt.text)


def assert_in_place(verdict: Verdict) -> None:
    for finding in verdict.findings:
        assert in_place(finding), finding
        assert finding.message
    assert verdict.passed is (verdict.by_severity["error"] == 0)


@pytest.mark.parametrize("seed", range(3))
def test_broken_files_give_findings_and_nothing_worse(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    valid, faulty = unpacked(tmp_path, 150, draw)
    own = validate("seedev-full", str(faulty))
    assert_in_place(own)
    against = validate("seedev-full", str(faulty), against=str(valid))
    assert_in_place(against)
    # As a submission the texts and entities of the task count, and not what became of them here.
    assert against.findings
    assert {code[:4] for code in own.by_code} >= {"STD1", "SRC2"}
    for profile in ("plan", "official"):
        try:
            scores = score("seedev-full", str(valid), str(faulty), profile=profile, lenient=True)
        except Refused as refused:
            assert profile == "official"
            assert {"STD105", "STD109", "STD204"} & refused.verdict.by_code.keys()
        else:
            assert 0 <= (scores.metrics["recall"] or 0) <= 1
    corpus, _ = read(str(faulty))
    again, findings = corpus_of(rewritten([corpus]))
    assert [f for f in findings if not f.code.startswith("SRC")] == []
    assert again.documents["name"].to_list() == corpus.documents["name"].to_list()
    for name in ("frames", "arguments", "modifiers"):
        assert content(again)[name].drop("origin").equals(content(corpus)[name].drop("origin"))
