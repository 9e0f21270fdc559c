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

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import polars as pl

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.mt import lorehlt_mt
from hlteval.converters.mt.texts import (
    REFERENCE,
    SOURCE,
    SYSTEM,
    UNKNOWN,
    Collected,
    Text,
    with_sources,
    with_suffix,
)
from hlteval.converters.mt.texts import ROLES as TEXT_ROLES
from hlteval.converters.toolkit.source_files import beginning
from hlteval.findings import Bounded, FieldRef, Finding, Location, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, decode
from hlteval.syntax.xml_elements import Element, Malformed, explain, structure
from hlteval.syntax.xml_places import (
    ABSENT,
    Lines,
    attributes,
    escape,
    lines_of,
    locate_elements,
    located_findings,
)

# The older form of mteval, in SGML: a set without a root, tags in any case, bare attributes.
#
# Programs read it by searching for tags, so that texts have `&` and `<` as they are. Only the tags
# of the format are tags here; everything else between those of a segment is text.


SETS = ("srcset", "refset", "tstset")
#: The levels of elements: none is inside another one of its level.
_LEVELS = {
    "mteval": 0,
    **dict.fromkeys(SETS, 1),
    "doc": 2,
    **dict.fromkeys(("hl", "poster", "p"), 3),
    "seg": 4,
}
_TAGS = tuple(_LEVELS)
_VALUE = r"""[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+)"""
_TAG = re.compile(rf"<!--|<(/?)({'|'.join(_TAGS)})((?:\s+{_VALUE})*)\s*(/?)>", re.I)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_FIRST = re.compile(rf"<({'|'.join(_TAGS)})[\s>]", re.I)
_ENTITY = re.compile("&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_LAST = 0x10FFFF
Problems = list[tuple[Problem, str | None]]


def is_sgml(text: str) -> bool:
    """Whether a file is in the older form: its first tag is not the root of XML.

    Examples:
        >>> is_sgml("<mteval>"), is_sgml('<refset setid="x">'), is_sgml("<MTEVAL>")
        (False, True, True)
    """
    first = _FIRST.search(text)
    return first is not None and first[1] != "mteval"


def parse(text: str) -> tuple[list[Element], Problems]:
    r"""The elements of a file below a root `mteval`, and the problems with its tags.

    Examples:
        >>> elements, problems = parse("<refset>\n<DOC docid=d><seg id=1>a & b</DOC>")
        >>> [(element.tag, element.ordinal, element.line) for element in elements]
        [('mteval', 0, 1), ('refset', 1, 1), ('doc', 2, 2), ('seg', 3, 2)]
        >>> elements[-1].text, [(problem.code, problem.record) for problem, _ in problems]
        ('a & b', [('MTF202', 2), ('MTF202', 1)])
    """
    reader = _Reader(text)
    reader.read()
    return reader.elements, reader.problems


def sgml_findings(text: str, problems: Problems, file: Member) -> list[Finding]:
    """The findings of problems with tags, each with the identifier of its element.

    Args:
        text: the text of the file.
        problems: the problems with their identifiers.
        file: the file.
    """
    lines, bounded = lines_of(text) if problems else [], Bounded(file.max_per_code)

    def finding(_: int, named: tuple[Problem, str | None]) -> Finding:
        problem, name = named
        line = lines[problem.record - 1]  # the root is in no line
        inside = problem._replace(end=max(problem.start, min(problem.end, len(line))))
        return inside.in_line(file.display, line, name)

    for named in problems:
        bounded.add(named[0].code, named[0].record, finding, named)
    return bounded.findings


def starts(text: str, wanted: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column, from 1, of start tags by ordinal."""
    left = set(wanted)
    elements, _ = parse(text) if left else ([], [])
    return {e.ordinal: (e.line, e.column) for e in elements if e.ordinal in left}


class _Reader:
    """The state of reading a file, tag by tag."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.elements = [Element(0, "mteval", {}, None, 1, 1, [])]
        self.open = [self.elements[0]]
        self.problems: Problems = []
        self.line, self.begin, self.placed, self.at, self.count = 1, 0, 0, 0, 0
        self.last_comment = text.rfind("-->")

    def read(self) -> None:
        """All elements of the file."""
        for match in _TAG.finditer(self.text):
            if match.start() < self.at:
                continue  # inside a comment
            self.characters(self.text[self.at : match.start()])
            self.at = match.end() if match[2] else self.after_comment(match.start())
            if match[2]:
                self.tag(match)
        self.characters(self.text[self.at :])
        self.leave(0)

    def after_comment(self, start: int) -> int:
        """Where a comment ends; one without an end is text."""
        end = self.text.find("-->", start) if start <= self.last_comment else -1
        return end + len("-->") if end >= 0 else start

    def leave(self, level: int) -> None:
        """Leave the open elements below a level, which have no end tag."""
        while len(self.open) > 1 and _LEVELS[self.open[-1].tag] > level:
            self.missing_end(self.open.pop())

    def place(self, index: int) -> tuple[int, int]:
        """Line and column of a place after the last one that was asked for."""
        lines = self.text.count("\n", self.placed, index)
        if lines:
            self.line += lines
            self.begin = self.text.rfind("\n", self.placed, index) + 1
        self.placed = index
        return self.line, index - self.begin + 1

    def tag(self, match: re.Match[str]) -> None:
        """Enter or leave an element."""
        closing, tag, attributes, empty = match.groups()
        line, column = self.place(match.start())
        tag = tag.lower()
        if closing:
            self.end(tag, line, column)
            return
        self.count += 1
        if tag == "mteval" and len(self.open) == 1:
            return  # the root is there already
        self.leave(_LEVELS[tag] - 1)
        pairs = _ATTRIBUTE.finditer(attributes)
        values = {m[1].lower(): decoded(m[2] or m[3] or m[4] or "") for m in pairs}
        element = Element(self.count, tag, values, self.open[-1], line, column, [])
        self.elements.append(element)
        if not empty:
            self.open.append(element)

    def end(self, tag: str, line: int, column: int) -> None:
        """Leave an element, and those inside it that have no end tag."""
        if tag == "mteval":
            return
        if tag not in [element.tag for element in self.open[1:]]:
            end = column + len(f"</{tag}")
            self.problems.append((Problem("MTF203", line, column - 1, end, {"tag": tag}), None))
            return
        self.leave(_LEVELS[tag])
        self.open.pop()

    def missing_end(self, element: Element) -> None:
        self.problems.append((element.problem("MTF202", tag=element.tag), _name(element)))

    def characters(self, text: str) -> None:
        """Add text to the open segment; between elements there is layout, and declarations."""
        if self.open[-1].tag == "seg" and text:
            self.open[-1].chunks.append(decoded(text))


def _name(element: Element) -> str | None:
    return element.attributes.get("docid", element.attributes.get("id"))


def decoded(text: str) -> str:
    """A text with its character references decoded; an ampersand alone stays.

    Examples:
        >>> decoded("AT&amp;T & R&D &#233;"), decoded("&nbsp;&#x110000;")
        ('AT&T & R&D é', '&nbsp;&#x110000;')
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _NAMED[match[1]]
    code = int(match[2]) if match[2] else int(match[3], 16)
    surrogate = 0xD800 <= code <= 0xDFFF
    return chr(code) if 0 < code <= _LAST and not surrogate else match[0]


# Writes sets of translations as one file of mteval.


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n'
_SET_TAGS: Mapping[str, str] = {SOURCE: "srcset", REFERENCE: "refset", SYSTEM: "tstset"}
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
            own = known.get(
                (document, f"{_SET_TAGS[role]} {name}" if name else _SET_TAGS[role]), {}
            )
            source = own.get("srclang", sources.get(document))
            key = _Set(role, name, language, own.get("setid"), source)
            sets.setdefault(key, {}).setdefault(document, []).append((text[0], text[1], text[2]))
    for key in sorted(sets, key=lambda each: TEXT_ROLES.index(each.role)):
        yield f"<{_SET_TAGS[key.role]}{attributes(_of_set(key, defaults))}>\n"
        for document, texts in sets[key].items():
            own = known.get((document, "doc"), {})
            pairs = [("docid", titles[document]), *((name, own.get(name)) for name in _OF_DOCUMENT)]
            yield f"<doc{attributes(pairs)}>\n{_body(texts)}</doc>\n"
        yield f"</{_SET_TAGS[key.role]}>\n"


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


def count_losses(corpus: Corpus) -> Mapping[str, int]:
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


ROLES: Mapping[str, str] = {"srcset": SOURCE, "refset": REFERENCE, "tstset": SYSTEM}
#: The attribute that names a set.
NAMES: Mapping[str, str] = {"srcset": "", "refset": "refid", "tstset": "sysid"}
#: The attributes without which NIST's script stops.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "srcset": ("setid", "srclang"),
    "refset": ("setid", "srclang", "trglang"),
    "tstset": ("setid", "srclang", "trglang", "sysid"),
}
_SUFFIXES = (".xml", ".sgm", ".sgml")
_ROOT = re.compile(r"<(mteval|srcset|refset|tstset)[\s>]", re.I)
_PARTS = ("hl", "p", "poster")
Named = tuple[Problem, str | None]


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, _SUFFIXES)


def sniff(source: Source) -> bool:
    """Whether the first file begins with a set, and has not the form of LoReHLT."""
    found = members(source)
    begin = beginning(found[0]) if found else ""
    return bool(_ROOT.search(begin)) and not lorehlt_mt.sniff(source)


def read(source: Source) -> Iterator[ReadResult]:
    """All sets of all files, as one batch: they have the same documents."""
    collected = Collected(source, FORMAT.name)
    findings: list[Finding] = []
    for member in members(source):
        text = collected.open(member)
        if text is not None:
            problems = list(_file(text, member, collected))
            located = sgml_findings if is_sgml(text) else located_findings
            findings += located(text, problems, member)
    yield collected.result(findings)


def _file(text: str, member: Member, collected: Collected) -> Iterator[Named]:
    """Add the sets of a file; yield the problems with it."""
    try:
        elements, problems = _elements(text, member.encoding)
    except Malformed as reason:
        yield reason.problem, None
        return
    yield from problems
    if not elements:  # another root
        return
    file = _Sets(elements, collected)
    documents: dict[int, list[Element]] = {}
    for element in elements:
        if element.tag == "doc" and element.parent:
            documents.setdefault(element.parent.ordinal, []).append(element)
    for element in elements:
        if element.tag in ROLES:
            file.set = element
            yield from _missing(element, documents.get(element.ordinal, []))
        elif element.tag == "doc":
            file.enter(element)
        elif element.tag == "seg":
            file.add(element)


def _elements(text: str, encoding: str) -> tuple[list[Element], list[Named]]:
    """The elements of a file that its schema allows, and the problems with it."""
    if not is_sgml(text):
        found = structure(text, "mteval", encoding)
        return found.elements, [(problem, None) for problem in found.problems]
    elements, problems = parse(text)
    of_schema, skipped = explain(elements, "mteval")
    kept = [element for element in elements if element.ordinal not in skipped]
    return kept, [*problems, *((problem, None) for problem in of_schema)]


def _missing(element: Element, documents: Sequence[Element]) -> Iterator[Named]:
    """The attributes that a set lacks; in the older form, documents name the system.

    Args:
        element: the set.
        documents: its documents.
    """
    by_documents = bool(documents) and all("sysid" in each.attributes for each in documents)
    names = [
        name
        for name in _NEEDED[element.tag]
        if name not in element.attributes and not (name == "sysid" and by_documents)
    ]
    if names:
        yield element.problem("MTF201", names=" and ".join(names)), None


class _Sets:
    """The set and the document that a reader is in.

    Args:
        elements: those of the file.
        collected: what is read.
    """

    def __init__(self, elements: Sequence[Element], collected: Collected) -> None:
        self.collected = collected
        self.parts = _parts(elements)
        self.set = elements[0]
        self.name: str | None = None
        self.document = 0

    @property
    def language(self) -> str:
        """The attribute with the language of the texts."""
        return "srclang" if self.set.tag == "srcset" else "trglang"

    def enter(self, element: Element) -> None:
        """Add a document, with its attributes and those of its set."""
        own, tag = self.set.attributes, self.set.tag
        row = self.document = self.collected.document(element.attributes.get("docid", ""))
        named = own.get(NAMES[tag], element.attributes.get("sysid"))
        self.name = None if tag == "srcset" else named
        of_set = f"{tag} {self.name}" if self.name else tag
        for key, value in own.items():
            if key not in {self.language, NAMES[tag]}:
                self.collected.attribute(row, self.set.ordinal, of_set, key, value)
        for key, value in element.attributes.items():
            if key not in {"docid", "sysid"}:
                self.collected.attribute(row, element.ordinal, "doc", key, value)

    def add(self, element: Element) -> None:
        """Add the text of a segment."""
        part = self.parts.get(element.parent.ordinal) if element.parent else None
        language = self.set.attributes.get(self.language, UNKNOWN)
        name, role = element.attributes.get("id", ""), ROLES[self.set.tag]
        known = None if language == UNKNOWN else language
        text = Text(name, role, element.text, self.name, known, part)
        self.collected.add(self.document, element.ordinal, text)


def _parts(elements: Sequence[Element]) -> dict[int, str]:
    """The name of each part by its ordinal: its tag and its number in its document."""
    numbers: dict[int, int] = {}
    named: dict[int, str] = {}
    for element in elements:
        if element.tag in _PARTS and element.parent is not None:
            number = numbers[element.parent.ordinal] = numbers.get(element.parent.ordinal, 0) + 1
            named[element.ordinal] = f"{element.tag} {number}"
    return named


def locate(member: Member, places: Sequence[FieldRef]) -> list[Location | None]:
    """The locations of elements; a field is an attribute, or `text` for the text after the tag."""
    text = decode(member.fetch(), display=member.display, encoding=member.encoding).text or ""
    if not is_sgml(text):
        return locate_elements(member, places)
    found = starts(text, (place.record for place in places))
    lines = Lines(text)
    return [
        lines.location(*found[place.record], place.field) if place.record in found else None
        for place in places
    ]


FORMAT = declaration(__name__)
