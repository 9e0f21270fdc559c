r"""mteval of NIST: sources, reference translations and translations of systems, in sets.

Format:
    XML as defined in grammars/mteval.rng: a srcset, refsets and tstsets with documents, their parts
    `hl`, `p` and `poster`, and segments. The older form in SGML, a set without a root, with tags in
    any case, bare attributes and `&` as it is, is read too. The sets may be in several files of a
    folder, `*.xml`, `*.sgm` or `*.sgml`.

Conventions:
    A set is known by its `refid` or `sysid`; its language is `trglang`, that of sources `srclang`;
    `und` means that it is not known.
    The text of a segment is kept as written, with its white space. A record is an element, counted
    by start tags from 1.

Example lines:
    <tstset setid="test" srclang="uzb" trglang="eng" sysid="run-7">
    <doc docid="D1" genre="nw">
    <p><seg id="1">Who did vaccinations first?</seg></p>
    </doc>
    </tstset>

Codes raised: XML1xx, MTF201 to MTF203.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt import lorehlt_mt
from hlteval.converters.mt import texts as mt_texts
from hlteval.converters.toolkit.source_files import head_of_first
from hlteval.findings import FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source
from hlteval.syntax import xml_places as xml
from hlteval.syntax.xml_elements import Element, examine, explain


class Kind(NamedTuple):
    """A kind of sets: its role, the attributes that name it and its language, and all of its own.

    Without these, but for the name of a reference, NIST's script stops.
    """

    role: str
    name: str
    language: str
    attributes: tuple[str, ...]


_LANGUAGES = ("setid", "srclang", "trglang")
KINDS: Mapping[str, Kind] = {
    "srcset": Kind(mt_texts.SOURCE, "", "srclang", ("setid", "srclang")),
    "refset": Kind(mt_texts.REFERENCE, "refid", "trglang", (*_LANGUAGES, "refid")),
    "tstset": Kind(mt_texts.SYSTEM, "sysid", "trglang", (*_LANGUAGES, "sysid")),
}
_PARTS = ("hl", "poster", "p")
_PART = "^(hl|p|poster) [1-9][0-9]*$"
_OF_DOCUMENT = ("genre", "origlang")
#: Tag, name, language of the texts, test set and language of the sources of a set.
SetKey = tuple[str, str | None, str | None, str | None, str | None]

# The older form of mteval, in SGML: a set without a root, tags in any case, bare attributes.
#
# Programs read it by searching for tags, so that texts have `&` and `<` as they are. Only the tags
# of the format are tags here; everything else between those of a segment is text.


#: The levels of elements: none is inside another one of its level.
_LEVELS = {"mteval": 0, **dict.fromkeys(KINDS, 1), "doc": 2, **dict.fromkeys(_PARTS, 3), "seg": 4}
_VALUE = r"""[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+)"""
_TAG = re.compile(rf"<!--|<(/?)({'|'.join(_LEVELS)})((?:\s+{_VALUE})*)\s*(/?)>", re.I)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_FIRST = re.compile(rf"<({'|'.join(_LEVELS)})[\s>]", re.I)
_ENTITY = re.compile("&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_LAST = 0x10FFFF


def is_sgml(text: str) -> bool:
    """Whether a file is in the older form: its first tag is not the root of XML.

    Examples:
        >>> is_sgml("<mteval>"), is_sgml('<refset setid="x">'), is_sgml("<MTEVAL>")
        (False, True, True)
    """
    first = _FIRST.search(text)
    return first is not None and first[1] != "mteval"


def parse(text: str) -> tuple[list[Element], list[xml.Named]]:
    r"""The elements of a file below a root `mteval`, and the problems with its tags.

    Examples:
        >>> elements, problems = parse("<refset>\n<DOC docid=d><seg id=1>a & b</DOC>")
        >>> [(element.tag, element.ordinal, element.line) for element in elements]
        [('mteval', 0, 1), ('refset', 1, 1), ('doc', 2, 2), ('seg', 3, 2)]
        >>> elements[-1].text, [(problem.code, problem.record) for problem, _ in problems]
        ('a & b', [('MTF202', 2), ('MTF202', 1)])
    """
    root = Element(0, "mteval", {}, None, 1, 1, [])
    elements, stack, problems = [root], [root], list[xml.Named]()

    def leave(level: int) -> None:
        """Leave the open elements below a level, which have no end tag."""
        while len(stack) > 1 and _LEVELS[stack[-1].tag] > level:
            lost = stack.pop()
            name = lost.attributes.get("docid", lost.attributes.get("id"))
            problems.append((lost.problem("MTF202", tag=lost.tag), name))

    line, begin, before, position, ordinal = 1, 0, 0, 0, 0
    last_comment = text.rfind("-->")
    for match in _TAG.finditer(text):
        start, tag = match.start(), (match[2] or "").lower()
        if start < position:
            continue  # inside a comment
        if stack[-1].tag == "seg":  # between elements there is layout, and declarations
            stack[-1].chunks.append(with_characters(text[position:start]))
        if not tag:  # a comment without an end is text
            end = text.find("-->", start) if start <= last_comment else -1
            position = end + len("-->") if end >= 0 else start
            continue
        position = match.end()
        if (newline := text.rfind("\n", before, start)) >= 0:
            line, begin = line + text.count("\n", before, start), newline + 1
        before, column = start, start - begin + 1
        if match[1] and tag not in {element.tag for element in stack}:
            place = (line, column - 1, column + len(f"</{tag}"))
            problems.append((Problem("MTF203", *place, {"tag": tag}), None))
        elif match[1] and tag != "mteval":
            leave(_LEVELS[tag])
            stack.pop()
        ordinal += not match[1]
        if match[1] or (tag == "mteval" and len(stack) == 1):
            continue  # the root is there already
        leave(_LEVELS[tag] - 1)
        pairs = _ATTRIBUTE.finditer(match[3])
        values = {m[1].lower(): with_characters(m[2] or m[3] or m[4] or "") for m in pairs}
        elements.append(Element(ordinal, tag, values, stack[-1], line, column, []))
        if not match[4]:
            stack.append(elements[-1])
    if stack[-1].tag == "seg":
        stack[-1].chunks.append(with_characters(text[position:]))
    leave(0)
    return elements, problems


def sgml_finding(lines: xml.Lines, problem: Problem, file: str, identifier: str | None) -> Finding:
    """The finding of a problem with a tag; see `Lines.finding`."""
    line = lines.lines[problem.record - 1]  # the root is in no line
    inside = problem._replace(end=max(problem.start, min(problem.end, len(line))))
    return inside.in_line(file, line, identifier)


def with_characters(text: str) -> str:
    """A text with its character references decoded; an ampersand alone stays.

    Examples:
        >>> with_characters("AT&amp;T & R&D &#233;"), with_characters("&nbsp;&#x110000;")
        ('AT&T & R&D é', '&nbsp;&#x110000;')
    """

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return _CHARACTERS[match[1]]
        code = int(match[2]) if match[2] else int(match[3], 16)
        surrogate = 0xD800 <= code <= 0xDFFF
        return chr(code) if 0 < code <= _LAST and not surrogate else match[0]

    return _ENTITY.sub(character, text) if "&" in text else text


# Writes sets of translations as one file of mteval.


def write(
    corpora: Iterable[Corpus],
    path: Path,
    setid: str = "test",
    srclang: str = mt_texts.UNKNOWN,
    trglang: str = mt_texts.UNKNOWN,
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
    every = mt_texts.with_sources(Corpus.concat(corpora))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n')
        file.writelines(_sets(every, defaults))
        file.write("</mteval>\n")


def _sets(corpus: Corpus, defaults: Mapping[str, str]) -> Iterator[str]:
    """Each set with its documents: a set has one name, languages and test set."""
    known: dict[tuple[int, str], dict[str, str]] = {}
    rows = corpus.attributes.select("document", "element", "name", "value").iter_rows()
    for document, element, name, value in rows:
        known.setdefault((document, element), {}).setdefault(name, value)
    sources = corpus.translations.filter(role=mt_texts.SOURCE).drop_nulls("language")
    languages = dict(sources.select("document", "language").unique("document").iter_rows())
    titles, without = dict(corpus.documents.select("row", "name").iter_rows()), unwritable(corpus)
    tags = {kind.role: tag for tag, kind in KINDS.items()}
    sets: dict[SetKey, dict[int, list[tuple[str | None, str, str]]]] = {}
    columns = ("document", "role", "set", "language", "part", "segment", "text")
    for document, role, name, language, *cells in corpus.translations.select(columns).iter_rows():
        if document not in without:
            own = known.get((document, f"{tags[role]} {name}" if name else tags[role]), {})
            source = own.get("srclang", languages.get(document))
            key = (tags[role], name, language, own.get("setid"), source)
            part, segment, text = cells
            sets.setdefault(key, {}).setdefault(document, []).append((part, segment, text))
    for key in sorted(sets, key=lambda key: [*KINDS].index(key[0])):
        tag, name, language, setid, srclang = key
        kind = KINDS[tag]
        own_source = language if kind.role == mt_texts.SOURCE else None
        values = {
            "setid": setid or defaults["setid"],
            "srclang": own_source or srclang or defaults["srclang"],
            "trglang": language or defaults["trglang"],
            "refid": name,
            "sysid": name or defaults["sysid"],
        }
        yield f"<{tag}{xml.attributes((each, values[each]) for each in kind.attributes)}>\n"
        for document, texts in sets[key].items():
            own = known.get((document, "doc"), {})
            pairs = [("docid", titles[document]), *((each, own.get(each)) for each in _OF_DOCUMENT)]
            yield f"<doc{xml.attributes(pairs)}>\n{_segments(texts)}</doc>\n"
        yield f"</{tag}>\n"


def _segments(texts: Iterable[tuple[str | None, str, str]]) -> str:
    """The segments of a document, those of a part together."""
    body = ""
    for part, inside in groupby(texts, key=lambda text: text[0]):
        lines = "".join(
            f"<seg{xml.attributes([('id', name)])}>{xml.escape(text)}</seg>\n"
            for _, name, text in inside
        )
        tag = part.partition(" ")[0] if part and re.search(_PART, part) else ""
        body += f"<{tag}>\n{lines}</{tag}>\n" if tag else lines
    return body


def unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters that XML cannot hold."""
    columns = ("segment", "set", "language", "text")
    values = corpus.attributes.filter(pl.col("value").str.contains(xml.ABSENT))["document"]
    return mt_texts.unwritable_documents(corpus, corpus.translations, *columns).union(values)


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of rows that the file cannot represent."""
    own = pl.col("element").str.contains("^(srcset|refset|tstset)( |$)")
    own &= pl.col("name").is_in(_LANGUAGES)
    own |= (pl.col("element") == "doc") & pl.col("name").is_in(_OF_DOCUMENT)
    # a part is read as another one, or as none, if it is not the next of its document
    key = ("document", "role", "set")
    parts = corpus.translations.select(*key, "part").sort(key, maintain_order=True)
    parts = parts.with_columns(run=pl.col("part").rle_id().over(key))
    valid = pl.col("part").str.contains(_PART).fill_null(value=False)
    begins = pl.struct(*key, "run").is_first_distinct()
    number = (begins & valid).cast(pl.Int64).cum_sum().over(key)
    right = valid & pl.col("part").str.ends_with(pl.format(" {}", number))
    strange = parts.filter(pl.col("part").is_not_null() & ~right)
    return {
        **mt_texts.document_losses(corpus, corpus.translations, unwritable(corpus)),
        "attributes of other formats": corpus.attributes.filter(~own).height,
        "parts of other formats or in another order": strange.height,
    }


_SUFFIXES = (".xml", ".sgm", ".sgml")
_ROOT = re.compile(r"<(mteval|srcset|refset|tstset)[\s>]", re.I)


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return mt_texts.with_suffix(source, _SUFFIXES)


def sniff(source: Source) -> bool:
    """Whether the first file begins with a set, and has not the form of LoReHLT."""
    begins = _ROOT.search(head_of_first(members(source))) is not None
    return begins and not lorehlt_mt.sniff(source)


def read(source: Source) -> Iterator[ReadResult]:
    """All sets of all files, as one batch: they have the same documents."""
    collected = mt_texts.Collected(source, FORMAT.name)
    findings: list[Finding] = []
    for member in members(source):
        text = collected.files.open(member)
        if text is not None:
            problems = list(_file(text, member, collected))
            explained = sgml_finding if is_sgml(text) else xml.Lines.finding
            findings += xml.located_findings(text, problems, member, explained)
    yield collected.result(findings)


def _file(text: str, member: Member, collected: mt_texts.Collected) -> Iterator[xml.Named]:
    """Add the sets of a file; yield the problems with it. Documents may name the system."""
    if is_sgml(text):
        elements, problems = parse(text)
        yield from problems
        wrong, skipped = explain(elements, "mteval")
        elements = [element for element in elements if element.ordinal not in skipped]
    else:
        structure = examine(text, "mteval", member.encoding)
        elements, wrong = structure.elements, structure.problems
    yield from ((problem, None) for problem in wrong)
    documents = [each for each in elements if each.tag == "doc"]
    named = {each.parent.ordinal for each in documents if each.parent}
    named -= {e.parent.ordinal for e in documents if e.parent and "sysid" not in e.attributes}
    kind, name, row, numbers, parts = KINDS["srcset"], None, 0, Counter[int](), dict[int, str]()
    for element in elements:
        own, inside = element.attributes, element.parent.ordinal if element.parent else 0
        if element.tag in KINDS:
            kind, of_set = KINDS[element.tag], element
            optional = {"refid", "sysid" if element.ordinal in named else ""}
            lacking = [each for each in kind.attributes if each not in {*own, *optional}]
            if lacking:
                yield element.problem("MTF201", names=" and ".join(lacking)), None
        elif element.tag == "doc":
            row = collected.document(own.get("docid", ""))
            name = of_set.attributes.get(kind.name, own.get("sysid")) if kind.name else None
            title = f"{of_set.tag} {name}" if name else of_set.tag
            for key, value in of_set.attributes.items():
                if key not in {kind.language, kind.name}:
                    collected.attribute(row, of_set.ordinal, title, key, value)
            for key, value in own.items():
                if key not in {"docid", "sysid"}:
                    collected.attribute(row, element.ordinal, "doc", key, value)
        elif element.tag in _PARTS:
            numbers[inside] += 1
            parts[element.ordinal] = f"{element.tag} {numbers[inside]}"
        elif element.tag == "seg":
            language = of_set.attributes.get(kind.language)
            known = None if language == mt_texts.UNKNOWN else language
            cells = (own.get("id", ""), kind.role, name, known, parts.get(inside), element.text)
            collected.add(row, element.ordinal, mt_texts.SegmentText(*cells))


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag."""

    def find_starts(text: str, wanted: Collection[int]) -> Mapping[int, tuple[int, int]]:
        if not is_sgml(text):
            return xml.starts(text, wanted)
        return {element.ordinal: (element.line, element.column) for element in parse(text)[0]}

    return xml.locate_elements(member, places, find_starts)


FORMAT = declaration(__name__)
