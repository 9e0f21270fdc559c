"""Conversions: what a format declares comes back equal, and what it has no place for is listed.

The formats are those that are known, ours and any that are added: each is tried on small corpora
of what it declares, and each pair on the valid fixture of the first.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hlteval import convert
from hlteval.converters import Format, known, load
from hlteval.converters.toolkit import fitting as wording
from hlteval.findings import Finding
from hlteval.findings import counts as numbers
from hlteval.representation import TABLES, Corpus
from hlteval.sources import open_source
from hlteval.workflows.convert.conversion import Lossy, NotConverted
from tests.properties import drawn_streams

FIXTURES = Path(__file__).parents[2] / "fixtures"
Rows = list[dict[str, Any]]
Build = Callable[[st.DrawFn], Corpus]

KEYS = ("row", "origin", "record")
TYPES = ("PER", "GPE", "ORG")
WORDS = ("Osh", "met", "Kara", "\xd6zg\xf6n", "\U0001d49fan", "x1", "&<>")


def columns(form: Format, table: str) -> list[str]:
    """The columns of a table whose values a format declares that it keeps."""
    references = dict(TABLES[table].references)
    kept = [c for c in TABLES[table].columns if c.name not in KEYS]
    nullable = [c.name for c in kept if c.nullable and c.name not in references]
    dropped = {name for name in nullable if f"{table}.{name}" not in form.carries}
    return [column.name for column in kept if column.name not in dropped]


def restricted(form: Format, corpus: Corpus) -> Corpus:
    """Of a corpus, only what a format declares."""
    tables: dict[str, pl.DataFrame] = {}
    for name, frame in corpus.tables():
        if frame.is_empty():
            continue
        kept = {*columns(form, name), *KEYS}
        nulls = [pl.lit(None, frame.schema[c]).alias(c) for c in frame.columns if c not in kept]
        tables[name] = frame.with_columns(nulls) if name in form.tables else frame.clear()
    return corpus.replace(**{**tables, "sources": corpus.sources})


def said(
    form: Format, corpus: Corpus, table: str, without: Collection[str] = ()
) -> Counter[tuple[str, ...]]:
    """What the rows of a table say in the columns that a format declares, whatever their keys."""
    frame: pl.DataFrame = getattr(corpus, table)
    if frame.is_empty():
        return Counter()
    references = dict(TABLES[table].references)
    # a reference to rows that the format has no place for is lost with these
    kept = [
        c
        for c in columns(form, table)
        if c != "origin" and c not in without and references.get(c, table) in form.tables
    ]
    cells = [
        [names(corpus, references[c]).get(value) for value in frame[c]]
        if c in references
        else [repr(value) for value in frame[c].to_list()]
        for c in kept
    ]
    return Counter(zip(*cells, strict=True))


def names(corpus: Corpus, table: str) -> Mapping[int, str]:
    """What the rows of a table are known by where others refer to them."""
    by = {"documents": ("name",), "frames": ("frame", "label")}
    frame: pl.DataFrame = getattr(corpus, table)
    return {
        row: repr(rest)
        for row, *rest in frame.select("row", *by.get(table, ("start", "end"))).rows()
    }


def silent(corpus: Corpus, table: str) -> set[str]:
    """The columns of a table that say nothing."""
    frame: pl.DataFrame = getattr(corpus, table)
    return {c for c in frame.columns if {*map(repr, frame[c].drop_nulls())} <= {"''"}}


# Corpora, one kind of annotation each.


@st.composite
def annotated(draw: st.DrawFn) -> Corpus:
    """Documents of lines and words, with whatever can be said of spans."""
    tables: dict[str, Rows] = {name: [] for name in TABLES}
    for document in range(draw(st.integers(1, 2))):
        _document(draw, document, tables)
    return Corpus(**tables)


def _add(tables: dict[str, Rows], table: str, **values: Any) -> int:
    rows = tables[table]
    placed = {"origin": 0, "record": len(rows) + 1} if "record" in TABLES[table].schema else {}
    rows.append({"row": len(rows), **placed, **values})
    return len(rows) - 1


def _document(draw: st.DrawFn, document: int, tables: dict[str, Rows]) -> None:
    if not tables["sources"]:
        _add(tables, "sources", path="x", member="x", format="x", sha256="")
    word = st.sampled_from(WORDS)
    lines = draw(st.lists(st.lists(word, min_size=2, max_size=4), min_size=1, max_size=2))
    text = "\n".join(map(" ".join, lines))
    _add(tables, "documents", name=f"d{document}", text=text, language="eng", origin=0)
    spans: list[tuple[int, int]] = []
    start = 0
    for line, words in enumerate(lines):
        end = start + len(" ".join(words))
        place = {"document": document, "start": start, "end": end, "text": text[start:end]}
        row = _add(tables, "segments", name=f"segment-{line}", **place)
        ends = [start + end for end in accumulate(len(word) + 1 for word in words)]
        for number, (one, behind) in enumerate(zip([start, *ends], ends, strict=False)):
            own = {"name": f"token-{line}-{number}", "pos": "word", "morph": "none"}
            span = {"start": one, "end": behind - 1, "text": text[one : behind - 1]}
            _add(tables, "tokens", document=document, segment_row=row, **own, **span)
            spans.append((one, behind - 1))
        start = end + 1
    _mentions(draw, document, text, spans, tables)
    _frames(draw, document, len(spans), tables)


def _mentions(
    draw: st.DrawFn, document: int, text: str, spans: list[tuple[int, int]], tables: dict[str, Rows]
) -> None:
    """Each word is a mention; one may be of two words that do not stand beside each other."""
    for number, (start, end) in enumerate(spans, start=1):
        entity = draw(st.sampled_from([None, "NIL1", "1000", "W:5"]))
        parts, label = [(start, end)], draw(st.sampled_from(TYPES))
        if number + 1 < len(spans) and draw(st.booleans()):
            parts.append(spans[number + 1])
        broken = [{"start": a, "end": b} for a, b in parts] if len(parts) > 1 else None
        said_of = {"label": label, "fragments": broken, "entity": entity, "annotator": "r"}
        more = {"mention_type": "NAM", "confidence": draw(st.sampled_from([0.5, 0.25, 1.0]))}
        place = {"start": start, "end": parts[-1][1], "mention": f"T{number}"}
        words = {"text": " ".join(text[a:b] for a, b in parts)}
        row = _add(tables, "mentions", document=document, **said_of, **more, **place, **words)
        for rank in range(2, draw(st.integers(2, 4)) if entity else 2):
            more = {"entity": f"{rank}00", "label": label, "confidence": 0.25 / rank}
            _add(tables, "links", document=document, mention_row=row, rank=rank, **more)
    for ordinal in range(1, draw(st.integers(1, 3))):
        for member in ("T1", "T2"):
            group = {"group": str(ordinal), "kind": "Equiv", "member": member}
            _add(tables, "groups", document=document, **group)
            tables["groups"][-1]["record"] = ordinal


def _frames(draw: st.DrawFn, document: int, words: int, tables: dict[str, Rows]) -> None:
    target = st.integers(1, words).map("T{}".format)
    here = {"document": document}
    for number in range(1, draw(st.integers(1, 3))):
        trigger = draw(target)
        own = (table for table in tables["mentions"] if table["document"] == document)
        types = {item["mention"]: item["label"] for item in own}
        event = {"frame": f"E{number}", "kind": "event", "label": types[trigger]}
        event["trigger"] = trigger
        row = _add(tables, "frames", **here, **event)
        for position in range(1, draw(st.integers(2, 4))):
            filler = {"role": f"Who{position}", "target": draw(target), "position": position}
            _add(tables, "arguments", **here, frame_row=row, **filler)
            tables["arguments"][-1]["record"] = row + 1
        if draw(st.booleans()):
            name = len(tables["modifiers"]) + 1
            _add(
                tables,
                "modifiers",
                **here,
                modifier=f"M{name}",
                label="Negation",
                target=f"E{number}",
            )
    if draw(st.booleans()):
        row = _add(tables, "frames", **here, frame="R1", kind="relation", label="Near")
        for position in (1, 2):
            filler = {"role": f"Arg{position}", "target": draw(target), "position": position}
            _add(tables, "arguments", **here, frame_row=row, **filler)
            tables["arguments"][-1]["record"] = row + 1
    for kind in draw(st.lists(st.sampled_from(["A", "N", "#"]), unique=True)):
        value = {"A": "sure", "N": "W:534366", "#": None}[kind]
        words_ = {"A": None, "N": "a name", "#": "a note"}[kind]
        labels = {"A": "Confidence", "N": "Reference", "#": "AnnotatorNotes"}
        named = {"modifier": f"{kind}9", "label": labels[kind], "target": draw(target)}
        _add(tables, "modifiers", **here, **named, value=value, text=words_)


@st.composite
def situations(draw: st.DrawFn) -> Corpus:
    """Segments of speech with situation frames."""
    tables: dict[str, Rows] = {"sources": [], "documents": [], "frames": []}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"D{document}", origin=0)
        for label in draw(
            st.lists(st.sampled_from(["Shelter", "Evacuation"]), min_size=1, max_size=2)
        ):
            status, relief = draw(st.sampled_from([(None, None), ("Current", "Sufficient")]))
            said_of = {"status": status, "resolution": relief, "kind": "situation", "label": label}
            where = {"place": draw(st.sampled_from([None, "Osh", "\u6c5f\u82cf"]))}
            sure = {"confidence": draw(st.sampled_from([0.0, 0.125, 1.0]))}
            _add(tables, "frames", document=document, **said_of, **where, **sure)
    return Corpus(**tables)


@st.composite
def lorehlt_situations(draw: st.DrawFn) -> Corpus:
    """Situations in texts, with the sentiments about them, of a system or an annotator."""
    tables: dict[str, Rows] = {"sources": [], "documents": [], "frames": [], "sentiments": []}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"D{document}", origin=0, modality="text")
        for number in range(1, draw(st.integers(2, 3))):
            need = draw(st.booleans())
            frame: dict[str, Any] = {"kind": "situation", "frame": f"Frame-{number}"}
            frame |= {"label": "food" if need else "terrorism", "status": "current"}
            frame |= {"resolution": "insufficient" if need else None, "place": "Ent-1"}
            frame |= {"place_kb": draw(st.sampled_from([None, "17", "1|2", "NIL4"]))}
            frame |= {"urgent": draw(st.sampled_from(["true", "false"])), "scope": "4_region"}
            frame |= {"confidence": draw(st.sampled_from([0.0, 0.125, 1.0]))}
            frame |= {"severity": draw(st.sampled_from([None, "2_injury"])), "annotator": "314"}
            row = _add(tables, "frames", document=document, justification="segment-1", **frame)
            for item in range(1, draw(st.integers(1, 3))):
                target = {"frame_row": row, "target": frame["frame"], "item": item}
                holder = draw(st.sampled_from(["author", "NIL7"]))
                value = draw(st.sampled_from([-3.0, 0.5]))
                felt = {name: draw(st.booleans()) for name in ("fear", "anger", "joy")}
                felt |= {"value": value, "polarity": "negative" if value < 0 else "positive"}
                own = {"holder": "Ent-2", "holder_kb": holder, "annotator": "314"}
                _add(tables, "sentiments", document=document, **target, **own, **felt)
    return Corpus(**tables)


@st.composite
def templettes(draw: st.DrawFn) -> Corpus:
    """Instances of templettes, whose fills are texts and pointers."""
    tables: dict[str, Rows] = {"sources": [], "documents": [], "frames": [], "fills": []}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"B{document}", origin=0)
        for number in range(1, draw(st.integers(2, 3))):
            name = f"CONTEST-B{document}-{number}"
            frame = {"frame": name, "kind": "templette", "label": "CONTEST", "optional": False}
            row = _add(tables, "frames", document=document, **frame)
            place = {"document": document, "frame_row": row, "alternative": 1, "position": 1}
            slot = {"optional": False, "slot": "NAME", "slot_number": 1, "kind": "text"}
            text = {"text": draw(st.sampled_from(WORDS)), "quoted": True}
            extents = [{"start": number, "end": number + 5}]
            _add(tables, "fills", **place, **slot, **text, extents=extents)
            slot = {"optional": True, "slot": "NEXT", "slot_number": 2, "kind": "pointer"}
            _add(tables, "fills", **place, **slot, target=name)
    return Corpus(**tables)


@st.composite
def counted(draw: st.DrawFn) -> Corpus:
    """Documents whose offsets are numbers of tokens, with mentions of entities."""
    tables: dict[str, Rows] = {name: [] for name in TABLES}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"D{document}", origin=0)
        here, size = {"document": document}, draw(st.integers(1, 4))
        row = _add(tables, "segments", **here, start=1, end=size + 1)
        for at in range(1, size + 1):
            word = {"text": draw(st.sampled_from(WORDS)), "segment_row": row}
            _add(tables, "tokens", **here, start=at, end=at + 1, **word)
        for at in draw(st.sets(st.integers(1, size))):
            entity = f"NIL{draw(st.integers(1, 2))}:D{document}"
            own = {"mention": "", "label": "", "start": at, "end": at + 1, "entity": entity}
            _add(tables, "mentions", **here, **own)
    return Corpus(**tables)


@st.composite
def marked_up(draw: st.DrawFn) -> Corpus:
    """Texts of documents in SGML, one behind the other."""
    texts = [
        f"<DOC>\n<DOCNO> D{number} </DOCNO>\n{draw(st.sampled_from(WORDS[:6]))}\n</DOC>"
        for number in range(draw(st.integers(1, 3)))
    ]
    starts = accumulate(chain([0], (len(text) + 1 for text in texts)))
    listed = zip(texts, starts, strict=False)
    named = [
        {"name": f"D{n}", "text": t, "start": s, "origin": 0} for n, (t, s) in enumerate(listed)
    ]
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    return Corpus(sources=[source], documents=[{"row": n, **one} for n, one in enumerate(named)])


@st.composite
def streams(draw: st.DrawFn) -> Corpus:
    """Instances, ratings and changes in streams, whose times are whole milliseconds."""
    tables: dict[str, Rows] = {name: [] for name in TABLES}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"D{document}", origin=0)
        for _ in range(draw(st.integers(1, 3))):
            time = draw(st.integers(0, 99_999))
            start, end = time / 1000, (time + 2000) / 1000
            place: dict[str, Any] = {"document": document, "start": start, "end": end}
            who = {"region": draw(st.sampled_from([None, "S1"])), "annotator": "314"}
            own = {"kind": "norm", "label": draw(st.sampled_from(["101", "none"])), "llr": 1.5}
            more = {"status": draw(st.sampled_from([None, "adhere"])), "several": True}
            _add(tables, "instances", **place, **who, **own, **more)
            own = {"kind": "valence", "level": draw(st.sampled_from([None, 420.0])), "bin": "2"}
            _add(tables, "ratings", **place, **who, **own)
            own = {"direction": draw(st.sampled_from([None, "negative"])), "strength": "4"}
            more = {"llr": -0.5, "evidence": "a word", "annotator": None}
            _add(tables, "changes", document=document, at=start, **own, **more)
    return Corpus(**tables)


@st.composite
def questionnaires(draw: st.DrawFn) -> Corpus:
    """Answers of speakers after interactions."""
    tables: dict[str, Rows] = {name: [] for name in ("sources", "documents", "responses")}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"I{document}", origin=0)
        for question in draw(st.sets(st.integers(1, 11), min_size=1)):
            own = {"condition": "Ceiling", "speaker": "operator", "question": question}
            _add(tables, "responses", document=document, **own, response="Agree")
    return Corpus(**tables)


@st.composite
def translated(draw: st.DrawFn) -> Corpus:
    """Segments of documents with their source, reference translations and those of systems."""
    tables: dict[str, Rows] = {name: [] for name in ("sources", "documents", "translations")}
    _add(tables, "sources", path="x", member="x", format="x", sha256="")
    sets = [("source", None, "epo"), ("reference", "r1", "eng"), ("reference", "r2", "eng")]
    sets += [("system", "s 1", "eng"), ("system", "s2", "eng")]
    chosen = draw(st.lists(st.sampled_from(sets), min_size=1, unique=True))
    for document in range(draw(st.integers(1, 2))):
        _add(tables, "documents", name=f"D{document}", origin=0)
        for number in range(draw(st.integers(1, 3))):
            part = draw(st.sampled_from([None, "hl 1"])) if number == 0 else None
            here = {"document": document, "segment": f"segment-{number}", "part": part}
            for role, name, language in sorted(chosen):
                text = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=3)))
                _add(
                    tables,
                    "translations",
                    **here,
                    role=role,
                    set=name,
                    language=language,
                    text=text,
                )
    return Corpus(**tables)


def _of_one_system(corpus: Corpus) -> Corpus:
    """Only the first of the sets, as that of a system."""
    rows = corpus.translations
    first = rows["role"][0], rows["set"][0]
    kept = rows.filter(pl.col("role") == first[0], pl.col("set").eq_missing(first[1]))
    return corpus.replace(translations=kept.with_columns(role=pl.lit("system")))


def _named(corpus: Corpus) -> Corpus:
    """Sets with names, and texts without repeated spaces."""
    name = pl.when(pl.col("role") != "source").then(pl.col("set").fill_null("s"))
    return corpus.replace(translations=corpus.translations.with_columns(set=name))


def _of_standoff(corpus: Corpus) -> Corpus:
    return corpus.replace(
        modifiers=corpus.modifiers.filter(pl.col("modifier").str.contains("^[MN]"))
    )


def _of_brat(corpus: Corpus) -> Corpus:
    """Normalisations only of mentions that have no other entity, and say it."""
    own = corpus.mentions.select("document", "entity", target="mention")
    named = corpus.modifiers.join(own, on=["document", "target"], how="left")
    kept = named.filter(~pl.col("modifier").str.starts_with("N") | pl.col("entity").is_null())
    said_too = kept.filter(pl.col("modifier").str.starts_with("N"))
    values = said_too.select("document", "value", mention="target")
    mentions = corpus.mentions.join(values, on=["document", "mention"], how="left")
    mentions = mentions.with_columns(entity=pl.coalesce("entity", "value")).drop("value")
    return corpus.replace(modifiers=kept.drop("entity"), mentions=mentions)


def _of_features(corpus: Corpus) -> Corpus:
    """Modifiers that are features of what they modify."""
    kept = corpus.modifiers.unique(["document", "target", "label"], maintain_order=True)
    name = pl.format("{}.{}", "target", "label")
    return corpus.replace(modifiers=kept.with_columns(modifier=name))


def _whole(corpus: Corpus) -> Corpus:
    """Mentions that are not broken, each with an entity, and candidates for these."""
    mentions = corpus.mentions.with_columns(
        pl.col("entity").fill_null("NIL2").str.replace(":", ""),
        pl.lit(None, corpus.mentions.schema["fragments"]).alias("fragments"),
    )
    mentions = mentions.with_columns(end=pl.col("start") + 2, text=pl.lit(None, pl.String))
    return corpus.replace(mentions=mentions)


def _with_line_ends(corpus: Corpus) -> Corpus:
    return corpus.replace(documents=corpus.documents.with_columns(pl.col("text") + "\n"))


def _of_neleval(corpus: Corpus) -> Corpus:
    corpus = _whole(corpus)
    return corpus.replace(mentions=corpus.mentions.with_columns(mention=pl.lit("")))


def _of_tables(corpus: Corpus) -> Corpus:
    """Mentions read from a table: of other formats, fields that they do not have are made up."""
    sources = corpus.sources.with_columns(format=pl.lit("edl-tab"))
    return _whole(corpus).replace(sources=sources)


def _of_tools(corpus: Corpus) -> Corpus:
    """Spans of single words with relations of two, as annotation tools have them."""
    text = pl.col("text").str.split(" ").list.first()
    mentions = corpus.mentions.with_columns(
        fragments=pl.lit(None, corpus.mentions.schema["fragments"]),
        text=text,
        end=pl.col("start") + text.str.len_chars(),
    )
    frames = corpus.frames.filter(pl.col("kind") == "relation").with_columns(annotator=pl.lit("r"))
    arguments = corpus.arguments.filter(pl.col("frame_row").is_in(frames["row"].implode()))
    values = corpus.modifiers.filter(
        pl.col("target").str.starts_with("T"), pl.col("value").is_not_null()
    ).with_columns(modifier=pl.lit(""), text=pl.lit(None, pl.String))
    return corpus.replace(mentions=mentions, frames=frames, arguments=arguments, modifiers=values)


def _of_words(corpus: Corpus) -> Corpus:
    """The same, with a sentence for all of each document and without tokens."""
    corpus = _of_tools(corpus)
    return corpus.replace(tokens=corpus.tokens.clear(), segments=corpus.segments.clear())


def _of_doccano(corpus: Corpus) -> Corpus:
    """The same, with numbers as identifiers."""
    corpus = _of_tools(corpus)
    number = pl.col("mention").str.strip_prefix("T")
    targets = corpus.arguments.with_columns(pl.col("target").str.strip_prefix("T"))
    return corpus.replace(mentions=corpus.mentions.with_columns(number), arguments=targets)


def _of_columns(corpus: Corpus) -> Corpus:
    """Mentions of a word each, which have no names, and the tags of all words."""
    mentions = corpus.mentions.filter(pl.col("fragments").is_null())
    place = ["document", "start", "end"]
    tokens = corpus.tokens.join(mentions.select(*place, "label"), on=place, how="left")
    tag = pl.when(pl.col("label").is_null()).then(pl.lit("O")).otherwise("B-" + pl.col("label"))
    return corpus.replace(
        tokens=tokens.with_columns(tag=tag).drop("label"),
        mentions=mentions.with_columns(mention=pl.lit("")),
        links=corpus.links.filter(pl.col("mention_row").is_in(mentions["row"].implode())),
    )


def _of_rows(corpus: Corpus) -> Corpus:
    """The same, in documents of one sentence."""
    corpus = _of_columns(corpus)
    text = pl.col("text").str.replace_all("\n", " ", literal=True)
    ends = corpus.segments.group_by("document").agg(pl.col("end").max())
    segments = corpus.segments.unique("document", keep="first", maintain_order=True)
    segments = segments.drop("end").join(ends, on="document", maintain_order="left")
    keys = segments.select("document", segment_row="row")
    tokens = corpus.tokens.drop("segment_row").join(keys, on="document", maintain_order="left")
    documents = corpus.documents.with_columns(text)
    return corpus.replace(documents=documents, segments=segments, tokens=tokens)


def _of_pubtator(corpus: Corpus) -> Corpus:
    """Continuous mentions without identifiers, and relations of entities."""
    rows = corpus.mentions.filter(pl.col("fragments").is_null())
    rows = rows.with_columns(pl.col("entity").fill_null("NIL2"), mention=pl.lit(""))
    links = corpus.links.filter(pl.col("mention_row").is_in(rows["row"].implode()))
    relations = corpus.frames.filter(pl.col("kind") == "relation")
    pairs = corpus.arguments.filter(pl.col("frame_row").is_in(relations["row"].implode()))
    pairs = pairs.with_columns(target=pl.lit("NIL2"))
    relations = relations.with_columns(kind=pl.lit("fact"))
    return corpus.replace(mentions=rows, links=links, frames=relations, arguments=pairs)


def _as_labels(corpus: Corpus) -> Corpus:
    """Instances as labels of their documents."""
    labels = corpus.instances.with_columns(kind=pl.lit("label"))
    return corpus.replace(instances=labels)


def _of_gate(corpus: Corpus) -> Corpus:
    """Mentions with the text at their places, relations, and attributes of mentions."""
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    spans = corpus.mentions.select("document", "start", "end").iter_rows()
    quoted = pl.Series([texts[row][start:end] for row, start, end in spans], dtype=pl.String)
    relations = corpus.frames.filter(pl.col("kind") == "relation")
    pairs = corpus.arguments.filter(pl.col("frame_row").is_in(relations["row"].implode()))
    modifiers = corpus.modifiers.filter(pl.col("target").str.starts_with("T"))
    modifiers = modifiers.with_columns(modifier=pl.lit(""))
    mentions = corpus.mentions.with_columns(text=quoted)
    tables = {"mentions": mentions, "frames": relations, "arguments": pairs}
    return corpus.replace(**tables, modifiers=modifiers)


def _framed(corpus: Corpus) -> Corpus:
    """Only documents with frames."""
    kept = corpus.documents.filter(pl.col("row").is_in(corpus.frames["document"].implode()))
    return corpus.replace(documents=kept)


@dataclass(frozen=True)
class Trial:
    """What a format is tried on, where that is not everything that a format can declare.

    `narrowed` is what it needs of a corpus; `again` are the tables of which more comes back than
    was there, because they say again what others say.
    """

    corpora: Callable[[], st.SearchStrategy[Corpus]] = annotated
    narrowed: Callable[[Corpus], Corpus] = lambda corpus: corpus
    again: frozenset[str] = frozenset()


TRIALS: Mapping[str, Trial] = {
    **{
        name: Trial(streams) for name in ("audacity", "webvtt", "elan", "textgrid", "instances-csv")
    },
    "rttm": Trial(streams),
    "label-table": Trial(streams, _as_labels),
    "levels-parquet": Trial(streams),
    "ccu-ta2": Trial(questionnaires),
    "lorehlt-mt": Trial(translated, _of_one_system),
    "mteval": Trial(translated, _named, again=frozenset({"attributes"})),
    "mt-text": Trial(translated),
    "tmx": Trial(translated),
    "sacrebleu-tsv": Trial(translated, _named),
    "standoff": Trial(narrowed=_of_standoff),
    "brat": Trial(narrowed=_of_brat, again=frozenset({"modifiers"})),
    "gate-xml": Trial(narrowed=_of_gate),
    "pubtator": Trial(narrowed=_of_pubtator),
    "appen": Trial(situations),
    "speech-sf-json": Trial(situations),
    "speech-sf-tsv": Trial(situations),
    "lorehlt-sf-json": Trial(lorehlt_situations, _framed),
    "lorehlt-sf-tables": Trial(lorehlt_situations, _framed),
    "lorehlt-sf-reference": Trial(lorehlt_situations),
    "label-studio": Trial(narrowed=_of_tools, again=frozenset({"attributes"})),
    "doccano": Trial(narrowed=_of_doccano),
    "prodigy": Trial(narrowed=_of_tools, again=frozenset({"attributes"})),
    "spacy-json": Trial(narrowed=_of_tools),
    "spacy-docbin": Trial(narrowed=_of_words, again=frozenset({"tokens", "attributes"})),
    "edl-tab": Trial(narrowed=_of_tables),
    "neleval": Trial(narrowed=_of_neleval),
    "conll-columns": Trial(narrowed=_of_columns),
    "conllu-plus": Trial(narrowed=_of_columns),
    "hf-tokens": Trial(narrowed=_of_rows),
    "hipe": Trial(narrowed=_of_columns),
    "conll-coref": Trial(counted),
    "ltf": Trial(again=frozenset({"attributes"})),
    "laf": Trial(again=frozenset({"attributes"})),
    "hub4": Trial(templettes),
    "sgml-corpus": Trial(marked_up),
    "text": Trial(narrowed=_with_line_ends),
    "cas-xmi": Trial(narrowed=_of_features),
    "cas-json": Trial(narrowed=_of_features),
    "webanno-tsv": Trial(narrowed=_of_features),
    "ccu-reference": Trial(drawn_streams.annotated, again=frozenset({"attributes"})),
    "ccu-submission": Trial(drawn_streams.submitted, again=frozenset({"attributes"})),
    "ccu-index": Trial(drawn_streams.listed),
}
BOTH = [name for name in known() if load(name).reads and load(name).write]


def content(form: Format) -> set[str]:
    """The tables that a format carries, and that of documents' texts."""
    texts = {"documents.text"} & set(form.carries)
    return set(form.tables) - {"sources"} | texts


