"""What holds of all tables of entity mentions: one grammar, two ways to read; nothing is lost."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from lark.exceptions import UnexpectedInput

from hlteval import validate
from hlteval.converters import load
from hlteval.converters.edl.edl_tab import TABLE, explain
from hlteval.converters.toolkit.rows import decimal, from_text, number, to_text
from hlteval.findings import catalogue
from hlteval.grammars import load as grammar
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.validators.edl.extents import compare, crossings, in_order, nestings
from tests.effort import tries

FEW = settings(max_examples=tries(25))
EXTENT = [column.name for column in TABLE.columns].index("extent")

ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
FIELD = ANY.filter(lambda text: not set(text) & set("\t\n\r"))
GOOD = ("T", "m1", "Paris", "D1:10-14", "1000001", "GPE", "NAM", "1.0")
CHOICES = (
    st.sampled_from(["T", "U", "", " "]) | FIELD,
    st.sampled_from(["m1", "m2", "", " "]) | FIELD,
    st.sampled_from(["Paris", "", "x y", "\u00a0"]) | FIELD,
    st.sampled_from(
        [
            *("D1:10-14", "D1:4-4", "D1:14-10", "D1: 1-2", "D1:1\u20132", "D:1:1-2", "D1:1-2:x"),
            *(":1-2", "D1 1-2", "", "D 1:1-2", "D1:\u0661-\u0662", "D1:007-9", "D1:1-"),
            "D1:9999999999999999-1",
        ]
    )
    | FIELD,
    st.sampled_from(["1000001", "NIL7", "NIL", "nil7", "1|2", "", "m.06", "NIL7x"]) | FIELD,
    st.sampled_from(["GPE", "LOC", "ORG", "PER", "gpe", "FAC", ""]) | FIELD,
    st.sampled_from(["NAM", "NOM", "nam", ""]) | FIELD,
    st.sampled_from(
        [
            "1.0",
            "0.5",
            ".5",
            "1.",
            "00.10",
            "1",
            "0.0",
            "1.5",
            "1e-3",
            "0.5.5",
            "",
            " ",
            "0.5 ",
            "-1",
        ]
    )
    | FIELD,
)
ONE = st.sampled_from(range(len(GOOD))).flatmap(
    lambda index: CHOICES[index].map(
        lambda field: "\t".join([*GOOD[:index], field, *GOOD[index + 1 :]])
    )
)
LINES = ONE | st.tuples(*CHOICES).map("\t".join) | FIELD
"""Lines that are nearly records, and others."""


def source(data: bytes, name: str = "run.tab") -> Source:
    return Source(name, "file", (Member("", name, len(data), lambda: data),))


def read(data: bytes) -> tuple[Corpus, list[str]]:
    (reading,) = load("edl-tab").read(source(data))
    return reading.corpus, [finding.code for finding in reading.findings]


def written(corpus: Corpus, **settings: str) -> bytes:
    form = load("edl-tab").with_settings(settings)
    assert form.write is not None
    with tempfile.TemporaryDirectory() as folder:
        form.write([corpus], Path(folder, "run.tab"))
        return Path(folder, "run.tab").read_bytes()


def accepted(line: str) -> bool:
    """Whether the grammar accepts a line."""
    try:
        grammar("edl").parse(line)
    except UnexpectedInput:
        return False
    return True


@FEW
@given(LINES)
@example("\t".join(GOOD))
@example("\t".join(GOOD) + "\t")
@example("\t".join(GOOD[:-1]) + "\t0.1000")
def test_a_record_is_in_order_where_the_grammar_accepts_it(line: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.tab")
        path.write_bytes(f"{line}\n".encode())
        found = validate("lorehlt-edl", str(path)).by_code
    # what the plan forbids beyond the grammar: an order of offsets
    wrong = {code for code in found if catalogue()[code].severity == "error"} - {"EDL316"}
    assert accepted(line) is not bool(wrong or set(found) & {"EDL103", "SRC202"})


@FEW
@given(st.lists(LINES, max_size=5))
def test_the_bulk_reads_what_is_read_one_by_one(lines: list[str]) -> None:
    corpus, _ = read("".join(f"{line}\n" for line in lines).removeprefix("\ufeff").encode())
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    alone = [explain(number, line) for number, line in enumerate(lines, start=1)]
    alone = [
        explained for explained, line in zip(alone, lines, strict=True) if not TABLE.is_empty(line)
    ]
    extents = [row[EXTENT] for rows, _ in alone for row in rows]
    names = corpus.documents.select("name", document="row")
    named = corpus.mentions.sort("record").join(names, on="document", maintain_order="left")
    found = named.select(found=pl.format("{}:{}-{}", "name", "start", pl.col("end") - 1))
    assert found["found"].to_list() == extents
    rejected = [(wrong[0].record, wrong[0].code) for rows, wrong in alone if not rows]
    assert corpus.rejected_records.select("record", "code").rows() == rejected
    corpus.check_keys()


SURE = st.decimals(0, 1, places=4).map(lambda value: decimal(float(value)))
RECORDS = st.tuples(
    FIELD,
    FIELD,
    FIELD,
    st.tuples(
        st.from_regex("[A-Z][A-Z_0-9]{0,3}", fullmatch=True), st.integers(0, 99), st.integers(0, 99)
    ).map(lambda extent: "{}:{}-{}".format(*extent)),
    FIELD,
    FIELD,
    FIELD,
    st.sampled_from(["1.0", "0.5", "1e-9", "0.30", "x"]) | SURE,
).map("\t".join)
"""Records whose extent is as it must be, and whose other fields hold anything."""


@FEW
@given(st.lists(RECORDS, max_size=4), st.booleans())
def test_what_was_read_is_written_again(lines: list[str], header: bool) -> None:
    head = ["\t".join(TABLE.headings)] if header else []
    lines = [line.lstrip("\ufeff") for line in lines]  # such lines are listed as lost
    data = "".join(f"{line}\n" for line in [*head, *lines]).encode()
    corpus, _ = read(data)
    assert written(corpus, header="yes" if header else "no") == data
    assert load("edl-tab").count_losses(corpus).keys()
    assert not any(load("edl-tab").count_losses(corpus).values())


@settings(max_examples=tries(15), phases=[Phase.explicit, Phase.generate])
@given(st.data())
def test_any_corpus_comes_back_as_far_as_it_is_carried(corpora, data: st.DataObject) -> None:
    corpus = data.draw(corpora)
    again, _ = read(written(corpus))
    lost = load("edl-tab").count_losses(corpus)["mentions that do not fit a line"]
    assert again.mentions.height == corpus.mentions.height - lost
    assert again.rejected_records.height == 0
    for column in ("label", "start", "end"):
        assert set(again.mentions[column]) <= set(corpus.mentions[column])
    numbered = {f"m{number}" for number in range(corpus.mentions.height + 100)}
    assert set(again.mentions["mention"]) - set(corpus.mentions["mention"]) <= numbered


ENTITIES = st.sampled_from(["17", "NIL1", "NIL20"])
SPANS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 4), ENTITIES, st.sampled_from(["GPE", "PER"])),
    min_size=1,
    max_size=5,
    unique_by=lambda span: span[0],
)


@FEW
@given(SPANS, st.booleans(), st.booleans())
def test_what_is_written_is_valid_but_for_what_is_listed(
    spans: list[tuple[int, int, str, str]], texts: bool, linked: bool
) -> None:
    documents = [{"row": 0, "name": "IL9_D1", "text": "abcdefghijklmno" if texts else None}]
    place = {"document": 0, "origin": 0, "record": 1, "mention": "", "confidence": 0.5}
    mentions = [
        {**place, "row": row, "start": start * 5 % 11, "end": start * 5 % 11 + length}
        | {"label": label, "entity": entity if linked else None}
        for row, (start, length, entity, label) in enumerate(spans)
    ]
    corpus = Corpus(documents=documents, mentions=mentions)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.tab")
        path.write_bytes(written(corpus))
        found = validate("lorehlt-edl", str(path)).by_code
    wrong = {code for code in found if catalogue()[code].severity == "error"}
    listed = {name.partition(";")[0] for name, n in load("edl-tab").losses(corpus).items() if n}
    assert ("EDL305" in wrong) == (not texts) == ("missing mention strings" in listed)
    assert ("EDL306" in wrong) == (not linked)
    assert wrong <= {"EDL305", "EDL306"} | {"EDL401", "EDL402"}


@FEW
@given(st.binary(max_size=80))
@example(b"\xff\xfeT\0\t\0")
@example(b"\t" * 40)
@example(("\t".join(GOOD) + "\r").encode() * 3)
def test_no_bytes_break_the_reader(data: bytes) -> None:
    corpus, _ = read(data)
    corpus.check_keys()


@FEW
@given(st.lists(st.sampled_from(["1.0", "1", ".5", "1e-3", "x", "", "1e999", "nan"]) | SURE))
def test_confidences_keep_what_was_written(texts: list[str]) -> None:
    frame = from_text(pl.Series("confidence", texts, dtype=pl.String))
    assert frame["confidence"].to_list() == [number(text) for text in texts]
    assert to_text(frame).to_list() == texts


@FEW
@given(st.floats(0, 1, exclude_min=True))
@example(5e-324)
@example(0.00001)
def test_a_confidence_has_one_canonical_form(value: float) -> None:
    text = decimal(value)
    assert "e" not in text
    assert float(text) == value
    frame = pl.DataFrame({"confidence": [value], "confidence_text": [None]})
    assert to_text(frame).to_list() == [text]
    assert from_text(pl.Series([text])).rows() == [(value, None)]


SPANS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(-1, 9)).map(
        lambda span: (span[0], span[1], span[1] + span[2])
    ),
    max_size=9,
)


@given(SPANS)
def test_spans_beside_each_other_agree_with_trying_all_pairs(spans: list[tuple[int, ...]]) -> None:
    schema = {"document": pl.Int64, "start": pl.Int64, "end": pl.Int64}
    ordered = in_order(pl.DataFrame(spans, schema=schema, orient="row"))
    rows = list(enumerate(ordered.rows()))
    assert {row for _, row in rows} == {span for span in spans if span[1] < span[2]}
    inner = {
        (i, j)
        for i, (d, s, e) in rows
        for j, (D, S, E) in rows
        if i != j and d == D and s >= S and e <= E
    }
    cross = {(i, j) for i, (d, s, e) in rows for j, (D, S, E) in rows if d == D and S < s < E < e}
    for found, wanted in ((nestings(ordered).rows(), inner), (crossings(ordered).rows(), cross)):
        assert set(found) <= wanted
        assert sorted(i for i, _ in found) == sorted({i for i, _ in wanted})


@FEW
@given(
    st.text("aß😀- \n\t\u00a0", min_size=1, max_size=30),
    st.integers(0, 29),
    st.integers(1, 30),
    st.sampled_from(["same", "joined", "other"]),
)
@example("ß-\n\n", 0, 4, "joined")
def test_a_mention_string_fits_the_text_it_is_from(
    text: str, start: int, length: int, how: str
) -> None:
    end = start + length
    said = text[start:end]
    given_text = {"same": said, "joined": said.replace("-\n", "-"), "other": said + "b"}[how]
    rows = pl.DataFrame(
        {"row": [0], "document": [0], "start": start, "end": end, "text": given_text}
    )
    documents = Corpus(documents=[{"row": 0, "name": "d", "text": text}]).documents
    assert compare(rows, documents)["fits"].to_list() == [end <= len(text) and how != "other"]
