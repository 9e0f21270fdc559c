"""Tokens of Hugging Face: numbers as tags, their names, and Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from hlteval import convert, read
from hlteval.converters import load
from hlteval.converters.columns import hf_tokens
from hlteval.converters.format import WrongSetting
from hlteval.findings import Finding, catalogue
from hlteval.representation import Corpus
from hlteval.sources import open_source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures" / "hf-tokens"
NAMES = "O,B-PER,I-PER,B-LOC,I-LOC"
# What each fixture raises, and where: line, column, end column; the level; and settings.
TABLE = """
invalid/HFT101-words.tokens.jsonl     2 1 53 E!
invalid/HFT102-pieces.tokens.jsonl    1 1 70 E!
invalid/HFT103-nine.tokens.jsonl      1 1 57 E! names=O,B-LOC
invalid/HFT104-no-names.tokens.jsonl  0 0 0 E!
invalid/HFT105-ignored.tokens.jsonl   0 0 0 I
invalid/HFT106-text.tokens.parquet    0 0 0 E!
"""
CASES = [line.split() for line in TABLE.strip().splitlines()]


def read_with(path: Path, form: str, settings: dict[str, str]) -> tuple[Corpus, list[Finding]]:
    """The corpus and the findings of a file that is read with settings."""
    readings = list(load(form).with_settings(settings).read(open_source(str(path))))
    corpus = Corpus.concat(reading.corpus for reading in readings)
    return corpus, [finding for reading in readings for finding in reading.findings]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_file_raises_its_code_and_nothing_else(case: list[str]) -> None:
    name, line, column, end_column, level, *settings = case
    given = dict(setting.split("=") for setting in settings)
    (only,) = read_with(FIXTURES / name, "hf-tokens", given)[1]
    assert only.code == name.partition("/")[2][:6]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    span = only.span
    place = (span.line, span.column, span.end_column) if span else (0, 0, 0)
    assert place == (int(line), int(column), int(end_column))


def test_every_code_has_a_fixture() -> None:
    codes = {code for code in catalogue() if code.startswith("HFT")}
    assert codes == {path.name[:6] for path in FIXTURES.glob("invalid/*")}


def test_numbers_are_the_names_that_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"tokens": ["in", "New", "York", "."], "tags": [0, 3, 4, -100]}\n', "utf-8")
    corpus, findings = read_with(path, "hf-tokens", {"names": NAMES})
    assert [finding.code for finding in findings] == ["HFT105"]
    assert corpus.documents.select("name", "text").rows() == [("1", "in New York .")]
    assert corpus.mentions.select("label", "start", "end").rows() == [("LOC", 3, 11)]
    assert corpus.tokens["tag"].to_list() == ["O", "B-LOC", "I-LOC", "O"]


def test_parquet_has_the_names_of_its_tags(tmp_path: Path) -> None:
    valid = FIXTURES / "valid/texts.tokens.jsonl"
    table, lines = tmp_path / "x.parquet", tmp_path / "x.jsonl"
    settings = {"layout": "parquet"}
    convert(str(valid), str(table), to_format="hf-tokens", settings=settings)
    frame = pl.read_parquet(table)
    assert frame["ner_tags"].to_list() == [[0, 1, 0, 0, 1, 2], [1, 1]]
    names = json.loads(pl.read_parquet_metadata(table)["huggingface"])
    assert b"ARROW:schema" not in table.read_bytes()  # in which datasets would look for the names
    feature = names["info"]["features"]["ner_tags"]["feature"]
    assert feature == {"names": ["O", "B-LOC", "I-LOC"], "_type": "ClassLabel"}
    convert(str(table), str(lines), to_format="hf-tokens")
    assert lines.read_bytes() == valid.read_bytes()


def test_rows_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"tokens": [], "ner_tags": []}\n{"tokens": ["a"], "ner_tags": ["O"]}\n', "utf-8"
    )
    assert detect_format(open_source(str(path))).name == "hf-tokens"
    corpus, findings = read(str(path))
    assert list(findings) == []
    assert corpus.documents.select("name", "text").rows() == [("1", ""), ("2", "a")]
    assert corpus.tokens.select("document", "text").rows() == [(1, "a")]


def test_numbers_are_written_with_names(tmp_path: Path) -> None:
    corpus, _ = read(str(FIXTURES / "valid/texts.tokens.jsonl"), "hf-tokens")
    hf_tokens.write([corpus], tmp_path / "x", names=NAMES)
    rows = [json.loads(line) for line in (tmp_path / "x").read_text("utf-8").splitlines()]
    assert [row["ner_tags"] for row in rows] == [[0, 3, 0, 0, 3, 4], [3, 3]]
    with pytest.raises(WrongSetting, match="each tag once: B-LOC, I-LOC"):
        hf_tokens.write([corpus], tmp_path / "y", names="O,B-PER")
    with pytest.raises(WrongSetting, match="each tag once: O"):
        hf_tokens.write([corpus], tmp_path / "y", names="B-LOC,I-LOC")
    with pytest.raises(WrongSetting, match="each tag once: B-LOC"):
        hf_tokens.write([corpus], tmp_path / "y", names="O,B-LOC,I-LOC,B-LOC")


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ('{"tokens": ["a"], "tags": ["O"], "tags": ["B-X"]}', "HFT101"),
        ('{"tokens": ["a"], "labels": ["B-X"]}', "HFT101"),
        ('{"tokens": ["a"], "tags": [true]}', "HFT103"),
        ('{"tokens": ["a"], "tags": [1.0]}', "HFT103"),
        ('{"tokens": ["a"], "tags": [-1]}', "HFT103"),
    ],
)
def test_another_row_is_not_read(tmp_path: Path, row: str, code: str) -> None:
    """A column twice, another column than before, and other numbers than those of names."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"tokens": ["a"], "tags": [0]}\n' + row + "\n", "utf-8")
    corpus, findings = read_with(path, "hf-tokens", {"names": NAMES})
    assert [finding.code for finding in findings] == [code]
    assert corpus.tokens["tag"].to_list() == ["O"]
    assert corpus.rejected_records["code"].to_list() == [code]


def test_sentences_of_a_document_are_a_row(tmp_path: Path) -> None:
    path = tmp_path / "x.conll"
    path.write_text("Osh\tB-LOC\nis\tO\n\nUzgen\tB-LOC\n", "utf-8")
    out = tmp_path / "x.jsonl"
    findings = convert(str(path), str(out), from_format="conll-columns", to_format="hf-tokens")
    lost = [finding.message.partition("represent ")[2] for finding in findings]
    assert lost == ["2 sentences with other offsets in the text of words"]
    row = json.loads(out.read_text("utf-8"))
    assert row["tokens"] == ["Osh", "is", "Uzgen"]
    assert row["ner_tags"] == ["B-LOC", "O", "B-LOC"]