def losses(form: Format, corpus: Corpus, read: Format | None = None) -> dict[str, int]:
    """What the declarations say that a format has no place for, by what that is.

    It is in the words of the format that was read, or else of the tables.
    """
    counts, words = Counter[str](), read.words if read else {}
    countable = Counter[str]()
    whole, corpus = corpus, without_twins(form, corpus)
    texts = whole.modifiers.join(corpus.modifiers, on="row", how="anti").drop_nulls("text")
    countable.update(wording.word_counts(words, "modifiers.text", texts))
    kept = of_its_kinds(form, corpus)
    for name, frame in corpus.tables():
        if frame.is_empty():  # most are; what nothing is called takes time
            continue
        after: pl.DataFrame = getattr(kept, name)
        if name not in form.tables:
            countable.update(wording.word_counts(words, name, frame))
        elif name == "frames":
            kinds = Counter(frame["kind"].to_list()) - Counter(after["kind"].to_list())
            counts.update(
                {KINDS.get(kind, f"frames of the kind {kind}"): kinds[kind] for kind in kinds}
            )
        else:
            gone = frame.filter(~pl.col("row").is_in(after["row"].implode()))
            for word, count in wording.word_counts(words, name, gone).items():
                counts[f"{numbers.plural(word)} of frames of other kinds"] += count
        if name in form.tables:
            for column in set(frame.columns) - set(columns(form, name)) - set(KEYS):
                if after[column].null_count() < after.height:
                    values = after.filter(pl.col(column).is_not_null())
                    if f"{name}.{column}" == "mentions.text" and "text" in columns(
                        form, "documents"
                    ):
                        values = values.filter(~in_its_text(corpus, values))
                    countable.update(wording.word_counts(words, f"{name}.{column}", values))
    counts.update(form.count_losses(of_its_kinds(form, whole)))
    counts.update(declared(form, of_its_kinds(form, whole)))
    shown = Counter[str]()
    for what, count in counts.items():
        shown[in_their_number(what, count)] += count
    for word, count in countable.items():
        shown[numbers.count_of(count, word).partition(" ")[2]] += count
    return {what: count for what, count in shown.items() if count}


