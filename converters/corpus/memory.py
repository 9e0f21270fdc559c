"""A corpus in memory as a format: what a program gives in place of a path.

It is not listed among the formats, since no file has it; whoever looks for the format of a source
asks `in_memory` first.

Every task reads saved corpora (`jsonl`, Parquet) too: `converters/corpus/memory.py` loads and
checks them once, and gives them to the batches in place of the format of the task. JSON Lines are
read in chunks of whole lines (`representation/jsonl.py`), and lines of findings again by their
numbers; the tables stay in memory, about 0.7 bytes per byte of the file. What follows works on
slices of documents (`representation/corpus.py`) where files, losses and findings do not depend on
them: formats say so (`Format.separable`), and tasks without a metric or a reference. Written as
JSON Lines, the tables of batches wait in unnamed files for the tables before them.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import polars as pl
from msgspec import structs

from hlteval.converters import known, load
from hlteval.converters.corpus import jsonl_parts, parquet
from hlteval.converters.corpus.checks import check
from hlteval.converters.corpus.jsonl import write_jsonl
from hlteval.converters.corpus.parquet import row_findings
from hlteval.converters.format import EVERYTHING, Format, ReadResult
from hlteval.representation import Corpus, of_documents
from hlteval.sources import Member, Source

#: The formats of saved corpora.
SAVED = ("jsonl", "corpus")


def in_memory(source: Source, own: str = "") -> Format | None:
    """The format of a corpus in memory; None for any other source.

    It represents what the formats do that the corpus was read from, so that rules ask for no more.

    Args:
        source: any source.
        own: the format in which a task has what was read from no file, such as data frames; by
            default, that represents everything.
    """
    if source.corpus is None:
        return None
    names = source.corpus.sources["format"].unique()
    read_from = [load(name) for name in names if name in known()] or ([load(own)] if own else [])
    carries = {column for form in read_from for column in form.carries} or {*EVERYTHING}
    form = FORMAT
    if source.saved is not None:
        form = structs.replace(form, read=jsonl_parts.read, sections=jsonl_parts.sections)
    return structs.replace(form, carries=tuple(name for name in EVERYTHING if name in carries))


def load_corpus(source: Source) -> Source:
    r"""A saved corpus as one in memory, with the findings about it; any other source as it is.

    Examples:
        >>> content = b'{"format":"hlteval-corpus","version":1}\n'
        >>> saved = Source("c.jsonl", "file", (Member("", "c.jsonl", 0, lambda: content),))
        >>> load_corpus(saved).corpus
        <Corpus: empty>
    """
    forms = (load(name) for name in SAVED)
    form = next((form for form in forms if source.corpus is None and form.sniff(source)), None)
    if form is None:
        return source
    results = list(form.read(source))
    corpus = Corpus.concat(result.corpus for result in results)
    findings = tuple(found for result in results for found in result.findings)
    return replace(source, members=(), corpus=corpus, of_corpus=findings)


def read(source: Source) -> Iterator[ReadResult]:
    """The corpus as one batch, without the rows that cannot be kept, which are findings.

    A saved corpus was checked when it was loaded.
    """
    corpus, findings = source.corpus or Corpus(), source.of_corpus
    if source.corpus is None or source.kind == "memory":
        tables = dict(corpus.tables())
        found = check(tables, source.path)
        findings = tuple(row_findings(found.defects, tables, source.path, source.max_per_code))
        corpus = found.corpus
    yield ReadResult(corpus, findings, (_member(source),) * corpus.sources.height)


def documents(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """Every document of the corpus, with the corpus in place of a file."""
    names = source.corpus.documents["name"] if source.corpus else ()
    return {name: (_member(source),) for name in names}


def _member(source: Source) -> Member:
    return Member("", source.path, 0, bytes, max_per_code=source.max_per_code)


def with_digest(source: Source) -> Source:
    """The source with the digest of its content in place of those of files, which it may not equal.

    Any other source is returned as it is.
    """
    if source.corpus is None:
        return source
    content = _Digest()
    write_jsonl(source.corpus, content)
    digest = content.sha256.hexdigest()
    row = {"row": 0, "path": source.path, "member": "", "format": "", "sha256": ""}
    sources = source.corpus.sources
    sources = Corpus(sources=[row]).sources if sources.is_empty() else sources
    named = sources.with_columns(sha256=pl.lit(digest))
    return replace(source, corpus=source.corpus.replace(sources=named))


class _Digest(BytesIO):
    """A stream of which only the digest is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.sha256 = hashlib.sha256()

    def write(self, data: Any, /) -> int:
        self.sha256.update(data)
        return memoryview(data).nbytes


def without_files(source: Source, form: Format, own: tuple[str, ...]) -> Source:
    """A corpus as if only some of the files had been read that it was read from.

    Args:
        source: of a corpus; any other source is returned as it is.
        form: a format with files for each document; files of others and tables of no file stay.
        own: the suffixes of the files that count.
    """
    corpus = source.corpus
    if corpus is None or not own:
        return source
    files = corpus.sources.filter(format=form.name)
    kept = files.filter(pl.any_horizontal(pl.col("member").str.ends_with(end) for end in own))
    if kept.is_empty():
        return source
    members = tuple(Member(name, name, 0, bytes) for name in kept["member"])
    names = form.documents(Source("", "zip", members))
    corpus = of_documents(corpus, pl.Series([*names], dtype=pl.String))
    others = files.join(kept, on="row", how="anti")["row"].implode()
    tables = {
        name: rows.filter(~pl.col("origin").is_in(others).fill_null(value=False))
        for name, rows in corpus.tables()
        if "origin" in rows.columns and name != "documents"
    }
    return replace(source, corpus=corpus.replace(**tables))


#: The format of any corpus in memory; that of one is what `in_memory` returns.
FORMAT = structs.replace(
    parquet.FORMAT,
    title="tables in memory",
    suffixes=(),
    sniff=lambda source: source.corpus is not None,
    read=read,
    documents=documents,
    write=None,
)
