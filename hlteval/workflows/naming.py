"""Names of documents: two documents of one name are kept apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import polars as pl

from hlteval.converters import Format, ReadResult
from hlteval.converters.toolkit.single_file import unique_name
from hlteval.findings import Finding, finding
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Source


def qualified(form: Format, source: Source) -> Source:
    """A source whose files are qualified by their folders where documents have the same name.

    The files of a document have different suffixes; where two of them have the same name, they are
    those of several documents.

    Examples:
        >>> from hlteval.converters import load
        >>> names = ["a/d1.ann", "b/d1.ann", "b/d2.ann"]
        >>> members = tuple(Member(name, name, 0, bytes) for name in names)
        >>> source = qualified(load("brat"), Source("x", "folder", members))
        >>> list(load("brat").documents(source))
        ['a/d1', 'b/d1', 'd2']
    """
    if form.layout != "per_document":
        return source
    shared = {
        member.name
        for members in form.documents(source).values()
        if len({member.basename for member in members}) < len(members)
        for member in members
    }
    if not shared:
        return source
    members = (msgspec.structs.replace(m, qualified=m.name in shared) for m in source.members)
    return replace(source, members=tuple(members))


class UniqueNames:
    """Gives documents that have the name of an earlier one another name, over all batches.

    Args:
        files: the files of the source that make up documents, by any key; a document with rows from
            files of several keys is several documents.
    """

    def __init__(self, files: Mapping[str, Sequence[Member]]) -> None:
        self.groups = {m.name: group for group, own in enumerate(files.values()) for m in own}
        self.names: dict[str, int] = {}
        self.places: dict[str, str] = {}

    def apply(self, result: ReadResult) -> ReadResult:
        """The result with names that no earlier document has, and a finding for each new one."""
        corpus = result.corpus
        groups = [self.groups.get(member.name, -1) for member in result.members]
        if len(set(groups)) > 1 and len(groups) == corpus.sources.height:
            corpus = separated(corpus, groups)
        names = corpus.documents["name"].to_list()
        if len(set(names)) == len(names) and self.names.keys().isdisjoint(names):
            self.names |= dict.fromkeys(names, 1)
            self.places |= dict(_places(corpus, result.members))
            return replace(result, corpus=corpus)
        findings: list[Finding] = []
        new = []
        for name, place in _places(corpus, result.members):
            new.append(unique_name(name, self.names))
            if new[-1] != name:
                first = self.places.get(name, "")
                values: dict[str, Any] = {"name": name, "new": new[-1], "first": first}
                findings.append(finding("CNV201", file=place or None, record=name, **values))
            self.places.setdefault(new[-1], place)
        documents = corpus.documents.with_columns(name=pl.Series(new, dtype=pl.String))
        return replace(
            result,
            corpus=corpus.replace(documents=documents),
            findings=(*result.findings, *findings),
        )


def _places(corpus: Corpus, members: Sequence[Member]) -> Iterator[tuple[str, str]]:
    """The name of each document and the file that it is in, empty where that is unknown."""
    displays = dict(zip(corpus.sources["row"], (m.display for m in members), strict=False))
    for origin, name in corpus.documents.select("origin", "name").iter_rows():
        yield name, displays.get(origin, "")


def separated(corpus: Corpus, groups: Sequence[int]) -> Corpus:
    """A corpus in which no document has rows from files of two groups.

    Args:
        corpus: of documents that may have.
        groups: the group of each row of `sources`.

    Examples:
        >>> source = {"path": "x", "format": "x", "sha256": ""}
        >>> place = {"document": 0, "record": 1, "start": 0, "end": 1}
        >>> mention = {**place, "mention": "m", "label": "X"}
        >>> corpus = Corpus(
        ...     sources=[{**source, "row": row, "member": f"{row}.tab"} for row in (0, 1)],
        ...     documents=[{"row": 0, "origin": 0, "name": "d1"}],
        ...     mentions=[{**mention, "row": row, "origin": row} for row in (0, 1)],
        ... )
        >>> separated(corpus, [7, 8]).mentions["document"].to_list()
        [0, 1]
    """
    key = pl.Series("group", groups, dtype=pl.Int64)
    group_of = corpus.sources.select(origin="row").with_columns(key)
    both = {("document", "documents"), ("origin", "sources")}
    placed = {name: rows for name, rows in corpus.tables() if both <= {*TABLES[name].references}}
    pairs = pl.concat(rows.select("document", "origin").unique() for rows in placed.values())
    pairs = pairs.drop_nulls().unique().join(group_of, on="origin").select("document", "group")
    home = corpus.documents.select("row", "name", "origin")
    home = home.join(group_of, on="origin", how="left", maintain_order="left")
    first = pairs.group_by(row="document").agg(first=pl.col("group").min())
    home = home.join(first, on="row", how="left", maintain_order="left")
    home = home.select("row", "name", home=pl.coalesce("group", "first"))
    pairs = pairs.join(home, left_on="document", right_on="row", how="left")
    others = pairs.filter(pl.col("group") != pl.col("home")).unique().sort("document", "group")
    if others.is_empty():
        return corpus
    count = int(corpus.documents["row"].max() or 0) + 1  # type: ignore[arg-type]
    others = others.with_columns(new=pl.int_range(pl.len(), dtype=pl.Int64) + count)
    origins = group_of.group_by("group").agg(pl.col("origin").min())
    made = others.join(origins, on="group", maintain_order="left").select(
        "origin", "name", row="new"
    )
    documents = pl.concat([corpus.documents, made], how="diagonal")
    moved = group_of.join(others, on="group").select("document", "origin", _new="new")
    tables = {name: _moved(rows, moved) for name, rows in placed.items() if rows.height}
    return corpus.replace(documents=documents, **tables)


def _moved(rows: pl.DataFrame, moved: pl.DataFrame) -> pl.DataFrame:
    """Rows with the new documents of those that are in others."""
    on = ["document", "origin"]
    found = rows.join(moved, on=on, how="left", maintain_order="left")
    return found.with_columns(document=pl.coalesce("_new", "document")).drop("_new")