def declared(form: Format, corpus: Corpus) -> dict[str, int]:
    """What a format needs of a document and does not have, and the names that it lacks."""
    assert not form.odd_names or not corpus.documents["name"].str.contains(form.odd_names).any()
    counts = {}
    for item, what in form.lacks.items():
        table, column = item.split(".")
        counts[what] = sum(value != "" for value in getattr(corpus, table)[column])
    if form.needs:
        held = {
            row[key]
            for item in form.needs
            for row in getattr(corpus, item.split(".")[0]).to_dicts()
            for key in ["row" if "." in item else "document"]
            if "." not in item or row[item.split(".")[1]] is not None
        }
        *some, last = (item.split(".")[-1] for item in form.needs)
        wanted = f"{', '.join(some)} or {last}" if some else last
        counts[f"documents without {wanted}"] = len({*corpus.documents["row"]} - held)
    return counts


def in_its_text(corpus: Corpus, mentions: pl.DataFrame) -> pl.Series:
    """Whether the text of each mention is that of its document at its place."""
    texts = dict(corpus.documents.select("row", "text").iter_rows())
    found = [
        (texts[row["document"]] or "")[row["start"] : row["end"]] == row["text"]
        and row["fragments"] is None
        for row in mentions.iter_rows(named=True)
    ]
    return pl.Series(found, dtype=pl.Boolean)


