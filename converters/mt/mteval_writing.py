"""Writes sets of translations as one file of mteval."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import polars as pl

from hlteval.converters.mt.texts import REFERENCE, ROLES, SOURCE, SYSTEM, UNKNOWN, with_sources
from hlteval.representation import Corpus
from hlteval.syntax.xml_places import ABSENT, attributes, escape

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n'
_TAGS: Mapping[str, str] = {SOURCE: "srcset", REFERENCE: "refset", SYSTEM: "tstset"}
_PART = "^(hl|p|poster) [1-9][0-9]*$"
_OWN = ("setid", "srclang", "trglang")
_OF_DOCUMENT = ("genre", "origlang")


class _Set(NamedTuple):
    """What the documents of a set have in common."""

    role: str
    name: str | None
    language: str | None
    setid: str | None
    srclang: str | None


def write(
    corpora: Iterable[Corpus],
    path: Path,
    setid: str = "test",
    srclang: str = UNKNOWN,
    trglang: str = UNKNOWN,
    sysid: str = "system",
) -> None:
    """All sets in one file: sources, then references, then systems.

    Args:
        corpora: the documents.
        path: the file.
        setid: the name of the test set, where none is known.
        srclang: the language of the sources, where none is known.
        trglang: the language of the translations, where none is known.
        sysid: the name of the system, where none is known.
    """
    defaults = {"setid": setid, "srclang": srclang, "trglang": trglang, "sysid": sysid}
    every = with_sources(Corpus.concat(corpora))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_HEAD)
        file.writelines(_sets(every, defaults))
        file.write("</mteval>\n")


def _sets(corpus: Corpus, defaults: Mapping[str, str]) -> Iterator[str]:
    """Each set with its documents."""
    known = _attributes(corpus)
    sources = _source_languages(corpus)
    titles = dict(corpus.documents.select("row", "name").iter_rows())
    without = unwritable(corpus)
    sets: dict[_Set, dict[int, list[tuple[str | None, str, str]]]] = {}
    columns = ("document", "role", "set", "language", "part", "segment", "text")
    for document, role, name, language, *text in corpus.translations.select(columns).iter_rows():
        if document not in without:
            own = known.get((document, f"{_TAGS[role]} {name}" if name else _TAGS[role]), {})
            source = own.get("srclang", sources.get(document))
            key = _Set(role, name, language, own.get("setid"), source)
            sets.setdefault(key, {}).setdefault(document, []).append((text[0], text[1], text[2]))
    for key in sorted(sets, key=lambda each: ROLES.index(each.role)):
        yield f"<{_TAGS[key.role]}{attributes(_of_set(key, defaults))}>\n"
        for document, texts in sets[key].items():
            own = known.get((document, "doc"), {})
            pairs = [("docid", titles[document]), *((name, own.get(name)) for name in _OF_DOCUMENT)]
            yield f"<doc{attributes(pairs)}>\n{_body(texts)}</doc>\n"
        yield f"</{_TAGS[key.role]}>\n"


def _of_set(key: _Set, defaults: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """The attributes of a set."""
    setid = key.setid or defaults["setid"]
    if key.role == SOURCE:
        return [("setid", setid), ("srclang", key.language or key.srclang or defaults["srclang"])]
    name = (
        ("refid", key.name) if key.role == REFERENCE else ("sysid", key.name or defaults["sysid"])
    )
    return [
        ("setid", setid),
        ("srclang", key.srclang or defaults["srclang"]),
        ("trglang", key.language or defaults["trglang"]),
        name,
    ]


def _body(texts: Iterable[tuple[str | None, str, str]]) -> str:
    """The segments of a document, those of a part together."""
    body = ""
    for part, inside in groupby(texts, key=lambda text: text[0]):
        lines = "".join(
            f"<seg{attributes([('id', name)])}>{escape(text)}</seg>\n" for _, name, text in inside
        )
        tag = part.partition(" ")[0] if part and re.search(_PART, part) else ""
        body += f"<{tag}>\n{lines}</{tag}>\n" if tag else lines
    return body


def _attributes(corpus: Corpus) -> dict[tuple[int, str], dict[str, str]]:
    """The attributes of documents and of their sets."""
    found: dict[tuple[int, str], dict[str, str]] = {}
    rows = corpus.attributes.select("document", "element", "name", "value").iter_rows()
    for document, element, name, value in rows:
        found.setdefault((document, element), {}).setdefault(name, value)
    return found


def _source_languages(corpus: Corpus) -> dict[int, str]:
    """The language of the sources of each document, where it is known."""
    sources = corpus.translations.filter(role=SOURCE).drop_nulls("language")
    return dict(sources.select("document", "language").unique("document").iter_rows())


def unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters that XML cannot hold."""
    texts = pl.any_horizontal(pl.col("segment", "set", "language", "text").str.contains(ABSENT))
    return {
        *corpus.documents.filter(pl.col("name").str.contains(ABSENT))["row"],
        *corpus.translations.filter(texts)["document"],
        *corpus.attributes.filter(pl.col("value").str.contains(ABSENT))["document"],
    }


def lost(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the file cannot represent."""
    written = corpus.translations["document"].unique()
    silent = corpus.documents.filter(~pl.col("row").is_in(written.implode())).height
    own = pl.col("element").str.contains("^(srcset|refset|tstset)( |$)") & pl.col("name").is_in(
        _OWN
    )
    own |= (pl.col("element") == "doc") & pl.col("name").is_in(_OF_DOCUMENT)
    return {
        "documents without translations": silent,
        "documents with characters not allowed in XML": len(unwritable(corpus)),
        "attributes of other formats": corpus.attributes.filter(~own).height,
        "parts of other formats or in another order": _lost_parts(corpus),
    }


def _lost_parts(corpus: Corpus) -> int:
    """The segments whose part is read as another one, or as none."""
    columns = ("document", "role", "set", "part")
    key = ["document", "role", "set"]
    parts = corpus.translations.select(columns).sort(key, maintain_order=True)
    if parts["part"].null_count() == parts.height:
        return 0
    count = 0
    for _, rows in parts.group_by(key, maintain_order=True):
        number = 0
        for part, same in groupby(rows["part"].to_list()):
            valid = bool(part and re.search(_PART, part))
            number += valid
            if part is not None and not (valid and part.endswith(f" {number}")):
                count += len(list(same))
    return count
