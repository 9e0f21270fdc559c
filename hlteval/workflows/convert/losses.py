"""What a conversion loses, counted while batches stream from the readers to the writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from hlteval.converters import Format, known, load
from hlteval.converters.format import derived_losses
from hlteval.converters.toolkit.document_slices import slices
from hlteval.converters.toolkit.frame_kinds import plural
from hlteval.converters.toolkit.words import worded
from hlteval.findings import Finding, finding
from hlteval.findings.counts import counted, counted_phrase
from hlteval.representation import Corpus
from hlteval.results.packages import Loss
from hlteval.sources import Member, sha256
from hlteval.workflows.convert.inputs import Input

_NO_CONTENT = ("sources", "documents", "attributes")
"""Tables that say nothing by themselves: names of files and documents, and layout."""

_OF_FRAMES = ("frames", "sentiments", "arguments", "fills", "modifiers", "groups")
"""The tables of frames and of what belongs to them."""


class Losses:
    """The losses of a conversion, in the words of the formats that are read.

    Args:
        forms: the formats of the inputs.
        target: the format that is written.
    """

    def __init__(self, forms: Sequence[Format], target: Format) -> None:
        self.forms = {form.name: form for form in forms}
        self.first, self.target = forms[0], target
        self.tables: Counter[tuple[str, str]] = Counter()
        self.parts: Counter[str] = Counter()
        self.documents: dict[str, None] = {}
        self.found: Counter[str] = Counter()
        self.supported: Counter[str] = Counter()
        self.rejected = 0
        self.words: set[str] = set()
        self.contents: set[str] = set()
        self.kinds: set[str] = set()

    def counted(self, corpus: Corpus) -> Iterator[Corpus]:
        """What is written of a batch, in slices; its losses and contents are counted on the way."""
        counts, before = self._declared(corpus), self.parts
        written = slices(corpus, self.target.name) if self.target.separable else [corpus]
        for part in map(self.target.supported, written):
            counts.update(self.target.count_losses(part))
            found = {name: count for name, count in counts.items() if count}
            self.parts = Counter(before)
            self.parts.update(found)
            yield part

    def _declared(self, corpus: Corpus) -> Counter[str]:
        """Count what a batch contains; the losses that follow from declarations."""
        describe = _Words(self.forms, self.first, corpus)
        self.documents |= dict.fromkeys(corpus.documents["name"])
        self.kinds |= {*corpus.frames["kind"]}
        self.rejected += corpus.rejected_records.height
        for name, rows in self.target.without_repeated(corpus).tables():
            if rows.height and name not in self.target.tables:
                for word, count in describe(name, rows).items():
                    self.tables[name, word] += count
        for name, rows in corpus.tables():
            if name not in _NO_CONTENT:
                self.found.update(describe(name, rows))
                self.contents |= {name} if rows.height else set()
        texts = corpus.documents["text"].drop_nulls()
        size = int((texts != "").sum())
        self.found["text"] += size
        self.contents |= {"documents.text"} if size else set()
        self.supported.update(content(self.target, self.target.supported(corpus)))
        counts = Counter(derived_losses(self.target, corpus, describe))
        self.words |= describe.words
        return counts

    @property
    def summary(self) -> str:
        """What was found, in words."""
        listed = [counted(len(self.documents), "document")] if self.documents else []
        listed += [counted(count, word) for word, count in self.found.items() if count]
        return ", ".join(listed) or "nothing"

    @property
    def holds_something(self) -> bool:
        """Whether something is certainly left: more than all that is lost, and not only names."""
        kept = sum(self.supported.values())
        return bool(self.found.total()) and kept > self.parts.total()

    @property
    def holders(self) -> Sequence[str]:
        """The formats that can represent some of what was found, or the names of documents."""
        wanted = self.contents or {"documents"}
        forms = (load(name) for name in known() if name != self.target.name)
        return [
            form.name
            for form in forms
            if form.write and (wanted - self._unsupported(form)) & {*form.carries}
        ]

    def _unsupported(self, form: Format) -> set[str]:
        """The tables of frames, if a format represents frames of other kinds only."""
        fitting = not form.frame_kinds or self.kinds & {*form.frame_kinds}
        return set() if fitting else {*_OF_FRAMES}

    def reasons(self) -> Iterator[Finding]:
        """The findings about what was not written of tables that the format supports."""
        kinds = {plural(kind) for kind in self.kinds}
        for what, rows in self.parts.items():
            if what not in self.words | kinds:
                yield finding("CNV103", what=counted_phrase(rows, what), format=self.target.name)

    def findings(self) -> Iterator[Finding]:
        """A finding for each kind of loss."""
        for (table, word), rows in self.tables.items():
            forms = (load(name) for name in known())
            carriers = ", ".join(f.name for f in forms if f.write and table in f.tables)
            values: dict[str, Any] = {"what": counted(rows, word), "format": self.target.name}
            yield finding("CNV101", table=table, carriers=carriers, **values)
        for what, rows in self.parts.items():
            yield finding("CNV103", what=self._shown(what, rows), format=self.target.name)

    def listed(self) -> Iterator[Loss]:
        """Each kind of loss as a value."""
        for (_, word), rows in self.tables.items():
            yield Loss("CNV101", counted(rows, word), rows)
        for what, rows in self.parts.items():
            yield Loss("CNV103", self._shown(what, rows), rows)

    def _shown(self, what: str, rows: int) -> str:
        """The number of what is lost of a table that the format supports, in words."""
        return counted(rows, what) if what in self.words else counted_phrase(rows, what)


class _Words:
    """Gives the words for rows by the formats that they were read from."""

    def __init__(self, forms: Mapping[str, Format], first: Format, corpus: Corpus) -> None:
        self.forms, self.first = forms, first
        files = corpus.sources.select("row", "format").iter_rows()
        self.formats = dict(files) if len(forms) > 1 else {}
        self.words: set[str] = set()

    def __call__(self, item: str, rows: pl.DataFrame) -> Mapping[str, int]:
        counts = self.count(item, rows)
        self.words.update(counts)
        return counts

    def count(self, item: str, rows: pl.DataFrame) -> Mapping[str, int]:
        """The counts of rows by word."""
        if not self.formats or "origin" not in rows.columns:
            return worded(self.first.words, item, rows)
        counts = Counter[str]()
        for (origin,), some in rows.group_by("origin", maintain_order=True):
            form = self.forms.get(self.formats.get(int(str(origin)), ""), self.first)
            counts.update(worded(form.words, item, some))
        return counts


def content(form: Format, corpus: Corpus) -> Mapping[str, int]:
    """The sizes of what a corpus has that a format can represent and that says something.

    To a format of nothing but names, documents are all that there is to say.

    Examples:
        >>> corpus = Corpus(documents=[{"row": 0, "name": "d1", "text": "aba"}])
        >>> dict(content(load("rsd"), corpus)), dict(content(load("document-list"), corpus))
        ({'text': 1}, {'documents': 1})
    """
    rows = {name: rows for name, rows in corpus.tables() if name not in _NO_CONTENT}
    sizes = Counter({name: rows[name].height for name in rows if name in form.tables})
    if "documents.text" in form.carries:
        sizes["text"] = int((corpus.documents["text"].drop_nulls() != "").sum())
    if not {*form.carries} - {"sources", "documents"}:
        sizes["documents"] = corpus.documents.height
    return +sizes


_MARK = b"\xef\xbb\xbf"


def not_kept(before: Sequence[bytes], after: bytes) -> str:
    r"""How files with the same content differ, in words for a message.

    Args:
        before: files as they were read.
        after: the same content as it is written, in one file.

    Examples:
        >>> not_kept([b"d1\r\n\r\nd2\r\n"], b"d1\nd2\n")
        'without CR LF line ends, 1 empty line'
        >>> not_kept([b"name\nd1\n", b"name\nd2\n"], b"d1\nd2\n")
        'without 2 header lines'
        >>> not_kept([b"d1 x\n"], b"d1  x\n")
        'but different bytes'
    """
    listed = ", ".join(_dropped(before, after))
    return f"without {listed}" if listed else "but different bytes"


def joined_lines(files: Iterable[bytes]) -> bytes:
    """The lines of files one after the other."""
    return b"".join(data if data.endswith(b"\n") or not data else data + b"\n" for data in files)


def _dropped(before: Sequence[bytes], after: bytes) -> Iterator[str]:
    marks = sum(data.startswith(_MARK) for data in before)
    if marks and not after.startswith(_MARK):
        yield counted(marks, "byte order mark") if len(before) > 1 else "byte order mark"
    if any(b"\r\n" in data for data in before) and b"\r\n" not in after:
        yield "CR LF line ends"
    old, new = [_lines(data) for data in before], _lines(after)
    empty = sum(lines.count(b"") for lines in old) - new.count(b"")
    if empty > 0:
        yield counted(empty, "empty line")
    full, kept = [[line for line in lines if line] for lines in old], {*new}
    first = [lines[0] for lines in full if lines]
    headers = [line for line in first if not line.startswith(b"<") and line not in kept]
    if headers and sum(map(len, full)) == len(new) - new.count(b"") + len(headers):
        yield counted(len(headers), "header line")


def _lines(data: bytes) -> list[bytes]:
    """The lines without space at their ends."""
    return [line.strip() for line in data.removeprefix(_MARK).removesuffix(b"\n").split(b"\n")]


@dataclass(frozen=True)
class Originals:
    """The files of the inputs that have the format of the output.

    Attributes:
        inputs: the inputs.
        digests: name and SHA-256 digest of each such file.
    """

    inputs: Sequence[Input]
    digests: Collection[tuple[str, str]]

    def relaid(self, output: Path) -> Iterable[Finding]:
        """Files of the same format that are written with other bytes."""
        # Members are data of a saved corpus: only what was written is opened, whatever they name.
        files = (file for file in output.rglob("*") if file.is_file())
        written = {file.relative_to(output).as_posix(): file for file in files}
        if output.is_file() and len(self.digests) > 1:
            yield from self.relaid_together(output)
            return
        single = output if output.is_file() else None
        for member, digest in self.digests:
            file = single or written.get(member) or written.get(member.rpartition("/")[2])
            if digest and file and sha256(data := file.read_bytes()) != digest:
                how = self.layout(member, digest, data)
                yield finding("CNV102", file=member or None, member=member or "file", how=how)

    def relaid_together(self, output: Path) -> Iterable[Finding]:
        """Files of the same format that are written to one file with other bytes."""
        found = [self.original(*key) for key in self.digests]
        before, after = [data for data in found if data is not None], output.read_bytes()
        if len(before) == len(found) and joined_lines(before) != after:
            what = f"each of {len(before)} files"
            yield finding("CNV102", member=what, how=not_kept(before, after))

    def layout(self, name: str, digest: str, written: bytes) -> str:
        """How what was written differs from the file of the inputs with a name and a digest."""
        data = self.original(name, digest)
        return "but different bytes" if data is None else not_kept([data], written)

    def original(self, name: str, digest: str) -> bytes | None:
        """The file of the inputs with a name and a digest, if there is one."""
        for member in self.members_by_name.get(name.rpartition("/")[2], ()):
            if sha256(data := member.fetch()) == digest:
                return data
        return None

    @cached_property
    def members_by_name(self) -> Mapping[str, Sequence[Member]]:
        """The files of the inputs by the last part of their names."""
        found: dict[str, list[Member]] = {}
        for each in self.inputs:
            for member in each.source.members:
                found.setdefault(member.basename, []).append(member)
        return found