def without_twins(form: Format, corpus: Corpus) -> Corpus:
    """A corpus without what it has twice, as normalizations of mentions and as their entities.

    What a format has a place for is left, and of what it has none for the normalization.
    """
    modifiers, mentions = corpus.modifiers.to_dicts(), corpus.mentions.to_dicts()
    links, gone = corpus.links.to_dicts(), set[int]()
    for modifier in modifiers:
        named = [row for row in mentions if place(row)[:1] == place(modifier)[:1]]
        named = [row for row in named if row["mention"] == modifier["target"]][:1]
        value = (modifier["value"] or "").removeprefix("KB:")
        if not named or modifier["modifier"][:1] != "N" or modifier["label"] != "Reference":
            continue
        own = [row for row in named if row["entity"] == value]
        others = [
            row for row in links if (row["mention_row"], row["entity"]) == (named[0]["row"], value)
        ]
        if (own and "mentions.entity" in form.carries) or (others and "links" in form.carries):
            gone |= {modifier["row"]} if "modifiers" not in form.carries else set()
        if "mentions.entity" not in form.carries:
            for row in own:
                row["entity"] = None
        if "links" not in form.carries:
            links = [row for row in links if row not in others]
    kept = [row for row in modifiers if row["row"] not in gone]
    return corpus.replace(modifiers=kept, mentions=mentions, links=links)


