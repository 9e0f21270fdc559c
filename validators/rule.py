"""Rules: what they check, and the rows that they return.

Rules return lazy tables and all rules of a task run together (`pl.collect_all`), so that what
several of them look at is computed once (`context.cached`). A rule may need a column
(`Rule.needs`): nothing is asked of formats that cannot represent it.

A rule that looks for what a submission lacks (`Rule.finds_missing`) runs on batches of which the
submission has nothing, but not where it could not be opened.

Whether a finding counts can depend on all batches (`Rule.counts_if`, by the types of all frames);
`workflows/run/checks.py` decides that at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from hlteval.representation import (
    Corpus,
    effective_fillers,
    fillers,
    has_repeated_identifiers,
    items,
)

T = TypeVar("T")

#: What a rule returns of each row: its source (null: the submission), its record (null: the file),
#: the field of the record, and its identifier. Further columns fill the templates of the message.
PLACE = ("origin", "record", "field", "id")

#: The columns of a table that place a row in its document and its file.
RECORD = ("row", "document", "origin", "record")

#: The column of the identifiers that records of a table have in their file.
IDENTIFIERS: Mapping[str, str] = {
    "mentions": "mention",
    "frames": "frame",
    "modifiers": "modifier",
    "segments": "name",
    "tokens": "name",
    "translations": "segment",
    "rejected_records": "id",
}


@dataclass(frozen=True)
class RuleContext:
    """What rules check: a batch of documents of a submission beside its reference.

    Tables are lazy frames: all rules of a task are collected together, so that tables that several
    of them use are computed once.

    Attributes:
        system: the submission.
        against: the documents and the annotations that come with them; the submission itself if it
            holds them. Both number their documents alike.
        schema: what the task allows.
        lists: the corpora of further files, by the option that names them: lists of documents, a
            knowledge base.
    """

    system: Corpus
    against: Corpus
    schema: Any
    lists: Mapping[str, Corpus] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Whether the submission brings its own documents."""
        return self.against is self.system

    def table(self, name: str, column: str, *columns: str) -> pl.LazyFrame:
        """Some columns of a table of the submission.

        No others come along, so that the columns that a rule adds meet none of a later schema.
        """
        frame: pl.DataFrame = getattr(self.system, name)
        return frame.lazy().select(column, *columns)

    def records(self, name: str, *columns: str) -> pl.LazyFrame:
        """The records of a table: `RECORD`, their identifier as `id`, and some further columns."""
        frame: pl.DataFrame = getattr(self.system, name)
        return frame.lazy().select(*RECORD, *columns, id=IDENTIFIERS[name])

    @property
    def reference_mentions(self) -> pl.LazyFrame:
        """`document` and `mention` of the mentions that come with the task.

        There are none if the submission brings its own documents.
        """
        mentions = self.against.mentions.lazy().select("document", "mention")
        return only_if(not self.own, mentions)

    @property
    def items(self) -> pl.LazyFrame:
        """What identifiers of the submission may refer to; see `representation.items`."""
        return items(self.system, self.against).lazy()

    @property
    def all_arguments(self) -> pl.LazyFrame:
        """The resolved arguments of the submission; see `representation.fillers`."""
        return fillers(self.system, self.against).lazy()

    @property
    def arguments(self) -> pl.LazyFrame:
        """The resolved arguments that count; see `representation.effective_fillers`."""
        return effective_fillers(self.system, self.against).lazy()

    @property
    def has_repeated_roles(self) -> bool:
        """Whether a frame has several arguments of one role."""
        every = fillers(self.system, self.against)
        return effective_fillers(self.system, self.against).height < every.height

    @property
    def has_repeated_identifiers(self) -> bool:
        """Whether a document has several items of one identifier."""
        return has_repeated_identifiers(self.system, self.against)

    @cached_property
    def _cache(self) -> dict[Callable[[RuleContext], Any], Any]:
        return {}

    def once(self, function: Callable[[RuleContext], T]) -> T:
        """What a function gives that several rules use, computed once."""
        if function not in self._cache:
            self._cache[function] = function(self)
        found: T = self._cache[function]
        return found

    def cached(self, table: Callable[[RuleContext], pl.LazyFrame]) -> pl.LazyFrame:
        """A table that several rules use, computed once."""
        if table not in self._cache:
            self._cache[table] = table(self).collect(engine="in-memory").lazy()
        return self.once(table)

    @property
    def names(self) -> pl.LazyFrame:
        """The name of each document: `document` and `name`."""
        return self.table("documents", "row", "name").rename({"row": "document"})


@dataclass(frozen=True, slots=True)
class Rule:
    """A check: a function that returns the rows with a problem, and the code of their findings.

    Attributes:
        code: the code of its findings.
        runs_on: the table that it checks; it does not run if this is empty.
        check: returns rows with the columns `PLACE`.
        needs: a column, such as `mentions.text`: it does not run on formats that cannot represent
            this.
        once: whether only its first finding is reported, in whatever batch that is: it concerns the
            submission as a whole.
        blocks_reference: whether its findings about a reference block too, if its code does.
        submission_only: whether it is about submissions, so that it does not run on references.
        rewrites: returns what corrects the whole file: rows with the columns `origin`, `record` and
            `field` of `PLACE`, and what is `put` there; none if the correction is not certain.
        counts_if: whether its findings count, by the types of the frames of all batches and by the
            schema: a batch alone does not show it.
        suspects: a quick look at a batch, whether there may be anything to find: the check runs
            only then.
        finds_missing: whether it looks for what the submission lacks: it runs on an empty table, as
            in a batch of documents of which the submission has none.
    """

    code: str
    runs_on: str
    check: Callable[[RuleContext], pl.LazyFrame]
    needs: str = ""
    once: bool = False
    submission_only: bool = False
    blocks_reference: bool = False
    rewrites: Callable[[RuleContext], pl.DataFrame] | None = None
    counts_if: Callable[[frozenset[str], Any], bool] | None = None
    suspects: Callable[[RuleContext], bool] | None = None
    finds_missing: bool = False


def at(rows: pl.LazyFrame, field: str | pl.Expr) -> pl.LazyFrame:
    """Rows at a field of their record; an empty field is the whole record."""
    return rows.with_columns(field=pl.lit(field) if isinstance(field, str) else field)


def about_file(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows about a file, not about a record of it."""
    number, text = pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    return at(rows, "").with_columns(record=number, id=text)


def about_submission(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows about the submission as a whole."""
    return about_file(rows).with_columns(origin=pl.lit(None, pl.Int64))


def first_of(rows: pl.LazyFrame, *key: str) -> pl.LazyFrame:
    """The first of the rows with the same key, with their `count`."""
    return rows.with_columns(count=pl.len().over(key)).unique(
        key, keep="first", maintain_order=True
    )


def only_if(condition: bool, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows, or none of them."""
    return rows if condition else rows.head(0)
