"""Tables of labels as GLUE has them, and as they are written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from hlteval import convert, validate
from hlteval.converters import load
from hlteval.converters.format import WrongSetting
from hlteval.converters.toolkit import cells
from hlteval.representation import Corpus
from hlteval.sources import open_source


def labels(path: Path, **values: str) -> list[tuple[str, str | None]]:
    (read,) = load("label-table").with_settings(values).read(open_source(str(path)))
    assert read.findings == ()
    rows = read.corpus.documents.select("name", document="row").join(
        read.corpus.instances.select("document", "label"), on="document", how="left"
    )
    return [(name, label) for name, label in rows.select("name", "label").rows()]


@pytest.mark.parametrize(
    ("glue", "text", "found"),
    [
        ("cola", 'gj04\t1\t\tHe "left".\ngj04\t0\t*\tLeft he.\n', [("0", "1"), ("1", "0")]),
        ("sst-2", "sentence\tlabel\ngood , fun\t1\nbad\t0\n", [("0", "1"), ("1", "0")]),
        (
            "mrpc",
            '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\t"a\tb\n',
            [("0", "1")],
        ),
        (
            "qqp",
            "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n9\t1\t2\ta?\tb?\t0\n",
            [("0", "0")],
        ),
        (
            "mnli",
            "index\tsentence1\tsentence2\tlabel1\tgold_label\n"
            "0\ta\tb\tneutral\tneutral\n1\ta\tb\tneutral\t-\n2\ta\tb\tneutral\tentailment\n",
            [("0", "neutral"), ("2", "entailment")],
        ),
        (
            "rte",
            "index\tsentence1\tsentence2\tlabel\n5\ta\tb\tnot_entailment\n",
            [("5", "not_entailment")],
        ),
    ],
)
def test_tables_of_glue(glue: str, text: str, found: list[tuple[str, str]], tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    path.write_text(text, "utf-8")
    if glue == "mrpc":
        (read,) = load("label-table").with_settings({"glue": glue}).read(open_source(str(path)))
        assert [item.code for item in read.findings] == ["SRC202"]
        return
    assert labels(path, glue=glue) == found


def test_a_submission_of_glue_needs_no_setting(tmp_path: Path) -> None:
    path = tmp_path / "RTE.tsv"
    path.write_text("index\tprediction\n1\tentailment\n0\tnot_entailment\n", "utf-8")
    assert labels(path) == [("1", "entailment"), ("0", "not_entailment")]
    assert validate("labels", path).passed


@pytest.mark.parametrize(
    ("glue", "code"), [("sst-2", "LBT101"), ("mnli", "LBT101"), ("cola", "LBT107")]
)
def test_settings_of_glue_for_both_sides_say_where_to_set_them(
    glue: str, code: str, tmp_path: Path
) -> None:
    system, task = tmp_path / "SST-2.tsv", tmp_path / "own.task.toml"
    system.write_text("index\tprediction\n0\t1\n1\t0\n")
    task.write_text(f'[task]\nunit = "labels"\n[read]\nformat = "label-table"\nglue = "{glue}"\n')
    (found,) = (item for item in validate(str(task), system).findings if item.code == code)
    assert "[read.reference]" in (found.help or "")


def test_a_table_is_written_for_glue_and_with_joined_labels(tmp_path: Path) -> None:
    path = tmp_path / "in.tsv"
    path.write_text("id\tlabel\n7\ta\n7\tb\n8\t\n9\tc\n", "utf-8")
    (read,) = load("label-table").read(open_source(str(path)))
    form = load("label-table")
    for values, text in (
        ({}, "id\tlabel\n7\ta\n7\tb\n8\t\n9\tc\n"),
        ({"joined": ";"}, "id\tlabel\n7\ta;b\n8\t\n9\tc\n"),
        ({"names": "index,prediction"}, "index\tprediction\n7\ta\n7\tb\n8\t\n9\tc\n"),
    ):
        own = form.with_settings(values)
        assert own.write is not None
        own.write([read.corpus], tmp_path / "out.tsv")
        assert (tmp_path / "out.tsv").read_text("utf-8") == text
        assert not any(own.count_losses(read.corpus).values())
    assert labels(tmp_path / "out.tsv") == [("7", "a"), ("7", "b"), ("8", None), ("9", "c")]


def test_scores_come_back_and_losses_are_counted(tmp_path: Path) -> None:
    place = {"document": 0, "origin": 0, "kind": "label"}
    said = [("a", 0.25), ("b\tc", 1.0), ("", None), ("d;e", None)]
    rows = [
        {**place, "row": at, "record": at, "label": label, "llr": score}
        for at, (label, score) in enumerate(said)
    ]
    norm = {**place, "row": 4, "record": 4, "kind": "norm", "label": "101"}
    names = [{"row": 0, "name": "x", "origin": 0}, {"row": 1, "name": "a\nb", "origin": 0}]
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    corpus = Corpus(sources=[source], documents=names, instances=[*rows, norm])
    form = load("label-table")
    assert form.losses(corpus) == {
        "documents whose name no line can have": 1,
        "instances that are not labels of documents": 1,
        "labels that are empty, or have tabs or line breaks": 2,
    }
    joined = form.with_settings({"joined": ";"}).count_losses(corpus)
    assert joined["labels with the characters between labels"] == 1
    assert joined["scores of joined labels"] == 1
    convert(corpus, tmp_path / "x.tsv", to_format="label-table")
    (read,) = form.read(open_source(str(tmp_path / "x.tsv")))
    assert read.corpus.instances.select("label", "llr").rows() == [("a", 0.25), ("d;e", None)]


def problems(path: Path, **values: str) -> list[tuple[str, int | None]]:
    (read,) = load("label-table").with_settings(values).read(open_source(str(path)))
    return [(item.code, item.span and item.span.line) for item in read.findings]


def test_scores_that_are_not_finite_are_not_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\tlabel\tllr\n1\ta\tnan\n2\ta\t-inf\n3\ta\t1e999\n4\ta\t 0.5\n5\ta\t\n")
    assert problems(path) == [("LBT104", 2), ("LBT104", 3), ("LBT104", 4)]


def test_commas_are_not_cells_between_tabs(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\tlabel\nd1, d2\nd3\tx\n")
    assert problems(path) == [("LBT102", 2)]


def test_rows_of_several_lines_keep_the_numbers_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"id","label"\n"a\nb","x"\n"c,d",\n"e,f"\n"",x\nd,z,w\n')
    assert problems(path, quoting="minimal") == [("LBT102", 5), ("LBT103", 6), ("LBT102", 7)]


@pytest.mark.parametrize(
    ("line", "later"),
    [('d2,5" x', 4), ('d2,"a" b', 4), ("d2,y", 0)],
    ids=["inch", "outside", "right"],
)
def test_quotes_inside_a_cell_are_reported(tmp_path: Path, line: str, later: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'id,label\nd1,"a\nb"\n{line}\nd3,"open\n')
    expected = [("LBT106", at) for at in (later, 5) if at]
    assert problems(path, quoting="minimal") == expected


def test_other_errors_of_the_reader_are_not_taken_for_wrong_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("no memory")

    monkeypatch.setattr(cells, "read_cells", fail)
    path = tmp_path / "a.tsv"
    path.write_text('id\tlabel\nd1\t"a\n')
    with pytest.raises(pl.exceptions.ComputeError, match="no memory"):
        problems(path)


def test_batches_with_and_without_scores_have_one_header(tmp_path: Path) -> None:
    form, corpora = load("label-table"), []
    assert form.write is not None
    for name, text in (("a", "id\tlabel\na\tx\n"), ("b", "id\tlabel\tllr\nb\tx\t0.5\n")):
        (tmp_path / name).write_text(text)
        (read,) = form.read(open_source(str(tmp_path / name)))
        corpora.append(read.corpus)
    form.write(iter(corpora), tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_text() == "id\tlabel\tllr\na\tx\t\nb\tx\t0.5\n"
    form.write(iter([]), tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_text() == "id\tlabel\n"


@pytest.mark.parametrize("names", ["", "id", "id,", "a,b,c", "a,a"])
def test_a_table_has_two_names(names: str, tmp_path: Path) -> None:
    write = load("label-table").with_settings({"names": names}).write
    assert write is not None
    with pytest.raises(WrongSetting):
        write([Corpus()], tmp_path / "x.tsv")


def test_a_column_without_a_name_is_that_of_documents_only(tmp_path: Path) -> None:
    """As pandas writes an index: the label is in the last column, and there are no scores."""
    path = tmp_path / "x.csv"
    path.write_text(",sentence,label\n0,a b,pos\n1,c,neg\n", "utf-8")
    assert labels(path) == [("0", "pos"), ("1", "neg")]


def test_a_wide_table_without_labels_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("id\nd1\nd2\n", "utf-8")
    assert labels(path, wide="yes") == []
