"""Declarations made from data: they have no findings, and say what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from hlteval.tasks.generic.declaration import read_declaration
from hlteval.tasks.generic.draft import draft
from hlteval.tasks.task import WrongOption

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.mark.parametrize(
    ("data", "unit", "form"),
    [
        ("generic/valid/mentions/gold", "mentions", "brat"),
        ("generic/valid/relations/gold", "relations", "brat"),
        ("coreference/valid/reference.conll", "clusters", "conll-coref"),
        ("generic/invalid/GEN406-milliseconds/gold/g.rttm", "segments", "rttm"),
        ("transcripts/valid/reference.txt", "transcripts", "transcript"),
    ],
)
def test_a_draft_is_sound(data: str, unit: str, form: str, tmp_path: Path) -> None:
    made = draft(str(FIXTURES / data), unit if unit in {"mentions", "transcripts"} else "")
    path = tmp_path / "own.task.toml"
    path.write_text(made.text, "utf-8")
    assert read_declaration(str(path)).findings == ()
    content = tomllib.loads(made.text)
    assert (content["task"]["unit"], content["read"]["format"]) == (unit, form)
    path.write_text(re.sub("(?m)^# ([a-z_]+ = )", r"\1", made.text), "utf-8")
    (tmp_path / "all.uem").write_text("m 1 0 60\n")
    assert [each.code for each in read_declaration(str(path)).findings if each.blocking] == []


@pytest.mark.parametrize(
    ("labels", "extent"),
    [
        (("5.000", "2.4", "0.000"), "[0, 5]"),
        (("-1.5", "1e1"), "[-1.5, 10]"),
        (("5.000", "2.000"), ""),  # classes
        (("0.5", "high"), ""),
        (("0.5", "nan"), ""),
    ],
)
def test_labels_that_are_numbers_are_declared(
    labels: tuple[str, ...], extent: str, tmp_path: Path
) -> None:
    rows = (f"{number}\tA.\tB.\t{label}\n" for number, label in enumerate(labels))
    data = tmp_path / "sentences.tsv"
    data.write_text("index\tsentence1\tsentence2\tscore\n" + "".join(rows))
    made = draft(str(data))
    path = tmp_path / "own.task.toml"
    path.write_text(re.sub("(?m)^# (range = )", r"\1", made.text), "utf-8")
    assert read_declaration(str(path)).findings == ()
    content = tomllib.loads(path.read_text())
    assert content["read"]["format"] == "label-table"
    if extent:
        assert content["labels"]["kind"] == "numbers"
        assert f"\nrange = {extent}  # as found\n" in path.read_text()
        assert content["scores"]["primary"] == "pearson"
    else:
        assert sorted(content["labels"]["declared"]) == sorted(labels)


def test_labels_and_argument_types_are_those_of_the_data() -> None:
    content = tomllib.loads(draft(str(FIXTURES / "generic/valid/relations/gold")).text)
    assert content["labels"]["declared"] == ["Works"]
    assert content["relations"]["roles"] == {"Works": {"Arg1": ["Person"], "Arg2": ["Org"]}}


def test_an_annotation_conf_that_is_below_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold").mkdir()
    Path("gold", "d.txt").write_text("Ann\n")
    Path("gold", "d.ann").write_text("T1\tPerson 0 3\tAnn\n")
    Path("gold", "annotation.conf").write_text("[entities]\nPerson\nPlace\n")
    made = draft("gold")
    assert tomllib.loads(made.text)["labels"] == {"from": "gold/annotation.conf"}
    assert '#   "Person",  # 1\n' in made.text


def test_the_scheme_of_tags_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.conll"
    path.write_text("Ann I-PER\nsaw O\nBob I-PER\nAnn B-PER\n\n")
    assert '# scheme = "IOB1"' in draft(str(path)).text


def test_the_unit_of_offsets_is_found() -> None:
    made = draft(str(FIXTURES / "generic/invalid/GEN404-utf-16/system"))
    assert tomllib.loads(made.text)["read"]["offsets"] == "utf-16"


def test_data_without_units_are_an_error(tmp_path: Path) -> None:
    Path(tmp_path, "notes.md").write_text("Notes.\n")
    with pytest.raises(WrongOption, match="matches no format"):
        draft(str(tmp_path))
