"""brat: what is read, what is told, and what becomes of the annotations of other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hlteval import convert, read
from hlteval.findings import catalogue

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "brat" / "valid"

# Line, column, end column, level.
PLACES = """
BRT101-blank-for-tab.ann          4   3   4  E
BRT102-small-letter.ann           4   1   3  E
BRT103-no-end.ann                 4  10  11  E
BRT103-no-number.ann              4   1   3  E
BRT104-blank-behind-colon.ann     4  16  17  E
BRT105-form-of-bionlp.ann         4   4   8  E
BRT106-one-argument.ann           4  16  16  E
BRT106-three-arguments.ann        4  24  25  E
BRT107-form-of-bionlp.ann         4  23  26  E
BRT107-value-of-old-form.ann      4  15  16  E
BRT108-no-resource.ann            4  17  23  E
BRT109-no-target.ann              4  18  18  E
BRT110-no-member.ann              4   8   8  E
BRT111-ten-digits.ann             4  11  21  E
BRT201-no-text.ann                4   4   8  W
BRT202-from-and-from.ann          4  17  21  E
BRT203-behind-attribute.ann       4  16  21  I
BRT204-copied.ann                 4   1   3  E
BRT205-city.ann                   4   9  11  E
BRT206-behind-the-end             4   9  13  E
BRT206-ends-first                 4   9  12  E
BRT207-one-off                    4  14  17  E
"""
ROWS = [line.split() for line in PLACES.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_fixture_raises_its_code_and_nothing_else(row: list[str]) -> None:
    path, (line, column, end_column) = FIXTURES / "brat/invalid" / row[0], map(int, row[1:4])
    corpus, findings = read(str(path))
    (only,) = [f for f in findings if f.code not in {"CNV202", "CNV203"}]  # about its text
    corpus.check_keys()
    assert only.code == row[0].partition("-")[0]
    assert only.severity.value[0].upper() == row[4]
    assert only.span is not None
    assert (only.span.line, only.span.column, only.span.end_column) == (line, column, end_column)
    assert only.excerpt is not None
    file = path / "d.ann" if path.is_dir() else path
    assert only.excerpt.text == file.read_text("utf-8").split("\n")[line - 1]
    assert "{" not in only.message + (only.help or "")
    assert (corpus.rejected_records.height == 1) is only.code.startswith("BRT1")


def test_the_table_is_complete() -> None:
    assert {row[0] for row in ROWS} == {path.name for path in (FIXTURES / "brat/invalid").iterdir()}
    codes = {code for code in catalogue() if code.startswith("BRT")}
    assert {row[0].partition("-")[0] for row in ROWS} == codes


CONTEXT = "T1\tCity 0 3\tOsh\nT2\tMeet 4 7\tmet\nT3\tCity 8 11\tOsh\nE9\tMeet:T2 Who:T1\n"


@pytest.mark.parametrize("code", sorted(code for code in catalogue() if code.startswith("BRT")))
def test_the_bad_example_raises_the_code_and_the_good_one_nothing(
    code: str, tmp_path: Path
) -> None:
    entry = catalogue()[code]
    for example, wanted in ((entry.bad, [code]), (entry.good, [])):
        own = [line.partition("\t")[0] for line in example.split("\n")]
        context = "".join(
            f"{line}\n" for line in CONTEXT.splitlines() if line.partition("\t")[0] not in own
        )
        (tmp_path / "d.txt").write_text("Osh met Osh", "utf-8")
        (tmp_path / "d.ann").write_text(f"{context}{example}\n", "utf-8")
        assert [finding.code for finding in read(str(tmp_path))[1]] == wanted


def rows(table: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return table.select(columns).rows()


def test_every_kind_of_line() -> None:
    corpus, findings = read(str(VALID))
    assert findings == []
    corpus.check_keys()
    assert corpus.documents["name"].to_list() == ["meeting", "silence"]
    mentions = corpus.mentions.filter(pl.col("mention").is_in(["T3", "T5", "T9.1"]))
    assert rows(mentions, "label", "start", "end", "text", "entity") == [
        ("Person", 9, 16, "\U0001d49faniyar", None),
        ("City", 33, 52, "Kara Abad", None),
        ("Place", 64, 78, "the new square", None),
    ]
    assert corpus.mentions["fragments"].drop_nulls().to_list() == [
        [{"start": 33, "end": 37}, {"start": 48, "end": 52}]
    ]
    assert rows(corpus.frames, "frame", "kind", "label", "trigger") == [
        ("E1", "event", "Meet", "T2"),
        ("E2", "event", "Like", "T8"),
        ("E3", "event", "Like", "T8"),
        ("R1", "relation", "Near", None),
    ]
    assert rows(corpus.arguments, "frame_row", "position", "role", "target") == [
        (0, 1, "Who", "T1"),
        (0, 2, "Who2", "T3"),
        (0, 3, "Where", "T4"),
        (1, 1, "Who", "T7"),
        (1, 2, "What", "E1"),
        (3, 1, "Arg1", "T5"),
        (3, 2, "Arg2", "T6"),
    ]
    assert rows(corpus.groups, "kind", "member") == [("Equiv", "T1"), ("Equiv", "T7")]
    assert rows(corpus.modifiers, "modifier", "label", "target", "value", "text") == [
        ("A1", "Negation", "E2", None, None),
        ("A2", "Confidence", "E1", "very sure", None),
        ("M3", "Speculation", "E1", None, None),
        ("N1", "Reference", "T4", "GeoNames:1527534", "Osh"),
        ("N2", "Reference", "T4", "Wikidata:Q165181", None),
        ("N3", "Reference", "T6", "KB:77", "Jalal-Abad (Kyrgyzstan)"),
        ("#1", "AnnotatorNotes", "T5", None, "the same Abad as T6?"),
        ("#2", "AnnotatorNotes", "E1", None, None),
    ]


def test_normalisations_are_entities() -> None:
    corpus, _ = read(str(VALID))
    entities = corpus.mentions.drop_nulls("entity")
    assert rows(entities, "mention", "entity") == [("T4", "GeoNames:1527534"), ("T6", "77")]
    assert rows(corpus.links, "mention_row", "rank", "entity") == [(3, 2, "Wikidata:Q165181")]


def test_line_ends_of_the_text_count_as_one_character(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes(b"a\r\nb\rc")
    (tmp_path / "d.ann").write_bytes(b"T1\tX 2 5\tb c\r\n")
    corpus, findings = read(str(tmp_path))
    assert findings == []
    assert corpus.documents["text"].to_list() == ["a\nb\nc"]
    assert corpus.mentions["text"].to_list() == ["b c"]


def test_texts_are_compared_as_brat_does(tmp_path: Path) -> None:
    """A comment may follow, line ends are blanks, and parts once had no blank between them."""
    (tmp_path / "d.txt").write_text("Kara, new\nsquare and Jalal Abad ", "utf-8")
    lines = ["T1\tX 0 4\tKara sure?", "T2\tX 6 16\tnew square", "T3\tX 0 4;27 31\tKaraAbad"]
    lines += ["T4\tX 21 32\tJalal Abad", "T5\tX 0 4\tKaraj", "T6\tX 6 9;0 4\tnew Kara"]
    (tmp_path / "d.ann").write_text("\n".join(lines), "utf-8")
    found = read(str(tmp_path))[1]
    assert [(f.code, f.record) for f in found] == [("BRT207", "T5")]
    assert "'Kara'" in found[0].message


def test_the_fixture_comes_back_byte_by_byte(tmp_path: Path) -> None:
    assert convert(str(VALID), str(tmp_path / "out"), to_format="brat", strict_loss=True) == []
    written = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert written == {file.name: file.read_bytes() for file in VALID.iterdir()}
