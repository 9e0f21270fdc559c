"""DocBin files by hand: what they say, where they are at fault, and what is written."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import msgpack

from hlteval.converters import WrongSetting, load
from hlteval.converters.annotation_tools import docbin_reading
from hlteval.converters.annotation_tools.docbin_reading import SPAN, most_bytes, unpack
from hlteval.converters.annotation_tools.spacy_strings import hashes, numbers, symbols
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, open_source
from hlteval.workflows.convert.inputs import detect_format

FIXTURES = Path(__file__).parents[3] / "fixtures/spacy-docbin"
VALID = FIXTURES / "valid/rivers.spacy"
FORM = load("spacy-docbin")
# What each file of fixtures/spacy-docbin/invalid/ raises, and where: row of documents, path.
TABLE = """
DCB101-truncated  -  -                   E!
DCB102-no-label   0  $[0].tokens[0].label  E
DCB102-no-word    0  $[0].tokens[2].ORTH E
JAN101-empty      -  $                   E!
JAN104-score      0  $[0].cats.pos       E
JAN104-tag        0  $[0].tokens[1].ENT_IOB  E
JAN105-same-id    1  $[1]                E
JAN106-bytes      0  $[0].user_data      W
JAN108-group      0  $[0]                W spans=SC
"""
CASES = [line.split() for line in TABLE.strip().splitlines()]


def read(data: bytes | Path, **settings: str) -> tuple[Corpus, list[Finding]]:
    """The corpus and the findings of a file."""
    content = data.read_bytes() if isinstance(data, Path) else data
    source = Source("x.spacy", "file", (Member("", "x.spacy", len(content), lambda: content),))
    readings = list(FORM.with_settings(settings).read(source))
    corpus = Corpus.concat(reading.corpus for reading in readings)
    return corpus, [found for reading in readings for found in reading.findings]


def written(corpus: Corpus, folder: Path) -> bytes:
    assert FORM.write is not None
    FORM.write([corpus], folder / "x.spacy")
    return (folder / "x.spacy").read_bytes()


def changed(change: Callable[[dict[str, Any]], object], path: Path = VALID) -> bytes:
    """A file whose content is changed."""
    content = msgpack.decode(unpack(path.read_bytes()))
    change(content)
    return zlib.compress(msgpack.encode(content))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_a_file_raises_its_code_and_nothing_else(case: list[str]) -> None:
    name, row, path, level, *settings = case
    own = dict(setting.split("=") for setting in settings)
    _, (only,) = read(FIXTURES / f"invalid/{name}.spacy", **own)
    assert only.code == name[:6]
    assert only.severity.value[0].upper() + "!" * only.blocking == level
    place = ["-" if part is None else str(part) for part in (only.row, only.record)]
    assert (place, only.table) == ([row, path], None if row == "-" else "documents")
    assert (only.file, only.span) == ("x.spacy", None)


def test_every_file_is_tried() -> None:
    assert {f"{case[0]}.spacy" for case in CASES} == {
        path.name for path in (FIXTURES / "invalid").iterdir()
    }


def test_documents_say_what_spacy_wrote() -> None:
    corpus, findings = read(VALID)
    assert findings == []
    assert corpus.documents.select("name", "text").rows() == [
        ("osh", "Osh lies on the Ak-Buura \U0001f600. It is old."),
        ("met", "Ann Lee met Bob Ray\n"),
        ("empty", ""),
        ("new", "Not annotated"),
    ]
    columns = ("document", "mention", "label", "start", "end", "text", "entity")
    assert corpus.mentions.select(columns).rows() == [
        (0, "T1", "City", 0, 3, "Osh", "Q486720"),
        (0, "T2", "River", 16, 24, "Ak-Buura", None),
        (0, "T3", "Phrase", 12, 24, "the Ak-Buura", None),
        (0, "n1", "Name", 16, 24, "Ak-Buura", None),
        (0, "T5", "Sign", 25, 27, "\U0001f600.", None),
        (1, "T1", "PERSON", 0, 7, "Ann Lee", None),
        (1, "T2", "PERSON", 12, 19, "Bob Ray", None),
    ]
    assert corpus.segments.select("start", "end").rows() == [(0, 27), (28, 38)]
    tokens = corpus.tokens.select("document", "segment_row", "text", "pos", "morph").rows()
    assert len(tokens) == 19
    assert tokens[1] == (0, 0, "lies", "VERB", "Number=Sing|Person=3")
    assert tokens[10:12] == [(0, 1, ".", "PUNCT", None), (1, None, "Ann", None, None)]
    assert corpus.instances.select("label", "llr").rows() == [("geography", 0.9)]


def test_all_else_is_kept() -> None:
    corpus, _ = read(VALID)
    kept = corpus.attributes.select("document", "record", "element", "name", "value")
    assert [row[2:] for row in kept.rows() if row[2] not in {"$.tokens", "$.ents"}] == [
        ("$.user_data", "source", '{"page": 3}'),
        ("$.user_data", '["._.", "checked", null, null]', "true"),
        ("$.spans", "others", '[{"start": 0, "end": 8, "label": "x", "kb_id": ""}]'),
        ("$.cats", "sport", "0.1"),
        ("$.flags", "missing_ents", "[[0, 13]]"),
    ]
    record = corpus.tokens["record"][1]
    second = [row[3:] for row in kept.rows() if row[1] == record and row[2] == "$.tokens"]
    assert second == [("tag", '"VBZ"'), ("lemma", '"lie"'), ("dep", '"ROOT"'), ("head", "1")]


def test_settings_choose_a_group_and_scores() -> None:
    corpus, findings = read(VALID, spans="others", threshold="0.05")
    assert findings == []
    assert corpus.mentions["label"].to_list() == ["City", "River", "x", "PERSON", "PERSON"]
    assert corpus.instances["label"].to_list() == ["geography", "sport"]
    with pytest.raises(WrongSetting):
        read(VALID, threshold="high")


def test_written_again_it_is_the_same(tmp_path: Path) -> None:
    corpus, _ = read(VALID)
    assert FORM.losses(corpus) == {}
    once = written(corpus, tmp_path)
    assert written(read(once)[0], tmp_path) == once
    first, again = (msgpack.decode(unpack(data)) for data in (VALID.read_bytes(), once))
    for name in ("attrs", "spaces", "lengths", "cats", "flags"):
        assert first[name] == again[name], name
    norm, mine = first["attrs"].index(67), np.frombuffer(again["tokens"], "<u8").reshape(19, 13)
    theirs = np.frombuffer(first["tokens"], "<u8").reshape(19, 13).copy()
    theirs[:, norm] = 0  # norms that are words in small letters
    theirs[theirs == symbols()["_"]] = 0
    start = first["attrs"].index(symbols()["SENT_START"])
    theirs[11:, start] = 0  # spaCy has the first token of any document begin a sentence
    assert theirs.tolist() == mine.tolist()


def corpus_of(text: str, *spans: tuple[int, int], tokens: Any = ()) -> Corpus:
    """A document with mentions and tokens."""
    place = {"document": 0, "origin": 0}
    mentions = [
        {"row": at, **place, "record": at + 1, "mention": f"T{at + 1}", "label": "A", "start": a,
         "end": b}
        for at, (a, b) in enumerate(spans)
    ]  # fmt: skip
    words = [
        {"row": at, **place, "record": at + 9, "start": a, "end": b, "text": text[a:b]}
        for at, (a, b) in enumerate(tokens)
    ]
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    document = {"row": 0, "origin": 0, "name": "d1", "text": text}
    tables = {"documents": [document], "mentions": mentions, "tokens": words}
    return Corpus(sources=[source], **tables)


@pytest.mark.parametrize(
    ("text", "spans", "tokens", "words"),
    [
        ("Ann's  dog.\n", [], [], ["Ann", "'", "s_", " ", "dog", ".", "\n"]),
        (" a  b ", [(3, 5)], [], [" ", "a_", " ", "b_"]),
        ("new york", [(0, 2), (4, 8)], [], ["ne", "w_", "york"]),
        ("ab c", [(0, 3)], [], ["ab", " ", "c"]),
        ("abc d", [(1, 5)], [(0, 3), (4, 5)], ["a", "bc_", "d"]),
        ("a bc", [], [(0, 1)], ["a_", "bc"]),
        ("na\u0308h \U0001f600\U0001f600", [], [], ["na\u0308h_", "\U0001f600", "\U0001f600"]),
        ("", [], [], []),
    ],
)
def test_words_cover_the_text(
    text: str, spans: Any, tokens: Any, words: list[str], tmp_path: Path
) -> None:
    data = written(corpus_of(text, *spans, tokens=tokens), tmp_path)
    again, findings = read(data)
    assert findings == []
    assert again.documents["text"].to_list() == [text]
    assert again.mentions.select("start", "end").rows() == spans
    spaces = msgpack.decode(unpack(data))["spaces"]
    found = zip(again.tokens["text"], spaces, strict=True)
    assert [word + "_" * space for word, space in found] == words


def test_what_is_lost_is_counted() -> None:
    corpus = corpus_of("abc d", (1, 5), (2, 2), (3, 9), tokens=[(0, 3), (4, 5)])
    assert FORM.losses(corpus) == {
        "spans without characters of the text": 2,
        "tokens that mentions cut, or that are not of the text": 1,
    }
    tokens = corpus.tokens.to_dicts()
    tokens[1] |= {"pos": "word", "morph": "B=1|A=2"}
    attribute = {"row": 0, "document": 0, "origin": 0, "record": 10, "element": "$.tokens"}
    attributes = [{**attribute, "name": "tail", "value": "1"}]
    other = {**attribute, "row": 1, "element": "$", "name": "x", "value": "1"}
    corpus = corpus_of("abc d").replace(tokens=tokens, attributes=[*attributes, other])
    assert FORM.losses(corpus) == {
        "attributes of other formats": 1,
        "further members of tokens": 1,
        "parts of speech that are not universal": 1,
        "morphologies that are not as spaCy has them": 1,
    }


def test_sentences_with_gaps_are_counted(tmp_path: Path) -> None:
    segment = {"document": 0, "origin": 0, "start": 0, "end": 1, "text": "a"}
    both = [
        {"row": 0, "record": 20, **segment},
        {"row": 1, "record": 21, **segment, "start": 4, "end": 5, "text": "c"},
    ]
    corpus = corpus_of("a b c").replace(segments=both)
    assert FORM.losses(corpus) == {"sentences with gaps between them": 1}
    again, _ = read(written(corpus, tmp_path))
    assert again.segments["text"].to_list() == ["a b", "c"]


def tamper(**members: Any) -> Callable[[dict[str, Any]], object]:
    return lambda content: content.update(members)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda content: content.pop("tokens"), "missing required field `tokens`"),
        (tamper(attrs=[]), "are not 19 tokens of 0"),
        (tamper(attrs=[65] * 101), "are not 19 tokens of 101"),
        (tamper(tokens=b"\0" * 7), "7 bytes are not 19 tokens of 13"),
        (tamper(tokens=[1]), "Expected `bytes`, got `array`"),
        (tamper(lengths=b"\0" * 3), "buffer size"),
        (tamper(lengths=np.array([20, -1, 0, 0], "<i4").tobytes()), "spaces are not those"),
        (tamper(lengths=np.array([2**31 - 1] * 4, "<i4").tobytes()), "8,589,934,588 tokens"),
        (tamper(spaces=b"\1"), "1 spaces are not those of 19 tokens"),
        (tamper(cats=[{}]), "1 cats or flags for 4 documents"),
        (tamper(cats={}), "are lists"),
        (tamper(strings=[1]), "Expected `str`, got `int`"),
        (tamper(strings=["x" * 1_000_001]), "more than 1,000,000 characters"),
        (tamper(strings=[""] * 600_000), "bytes hold 19 tokens"),
    ],
)
def test_damage_is_one_finding(change: Any, reason: str) -> None:
    corpus, (only,) = read(changed(change))
    assert (only.code, corpus.documents.height) == ("DCB101", 0)
    assert reason in only.message


@pytest.mark.parametrize("data", [b"", b"x", zlib.compress(b"\x93"), zlib.compress(b"\x91" * 5000)])
def test_other_files_are_one_finding(data: bytes) -> None:
    _, (only,) = read(data)
    assert only.code == "DCB101"


def test_much_in_few_bytes_is_refused() -> None:
    _, (bomb,) = read(zlib.compress(bytes(17 << 20)))
    assert "unpack to more than 16,777,216" in bomb.message
    size = 20_000
    columns = {"tokens": b"\1" * 8 * size * 30, "spaces": bytes(size), "attrs": [*range(60, 90)]}
    packed = tamper(**columns, lengths=np.array([size, 0, 0, 0], "<i4").tobytes())
    _, (many,) = read(changed(packed))
    assert "hold 20,000 tokens" in many.message


@pytest.mark.parametrize("attr", ["ORTH", "LEMMA", "ENT_TYPE"])
def test_strings_count_as_often_as_tokens_have_them(
    attr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docbin_reading, "_UNPACKED", 80_000)
    text = "b" * 10_000

    def change(content: dict[str, Any], tokens: int) -> None:
        rows = np.frombuffer(content["tokens"], "<i8").reshape(19, 13).copy()
        column = content["attrs"].index(symbols()[attr])
        rows[:tokens, column] = hashes([text]).view("<i8")[0]
        content |= {"tokens": rows.tobytes(), "strings": [*content["strings"], text]}

    _, findings = read(changed(lambda content: change(content, 1)))
    assert "DCB101" not in {each.code for each in findings}
    data = changed(lambda content: change(content, 19))
    _, (bomb,) = read(data)
    assert f"bytes hold more than {most_bytes(data):,} characters" in bomb.message


def test_labels_of_groups_count_as_often_as_spans_have_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(docbin_reading, "_UNPACKED", 80_000)
    text = "b" * 10_000
    span = SPAN.pack(0, 0, int(hashes([text]).view("<i8")[0]), 0, 1, 0, 3)

    def change(content: dict[str, Any]) -> None:
        groups(*[span] * 30)(content)
        content["strings"] = [*content["strings"], text]

    data = changed(change)
    corpus, findings = read(data)
    kept = corpus.mentions["label"].to_list().count(text)
    assert kept == (most_bytes(data) - 500) // len(text)  # the words and labels are 100 characters
    assert [each.message for each in findings] == [
        f"$[0].spans.sc[{at}].label cannot be 10,000 characters" for at in range(kept, 30)
    ]


def groups(*spans: bytes, **more: Any) -> Callable[[dict[str, Any]], object]:
    """Sets the groups of spans of the first document."""
    group = msgpack.encode({"name": "sc", "attrs": {}, "spans": spans, **more})
    listed = [msgpack.encode({group: ["sc"]}), *[b"\x90"] * 3]
    return tamper(span_groups=listed)


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (groups(SPAN.pack(0, 0, 0, 2, 2, 0, 0)), ["$[0].spans.sc[0] cannot be tokens 2 to 2"]),
        (groups(SPAN.pack(0, 0, 0, 9, 12, 0, 0)), ["$[0].spans.sc[0] cannot be tokens 9 to 12"]),
        (groups(SPAN.pack(0, 0, 0, 0, 1, 0, 4)), ["$[0].spans.sc[0] cannot be characters 0 to 4"]),
        (groups(b"x"), ["$[0].spans.sc[0] cannot be 1 bytes"]),
        (
            groups(SPAN.pack(0, 77, 0, 0, 1, 0, 3) * 1, attrs={"a": 1}),
            ["1 annotation of another kind: attributes of groups of spans"],
        ),
        (tamper(span_groups=[b"\xc1", b"", b"\x90", b"\x90"]), ["$[0].spans cannot be read"]),
        (tamper(cats=[{"a": "x", "b": 1}, 7, {}, {}]), ["$[0].cats.a cannot", "$[1].cats cannot"]),
        (tamper(user_data=[7, b"\x91\x01", None, b"\x80"]), ["$[0].user_data", "$[1].user_data"]),
        (tamper(flags=[0] * 4), [f"$[{at}].flags cannot be read" for at in range(4)]),
        (
            tamper(user_data=[msgpack.encode({"a": [0] * 1_100_000}), b"\x80", b"\x80", b"\x80"]),
            ["1 annotation of another kind: more than 1,048,576 bytes of user_data"],
        ),
    ],
)
def test_a_part_that_is_wrong_is_left_out(change: Any, messages: list[str]) -> None:
    corpus, findings = read(changed(change))
    assert corpus.documents.height == 4
    assert len(findings) == len(messages)
    for found, message in zip(findings, messages, strict=True):
        assert found.message.startswith(message)


def test_heads_and_tags_must_fit() -> None:
    def change(content: dict[str, Any]) -> None:
        attrs = content["attrs"]
        rows = np.frombuffer(content["tokens"], "<i8").reshape(19, 13).copy()
        rows[0, attrs.index(symbols()["HEAD"])] = -1
        rows[2, attrs.index(symbols()["ENT_IOB"])] = 1
        rows[2, attrs.index(symbols()["ENT_TYPE"])] = symbols()["ORG"]
        content["tokens"] = rows.tobytes()

    corpus, findings = read(changed(change))
    assert [found.message for found in findings] == [
        "$[0].tokens[0].HEAD cannot be -1",
        "$[0].tokens[2].ENT_IOB cannot be 1",
    ]
    assert corpus.mentions["label"].to_list()[:3] == ["City", "ORG", "River"]


def test_identifiers_of_several_spans_are_kept(tmp_path: Path) -> None:
    number = hashes(["n1"]).view("<i8")[0]
    span = SPAN.pack(int(number), 0, 0, 0, 1, 0, 3)
    corpus, findings = read(changed(groups(span, span)))
    assert findings == []
    assert corpus.mentions["mention"].to_list()[2:4] == ["T3", "T4"]
    assert FORM.losses(corpus) == {}
    group = msgpack.decode(unpack(written(corpus, tmp_path)))["span_groups"][0]
    assert group.count(number.byteswap().tobytes()) == 2


def test_older_files_have_fewer_members() -> None:
    def change(content: dict[str, Any]) -> None:
        for name in ("span_groups", "flags", "user_data", "version"):
            del content[name]

    corpus, findings = read(changed(change))
    assert findings == []
    assert corpus.documents["name"].to_list() == ["x-1", "x-2", "x-3", "x-4"]


def test_numbers_of_strings() -> None:
    assert numbers(["Osh", "NOUN", "\U0001f600"]) == {
        "Osh": 16212410339310011146,
        "NOUN": 92,
        "\U0001f600": 13900606239988879105,
    }
    assert hashes([]).tolist() == []
    assert (len(symbols()), symbols()["_"]) == (457, 456)


@pytest.mark.parametrize("path", [VALID, FIXTURES / "invalid/DCB101-truncated.spacy"])
def test_a_file_is_told_from_those_of_other_formats(path: Path) -> None:
    assert detect_format(open_source(str(path))).name == "spacy-docbin"
