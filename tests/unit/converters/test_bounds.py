"""Hostile files: the work and the text that they make are in proportion to their size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.dense import Shape, shapes
from hlteval.converters import load
from hlteval.converters.bioc.bioc_json import Tree
from hlteval.converters.bioc.reading import Documents
from hlteval.converters.columns.named_columns import NamedColumns
from hlteval.converters.timelines import instances_csv, notation
from hlteval.converters.toolkit import json_writing, offsets, quotes, source_files
from hlteval.converters.toolkit.json_documents import file_content
from hlteval.converters.toolkit.spans import Quotes, fill_texts
from hlteval.converters.uima import cas_xmi
from hlteval.converters.uima.building import Layers
from hlteval.converters.uima.types import STRING, Types
from hlteval.representation import Corpus
from hlteval.sources import Limits, open_source
from hlteval.syntax import json_text
from hlteval.syntax.json_text import Layout
from hlteval.syntax.tsv import Lines
from hlteval.workflows.convert import conversion

TEXT = "b" * 30_000
SPANS = 100


def _label_studio() -> Any:
    value = {"start": 0, "end": len(TEXT), "labels": ["X"]}
    results = [{"id": f"s{at}", "type": "labels", "value": value} for at in range(SPANS)]
    return [{"id": 1, "data": {"text": TEXT}, "annotations": [{"id": 7, "result": results}]}]


def _doccano() -> Any:
    return {"id": 1, "text": TEXT, "label": [[0, len(TEXT), "X"]] * SPANS}


def _pubannotation() -> Any:
    span = {"begin": 0, "end": len(TEXT)}
    spans = [{"id": f"T{at}", "span": span, "obj": "X"} for at in range(SPANS)]
    return {"sourcedb": "x", "sourceid": "1", "text": TEXT, "denotations": spans}


def _cas_json() -> Any:
    sofa = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": TEXT}
    place = {"%TYPE": "custom.X", "@sofa": 1, "begin": 0, "end": len(TEXT)}
    spans = [{"%ID": at + 2, **place} for at in range(SPANS)]
    view = {"%SOFA": 1, "%MEMBERS": [*range(2, SPANS + 2)]}
    return {"%FEATURE_STRUCTURES": [sofa, *spans], "%VIEWS": {"_InitialView": view}}


@pytest.mark.parametrize("make", [_label_studio, _doccano, _pubannotation, _cas_json])
def test_spans_of_the_whole_text_repeat_it_20_times(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    form = make.__name__[1:].replace("_", "-")
    path = tmp_path / f"x{load(form).suffixes[0]}"
    path.write_text(json.dumps(make()))
    (result,) = load(form).read(open_source(str(path)))
    texts = result.corpus.mentions["text"].to_list()
    assert texts == [TEXT] * 26 + [None] * 74  # 20 times the text, and 200,000 characters
    assert fill_texts(result.corpus).mentions["text"].to_list() == [TEXT] * 52 + [None] * 48


def test_texts_of_many_places_count_together() -> None:
    quotes = Quotes("a" * 10_000)
    places = [(0, 10_000)] * 20
    assert quotes.at(*places) == " ".join(["a" * 10_000] * 20)
    assert quotes.at(*places) is not None
    assert quotes.at((0, 1)) is None


def test_spans_are_compared_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    place = {"row": 0, "document": 0, "origin": 0, "record": 1, "mention": "T1", "label": "X"}
    spans = [(0, 2, "éa"), (1, 4, "axé"), (2, 4, "xx"), (2, 2, ""), (0, 4, "éaxé"), (3, 4, "x")]
    names = ("start", "end", "text")
    mentions = [place | dict(zip(names, span, strict=True)) for span in spans]
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "éaxé"}], mentions=mentions)
    for block in (1, 3, 100):
        monkeypatch.setattr(quotes, "_BLOCK", block)
        assert quotes.are_at_place(corpus).to_list() == [True, True, False, True, True, False]


def test_gaps_between_passages_are_filled_up_to_a_limit_in_all(tmp_path: Path) -> None:
    passages = [{"offset": 600_000 * at, "text": "b"} for at in range(1, 31)]
    documents = [{"id": str(at), "passages": [passage]} for at, passage in enumerate(passages)]
    path = tmp_path / "x.bioc.json"
    path.write_text(json.dumps({"documents": documents}))
    (result,) = load("bioc-json").read(open_source(str(path)))
    assert [*map(len, result.corpus.documents["text"])] == [600_001] + [0] * 29
    path.write_text(json.dumps({"documents": [{"id": "1", "passages": passages}]}))
    (result,) = load("bioc-json").read(open_source(str(path)))
    assert [*map(len, result.corpus.documents["text"])] == [600_000 * 16 + 1]
    found = [(each.code, each.help) for each in result.findings]
    least = 10_000_000 - 600_000 * 16 + 15
    assert (
        found
        == [("BIO202", f"correct the offset; gaps of at most {least:,} characters are filled")] * 14
    )


def test_the_place_of_an_object_does_not_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout('{"a": {"b": [1, 23]}}', 0)
    assert layout.place(("a", "b", 1)) == (16, 18)
    monkeypatch.setattr(json_text, "_PLAIN_SCAN", None)
    assert layout.place(("a", "b")) == (12, 13)
    assert layout.place(("a",)) == (6, 7)
    assert layout.find(("a", "b", 1)) == 16
    assert layout.find(("a", "c")) is None


def test_a_type_has_the_features_of_its_nearest_100_supertypes() -> None:
    types = Types()
    for at in range(1_000):
        types.add(f"T{at}", f"T{at + 1}", {f"f{at}": STRING})
    assert [*types.features("T0")] == [f"f{at}" for at in range(99, -1, -1)]


def test_lines_that_are_wrong_alike_share_the_values_of_their_message() -> None:
    columns = NamedColumns(["ID", "FORM", "NER"], "FORM", "NER", "^#", "^# newdoc", "")
    rows, _ = columns.read(Lines("a\n" * 3_000 + "1\ta\tO\tb\n1\t\tO\n"))
    assert [problem.record for problem in rows.problems] == [*range(1, 3_003)]
    assert len({id(problem.values) for problem in rows.problems}) == 3


@pytest.mark.parametrize("form", dict.fromkeys(form for form, _, _ in shapes()))
def test_each_shape_is_read_as_what_it_is(form: str, tmp_path: Path) -> None:
    """A file of some records: rows, rejected records or findings, and no exception."""
    path = tmp_path / f"x{load(form).suffixes[0]}"
    for name, shape in [(name, shape) for own, name, shape in shapes() if own == form]:
        path.write_text(shape.text(500), "utf-8", newline="")
        found = [*load(form).read(open_source(str(path)))]
        rows = sum(frame.height for each in found for _, frame in each.corpus.tables())
        assert rows + sum(len(each.findings) for each in found) > len(found), name


@pytest.mark.parametrize("name", ["empty", "chains", "wrong relations", "stacked"])
def test_stacked_values_of_webanno_are_bounded_by_the_size_of_a_file(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.webanno.tsv"
    (shape,) = [shape for *own, shape in shapes() if own == ["webanno-tsv", name]]
    path.write_text(text := shape.text(60_000), "utf-8", newline="")
    (result,) = load("webanno-tsv").read(open_source(str(path)))
    most = text.count("1-1\t") * 4 + 1_000 + len(text) // 10
    assert sum(frame.height for _, frame in result.corpus.tables()) < most
    assert "UIM107" in {item.code for item in result.findings}
    assert sum(item.count for item in result.findings) < most


def test_stacked_values_of_webanno_are_read_while_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "x.webanno.tsv"
    begin = "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.B|value\n\n\n#Text=a\n1-1\t0-1\ta\t"
    for values in (1_000, 1_120, 1_150, 1_300):
        path.write_text(text := f"{begin}{'|' * values}\n")
        room = 1_000 + len(text.replace("\n", "")) // 10
        (result,) = load("webanno-tsv").read(open_source(str(path)))
        assert result.corpus.mentions.height == (values + 1 if values <= room else 1)
        assert [item.code for item in result.findings] == ["UIM107"] * (values > room)


def test_lines_that_are_no_documents_share_their_problems() -> None:
    content = file_content('{"text": "a"}\n' + "{\n" * 3_000 + "  {\n[\n")
    assert [*content.unreadable] == [*range(1, 3_003)]
    assert len({id(problems) for problems in content.unreadable.values()}) == 2
    assert content.extents[3_001] == (13 + 1 + 6_000 + 2, 13 + 1 + 6_000 + 3)


def test_an_array_has_one_number_for_the_place_of_each_item() -> None:
    layout = Layout(f"[{'{},' * 1_000}7]", 0)
    assert [layout.find((at,)) for at in (0, 999, 1_000, 1_001, -1, "0")] == [
        *(1, 2_998, 3_001), *(None, None, None),
    ]  # fmt: skip
    assert len(layout._parts[()]) == 1_001
    assert type(layout._parts[()]) is list


def test_the_elements_of_a_part_are_forgotten_before_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    def tables(documents: Documents, *arguments: Any) -> Any:
        left.append(len(documents.ordinals))
        return make(documents, *arguments)

    make = Documents.tables
    monkeypatch.setattr(Documents, "tables", tables)
    path = tmp_path / "x.bioc.json"
    path.write_text(Shape('[{"passages": [{"annotations": [', "{}", "]}]}]", ",").text(3_000))
    (result,) = load("bioc-json").read(open_source(str(path)))
    assert result.corpus.rejected_records.height == 1_000
    assert left == [0]


def test_errors_of_a_long_list_are_found_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = {f"{at}": [{"start": at}] for at in range(30)}
    ents = [{"end": at} for at in range(31)]
    document = {"text": 1, "ents": ents, "spans": spans, "tokens": [{}] * 3}
    lists = ["ents", "spans", "tokens"]
    whole = sorted(json_text.broken_keywords("spacy-json", document, lists=lists), key=str)
    for size in (1, 7, 30, 31, 100):
        monkeypatch.setattr(json_text, "_PIECE", size)
        broken = json_text.broken_keywords("spacy-json", document, lists=lists)
        assert sorted(broken, key=str) == whole
    assert len(whole) == 1 + 31 + 30 + 3
    assert json_text._piece(document, lists, 0)["spans"].keys() == {f"\0{at}" for at in range(30)}
    monkeypatch.setattr(json_text, "_PIECE", 7)
    part = json_text._piece(document, lists, 28)
    assert part["ents"] == ents[28:]
    assert part["spans"].keys() == {"\x0028", "\x0029"}


def test_rejected_documents_complete_a_part_of_bioc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hlteval.converters.bioc.bioc_json._REJECTED", 100)
    path = tmp_path / "x.bioc.json"
    path.write_text('{"id": "a", "passages": []}\n' + "{\n" * 250)
    results = [*load("bioc-json").read(open_source(str(path)))]
    rejected = [result.corpus.rejected_records["record"].to_list() for result in results]
    assert rejected[:3] == [[*range(3, 103)], [*range(103, 203)], [*range(203, 253)]]
    assert sum(result.corpus.documents.height for result in results) == 1
    assert sum(item.count for result in results for item in result.findings) == 250


def test_what_is_not_an_object_has_no_element_in_bioc() -> None:
    tree = Tree()
    passage = {"offset": 0, "annotations": [0, {"id": "T1"}, "x"]}
    ((document,),) = tree.read({"id": "a", "passages": [passage]})
    assert [node.tag for node in document.iter("annotation")] == ["annotation"]
    wrong = [path for node, path in tree.paths if node is None]
    assert wrong == [("passages", 0, "annotations", 0), ("passages", 0, "annotations", 2)]


def test_spans_with_another_text_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = pl.DataFrame({"row": [0], "text": ["in Osh, Naryn " * 100]})
    spans = {"document": [0] * 7, "start": [*range(7)], "end": [*range(60, 67)]}
    table = pl.DataFrame({**spans, "text": ["x"] * 7, "fragments": [None] * 7})
    quoted = pl.Series([False] * 6 + [True])
    whole = offsets.misfits(documents, table, quoted).rows
    assert whole["actual"].str.len_chars().to_list() == [40] * 6
    monkeypatch.setattr(offsets, "_SPANS", 2)
    assert offsets.misfits(documents, table, quoted).rows.equals(whole)
    assert offsets.misfits(documents, table.clear(), quoted.clear()).rows.height == 0


@pytest.mark.parametrize("form", ["cas-json", "cas-xmi", "webanno-tsv"])
def test_annotations_are_made_once_for_losses_and_files(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[Corpus]()
    make = Layers.__init__

    def init(layers: Layers, corpus: Corpus, *arguments: Any, **options: Any) -> None:
        made.append(corpus)
        make(layers, corpus, *arguments, **options)

    monkeypatch.setattr(Layers, "__init__", init)
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "in Osh"}])
    target = load(form)
    target.count_losses(corpus)
    assert target.write is not None
    target.write(iter([corpus]), tmp_path / "out")
    assert len(made) == 1


def test_a_sample_of_an_output_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = list[int]()
    shows_content = conversion._Run.shows_content

    def shows(run: conversion._Run, corpus: Corpus) -> bool:
        sizes.append(corpus.mentions.height)
        return shows_content(run, corpus)

    monkeypatch.setattr(conversion._Run, "shows_content", shows)
    path = tmp_path / "x.conll"
    path.write_text("-DOCSTART- O\n\n" + "a B-X\n" * 1_000)
    conversion.convert(str(path), str(tmp_path / "out"), to_format="gate-xml")
    assert sizes == [100, 100]  # of the sample, and as it is read again


def test_types_of_documents_that_are_alike_are_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[Any]()
    make = cas_xmi.written_types
    monkeypatch.setattr(cas_xmi, "written_types", lambda used: made.append(used) or make(used))
    place = {"origin": 0, "record": 1, "start": 0, "end": 2, "label": "X"}
    documents = [{"row": at, "name": f"d{at}", "text": "in Osh"} for at in range(30)]
    mentions = [
        {**place, "row": at, "document": at, "mention": f"T{at}", "entity": "E" if at % 2 else None}
        for at in range(20)
    ]
    corpus = Corpus(documents=documents, mentions=mentions)
    assert sum(name.endswith(".TypeSystem.xml") for name, _ in cas_xmi.as_files(corpus)) == 30
    assert len(made) == 3  # with and without entities, and without mentions


def test_the_files_of_an_output_are_listed_without_an_object_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(documents=[{"row": at, "name": f"d{at}", "text": "a"} for at in range(9)])
    load("jsonl").write([corpus], tmp_path / "in.jsonl")  # type: ignore[misc]
    monkeypatch.delattr(Path, "rglob")
    paths = str(tmp_path / "in.jsonl"), str(tmp_path / "out")
    for _ in range(2):  # the folder is new, and then there
        conversion.convert(*paths, to_format="rsd", force=True)
    assert len([*(tmp_path / "out").iterdir()]) == 9


def test_cells_of_a_header_are_found_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, spans = list[str](), instances_csv.cell_spans

    def recorded(line: str, separator: str, **settings: bool) -> Sequence[tuple[int, int]]:
        read.append(line)
        return spans(line, separator, **settings)

    monkeypatch.setattr(instances_csv, "cell_spans", recorded)
    path = tmp_path / "x.csv"
    path.write_text("document,kind," + ",".join(f"c{at}" for at in range(500)) + "\n")
    (result,) = load("instances-csv").read(open_source(str(path)))
    assert sum(item.count for item in result.findings) == 500
    assert len(read) == 2  # for the columns, and for their places


def test_texts_of_intervals_that_are_alike_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    parse = notation.parse

    def parsed(text: str, **options: bool) -> notation.Note:
        read.append(text)
        return parse(text, **options)

    monkeypatch.setattr(notation, "parse", parsed)
    path = tmp_path / "x.TextGrid"
    items = "".join(f'{at} {at + 1} "a | status={at % 2}" ' for at in range(500))
    head = '"ooTextFile" "TextGrid" 0 500 <exists> 1 "IntervalTier" "norm" 0 500 500 '
    path.write_text(head + items)
    (result,) = load("textgrid").read(open_source(str(path)))
    assert result.corpus.instances["status"].to_list() == ["0", "1"] * 250
    assert sorted(read) == ["a | status=0", "a | status=1"]


def test_mentions_are_not_numbered_where_no_relation_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(json_writing, "unique_mentions")
    corpus = Corpus(documents=[{"row": at, "name": f"d{at}", "text": "a"} for at in range(3)])
    assert [each.name for each in json_writing.documents(corpus, {})] == ["d0", "d1", "d2"]


def _documents(number: int) -> Corpus:
    return Corpus(documents=[{"row": at, "name": f"d{at}", "text": "a"} for at in range(number)])


@pytest.mark.parametrize("form", ["rsd", "brat", "cas-xmi"])
def test_no_folder_is_written_that_no_command_reads(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (source_files, conversion):
        monkeypatch.setattr(module, "LIMITS", Limits(files=8))
    load("jsonl").write([_documents(4)], tmp_path / "4.jsonl")  # type: ignore[misc]
    load("jsonl").write([_documents(9)], tmp_path / "9.jsonl")  # type: ignore[misc]
    conversion.convert(str(tmp_path / "4.jsonl"), str(tmp_path / "4"), to_format=form)
    with pytest.raises(conversion.NotConverted) as reason:
        conversion.convert(str(tmp_path / "9.jsonl"), str(tmp_path / "9"), to_format=form)
    assert [each.code for each in reason.value.findings] == ["CNV111"]
    assert f"{form} writes more than 8 files" in str(reason.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["4", "4.jsonl", "9.jsonl"]


def test_a_folder_is_not_written_if_the_documents_of_a_batch_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_files, "LIMITS", Limits(files=8))
    with pytest.raises(ValueError, match="more than 300,000 files"):
        load("rsd").write([_documents(9)], tmp_path / "out")  # type: ignore[misc]
    assert [*(tmp_path / "out").iterdir()] == []


def test_begins_of_documents_that_are_alike_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = list[Any](), cas_xmi.head_of
    monkeypatch.setattr(cas_xmi, "head_of", lambda used: made.append(used) or make(used))
    files = [[*pieces] for _, pieces in cas_xmi.as_files(_documents(30))]
    assert len(files) == 60
    assert len(made) == 1


def test_sizes_of_an_output_are_added_until_they_reach_that_of_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, sizes_below = list[str](), conversion.sizes_below

    def recorded(folder: Path) -> Iterator[tuple[str, int]]:
        for name, size in sizes_below(folder):
            seen.append(name)
            yield name, size

    monkeypatch.setattr(conversion, "sizes_below", recorded)
    tokens = "".join(f"-DOCSTART- O\n\na{at:04} B-X\n\n" for at in range(400))
    (tmp_path / "x.conll").write_text(tokens)
    paths = str(tmp_path / "x.conll"), str(tmp_path / "out")
    conversion.convert(*paths, to_format="webanno-tsv")
    assert len([*(tmp_path / "out").iterdir()]) == 400
    assert len(seen) == 200  # those of the sample twice


def test_labels_that_are_alike_are_one_object() -> None:
    place = {"document": 0, "origin": 0, "record": 1, "start": 0, "end": 1, "text": "a"}
    labels = ["PER"] * 50 + ["LOC"] * 50
    rows = [{**place, "row": at, "mention": "", "label": each} for at, each in enumerate(labels)]
    corpus = Corpus(documents=[{"row": 0, "name": "d", "text": "a"}], mentions=rows)
    items = corpus.cached(Layers).annotations[0]
    assert [item.values["value"] for item in items] == labels
    assert len({id(item.values["value"]) for item in items}) == 2


def test_nothing_is_written_of_documents_that_are_too_many_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "LIMITS", Limits(files=8))
    load("jsonl").write([_documents(9)], tmp_path / "9.jsonl")  # type: ignore[misc]
    with pytest.raises(conversion.NotConverted, match="writes more than 8 files"):
        conversion.convert(str(tmp_path / "9.jsonl"), str(tmp_path / "9"), to_format="rsd")


def test_texts_of_documents_without_spans_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(conversion, "are_at_place")
    load("jsonl").write([_documents(9)], tmp_path / "9.jsonl")  # type: ignore[misc]
    conversion.convert(str(tmp_path / "9.jsonl"), str(tmp_path / "9"), to_format="rsd")
    assert len([*(tmp_path / "9").iterdir()]) == 9