def in_their_number(what: str, count: int) -> str:
    """A phrase in the plural, in the singular for one."""
    return numbers.counted_phrase(count, what).partition(" ")[2]


def of_its_kinds(form: Format, corpus: Corpus) -> Corpus:
    """A corpus without frames of other kinds, row by row: they take with them what is theirs."""
    if not form.frame_kinds or {*corpus.frames["kind"]} <= {*form.frame_kinds}:
        return corpus
    rows: dict[str, Rows] = {name: frame.to_dicts() for name, frame in corpus.tables()}
    rows["frames"] = [row for row in rows["frames"] if row["kind"] in form.frame_kinds]
    kept = {row["row"] for row in rows["frames"]}
    for table in ("sentiments", "arguments", "fills"):
        rows[table] = [row for row in rows[table] if row["frame_row"] in kept]
    before = identified(corpus.frames.to_dicts(), "frame")
    while lost := before - named(rows):
        before = identified(rows["modifiers"], "modifier")
        for table, column in (
            ("arguments", "target"),
            ("modifiers", "target"),
            ("groups", "member"),
        ):
            rows[table] = [row for row in rows[table] if (row["document"], row[column]) not in lost]
        before -= {*lost}
    places = {place(item) for item in chain(*(corpus_rows(corpus, table) for table in ITEMS))}
    places -= {place(item) for item in chain(*(rows[table] for table in ITEMS))}
    rows["attributes"] = [row for row in rows["attributes"] if place(row) not in places]
    return Corpus(**rows)


