"""Rules: what they check, the rows that they return, and the findings of these.

Rules return lazy tables and all rules of a task run together (`pl.collect_all`), so that what
several of them look at is computed once (`context.cached`). A rule may need a column
(`Rule.needs`): nothing is asked of formats that cannot represent it.

A rule that looks for what a submission lacks (`Rule.finds_missing`) runs on batches of which the
submission has nothing, but not where it could not be opened.

Whether a finding counts can depend on all batches (`Rule.counts_if`, by the types of all frames;
`Rule.conclusion`, by what all show of the reference);
`workflows/run/checks.py` decides that at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import polars as pl

from hlteval.converters.format import Format
from hlteval.findings import MAX_PER_CODE, FieldRef, Finding, Location, entry, summary
from hlteval.representation import (
    TABLES,
    Corpus,
    effective_fillers,
    fillers,
    has_repeated_identifiers,
    items,
)
from hlteval.sources import Member, Unreadable

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
    """A batch of documents of a submission beside its reference, as rules check it.

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
    _cache: dict[Callable[[RuleContext], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

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
        identifier = IDENTIFIERS[name] if name in IDENTIFIERS else pl.lit(None, pl.String)
        return frame.lazy().select(*RECORD, *columns, id=identifier)

    @property
    def reference_mentions(self) -> pl.LazyFrame:
        """`document` and `mention` of the mentions that come with the task.

        There are none if the submission brings its own documents.
        """
        mentions = self.against.mentions.lazy().select("document", "mention")
        return only_if(not self.own, mentions)

    @property
    def items(self) -> pl.LazyFrame:
        """The items that identifiers of the submission may refer to; see `representation.items`."""
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

    def once(self, function: Callable[[RuleContext], T]) -> T:
        """The result of a function that several rules use, computed once."""
        if function not in self._cache:
            self._cache[function] = function(self)
        result: T = self._cache[function]
        return result

    def cached(self, table: Callable[[RuleContext], pl.LazyFrame]) -> pl.LazyFrame:
        """A table that several rules use, computed once."""
        if table not in self._cache:
            self._cache[table] = table(self).collect(engine="in-memory").lazy()
        return self.once(table)

    @property
    def names(self) -> pl.LazyFrame:
        """The name of each document: `document` and `name`."""
        return self.table("documents", "row", "name").rename({"row": "document"})


class Conclusion(NamedTuple):
    """How the rows of a rule are concluded that a batch alone does not show.

    Attributes:
        observe: gives what a batch shows of its side, or of the reference.
        conclude: gives the rows with a problem, of those of all batches, by what all of these show
            and by the schema.
        keeps: the columns of the rows that it needs beside those of findings.
    """

    observe: Callable[[RuleContext], Iterable[str]]
    conclude: Callable[[pl.DataFrame, frozenset[str], Any], pl.DataFrame]
    keeps: tuple[str, ...] = ()


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
        of_one_annotator: whether it is about several annotators where one counts: where they are
            compared, it is not a problem.
        rewrites: returns what corrects the whole file: rows with the columns `origin`, `record` and
            `field` of `PLACE`, and what is `put` there; none if the correction is not certain.
        counts_if: whether its findings count, by the types of the frames of all batches and by the
            schema: a batch alone does not show it.
        conclusion: how its rows are concluded when all batches are known.
        unique: gives the columns `key` and `value`, numbers: where all batches together have
            several values of a key, the check must see all of them at once.
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
    of_one_annotator: bool = False
    rewrites: Callable[[RuleContext], pl.DataFrame] | None = None
    counts_if: Callable[[frozenset[str], Any], bool] | None = None
    conclusion: Conclusion | None = None
    unique: Callable[[RuleContext], pl.DataFrame] | None = None
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
    return rows.group_by(key, maintain_order=True).agg(pl.all().first(), count=pl.len())


def only_if(condition: bool, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows, or none of them."""
    return rows if condition else rows.head(0)


# What rules have found, as findings: rows within bounds, at their places in the files.


def apply(
    rules: Sequence[Rule], context: RuleContext, members: Sequence[Member], form: Format
) -> Iterator[Finding]:
    """The findings of rules.

    Args:
        rules: the rules.
        context: what they check.
        members: the files of `context.system.sources`, in order.
        form: the format of these files, which locates their fields.
    """
    return explain(run(rules, context, form), dict(enumerate(members)), form)


def run(
    rules: Sequence[Rule], context: RuleContext, form: Format
) -> list[tuple[Rule, pl.DataFrame]]:
    """The rules that have found something, each with its rows; the arguments are those of `apply`.

    The rows have the columns `PLACE` and those that fill the templates of the message; where
    records are rows of a corpus, also the table and the key of their record.
    """
    active = [
        rule
        for rule in rules
        if (getattr(context.system, rule.runs_on).height or rule.finds_missing)
        and (not rule.needs or rule.needs in form.carries)
        and (rule.suspects is None or rule.suspects(context))
    ]
    results = pl.collect_all([rule.check(context) for rule in active], engine="in-memory")
    some = []
    for rule, result in zip(active, results, strict=True):
        if result.height:
            columns = entry(rule.code).fields.union(
                rule.conclusion.keeps if rule.conclusion else ()
            )
            rows = result.select(*PLACE, *sorted(columns - set(PLACE)))
            keyed = form.has_rows
            some.append((rule, with_keys(context.system, rule.runs_on, rows) if keyed else rows))
    return some


def with_keys(corpus: Corpus, table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a rule with the table and the key of their records, as `_table` and `_row`.

    Args:
        corpus: what the rule checked.
        table: that it runs on; other tables are searched for what is not there.
        rows: with `origin` and `record`.

    Examples:
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d1"}],
        ...     groups=[{"row": 7, "document": 0, "origin": 0, "record": 1, "group": "*",
        ...              "kind": "Equiv", "member": "T1"}],
        ... )
        >>> rows = pl.DataFrame({"origin": [0], "record": [1]})
        >>> with_keys(corpus, "groups", rows).rows()
        [(0, 1, 'groups', 7)]
    """
    place = ["origin", "record"]
    keys = []
    for name in dict.fromkeys((table, *TABLES)):
        frame: pl.DataFrame = getattr(corpus, name)
        if "record" in frame.columns:
            found = frame.join(rows, on=place, how="semi", maintain_order="left")
            keys.append(found.select(*place, _table=pl.lit(name), _row="row"))
    first = pl.concat(keys).unique(place, keep="first", maintain_order=True)
    return rows.join(first, on=place, how="left", maintain_order="left")


def explain(
    results: Sequence[tuple[Rule, pl.DataFrame]], members: Mapping[int, Member], form: Format
) -> Iterator[Finding]:
    """The findings of rows, at their places.

    Of each file and code only so many are explained; one more stands for all others.

    Args:
        results: what rules have found.
        members: the files of the rows by their `origin`.
        form: the format of these files, which locates their fields.
    """
    if not results:
        return
    most = min((member.max_per_code for member in members.values()), default=MAX_PER_CODE)
    order = ("origin", "record")  # rules may have compared documents in the order of their names
    results = [(rule, rows.sort(order, maintain_order=True)) for rule, rows in results]
    number = pl.int_range(pl.len()).over("origin")
    explained = [rows.filter(number <= most) if most else rows for _, rows in results]
    locations = _locations(explained, members, form)
    for (rule, rows), some in zip(results, explained, strict=True):
        declared, counts = entry(rule.code), Counter[int | None]()
        for row in some.iter_rows(named=True):
            origin = row["origin"]
            member = members.get(origin)
            location = locations.get((origin, row["record"], row["field"]))
            finding = declared.finding(
                row,
                file=member.display if member else None,
                span=location.span if location else None,
                excerpt=location.excerpt if location else None,
                record=row["id"],
                table=row.get("_table"),
                row=row.get("_row"),
            )
            counts[origin] += 1
            if most and counts[origin] > most:
                others = rows.filter(pl.col("origin").eq_missing(origin))[most:]
                by_path = finding.record is not None and finding.record.startswith("$")
                places = others["id" if by_path else "record"].to_list()
                template = declared.unresolved or declared.unreferenced
                several = others.iter_rows(named=True) if template else ()
                names = [template.format_map(other) for other in several]
                finding = summary(finding, places, names)
            yield finding


def _locations(
    results: Iterable[pl.DataFrame], members: Mapping[int, Member], form: Format
) -> dict[tuple[int, int, str], Location]:
    """The locations of rows by origin, record and field; each file is searched once for all."""
    wanted: dict[int, dict[tuple[int, str], None]] = {}
    for rows in results:
        placed = rows.select("origin", "record", "field").drop_nulls(["origin", "record"])
        for origin, *place in placed.iter_rows():
            wanted.setdefault(origin, {})[place[0], place[1]] = None
    locations: dict[tuple[int, int, str], Location] = {}
    for origin, fields in wanted.items():
        if (member := members.get(origin)) is None:  # a damaged corpus has no such file
            continue
        try:
            every = form.locate(member, [FieldRef(*key) for key in fields])
        except Unreadable:
            continue
        known = zip(fields, every, strict=True)
        locations |= {(origin, *key): location for key, location in known if location is not None}
    return locations
