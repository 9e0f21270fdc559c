r"""BioC: collections of documents in passages, with annotations and relations, in one XML file.

Format:
    XML as defined in grammars/bioc.rng: a `collection` of `document`s, which have an `id` and
    `passage`s with `offset` and `text`, or `sentence`s with their own; `annotation`s with
    `location`s and `text`; `relation`s with `node`s. All elements may have `infon`s, key-value
    pairs. A document type declaration, usually of BioC.dtd, is allowed; the DTD is never loaded.

Conventions:
    Offsets are 0-based code points from the beginning of the document. Gaps between passages are
    filled with line feeds. A single passage is not a segment, nor is an empty last one, which marks
    the end of the text. A record is an element, counted by start tags.

    The infon `type` is the type, `identifier` the entity (further ones are other candidates), and
    `language` the language of a document; `mention_type`, `confidence` and `annotator` are read as
    such. A relation with a `trigger_id` is an event, whose first node is that trigger with the type
    as its role. A relation with the `kind` modifier or equivalence is read as such (a modifier with
    its `value` and `text`), and so is a relation of type Equiv whose nodes all have the role Arg.
    A relation without nodes is one of entities if two of its infons have them: with the type of an
    annotation as their key, or with one like `Arg1`, `entity1` or `role1`. Its type may be called
    `relation`. All other infons are kept as attributes.

Example lines:
    <annotation id="T1"><infon key="type">Protein</infon><location offset="0" length="5"/><text>IRF-4</text></annotation>
    <relation id="R1"><infon key="type">Binds</infon><node refid="T1" role="Agent"/><node refid="T2" role="Theme"/></relation>

Codes raised: XML1xx, BIOxxx.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from hlteval.converters.bioc import writing
from hlteval.converters.bioc.parts import declared_encoding, parts
from hlteval.converters.bioc.reading import OF_PASSAGES, Documents, mismatch_problem
from hlteval.converters.declarations import declaration
from hlteval.converters.format import ReadResult
from hlteval.converters.toolkit.offsets import CHARACTERS
from hlteval.converters.toolkit.source_files import has_suffix, head_of_first, with_suffix
from hlteval.converters.toolkit.span_texts import Mismatch, Mismatches
from hlteval.findings import Bounded, Finding, Problem
from hlteval.representation import Corpus
from hlteval.sources import Member, Source, Unreadable, decode, sha256
from hlteval.syntax.xml_elements import Malformed, encoding_problem
from hlteval.syntax.xml_places import ABSENT, Lines, Written, attributes, escape

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
_SUFFIX = ".bioc.xml"


def sniff(source: Source) -> bool:
    """Whether files are named so, or the first has the root element of BioC."""
    return has_suffix(source, _SUFFIX) or "<collection" in head_of_first(members(source))


def read(source: Source, offsets: str = CHARACTERS) -> Iterator[ReadResult]:
    """The documents of each file, some megabytes at a time; offsets may count another unit."""
    names: dict[str, int] = {}
    for member in members(source):
        try:
            data = member.fetch()
        except Unreadable as reason:
            yield ReadResult(Corpus(), (reason.finding,), (member,))
            continue
        decoded = decode(data, display=member.display, encoding=member.encoding)
        if decoded.text is None:
            yield ReadResult(Corpus(), decoded.findings, (member,))
            continue
        named = {"path": source.path, "member": member.name or member.basename}
        origin = {"row": 0, **named, "format": FORMAT.name, "sha256": sha256(data)}
        findings = list(decoded.findings)
        file = _File(member, decoded.text.encode(), origin, names, findings, offsets)
        del data, decoded
        try:
            yield from file.results()
        except Malformed as reason:
            file.explain(reason.problem)
        if rest := (*file.findings, *file.bounded.findings):
            yield ReadResult(Corpus(), rest, (member,))


def members(source: Source) -> tuple[Member, ...]:
    """The files that are read."""
    return with_suffix(source, ".xml")


@dataclass
class _File:
    """A file, with its findings that are not yielded yet."""

    member: Member
    data: bytes
    origin: dict[str, object]
    names: dict[str, int]
    findings: list[Finding]
    offsets: str

    @cached_property
    def bounded(self) -> Bounded:
        """The findings of elements."""
        return Bounded(self.member.max_per_code)

    @cached_property
    def lines(self) -> Lines:
        """The lines of the file, which are only found where something is wrong."""
        return Lines(Written(self.data))

    def results(self) -> Iterator[ReadResult]:
        """The documents of each part of the file."""
        declared = declared_encoding(self.data)
        if problem := encoding_problem(declared, self.member.encoding):
            self.explain(problem)
        mismatches, ordinal = Mismatches(self.report_mismatch), 0
        for part in parts(self.data):
            documents = Documents(part, self.names, ordinal, self.offsets)
            ordinal = documents.ordinal
            for violation in part.problems:
                self.explain(violation)
            relevant = [m for m in documents.mismatches if mismatches.unit not in m.units]
            wanted = {problem.record for problem, *_ in documents.problems}
            wanted |= {record for _, _, record, *_ in documents.rejected}
            wanted |= {mismatch.place[0] for mismatch in relevant}
            places = part.places(wanted) if wanted else {}
            for problem, attribute, name in documents.problems:
                self.report(problem, places[problem.record], name, attribute)
            for mismatch in relevant:
                record, name = mismatch.place
                mismatches.add(mismatch._replace(place=(places[record], name)))
            found, self.findings = (*self.findings, *self.bounded.take()), []
            corpus = Corpus(sources=[self.origin], **documents.tables(places.__getitem__))
            yield ReadResult(corpus, found, (self.member,))
        mismatches.decide()

    def report(
        self, problem: Problem, place: tuple[int, int], name: str | None, attribute: str = ""
    ) -> None:
        """Add the finding of a problem of an element at its line and column."""

        def finding(_: int, problem: Problem) -> Finding:
            if problem.code == OF_PASSAGES:
                return problem.finding(self.member.display, None, None)
            at = self.lines.location(*place, attribute)
            return problem.finding(self.member.display, at.span, at.excerpt, name)

        self.bounded.add(problem.code, place[0], finding, problem)

    def report_mismatch(self, mismatch: Mismatch, unit: str) -> None:
        """Report an annotation whose text is not there, or the unit of offsets that explains it."""
        self.report(mismatch_problem(mismatch, unit), *mismatch.place)

    def explain(self, problem: Problem) -> None:
        """Add the finding of something that is not XML, or not in the schema."""
        self.report(problem, (problem.record, problem.start + 1), None, problem.field)


def write(corpora: Iterable[Corpus], path: Path) -> None:
    """All documents as one collection, an element of theirs a line.

    The header of the collection is that of the first document.
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"{_DECLARATION}<collection>\n")
        begun = False
        for corpus in corpora:
            infons, without = writing.Infons(corpus), _unwritable(corpus)
            for document in writing.documents(corpus, infons):
                if document.row not in without:
                    head = "" if begun else _head(infons, document.row)
                    stream.write(head + _document(document))
                    begun = True
        stream.write(f"{'' if begun else _head(writing.Infons(Corpus()), 0)}</collection>\n")


