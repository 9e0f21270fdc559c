"""What a conversion loses, counted while batches stream from the readers to the writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from hlteval.results.conversion import Loss

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
