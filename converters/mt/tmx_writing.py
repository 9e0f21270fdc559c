"""Writes translations as TMX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.mt.texts import ROLES, SOURCE, UNKNOWN, with_sources
from hlteval.representation import Corpus
from hlteval.syntax.xml_places import ABSENT, attributes, escape

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
_HEADER = (
    ("creationtool", "hlteval"),
    ("creationtoolversion", "1"),
    ("segtype", "sentence"),
    ("o-tmf", "hlteval"),
    ("adminlang", "en"),
)
_VARIANT = ("role", "set", "part", "language", "text")


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All segments as units of one file: the source, then the references, then the systems."""
    corpus = with_sources(Corpus.concat(corpora))
    header = [*_HEADER, ("srclang", _source_language(corpus)), ("datatype", "plaintext")]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{_HEAD}<header{attributes(header)}/>\n<body>\n")
        file.writelines(_units(corpus))
        file.write("</body>\n</tmx>\n")


def _source_language(corpus: Corpus) -> str:
    """The language of all sources; `*all*` where there are several, or none is known."""
    languages = corpus.translations.filter(role=SOURCE)["language"].drop_nulls().unique().to_list()
    return languages[0] if len(languages) == 1 else "*all*"


def _units(corpus: Corpus) -> Iterator[str]:
    """Each segment as a unit."""
    without, names = unwritable(corpus), dict(corpus.documents.select("row", "name").iter_rows())
    key = ["document", "segment"]
    rows = corpus.translations.filter(~pl.col("document").is_in(list(without)))
    order = pl.col("role").replace_strict(list(ROLES), [0, 1, 2], return_dtype=pl.Int64)
    rows = rows.with_columns(_first=pl.col("row").min().over(key), _role=order)
    rows = rows.sort("document", "_first", "_role", maintain_order=True)
    for (document, segment), own in rows.group_by(key, maintain_order=True):
        name = names[int(str(document))]
        head = f"<tu{attributes([('tuid', f'{name} {segment}')])}>\n"
        properties = f"{_property('document', name)}\n{_property('segment', str(segment))}\n"
        variants = "".join(_variant(*cells) for cells in own.select(_VARIANT).iter_rows())
        yield f"{head}{properties}{variants}</tu>\n"


def _property(name: str, value: str | None) -> str:
    return "" if value is None else f'<prop type="x-{name}">{escape(value)}</prop>'


def _variant(role: str, name: str | None, part: str | None, language: str | None, text: str) -> str:
    """A text as a variant."""
    properties = f"{_property('role', role)}{_property('set', name)}{_property('part', part)}"
    tag = f"<tuv{attributes([('xml:lang', language or UNKNOWN)])}>"
    return f"{tag}{properties}<seg>{escape(text)}</seg></tuv>\n"


def unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters that XML cannot hold."""
    columns = ("segment", "set", "language", "part", "text")
    texts = pl.any_horizontal(pl.col(columns).str.contains(ABSENT))
    names = corpus.documents.filter(pl.col("name").str.contains(ABSENT))["row"]
    return {*names, *corpus.translations.filter(texts)["document"]}


def lost(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the file cannot represent."""
    written = corpus.translations["document"].unique()
    silent = corpus.documents.filter(~pl.col("row").is_in(written.implode())).height
    return {
        "documents without translations": silent,
        "documents with characters not allowed in XML": len(unwritable(corpus)),
    }
