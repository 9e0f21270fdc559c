"""Tables that options name are input: they are checked under their own names."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlteval.syntax.tsv import Column, Table
from hlteval.tasks.option_readers import place_dictionary, read_table, texts, type_weights, zones
from hlteval.tasks.task import WrongOption

TABLE = Table((Column("name"), Column("weight", "number", code="weight")), code="line")
MESSAGES = {"line": "{given} of {wanted} cells", "weight": "{given} is not a weight"}


def test_rows_of_all_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"x\t1\r\n\r\n")
    (tmp_path / "b.tsv").write_bytes(b"y\t.5")
    assert read_table(str(tmp_path), TABLE, MESSAGES).rows() == [(1, "x", 1.0), (1, "y", 0.5)]
    assert list(texts(str(tmp_path))) == ["x\t1\r\n\r\n", "y\t.5"]


def test_every_invalid_line_is_reported_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("x\ny\t1\n")
    (tmp_path / "b.tsv").write_text("\nz\thigh\n")
    with pytest.raises(WrongOption) as wrong:
        read_table(str(tmp_path), TABLE, MESSAGES)
    first, second = str(wrong.value).split("\n")
    assert first.endswith("a.tsv:1: 1 of 2 cells")
    assert second.endswith("b.tsv:2: high is not a weight")


def test_of_many_invalid_lines_the_first_are_shown(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("x\n" * 9)
    with pytest.raises(WrongOption) as wrong:
        read_table(str(tmp_path / "a.tsv"), TABLE, MESSAGES)
    assert str(wrong.value).split("\n")[4:] == [
        f"{tmp_path / 'a.tsv'}:5: 1 of 2 cells",
        "4 more invalid lines",
    ]


@pytest.mark.parametrize("data", [b"x\t\xff\n", b"x\t\0\n"])
def test_a_file_that_is_not_text_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.tsv").write_bytes(data)
    with pytest.raises(WrongOption, match=r"a\.tsv: "):
        read_table(str(tmp_path / "a.tsv"), TABLE, MESSAGES)


def test_the_tables_of_tasks(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text("PER\tORG\t .5 \nPER\tORG\t1\nPER\tPER\t+.25\nPER\tORG\t0\n")
    assert type_weights(str(path), {}) == {("PER", "ORG"): 1.0, ("PER", "PER"): 0.25}
    path.write_text("D1\t007\t9\n")
    assert zones(str(path), {}).rows(named=True) == [{"docid": "D1", "start": 7, "last": 9}]
    path.write_text("OSH\tOsh\nOSH\tosh\n\tx\n")
    assert place_dictionary(str(path), {}) == {"OSH": "osh", "": "x"}


@pytest.mark.parametrize("weight", ["-1", "inf", "nan", "1e999", "", "1,5"])
def test_a_weight_is_a_number_from_0(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "weights"
    path.write_text(f"PER\tORG\t{weight}\n")
    with pytest.raises(WrongOption, match="use a number ≥ 0"):
        type_weights(str(path), {})
