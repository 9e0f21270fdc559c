"""What a format is: how it is detected, read, written, and searched for locations.

`locate` takes a file with all places that are wanted in it: only files with findings are
searched, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Literal

import msgspec
import polars as pl
from msgspec.structs import replace

from hlteval.converters.toolkit.fitting import only_kinds, plural, without_repeated, word_counts
from hlteval.converters.toolkit.quotes import are_at_place
from hlteval.findings import FieldRef, Finding, Location
from hlteval.findings.counts import enumeration
from hlteval.findings.counts import plural as plural_of
from hlteval.representation import TABLES, Corpus
from hlteval.representation.corpus import without_orphans
from hlteval.sources import Member, Source
from hlteval.syntax.sections import Divisible
from hlteval.syntax.tsv import Table

Layout = Literal["per_document", "single_file"]


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A batch of whole documents as read: their corpus, and the findings about it.

    `members` are the files that the rows of `corpus.sources` were read from, in the same order; the
    locations of findings are looked up there. `detected` is what the reader has found out of all
    lines of a file, which parts of it have in common with the whole.
    """

    corpus: Corpus
    findings: tuple[Finding, ...] = ()
    members: tuple[Member, ...] = ()
    detected: str = ""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that can be set for a format: a parameter of its `read` or its `write`.

    `name` is as on the command line; the parameter has underscores for its hyphens. A setting of
    `write` with `counts` is a parameter of `count_losses` too. Both uses may have one name. One
    with `sets` is no parameter: its choices give values to other settings.
    """

    name: str
    help: str
    default: str
    of: Literal["read", "write"]
    choices: tuple[str, ...] = ()
    counts: bool = False
    sets: Mapping[str, Mapping[str, str]] = msgspec.field(default_factory=dict)


class WrongSetting(ValueError):
    """A setting that a format does not have, or a value that it cannot have: an error of usage."""


def comma_parts(value: str) -> list[str]:
    """The parts of a value of a setting between commas; none of an empty one.

    Examples:
        >>> comma_parts("O, B-LOC"), comma_parts(" ")
        (['O', 'B-LOC'], [])
    """
    return [part.strip() for part in value.split(",")] if value.strip() else []


def nothing(_: Corpus) -> Mapping[str, int]:
    """Nothing lost: for formats that have a place for all of the tables that they carry."""
    return {}


def no_tables(_: Member, first: str, **settings: str) -> Sequence[Table]:  # noqa: ARG001
    """No declarations: for formats that are no tables."""
    return ()


def one_table(table: Table) -> Callable[..., Sequence[Table]]:
    """Return the declaration of a format whose files are all the same table."""
    return lambda _, first, **settings: (table,)  # noqa: ARG005


#: Gives counts of rows by the words for them; they are rows of a table, or values of a column.
Describe = Callable[[str, pl.DataFrame], Mapping[str, int]]


def by_table(item: str, rows: pl.DataFrame) -> Mapping[str, int]:
    """The count of rows in the words of the representation."""
    return word_counts({}, item, rows)


def single_batch(source: Source) -> Mapping[str, tuple[Member, ...]]:
    """All files under an empty name: for formats that keep many documents in a file."""
    return {"": source.members}


class Format(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file format, declared by its module as `FORMAT`.

    Attributes:
        name: as given to --from and --to.
        title: one line for people.
        suffixes: of the files that hold it.
        layout: `per_document` if each document has files of its own, `single_file` if a file holds
            all documents.
        carries: the tables of the representation that it has a place for, and of their columns
            that may be null those that it has a place for, such as `mentions.text`.
        sniff: whether a source looks like it, from names and first bytes.
        general: whether that says little, so that any other format that fits comes before it.
        read: batches of whole documents, each with its findings.
        locate: line and column of places of one file, found in one pass.
        write: batches of a corpus, as `supported` gives them, to a path; None where the format is
            only read.
        documents: with the layout `per_document`, the files of each document by its name.
        known_losses: what of the tables it carries is not kept, in a few words.
        count_losses: counts by name what it cannot represent of these tables and follows from
            no declaration; it is given a corpus as `supported` gives it.
        needs: the tables of which a document has rows, or its columns, if it is to be written: one
            of these at least.
        lacks: of the columns that are never null, those that it has no place for, with what is lost
            in words.
        odd_names: the pattern of the names that no document can have; these are left out.
        settings: what can be set.
        words: what people who have files of this format call what is in the tables and columns that
            it carries: `modifiers` is an `M line`; see `converters.toolkit.fitting`.
        needed_files: for a single file with some suffix, the suffixes of files beside it that it
            refers to.
        codes: the codes of the findings of its reader, or their prefixes; codes of files as such
            are in `hlteval.sources.CODES`.
        reads: whether it is read at all; some are only written, for people.
        frame_kinds: the kinds of frames that it can represent; empty for all kinds.
        evaluation: the evaluation whose data it holds, where formats of its family hold those of
            several: it decides between formats with one suffix.
        shares_documents: whether several files of a source speak of the same documents although a
            file holds many of them.
        repeated_code: the code of a document with the name of an earlier one, if names are in the
            files: its reader reports those of one batch, a check those of two.
        separable: whether the files and losses of a document do not depend on other documents, so
            that a corpus is written in slices; see `converters.toolkit.rows`.
        tabular: the declarations of the tables that a file may be, by the file and its first line,
            the likeliest first: mistakes in all rows are found by them. It takes the settings of
            `read`. None for other files.
        sections: finds the documents of a single file whose lines are together, so that some can be
            read without the others, and their findings are the same; None where they cannot. It
            takes the settings of `read`.
        has_rows: whether its records are rows of the tables themselves: findings name table and row
            where `locate` has no place.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    layout: Layout = "single_file"
    carries: tuple[str, ...]
    sniff: Callable[[Source], bool]
    general: bool = False
    read: Callable[..., Iterator[ReadResult]]
    locate: Callable[[Member, Sequence[FieldRef]], list[Location | None]]
    write: Callable[..., None] | None = None
    documents: Callable[[Source], Mapping[str, tuple[Member, ...]]] = single_batch
    known_losses: str = ""
    count_losses: Callable[..., Mapping[str, int]] = nothing
    needs: tuple[str, ...] = ()
    lacks: Mapping[str, str] = msgspec.field(default_factory=dict)
    odd_names: str = ""
    settings: tuple[Setting, ...] = ()
    words: Mapping[str, str] = msgspec.field(default_factory=dict)
    needed_files: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    codes: tuple[str, ...] = ()
    reads: bool = True
    frame_kinds: tuple[str, ...] = ()
    evaluation: str = ""
    shares_documents: bool = False
    repeated_code: str = ""
    separable: bool = False
    tabular: Callable[..., Sequence[Table]] = no_tables
    sections: Callable[..., Divisible | None] | None = None
    has_rows: bool = False

    def with_settings(self, values: Mapping[str, str]) -> Format:
        """The format with settings, given as text by name.

        Raises:
            WrongSetting: for one that it does not have, or a value that this cannot have.
        """
        bound: dict[str, dict[str, str]] = {"read": {}, "write": {}, "count": {}, "locate": {}}
        places = signature(self.locate).parameters  # places may depend on settings of reading
        for setting in self.settings:
            values = {**values, **setting.sets.get(values.get(setting.name, ""), {})}
        for name, value in values.items():
            settings = [setting for setting in self.settings if setting.name == name]
            if not settings:
                names = dict.fromkeys(setting.name for setting in self.settings)
                has = f"it has {', '.join(names) or 'none'}"
                raise WrongSetting(f"unknown setting {name} of the format {self.name}; {has}")
            for setting in settings:
                if setting.choices and value not in setting.choices:
                    listed = " or ".join(setting.choices)
                    raise WrongSetting(f"invalid value {value} of {name}: use {listed}")
                key = name.replace("-", "_")
                located = setting.of == "read" and not {key, "settings"}.isdisjoint(places)
                of = {setting.of: True, "count": setting.counts, "locate": located}
                for use in (use for use, needed in of.items() if needed and not setting.sets):
                    bound[use][key] = value
        uses = {"read": "read", "tabular": "read", "write": "write", "count_losses": "count"}
        uses |= {"locate": "locate", "sections": "read"}
        own = {field: getattr(self, field) for field, use in uses.items() if bound[use]}
        functions = {name: partial(own[name], **bound[uses[name]]) for name in own if own[name]}
        return replace(self, **functions)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it has a place for."""
        return tuple(name for name in self.carries if "." not in name)

    @property
    def carries_all(self) -> bool:
        """Whether it has a place for everything."""
        return set(self.carries) == set(EVERYTHING)

    def supported(self, corpus: Corpus) -> Corpus:
        """A corpus without documents with odd names and frames of other kinds: what is written."""
        corpus = self.with_fitting_names(corpus)
        if not self.frame_kinds or corpus.frames["kind"].is_in(list(self.frame_kinds)).all():
            return corpus
        return corpus.cached(self._of_frame_kinds)

    def with_fitting_names(self, corpus: Corpus) -> Corpus:
        """A corpus without the documents that have odd names, and what is in them."""
        if not self.odd_names or not corpus.documents["name"].str.contains(self.odd_names).any():
            return corpus
        return corpus.cached(self._of_fitting_names)

    def _of_fitting_names(self, corpus: Corpus) -> Corpus:
        fitting = ~pl.col("name").str.contains(self.odd_names)
        return without_orphans(corpus, {"documents": corpus.documents.filter(fitting)})

    def _of_frame_kinds(self, corpus: Corpus) -> Corpus:
        return only_kinds(corpus, self.frame_kinds)

    def without_repeated(self, corpus: Corpus) -> Corpus:
        """A corpus without what is lost in one form, but kept in another; see `normalizations`."""
        return without_repeated(corpus, frozenset(self.carries))

    def losses(self, corpus: Corpus, describe: Describe = by_table) -> Mapping[str, int]:
        """The counts of what is lost of the tables that the format carries, by name.

        Each row is counted once: with the frame that it belongs to, or else with its columns.

        Args:
            corpus: what is to be written.
            describe: gives the words for rows of a table, or of a column of it.

        Examples:
            >>> from hlteval.converters import load
            >>> frame = {"row": 0, "document": 0, "origin": 0, "record": 1, "frame": "C1"}
            >>> corpus = Corpus(frames=[{**frame, "kind": "claim", "label": "Denies"}])
            >>> load("bioc-xml").losses(corpus)
            {'frames of the kind claim': 1}
        """
        counts = Counter(derived_losses(self, corpus, describe))
        counts.update(self.count_losses(self.supported(corpus)))
        return {name: count for name, count in counts.items() if count}