ITEMS = (
    *("segments", "tokens", "mentions", "frames", "sentiments", "arguments", "fills"),
    *("modifiers", "groups"),
)


def corpus_rows(corpus: Corpus, table: str) -> Rows:
    frame: pl.DataFrame = getattr(corpus, table)
    return frame.to_dicts()


def place(row: Mapping[str, Any]) -> tuple[int, ...]:
    return row["document"], row["origin"], row["record"]


def identified(rows: Rows, column: str) -> set[tuple[int, str]]:
    """The identifiers of items, with their documents."""
    return {(row["document"], row[column]) for row in rows if row[column] is not None}


def named(rows: Mapping[str, Rows]) -> set[tuple[int, str]]:
    """What can be referred to."""
    listed = (("mentions", "mention"), ("frames", "frame"), ("modifiers", "modifier"))
    return set().union(*(identified(rows[table], column) for table, column in listed))


def listed_losses(findings: list[Finding]) -> dict[str, int]:
    """What a conversion reports as lost."""
    lost = [finding.message for finding in findings if finding.code in {"CNV101", "CNV103"}]
    parts = [message.partition(" cannot represent ")[2].partition(" ") for message in lost]
    return {what: int(count.replace(",", "")) for count, _, what in parts}


def written(form: Format, corpus: Corpus, folder: Path) -> Corpus:
    """A corpus, written and read again."""
    assert form.write is not None
    path = folder / f"written{form.suffixes[0] if form.suffixes else ''}"
    form.write([corpus], path)
    readings = list(form.read(open_source(str(path))))
    problems = [f for reading in readings for f in reading.findings if f.severity == "error"]
    assert problems == []
    return Corpus.concat(reading.corpus for reading in readings)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BOTH)
