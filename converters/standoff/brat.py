r"""brat standoff: a folder with one text file and one annotation file per document.

Format:
    `<document>.txt` is the text, `<document>.ann` its annotations, one per line: identifier, tab,
    content. The first letter gives the kind of annotation (grammars/brat.lark): T a span, E an
    event with its trigger, R a binary relation, A (or M) an attribute, N a normalization, # a note,
    * an equivalence. Lines may come in any order; an .ann file may be empty.

Conventions:
    Offsets are 0-based, half-open code points of the text, in which every line break counts as one.
    Fragments of a discontinuous span are separated by ``;``, their texts by a space. The first
    normalization of a mention is its entity, further ones are other candidates. An entity without a
    knowledge base is written with the knowledge base ``KB``. An event without a trigger gets one at
    its first argument, with a note that marks it; reading removes both. Identifiers that are not
    valid in brat are replaced. An annotation.conf in the folder of a document or in one above
    declares the labels, arguments and values; a visual.conf, the names that are displayed.

Example lines:
    T1	Organization 0 4	Sony
    T2	MERGE-ORG 14 27	joint venture
    E1	MERGE-ORG:T2 Org1:T1 Org2:T3
    R1	Origin Arg1:T3 Arg2:T4
    A1	Negation E1
    A2	Confidence E1 L1
    N1	Reference T1 Wikipedia:27989	Sony
    *	Equiv T1 T3
    #1	AnnotatorNotes T1	this annotation is suspect

Codes raised: BRT1xx, for malformed records; BRT2xx, for records that brat interprets differently;
ACFxxx, for annotation.conf and records that it does not allow.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.standoff import reading, writing
from hlteval.converters.standoff.conf_findings import check, read_folders, with_configurations
from hlteval.converters.standoff.dialects import BRAT
from hlteval.converters.toolkit.offsets import CHARACTERS, in_characters
from hlteval.converters.toolkit.spans import other_texts
from hlteval.findings import FieldRef, Finding, Problem
from hlteval.representation import Corpus, row_hash
from hlteval.sources import Member, Source


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """The files of each document, with the configurations that are for it."""
    return with_configurations(reading.documents(source, BRAT), source.members)


def read(
    source: Source, offsets: str = CHARACTERS, configuration: str = "yes"
) -> Iterator[ReadResult]:
    """The documents of a source in batches, in the order of their names."""
    folders = read_folders(source.members if configuration == "yes" else ())
    for result, tails in reading.read(source, BRAT):
        corpus = in_characters(result.corpus, offsets)
        remarks = _remarks(corpus, result.members, tails)
        beside = check(corpus, result.members, folders, FORMAT.locate)
        findings = (*result.findings, *remarks, *beside)
        corpus = writing.with_entities(writing.without_placeholders(corpus))
        yield ReadResult(corpus, findings, result.members)


_TEXTS = ("code", "field", "id", "given", "label")
#: A row per finding: its code, its place, and the values of its message.
_REMARK = {**dict.fromkeys(("origin", "record"), pl.Int64), **dict.fromkeys(_TEXTS, pl.String)}


def _remarks(corpus: Corpus, members: Sequence[Member], tails: pl.DataFrame) -> Iterator[Finding]:
    """Records that brat itself ignores or reads differently.

    Args:
        corpus: of a batch.
        members: its files.
        tails: its records that end in a comment; see `Batch`.
    """
    mentions, frames, arguments = corpus.mentions, corpus.frames, corpus.arguments
    again = arguments["frame_row"] == arguments["frame_row"].shift()
    again &= arguments["role"] == arguments["role"].shift()
    repeated = arguments.filter(again).select("role", row="frame_row")
    relations = frames.filter(kind="relation") if repeated.height else frames.clear()
    relations = relations.join(repeated, on="row", maintain_order="left")
    key = ["document", "label", "trigger"]
    events = frames.drop_nulls("trigger")
    if events.height:
        spans = mentions.select("document", "label", trigger="mention")
        events = events.join(spans, on=key, how="anti", maintain_order="left")
    placed = other_texts(corpus).with_columns(pl.col("there").str.head(40))
    fit, beyond = placed.filter("fit"), placed.filter(~pl.col("fit"))
    tables: Sequence[tuple[str, str, pl.DataFrame, Mapping[str, str]]] = (
        ("BRT201", "label", mentions.filter(pl.col("text").is_null()), {"id": "mention"}),
        ("BRT202", "role 2", relations, {"id": "frame", "given": "role"}),
        ("BRT203", "tail", tails, {}),
        ("BRT204", "id", _repetitions(corpus), {"id": "id", "given": "first"}),
        ("BRT205", "trigger", events, {"id": "frame", "given": "trigger", "label": "label"}),
        ("BRT206", "fragments", beyond, {"id": "mention"}),
        ("BRT207", "text", fit, {"id": "mention", "given": "there"}),
    )
    remarks = [pl.DataFrame(schema=_REMARK)]
    for code, field, rows, values in (table for table in tables if table[2].height):
        columns = {name: pl.col(column).cast(pl.String) for name, column in values.items()}
        place = {"code": pl.lit(code), "field": pl.lit(field)}
        remarks.append(rows.select("origin", "record", **place, **columns))
    every = pl.concat(remarks, how="diagonal").sort("origin") if remarks[1:] else remarks[0]
    for (origin,), group in every.group_by("origin", maintain_order=True):
        member, listed = members[int(str(origin))], group.rows(named=True)
        refs = [FieldRef(row["record"], row["field"]) for row in listed]
        for row, location in zip(listed, FORMAT.locate(member, refs), strict=True):
            named = {name: row[name] or "" for name in ("id", "given", "label")}
            problem = Problem(row["code"], row["record"], 0, 0, named)
            span, excerpt = (location.span, location.excerpt) if location else (None, None)
            yield problem.finding(member.display, span, excerpt, row["id"])


def _repetitions(corpus: Corpus) -> pl.DataFrame:
    """The records with the identifier of an earlier record of the document, in line `first`."""
    place, key = ("document", "origin", "record"), ("document", "id")
    named = {"mention": corpus.mentions, "frame": corpus.frames, "modifier": corpus.modifiers}
    hashes = pl.concat(
        rows.select(row_hash("document", column)).to_series() for column, rows in named.items()
    )
    if hashes.n_unique() == len(hashes):
        return pl.DataFrame(schema=dict.fromkeys((*place, "id", "first"), pl.String))
    records = pl.concat(rows.select(*place, id=column) for column, rows in named.items())
    records = records.filter(hashes.is_duplicated())
    records = records.filter(pl.struct(key).is_duplicated()).sort("origin", "record")
    first = records.with_columns(first=pl.col("record").first().over(key))
    return first.filter(~pl.struct(key).is_first_distinct())


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents as a folder of .txt and .ann files; lines keep the order of their records."""
    writing.write(corpora, path, BRAT)


sniff = partial(reading.sniff, dialect=BRAT)
locate = partial(reading.locate, dialect=BRAT)
count_losses = partial(writing.count_losses, dialect=BRAT)
FORMAT = declaration(__name__)
