"""Findings in order, as dictionaries and as a data frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

import msgspec

from hlteval.findings.finding import Finding, Severity

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T", bound=Hashable)


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding in JSON: one problem, where it is, and how to fix it.

    Attributes:
        code: the code, which `hlteval explain` explains.
        name: its name in words with hyphens, as stable as the code.
        severity: its severity.
        blocking: whether nothing can be scored because of it.
        message: what is wrong, in one line.
        file: path of the file; null if it concerns all of a side.
        line: number of the line, from 1; null if it concerns the whole file.
        column: first column, from 1, in Unicode code points; null likewise.
        end_line: number of the last line, which is `line`; null likewise.
        end_column: the column after the last one, in Unicode code points; null likewise.
        record: identifier of the record, as written; null if there is none.
        help: how to fix it, in one line; null if there is nothing to say.
        clause: the clause of the specification that it violates; null if there is none.
        side: whose problem it is: `submission`, `reference`, or the option that names the file.
        table: the table of the record; only of findings about a corpus.
        row: the key of its row in that table, from 0; only of findings about a corpus.
        count: the number of problems that it summarizes; only if they are not explained one by one.
    """

    code: str
    name: str
    severity: Severity
    blocking: bool
    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    record: str | None
    help: str | None
    clause: str | None
    side: str
    table: str | None = None
    row: int | None = None
    count: int = 1

    @classmethod
    def of(cls, finding: Finding) -> Item:
        """A finding as it is in JSON."""
        span = finding.span
        return cls(
            code=finding.code,
            name=finding.name,
            severity=finding.severity,
            blocking=finding.blocking,
            message=finding.message,
            file=finding.file,
            line=span.line if span else None,
            column=span.column if span else None,
            end_line=span.line if span else None,
            end_column=span.end_column if span else None,
            record=finding.record,
            help=finding.help,
            clause=finding.clause,
            side=finding.side,
            table=finding.table,
            row=finding.row,
            count=finding.count,
        )


_NUMBERS = ("line", "column", "end_line", "end_column", "row", "count")


class Findings(tuple[Finding, ...]):
    """A tuple of findings, equal to any tuple or list of the same.

    Examples:
        >>> from hlteval.findings import finding
        >>> found = Findings([finding("SRC104", file="runs", what="folder")])
        >>> found
        <Findings: 1 error>
        >>> found.to_frame().select("code", "file").rows()
        [('SRC104', 'runs')]
        >>> found == (found[0],), found.to_dict()[0]["code"]
        (True, 'SRC104')
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Finding: ...
    @overload
    def __getitem__(self, index: slice, /) -> Findings: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> Finding | Findings:
        if isinstance(index, slice):
            return Findings(super().__getitem__(index))
        return super().__getitem__(index)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"<Findings: {severities(self) or 'none'}>"

    def to_dict(self) -> list[dict[str, Any]]:
        """A dictionary per finding, with the names of `hlteval validate --format json`."""
        return [msgspec.to_builtins(Item.of(finding)) for finding in self]

    def to_frame(self) -> pl.DataFrame:
        """A row per finding, with the columns of `to_dict`; places of a file count from 1."""
        import polars as pl

        types: dict[str, Any] = dict.fromkeys(Item.__struct_fields__, pl.String)
        types |= dict.fromkeys(_NUMBERS, pl.Int64) | {"blocking": pl.Boolean}
        return pl.DataFrame(self.to_dict(), schema=types).with_columns(pl.col("count").fill_null(1))


def tally(findings: Iterable[Finding], key: Callable[[Finding], T]) -> Counter[T]:
    """The number of problems by a key of their findings.

    Examples:
        >>> from hlteval.findings import finding
        >>> tally([finding("SRC104", file="runs", what="folder")], lambda item: item.code)
        Counter({'SRC104': 1})
    """
    counts: Counter[T] = Counter()
    for finding in findings:
        counts[key(finding)] += finding.count
    return counts


def severities(findings: tuple[Finding, ...]) -> str:
    """The number of findings by severity in words; empty without findings."""
    counts = tally(findings, attrgetter("severity"))
    words = ((counts[severity], severity.value) for severity in Severity if counts[severity])
    return ", ".join(f"{n:,} {word}{'s' * (n > 1 and word != 'info')}" for n, word in words)