def test_what_is_declared_comes_back_equal(name: str) -> None:
    form, trial = load(name), TRIALS.get(name, Trial())

    @given(trial.corpora())
    @settings(max_examples=3, deadline=None)
    def hold(drawn: Corpus) -> None:
        corpus = restricted(form, trial.narrowed(drawn))
        assert losses(form, corpus) == {}
        with tempfile.TemporaryDirectory() as folder:
            again = written(form, corpus, Path(folder))
        for table in form.tables[1:]:
            before, after = said(form, corpus, table), said(form, again, table)
            assert before - after == Counter(), table
            assert table in trial.again or after - before == Counter(), table

    hold()


KINDS = {
    "event": "events",
    "relation": "relations",
    "fact": "relations of entities",
    "situation": "situation frames",
    "templette": "template instances",
}
"""What frames of the kinds that the formats have today are called."""


def claims() -> Corpus:
    """A frame of a kind that no format has, and all that can belong to it; beside an event."""
    spans = {"T1": (0, 3), "T2": (4, 7)}
    frames = {"C1": "claim", "E1": "event"}
    targets = [(0, "T1"), (0, "E1"), (1, "T1"), (1, "C1")]
    modified = {"M1": "C1", "M2": "M1", "M3": "E1"}
    members = ["C1", "T1", "T2"]
    listed: dict[str, Rows] = {
        "mentions": [
            {"mention": name, "label": "City", "start": a, "end": b, "text": "Osh met"[a:b]}
            for name, (a, b) in spans.items()
        ],
        "frames": [
            {"frame": name, "kind": kind, "label": "Meet", "trigger": "T2"}
            for name, kind in frames.items()
        ],
        "arguments": [
            {"frame_row": row, "position": 1 + at % 2, "role": "Who", "target": target}
            for at, (row, target) in enumerate(targets)
        ],
        "modifiers": [
            {"modifier": name, "label": "Negation", "target": target}
            for name, target in modified.items()
        ],
        "groups": [{"group": "1", "kind": "Equiv", "member": member} for member in members],
        "attributes": [{"element": "relation/infon", "name": "note", "value": "sure"}],
        "fills": [
            {"frame_row": 0, "slot": "NAME", "slot_number": 1, "optional": False, "kind": "text",
             "alternative": 1, "position": 1, "text": "Osh"}
        ],
    }  # fmt: skip
    for at, rows in enumerate(listed.values()):
        for row, one in enumerate(rows):
            one |= {"row": row, "document": 0, "origin": 0, "record": 100 * at + row}
    listed["attributes"][0]["record"] = listed["frames"][0]["record"]
    source = {"row": 0, "path": "x", "member": "x", "format": "x", "sha256": ""}
    documents = [{"row": 0, "name": "d", "text": "Osh met", "origin": 0}]
    return Corpus(sources=[source], documents=documents, **listed)


@pytest.mark.parametrize("name", [n for n in known() if load(n).frame_kinds and load(n).write])
def test_frames_of_another_kind_are_lost_with_all_that_belongs_to_them(
    name: str, tmp_path: Path
) -> None:
    form, corpus, path = load(name), claims(), tmp_path / "claims.jsonl"
    write = load("jsonl").write
    assert write is not None
    write([corpus], path)
    there = tmp_path / f"there{form.suffixes[0]}"
    with pytest.raises(NotConverted) as refused:
        convert(str(path), str(there), to_format=name, strict_loss=True)
    assert [*tmp_path.iterdir()] == [path]
    nothing = "CNV106" in {finding.code for finding in refused.value.findings}
    # Where the event has no place, the mentions beside it may have one.
    assert nothing == ("event" not in form.frame_kinds and "mentions" not in form.tables)
    lost = losses(form, corpus) if nothing else listed_losses(refused.value.findings)
    assert lost == losses(form, corpus)
    assert lost["frame of the kind claim"] == 1
    counts = {"arguments": 3, "modifiers": 2, "groups": 1, "attributes": 1, "fills": 1}
    if "event" not in form.frame_kinds:
        counts |= {"arguments": 4, "modifiers": 3}
    for table in counts.keys() & set(form.tables):
        what = f"rows of {table} of frames of other kinds"
        assert lost[in_their_number(what, counts[table])] == counts[table]
    if nothing:
        own = {in_their_number(what, count): count for what, count in form.losses(corpus).items()}
        assert Counter(own) <= Counter(lost)
        return
    assert listed_losses(convert(str(path), str(there), to_format=name)) == lost
    if form.reads:
        again = Corpus.concat(item.corpus for item in form.read(open_source(str(there))))
        assert set(again.frames["kind"]) <= {*form.frame_kinds}
        assert not {"C1", "M1", "M2"} & {
            *again.frames["frame"], *again.arguments["target"], *again.groups["member"],
            *again.modifiers["modifier"], *again.modifiers["target"],
        }  # fmt: skip
        assert "sure" not in again.attributes["value"].to_list()


