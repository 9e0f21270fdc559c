"""Losses of a conversion, counted while batches stream; files that are written with other bytes."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import chain, islice, zip_longest
from pathlib import Path

import polars as pl

from hlteval.converters import Format, known, load
from hlteval.converters.format import Describe, derived_losses
from hlteval.converters.toolkit.fitting import plural, word_counts
from hlteval.converters.toolkit.rows import slices
from hlteval.findings import Finding, entry, finding
from hlteval.findings.counts import count_of, counted_phrase
from hlteval.findings.sequence import lists_by_key
from hlteval.representation import Corpus
from hlteval.results.packages import Loss
from hlteval.sources import sha256
from hlteval.sources.writing import files_below
from hlteval.workflows.convert.inputs import Input

#: Tables that say nothing by themselves: names of files and documents, and layout.
_NO_CONTENT = ("sources", "documents", "attributes")

#: The tables of frames and of what belongs to them.
_OF_FRAMES = ("frames", "sentiments", "arguments", "fills", "modifiers", "groups")


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
        self.documents = pl.Series("name", dtype=pl.String)
        self.found: Counter[str] = Counter()
        self.supported: Counter[str] = Counter()
        self.rejected = 0
        self.words: set[str] = set()
        self.contents: set[str] = set()
        self.kinds: set[str] = set()
        self.in_tokens = 0

    def count(self, corpus: Corpus) -> Iterator[Corpus]:
        """Yield a batch as it is written, in slices, and count its losses and contents."""
        describe = self._words_of(corpus)
        self.documents.append(corpus.documents["name"])
        self.kinds |= {*corpus.frames["kind"]}
        self.rejected += corpus.rejected_records.height
        single = (pl.col("end") - pl.col("start") == 1).all()
        numbers = single & (pl.col("text").str.len_chars() > 1).any()
        if corpus.tokens.select(numbers).item() and not corpus.documents["text"].count():
            self.in_tokens += corpus.mentions.height
        for name, rows in self.target.without_repeated(corpus).tables():
            if rows.height and name not in self.target.tables:
                for word, count in describe(name, rows).items():
                    self.tables[name, word] += count
        for name, rows in corpus.tables():
            if name not in _NO_CONTENT:
                self.found.update(describe(name, rows))
                self.contents |= {name} if rows.height else set()
        texts = int((corpus.documents["text"].drop_nulls() != "").sum())
        self.found["text"] += texts
        self.contents |= {"documents.text"} if texts else set()
        self.supported.update(content(self.target, self.target.supported(corpus)))
        counts = Counter(derived_losses(self.target, corpus, describe))
        before = self.parts
        written = slices(corpus, self.target.name) if self.target.separable else [corpus]
        for part in map(self.target.supported, written):
            counts.update(self.target.count_losses(part))
            self.parts = Counter(before)
            self.parts.update({name: count for name, count in counts.items() if count})
            yield part

    def _words_of(self, corpus: Corpus) -> Describe:
        """Return what counts rows of a batch by the words of the formats that they are from."""
        files = corpus.sources.select("row", "format").iter_rows()
        formats = dict(files) if len(self.forms) > 1 else {}

        def describe(item: str, rows: pl.DataFrame) -> Mapping[str, int]:
            counts: Counter[str] = Counter()
            parts = [(self.first, rows)]
            if formats and "origin" in rows.columns:
                each = rows.group_by("origin", maintain_order=True)
                names = ((formats.get(int(str(origin)), ""), own) for (origin,), own in each)
                parts = [(self.forms.get(name, self.first), own) for name, own in names]
            for form, own in parts:
                counts.update(word_counts(form.words, item, own))
            self.words.update(counts)
            return counts

        return describe

    @property
    def summary(self) -> str:
        """The contents of the inputs, in words."""
        listed = [count_of(len(self.documents), "document")] if len(self.documents) else []
        listed += [count_of(count, word) for word, count in self.found.items() if count]
        return ", ".join(listed) or "nothing"

    @property
    def holds_something(self) -> bool:
        """Whether something is certainly left: more than all that is lost, and not only names."""
        kept = sum(self.supported.values())
        return bool(self.found.total()) and kept > self.parts.total()

    @property
    def holders(self) -> Sequence[str]:
        """The formats that can represent some of what was found, or the names of documents."""
        names = []
        for form in (load(name) for name in known() if name != self.target.name):
            wanted = self.contents or {"documents"}
            if form.frame_kinds and not self.kinds & {*form.frame_kinds}:
                wanted = wanted - {*_OF_FRAMES}
            if form.write and wanted & {*form.carries}:
                names.append(form.name)
        return names

    def reasons(self) -> Iterator[Finding]:
        """The findings about what was not written of tables that the format supports."""
        kinds = {plural(kind) for kind in self.kinds}
        for what, rows in self.parts.items():
            if what not in self.words | kinds:
                yield finding("CNV103", what=counted_phrase(rows, what), format=self.target.name)

    def findings(self) -> Iterator[Finding]:
        """Report each kind of loss."""
        forms = [form for form in map(load, known()) if form.write]
        target = self.target.name
        for table, loss in zip_longest((table for table, _ in self.tables), self.values()):
            if table is None:
                yield finding("CNV103", what=loss.what, format=target)
            else:
                formats = ", ".join(form.name for form in forms if table in form.tables)
                values = {"what": loss.what, "table": table, "carriers": formats, "format": target}
                yield entry("CNV101").finding(values)
        own = target in self.forms or "rejected_records" in self.target.tables  # which keeps all
        if self.in_tokens and not own and {"documents.text", "mentions"} <= {*self.target.carries}:
            yield finding("CNV110", count=self.in_tokens, format=target)

    def values(self) -> Iterator[Loss]:
        """Return each kind of loss as a value: whole tables, then parts of others."""
        for (_, word), rows in self.tables.items():
            yield Loss("CNV101", count_of(rows, word), rows)
        for what, rows in self.parts.items():
            text = count_of(rows, what) if what in self.words else counted_phrase(rows, what)
            yield Loss("CNV103", text, rows)


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
    lost = []
    marks = sum(data.startswith(_MARK) for data in before)
    if marks and not after.startswith(_MARK):
        lost.append(count_of(marks, "byte order mark") if len(before) > 1 else "byte order mark")
    if any(b"\r\n" in data for data in before) and b"\r\n" not in after:
        lost.append("CR LF line ends")
    old = Counter(map(bool, chain.from_iterable(map(_lines, before))))
    new = Counter(map(bool, _lines(after)))
    empty = old[False] - new[False]
    if empty > 0:
        lost.append(count_of(empty, "empty line"))
    first = chain.from_iterable(islice(filter(None, _lines(data)), 1) for data in before)
    headers = [line for line in first if not line.startswith(b"<")]
    kept = {*headers}.intersection(_lines(after))
    headers = [line for line in headers if line not in kept]
    if headers and old[True] == new[True] + len(headers):
        lost.append(count_of(len(headers), "header line"))
    return f"without {', '.join(lost)}" if lost else "but different bytes"


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines without space at their ends, of which there may be a million."""
    return map(bytes.strip, BytesIO(data.removeprefix(_MARK) or b"\n"))


