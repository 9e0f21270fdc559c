"""Several inputs as one corpus: texts of one and annotations of another, by document name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.converters.toolkit.single_file import unique_name
from hlteval.converters.toolkit.span_texts import misplaced
from hlteval.findings import FieldRef, Finding, finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Unreadable
from hlteval.sources.problems import shown_names
from hlteval.workflows.inputs import Input

_TEXT = "text"
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("segments", "tokens"), "segments"),
    **dict.fromkeys(("mentions", "links", "frames", "arguments", "fills"), "annotations"),
    **dict.fromkeys(("sentiments", "modifiers", "groups"), "annotations"),
    **dict.fromkeys(("instances", "ratings", "changes", "responses"), "annotations"),
    "regions": "segments",
}
"""What the tables of a document bring to it; of each kind there is one input that brings it. Of
translations, each role and set is a kind of its own."""


@dataclass
class _Document:
    """A document of an input: its row of `documents`, its input and the kinds of what it brings.

    Attributes:
        others: its other columns, of which the first value that there is counts.
        text_part: the input that its text is from.
    """

    row: int
    origin: int | None
    name: str
    text: str | None
    others: Mapping[str, object]
    part: int
    kinds: set[str]
    text_part: int

    def conflict(self, other: _Document) -> str:
        """What this and another document both bring; empty if they complement each other.

        A text may be in both, with or without line feeds at its end.
        """
        both = self.kinds & other.kinds
        if _TEXT in both and (self.text or "").rstrip("\n") != (other.text or "").rstrip("\n"):
            return "different texts"
        return ", ".join(sorted(both - {_TEXT}))

    def unite(self, other: _Document) -> None:
        """Take what another has and this has not."""
        if self.text is None or len(other.text or "") > len(self.text):
            self.origin = self.origin if other.text is None else other.origin
            self.text_part = other.part
            self.text = other.text
        self.kinds |= other.kinds
        known = {name: value for name, value in self.others.items() if value is not None}
        self.others = {**other.others, **known}

    def cells(self) -> Mapping[str, object]:
        """Its row of the table."""
        own = {"row": self.row, "origin": self.origin, "name": self.name, "text": self.text}
        return {**own, **self.others}


class _Part(NamedTuple):
    """One input: its path and format, its corpus and the file of each of its rows of `sources`."""

    path: str
    form: Format
    corpus: Corpus
    members: Sequence[Member | None]


def joined(inputs: Sequence[Input]) -> ReadResult:
    """Several inputs as one corpus.

    What several inputs have of a document of one name is one document where each brings something
    else: one the text, another the annotations. Otherwise they stay two documents, with a finding.
    Mentions are checked against a text of another input.

    Args:
        inputs: at least one.

    Returns:
        The corpus, with the findings of all inputs and of the join.
    """
    findings: list[Finding] = []
    parts = []
    for each in inputs:
        results = list(each.read())
        findings += [*each.findings, *(f for result in results for f in result.findings)]
        members = [member for result in results for member in _members(result)]
        corpus = Corpus.concat(result.corpus for result in results)
        parts.append(_Part(each.source.path, each.form, corpus, members))
    corpus = Corpus.concat(part.corpus for part in parts)
    if len(parts) > 1:
        join = _Join(parts, corpus)
        corpus = join.corpus
        findings += join.findings
    return ReadResult(corpus, tuple(findings))


def _members(result: ReadResult) -> Sequence[Member | None]:
    """The file of each row of `sources`; None where that is unknown, as in a saved corpus."""
    known = len(result.members) == result.corpus.sources.height
    return result.members if known else [None] * result.corpus.sources.height


class _Join:
    """The documents of several inputs, joined by name.

    Attributes:
        corpus: the joined corpus.
        findings: the findings of the join.
    """

    def __init__(self, parts: Sequence[_Part], corpus: Corpus) -> None:
        self.parts = parts
        self.findings: list[Finding] = []
        self.keys: dict[int, int] = {}
        self.documents: list[_Document] = []
        named: dict[str, list[_Document]] = {}
        for document in _documents(parts, corpus):
            named.setdefault(document.name, []).append(document)
        for documents in named.values():
            self.documents += self.united(documents)
        self.documents.sort(key=attrgetter("row"))
        names: dict[str, int] = {}
        for document in self.documents:
            document.name = unique_name(document.name, names)
        self.corpus = self.moved(corpus)
        self.findings += [*self.apart(), *self.without_text(), *self.wrong_offsets()]

    def united(self, documents: Iterable[_Document]) -> Sequence[_Document]:
        """The documents of one name, as one document where they complement each other."""
        kept: list[_Document] = []
        for document in documents:
            reasons = [(other, document.conflict(other)) for other in kept]
            target = next((other for other, reason in reasons if not reason), None)
            if target is not None:
                target.unite(document)
                self.keys[document.row] = target.row
                continue
            for other, reason in reasons[:1]:
                path, first = self.parts[document.part].path, self.parts[other.part].path
                values: dict[str, Any] = {"name": document.name, "what": reason, "other": first}
                self.findings.append(finding("CNV204", file=path, record=document.name, **values))
            kept.append(document)
        return kept

    def moved(self, corpus: Corpus) -> Corpus:
        """The corpus with the documents that are left, and its rows in them."""
        tables: dict[str, pl.DataFrame] = {}
        for name, rows in corpus.tables():
            if rows.height and "document" in rows.columns and self.keys:
                tables[name] = rows.with_columns(pl.col("document").replace(self.keys))
        kept = [each.cells() for each in self.documents]
        tables["documents"] = pl.DataFrame(kept, schema=TABLES["documents"].schema)
        return corpus.replace(**tables)

    def apart(self) -> Iterator[Finding]:
        """The inputs that have no document in common with any other."""
        names = [set(part.corpus.documents["name"]) for part in self.parts]
        for at, part in enumerate(self.parts):
            others = set().union(*(own for index, own in enumerate(names) if index != at))
            if names[at] and others and names[at].isdisjoint(others):
                values: dict[str, Any] = {
                    "names": shown_names([*names[at]]),
                    "others": shown_names([*others]),
                }
                yield finding("CNV205", file=part.path, **values)

    def without_text(self) -> Iterator[Finding]:
        """The documents that have spans, but no text, where others have a text."""
        documents = self.corpus.documents
        if documents["text"].null_count() in {0, documents.height}:
            return
        bare = documents.filter(pl.col("text").is_null())
        spans = self.corpus.mentions.select(row="document").unique()
        names = bare.join(spans, on="row", how="semi")["name"].to_list()
        if names:
            yield finding("CNV206", count=len(names), names=shown_names(names))

    def wrong_offsets(self) -> Iterator[Finding]:
        """The mentions of one input that do not fit the text of another."""
        files = [(at, member) for at, part in enumerate(self.parts) for member in part.members]
        texts = {document.row: document.text_part for document in self.documents}
        wrong = misplaced(self.corpus)
        for (origin,), rows in wrong.group_by("origin", maintain_order=True):
            part, member = files[int(str(origin))]
            if member is not None:
                found = rows.iter_rows(named=True)
                foreign = [row for row in found if texts[row["document"]] != part]
                yield from _located(self.parts[part].form, member, foreign)


def _documents(parts: Sequence[_Part], corpus: Corpus) -> Iterator[_Document]:
    """The documents of all inputs, with what each brings."""
    kinds = _brought(corpus)
    sizes = [part.corpus.documents.height for part in parts]
    owners = [part for part, size in enumerate(sizes) for _ in range(size)]
    own = ("row", "origin", "name", "text")
    columns = corpus.documents.select(*own, pl.struct(pl.exclude(own)).alias("others"))
    for part, cells in zip(owners, columns.iter_rows(), strict=True):
        row, origin, name, text, others = cells
        yield _Document(row, origin, name, text, others, part, kinds.get(row, set()), part)


def _located(
    form: Format, member: Member, rows: Sequence[Mapping[str, object]]
) -> Iterator[Finding]:
    """The findings about mentions, at their places in a file."""
    if not rows:
        return
    places = [FieldRef(int(str(row["record"])), "text") for row in rows]
    try:
        locations = form.locate(member, places)
    except Unreadable:
        locations = [None for _ in rows]
    for row, location in zip(rows, locations, strict=True):
        text, there = row["text"], str(row["there"])[:40]
        actual = f"the text there is {there!r}" if row["fit"] else "the text ends before"
        values: dict[str, Any] = {
            "start": row["start"],
            "end": row["end"],
            "given": str(text or "")[:40],
        }
        yield finding(
            "CNV207",
            file=member.display,
            span=location.span if location else None,
            excerpt=location.excerpt if location else None,
            record=str(row["mention"]) or None,
            actual=actual,
            **values,
        )


def _brought(corpus: Corpus) -> Mapping[int, set[str]]:
    """What there is of each document, by row."""
    found: dict[int, set[str]] = {}
    for name, kind in _KINDS.items():
        rows: pl.DataFrame = getattr(corpus, name)
        for document in rows["document"].unique():
            found.setdefault(document, set()).add(kind)
    texts = corpus.translations.select("document", "role", "set").unique(maintain_order=True)
    for document, role, name in texts.iter_rows():
        kind = f"translations of the {role} {name or ''}".rstrip()
        found.setdefault(document, set()).add(kind)
    for document in corpus.documents.drop_nulls("text")["row"]:
        found.setdefault(document, set()).add(_TEXT)
    return found