def _head(infons: writing.Infons, row: int) -> str:
    lines = (f"<{name}>{escape(value)}</{name}>\n" for name, value in infons.header(row))
    return "".join(lines) + _infons(infons.of("collection", row), "\n")


def _infons(pairs: writing.Pairs, end: str = "") -> str:
    """Infons, each with an end."""
    return "".join(
        f"<infon{attributes([('key', key)])}>{escape(value)}</infon>{end}" for key, value in pairs
    )


def _document(document: writing.Document) -> str:
    content = "".join(_passage(passage) for passage in document.passages)
    content += "".join(_annotation(item) for item in document.annotations)
    for item in document.relations:
        ends = "".join(f"<node{attributes([('refid', a), ('role', b)])}/>" for a, b in item.nodes)
        own = f"{_infons(item.infons)}{ends}"
        content += f"<relation{attributes([('id', item.name)])}>{own}</relation>\n"
    more = _infons(document.infons, "\n")
    return f"<document>\n<id>{escape(document.name)}</id>\n{more}{content}</document>\n"


def _passage(passage: writing.Passage, tag: str = "passage") -> str:
    """A passage or sentence with its sentences and annotations."""
    content = "".join(_passage(sentence, "sentence") for sentence in passage.sentences)
    if passage.text is not None and not passage.sentences:
        content = f"<text>{escape(passage.text)}</text>\n"
    content += "".join(_annotation(item) for item in passage.annotations)
    infons = _infons(passage.infons, "\n")
    return f"<{tag}>\n{infons}<offset>{passage.start}</offset>\n{content}</{tag}>\n"


def _annotation(item: writing.Item) -> str:
    places = "".join(f'<location offset="{a}" length="{b - a}"/>' for a, b in item.locations)
    text = "" if item.text is None else f"<text>{escape(item.text)}</text>"
    own = f"{_infons(item.infons)}{places}{text}"
    return f"<annotation{attributes([('id', item.name)])}>{own}</annotation>\n"


def _unwritable(corpus: Corpus) -> set[int]:
    """The documents with characters not allowed in XML."""
    odd = pl.any_horizontal(pl.col(pl.String).str.contains(ABSENT))
    found = set(corpus.documents.filter(odd)["row"])
    for name in ("attributes", "mentions", "links", "frames", "arguments", "modifiers", "groups"):
        table: pl.DataFrame = getattr(corpus, name)
        found |= set(table.filter(odd)["document"])
    return found


def count_losses(corpus: Corpus) -> Mapping[str, int]:
    """The counts of what BioC cannot represent of the tables that it carries, by name."""
    count = len(_unwritable(corpus))
    return {"documents with characters not allowed in XML": count, **writing.count_losses(corpus)}


FORMAT = declaration(__name__)