def changed_files(
    inputs: Sequence[Input], digests: Collection[tuple[str, str]], output: Path
) -> Iterator[Finding]:
    """Report files of the format of the output that are written with other bytes.

    Args:
        inputs: the inputs.
        digests: name and SHA-256 digest of each file of the inputs that has this format.
        output: the file or folder that was written.
    """
    members = (member for each in inputs for member in each.source.members)
    by_name = lists_by_key((member.basename, member) for member in members)

    def original(name: str, digest: str) -> bytes | None:
        """Return the file of the inputs with a name and a digest, if there is one."""
        each = (member.fetch() for member in by_name.get(name.rpartition("/")[2], ()))
        return next((data for data in each if sha256(data) == digest), None)

    single = output if output.is_file() else None
    if single and len(digests) > 1:
        before = [old for key in digests if (old := original(*key)) is not None]
        lines = (old if old.endswith(b"\n") or not old else old + b"\n" for old in before)
        after = output.read_bytes()
        if len(before) == len(digests) and b"".join(lines) != after:
            what = f"each of {len(before)} files"
            yield finding("CNV102", member=what, how=not_kept(before, after))
        return
    # Members are data of a saved corpus: only what was written is opened, whatever they name.
    written = files_below(output) if digests and not single else {}
    for name, digest in digests:
        own = next((each for each in (name, name.rpartition("/")[2]) if each in written), None)
        file = single or (own and output / own)
        if digest and file and sha256(data := file.read_bytes()) != digest:
            source = original(name, digest)
            how = "but different bytes" if source is None else not_kept([source], data)
            yield finding("CNV102", file=name or None, member=name or "file", how=how)
