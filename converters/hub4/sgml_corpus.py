r"""A text corpus in SGML: one file of documents, each enclosed in a pair of document tags.

Format:
    Documents between tags such as `<DOC>` and `</DOC>`. An element such as `<DOCNO>` contains the
    document identifier; spaces in it are removed. Tag names are configurable and the same
    throughout a file. By default, the first tag of the file encloses documents; the identifier is
    in DOCNO or DOCID, whichever the first document has, or in its first element.

Conventions:
    The text of a document extends from the `<` of its start tag to the end of its end tag,
    including all markup. Line breaks of any kind count as one character (`\n`); with
    `line-ends=as-written` they are kept. Tag names are case-insensitive.

Example lines:
    <DOC>
    <DOCNO> B1 </DOCNO>
    <TEXT>
    The bakers of Cairo have won the bread contest
    in Lyon.
    </TEXT>
    </DOC>

Codes raised: SGM1xx.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.source_files import File, head_of_first, read_files
from hlteval.findings import Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Source
from hlteval.syntax.places import Places

_NAME = "[A-Za-z][A-Za-z0-9._-]*"
_FIRST = re.compile(f"<({_NAME})(?:[ \t\n][^<>]*)?>")
_IDENTIFIERS = ("DOCNO", "DOCID")
#: The similar files of machine translation.
_NOT_TEXT = re.compile("<(?:srcset|refset|tstset)[ >]", re.I)
#: Most characters between two documents that are written as empty lines.
_GAP = 1_000_000
#: A second identifier in a document, of which the first counts.
_REPEATED = "SGM106"
#: The tags of documents and of their identifiers, the same throughout a file.
Tags = tuple[str, str]


def sniff(source: Source) -> bool:
    """Whether its first file begins with a tag and has DOCNO or DOCID."""
    text = head_of_first(source.members).lstrip(" \t\r\n").replace("\r", "")
    named = any(f"<{name}>" in text.upper() for name in _IDENTIFIERS)
    return bool(named and _FIRST.match(text) and not _NOT_TEXT.search(text))


def read(
    source: Source,
    document_tag: str = "",
    id_tag: str = "",
    line_ends: str = "one",
    unsegmented: str = "",
) -> Iterator[ReadResult]:
    """The documents of a source, one batch per file; unsegmented, a file is one document."""

    def read_file(file: File) -> tuple[Corpus, Sequence[Finding]]:
        """The documents of a file, and the findings about its tags."""
        text = file.text or ""
        found = _Documents(text.replace("\r\n", "\n") if line_ends == "one" else text)
        if unsegmented == "yes":
            found.documents[file.member.basename] = (0, len(found.text))
        elif file.text is not None:
            found.take(document_tag, id_tag)
        rows = [
            {"row": row, "origin": 0, "name": name, "text": found.text[start:end], "start": start}
            for row, (name, (start, end)) in enumerate(found.documents.items())
        ]
        display = file.member.display
        findings = [found.places.finding(problem, display) for problem in found.problems]
        return Corpus(sources=[file.origin], documents=rows), findings

    return read_files(source, FORMAT.name, read_file)


class _Element(NamedTuple):
    """The start of an element, the start and end of its content, and its end."""

    start: int
    inner: int
    outer: int
    end: int


class _Documents:
    """The documents of a file by name, and its problems."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = Places(text)
        self.documents: dict[str, tuple[int, int]] = {}
        self.lines: dict[str, int] = {}
        """The line of each document."""
        self.problems: list[Problem] = []

    def take(self, document_tag: str, id_tag: str) -> None:
        """Add all documents under their identifiers, and report what is wrong with tags."""
        first = _FIRST.search(self.text)
        tag = document_tag or (first[1] if first else "")
        elements = list(self.elements(tag)) if first else []
        if not first or (document_tag and not elements):
            self.report("SGM101", 0, 0)
        if not elements:
            return
        self.report_outside(elements, tag)
        name_tag = id_tag or self.identifier(elements[0])
        escaped = re.escape(name_tag)
        identifying = re.compile(  # no elements inside; the group is the content
            f"<{escaped}(?:[ \t\r\n][^<>]*)?>([^<]*)</{escaped}[ \t\r\n]*>", re.I
        )
        for start, inner, outer, end in elements:
            found = [match.span(1) for match in identifying.finditer(self.text, inner, outer)]
            name = "".join(self.text[slice(*found[0])].split()) if found else ""
            if not name:
                self.report("SGM104", start, inner, tag=name_tag)
                continue
            if name in self.documents:
                self.report("SGM105", *found[0], name=name[:80], first=self.lines[name])
            else:
                self.documents[name] = (start, end)
                self.places.seek(start)
                self.lines[name] = self.places.line
            if len(found) > 1:
                self.report("SGM106", *found[1], tag=name_tag, count=len(found))

    def elements(self, tag: str) -> Iterator[_Element]:
        """The documents; report start tags without an end tag, and end tags without a start tag."""
        opened: re.Match[str] | None = None
        for match in _tags(tag).finditer(self.text):
            if not match[1]:
                if opened:
                    self.report("SGM102", *opened.span(), tag=tag)
                opened = match
            elif opened:
                yield _Element(opened.start(), opened.end(), match.start(), match.end())
                opened = None
            else:
                self.report("SGM103", *match.span(), tag=tag)
        if opened:
            self.report("SGM102", *opened.span(), tag=tag)

    def report_outside(self, elements: Sequence[_Element], tag: str) -> None:
        """Report the first text outside of all documents."""
        other = re.compile(rf"{_tags(tag).pattern}|(?P<other>\S)", re.I)
        ends = [0, *(element.end for element in elements)]
        starts = [*(element.start for element in elements), len(self.text)]
        for start, end in zip(ends, starts, strict=True):
            for match in other.finditer(self.text, start, end):
                if match["other"]:
                    self.report("SGM107", match.start(), len(self.text), tag=tag)
                    return
                if not match[1]:  # a document without an end begins
                    break

    def identifier(self, element: _Element) -> str:
        """The name of the identifying element, from the first document."""
        inner = self.text[element.inner : element.outer]
        for name in _IDENTIFIERS:
            if _tags(name).search(inner):
                return name
        first = _FIRST.search(inner)
        return first[1] if first else _IDENTIFIERS[0]

    def report(self, code: str, start: int, end: int, **values: object) -> None:
        """Add a problem at a stretch of the text."""
        self.problems.append(Problem(code, 0, start, end, values))


