"""LTF: both ways to read agree, what is written is read again, and nothing makes it fall over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import polars as pl
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hlteval.converters import load
from hlteval.converters.ltf.ltf import as_files, read_elements
from hlteval.converters.ltf.rsd import lines, tokens
from hlteval.converters.ltf.tables import Rows, Tables, bulk, frames, rebuilt
from hlteval.converters.ltf.tables import corpus as as_corpus
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import conforms, explain, parse
from hlteval.tasks import load as load_task
from hlteval.tasks import rules
from hlteval.validators.ltf.causes import BYTES, EXCLUSIVE, UTF16, convention
from hlteval.validators.rule import RuleContext, apply
from hlteval.workflows.run.batches import Pair, Submission
from tests.effort import tries

LETTERS = "ab é😀𠮷'.,&<>\"]\u0301\u00a0\u2028\n\n"
TEXTS = st.text(LETTERS, max_size=30)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FEW, SOME = settings(max_examples=tries(8)), settings(max_examples=tries(25))
"""An example costs some tens of milliseconds; where that is much, an example is many files."""


def source(*files: tuple[str, str] | tuple[str, bytes]) -> Source:
    def member(name: str, data: str | bytes) -> Member:
        content = data if isinstance(data, bytes) else data.encode()
        return Member(name, name, None, lambda: content)

    return Source("folder", "folder", tuple(member(*file) for file in files))


def documents(texts: list[str]) -> Corpus:
    rows = [{"row": n, "name": f"d{n}", "text": text} for n, text in enumerate(texts)]
    return Corpus(documents=rows)


def ltf(texts: list[str]) -> list[tuple[str, str]]:
    """The files of documents with these texts."""
    return list(as_files(documents(texts)))


def read(files: list[tuple[str, str]]) -> Corpus:
    readings = list(load("ltf").read(source(*files)))
    assert [finding.code for reading in readings for finding in reading.findings] == []
    return Corpus.concat(reading.corpus for reading in readings)


def findings(files: list[tuple[str, str]], size: int = 500) -> set[tuple]:
    task = load_task("ltf")
    opened = Submission(task, source(*files), None)
    return {
        (item.code, item.file, item.span, item.message)
        for pair in opened.pairs(size)
        for item in (*pair.system.findings, *of_rules(opened, pair))
    }


def of_rules(opened: Submission, pair: Pair) -> Iterator[Finding]:
    task = opened.task
    context = RuleContext(pair.system.corpus, pair.reference.corpus, task.allows({}), {})
    return apply(rules(task), context, pair.system.members, opened.format)


@given(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=8))
@FEW
def test_a_text_becomes_a_valid_document_and_a_text_again(texts):
    files = ltf(texts)
    assert [code for code, *_ in findings(files)] == []
    assert read(files).documents["text"].to_list() == texts


@given(TEXTS)
def test_segments_and_tokens_of_a_text_cover_it(text):
    spans = list(lines(text))
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    between = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    assert set("".join(between)) <= {"\n"}
    found = [token for start, end in spans for token in tokens(text, start, end)]
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(token.start < token.end for token in found)
    said = "".join(text[token.start : token.end] for token in found)
    assert said == "".join(text.split())


LAYOUTS = st.sampled_from(["\n<", "\n<", "<", " <", "\n\t<"])
"""What stands before an element: LDC has a line for each."""


QUOTES = st.sampled_from(['"', "'"])


def laid_out(written: str, before: str, quote: str) -> str:
    """A file of another layout; the prolog and the ends of tokens stay as they are."""
    prolog, root, rest = written.partition("<LCTL_TEXT")
    rest = re.sub('="([^"]*)"', rf"={quote}\1{quote}", rest)
    return prolog + root + rest.replace("\n<", before)


@given(
    st.lists(TEXTS.filter(lambda text: text.strip("\n")), min_size=1, max_size=20), LAYOUTS, QUOTES
)
@FEW
def test_what_is_read_in_bulk_is_what_its_elements_say(texts, before, quote):
    files = [(name, laid_out(written, before, quote)) for name, written in ltf(texts)]
    told = [read_elements(text, n, "", "utf-8") for n, (_, text) in enumerate(files)]
    said, accepted = bulk([(n, text) for n, (_, text) in enumerate(files)])
    assert accepted == set(range(len(files)))
    same(said, [rows for rows, _ in told])


def same(tables: Tables, files: list[Rows]) -> None:
    """The tables have the rows of all files."""
    for name, table in tables.items():
        every = frames({name: [row for rows in files for row in rows[name]]})
        assert table.equals(every[name].sort("origin", "record", maintain_order=True)), name


PIECES = st.sampled_from(
    ["<", ">", "&", '"', "'", "='", "&amp;", "&#65;", "&x;", "]]>",
     "\n", "\r\n", "\t", " ", "\ufffe", "x",
     "<TOKEN", "</SEG>", "<SEG>", "<TEXT>", ' pos="a"', ' id="1"', "0", "-1", "é", "<!-- -->"]
)  # fmt: skip


@st.composite
def changed(draw) -> str:
    """A file with something changed anywhere."""
    text = draw(st.sampled_from(["a b.\nc & d", "\nx", "😀 <y>\n\nz"]))
    ((_, written),) = ltf([text])
    written = laid_out(written, draw(LAYOUTS), draw(QUOTES))
    at, cut = draw(st.just(0) | st.integers(0, len(written))), draw(st.integers(0, 3))
    return written[:at] + draw(PIECES) + written[at + cut :]


@given(st.lists(changed(), min_size=10, max_size=20))
@settings(max_examples=tries(5))
def test_a_changed_file_is_refused_in_bulk_or_read_alike(files):
    said, accepted = bulk(list(enumerate(files)))
    told = {n: read_elements(text, n, "", "utf-8") for n, text in enumerate(files)}
    assert [faults for n, (_, faults) in told.items() if n in accepted and faults] == []
    same(said, [told[n][0] for n in sorted(accepted)])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.text("ab😀", min_size=1, max_size=4)), max_size=6),
    st.integers(0, 30),
)
@SOME
def test_texts_are_rebuilt_by_the_rule_of_the_format(parts, length):
    rows, out = [], ""
    for gap, text in parts:
        out += "\n" * gap + text
        rows.append((0, len(out) - len(text), len(out), text))
    expected = out + "\n" * (length - len(out))
    schema = {"document": pl.Int64, "start": pl.Int64, "end": pl.Int64, "text": pl.String}
    segments = pl.DataFrame(rows, schema=schema, orient="row")
    found = rebuilt(pl.DataFrame({"document": [0], "declared": [length]}), segments)
    assert found["text"].to_list() == ([expected] if parts else [])


ATTRIBUTES = st.dictionaries(
    st.sampled_from(["id", "lang", "attach", "start_char", "x"]),
    st.sampled_from(["a", "LEFT", "7"]),
    max_size=3,
)
TAGS = [
    "LCTL_TEXT",
    "DOC",
    "HEADLINE",
    "DATELINE",
    "TEXT",
    "P",
    "SEG",
    "ORIGINAL_TEXT",
    "TOKEN",
    "W",
]


@st.composite
def elements(draw, depth: int = 5) -> str:
    """An element that is often what LTF has at this depth."""
    usual = {5: "LCTL_TEXT", 4: "DOC", 3: "TEXT", 2: "SEG", 1: "TOKEN", 0: "W"}[depth]
    tag = draw(st.sampled_from([usual] * 12 + TAGS))
    given = draw(ATTRIBUTES)
    if draw(st.booleans()):
        given = {"id": "a"} if tag in {"DOC", "SEG", "TOKEN"} else {}
    pairs = "".join(f' {name}="{value}"' for name, value in given.items())
    text = draw(st.sampled_from(["", "", "\n", "t"]))
    inner = draw(st.lists(elements(depth - 1), max_size=2)) if depth else []
    return f"<{tag}{pairs}>{text}{''.join(inner)}</{tag}>"


@given(elements())
@SOME
def test_faults_are_told_just_where_the_schema_refuses(written):
    faults, _ = explain(parse(written).elements, "ltf")
    assert bool(faults) != conforms(written, "ltf")


UNITS = {
    "utf-16": (UTF16, lambda text: len(text.encode("utf-16-le")) // 2, 0),
    "utf-8": (BYTES, lambda text: len(text.encode()), 0),
    "past": (EXCLUSIVE, len, 1),
}


@given(st.sampled_from(sorted(UNITS)), st.lists(st.text("ab😀é ", min_size=1), min_size=1))
def test_another_way_to_count_is_found_out(name, texts):
    known, unit, past = UNITS[name]
    at, segments = 0, []
    for text in (*texts, "ab", "é😀😀"):  # so that no two ways explain it
        inner = [
            (at + unit(text[:start]), at + unit(text[:end]) + past, text[start:end])
            for start, end, _ in tokens(text)
        ]
        segments.append(((at, at + unit(text) + past, text), inner))
        at += unit(text) + 1
    assert convention(segments) == known


@given(st.lists(changed(), min_size=2, max_size=3))
@example([text.replace('"', quote) for quote in "\"'" for _, text in ltf(["a b."])])
@settings(max_examples=4)
def test_findings_do_not_depend_on_batches_or_on_other_files(texts):
    named = (re.sub("(['\"])d0\\1", rf"\1d{n}\1", text) for n, text in enumerate(texts))
    files = [(f"f{n}.ltf.xml", text) for n, text in enumerate(named)]
    together = findings(files)
    assert together == findings(files, size=1)
    assert together == findings(files[::-1])
    assert together == set().union(*(findings([file]) for file in files))


CHANGES = st.tuples(st.binary(max_size=80), st.integers(0, 400), st.integers(0, 60))


@given(st.lists(CHANGES, min_size=5, max_size=10))
@FEW
def test_no_bytes_make_it_fall_over(changes):
    ((_, written),) = ltf(["Water is short.\nSend help."])
    raw = written.encode()
    files = [
        (f"f{number}.ltf.xml", raw[:at] + data + raw[at + cut :])
        for number, (data, at, cut) in enumerate(changes)
    ]
    told = {finding[1] for finding in findings(files)}
    assert told == {name for name, _ in files}  # the file name fits no document


@st.composite
def corpora(draw) -> Corpus:
    """Documents with segments, tokens and attributes such as LTF files have, in parts or not."""
    rows: dict[str, list[dict]] = {name: [] for name in ("segments", "tokens", "attributes")}
    record = 2
    values = st.text("ab&<>\"é😀\t\n\r'", max_size=4)
    rows["attributes"].append(at(0, 1, element="LCTL_TEXT", name="lang", value=draw(values)))
    for name in ("id", *draw(st.sets(st.sampled_from(["lang", "tokenization", "grammar"])))):
        value = "d0" if name == "id" else draw(values)
        rows["attributes"].append(at(0, 2, element="DOC", name=name, value=value))
    start = 0
    for part in draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4)):
        record += 10
        text = draw(st.none() | values)
        start += draw(st.integers(1, 3))
        end = start + draw(st.integers(0, 5))
        names = draw(values)
        key = {"name": names, "start": start, "end": end, "text": text, "part": part}
        rows["segments"].append(at(len(rows["segments"]), record, **key))
        for number in range(draw(st.integers(0, 2))):
            own = {"name": draw(values), "start": start, "end": end, "text": draw(values)}
            own |= {"pos": draw(st.none() | values), "morph": draw(st.none() | values)}
            row = at(len(rows["tokens"]), record + 1 + number, **own)
            rows["tokens"].append(row | {"segment_row": len(rows["segments"]) - 1})
            if draw(st.booleans()):
                gloss = {"element": "TOKEN", "name": "gloss", "value": draw(values)}
                rows["attributes"].append(at(0, record + 1 + number, **gloss))
    attributes = [{**row, "row": n} for n, row in enumerate(rows.pop("attributes"))]
    return Corpus(
        sources=[{"row": 0, "path": "p", "member": "d0.ltf.xml", "format": "ltf", "sha256": ""}],
        documents=[{"row": 0, "origin": 0, "name": "d0"}],
        attributes=attributes,
        **rows,
    )


PARTS = [None]


def at(row: int, record: int, **columns: object) -> dict[str, object]:
    return {"row": row, "document": 0, "origin": 0, "record": record, **columns}


@SOME
@given(corpora(), st.permutations(["HEADLINE 1", "TEXT 2", "TEXT 2 P 1", "TEXT 2 P 2"]))
def test_what_is_written_is_read_again(corpus, parts):
    height = corpus.segments.height
    if height > 1:
        order = sorted(parts[:height])
        column = pl.Series("part", order, dtype=pl.String)
        corpus = corpus.replace(segments=corpus.segments.with_columns(column))
        assume(order[0] == "HEADLINE 1" or order[0].startswith("TEXT 2"))
    ((name, written),) = as_files(corpus)
    said, _ = read_elements(written, 0, name, "utf-8")
    assert said["documents"], written
    again = as_corpus(corpus.sources, frames(said))
    columns = {
        "segments": ["name", "start", "end", "text"],
        "tokens": ["segment_row", "name", "start", "end", "text", "pos", "morph"],
        "attributes": ["element", "name", "value"],
    }
    for table, wanted in columns.items():
        ours, theirs = getattr(corpus, table).select(wanted), getattr(again, table).select(wanted)
        if table == "attributes":
            ours, theirs = ours.sort(wanted), theirs.sort(wanted)
        assert ours.equals(theirs), written
    ((_, twice),) = as_files(again)
    assert twice == written


@given(st.lists(ANY, min_size=1, max_size=8))
@FEW
def test_conllu_keeps_segments_and_tokens(tmp_path_factory, texts):
    files = ltf(texts)
    assume(files)
    corpus = read(files)
    form = load("conllu")
    path = tmp_path_factory.mktemp("conllu") / "x.conllu"
    form.write([corpus], path)
    data = path.read_bytes()
    single = Source("x.conllu", "file", (Member("", "x.conllu", len(data), lambda: data),))
    (reading,) = form.read(single)
    assert reading.findings == ()
    again = reading.corpus
    assert again.documents.select("name", "text").equals(corpus.documents.select("name", "text"))
    for table, wanted in (
        ("segments", ["document", "name", "start", "end", "text"]),
        ("tokens", ["document", "segment_row", "name", "start", "end", "text", "pos", "morph"]),
    ):
        assert getattr(again, table).select(wanted).equals(getattr(corpus, table).select(wanted))
