"""Writes translations as the files of LoReHLT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import polars as pl

from hlteval.converters.mt.texts import SYSTEM, of_role, other_texts
from hlteval.converters.toolkit import per_document
from hlteval.representation import Corpus
from hlteval.syntax.xml_places import ABSENT, attribute, attributes, content, start_tag

SUFFIX = ".ltf.xml"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE mteval SYSTEM "lorehlt-mt-v1.2.dtd">\n'


def as_files(corpus: Corpus, role: str = SYSTEM) -> Iterator[tuple[str, str]]:
    """The name and content of every file; a document without texts of the role has none."""
    texts = of_role(corpus, role)
    without = _unwritable(corpus, texts)
    lines = dict(_lines(texts).iter_rows())
    output_paths = per_document.output_paths(corpus, "lorehlt-mt", SUFFIX)
    for row, name in corpus.documents.select("row", "name").iter_rows():
        if row in lines and row in output_paths and row not in without:
            doc = f"    <doc{attributes([('docid', name)])}>\n{lines[row]}    </doc>\n"
            yield output_paths[row], f"{_HEAD}<mteval>\n  <tstset>\n{doc}  </tstset>\n</mteval>\n"


def _lines(texts: pl.DataFrame) -> pl.DataFrame:
    """The segments of each document as lines: `document`, `line`."""
    tag = start_tag("seg", attribute("id", "segment"))
    line = pl.concat_str(pl.lit("      "), tag, content("text"), pl.lit("</seg>\n"))
    return texts.group_by("document", maintain_order=True).agg(line=line.str.join(""))


def _unwritable(corpus: Corpus, texts: pl.DataFrame) -> set[int]:
    """The documents with characters that XML cannot hold."""
    found = pl.any_horizontal(pl.col("segment", "text").str.contains(ABSENT))
    named = corpus.documents.select("row", "name").iter_rows()
    names = {row for row, name in named if re.search(ABSENT, name)}
    return names.union(texts.filter(found)["document"])


def lost(corpus: Corpus, role: str = SYSTEM) -> Mapping[str, int]:
    """The counts of what the files cannot represent.

    Args:
        corpus: the documents.
        role: which texts are written.
    """
    texts = of_role(corpus, role)
    silent = corpus.documents.filter(~pl.col("row").is_in(texts["document"].implode())).height
    return {
        **per_document.count_without_file(corpus, "lorehlt-mt", SUFFIX),
        "documents without translations": silent,
        "documents with characters not allowed in XML": len(_unwritable(corpus, texts)),
        **other_texts(corpus, texts),
    }
