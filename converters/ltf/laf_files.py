"""The LAF files that a corpus is written to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.converters.ltf.bulk import DECLARATION
from hlteval.converters.toolkit import per_document
from hlteval.representation import Corpus
from hlteval.syntax.xml_text import ABSENT, attribute, attributes, content, start_tag

SUFFIX = ".laf.xml"
DOCTYPE = '<!DOCTYPE LCTL_ANNOTATIONS SYSTEM "laf.v1.2.dtd">'
_TASK = "NE"
"""The task of annotations that come from elsewhere: named entities."""
_ELEMENTS = ("LCTL_ANNOTATIONS", "DOC", "ANNOTATION")


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Every document of a corpus in its file, also those without mentions."""
    output_paths = per_document.output_paths(corpus, "laf", SUFFIX)
    without = _unwritable(corpus)
    lines = dict(_annotations(corpus).iter_rows())
    said = {
        (document, element): value
        for document, element, value in corpus.attributes.filter(name="lang")
        .select("document", "element", "value")
        .iter_rows()
    }
    files: dict[str, list[tuple[int, str, str | None]]] = {}
    for row, name, language in corpus.documents.select("row", "name", "language").iter_rows():
        if row in output_paths and row not in without:
            files.setdefault(output_paths[row], []).append((row, name, language))
    known = set(corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))["document"])
    for home, rows in files.items():
        row, _, language = rows[0]
        root = said.get((row, "LCTL_ANNOTATIONS"), None if row in known else language)
        body = "".join(
            f"<DOC{attributes([('id', name), ('lang', _language(row, language, known, said))])}>\n"
            f"{lines.get(row, '')}</DOC>\n"
            for row, name, language in rows
        )
        head = f"{DECLARATION}\n{DOCTYPE}\n<LCTL_ANNOTATIONS{attributes([('lang', root)])}>\n"
        yield home, f"{head}{body}</LCTL_ANNOTATIONS>\n"


def _language(
    row: int, language: str | None, known: set[int], said: Mapping[tuple[int, str], str]
) -> str | None:
    return said.get((row, "DOC"), None if row in known else language)


def _annotations(corpus: Corpus) -> pl.DataFrame:
    """The annotations of each document as lines: `document`, `lines`."""
    place = ["document", "origin", "record"]
    tasks = corpus.attributes.filter(element="ANNOTATION", name="task")
    tasks = tasks.select(*place, task="value").unique(place, keep="first")
    texts = corpus.documents.select(document="row", whole="text")
    mentions = corpus.mentions.join(tasks, on=place, how="left", maintain_order="left")
    mentions = mentions.join(texts, on="document", how="left", maintain_order="left")
    cut = pl.col("whole").str.slice(
        pl.col("start"), (pl.col("end") - pl.col("start")).clip(lower_bound=0)
    )
    own = pl.col("format") == "laf"
    mentions = mentions.join(
        corpus.sources.select("format", origin="row"), on="origin", maintain_order="left"
    )
    mentions = mentions.with_columns(
        text=pl.coalesce("text", cut, pl.lit("")),
        task=pl.when(own).then(pl.col("task")).otherwise(pl.lit(_TASK)),
        id="mention",
        type="label",
        start_char="start",
        end_char=pl.col("end") - 1,
    )
    line = pl.concat_str(
        start_tag(
            "ANNOTATION", attribute("id", "mention"), attribute("task"), attribute("type", "label")
        ),
        pl.concat_str(
            start_tag("EXTENT", attribute("start_char"), attribute("end_char")),
            content("text"),
            pl.lit("</EXTENT>"),
        ),
        pl.lit("</ANNOTATION>\n"),
        separator="\n",
    )
    return mentions.group_by("document", maintain_order=True).agg(line.str.join(""))


def _unwritable(corpus: Corpus) -> set[int]:
    named = corpus.documents.select("row", "name").iter_rows()
    found = pl.any_horizontal(pl.col("mention", "label", "text").str.contains(ABSENT))
    return {row for row, name in named if re.search(ABSENT, name)} | set(
        corpus.mentions.filter(found)["document"]
    )


def lost(corpus: Corpus) -> Mapping[str, int]:
    """What of its tables the files do not hold."""
    foreign = ~pl.col("element").is_in(_ELEMENTS) | ~pl.col("name").is_in(["lang", "task"])
    return {
        **per_document.unnamed(corpus),
        "documents with characters not allowed in XML": len(_unwritable(corpus)),
        "attributes of other formats": corpus.attributes.filter(foreign).height,
    }
