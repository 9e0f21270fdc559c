"""Writes a corpus as LAF files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.converters.ltf.bulk import DECLARATION
from hlteval.converters.ltf.fitting import writable_offsets
from hlteval.converters.toolkit import per_document
from hlteval.representation import Corpus
from hlteval.syntax.xml_places import ABSENT, attribute, attributes, content, start_tag

SUFFIX = ".laf.xml"
DOCTYPE = '<!DOCTYPE LCTL_ANNOTATIONS SYSTEM "laf.v1.2.dtd">'
#: The task of annotations from other formats: named entities.
_TASK = "NE"
_ELEMENTS = ("LCTL_ANNOTATIONS", "DOC", "ANNOTATION")


def as_files(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The name and content of every file, also of documents without mentions."""
    output_paths = per_document.output_paths(corpus, "laf", SUFFIX, shared=True)
    without = _unwritable(corpus)
    lines = dict(_annotations(corpus).iter_rows())
    languages = {
        (document, element): value
        for document, element, value in corpus.attributes.filter(name="lang")
        .select("document", "element", "value")
        .iter_rows()
    }
    known = set(corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))["document"])
    files: dict[str, list[tuple[int, str, str | None]]] = {}
    for row, name, language in corpus.documents.select("row", "name", "language").iter_rows():
        if row in output_paths and row not in without:
            default = None if row in known else language
            files.setdefault(output_paths[row], []).append((row, name, default))
    for path, rows in files.items():
        root = languages.get((rows[0][0], "LCTL_ANNOTATIONS"), rows[0][2])
        body = ""
        for row, name, default in rows:
            own = [("id", name), ("lang", languages.get((row, "DOC"), default))]
            body += f"<DOC{attributes(own)}>\n{lines.get(row, '')}</DOC>\n"
        head = f"{DECLARATION}\n{DOCTYPE}\n<LCTL_ANNOTATIONS{attributes([('lang', root)])}>\n"
        yield path, f"{head}{body}</LCTL_ANNOTATIONS>\n"


def _annotations(corpus: Corpus) -> pl.DataFrame:
    """The annotations of each document as lines: `document`, `line`."""
    place = ["document", "origin", "record"]
    tasks = corpus.attributes.filter(element="ANNOTATION", name="task")
    tasks = tasks.select(*place, task="value").unique(place, keep="first")
    texts = corpus.documents.select(document="row", whole="text")
    written = corpus.mentions.filter(writable_offsets())
    mentions = written.join(tasks, on=place, how="left", maintain_order="left")
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
    attributes = corpus.attributes.filter(pl.col("element").is_in(_ELEMENTS))
    silent = corpus.mentions.filter(pl.col("text").is_null())["document"].implode()
    texts = corpus.documents.filter(
        pl.col("text").str.contains(ABSENT), pl.col("row").is_in(silent)
    )
    return {
        *texts["row"],
        *(row for row, name in named if re.search(ABSENT, name)),
        *corpus.documents.filter(pl.col("language").str.contains(ABSENT))["row"],
        *attributes.filter(pl.col("value").str.contains(ABSENT))["document"],
        *corpus.mentions.filter(found)["document"],
    }


def lost(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the files cannot represent."""
    foreign = ~pl.col("element").is_in(_ELEMENTS) | ~pl.col("name").is_in(["lang", "task"])
    return {
        **per_document.count_without_file(corpus, "laf", SUFFIX, shared=True),
        "mentions with invalid offsets": corpus.mentions.filter(~writable_offsets()).height,
        "documents with characters not allowed in XML": len(_unwritable(corpus)),
        "attributes of other formats": corpus.attributes.filter(foreign).height,
    }