def _tags(name: str) -> re.Pattern[str]:
    """Start and end tags of a name; the first group is the slash of an end tag."""
    return re.compile(f"<(/?){re.escape(name)}(?:[ \t\r\n][^<>]*)?>", re.I)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """The documents in a row, each at its offset in its file if there is room."""
    place, tags = 0, None
    with path.open("w", encoding="utf-8", newline="") as stream:
        for corpus in corpora:
            tags = tags or _tags_of(corpus)
            for text, start in _writable(corpus, tags):
                written = text.replace("\r\n", "\n")
                gap = (start or 0) - place
                feeds = "\n" * gap if 0 < gap <= _GAP else ""
                stream.write(f"{feeds}{written}\n")
                place += len(feeds) + len(written) + 1


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The documents that SGML cannot represent, and the line ends that it replaces."""
    kept = [text for text, _ in _writable(corpus, _tags_of(corpus))]
    replaced = sum("\r\n" in text for text in kept)
    counts = {"documents whose text is not valid SGML": corpus.documents.height - len(kept)}
    return counts | ({"texts with CR LF line ends, written with LF": replaced} if replaced else {})


def _tags_of(corpus: Corpus) -> Tags | None:
    """The tags of the first document that is one."""
    for name, text in corpus.documents.drop_nulls("text").select("name", "text").iter_rows():
        first = _FIRST.match(text)
        if first and _is_document(name, text, (first[1], "")):
            end = text.rindex("<")
            identifier = _Documents(text).identifier(_Element(0, first.end(), end, len(text)))
            return first[1], identifier
    return None


def _writable(corpus: Corpus, tags: Tags | None) -> Iterator[tuple[str, int | None]]:
    """The texts that are one document each with these tags, and their offsets."""
    columns = ("name", "text", "start")
    for name, text, start in corpus.documents.drop_nulls("text").select(columns).iter_rows():
        if tags and _is_document(name, text, tags):
            yield text, start


def _is_document(name: str, text: str, tags: Tags) -> bool:
    """Whether a text is one document with the name that is written in it."""
    if not _FIRST.match(text) or "\0" in text:
        return False
    found = _Documents(text.replace("\r\n", "\n"))
    found.take(*tags)
    wrong = [problem for problem in found.problems if problem.code != _REPEATED]
    return not wrong and found.documents == {name: (0, len(found.text))}


FORMAT = declaration(__name__)