# What each format that is read is converted from: its own valid fixtures.
ELSEWHERE = {
    "standoff": "standoff/valid/full",
    "jsonl": "lorehlt-edl/valid/texts.jsonl",
    "document-list": "lorehlt-edl/valid/documents.list",
    "edl-tab": "lorehlt-edl/valid/submission.tab",
    "kb-tab": "lorehlt-edl/valid/kb.tab",
    "seedev-sentences": "seedev-sentences/valid/sentences.tsv",
    "conllu": "conllu/valid/water.conllu",
    "mteval": "mteval/valid/sets.mteval.xml",
    "mt-text": "mt-text/valid/two-sets",
    "sacrebleu-tsv": "sacrebleu-tsv/valid/two-sets",
    "hub4": "hub4/valid/reference.tpl",
    "sgml-corpus": "hub4/valid/corpus.sgml",
    "neleval": "neleval/valid/all-columns.tsv",
    "text": "rsd/valid/water-1.rsd.txt",
    "speech-sf-tsv": "speech-sf-json/valid",
    "ccu-reference": "ccu-reference/valid/annotation",
    "ccu-submission": "ccu-submission/valid/nd",
    "ccu-index": "ccu-index/valid/system_input.index.tab",
    "corpus": "standoff/valid/full",
}
MADE = {"speech-sf-tsv": "speech-sf-json", "corpus": "standoff"}
"""Formats without a fixture of their own: what it is made from."""
WRITTEN = [name for name in known() if load(name).write]


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A file or folder of each format that is read."""
    found = {}
    for name in known():
        found[name] = FIXTURES / ELSEWHERE.get(name, f"{name}/valid")
        if name in MADE:
            made = tmp_path_factory.mktemp("made") / f"made{load(name).suffixes[0]}"
            convert(str(found[name]), str(made), from_format=MADE[name], to_format=name)
            found[name] = made
    return found


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", [name for name in known() if load(name).reads])
def test_each_pair_of_formats_says_what_it_loses(
    name: str, sources: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = load(name)
    readings = list(form.read(open_source(str(sources[name]))))
    corpus = readings[0].corpus if len(readings) == 1 else Corpus.concat(r.corpus for r in readings)
    once = replace(form, read=lambda _: iter(readings))  # it is what takes most of the time
    monkeypatch.setattr("hlteval.workflows.convert.inputs.detect_format", lambda *_: once)
    assert sum(getattr(corpus, table).height for table in form.tables[1:]) > 0
    shared = content(form) - {"documents"} or {"documents"}
    sharing = [other for other in WRITTEN if shared & content(load(other))]
    assert set(sharing) >= {"corpus", "jsonl"}
    # Pairs are many: half of them, of each format others; of losing ones, one of five is refused.
    for number, other in enumerate(sharing, start=[*known()].index(name)):
        if number % 2:
            continue
        strict = number % 5 == 0
        converted(form, corpus, load(other), sources[name], tmp_path / other, strict=strict)


def converted(
    form: Format, corpus: Corpus, other: Format, source: Path, path: Path, *, strict: bool
) -> None:
    """Hold that a conversion loses what the declarations say, and that the rest arrives."""
    given = (str(source), str(path))
    named = {"from_format": form.name, "to_format": other.name}
    expected = losses(other, corpus, form)
    if expected and strict:
        with pytest.raises(NotConverted) as refused:
            convert(*given, **named, strict_loss=True)
        if isinstance(refused.value, Lossy):
            assert listed_losses(refused.value.findings) == expected, other.name
        assert list(path.parent.glob(f"*{path.name}*")) == []
    try:
        findings = convert(*given, **named, strict_loss=not expected)
    except NotConverted as nothing:
        assert "CNV106" in {finding.code for finding in nothing.findings}
        assert list(path.parent.glob(f"*{path.name}*")) == []
        assert other.write is not None
        if other.reads:
            other.write([other.supported(corpus)], path)
        assert not says_something(other, corpus, read_again(other, path))
        return
    assert listed_losses(findings) == expected, other.name
    assert not (expected and strict) or isinstance(refused.value, Lossy)
    again = read_again(other, path)
    assert says_something(other, corpus, again)
    if again is not None:
        kept = of_its_kinds(other, corpus)
        lost = Counter(other.count_losses(kept)) + Counter(declared(other, kept))
        arrived(form, kept, other, again, lost.total())


def read_again(form: Format, path: Path) -> Corpus | None:
    """What a format reads of what it has written; None for a format that is only written."""
    if not form.reads:
        return None
    return Corpus.concat(item.corpus for item in form.read(open_source(str(path))))


def says_something(form: Format, corpus: Corpus, again: Corpus | None) -> bool:
    """Whether anything of a corpus is there, beyond names of documents, once it is written."""
    if again is None:
        return bool(of_its_kinds(form, corpus).frames.height)
    kept = {name for name, frame in again.tables() if frame.height} - {"sources", "attributes"}
    texts = set(again.documents["text"].drop_nulls()) - {""}
    silent_too = not texts and kept == {"documents"} and form.tables[1:] != ("documents",)
    only_names = {name for name, frame in corpus.tables() if frame.height} <= {
        "sources",
        "documents",
    }
    only_names &= not set(corpus.documents["text"].drop_nulls()) - {""}
    return bool(kept) and (only_names or not silent_too)


def arrived(form: Format, corpus: Corpus, other: Format, again: Corpus, lost: int) -> None:
    """Hold that what both formats declare is there, but for what is reported as lost.

    Where something says nothing, the other format may say something. With what is lost, all that
    belongs to it is lost.
    """
    for table in content(form) & content(other) & TABLES.keys():
        without = silent(corpus, table)
        before = said(other, corpus, table, without)
        after = said(other, again, table, without)
        belongs = {target for _, target in TABLES[table].references} - {"documents", "sources"}
        assert lost or before - after == Counter(), (other.name, table, before - after)
        assert belongs or after.total() >= before.total() - lost, (other.name, table)
