"""PubAnnotation: what the reader takes, what it refuses, and how documents are laid out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hlteval import convert, read
from hlteval.converters.pubannotation import pubannotation
from hlteval.converters.toolkit import json_documents
from hlteval.converters.toolkit.json_documents import file_content
from hlteval.findings import FieldRef, Finding, Span
from hlteval.representation import Corpus
from hlteval.sources import open_source

FIXTURES = Path(__file__).parents[3] / "fixtures"
VALID = FIXTURES / "pubannotation/valid/water.pubannotation.json"
PLAIN = {
    "sourceid": "1",
    "text": "IRF-4 binds PU.1.",
    "denotations": [
        {"id": "T1", "span": {"begin": 0, "end": 5}, "obj": "Protein"},
        {"id": "T2", "span": {"begin": 12, "end": 16}, "obj": "Protein"},
    ],
}
Taken = Callable[[Any], tuple[Corpus, list[Finding]]]


@pytest.fixture
def taken(tmp_path: Path) -> Taken:
    """Reads what stands in a file: text as it is, other values as JSON."""

    def take(content: Any) -> tuple[Corpus, list[Finding]]:
        file = tmp_path / "PMC-7.json"
        text = content if isinstance(content, str) else json.dumps(content)
        file.write_text(text, "utf-8", newline="")
        return read(str(file), "pubannotation")

    return take


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        ("[" * 100_000, ["JSN111", "JSN115"]),
        ('{"a":' * 100_000, ["JSN111"]),
        ('{"text": "IRF-4', ["JSN116"]),
        ('{"sourceid": "1", "text": "a", "denotations": [', ["JSN115"]),
        ('{"text": "a", "text": "b"}', ["JSN109"]),
        ('{"text": "a", "x": NaN}', ["JSN108"]),
        ('{"text": "\\ud83d"}', ["JSN110"]),
        ("nothing", ["JSN101"]),
        ("7", ["PUB104"]),
        ("[]", ["PUB101"]),
        ("[[]]", ["PUB104"]),
        (" \n", ["PUB101"]),
    ],
)
def test_what_is_no_document_is_told_once(taken: Taken, content: str, codes: list[str]) -> None:
    corpus, findings = taken(content)
    assert [finding.code for finding in findings] == codes
    assert corpus.documents.is_empty()


def test_a_document_at_fault_does_not_hide_the_others(taken: Taken) -> None:
    other = json.dumps({**PLAIN, "sourceid": "2"})
    for text in (
        f"[{json.dumps(PLAIN)}, {{'a': 1}}, {other}]",
        f"{json.dumps(PLAIN)}\n{{a\n{other}",
    ):
        corpus, findings = taken(text)
        assert [finding.code[:4] for finding in findings] == ["JSN1"]
        assert corpus.documents["name"].to_list() == ["1", "2"]
        assert corpus.rejected_records.height == 1


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PLAIN),
        json.dumps(PLAIN, indent=2),
        json.dumps([PLAIN]),
        json.dumps([PLAIN], indent=1),
        "\n" + json.dumps(PLAIN) + "\n\n",
    ],
)
def test_a_document_is_read_alike_in_any_layout(taken: Taken, text: str) -> None:
    corpus, findings = taken(text)
    assert findings == []
    assert corpus.documents.select("name", "text").rows() == [("1", "IRF-4 binds PU.1.")]
    assert corpus.mentions["text"].to_list() == ["IRF-4", "PU.1"]
    assert corpus.mentions["record"].to_list() == [2, 3]


@pytest.mark.parametrize("member", ["sourceid", "sourcedb", "divid", "lang", "text", "tracks"])
@pytest.mark.parametrize("value", [[1], {"a": 1}, True, 1.5])
def test_a_value_of_a_wrong_kind_is_told(taken: Taken, member: str, value: Any) -> None:
    corpus, findings = taken({**PLAIN, member: value})
    assert {finding.code for finding in findings} == {"PUB104"}
    assert corpus.mentions.height == 2


def test_lines_of_json_are_documents(taken: Taken) -> None:
    listed = [{**PLAIN, "sourceid": str(number)} for number in range(3)]
    corpus, findings = taken("\n".join(map(json.dumps, listed)))
    assert findings == []
    assert corpus.documents["name"].to_list() == ["0", "1", "2"]
    assert corpus.mentions["record"].to_list() == [2, 3, 5, 6, 8, 9]


def test_a_comment_ends_with_the_line_of_its_document(taken: Taken) -> None:
    first, last = (json.dumps({**PLAIN, "sourceid": name}) for name in "ab")
    corpus, findings = taken(f"{first}\n{first} /*\n{last} /* */ */")
    assert [(finding.code, finding.span and finding.span.line) for finding in findings] == [
        ("JSN107", 2),
        ("JSN107", 3),
    ]
    assert corpus.documents["name"].to_list() == ["a"]


def test_large_files_are_read_in_batches(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [{**PLAIN, "sourceid": str(number % 4), "tracks": 1} for number in range(7)]
    whole, findings = taken(listed)
    assert {finding.code for finding in findings} == {"PUB104", "PUB106"}
    monkeypatch.setattr(json_documents, "_CHARACTERS", 1)
    split, again = taken(listed)
    assert again == findings
    for name, frame in whole.tables():
        if name != "sources":
            one, other = (
                table.drop("origin", strict=False) for table in (frame, getattr(split, name))
            )
            assert one.equals(other), name


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({}, "PMC-7"),
        ({"sourceid": "9"}, "9"),
        ({"sourcedb": "PMC", "sourceid": "9"}, "PMC-9"),
        ({"sourcedb": "PMC", "sourceid": 9, "divid": 0}, "PMC-9-0"),
        ({"sourcedb": "PMC", "sourceid": "9", "divid": None}, "PMC-9"),
        ({"sourcedb": "PMC"}, "PMC-7"),
    ],
)
def test_a_document_is_called_by_its_source(taken: Taken, said: dict[str, Any], name: str) -> None:
    corpus, findings = taken({**said, "text": "a"})
    assert findings == []
    assert corpus.documents["name"].to_list() == [name]


def test_what_an_attribute_says_comes_back_as_it_was(taken: Taken, tmp_path: Path) -> None:
    values = [True, False, None, "", "yes", "0.5", 0.5, 1, 10**20, [1, {"a": None}]]
    listed = [
        {"id": f"A{number}", "subj": "T1", "pred": "p", "obj": value}
        for number, value in enumerate(values)
    ]
    corpus, findings = taken({**PLAIN, "attributes": listed})
    assert findings == []
    told = corpus.modifiers["value"].to_list()
    assert told[:6] == [None, "false", None, "", "yes", "0.5"]
    pubannotation.write([corpus], tmp_path / "again.json")
    (again,) = json.loads((tmp_path / "again.json").read_text("utf-8"))
    assert [item["obj"] for item in again["attributes"]] == [True, False, True, *values[3:]]


@pytest.mark.parametrize("value", [10**400, True, "0.5", [0.5]])
def test_a_confidence_that_is_no_number_stays_an_attribute(taken: Taken, value: Any) -> None:
    attribute = {"subj": "T1", "pred": "sure", "obj": value, "column": "confidence"}
    corpus, findings = taken({**PLAIN, "attributes": [attribute]})
    assert findings == []
    assert corpus.mentions["confidence"].to_list() == [None, None]
    assert corpus.modifiers["label"].to_list() == ["sure"]


def test_older_modifications_are_attributes(taken: Taken) -> None:
    listed = [{"id": "M1", "pred": "Negation", "obj": "T1"}]
    corpus, findings = taken({**PLAIN, "modifications": listed})
    assert findings == []
    assert corpus.modifiers.select("modifier", "label", "target", "value").rows() == [
        ("M1", "Negation", "T1", None)
    ]


def test_identifiers_of_tracks_do_not_meet(taken: Taken) -> None:
    relation = {"subj": "T1", "pred": "binds", "obj": "T2"}
    track = {"denotations": PLAIN["denotations"], "relations": [relation]}
    tracks = [{"project": "a", **track}, {}, {"project": "b", **track}]
    corpus, findings = taken({"text": PLAIN["text"], "tracks": tracks})
    assert findings == []
    assert corpus.mentions["mention"].to_list() == ["1:T1", "1:T2", "3:T1", "3:T2"]
    assert corpus.arguments["target"].to_list() == ["1:T1", "1:T2", "3:T1", "3:T2"]


@pytest.mark.parametrize("layout", ["array", "lines", "files"])
def test_every_layout_reads_as_the_same(layout: str, tmp_path: Path) -> None:
    before, _ = read(str(VALID))
    output = tmp_path / ("folder" if layout == "files" else "file.json")
    said = {"layout": layout}
    findings = convert(str(VALID), str(output), to_format="pubannotation", settings=said)
    # the layout of a single file is another one, as the setting wants
    assert [item.code for item in findings] == ["CNV102"] * (layout == "lines")
    after, findings = read(str(output), "pubannotation")
    assert findings == []
    for name, frame in before.tables():
        if name != "sources":
            assert frame.equals(getattr(after, name)), name


def test_an_event_is_shown_where_its_trigger_or_its_arguments_are(tmp_path: Path) -> None:
    place = {"document": 0, "origin": 0, "record": 1}
    spans = {"T1": (0, 5), "T2": (12, 16), "T3": (6, 11)}
    named = [
        {"row": row, **place, "mention": name, "label": "x", "start": a, "end": b}
        for row, (name, (a, b)) in enumerate(spans.items())
    ]
    triggers = [("E1", "T3", ["T1"]), ("E2", None, ["T1", "T2"]), ("E3", None, ["E1"])]
    frames, arguments = [], []
    for row, (name, trigger, targets) in enumerate(triggers):
        own = {"frame": name, "kind": "event", "label": "Bind", "trigger": trigger}
        frames.append({"row": row, **place, **own})
        for position, target in enumerate(targets, start=1):
            own = {"frame_row": row, "position": position, "role": "r", "target": target}
            arguments.append({"row": len(arguments), **place, **own})
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    corpus = Corpus(
        sources=[source],
        documents=[{"row": 0, "name": "d", "text": PLAIN["text"], "origin": 0}],
        mentions=named,
        frames=frames,
        arguments=arguments,
    )
    pubannotation.write([corpus], tmp_path / "x.json")
    (written,) = json.loads((tmp_path / "x.json").read_text("utf-8"))
    shown = {item["id"]: item["span"] for item in written["denotations"]}
    assert shown["E1"] == {"begin": 6, "end": 11}
    assert shown["E2"] == {"begin": 0, "end": 16}
    assert shown["E3"] == {"begin": 0, "end": 17}
    again, findings = read(str(tmp_path / "x.json"))
    assert findings == []
    assert again.frames.select("frame", "trigger").rows() == [item[:2] for item in triggers]


def test_records_are_found_again() -> None:
    member = open_source(str(VALID)).members[0]
    corpus, _ = read(str(VALID))
    records = corpus.mentions["record"].to_list()
    places = [FieldRef(item, "obj") for item in [*records, 9999]]
    located = pubannotation.locate(member, places)
    assert located.pop() is None
    lines = VALID.read_text("utf-8").split("\n")
    spans = [item.span for item in located if item]
    shown = [lines[s.line - 1][s.column - 1 : s.end_column - 1] for s in spans]
    assert [json.loads(item) for item in shown] == corpus.mentions["label"].to_list()


@pytest.mark.parametrize("path", [VALID, *sorted(FIXTURES.glob("pubannotation/invalid/*"))])
def test_the_slow_path_reads_what_the_quick_one_does(path: Path) -> None:
    text = path.read_text("utf-8") or "[]"
    quick = file_content(text)
    slow = file_content(f"// a comment\n{text}")
    assert slow.values == quick.values
    assert [fault.code for fault in slow.problems] == ["JSN103"]
    begins = [at - len("// a comment\n") for at, _ in slow.extents]
    assert begins == [at for at, _ in quick.extents]


@pytest.mark.parametrize("value", ['"\\ud800"', '{"\\udfff": 1}', "NaN"])
def test_an_attribute_that_is_not_unicode_or_not_json_is_listed(tmp_path: Path, value: str) -> None:
    corpus = Corpus(
        sources=[{"row": 0, "path": "d.json", "member": "d.json", "format": "x", "sha256": ""}],
        documents=[{"row": 0, "origin": 0, "name": "d", "text": "a"}],
        attributes=[
            {"row": 0, "document": 0, "origin": 0, "record": 0, "element": "$"}
            | {"name": "note", "value": value}
        ],
    )
    findings = convert(corpus, tmp_path / "d.json", to_format="pubannotation")
    assert [finding.code for finding in findings] == ["CNV103"]


def test_a_document_that_cannot_be_read_is_kept_as_written_and_not_with_those_after_it(
    taken: Taken,
):
    corpus, _ = taken('[0, "a\\n",\n {"text": "x"}, [1,\n2], null]')
    rejected = corpus.rejected_records
    assert rejected["text"].to_list() == ["0", r'"a\n"', "[1,", "null"]
    spans = rejected.select("column", "end_column").rows()
    assert spans == [(2, 3), (5, 10), (17, 20), (5, 9)]


def test_documents_without_text_are_a_larger_batch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(json_documents, "_CHARACTERS", 2)
    monkeypatch.setattr(json_documents, "_MOST", 3)

    def batches(*values: Any) -> list[int]:
        (tmp_path / "d.json").write_text(json.dumps(values), "utf-8")
        results = pubannotation.read(open_source(str(tmp_path / "d.json")))
        return [result.corpus.documents.height for result in results]

    assert batches(*[{"text": "a"}] * 5) == [2, 2, 1]
    assert batches(*[{"denotations": []}] * 5) == [3, 2]
    assert batches(*[0] * 4, {"denotations": []}) == [0, 1]


def test_a_value_after_a_damaged_document_is_reported_at_its_first_character(taken: Taken) -> None:
    _, findings = taken('{"text": "x"}, "obj": 1}')
    spans = [found.span for found in findings if found.code == "PUB104"]
    assert spans[0] == Span(1, 16, 17)
