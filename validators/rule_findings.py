"""What rules have found, as findings: rows within bounds, at their places in the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from hlteval.converters.format import Format
from hlteval.findings import MAX_PER_CODE, Entry, FieldRef, Finding, Location, entry, summary
from hlteval.representation import TABLES, Corpus
from hlteval.sources import Member, Unreadable
from hlteval.validators.rule import PLACE, Rule, RuleContext

# The rows of tables that findings are about, where a corpus was not read from lines of a file.


Place = tuple[int | None, int | None]


def row_keys(
    corpus: Corpus, table: str, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str | None, int | None]]:
    """The table and the key of each row of a rule.

    Args:
        corpus: what the rule checked.
        table: the table that it runs on; other tables are searched for what is not there.
        rows: what it returned, with `origin` and `record`.

    Examples:
        >>> corpus = Corpus(
        ...     documents=[{"row": 0, "name": "d1"}],
        ...     groups=[{"row": 7, "document": 0, "origin": 0, "record": 1, "group": "*",
        ...              "kind": "Equiv", "member": "T1"}],
        ... )
        >>> list(row_keys(corpus, "groups", [{"origin": 0, "record": 1}]))
        [('groups', 7)]
    """
    wanted = {(row["origin"], row["record"]) for row in rows if row["record"] is not None}
    found: dict[Place, tuple[str, int]] = {}
    for name in (table, *(other for other in TABLES if other != table)):
        frame: pl.DataFrame = getattr(corpus, name)
        if wanted and frame.height and "record" in frame.columns:
            keys = _keys(frame, wanted)
            found |= {place: (name, key) for place, key in keys.items()}
            wanted -= keys.keys()
    return (found.get((row["origin"], row["record"]), (None, None)) for row in rows)


def _keys(frame: pl.DataFrame, wanted: set[Place]) -> dict[Place, int]:
    """The key of the first row at each of some places."""
    places = pl.DataFrame(
        list(wanted), schema={"origin": pl.Int64, "record": pl.Int64}, orient="row"
    )
    rows = frame.select("origin", "record", "row").join(places, on=["origin", "record"], how="semi")
    first = rows.unique(["origin", "record"], keep="first", maintain_order=True)
    return {(origin, record): row for origin, record, row in first.iter_rows()}


class Offending(NamedTuple):
    """The rows that a rule returned of a batch, before they are findings.

    Attributes:
        rows: with the columns `PLACE` and those that fill the templates of the message.
        keys: of each row the table and the key of its record, where records are rows of a corpus.
    """

    rows: pl.DataFrame
    keys: Sequence[tuple[str | None, int | None]] = ()


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
    return located(offending(rules, context, form), dict(enumerate(members)), form)


def offending(
    rules: Sequence[Rule], context: RuleContext, form: Format
) -> list[tuple[Rule, Offending]]:
    """What rules have found, if anything; the arguments are those of `apply`."""
    active = [
        rule
        for rule in rules
        if (getattr(context.system, rule.runs_on).height or rule.finds_missing)
        and (not rule.needs or rule.needs in form.carries)
        and (rule.suspects is None or rule.suspects(context))
    ]
    results = pl.collect_all([rule.check(context) for rule in active], engine="in-memory")
    return [
        (rule, _offending(rule, rows, context, form))
        for rule, rows in zip(active, results, strict=True)
        if rows.height
    ]


def _offending(rule: Rule, rows: pl.DataFrame, context: RuleContext, form: Format) -> Offending:
    rows = rows.select(*PLACE, *(entry(rule.code).fields - set(PLACE)))
    if not form.has_rows:
        return Offending(rows)
    return Offending(rows, [*row_keys(context.system, rule.runs_on, rows.rows(named=True))])


def located(
    found: Sequence[tuple[Rule, Offending]], members: Mapping[int, Member], form: Format
) -> Iterator[Finding]:
    """The findings of rows, at their places.

    Args:
        found: what rules have found.
        members: the files of the rows by their `origin`.
        form: the format of these files, which locates their fields.
    """
    most = min((member.max_per_code for member in members.values()), default=MAX_PER_CODE)
    bounded = [_Bounded.of(entry(rule.code), item, most) for rule, item in found]
    locations = _locations((row for some in bounded for row in some.explained), members, form)
    for some in bounded:
        each = [
            _finding(row, some.declared, key, members, locations)
            for row, key in zip(some.explained, some.keys, strict=True)
        ]
        yield from some.within(each)


class _Bounded(NamedTuple):
    """What a rule has found, within bounds.

    Attributes:
        declared: the entry of its code.
        explained: the rows that are explained, in order.
        keys: the table and the key of each.
        others: the rows of each file that are only counted; the first is explained as well.
    """

    declared: Entry
    explained: Sequence[Mapping[str, Any]]
    keys: Sequence[tuple[str | None, int | None]]
    others: Mapping[int | None, pl.DataFrame]

    @classmethod
    def of(cls, declared: Entry, found: Offending, most: int) -> _Bounded:
        """The rows of a rule, of which so many of a file are explained; all if it is 0."""
        rows, keys = found.rows, found.keys or [(None, None)] * found.rows.height
        if not most or rows.height <= most:
            return cls(declared, rows.rows(named=True), keys, {})
        numbered = rows.with_columns(_number=pl.int_range(pl.len()).over("origin"))
        few = (numbered["_number"] <= most).arg_true()
        others = numbered.filter(pl.col("_number") >= most).drop("_number")
        parts = others.partition_by("origin", maintain_order=True)
        by_file = {part["origin"][0]: part for part in parts}
        return cls(declared, rows[few].rows(named=True), [keys[at] for at in few], by_file)

    def within(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """The findings of the explained rows; that of the first other one stands for all others."""
        last = {row["origin"]: number for number, row in enumerate(self.explained)}
        for number, found in enumerate(findings):
            origin = self.explained[number]["origin"]
            if origin not in self.others or last[origin] != number:
                yield found
                continue
            rows = self.others[origin]
            by_path = found.record is not None and found.record.startswith("$")
            places = rows["id" if by_path else "record"].to_list()
            template = self.declared.unresolved or self.declared.unreferenced
            several = rows.iter_rows(named=True) if template else ()
            names = [template.format_map(row) for row in several]
            yield summary(found, places, names)


def _finding(
    row: Mapping[str, Any],
    declared: Entry,
    key: tuple[str | None, int | None],
    members: Mapping[int, Member],
    locations: Mapping[tuple[int, int, str], Location],
) -> Finding:
    """The finding of a row, at its location."""
    location = locations.get((row["origin"], row["record"], row["field"]))
    member = members.get(row["origin"])
    return declared.finding(
        row,
        file=member.display if member else None,
        span=location.span if location else None,
        excerpt=location.excerpt if location else None,
        record=row["id"],
        table=key[0],
        row=key[1],
    )


def _locations(
    rows: Iterable[Mapping[str, Any]], members: Mapping[int, Member], form: Format
) -> dict[tuple[int, int, str], Location]:
    """The locations of rows; each file is searched once for all of its rows."""
    wanted: dict[int, dict[tuple[int, str], None]] = {}
    for row in rows:
        if row["origin"] is not None and row["record"] is not None:
            wanted.setdefault(row["origin"], {})[row["record"], row["field"]] = None
    found: dict[tuple[int, int, str], Location] = {}
    for origin, fields in wanted.items():
        if (member := members.get(origin)) is None:  # a damaged corpus has no such file
            continue
        try:
            locations = form.locate(member, [FieldRef(*key) for key in fields])
        except Unreadable:
            continue
        for key, location in zip(fields, locations, strict=True):
            if location is not None:
                found[origin, *key] = location
    return found
