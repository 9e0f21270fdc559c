"""Annotations in JSON by hand: what each format means, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlteval import read
from hlteval.converters import WrongSetting, load
from hlteval.converters.annotation_tools import prodigy
from hlteval.converters.toolkit import json_documents, json_writing
from hlteval.findings import FieldRef, Finding
from hlteval.representation import Corpus
from hlteval.sources import open_source
from tests.effort import tries

FIXTURES = Path(__file__).parents[3] / "fixtures"
Take = Callable[..., tuple[Corpus, list[Finding]]]


def read_with(path: Path, form: str, settings: dict[str, str]) -> tuple[Corpus, list[Finding]]:
    """The corpus and the findings of a file that is read with settings."""
    readings = list(load(form).with_settings(settings).read(open_source(str(path))))
    corpus = Corpus.concat(reading.corpus for reading in readings)
    return corpus, [finding for reading in readings for finding in reading.findings]


@pytest.fixture
def take(tmp_path: Path) -> Take:
    """Reads objects, a line each."""

    def take(form: str, *items: Any, **settings: str) -> tuple[Corpus, list[Finding]]:
        file = tmp_path / "x.json"
        file.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
        return read_with(file, form, settings)

    return take


def region(name: str, start: Any, end: Any, *labels: str, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": [*labels]}
    return {"id": name, "from_name": "label", "type": "labels", "value": value, **more}


def test_label_studio_says_that_there_are_predictions_alone(take: Take) -> None:
    task = {"id": 1, "data": {"text": "Ann"}, "annotations": []}
    task |= {"predictions": [{"result": [region("a", 0, 3, "PER")]}]}
    corpus, found = take("label-studio", task, {**task, "id": 2})
    assert [(item.code, item.message) for item in found] == [
        ("JAN107", "2 tasks with predictions alone (results=predictions reads these) are left out")
    ]
    assert corpus.mentions.height == 0
    corpus, found = take("label-studio", task, results="predictions")
    assert (corpus.mentions.height, found) == (1, [])


def test_label_studio_annotators_and_attributes() -> None:
    corpus, _ = read(str(FIXTURES / "label-studio/valid/rivers.label-studio.json"))
    rows = corpus.mentions.select("mention", "label", "start", "end", "annotator").rows()
    assert rows == [
        ("a", "City", 2, 5, "ann@example.org"),
        ("b", "River", 18, 26, "ann@example.org"),
        ("2:a", "City", 2, 5, "4"),
        ("c", "River", 18, 20, "4"),
        ("d", "Other", 20, 26, "4"),
    ]
    assert corpus.arguments.select("role", "target").rows() == [("Arg1", "a"), ("Arg2", "b")]
    assert corpus.frames["annotator"].to_list() == ["ann@example.org"]
    modifiers = corpus.modifiers.select("label", "target", "value").rows()
    assert modifiers == [("certainty", "a", "high")]
    labels = corpus.instances.select("kind", "label", "annotator").rows()
    assert labels == [("label", "geography", "ann@example.org")]


def test_nothing_is_before_a_text(take: Take) -> None:
    """Offsets that count from 1 begin at -1 where they are 0."""
    result = [region("a", 0, 3, "City"), region("b", 0, 2, "City")]
    result[0]["value"]["text"] = "Osh"
    task = {"data": {"text": "Osh"}, "annotations": [{"result": result}]}
    corpus, findings = take("label-studio", task, offsets="from-1-inclusive")
    assert [found.code for found in findings] == ["JAN203"]
    assert 'has "" at' in findings[0].message
    assert corpus.mentions.select("start", "end", "text").rows() == [(-1, 3, "Osh"), (-1, 2, "")]


def test_label_studio_writes_identifiers_without_the_numbers_that_its_reader_adds(
    tmp_path: Path,
) -> None:
    """A file has an identifier twice, which is reported; it comes back as it was."""
    path = FIXTURES / "label-studio/invalid/JAN302-same-id.label-studio.json"
    corpus, _ = read_with(path, "label-studio", {})
    assert corpus.mentions["mention"].to_list() == ["a", "1:a"]
    (task,) = rewrite(corpus, "label-studio", tmp_path / "x.json")
    assert [item["id"] for item in task["annotations"][0]["result"]] == ["a", "a"]


def test_label_studio_predictions() -> None:
    path = FIXTURES / "label-studio/valid/rivers.label-studio.json"
    corpus, findings = read_with(path, "label-studio", {"results": "predictions"})
    assert findings == []
    rows = corpus.mentions.select("mention", "confidence", "annotator").rows()
    assert rows == [("p", 0.25, "m1")]
    assert corpus.instances.is_empty()


def rewrite(corpus: Corpus, form: str, path: Path) -> Any:
    """The objects of a corpus as a format writes them."""
    write = load(form).write
    assert write is not None
    write([corpus], path)
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("more", [{}, {"annotations": [{"result": [region("a", 0, 3, "City")]}]}])
def test_label_studio_predictions_are_written_as_such(
    take: Take, tmp_path: Path, more: dict[str, Any]
) -> None:
    guess = region("p", 0, 2, "River", to_name="text", score=0.5)
    guess["value"]["text"] = "Os"
    predictions = [{"model_version": "m", "result": [guess]}]
    task = {"id": 1, "data": {"text": "Osh"}, "predictions": predictions, **more}
    corpus, findings = take("label-studio", task, results="predictions")
    assert findings == []
    assert corpus.mentions.select("mention", "annotator").rows() == [("p", "m")]
    (again,) = rewrite(corpus, "label-studio", tmp_path / "again")
    assert again == {**task, "annotations": more.get("annotations", [])}


def test_label_studio_exports_of_a_task_are_numbered_on(take: Take, tmp_path: Path) -> None:
    tasks = [
        {"id": 1, "data": {"text": "Osh"}, "annotations": [
            {"id": 20 + by, "completed_by": by, "result": [region("a", 0, 3, "City")]}]}
        for by in (7, 8)
    ]  # fmt: skip
    corpus, findings = take("label-studio", *tasks)
    assert findings == []
    rows = corpus.mentions.select("mention", "annotator").rows()
    assert rows == [("a", "7"), ("2:a", "8")]
    (again,) = rewrite(corpus, "label-studio", tmp_path / "again")
    by = [(each["id"], each["completed_by"]) for each in again["annotations"]]
    assert by == [(27, 7), (28, 8)]


def test_label_studio_minimal_has_no_predictions(take: Take) -> None:
    spans = [{"start": 0, "end": 3, "text": "Osh", "labels": ["City"]}]
    entry = {"id": 1, "text": "Osh", "label": spans, "annotator": 1}
    corpus, findings = take("label-studio", entry, results="predictions")
    assert [finding.code for finding in findings] == ["JAN107"]
    assert corpus.documents["text"].to_list() == ["Osh"]
    assert corpus.mentions.is_empty()


def test_label_studio_minimal(take: Take) -> None:
    spans = [{"start": 0, "end": 3, "text": "Osh", "labels": ["City"]}]
    entry = {"id": 1, "text": "Osh", "label": spans, "sentiment": "good", "annotator": 1}
    other = {**entry, "label": [], "sentiment": {"choices": ["good", "bad"]}, "annotator": 2}
    corpus, findings = take("label-studio", entry, other, label="sentiment")
    assert findings == []
    assert corpus.documents.height == 1
    assert corpus.mentions.select("label", "annotator").rows() == [("City", "1")]
    labels = corpus.instances.select("label", "annotator").rows()
    assert labels == [("good", "1"), ("good", "2"), ("bad", "2")]


def test_label_studio_several_labels_are_mentions(take: Take) -> None:
    task = {"id": 1, "data": {"text": "Osh"}, "annotations": [
        {"result": [region("a", 0, 3, "City", "Old"), region("b", 0, 3)]}]}  # fmt: skip
    corpus, findings = take("label-studio", task)
    assert findings == []
    rows = corpus.mentions.select("mention", "label").rows()
    assert rows == [("a", "City"), ("a/Old", "Old"), ("b", "")]


def test_label_studio_what_has_no_place_is_written_again(take: Take, tmp_path: Path) -> None:
    other = {"id": "z", "from_name": "note", "type": "textarea", "value": {"text": ["fine"]}}
    result = [region("a", 0, 3, "City", meta={"text": ["!"]}), other]
    task = {"id": 1, "data": {"text": "Osh"}, "annotations": [{"result": result}], "x": None}
    corpus, findings = take("label-studio", task)
    assert [finding.code for finding in findings] == ["JAN106"]
    write = load("label-studio").write
    assert write is not None
    write([corpus], tmp_path / "again")
    (again,) = json.loads((tmp_path / "again").read_text("utf-8"))
    assert again["x"] is None
    assert again["annotations"][0]["result"][0]["meta"] == {"text": ["!"]}
    assert again["annotations"][0]["result"][1] == other


@pytest.mark.parametrize(
    ("unit", "span"), [("characters", (2, 5)), ("utf-16", (3, 6)), ("bytes", (5, 8))]
)
@pytest.mark.parametrize("form", ["label-studio", "doccano", "prodigy", "spacy-json"])
def test_offsets_count_what_is_set(take: Take, form: str, unit: str, span: tuple[int, int]) -> None:
    start, end = span
    text, place = "\U0001f600 Osh", {"start": start, "end": end, "label": "City"}
    item = {
        "label-studio": {"data": {"text": text}, "annotations": [
            {"result": [region("a", start, end, "City")]}]},
        "doccano": {"text": text, "label": [[start, end, "City"]]},
        "prodigy": {"text": text, "spans": [place], "answer": "accept"},
        "spacy-json": {"text": text, "ents": [place]},
    }[form]  # fmt: skip
    corpus, findings = take(form, item, offsets=unit)
    assert findings == []
    assert corpus.mentions.select("start", "end", "text").rows() == [(2, 5, "Osh")]


def test_doccano_older_layouts(take: Take) -> None:
    older = {"id": 1, "text": "Osh", "labels": [[0, 3, "City"]], "meta": {}}
    oldest = {"start_offset": 0, "end_offset": 3, "label": 7, "user": 2}
    corpus, findings = take("doccano", older, {"id": 2, "text": "Osh", "annotations": [oldest]})
    assert findings == []
    rows = corpus.mentions.select("label", "annotator").rows()
    assert rows == [("City", None), ("7", "2")]


def test_doccano_category_without_a_list(take: Take, tmp_path: Path) -> None:
    corpus, findings = take("doccano", {"id": 1, "text": "Osh", "label": "City"})
    assert findings == []
    assert corpus.instances.select("kind", "label").rows() == [("label", "City")]
    assert corpus.attributes.is_empty()
    again = rewrite(corpus, "doccano", tmp_path / "again")
    assert again == {"id": 1, "text": "Osh", "label": ["City"]}


def test_doccano_texts_as_labels_are_refused(take: Take) -> None:
    label = ["a", "This is the translation of the whole text."]
    corpus, findings = take("doccano", {"id": 1, "text": "Osh", "label": label})
    assert corpus.instances["label"].to_list() == ["a"]
    assert [finding.code for finding in findings] == ["JAN106"]
    corpus, findings = take("doccano", {"id": 1, "text": "Osh", "label": label[1]})
    assert corpus.instances.is_empty()
    assert [finding.code for finding in findings] == ["JAN106"]


def test_prodigy_keeps_a_member_of_a_token_without_a_text(take: Take) -> None:
    """The token has five members, as many as one without further ones."""
    token = {"start": 0, "end": 3, "id": 0, "ws": False, "disabled": True}
    corpus, findings = take("prodigy", {"text": "Ann", "_input_hash": 1, "tokens": [token]})
    assert findings == []
    kept = corpus.attributes.filter(element="$.tokens").select("name", "value").rows()
    assert kept == [("disabled", "true")]


def test_prodigy_tokens_decide_where_no_span_is_named(take: Take) -> None:
    tokens = [{"text": w, "start": s, "end": s + len(w), "id": i, "ws": True}
              for i, (w, s) in enumerate((("Osh", 0), ("New", 4), ("York", 8)))]  # fmt: skip
    spans = [{"start": 0, "end": 3, "label": "City"}, {"start": 4, "end": 12, "label": "City"}]
    relations = [{"head": 0, "child": 2, "label": "near"}]
    item = {"text": "Osh New York", "tokens": tokens, "spans": spans, "relations": relations}
    corpus, findings = take("prodigy", item)
    assert findings == []
    assert corpus.arguments["target"].to_list() == ["T1", "T2"]
    assert corpus.tokens.select("start", "end", "text").rows()[2] == (8, 12, "York")


@given(
    st.lists(st.integers(0, 9), max_size=6),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6, unique=True),
)
@settings(max_examples=tries(30))
def test_prodigy_tokens_are_in_the_first_span(
    starts: list[int], spans: list[tuple[int, int]]
) -> None:
    places = {span: f"T{at}" for at, span in enumerate(spans)}
    expected = {
        at: next((name for (first, end), name in places.items() if first <= start < end), None)
        for at, start in enumerate(starts)
    }
    assert prodigy._spans_of_tokens(starts, places) == expected


def test_prodigy_answers_of_a_text_are_a_document(take: Take) -> None:
    item = {"text": "Osh", "_input_hash": 7, "answer": "accept"}
    city = [{"start": 0, "end": 3, "label": "City"}]
    corpus, findings = take(
        "prodigy",
        {**item, "spans": city, "_annotator_id": "a"},
        {**item, "spans": [], "_annotator_id": "b"},
        {**item, "spans": city, "_annotator_id": "c", "answer": "ignore"},
    )
    assert [finding.message for finding in findings] == ["1 ignore answer is left out"]
    assert corpus.documents["name"].to_list() == ["7"]
    assert corpus.mentions.select("mention", "annotator").rows() == [("T1", "a")]


def test_prodigy_relations_are_written_with_tokens(take: Take, tmp_path: Path) -> None:
    item = {"id": 1, "text": "Osh, Ak-Buura", "entities": [
        {"id": 1, "label": "City", "start_offset": 0, "end_offset": 3},
        {"id": 2, "label": "River", "start_offset": 5, "end_offset": 13}],
        "relations": [{"id": 3, "from_id": 1, "to_id": 2, "type": "on"}]}  # fmt: skip
    corpus, _ = take("doccano", item)
    write = load("prodigy").write
    assert write is not None
    write([corpus], tmp_path / "again")
    written = json.loads((tmp_path / "again").read_text("utf-8"))
    assert [token["text"] for token in written["tokens"]] == ["Osh", ",", "Ak", "-", "Buura"]
    (relation,) = written["relations"]
    assert (relation["head"], relation["child"], relation["label"]) == (0, 4, "on")
    assert relation["child_span"]["token_start"] == 2


def test_spacy_scores_and_groups(take: Take) -> None:
    spans = {"sc": [{"start": 0, "end": 3, "label": "A"}], "x": [{"start": 0, "end": 1}]}
    item = {"text": "Osh", "ents": [], "spans": spans, "cats": {"a": 0.5, "b": 0.4}}
    corpus, _ = take("spacy-json", item)
    assert corpus.mentions["label"].to_list() == ["A"]
    assert corpus.instances.select("label", "llr").rows() == [("a", 0.5)]
    corpus, _ = take("spacy-json", item, spans="x", threshold="0.3")
    assert corpus.mentions["end"].to_list() == [1]
    assert corpus.instances["label"].to_list() == ["a", "b"]
    for threshold in ("half", "", "nan", "inf"):
        with pytest.raises(WrongSetting, match="threshold"):
            take("spacy-json", item, threshold=threshold)


def test_spacy_words_that_are_not_in_the_text(take: Take) -> None:
    words = [{"orth": "Osh", "ner": "U-City"}, {"orth": "was", "ner": "O"}]
    item = {"id": 0, "paragraphs": [{"raw": "Osh is", "sentences": [{"tokens": words}]}]}
    _, findings = take("spacy-json", item)
    assert [finding.code for finding in findings] == ["JAN203"]
    assert findings[0].message == 'text is "was", but the document has " is" at these offsets'


def test_spacy_training_files() -> None:
    corpus, findings = read(str(FIXTURES / "spacy-json/valid/training.spacy.json"))
    assert findings == []
    assert corpus.documents["name"].to_list() == ["0-1", "0-2"]
    rows = corpus.mentions.select("document", "label", "text").rows()
    assert rows == [
        (0, "City", "Osh"),
        (0, "River", "Ak Buura"),
        (1, "City", "Uzgen"),
        (1, "City", "Osh"),
    ]
    assert corpus.documents["text"].to_list()[1] == "Uzgen Osh"


@pytest.mark.parametrize("form", ["label-studio", "doccano", "prodigy", "spacy-json"])
def test_records_are_found_again(form: str) -> None:
    for path in sorted(FIXTURES.glob(f"{form}/valid/*")):
        corpus, _ = read(str(path), form)
        member = open_source(str(path)).members[0]
        places = [FieldRef(record) for record in corpus.mentions["record"]]
        lines = path.read_text("utf-8").split("\n")
        for found in load(form).locate(member, places):
            assert found is not None
            assert lines[found.span.line - 1][found.span.column - 1] in "{["


@pytest.mark.parametrize(
    ("form", "item"),
    [
        (
            "prodigy",
            {"text": "a", "relations": [{"head": 0, "child": 0, "head_span": {"end": []}}]},
        ),
        ("spacy-json", {"paragraphs": [{"sentences": [{"tokens": 1}]}]}),
        ("spacy-json", {"paragraphs": [{"sentences": 1}, 1]}),
        ("label-studio", {"data": {"text": 1, "": {"a": 1}}}),
        ("label-studio", {"text": "a", "label": [{"start": 0, "end": 1, "labels": [1]}]}),
    ],
)
def test_members_of_other_types_are_findings(take: Take, form: str, item: Any) -> None:
    corpus, findings = take(form, item)
    assert findings != []
    assert corpus.mentions.is_empty()


def test_regions_under_an_empty_name_are_no_labels(tmp_path: Path) -> None:
    """The empty name is a member of the region, but no kind of labels."""
    path = tmp_path / "x.label-studio.json"
    path.write_text('[{"id": 1, "text": "a", "x": [{"": 2, "start": 0, "end": 1}]}]')
    results = list(load("label-studio").read(open_source(str(path))))
    assert [item.code for each in results for item in each.findings] == ["JAN106"]


def test_label_studio_results_of_unknown_types_have_no_values(take: Take) -> None:
    """The empty name is no value of a type that is not known."""
    other = {"id": "a", "from_name": "x", "type": "box", "value": {"": "y"}}
    task = {"id": 1, "data": {"text": "Osh"}, "annotations": [
        {"result": [region("a", 0, 3, "City"), other]}]}  # fmt: skip
    corpus, findings = take("label-studio", task)
    assert corpus.modifiers.is_empty()
    assert [finding.code for finding in findings] == ["JAN106"]


@pytest.mark.parametrize("form", ["label-studio", "prodigy", "doccano", "spacy-json"])
def test_documents_are_written_part_by_part(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = next((FIXTURES / form / "valid").iterdir())
    corpus, _ = read_with(path, form, {})
    for name, rows in (("whole", 1000), ("parts", 1)):
        monkeypatch.setattr(json_writing, "_ROWS", rows)
        load(form).write([corpus], tmp_path / name)  # type: ignore[misc]
        assert not sum(load(form).losses(corpus).values())
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_of_many_problems_of_a_document_the_first_are_explained(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_documents, "_WAITING", 4)
    spans = [{"start": 9, "end": 9 + at, "label": "x"} for at in range(1, 1011)]
    found = take("prodigy", {"text": "Osh", "spans": spans}, {"text": "Uzgen", "spans": spans})[1]
    assert [item.code for item in found] == ["JAN201"] * 1001
    assert [item.count for item in found] == [1] * 1000 + [1020]
    columns = [item.span.column for item in found[:1000] if item.span]
    assert columns == sorted(columns)
    assert found[-1].further is not None
    assert found[-1].further.places[:11:10] == ("$[0].spans[1000]", "$[1].spans[0]")


@pytest.mark.parametrize("form", ["doccano", "label-studio", "prodigy", "spacy-json"])
def test_an_empty_object_is_no_document(form: str, tmp_path: Path) -> None:
    """Of a million bytes of them, each was a document without a text, which took 8 s."""
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"text": "Ann"}\n{}\n' if form != "label-studio" else '{"data": {"text": "Ann"}}\n{}\n'
    )
    (read,) = load(form).read(open_source(str(path)))
    assert read.corpus.documents["text"].to_list() == ["Ann"]
    assert read.corpus.rejected_records["text"].to_list() == ["{}"]
    (only,) = [found for found in read.findings if found.code == "JAN104"]
    assert only.message == "$[1] cannot be an empty object"
    assert (only.position, only.help) == (":2:1", "use an object with members")