def derived_losses(
    form: Format, corpus: Corpus, describe: Describe = by_table
) -> Mapping[str, int]:
    """The losses that follow from the declarations of a format, in the tables that it carries.

    These are the documents with names that it cannot represent, the frames of other kinds, by kind,
    the rows that belong to them, by table, and of what remains the values in columns that the
    format cannot represent, by column, and the documents of which nothing is written.
    """
    named = form.with_fitting_names(corpus)
    counts = Counter(
        {"documents whose name no line can have": corpus.documents.height - named.documents.height}
    )
    corpus = form.without_repeated(named)
    supported = form.supported(corpus)
    lost = corpus.frames.join(supported.frames, on="row", how="anti")
    kinds = lost.group_by("kind", maintain_order=True).len()
    for kind, count in kinds.iter_rows():
        counts[plural(kind)] += count  # long names are cut, so that two may be alike
    for table in form.tables:
        before, after = getattr(corpus, table), getattr(supported, table)
        if table != "frames" and before.height > after.height:
            gone = before.join(after, on="row", how="anti")
            for words, count in describe(table, gone).items():
                counts[f"{plural_of(words)} of frames of other kinds"] += count
        for column in optional(table):
            if column not in form.carries:
                rows = after.drop_nulls(column.partition(".")[2])
                if column == "mentions.text" and "documents.text" in form.carries and rows.height:
                    whole = supported.cached(are_at_place) & after["fragments"].is_null()
                    rows = after.filter(~whole).drop_nulls("text")  # of others, the text has it
                if rows.height:
                    counts.update(describe(column, rows))
    if named.modifiers.height > corpus.modifiers.height:
        texts = named.modifiers.join(corpus.modifiers, on="row", how="anti").drop_nulls("text")
        counts.update(describe("modifiers.text", texts))
    silent = supported.documents
    for table, _, column in (item.partition(".") for item in form.needs):
        rows = getattr(supported, table)
        held = rows.filter(pl.col(column).is_not_null())["row"] if column else rows["document"]
        silent = silent.filter(~pl.col("row").is_in(held.unique().implode()))
    if form.needs:
        wanted = enumeration([item.rpartition(".")[2] for item in form.needs], "or")
        counts[f"documents without {wanted}"] = silent.height
    for item, phrase in form.lacks.items():
        table, _, column = item.partition(".")
        counts[phrase] = getattr(supported, table).filter(pl.col(column) != "").height
    return counts


def optional(table: str) -> tuple[str, ...]:
    """The columns of a table that may be null, with its name, but for references."""
    references = dict(TABLES[table].references)
    columns = (column for column in TABLES[table].columns if column.nullable)
    return tuple(f"{table}.{column.name}" for column in columns if column.name not in references)


#: What a format carries that loses nothing.
EVERYTHING = tuple(TABLES) + tuple(column for table in TABLES for column in optional(table))
