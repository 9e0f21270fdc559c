r"""TMX: translation units with a variant per language, as translation tools exchange them.

Format:
    XML as defined in grammars/tmx.rng (TMX 1.4b): a `tu` per segment with a `tuv` per text. The
    document and the segment are properties of the unit, `x-document` and `x-segment`; the role, set
    and part are properties of the variant, `x-role`, `x-set` and `x-part`.

Conventions:
    A unit without these properties is segment `tuid`, or else its number, of a document with the
    name of the file; a variant without a role is a source if its language is the `srclang`, and a
    reference otherwise. The language `und` means that it is not known. Of inline elements, only the
    text of `hi` is part of the segment. A record is an element, counted by start tags from 1.

Example lines:
    <tu tuid="D1 segment-0">
    <tuv xml:lang="uzb"><seg>Emlashni birinchi kim boshlagan?</seg></tuv>
    <tuv xml:lang="eng"><seg>Who was the first to start vaccination?</seg></tuv>
    </tu>

Codes raised: XML1xx, MTF301.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt import texts
from hlteval.converters.toolkit.source_files import head_of_first
from hlteval.findings import Finding
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax.xml_elements import Reader, examine
from hlteval.syntax.xml_places import Named, attributes, escape, located_findings

# Writes translations as TMX.


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
_TOOL = {"creationtool": "hlteval", "creationtoolversion": "1"}
_HEADER = {**_TOOL, "segtype": "sentence", "o-tmf": "hlteval", "adminlang": "en"}


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All segments as units of one file: the source, then the references, then the systems.

    The language of the file is that of all sources; `*all*` for several, or if none is known.
    """
    corpus = texts.with_sources(Corpus.concat(corpora))
    languages = corpus.translations.filter(role=texts.SOURCE)["language"].drop_nulls().unique()
    language = languages.item() if len(languages) == 1 else "*all*"
    header = [*_HEADER.items(), ("srclang", language), ("datatype", "plaintext")]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{_HEAD}<header{attributes(header)}/>\n<body>\n")
        file.writelines(_units(corpus))
        file.write("</body>\n</tmx>\n")


def _units(corpus: Corpus) -> Iterator[str]:
    """Each segment as a unit, each of its texts as a variant."""
    without, names = unwritable(corpus), dict(corpus.documents.select("row", "name").iter_rows())
    key = ["document", "segment"]
    rows = corpus.translations.filter(~pl.col("document").is_in(list(without)))
    order = pl.col("role").replace_strict(list(texts.ROLES), [0, 1, 2], return_dtype=pl.Int64)
    rows = rows.sort("document", pl.col("row").min().over(key), order, maintain_order=True)
    variants = ("language", "role", "set", "part", "text")
    for (document, segment), own in rows.group_by(key, maintain_order=True):
        name = names[int(str(document))]
        yield f"<tu{attributes([('tuid', f'{name} {segment}')])}>\n"
        yield f"{_properties(document=name)}\n{_properties(segment=str(segment))}\n"
        for language, role, of_set, part, text in own.select(variants).iter_rows():
            tag = f"<tuv{attributes([('xml:lang', language or texts.UNKNOWN)])}>"
            properties = _properties(role=role, set=of_set, part=part)
            yield f"{tag}{properties}<seg>{escape(text)}</seg></tuv>\n"
        yield "</tu>\n"


def _properties(**values: str | None) -> str:
    """The properties that have a value."""
    known = ((name, escape(value)) for name, value in values.items() if value is not None)
    return "".join(f'<prop type="x-{name}">{value}</prop>' for name, value in known)


def unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters that XML cannot hold."""
    columns = ("segment", "set", "language", "part", "text")
    return texts.unwritable_documents(corpus, corpus.translations, *columns)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the file cannot represent."""
    return texts.document_losses(corpus, corpus.translations, unwritable(corpus))


SUFFIX = ".tmx"
#: Inline elements that hold codes of the original format, and no text.
_CODES = ("bpt", "ept", "ph", "it", "ut")


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return texts.with_suffix(source, SUFFIX)


def sniff(source: Source) -> bool:
    """Whether the first file has the root element of TMX."""
    return "<tmx" in head_of_first(members(source))


def read(source: Source) -> Iterator[ReadResult]:
    """The units of all files, as one batch."""
    collected = texts.Collected(source, FORMAT.name)
    findings: list[Finding] = []
    for member in members(source):
        text = collected.files.open(member)
        if text is not None:
            problems = list(_file(text, member, collected))
            findings += located_findings(text, problems, member)
    yield collected.result(findings)


class _Reader(Reader):
    """A reader for which the text of `hi` is text of the element around it, where it is."""

    def characters(self, text: str) -> None:
        element = self.open[-1]
        while element.tag == "hi" and element.parent is not None:
            element = element.parent
        element.chunks.append(text)


def _file(text: str, member: Member, collected: texts.Collected) -> Iterator[Named]:
    """Add the units of a file; yield the problems with it.

    All properties of a unit and of a variant are before the text of the variant.
    """
    found = examine(text, "tmx", member.encoding, _Reader)
    yield from ((problem, None) for problem in found.problems)
    codes = [element for element in found.elements if element.tag in _CODES]
    if codes:
        yield codes[0].problem("MTF301", count=len(codes)), None
    stem, source, number = member.document(member.basename.removesuffix(SUFFIX)), "", 0
    unit, variant = dict[str, str](), dict[str, str]()  # attributes and properties
    for element in found.elements:
        own, inside = element.attributes, element.parent.tag if element.parent else ""
        if element.tag == "header":
            source = own.get("srclang", "")
        elif element.tag == "tu":
            number += 1
            unit, variant = dict(own), {}
        elif element.tag == "tuv":
            variant = dict(own)
        elif element.tag == "prop" and inside in {"tu", "tuv"}:
            properties = unit if inside == "tu" else variant
            properties.setdefault(f" {own.get('type', '')}", element.text)
        elif element.tag == "seg":
            language = variant.get("xml:lang", variant.get("lang", texts.UNKNOWN))
            is_source = language.lower() == unit.get("srclang", source).lower()
            role = variant.get(" x-role", "")
            role = role if role in texts.ROLES else (texts.REFERENCE, texts.SOURCE)[is_source]
            known = None if language == texts.UNKNOWN else language
            row = collected.document(unit.get(" x-document", stem))
            name = unit.get(" x-segment", unit.get("tuid", str(number)))
            of_set, part = variant.get(" x-set"), variant.get(" x-part")
            written = texts.SegmentText(name, role, of_set, known, part, element.text)
            collected.add(row, element.ordinal, written)


FORMAT = declaration(__name__)
